"""Tests repr and str: NumPy's layout, with the dtype and the backend if these are not the default."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import lanewise as lw

SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=5)


@given(hnp.arrays(st.sampled_from([np.float16, np.float32, np.float64]), SHAPES))
def test_any_floats_as_numpy_prints_them(array):
    assert str(lw.asarray(array)) == str(array)


@given(st.lists(st.floats(-1e4, 1e4).map(lambda x: round(x, 3)), min_size=1, max_size=40))
def test_everyday_floats_as_numpy_prints_them(values):
    for dtype in (np.float32, np.float64):
        assert str(lw.asarray(np.array(values, dtype))) == str(np.array(values, dtype))


@given(hnp.arrays(st.sampled_from([bool, np.int32, np.int64]), SHAPES))
def test_integers_and_bools_as_numpy_prints_them(array):
    assert str(lw.asarray(array)) == str(array)


def neighbours(number, dtype):
    """Returns a float and the floats of the same dtype before and after it."""
    number = dtype(number)
    return [np.nextafter(number, dtype(0)), number, np.nextafter(number, dtype(np.inf))]


@pytest.mark.parametrize(("dtype", "largest"), [(np.float16, 1e3), (np.float32, 1e6), (np.float64, 1e8)])
def test_floats_near_the_limits_of_positional_notation(dtype, largest):
    for values in (neighbours(largest, dtype), neighbours(1e-4, dtype), neighbours(1000, dtype)):
        for value in values:
            for array in (np.array([value]), np.array([value, dtype(1)]), np.array([value, dtype(np.nan)])):
                assert str(lw.asarray(array)) == str(array)
    for ratio in (500, 970, 999, 1000, 1001, 1002):
        for smallest in (0.001, 1, 3):
            array = np.array([smallest, -smallest * ratio, np.inf], dtype)
            assert str(lw.asarray(array)) == str(array)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_float_alone_reads_back(dtype):
    bits = np.random.default_rng(5).integers(0, 256, 200 * dtype().itemsize, dtype=np.uint8)
    for value in bits.view(dtype):
        if np.isfinite(value):
            assert dtype(str(lw.asarray(value, np.dtype(dtype)))) == value


@pytest.mark.parametrize("rows", [(), (2,), (2, 2)])
@pytest.mark.parametrize("width", [1, 2, 20, 75])
def test_lines_break_where_numpys_do(rows, width):
    for extent in (1, 2, 3, 9, 10, 17, 18, 24, 25, 26, 37, 38, 39):
        array = (np.arange(int(np.prod(rows)) * extent, dtype=np.int32) % 100).reshape(*rows, extent)
        with lw.printoptions(linewidth=width):
            assert str(lw.asarray(array)) == np.array2string(array, max_line_width=width)
            layout = {"max_line_width": width, "separator": ", ", "prefix": "Tensor(", "suffix": ")"}
            assert repr(lw.asarray(array)) == f"Tensor({np.array2string(array, **layout)})"


def test_the_dtype_stays_on_the_last_line_if_it_fits():
    breaks = set()
    for extent in range(1, 60):
        *_, before, last = ["", *repr(lw.zeros(extent, dtype=lw.float64)).split("\n")]
        if breaks_before := last.startswith("       dtype"):
            assert len(f"{before} {last.lstrip()}") > 75
        assert len(last) <= 75
        breaks.add(breaks_before)
    assert breaks == {True, False}


@pytest.mark.parametrize(
    "shape", [(6, 400), (1001,), (40, 40), (11, 11, 11), (5, 300), (300, 5), (2, 3, 500), (7, 1, 200)]
)
def test_large_tensors_are_elided(shape):
    for dtype in (np.float32, np.int32):
        array = np.random.default_rng(1).uniform(-100, 100, shape).astype(dtype)
        assert str(lw.asarray(array)) == str(array)
        assert "..." in repr(lw.asarray(array))


@pytest.mark.parametrize("shape", [(1000,), (10, 100)])
def test_a_thousand_elements_are_shown(shape):
    array = np.arange(1000, dtype=np.int32).reshape(shape)
    assert str(lw.asarray(array)) == str(array)


def test_repr_is_numpys_except_for_the_name():
    array = np.arange(40, dtype=np.float64).reshape(5, 8) / 3
    theirs = repr(array).replace("array(", "Tensor(").replace("\n       ", "\n        ")
    assert repr(lw.asarray(array)) == theirs[:-1] + ", dtype=float64)"


@pytest.mark.parametrize(
    ("tensor", "text"),
    [
        (lw.asarray([1.0, 2.0]), "Tensor([1., 2.])"),
        (lw.asarray([[1, 2], [3, 4]]), "Tensor([[1, 2],\n        [3, 4]])"),
        (lw.asarray([True, False]), "Tensor([ True, False])"),
        (lw.asarray([1, 2], dtype=lw.float16), "Tensor([1., 2.], dtype=float16)"),
        (lw.asarray([1, 2], dtype=lw.int64), "Tensor([1, 2], dtype=int64)"),
        (lw.zeros(0), "Tensor([], dtype=float32)"),
        (lw.zeros((2, 0)), "Tensor([], shape=(2, 0), dtype=float32)"),
        (lw.asarray(2.5), "Tensor(2.5)"),
        (lw.asarray(True), "Tensor(True)"),
        (lw.asarray([float("nan"), float("-inf"), 1]), "Tensor([ nan, -inf,   1.])"),
        (lw.asarray([0.0, -0.0]), "Tensor([ 0., -0.])"),
        (lw.asarray([0.1, 1e-10]), "Tensor([1.e-01, 1.e-10])"),
    ],
)
def test_repr(tensor, text):
    assert repr(tensor) == text


def test_a_number_alone_prints_as_python_does():
    assert str(lw.sum(lw.asarray([0.1]))) == "0.1"
    assert str(lw.asarray(3)) == "3"
    assert str(lw.asarray(float("inf"))) == "inf"
    assert f"{lw.asarray(True)}" == "True"


def test_repr_names_a_backend_that_is_not_the_default():
    backend = next(info.name for info in reversed(lw.backends()) if info.available)
    placed = lw.ones(2).to(backend)
    other = lw.ones(2).backend is not backend
    assert repr(placed) == (f"Tensor([1., 1.], backend={backend})" if other else "Tensor([1., 1.])")
    assert repr(lw.ones(2)) == "Tensor([1., 1.])"


def test_views_print_their_own_elements():
    assert str(lw.arange(6).reshape(2, 3).T[::-1]) == "[[2 5]\n [1 4]\n [0 3]]"


def test_long_reprs_put_the_dtype_on_a_new_line():
    assert repr(lw.zeros(16, dtype=lw.float64)).endswith("0.],\n       dtype=float64)")


def test_options():
    x = lw.asarray([2 / 3, 1.0])
    with lw.printoptions(precision=3):
        assert str(x) == "[0.667 1.   ]"
        assert lw.get_printoptions()["precision"] == 3
    assert str(x) == "[0.6666667 1.       ]"
    with lw.printoptions(threshold=4, edgeitems=1):
        assert str(lw.arange(6)) == "[0 ... 5]"
    with lw.printoptions(precision=0, threshold=0, edgeitems=1, linewidth=1):
        assert str(lw.asarray([0.25, 1.0, 2.0])) == "[0.\n ...\n 2.]"
    with lw.printoptions(linewidth=10):
        assert str(lw.arange(6)) == "[0 1 2 3\n 4 5]"


def test_options_belong_to_a_thread():
    seen = []
    with lw.printoptions(precision=1):
        thread = threading.Thread(target=lambda: seen.append(lw.get_printoptions()["precision"]))
        thread.start()
        thread.join()
    assert seen == [8]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"precision": -1}, lw.ArgumentError),
        ({"edgeitems": 0}, lw.ArgumentError),
        ({"linewidth": 0}, lw.ArgumentError),
        ({"threshold": "all"}, TypeError),
    ],
)
def test_wrong_options(options, error):
    with pytest.raises(error, match=r"^set_printoptions: "):
        lw.set_printoptions(**options)
    assert lw.get_printoptions() == {"precision": 8, "threshold": 1000, "edgeitems": 3, "linewidth": 75}
