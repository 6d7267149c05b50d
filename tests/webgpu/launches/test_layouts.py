"""Tests, on a fake device, what launches of matrix products, windows and attention record: entry points, workgroups,
and the structs of their layouts."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import pytest
from harness import on_gpu
from openers import Switch
from recording import ABSENT, GROUPS, NUMBER, OWN, RESULT, FakePlayer, constant

import lanewise as lw

TILE = 64


def words(*values: int, length: int) -> list[int]:
    """Returns values modulo 2^32, then zeros up to a length."""
    return [value % 2**32 for value in values] + [0] * (length - len(values))


def zeros(*shape: int) -> lw.Tensor:
    return on_gpu(np.zeros(shape), np.float32)


def repeated(*shape: int, dtype: Any = np.float32) -> lw.Tensor:
    """Returns a tensor of any size, all elements of which are one."""
    return lw.broadcast_to(on_gpu(np.zeros(1), dtype), shape)


def test_every_field_of_a_product(fake: FakePlayer) -> None:
    (a, first), (b, second) = fake.placed(np.zeros((2, 3, 5, 14))), fake.placed(np.zeros((3, 6, 7)))
    dispatch, added = fake.recorded(lw.matmul(a[..., ::-2], b.mT))
    assert (dispatch.kernel, dispatch.entry, added.entry) == ("matmul_float32", "tile_parts_64x64", "combine")
    assert dispatch.buffers[:2] == (first, second) and dispatch.buffers == added.buffers
    assert dispatch.fields("LwMatrixLayout") == {
        "offsets": words(52, 0, 0, length=4),
        "scalars": [0] * 4,
        "row_strides": words(56, 4, 24, length=4),
        "column_strides": words(-8, 28, 4, length=4),
        "batch_shape": words(2, 3, length=8),
        "batch_strides": words(840, 0, 360, 0, 280, 168, 120, length=32),
        "m": 5,
        "n": 6,
        "k": 7,
        "batch_ndim": 2,
        "batch": 6,
        "parts": 1,
        "depth": 16,
        "count": 180,
    }


def test_all_dimensions_of_a_batch(fake: FakePlayer) -> None:
    a = zeros(2, 1, 2, 1, 2, 1, 2, 1)
    dispatch = fake.recorded(lw.matmul(lw.permute_dims(a, (4, 2, 0, 1, 3, 5, 6, 7)), zeros(1, 3)))[-1]
    fields = dispatch.fields("LwMatrixLayout")
    assert (fields["m"], fields["n"], fields["k"], fields["batch"]) == (2, 3, 1, 8)
    assert math.prod(fields["batch_shape"][: fields["batch_ndim"]]) == 8
    assert fields["batch_ndim"] == 6
    assert [fields["batch_strides"][4 * axis] for axis in range(3)] == [8, 16, 32]


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


def test_a_result_between_other_elements_is_written_one_by_one(fake: FakePlayer) -> None:
    a, b = zeros(70, 36), zeros(36, 68)
    out = zeros(72 * 68 + 1)[1:].reshape((72, 68))[1:71]
    assert [each.entry for each in fake.recorded(lw.matmul(a, b, out=out))] == ["tile_parts_64x128", "combine"]


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


def test_absent_inputs_are_not_bound(fake: FakePlayer) -> None:
    x, weight = zeros(5, 7), zeros(3, 7)
    bias, number = fake.placed(np.zeros(3))
    first, second, _ = fake.recorded(lw.linear(x, weight) + lw.linear(x, weight, bias))
    assert (first.source(2), second.source(2)) == (ABSENT, OWN)
    assert (first.buffers[2], second.buffers[2]) == (0, number)


def test_the_activation_is_a_number(fake: FakePlayer) -> None:
    (dispatch,) = fake.recorded(lw.linear(zeros(5, 7), zeros(8, 7), activation="silu"))
    assert dispatch.fields("LwMatrixLayout")["scalars"] == [4, 0, 0, 0]


def test_operands_in_the_buffer_of_the_result(fake: FakePlayer) -> None:
    x, number = fake.placed(np.zeros(12 + 12 + 9))
    lw.matmul(x[:12].reshape((3, 4)), x[12:24].reshape((4, 3)), out=x[24:].reshape((3, 3)))
    (dispatch,) = fake.recorded(x)
    assert [dispatch.source(i) for i in range(2)] == [RESULT, RESULT]
    assert dispatch.buffers[:3] == (0, 0, number)
    assert dispatch.fields("LwMatrixLayout")["offsets"] == words(0, 48, 96, length=4)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((1, 2**16, 1), (1, 2**15)),
        ((1, 2**16, 2**15), (2**15, 1)),
        ((1, 1, 2**15), (2**15, 2**16)),
        ((2, 2**15, 2**15), (2**15, 1)),
    ],
)
def test_matrices_of_too_many_elements(fake: FakePlayer, a: tuple[int, ...], b: tuple[int, ...]) -> None:
    x, y = repeated(*a), repeated(*b)
    with pytest.raises(lw.BackendError, match=r"wgpu cannot run this call: expected operands of fewer than 2\^31"):
        lw.matmul(x, y)
    assert fake.recorded(lw.matmul(repeated(2**15, 2**15), repeated(2**15, 1)))


def test_every_field_of_a_convolution(fake: FakePlayer) -> None:
    x, weight = zeros(3, 8, 20, 30), zeros(6, 4, 3, 5)
    result = lw.conv2d(x[:, :, ::2, ::-1], weight, stride=(2, 1), padding=(1, 2), dilation=(1, 2), groups=2)
    (dispatch,) = fake.recorded(result)
    assert (dispatch.kernel, dispatch.entry, dispatch.source(2)) == ("conv2d_float32", "main", ABSENT)
    count = math.prod(result.shape)
    height, width = result.shape[2:]
    fields = dispatch.fields("LwWindowLayout")
    assert fields["offsets"][:2] == [4 * 29, 0]
    assert fields["strides"][:8] == words(19200, 2400, 240, -4, 240, 60, 20, 4, length=8)
    assert fields["strides"][12:] == words(24 * height * width, 4 * height * width, 4 * width, 4, length=4)
    assert (fields["in_size"], fields["out_size"], fields["kernel_size"]) == ([10, 30], [height, width], [3, 5])
    assert (fields["stride"], fields["padding"], fields["dilation"]) == ([2, 1], [1, 2], [1, 2])
    assert (fields["out_channels"], fields["channels"], fields["outputs"], fields["count"]) == (6, 4, 3, count)
    assert dispatch.groups == (min(math.ceil(count / 256), GROUPS), 1, 1)


def test_pooling(fake: FakePlayer) -> None:
    (dispatch,) = fake.recorded(lw.max_pool2d(zeros(2, 3, 8, 8), 2))
    fields = dispatch.fields("LwWindowLayout")
    assert (dispatch.kernel, fields["kernel_size"], fields["stride"]) == ("max_pool2d_float32", [2, 2], [2, 2])
    assert (fields["channels"], fields["outputs"], fields["out_channels"], fields["count"]) == (1, 1, 3, 96)


def test_every_field_of_attention(fake: FakePlayer) -> None:
    query, key, value = zeros(2, 3, 5, 8), zeros(3, 9, 8), zeros(2, 1, 9, 6)
    result = lw.scaled_dot_product_attention(
        query, key, value, zeros(5, 9), scale=0.5, is_causal=True, window=4, offset=3
    )
    (dispatch,) = fake.recorded(result)
    fields = dispatch.fields("LwAttentionLayout")
    assert (dispatch.entry, dispatch.groups, dispatch.sources) == ("main", (30, 1, 1), 0)
    assert fields["row_strides"] == [32, 32, 24, 36]
    assert fields["column_strides"] == [4, 4, 4, 4]
    assert (fields["batch_shape"], fields["batch_ndim"], fields["count"]) == ([2, 3, 0, 0], 2, 30)
    assert fields["batch_strides"] == words(480, 0, 216, 0, 160, 288, 0, 0, length=16)
    assert fields["out_strides"] == [360, 120, 0, 0]
    assert fields["out"] == [0, 24, 4, struct.unpack("<I", struct.pack("<f", 0.5))[0]]
    assert [fields[name] for name in ("queries", "keys", "depth", "value_depth")] == [5, 9, 8, 6]
    assert (fields["first"], fields["last"]) == (0, 3)  # relative to the query: 3 - 4 + 1 and 3


def test_a_number_as_mask(fake: FakePlayer) -> None:
    query = zeros(5, 8)
    (dispatch,) = fake.recorded(lw.scaled_dot_product_attention(query, query, query, 2.0))
    assert [dispatch.source(i) for i in range(4)] == [OWN, OWN, OWN, NUMBER]
    assert dispatch.fields("LwAttentionLayout")["number_w"] == [0x40000000, 0]
    (dispatch,) = fake.recorded(lw.scaled_dot_product_attention(query, query, query))
    assert dispatch.source(3) == ABSENT


def test_attention_with_more_dimensions_than_a_dispatch_has(fake: FakePlayer) -> None:
    """There is a dispatch for each index of the first dimensions."""
    query, key = zeros(2, 3, 2, 2, 2, 2, 5, 8), zeros(3, 1, 1, 1, 1, 5, 8)
    result = lw.scaled_dot_product_attention(query, key, key)
    dispatches = fake.recorded(result)
    fields = [each.fields("LwAttentionLayout") for each in dispatches]
    assert len(dispatches) == 6
    size = 4 * 16 * 5 * 8
    assert [each["offsets"] for each in fields] == [[i * size, i % 3 * 160, i % 3 * 160, 0] for i in range(6)]
    assert [each["out"][0] for each in fields] == [i * size for i in range(6)]
    assert {each["count"] for each in fields} == {80} == {each.groups[0] for each in dispatches}
    assert all(each["batch_shape"] == [2, 2, 2, 2] for each in fields)
