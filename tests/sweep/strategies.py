"""Hypothesis strategies for arrays: any memory layout, shapes that broadcast."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp


@st.composite
def views(draw, shape, dtype):
    """Draws an array of a shape in any memory layout: permuted axes, unused items in between, negative strides."""
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.sampled_from([1, 1, 2, -1, -2])) for _ in shape]
    base = np.zeros([shape[axis] * abs(steps[axis]) for axis in order], dtype)
    base[...] = (np.arange(base.size).reshape(base.shape) * 7 + draw(st.integers(0, 9))) % 11 - 5
    return base[(*(slice(None, None, steps[axis]) for axis in order), ...)].transpose(np.argsort(order).tolist())


@st.composite
def broadcast_views(draw, count, dtypes):
    shapes = draw(hnp.mutually_broadcastable_shapes(num_shapes=count, max_dims=5, max_side=5)).input_shapes
    dtype = draw(st.sampled_from(dtypes))
    return [draw(views(shape, dtype)) for shape in shapes]
