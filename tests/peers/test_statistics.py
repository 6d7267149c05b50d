"""Tests cumulative sums, covariances, correlations and z-scores against NumPy and SciPy, normalize against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest
from agreement import UNIT, agree, numbers, wide
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

import lanewise as lw

SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, min_side=2, max_side=7) | st.tuples(st.integers(2, 5000))


def shifted(data, shape):
    """Draws numbers from -10 to 10, sometimes shifted by 10 or -1000."""
    x = data.draw(numbers(shape))
    x += data.draw(st.sampled_from([0, 10, -1000]))
    return x


@given(st.data())
def test_cumulative_sum(data):
    x = shifted(data, data.draw(SHAPES))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    size = np.cumsum(np.abs(*wide(x)), axis=axis)
    agree("cumulative_sum", np.cumsum(*wide(x), axis=axis), x, axis=axis, magnitude=size)
    whole = data.draw(numbers(x.shape, -(2**31), 2**31 - 1, "int32", extremes=True))
    agree("cumulative_sum", np.cumsum(whole, axis=axis, dtype="int32"), whole, axis=axis)


@given(st.data())
def test_zscore(data):
    x = shifted(data, data.draw(SHAPES))
    axis, correction = data.draw(st.integers(-x.ndim, x.ndim - 1)), data.draw(st.sampled_from([0.0, 1.0]))
    # the mean's rounding error, at most 4 UNIT times the row's largest number, is divided by std(x)
    allowed = 4 * UNIT * np.abs(x).max(axis=axis, keepdims=True) / np.std(*wide(x), axis=axis, keepdims=True)
    expected = stats.zscore(*wide(x), axis=axis, ddof=int(correction))
    agree("zscore", expected, x, axis=axis, correction=correction, allowed=allowed)


@given(st.data())
def test_normalize(torch, data):
    x = shifted(data, data.draw(SHAPES))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    eps = data.draw(st.sampled_from([1e-12, 5.0]))
    expected = torch.nn.functional.normalize(torch.from_numpy(*wide(x)), dim=axis, eps=eps).numpy()
    agree("normalize", expected, x, axis=axis, eps=eps)


def covariance_error(rows, correction):
    """Returns the error allowed for covariances: the sums of products of absolute deviations, times 4 UNIT + 2e-6,
    divided by observations - correction. 4 UNIT allows for the rounding of deviations, 2e-6 for that of the sums."""
    deviations = np.abs(rows - rows.mean(axis=1, keepdims=True))
    return (2e-6 + 4 * UNIT) * (deviations @ deviations.T) / (rows.shape[1] - correction)


@given(st.data())
def test_cov_and_corrcoef(data):
    variables, observations = data.draw(st.integers(1, 9)), data.draw(st.integers(2, 400))
    x = shifted(data, (variables, observations) if data.draw(st.booleans()) else (observations,))
    y = data.draw(st.none() | numbers((observations,)))
    correction = data.draw(st.sampled_from([0.0, 1.0]))
    allowed = np.squeeze(covariance_error(np.vstack([each for each in wide(x, y) if each is not None]), correction))
    settings = {"correction": correction, "allowed": allowed, "by_contract": False}
    agree("cov", np.cov(*wide(x, y), ddof=int(correction)), x, y, **settings)
    agree("corrcoef", np.corrcoef(*wide(x, y)), x, y)
    if x.ndim == 2 and y is None:
        agree("cov", np.cov(*wide(x), ddof=int(correction)), x.T, rowvar=False, **settings)


@given(st.data())
def test_covariance_and_correlation(data):
    observations = data.draw(st.integers(2, 400))
    x, y = shifted(data, (observations,)), shifted(data, (observations,))
    allowed = covariance_error(np.vstack(wide(x, y)), 0)[0, 1]
    agree("covariance", np.cov(*wide(x, y), ddof=0)[0, 1], x, y, allowed=allowed, by_contract=False)
    agree("correlation", stats.pearsonr(*wide(x, y)).statistic, x, y)


@pytest.mark.parametrize("operation", [lw.cov, lw.corrcoef])
def test_x_and_y_have_as_many_observations(operation):
    with pytest.raises(lw.ShapeError, match=f"^{operation.__name__}: expected as many .* as in y, got 3 and 4$"):
        operation(lw.ones((2, 3)), lw.ones((2, 4)))
