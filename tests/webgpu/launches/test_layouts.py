"""Tests, on a fake device, what launches of matrix products, windows and attention record: entry points and numbers of
workgroups. What else their structs say shows in results."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from harness import on_gpu, repeated, zeros
from openers import Switch
from recording import GROUPS, FakePlayer, constant

import lanewise as lw

TILE = 64


@pytest.mark.parametrize(
    ("m", "n", "batch", "groups"),
    [
        (1, 1, 1, (1, 1, 1)),
        (TILE, 2 * TILE, 2, (2, 1, 2)),
        (TILE + 1, 2 * TILE + 1, 3, (3, 2, 3)),
        (TILE * GROUPS + 1, 1, GROUPS, (1, GROUPS, GROUPS)),
        (1, TILE * GROUPS + 1, GROUPS + 1, (GROUPS, 1, GROUPS)),
    ],
)
def test_a_product_has_a_workgroup_for_each_tile(
    fake: FakePlayer, m: int, n: int, batch: int, groups: tuple[int, ...]
) -> None:
    assert [4 * constant("matrix", name) for name in ("lw_rows", "lw_columns")] == [TILE, TILE]
    (dispatch,) = fake.recorded(lw.matmul(repeated(batch, m, 1, dtype=np.int32), repeated(1, n, dtype=np.int32)))
    assert (dispatch.entry, dispatch.groups) == ("main", groups)
    fields = dispatch.fields("LwMatrixLayout")
    assert (fields["m"], fields["n"], fields["k"], fields["batch"]) == (m, n, 1, batch)


@pytest.mark.parametrize(
    ("m", "n", "k", "batch", "parts"),
    [
        (3, 5, 255, 1, 1),
        (3, 5, 256, 1, 2),
        (3, 5, 5000, 1, 35),
        (3, 5, 2**18, 1, 382),
        (3, 5, 2**18, 8, 48),
        (64 * 16, 64 * 16, 2**15, 1, 1),
        (64 * 16, 64 * 16, 2**15 + 1, 1, 2),
        (64 * 2, 64 * 64, 5000, 1, 3),
    ],
)
def test_k_is_split_if_there_are_few_tiles_or_it_is_large(
    fake: FakePlayer, m: int, n: int, k: int, batch: int, parts: int
) -> None:
    """Parts have at least 128 indices, in whole strips of 16, and at most 2^15, which software adapters require."""
    dispatches = fake.recorded(lw.matmul(repeated(batch, m, k, dtype=np.int32), repeated(k, n, dtype=np.int32)))
    fields = dispatches[0].fields("LwMatrixLayout")
    assert fields["parts"] == parts
    assert fields["depth"] * (parts - 1) < k <= fields["depth"] * parts
    if parts == 1:
        assert [each.entry for each in dispatches] == ["main"]
        return
    assert fields["depth"] <= 2**15
    blocks, combine = dispatches
    assert (blocks.entry, combine.entry) == ("blocks", "combine")
    rows, columns = math.ceil(m / TILE), math.ceil(n / TILE)
    assert blocks.groups == (min(columns, GROUPS), min(rows, GROUPS), min(batch * parts, GROUPS))
    assert combine.groups == (min(math.ceil(batch * m * n / 256), GROUPS), 1, 1)
    assert blocks.buffers == combine.buffers
    assert fake.sizes[blocks.buffers[3]] >= 4 * batch * m * n * parts
    assert fields == combine.fields("LwMatrixLayout")


B_ALONG_K, A_ALONG_M, A_ELEMENTWISE, B_ELEMENTWISE = (
    constant("matrix_vectors", f"lw_{name}") for name in ("b_along_k", "a_along_m", "a_elementwise", "b_elementwise")
)


@pytest.mark.parametrize(
    ("a", "b", "entry", "access"),
    [
        (lambda: zeros(70, 36), lambda: zeros(36, 68), "tiles", 0),
        (lambda: zeros(70, 36), lambda: zeros(68, 36).T, "tiles", B_ALONG_K),
        (lambda: zeros(70, 2000), lambda: zeros(2000, 68), "tile_parts", 0),
        (lambda: zeros(70, 2000), lambda: zeros(68, 2000).T, "tile_parts", B_ALONG_K),
        (lambda: zeros(70, 40)[:, 4:], lambda: zeros(36, 68), "tiles", 0),
        (lambda: zeros(70, 36)[::-1], lambda: zeros(36, 68)[::-1], "tiles", 0),
        (lambda: zeros(36, 72).T, lambda: zeros(36, 68), "tiles", A_ALONG_M),
        (lambda: zeros(36, 72).T, lambda: zeros(68, 36).T, "tiles", A_ALONG_M + B_ALONG_K),
        (lambda: zeros(70, 40)[:, 2:38], lambda: zeros(36, 68), "tiles", A_ELEMENTWISE),
        (lambda: zeros(70, 37)[:, :36], lambda: zeros(36, 68), "tiles", A_ELEMENTWISE),
        (lambda: zeros(36, 70).T, lambda: zeros(36, 68), "tiles", A_ALONG_M + A_ELEMENTWISE),
        (lambda: zeros(70, 34), lambda: zeros(34, 68), "tiles", A_ELEMENTWISE),
        (lambda: zeros(70, 34), lambda: zeros(68, 34).T, "tiles", A_ELEMENTWISE + B_ALONG_K + B_ELEMENTWISE),
        (lambda: zeros(70, 72)[:, ::2], lambda: zeros(36, 68), "tiles", A_ELEMENTWISE),
        (lambda: zeros(36, 72).T, lambda: zeros(36, 70)[:, :68], "tiles", A_ALONG_M + B_ELEMENTWISE),
        (lambda: zeros(70, 36), lambda: zeros(36, 66), "tile_parts", B_ELEMENTWISE),
        (lambda: zeros(70, 36), lambda: zeros(66, 36).T, "tile_parts", B_ALONG_K),
    ],
)
def test_elements_of_tiles_are_loaded_by_vectors_if_possible(
    fake: FakePlayer, a: Any, b: Any, entry: str, access: int
) -> None:
    """Results whose rows do not start at multiples of 16 bytes are written one by one, by another dispatch."""
    dispatches = fake.recorded(lw.matmul(a(), b()))
    assert (dispatches[0].entry, dispatches[0].variant) == (f"{entry}_64x128", access)
    if dispatches[0].fields("LwMatrixLayout")["n"] == 66:
        assert [each.entry for each in dispatches] == ["tile_parts_64x128", "combine"]
        assert fake.sizes[dispatches[0].buffers[3]] >= 4 * 70 * 68


@pytest.mark.parametrize(
    ("size", "tile", "along_k"),
    [
        *(((1, rows, rows), "64x128", "64x128") for rows in (512, 1024, 1536)),
        ((1, 1664, 1920), "128x256", "64x128"),
        *((size, "128x256", "128x128") for size in ((1, 1280, 2560), (1, 2048, 2048), (4, 1024, 1024))),
        *((size, "64x128", "128x128") for size in ((1, 2176, 2048), (1, 4096, 4096))),
        *((size, "64x64", "64x64") for size in ((1, 64, 64), (1, 512, 60))),
        *((size, "64x128", "64x128") for size in ((1, 64, 65), (128, 65, 128))),
        ((200, 65, 128), "64x128", "128x128"),
    ],
)
def test_the_tile_for_a_product(fake: FakePlayer, size: tuple[int, int, int], tile: str, along_k: str) -> None:
    """By how many workgroups a tile takes, and whether B is read along k, but no tile that is mostly empty: a quarter
    more elements than those of other tiles is too much."""
    batch, m, n = size
    a = lw.broadcast_to(zeros(m, 16), (batch, m, 16))
    for b, expected in ((zeros(16, n), tile), (zeros(n, 16).T, along_k)):
        dispatch, *_ = fake.recorded(lw.matmul(a, b))
        assert dispatch.entry.rpartition("_")[2] == expected
        rows, columns = map(int, expected.split("x"))
        assert dispatch.groups == tuple(min(each, GROUPS) for each in (-(-n // columns), -(-m // rows), batch))


@pytest.mark.parametrize(
    ("a", "b", "entries"),
    [
        ((70, 2000), (2000, 68), ["tiles_64x128"]),
        ((70, 36), (36, 66), ["main"]),
        ((1, 2**20), (2**20, 1), ["dots"]),
        ((2, 2000), (2000, 68), ["columns"]),
    ],
)
def test_a_product_is_not_split_if_memory_is_short(
    fake: FakePlayer, a: tuple[int, ...], b: tuple[int, ...], entries: list[str]
) -> None:
    x, y = zeros(*a), zeros(*b)
    out = zeros(a[0], b[1])
    fake.capacity = sum(fake.sizes.values())
    assert [each.entry for each in fake.recorded(lw.matmul(x, y, out=out))] == entries


@pytest.mark.parametrize(
    ("compute", "entries"),
    [
        (lambda: lw.matmul(zeros(70, 36), zeros(36, 68)), ["main"]),
        (lambda: lw.matmul(zeros(70, 2000), zeros(2000, 8)), ["blocks", "combine"]),
        (lambda: lw.conv2d(zeros(1, 4, 9, 9), zeros(16, 4, 3, 3)), ["main"]),
        (lambda: lw.scaled_dot_product_attention(*3 * (zeros(70, 16),)), ["main"]),
    ],
)
def test_an_adapter_that_does_not_compile_tiles(switch: Switch, compute: Any, entries: list[str]) -> None:
    player = FakePlayer()
    player.compiles_tiles = False
    switch.use(player.open)
    assert [each.entry for each in player.recorded(compute())] == entries


def test_parts_of_contiguous_rows_are_added_by_vectors(fake: FakePlayer) -> None:
    parts, added = fake.recorded(lw.matmul(zeros(70, 2000), zeros(2000, 8)))
    assert [(each.entry, each.groups) for each in (parts, added)] == [
        ("tile_parts_64x64", (1, 2, 14)),
        ("vectors", (1, 1, 1)),
    ]
    assert parts.buffers == added.buffers


@pytest.mark.parametrize(
    ("a", "b", "entry", "access"),
    [
        (lambda: zeros(1, 36), lambda: zeros(70, 36).T, "dots", 0),
        (lambda: zeros(4, 36), lambda: zeros(70, 36).T, "dots", 0),
        (lambda: zeros(70, 36), lambda: zeros(4, 36).T, "dots", 0),
        (lambda: zeros(70, 36), lambda: zeros(36, 1), "dots", 0),
        (lambda: zeros(70, 36), lambda: zeros(36, 4), "dots", B_ELEMENTWISE),
        (lambda: zeros(36, 3).T, lambda: zeros(70, 36).T, "dots", A_ELEMENTWISE),
        (lambda: zeros(1, 34), lambda: zeros(70, 34).T, "dots", B_ELEMENTWISE),
        (lambda: zeros(1, 40)[:, 1:37], lambda: zeros(70, 36).T, "dots", A_ELEMENTWISE),
        (lambda: zeros(1, 2001), lambda: zeros(2001, 1), "dots", 0),
        (lambda: zeros(70, 3), lambda: zeros(3, 3), "dots", A_ELEMENTWISE + B_ELEMENTWISE),
        (lambda: zeros(3, 70).T, lambda: zeros(3, 1), "dots", A_ELEMENTWISE),
        (lambda: zeros(2, 15), lambda: zeros(15, 68), "dots", A_ELEMENTWISE + B_ELEMENTWISE),
        (lambda: zeros(5, 36), lambda: zeros(72, 36).T, "tiles_64x128", B_ALONG_K),
        (lambda: zeros(36, 72).T, lambda: zeros(36, 4), "tiles_64x64", A_ALONG_M),
        (lambda: zeros(1, 36), lambda: zeros(36, 68), "columns", 0),
        (lambda: zeros(35, 4).T, lambda: zeros(35, 68), "columns", 0),
        (lambda: zeros(1, 36), lambda: zeros(36, 70), "columns", B_ELEMENTWISE),
        (lambda: zeros(1, 36), lambda: zeros(36, 72)[:, 2:70], "columns", B_ELEMENTWISE),
        (lambda: zeros(5, 36), lambda: zeros(36, 68), "tiles_64x128", 0),
    ],
)
def test_few_rows_or_columns_are_dot_products(fake: FakePlayer, a: Any, b: Any, entry: str, access: int) -> None:
    """A dot product is computed by 1, 8 or 64 of the 256 invocations of a workgroup."""
    x, y = a(), b()
    dispatch = fake.recorded(lw.matmul(x, y))[0]
    team = 0 if entry != "dots" or x.shape[1] < 16 else 3 if x.shape[1] < 256 else 6
    assert (dispatch.entry, dispatch.variant) == (entry, access + (team << constant("matrix_vectors", "lw_team_shift")))
    if entry == "dots":
        assert dispatch.groups == (min(math.ceil(x.shape[0] * y.shape[1] * 2**team / 256), GROUPS), 1, 1)


@pytest.mark.parametrize(
    ("m", "n", "k", "parts"),
    [(1, 1, 2**14 - 1, 1), (1, 1, 2**14, 2), (1, 1, 2**20 + 4, 128), (1, 1, 2**25, 2048), (2, 300, 2**20, 3),
     (1, 2049, 2**13, 1)],
)  # fmt: skip
def test_long_dot_products_are_split(fake: FakePlayer, m: int, n: int, k: int, parts: int) -> None:
    dispatches = fake.recorded(lw.matmul(repeated(m, k), lw.broadcast_to(zeros(k), (n, k)).T))
    fields = dispatches[0].fields("LwMatrixLayout")
    assert fields["parts"] == parts and [each.entry for each in dispatches] == ["dots", "sums"][: 1 + (parts > 1)]
    if parts > 1:
        assert fields["depth"] * (parts - 1) < k <= fields["depth"] * parts and fields["depth"] % 16 == 0
        assert [each.groups[0] for each in dispatches] == [
            min(math.ceil(m * n * parts / 4), GROUPS),
            min(math.ceil(m * n / 4), GROUPS),
        ]
        assert fake.sizes[dispatches[0].buffers[3]] >= 4 * m * n * parts


@pytest.mark.parametrize(("n", "k", "parts"), [(68, 100, 1), (68, 2000, 14), (8192, 8192, 1), (4096, 8192, 3)])
def test_few_rows_are_multiplied_by_32_columns(fake: FakePlayer, n: int, k: int, parts: int) -> None:
    dispatches = fake.recorded(lw.matmul(repeated(1, 2, k), on_gpu(np.zeros((1, n)), np.float32)[[0] * k]))
    columns = dispatches[-1 if parts == 1 else -2]
    assert (columns.entry, columns.groups) == ("columns", (min(n // 32 + (n % 32 > 0), GROUPS), 1, parts))
    assert [each.entry for each in dispatches[-2:]].count("combine") == (parts > 1)
