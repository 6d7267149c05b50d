"""Compares reductions bit for bit with NumPy models that join elements in the same order, which tree.py describes."""

import numpy as np
import pytest

from tests.models.comparison import BY_NAME, SPECIAL, agree, cancelling, drawn, nearly_equal, planted
from tests.models.reductions import ALONG_AXES
from tests.models.tree import BLOCK, CHUNK, PARTIALS

# Around the sizes of a register, of a block's partial results, of a block, and of a chunk (the elements of a task).
LENGTHS = [1, 2, 31, 63, 64, 65, 100, 129, 1000, BLOCK - 1, BLOCK, BLOCK + 1, BLOCK + PARTIALS, 3 * BLOCK + 77]
LENGTHS += [7 * BLOCK, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5 * BLOCK + 9]
WIDTHS = [3, 5, 40]  # columns: fewer than a register's lanes, fewer than the 32 that one call reduces, and more

CASES = [(name, dtype) for name in (*ALONG_AXES, "vecdot") for dtype in BY_NAME[name].computed]
each_operation = pytest.mark.parametrize(
    ("operation", "dtype"), CASES, ids=[f"{name}-{dtype}" for name, dtype in CASES]
)


@each_operation
def test_vectors(operation, dtype):
    for length in LENGTHS:
        agree(operation, *drawn(operation, (length,), dtype))


@each_operation
def test_rows_and_columns(operation, dtype):
    for length in LENGTHS[:-1]:
        for width in WIDTHS if length <= BLOCK + 1 else WIDTHS[1:2]:
            x = drawn(operation, (width, length), dtype)
            agree(operation, *x, axis=1)
            agree(operation, *[np.ascontiguousarray(each.T) for each in x], axis=0)


@each_operation
def test_memory_layouts(operation, dtype):
    """Elements are joined in the order of their indices, whatever their addresses."""
    tall = drawn(operation, (9000, 12), dtype)
    for each in (np.s_[::2, ::3], np.s_[::-1, ::-1], np.s_[::-2, 1:]):
        for axis in (0, 1):
            agree(operation, *[x[each] for x in tall], axis=axis)
            agree(operation, *[x[each].T for x in tall], axis=axis)
    agree(operation, *[np.broadcast_to(x[:1], x.shape) for x in tall], axis=0)
    agree(operation, *[np.broadcast_to(x[:, :1], x.shape) for x in tall], axis=1)
    agree(operation, *drawn(operation, (9, 7, 100), dtype), axis=1)
    for count in (3, 16, 17):  # rows of up to 16 elements are copied to adjacent columns, which are then reduced
        agree(operation, *drawn(operation, (70, count), dtype), axis=1)


@each_operation
def test_tasks_of_many_outputs(operation, dtype):
    agree(operation, *drawn(operation, (20_011, 7), dtype), axis=1)
    agree(operation, *drawn(operation, (7, 20_011), dtype), axis=0)
    agree(operation, *drawn(operation, (70, CHUNK // 64), dtype), axis=1)
    agree(operation, *drawn(operation, (BLOCK + 3, 70), dtype), axis=0)


@pytest.mark.parametrize("operation", [name for name in ALONG_AXES if not name.startswith("arg")])
def test_several_axes(operation):
    for dtype in BY_NAME[operation].computed:
        x = drawn(operation, (11, 9, 700), dtype)[0]
        for axes in ((0, 2), (2, 0), (1, 2), (0, 1), (-1, -3), None, ()):
            agree(operation, x, axis=axes)
            agree(operation, x.transpose(2, 0, 1), axis=axes, keepdims=True)
    agree(operation, drawn(operation, (11, 9, 700))[0].transpose(1, 2, 0))


@pytest.mark.parametrize("operation", [name for name in (*ALONG_AXES, "vecdot") if "float32" in BY_NAME[name].dtypes])
def test_special_values(operation):
    """Rows hold only special values, special values among random numbers, or one special value repeated. Other rows
    have large blocks that cancel, so that the result shows in which order blocks are joined."""
    contract = BY_NAME[operation]
    for count in (1, 5, 63, BLOCK + 5):
        x, *others = drawn(operation, (len(SPECIAL) * 3, count))
        for values in (SPECIAL, SPECIAL[:8], SPECIAL[:2]):
            for mixed in (planted(x, values, 1), planted(x, values), np.repeat(np.resize(values, len(x)), count)):
                agree(operation, mixed.reshape(x.shape), *others, axis=1)
                agree(operation, np.ascontiguousarray(mixed.reshape(x.shape).T), *[y.T for y in others], axis=0)
        scaled = x * np.geomspace(1e-42, 3e36, len(x), dtype="f4")[:, None]  # a row's elements are about equally large
        agree(operation, scaled, *others, axis=1)
    for blocks in (4, 7, 20):
        x, *others = drawn(operation, (3, blocks * BLOCK))
        agree(operation, cancelling(x), *others, axis=1)
        agree(operation, np.ascontiguousarray(cancelling(x).T), *[y.T for y in others], axis=0)
    if not contract.refuses_empty and operation != "vecdot":
        for axis in (0, 1):
            agree(operation, np.zeros((0, 3), "f4"), axis=axis)


@pytest.mark.parametrize("operation", ["argmax", "argmin"])
def test_ties(operation):
    """The result is the index of the first of equal elements, wherever they are."""
    for dtype in ("int32", "float32"):
        for count in (64, BLOCK + 1, 3 * BLOCK):
            x = np.zeros((9, count), dtype)
            for row, step in enumerate((1, 2, 3, 16, 17, 64, 63, BLOCK, count - 1)):
                x[row, step - 1 :: step] = 1 if operation == "argmax" else -1
            agree(operation, x, axis=1)
            agree(operation, np.ascontiguousarray(x.T), axis=0)


@pytest.mark.parametrize("operation", ["var", "std"])
def test_corrections(operation):
    x = drawn(operation, (5, 3 * BLOCK + 1))[0]
    for correction in (0.0, 1.0, 2.5, 12_289.0, 20_000.0, -1.0):
        agree(operation, x, axis=1, correction=correction)
        agree(operation, x, axis=0, correction=correction)
        agree(operation, x + np.float32(10_000), axis=1, correction=correction)


@pytest.mark.parametrize("operation", ["var", "std"])
def test_small_deviations(operation):
    """A row's elements are at most 40 units in the last place apart, so rounding errors are as large as the deviations
    from the mean. The squares of these deviations may be denormal or zero."""
    for count in (3, 100, 1000, BLOCK, BLOCK + 7):
        for steps in (0, 1, 2, 40):
            agree(operation, nearly_equal(count, steps), axis=1)


def test_dot():
    for dtype in ("int32", "float32"):
        for length in LENGTHS:
            x1, x2 = drawn("dot", (length,), dtype)
            agree("dot", x1, x2)
            agree("dot", x1[::-2], x2[1::2] if length % 2 == 0 else x2[::2])


def test_vecdot_of_broadcast_vectors():
    x1, x2 = drawn("vecdot", (7, 5, 300))
    agree("vecdot", x1, x2[0])
    agree("vecdot", x1[:, :1], x2)
    agree("vecdot", x1[:, :, :1], x2[:, :, :1])


def test_bool():
    x = drawn("any", (5, 9000), "bool")[0]
    for operation in ("sum", "sum_compensated"):
        agree(operation, x, axis=1)
