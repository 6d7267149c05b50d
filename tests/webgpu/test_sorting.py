"""Tests sort, argsort and topk on WebGPU: at the lengths where the algorithm changes, along every axis, with ties, NaN
and zeros of both signs; and which dispatches they take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from harness import Runner, counted, on_gpu, repeated, stays_on_gpu
from recording import FakePlayer, constant

import lanewise as lw

WIDTH = constant("sort", "lw_width")
DIGITS = 256
SHORT = [*range(1, 10), 15, 16, 17, 31, 32, 33, 63, 64, 65, 500]
LONG = [WIDTH // 2, WIDTH // 2 + 1, WIDTH - 1, WIDTH, WIDTH + 1, 2 * WIDTH, 2 * WIDTH + 1, 20_000]


def drawn(shape: Any, kind: str) -> np.ndarray:
    random = np.random.default_rng([*np.atleast_1d(shape), 3])
    if kind == "bits":  # all magnitudes, both zeros, NaNs with payloads
        x = random.integers(-(2**31), 2**31, shape, dtype=np.int32).view(np.float32)
        x[random.random(shape) < 0.2] = 0.0
        x[random.random(shape) < 0.2] = -0.0
        return x
    if kind == "equal":
        return np.full(shape, 7.0, np.float32)
    if kind == "ties":
        return random.integers(-2, 2, shape).astype(np.int32)
    if kind == "bool":
        return random.random(shape) < 0.3
    return random.integers(0, 2**32 if kind == "uint32" else 200, shape, dtype=np.uint32).astype(kind)


def order(x: np.ndarray, *, descending: bool, axis: int = -1) -> np.ndarray:
    if descending:
        backward = np.flip(np.argsort(np.flip(x, axis), axis, kind="stable"), axis)
        return x.shape[axis] - 1 - backward
    return np.argsort(x, axis, kind="stable")


def check(x: np.ndarray, axis: int = -1, view: Any = ...) -> None:
    """Compares sort, argsort and topk of a view with NumPy, bit by bit, in both directions."""
    whole = on_gpu(x)
    tensor, x = whole[view], x[view]
    extent, is_bool, pairs = x.shape[axis], x.dtype == bool, []
    counts = {1, min(extent, 10), min(extent, WIDTH // 4), min(extent, WIDTH // 4 + 1)}
    for descending in (False, True):
        places = order(x, descending=descending, axis=axis)
        with stays_on_gpu():
            pairs.append((lw.sort(tensor, axis=axis, descending=descending), np.take_along_axis(x, places, axis)))
            if not is_bool:
                pairs.append((lw.argsort(tensor, axis=axis, descending=descending), places.astype(np.int32)))
            for k in () if is_bool else counts:
                values, indices = lw.topk(tensor, k, axis=axis, largest=descending)
                first = np.take(places, range(k), axis)
                pairs += [(values, np.take_along_axis(x, first, axis)), (indices, first.astype(np.int32))]
    for result, expected in pairs:
        got = np.array(result)
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
        assert got.tobytes() == expected.tobytes()


@pytest.mark.parametrize("kind", ["bits", "equal", "ties", "bool", "uint32", "uint8", "float16"])
def test_every_length(gpu: Runner, kind: str) -> None:
    for length in [*SHORT, *LONG]:
        check(drawn(length, kind))


@pytest.mark.parametrize("extent", [1, 2, 7, 8, 9, 300, WIDTH, WIDTH + 1, 3 * WIDTH + 5])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_every_axis_and_strides(gpu: Runner, axis: int, extent: int) -> None:
    shape = [5, 3, 4]
    shape[axis] = extent
    check(drawn(shape, "bits"), axis, (slice(None, None, -1), ..., slice(None, None, 2)))


def test_many_rows(gpu: Runner) -> None:
    check(drawn((3000, 5), "bits"))
    check(drawn((WIDTH + 70, 33), "bits"), 0)


def test_into_a_part_of_a_tensor(gpu: Runner) -> None:
    for length in (70, 2 * WIDTH + 1):
        for kind in ("bits", "bool"):
            x = drawn((3, length), kind)
            expected = np.take_along_axis(x, order(x, descending=False), -1)
            assert np.nan_to_num(gpu.guarded("sort", x)).tobytes() == np.nan_to_num(expected).tobytes()


def test_what_does_not_fit_scratch_memory_is_left_to_the_cpu(fake: FakePlayer) -> None:
    fake.open(buffer=18 * 4000)
    for count, copies in ((4000, 0), (4001, 1)):
        x = on_gpu(np.zeros(count), np.float32)
        _, changes = counted(lambda x=x: lw.sort(x))
        assert changes["readbacks"] == copies


@pytest.mark.parametrize(("rows", "length", "groups"), [(1, 5, 1), (256, 7, 1), (257, 8, 2), (300, 1025, 300)])
def test_short_rows_share_a_workgroup(fake: FakePlayer, rows: int, length: int, groups: int) -> None:
    (dispatch,) = fake.recorded(lw.sort(on_gpu(np.zeros((rows, length)), np.float32)))
    fields = dispatch.fields("LwSortLayout")
    assert (dispatch.kernel, dispatch.entry, dispatch.groups[0]) == ("sort_float32", "tiles", min(groups, 100))
    assert fields["team"] >= length > fields["team"] // 2 or fields["team"] == 8 >= length
    assert (fields["count"], fields["length"], fields["parts"], fields["results"]) == (rows, length, 1, length)
    assert dispatch.buffers[2] == 0  # no scratch memory


def test_few_results_of_long_rows_take_tiles_of_tiles(fake: FakePlayer) -> None:
    _, indices = lw.topk(on_gpu(np.zeros((2, 300 * WIDTH)), np.float32), 100)
    dispatches = [each for each in fake.recorded(indices) if each.kernel == "argsort_float32"]
    fields = [each.fields("LwSortLayout") for each in dispatches]
    assert [each["length"] for each in fields] == [300 * WIDTH, 30_000, 1500]
    assert [each["parts"] for each in fields] == [300, 15, 1]
    assert [each["source"] for each in fields[1:]] == [each["destination"] for each in fields[:-1]]
    assert {each["kept"] for each in fields} == {128}


@pytest.mark.parametrize(
    ("rows", "length", "block"), [(1, 9000, WIDTH), (2, 6000 * WIDTH, 3 * WIDTH), (1, WIDTH + 1, WIDTH)]
)
def test_long_rows_take_three_dispatches_a_digit(fake: FakePlayer, rows: int, length: int, block: int) -> None:
    dispatches = fake.recorded(lw.sort(repeated(rows, length))[0, :1])
    fields = [each.fields("LwSortLayout") for each in dispatches]
    assert [each.entry for each in dispatches] == 4 * ["blocks", "combine", "main"]
    assert [each["shift"] for each in fields[::3]] == [0, 8, 16, 24]
    assert {each["block"] for each in fields} == {block}
    half, none = rows * length, 2**32 - 1
    assert [(each["source"], each["destination"]) for each in fields[2::3]] == [
        (none, 0),
        (0, half),
        (half, 0),
        (0, none),
    ]
    parts = -(-length // block)
    assert {each["parts"] for each in fields} == {parts}
    assert fake.sizes[dispatches[0].buffers[2]] >= 4 * (2 * half + rows * 256 * (parts + 1))
