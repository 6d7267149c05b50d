"""Tests, on a fake device, what launches of strided kernels record: entry points and numbers of workgroups. Tests of
results cannot check the number of workgroups: shaders loop until the work is done, so any number computes the same
results. What else the struct LwLayout says shows in results."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from harness import on_gpu, repeated, zeros
from recording import GROUPS, NUMBER, OWN, RESULT, Dispatch, FakePlayer, constant

import lanewise as lw
from lanewise.webgpu import shaders

GROUP = constant("elementwise", "lw_group")
BLOCK = 4096


def assert_groups(dispatch: Dispatch, expected: int) -> None:
    assert dispatch.groups == (min(expected, GROUPS), 1, 1)


# dtype -> an operation whose result has it, and its kernel
ELEMENTWISE = {
    "bool": ("logical_not", "logical_not_bool"),
    "int32": ("negative", "negative_int32"),
    "float32": ("abs", "abs_float32"),
    "float16": ("copy", "copy_bits16"),
    "int64": ("copy", "copy_bits64"),
}


def apply(operation: str, x: lw.Tensor) -> lw.Tensor:
    return x.copy() if operation == "copy" else getattr(lw, operation)(x)


@pytest.mark.parametrize("extra", [0, 1])
@pytest.mark.parametrize("groups", [1, 2, GROUPS])
@pytest.mark.parametrize("is_view", [False, True])
@pytest.mark.parametrize("dtype", ELEMENTWISE)
def test_an_elementwise_kernel_has_an_invocation_for_four_elements(
    fake: FakePlayer, dtype: str, is_view: bool, groups: int, extra: int
) -> None:
    """The entry point for vectors computes contiguous operands, unless elements have 8 bytes. The other computes all
    elements of the words that narrow results touch."""
    operation, kernel = ELEMENTWISE[dtype]
    vectors = "fn vectors(" in shader(kernel).source and not is_view
    count = groups * GROUP * 4 + extra
    result = apply(operation, on_gpu(np.ones((count, 1 + is_view)), dtype)[:, 0])
    (dispatch,) = fake.recorded(result)
    assert (dispatch.kernel, dispatch.entry) == (kernel, "vectors" if vectors else "main")
    assert dispatch.variant == 1
    words = words_of_row(count, dtype)
    elements = words * 4 // np.dtype(dtype).itemsize if words and not vectors else count
    invocations = math.ceil(elements / 4)
    assert_groups(dispatch, math.ceil(invocations / GROUP))
    fields = dispatch.fields()
    has_quarters = not words and not vectors  # of the dimension `outer`, which are counted
    counted = math.ceil(count / 4) if has_quarters else count
    assert (fields["count"], fields["packed"], fields["outer"], fields["ndim"]) == (counted, words, 1 - has_quarters, 1)


def test_the_longest_dimension_is_divided_in_quarters(fake: FakePlayer) -> None:
    (dispatch,) = fake.recorded(lw.abs(zeros(6, 30, 14)[::2, ::2, ::2]))
    fields = dispatch.fields()
    assert (fields["outer"], fields["length"], fields["count"]) == (1, 15, 3 * 4 * 7)
    assert np.ravel(fields["shape"])[:3].tolist() == [3, 4, 7]


def words_of_row(length: int, dtype: str) -> int:
    """How many words contiguous elements may touch, wherever they begin; 0 if they are not narrower than words."""
    item = np.dtype(dtype).itemsize
    return math.floor((length * item + 6) / 4) if item < 4 else 0


def shader(kernel: str) -> shaders.Shader:
    index = next(index for index in range(10_000) if index in _modules() and shaders.load(index).kernel == kernel)
    return shaders.load(index)


def _modules() -> Any:
    return shaders._read(shaders.FILE)[1]


def test_every_entry_point_sets_what_lw_rounded_adds() -> None:
    """Otherwise a compiler would know that it is 0."""
    sources = [shaders.load(index).source for index in _modules()]
    rounding = [source for source in sources if "fn lw_rounded(" in source]
    assert len(rounding) > 20
    for source in rounding:
        assert source.count("@compute") == source.count("lw_hidden = (lw.count >> 31u) & groups.x;")


@pytest.mark.parametrize("ndim", [1, 2, 5, 8])
def test_a_pipeline_is_specialized_for_the_number_of_dimensions(fake: FakePlayer, ndim: int) -> None:
    view = zeros(*(3,) * ndim)[(slice(None, None, 2),) * ndim]
    (dispatch,) = fake.recorded(lw.abs(view))
    assert dispatch.variant == ndim == dispatch.fields()["ndim"]


def test_results_keep_the_order_of_axes(fake: FakePlayer) -> None:
    dispatch, *_ = fake.recorded(lw.abs(zeros(4, 6, 8).permute_dims((2, 0, 1))))
    assert (dispatch.entry, dispatch.fields()["ndim"]) == ("vectors", 1)


@pytest.mark.parametrize(
    ("view", "is_contiguous"),
    [
        ((slice(0, 8),), True),
        ((slice(8, 12),), True),
        ((slice(1, 9),), True),
        ((slice(0, 16, 2),), False),
        ((slice(15, 7, -1),), False),
    ],
)
@pytest.mark.parametrize("dtype", ["bool", "float16"])
def test_rows_of_narrow_results_are_stored_by_words(
    fake: FakePlayer, view: tuple[slice], is_contiguous: bool, dtype: str
) -> None:
    target = on_gpu(np.zeros(16), dtype)
    part = target[view]
    part[...] = on_gpu(np.zeros(len(part)), dtype)
    (dispatch,) = fake.recorded(target)
    assert dispatch.fields()["packed"] == (words_of_row(len(part), dtype) if is_contiguous else 0)


SOURCES = {
    "its own buffer": (lambda x, y: lw.add(x, y), [OWN, OWN]),
    "one buffer twice": (lambda x, y: lw.add(x, x), [OWN, OWN]),
    "the result's": (lambda x, y: lw.add(x, y, out=x), [RESULT, OWN]),
    "the result's, second": (lambda x, y: lw.add(y, x, out=x), [OWN, RESULT]),
    "the result's, both": (lambda x, y: lw.add(x, x, out=x), [RESULT, RESULT]),
    "another part of the result's": (lambda x, y: lw.add(x[:3], y[:3], out=x[3:]), [RESULT, OWN]),
    "a number": (lambda x, y: lw.add(x, 1.5), [OWN, NUMBER]),
    "a number, first": (lambda x, y: lw.subtract(2, x), [NUMBER, OWN]),
}


@pytest.mark.parametrize("name", SOURCES)
def test_sources(fake: FakePlayer, name: str) -> None:
    """An input that shares its buffer with the result is not bound: WebGPU binds a buffer for reading or writing."""
    call, expected = SOURCES[name]
    (x, first), (y, second) = fake.placed(np.zeros(6)), fake.placed(np.zeros(6))
    result = call(x, y)
    (dispatch,) = fake.recorded(result)
    assert [dispatch.source(i) for i in range(2)] == expected and dispatch.sources < 16
    inputs, out = dispatch.buffers[:2], dispatch.buffers[2]
    assert [bool(number) for number in inputs] == [source == OWN for source in expected]
    assert set(inputs) <= {0, first, second}
    assert (out == first) == (RESULT in expected)


@pytest.mark.parametrize("operation", ["sum", "argmax"])
@pytest.mark.parametrize(
    ("length", "team"), [(1, 1), (5, 1), (8, 1), (9, 2), (32, 4), (33, 8), (255, 8), (256, 32), (BLOCK, 32)]
)
@pytest.mark.parametrize("count", [1, 30, 8 * GROUPS + 1])
def test_a_reduction_of_one_block_has_a_team_for_each_row(
    fake: FakePlayer, count: int, length: int, team: int, operation: str
) -> None:
    """Rows that are columns of a matrix are adjacent."""
    for x in (repeated(length, count).T, on_gpu(np.zeros((length, count)), np.float32).T):
        (dispatch,) = fake.recorded(getattr(lw, operation)(x[:, ::-1], axis=1))
        fields = dispatch.fields()
        assert (dispatch.kernel, dispatch.entry) == (f"{operation}_float32", "main")
        assert_groups(dispatch, math.ceil(count * team / GROUP))
        assert (fields["length"], fields["blocks"], fields["count"], fields["team"]) == (length, 1, count, team)
        assert fields["ndim"] == fields["outer"] + 1
        assert dispatch.buffers[2] == 0  # no scratch memory
    if min(count, length) > 1:
        assert fields["pitch"] == min(GROUP // team, 2 ** math.ceil(math.log2(count)))


@pytest.mark.parametrize("count", [1, 30, 8 * GROUPS])
def test_a_reduction_of_three_blocks_has_a_team_for_each(fake: FakePlayer, count: int) -> None:
    """Workgroups combine the results of as many rows as they have invocations."""
    length = 2 * BLOCK + 1
    blocks, combine = fake.recorded(lw.sum(repeated(count, length + 1)[:, 1:], axis=1))
    assert (blocks.entry, combine.entry) == ("main", "combine")
    assert_groups(blocks, math.ceil(count * 3 * 32 / GROUP))
    assert_groups(combine, math.ceil(count / GROUP))
    assert blocks.buffers == combine.buffers
    assert fake.sizes[blocks.buffers[2]] >= 3 * count * 4
    fields = blocks.fields()
    assert (fields["length"], fields["blocks"], fields["count"], fields["teams"]) == (length, 3, count, 1)
    assert (fields["team"], fields["pitch"]) == (32, 1)
    assert fields == combine.fields()


@pytest.mark.parametrize(
    ("count", "length", "groups", "teams"),
    [(1, 129, 1, 1), (16, 132, 1, 1), (17, 132, 2, 1), (8, BLOCK + 4, 1, 2), (9, 2 * BLOCK + 4, 3, 4),
     (2, 16 * BLOCK, 2, 16), (2, 16 * BLOCK + 4, 4, 16)],
)  # fmt: skip
def test_contiguous_rows_are_reduced_in_teams(
    fake: FakePlayer, count: int, length: int, groups: int, teams: int
) -> None:
    """A workgroup reduces 16 blocks. If a row has more, the results are combined. Short rows are read otherwise."""
    assert constant("reduction_vectors", "lw_teams") == 16
    first, *rest = fake.recorded(lw.sum(zeros(count, length), axis=1))
    assert (first.entry, first.groups) == ("vectors", (groups, 1, 1))
    assert first.fields()["teams"] == teams
    assert [each.entry for each in rest] == ["combine"] * (length > 16 * BLOCK)


def test_rows_that_are_not_contiguous_are_not_read_as_vectors(fake: FakePlayer) -> None:
    x, y = zeros(3, 24), zeros(3, 24)
    results = [lw.softmax(each) for each in (x[:, 4:20], x[:, ::-1], x[:, 1:17], x[:, :18], x.T)]
    lw.softmax(x, out=x)
    lw.rms_norm(x, y[0], out=x)
    lw.rms_norm(y[:1], x[1], out=x[:1])
    is_apart = [each.variant >> 4 & 1 for each in fake.recorded(x)]
    assert is_apart == [0, 1, 1, 1, 1, 0, 0, 0]
    assert len(results) == 5


def test_scratch_memory_is_used_again(fake: FakePlayer) -> None:
    x = zeros(9, 5000)
    results = [lw.sum(x[:, ::-1], axis=1) for _ in range(3)]
    assert len({each.buffers[2] for each in fake.recorded(results[-1])}) == 1


@pytest.mark.parametrize("count", [1, GROUPS + 1])
@pytest.mark.parametrize(
    ("length", "entry", "vectors", "is_apart", "team"),
    [(3, "main", 1, 1, 1), (4, "main", 1, 0, 1), (5, "main", 1, 1, 2), (10, "main", 1, 1, 4), (12, "main", 2, 0, 2),
     (33, "main", 4, 1, 4), (100, "main", 4, 0, 8), (1028, "main", 8, 0, 64), (2048, "main", 8, 0, 64),
     (2049, "main", 4, 1, 256), (8192, "main", 8, 0, 256), (8196, "blocks", 8, 0, 256)],
)  # fmt: skip
def test_a_workgroup_computes_a_row_or_several_short_ones(
    fake: FakePlayer, length: int, entry: str, vectors: int, is_apart: int, team: int, count: int
) -> None:
    """Each invocation holds up to 8 vectors of four elements. Few longer rows are divided, and take three stages."""
    dispatch, *others = fake.recorded(lw.layer_norm(zeros(count, length), None, zeros(length)))
    parts = 2 if entry == "blocks" and count == 1 else 1
    assert [each.fields()["teams"] for each in (dispatch, *others)] == ([1, 2, 3] if parts > 1 else [0])
    assert (dispatch.kernel, dispatch.entry) == ("layer_norm_float32", entry)
    assert dispatch.variant == vectors + 16 * is_apart + 32 * int(math.log2(team))
    assert_groups(dispatch, math.ceil(count * parts * team / GROUP))


@pytest.mark.parametrize(
    ("length", "entry", "vectors", "team"),
    [(2, "main", 1, 1), (32, "main", 8, 1), (33, "main", 2, 8), (256, "main", 8, 8), (257, "main", 4, 32),
     (1024, "main", 8, 32), (1025, "blocks", 8, 32)],
)  # fmt: skip
def test_a_workgroup_computes_adjacent_rows(fake: FakePlayer, length: int, entry: str, vectors: int, team: int) -> None:
    """Their invocations are neighbors."""
    dispatch, *_ = fake.recorded(lw.softmax(zeros(length, 300), axis=0))
    pitch = GROUP // team
    assert dispatch.entry == entry
    assert dispatch.variant == vectors + 16 + 32 * int(math.log2(team)) + 512 * int(math.log2(pitch))
    assert_groups(dispatch, math.ceil(300 * (1 + (entry == "blocks")) / pitch))


@pytest.mark.parametrize(
    ("shape", "axis", "entries", "groups", "fields"),
    [((7, 64), 1, ["main"], 1, (1, 1, 1, 1)), ((70, 65), 1, ["main"], 3, (2, 1, 1, 1)),
     ((7, 3 * BLOCK), 1, ["main"], 7, (64, 1, 3, 1)), ((7, 3 * BLOCK + 1), 1, ["blocks", "main"], 28, (64, 1, 1, 4)),
     ((300, 40), 0, ["main"], 3, (4, 16, 2, 1)), ((5000, 3), 0, ["blocks", "main"], 5, (16, 4, 1, 5)),
     ((128, 5 * BLOCK), 1, ["main"], GROUPS, (64, 1, 5, 1))],
)  # fmt: skip
def test_prefix_sums(
    fake: FakePlayer, shape: tuple[int, int], axis: int, entries: list[str], groups: int, fields: tuple[int, ...]
) -> None:
    """A workgroup scans 64 tiles of 64 elements at once, of one row or several, and then the next ones. If that would
    be few workgroups, each scans a block of the rows, after the sums of all blocks are known."""
    dispatches = fake.recorded(lw.cumulative_sum(zeros(*shape), axis=axis))
    assert [each.entry for each in dispatches] == entries
    for dispatch in dispatches:
        assert_groups(dispatch, groups)
        assert tuple(dispatch.fields()[name] for name in ("team", "pitch", "teams", "blocks")) == fields
    assert len({each.buffers for each in dispatches}) == 1
    assert (dispatches[0].buffers[2] > 0) == (len(entries) > 1)


def test_put_clears_claims_and_writes(fake: FakePlayer) -> None:
    """Scratch memory has a word for each position along the axis."""
    extent = 1000
    x, number = fake.placed(np.zeros((3, extent)))
    x[:, on_gpu(np.zeros(50), np.int32)] = zeros(3, 50)
    dispatches = fake.recorded(x)[-3:]
    assert {each.kernel for each in dispatches} == {"put_bits32"}
    assert [each.entry for each in dispatches] == ["clear", "claim", "main"]
    assert [each.groups[0] for each in dispatches] == [4, 1, 1]
    assert {each.buffers[2] for each in dispatches} == {number}
    assert fake.sizes[dispatches[0].buffers[3]] >= 4 * extent
    assert dispatches[2].fields()["count"] == 150


# Calls of templates whose invocations compute an element, or a pair of elements -> the number of workgroups
OTHERS: dict[str, tuple[Callable[[], lw.Tensor], int]] = {
    "take": (lambda: lw.take(zeros(7, 500)[:, ::-1], on_gpu([1, 2, 3], np.int32), axis=0), 2),
    "searchsorted": (lambda: lw.searchsorted(zeros(30)[::3], zeros(300), side="right"), 1),
    "rope": (lambda: lw.rope(zeros(3, 50, 8)), 3),
    "conv2d": (lambda: lw.conv2d(zeros(3, 8, 20, 30), zeros(6, 4, 3, 5), groups=2), 11),
    "max_pool2d": (lambda: lw.max_pool2d(zeros(2, 3, 32, 32), 2), 6),
}


def test_an_invocation_computes_four_random_numbers(fake: FakePlayer) -> None:
    (dispatch,) = fake.recorded(lw.rand((3, 500), seed=5, device="wgpu"))
    assert dispatch.entry == "vectors"
    assert_groups(dispatch, 2)


@pytest.mark.parametrize("name", OTHERS)
def test_other_kernels_have_an_invocation_for_each_element(fake: FakePlayer, name: str) -> None:
    call, groups = OTHERS[name]
    (dispatch,) = fake.recorded(call())
    assert dispatch.entry == "main"
    assert_groups(dispatch, groups)


@pytest.mark.parametrize(
    "call",
    [
        lambda: lw.abs(zeros(3, 0)),
        lambda: lw.sum(zeros(0, 5), axis=1),
        lambda: lw.matmul(zeros(0, 5), zeros(5, 2)),
        lambda: lw.softmax(zeros(0, 3)),
    ],
)
def test_a_result_without_elements_needs_no_dispatch(fake: FakePlayer, call: Any) -> None:
    assert call().size == 0
    on_gpu([1]).tolist()
    assert not fake.batches


TOO_LARGE = (
    r"wgpu cannot run this call: expected operands of fewer than 2\^31 elements; split them, or move them to the CPU "
    r"with \.to\(\)"
)


def test_elements_that_32_bits_count(fake: FakePlayer) -> None:
    (dispatch,) = fake.recorded(lw.sum(repeated(2**31 - 1), axis=0))[:1]
    assert dispatch.fields()["length"] == 2**31 - 1
    for call in (
        lambda: lw.sum(repeated(2**31)),
        lambda: lw.abs(repeated(2**16, 2**15)),
        lambda: lw.softmax(repeated(2**16, 2**15)),
        lambda: lw.matmul(repeated(1, 2**16, 1), repeated(1, 2**15)),
        lambda: lw.matmul(repeated(1, 2**16, 2**15), repeated(2**15, 1)),
        lambda: lw.matmul(repeated(1, 1, 2**15), repeated(2**15, 2**16)),
        lambda: lw.matmul(repeated(2, 2**15, 2**15), repeated(2**15, 1)),
    ):
        with pytest.raises(lw.BackendError, match=TOO_LARGE):
            call()
    assert fake.recorded(lw.matmul(repeated(2**15, 2**15), repeated(2**15, 1)))
