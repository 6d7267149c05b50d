"""Tests convolution and pooling against PyTorch, and convolution against SciPy."""

from __future__ import annotations

import numpy as np
from agreement import agree, numbers, wide
from hypothesis import given
from hypothesis import strategies as st
from scipy import signal


def pairs(low, high):
    return st.tuples(st.integers(low, high), st.integers(low, high))


def images(data, channels, kernel, padding, dilation):
    """Draws images that, with padding, are at least as large as the dilated kernel."""
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    size = [max(r - 2 * p, 1) + data.draw(st.integers(0, 12)) for r, p in zip(reach, padding, strict=True)]
    return data.draw(numbers((data.draw(st.integers(1, 3)), channels, *size), -3, 3))


@given(st.data())
def test_conv2d(torch, data):
    groups, inputs, outputs = (data.draw(st.integers(1, 4)) for _ in range(3))
    kernel, stride, dilation = (data.draw(pairs(1, 4)) for _ in range(3))
    padding = data.draw(pairs(0, 4))
    x = images(data, groups * inputs, kernel, padding, dilation)
    weight = data.draw(numbers((groups * outputs, inputs, *kernel), -1, 1))
    bias = data.draw(st.none() | numbers((groups * outputs,), -1, 1))
    settings = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}

    def theirs(*arrays):
        arrays = [None if each is None else torch.from_numpy(each) for each in wide(*arrays)]
        return torch.nn.functional.conv2d(*arrays, **settings).numpy()

    size = theirs(*(None if each is None else np.abs(each) for each in (x, weight, bias)))
    agree("conv2d", theirs(x, weight, bias), x, weight, bias, magnitude=size, **settings)


@given(st.data())
def test_conv2d_is_correlation(data):
    kernel = data.draw(pairs(1, 5))
    x = images(data, 1, kernel, (0, 0), (1, 1))[:1]
    weight = data.draw(numbers((1, 1, *kernel), -1, 1))
    expected = signal.correlate2d(*wide(x[0, 0], weight[0, 0]), mode="valid")
    size = signal.correlate2d(*wide(np.abs(x[0, 0]), np.abs(weight[0, 0])), mode="valid")
    agree("conv2d", expected[None, None], x, weight, magnitude=size)


@given(st.data())
def test_pooling(torch, data):
    kernel = data.draw(pairs(1, 5))
    stride = data.draw(st.none() | pairs(1, 5))
    padding = tuple(data.draw(st.integers(0, extent // 2)) for extent in kernel)
    dilation = data.draw(pairs(1, 3))
    x = images(data, data.draw(st.integers(1, 3)), kernel, padding, dilation)
    settings = {"kernel_size": kernel, "stride": stride, "padding": padding}
    theirs = torch.nn.functional
    image = torch.from_numpy(*wide(x))
    largest = theirs.max_pool2d(image, **settings, dilation=dilation).numpy()
    agree("max_pool2d", largest.astype("float32"), x, **settings, dilation=dilation)
    settings["count_include_pad"] = data.draw(st.booleans())
    size = theirs.avg_pool2d(image.abs(), **settings).numpy()
    agree("avg_pool2d", theirs.avg_pool2d(image, **settings).numpy(), x, magnitude=size, **settings)
