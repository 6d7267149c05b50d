"""Tests avg_pool2d against its model."""

import numpy as np
import pytest

from tests.models.comparison import SPECIAL, agree, drawn, planted

# Shapes of images, and parameters. They cover windows of one part and of several (windows.py says what a part is); rows
# of results that fit into one of the kernel's rectangular blocks, or need several; blocks of one row and of many; and
# large results, which are split into tasks for threads.
CASES = [
    ((1, 1, 4, 4), {"kernel_size": 2}),
    ((2, 3, 9, 11), {"kernel_size": 1}),
    ((2, 3, 9, 11), {"kernel_size": (9, 11)}),
    ((2, 3, 9, 11), {"kernel_size": 3, "stride": 1}),
    ((2, 3, 9, 11), {"kernel_size": 3, "stride": 2, "padding": 1}),
    ((2, 3, 9, 11), {"kernel_size": (5, 4), "stride": (1, 3), "padding": (2, 2)}),
    ((2, 3, 9, 11), {"kernel_size": (2, 5), "stride": (7, 6), "padding": (0, 2)}),
    ((3, 9, 11), {"kernel_size": (4, 2), "stride": (3, 1), "padding": (2, 0)}),
    ((1, 2, 5, 600), {"kernel_size": (2, 256), "stride": 1}),
    ((1, 2, 5, 600), {"kernel_size": (2, 257), "stride": 1, "padding": (1, 128)}),
    ((1, 2, 3, 1100), {"kernel_size": (2, 513), "stride": (1, 5), "padding": (0, 200)}),
    ((1, 2, 300, 3), {"kernel_size": (257, 2), "stride": 1, "padding": (100, 1)}),
    ((2, 2, 7, 900), {"kernel_size": 2}),
    ((2, 2, 7, 900), {"kernel_size": 3, "stride": (2, 1), "padding": 1}),
    ((4, 8, 65, 64), {"kernel_size": 2}),
    ((4, 8, 57, 130), {"kernel_size": 3, "stride": 2, "padding": 1}),
    ((0, 3, 4, 4), {"kernel_size": 2}),
]


@pytest.mark.parametrize(("shape", "parameters"), CASES, ids=str)
def test_shapes(shape, parameters):
    x = drawn("avg_pool2d", shape)[0]
    for counts in (True, False):
        agree("avg_pool2d", x, **parameters, count_include_pad=counts)
        agree("avg_pool2d", planted(x, SPECIAL, 13), **parameters, count_include_pad=counts)
        agree("avg_pool2d", np.full(shape, -0.0, "f4"), **parameters, count_include_pad=counts)


def test_memory_layouts():
    x = drawn("avg_pool2d", (6, 30, 30, 30))[0]
    for view in (x[::2, ::-1, ::3, ::2], x.transpose(0, 3, 1, 2), x.transpose(3, 1, 2, 0), x[:, ::5, ::-1, ::-1]):
        agree("avg_pool2d", view, kernel_size=3, stride=2, padding=1, count_include_pad=False)
        agree("avg_pool2d", view, kernel_size=(2, 3))
