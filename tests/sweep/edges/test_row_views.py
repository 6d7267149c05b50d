"""Row operations along every axis of permuted and strided views: on a CPU, the bits are those of contiguous rows."""

import numpy as np
import pytest

import lanewise as lw

OPERATIONS = ("softmax", "log_softmax", "layer_norm", "rms_norm", "cumulative_sum", "minmax")
LENGTHS = (1, 2, 15, 16, 17, 65)
ADJACENT = (1, 3, 4, 5, 15, 16, 17, 64, 65, 130)  # around the widths of vectors and tiles


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_of_views(name, dtype, backend):
    operation, random = getattr(lw, name), np.random.default_rng(7)
    tolerance = 1e-5 if backend.is_gpu else 0

    def same(x, y):
        return np.allclose(np.asarray(x), np.asarray(y), rtol=tolerance, atol=tolerance, equal_nan=True)

    for length in LENGTHS:
        for adjacent in ADJACENT:
            rows = random.standard_normal((2, adjacent, length)).astype(dtype)
            expected = np.asarray(operation(lw.asarray(rows)) if name != "cumulative_sum" else operation(rows, -1))
            columns = lw.asarray(np.ascontiguousarray(rows.swapaxes(1, 2)))
            for view in (lw.permute_dims(columns, (0, 2, 1)), lw.asarray(np.repeat(rows, 2, axis=2))[:, :, ::2]):
                assert same(operation(view, axis=-1), expected), (length, adjacent)
            result = operation(columns, axis=1)
            assert same(np.asarray(result).swapaxes(1, 2), expected), (length, adjacent)
            assert same(operation(columns, axis=1, out=columns), result), (length, adjacent)
