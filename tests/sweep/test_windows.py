"""Tests convolution and pooling against contracts/generator/references.py, over all their parameters, with inputs drawn
by hypothesis. Values are small integers, on which float32 sums are exact, so results must be equal."""

import numpy as np
import pytest
from generator import references
from hypothesis import given
from hypothesis import strategies as st
from judge import bits
from strategies import views
from test_numpy import check
from tested import HOSTS

import lanewise as lw


def pairs(low, high):
    return st.tuples(st.integers(low, high), st.integers(low, high))


def reach(kernel, dilation):
    return [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]


@st.composite
def sizes(draw, kernel, dilation, padding):
    """Draws the size of an image that, with padding, has room for the dilated kernel, sometimes exactly."""
    spans = zip(reach(kernel, dilation), padding, strict=True)
    return [max(span - 2 * pad, 1) + draw(st.integers(0, 9)) for span, pad in spans]


@given(st.data())
def test_conv2d(data):
    groups = data.draw(st.integers(1, 4))
    inputs, outputs = (data.draw(st.integers(1, 3)) for _ in range(2))
    if data.draw(st.booleans()):
        inputs = 1  # with groups of one channel, the convolution is depthwise
    kernel, stride, dilation = (data.draw(pairs(1, 4)) for _ in range(3))
    padding = data.draw(pairs(0, 4))
    size = data.draw(sizes(kernel, dilation, padding))
    x = data.draw(views((data.draw(st.integers(0, 3)), groups * inputs, *size), "float32"))
    weight = data.draw(views((groups * outputs, inputs, *kernel), "float32"))
    bias = data.draw(st.none() | views((groups * outputs,), "float32"))
    settings = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    expected = references.conv2d(x, weight, bias, **settings).astype("float32")
    for backend in HOSTS:
        with lw.use_backend(backend):
            check(lw.conv2d(x, weight, bias, **settings), expected)


@given(st.data())
def test_pooling(data):
    kernel = data.draw(pairs(1, 5))
    stride = data.draw(st.none() | pairs(1, 5))
    padding = tuple(data.draw(st.integers(0, extent // 2)) for extent in kernel)
    dilation = data.draw(pairs(1, 3))
    size = data.draw(sizes(kernel, dilation, padding))
    x = data.draw(views((*data.draw(pairs(0, 3)), *size), "float32"))
    settings = {"kernel_size": kernel, "stride": stride, "padding": padding}
    largest = references.max_pool2d(x, **settings, dilation=dilation)
    counts = data.draw(st.booleans())
    mean = references.avg_pool2d(x, **settings, count_include_pad=counts).astype("float32")
    for backend in HOSTS:
        with lw.use_backend(backend):
            check(lw.max_pool2d(x, **settings, dilation=dilation), largest.astype("float32"))
            check(lw.avg_pool2d(x, **settings, count_include_pad=counts), mean)


def test_one_image_without_a_batch():
    """An image of shape (channels, height, width) is a batch of one. Here, it is strided and not square."""
    batch = np.arange(2 * 3 * 10 * 22, dtype="float32").reshape(2, 3, 10, 22)[1:, :, ::2, ::2] % 7
    weight = np.arange(4 * 3 * 2 * 2, dtype="float32").reshape(4, 3, 2, 2) % 5
    calls = {
        "conv2d": lambda x: lw.conv2d(x, weight, padding=1),
        "max_pool2d": lambda x: lw.max_pool2d(x, 2),
        "avg_pool2d": lambda x: lw.avg_pool2d(x, 2),
    }
    for backend in HOSTS:
        with lw.use_backend(backend):
            for name, call in calls.items():
                one, several = np.asarray(call(batch[0])), np.asarray(call(batch))
                assert one.shape == several.shape[1:], name
                assert np.array_equal(one, several[0]), name


WEIGHTS = {  # shape, groups, and the axes or elements of a view of another tensor that has the same elements
    "channels last": ((8, 6, 3, 3), 1, lambda w: w.permute_dims((2, 3, 1, 0)).copy().permute_dims((3, 2, 0, 1))),
    "groups": ((8, 3, 3, 3), 2, lambda w: w.permute_dims((1, 0, 3, 2)).copy().permute_dims((1, 0, 3, 2))),
    "reversed": ((8, 6, 3, 3), 1, lambda w: w[:, :, ::-1, ::-1].copy()[:, :, ::-1, ::-1]),
    "axes of a matrix": ((8, 3000, 1, 1), 1, lambda w: w[:, :, 0, 0][:, :, None, None]),
}


@pytest.mark.parametrize("layout", WEIGHTS)
def test_the_layout_of_the_weight_does_not_change_the_bits(layout, host):
    """Each is computed as a matrix product, which adds in another order than the much slower strips of results do. In
    the last case, only because the weight has more channels than a block of the product."""
    shape, groups, strided = WEIGHTS[layout]
    random = np.random.default_rng(0)
    x, weight = (lw.asarray(random.random(each, "float32")) for each in ((2, groups * shape[1], 9, 9), shape))
    expected = lw.conv2d(x, weight, padding=1, groups=groups)
    assert np.array_equal(bits(lw.conv2d(x, strided(weight), padding=1, groups=groups).numpy()), bits(expected.numpy()))
