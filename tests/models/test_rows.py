"""Compares operations that compute a row of results from each row bit for bit with their NumPy models."""

import numpy as np
import pytest

from tests.models.comparison import BY_NAME, SPECIAL, agree, cancelling, drawn, nearly_equal, planted
from tests.models.rows import MODELS
from tests.models.tree import BLOCK

# Around the sizes of a tile of cumulative_sum (64), of the chunks in which strided rows are copied (1024), of a block
# of a reduction, and of a task.
LENGTHS = [1, 2, 3, 17, 63, 64, 65, 130, 1000, 1023, 1025, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 77, 9 * BLOCK + 1]
OPTIONAL = {"layer_norm": 2, "rms_norm": 1}
each_operation = pytest.mark.parametrize("operation", MODELS)


CASES = [(name, dtype) for name in MODELS for dtype in BY_NAME[name].computed if dtype.startswith("float")]
each_float = pytest.mark.parametrize(("operation", "dtype"), CASES, ids=[f"{name}-{dtype}" for name, dtype in CASES])


def weights(operation, length, dtype="float32"):
    """Returns lists of optional inputs: [], [weight] if the operation has `weight`, [weight, bias] if it has both."""
    vectors = drawn(operation, (length,), dtype)[1:]
    return [vectors[:count] for count in range(OPTIONAL.get(operation, 0) + 1)]


@each_float
def test_lengths(operation, dtype):
    for length in LENGTHS:
        x = drawn(operation, (3, length), dtype)[0]
        for others in weights(operation, length, dtype):
            agree(operation, x, *others, axis=1)
            agree(operation, np.ascontiguousarray(x.T), *others, axis=0)


@each_float
def test_memory_layouts(operation, dtype):
    x = drawn(operation, (12, 10, 90), dtype)[0]
    for view in (x[::2, ::-1, ::3], x.transpose(1, 2, 0), x[::-1, :, ::-2], np.broadcast_to(x[:1], x.shape)):
        for axis in range(3):
            agree(operation, view, *weights(operation, view.shape[axis], dtype)[-1], axis=axis)


@each_float
def test_tasks_of_many_rows(operation, dtype):
    for shape in ((9000, 8), (3000, 65), (8, 9000)):
        for axis in (0, 1):
            agree(operation, drawn(operation, shape, dtype)[0], axis=axis)


@each_operation
def test_special_values(operation):
    for count in (1, 5, 63, BLOCK + 5):
        x = drawn(operation, (3 * len(SPECIAL), count))[0]
        for values in (SPECIAL, SPECIAL[:8], SPECIAL[:2]):
            for mixed in (planted(x, values, 1), planted(x, values), np.repeat(np.resize(values, len(x)), count)):
                agree(operation, mixed.reshape(x.shape), axis=1)
        agree(operation, x * np.geomspace(1e-42, 3e36, len(x), dtype="f4")[:, None], axis=1)
        agree(operation, np.full_like(x, 3e38), axis=1)
        agree(operation, np.where(x > 0, np.float32(3e38), np.float32(-3e38)), axis=1)
    for blocks in (4, 7):
        agree(operation, cancelling(drawn(operation, (3, blocks * BLOCK))[0]), axis=1)


@pytest.mark.parametrize("operation", OPTIONAL)
@pytest.mark.parametrize("eps", [0.0, 1e-70, 1e-12, 0.1, 3e6])
def test_eps(operation, eps):
    """Includes means and magnitudes for which the kernels read blocks twice, or rescale rows."""
    for count in (5, 300, BLOCK + 9):
        x = drawn(operation, (7, count))[0]
        means = np.array([0, 1, 1e3, 1e4, -3e6, 1e20, -1e-20], "f4")[:, None]
        for each in (x, x + means, x * means, x * np.float32(1e-25), x * np.float32(1e30)):
            agree(operation, each, eps=eps)
        for steps in (0, 1, 2, 40):
            agree(operation, nearly_equal(count, steps), eps=eps)


def test_cumulative_sum_of_integers():
    for length in LENGTHS:
        x = drawn("cumulative_sum", (3, length), "int32")[0]
        agree("cumulative_sum", x, axis=1)
        agree("cumulative_sum", x.T, axis=0)
    agree("cumulative_sum", drawn("cumulative_sum", (70_001,))[0])
    agree("cumulative_sum", drawn("any", (5, 300), "bool")[0], axis=1)
