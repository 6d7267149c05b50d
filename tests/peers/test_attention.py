"""Tests attention against PyTorch: causal, bool and float masks, windows, grouped queries, offsets. Tests rope,
attention_scores and weighted_sum against NumPy."""

from __future__ import annotations

import numpy as np
from agreement import UNIT, agree, numbers, wide
from hypothesis import given
from hypothesis import strategies as st


@given(st.data())
def test_attention(torch, data):
    batch, heads, group = (data.draw(st.integers(1, 3)) for _ in range(3))
    queries, keys = (data.draw(st.integers(1, 9) | st.integers(1, 200)) for _ in range(2))
    depth, width = (data.draw(st.integers(1, 70)) for _ in range(2))
    query = data.draw(numbers((batch, heads * group, queries, depth), -3, 3))
    key = data.draw(numbers((batch, heads, keys, depth), -3, 3))
    value = data.draw(numbers((batch, heads, keys, width), -3, 3))
    mask = data.draw(st.none() | numbers((queries, keys), -2, 2))
    if mask is not None and data.draw(st.booleans()):
        mask = mask > 0
        mask[:, 0] = True  # PyTorch returns NaN for a query that attends to no key
    causal, window = data.draw(st.booleans()), data.draw(st.none() | st.integers(1, 100))
    offset = data.draw(st.integers(0, keys - 1))
    scale = data.draw(st.none() | st.sampled_from([0.0, 0.05, 0.2]))

    # PyTorch has neither windows nor offsets; emulate them with a mask. Query i has the position of key i + offset.
    distance = np.arange(keys) - np.arange(queries)[:, None] - offset
    attended_keys = (distance <= 0 if causal else True) & (np.abs(distance) < (window or keys + queries))
    if mask is not None and mask.dtype == bool:
        attended_keys &= mask
    added = np.where(attended_keys, 0.0 if mask is None or mask.dtype == bool else mask, -np.inf)
    without_keys = ~np.broadcast_to(attended_keys, added.shape).any(axis=1)
    added[without_keys] = 0
    tensors = (torch.from_numpy(each) for each in wide(query, key, value))
    attended = torch.nn.functional.scaled_dot_product_attention(
        *tensors, attn_mask=torch.from_numpy(added), scale=scale, enable_gqa=True
    ).numpy()
    attended[:, :, without_keys] = 0

    # `products` bounds |score|, as elements of query and key are at most 3 and those of the mask at most 2. A score has
    # the error of depth + 2 roundings of numbers up to `products`; a softmax weight's relative error is twice that.
    # A result's error is a weight's error times the largest value, 3, plus the rounding of keys + 8 operations.
    products = 9 * depth * (depth**-0.5 if scale is None else scale) + 2
    allowed = 3 * UNIT * (2 * (depth + 2) * products + keys + 8)
    agree("scaled_dot_product_attention", attended, query, key, value, mask, is_causal=causal, window=window,
          offset=offset, scale=scale, enable_gqa=True, allowed=allowed)  # fmt: skip


@given(st.data())
def test_rope(data):
    """The expected result is each pair of elements, as a complex number, times e^(i angle)."""
    length, pairs = data.draw(st.integers(0, 40)), data.draw(st.integers(1, 40))
    x = data.draw(numbers((data.draw(st.integers(1, 3)), length, 2 * pairs), -3, 3))
    theta, offset = data.draw(st.sampled_from([10.0, 10_000.0, 500_000.0])), data.draw(st.integers(0, 5000))
    factor, split = data.draw(st.sampled_from([1.0, 2.0, 0.5])), data.draw(st.booleans())
    frequencies = theta ** (-np.arange(pairs) / pairs) / factor
    rotation = np.exp(1j * (np.arange(length) + offset)[:, None] * frequencies)
    first, second = (x[..., :pairs], x[..., pairs:]) if split else (x[..., ::2], x[..., 1::2])
    rotated = (first + 1j * second.astype("float64")) * rotation
    expected = np.empty(x.shape)
    parts = (np.s_[..., :pairs], np.s_[..., pairs:]) if split else (np.s_[..., ::2], np.s_[..., 1::2])
    expected[parts[0]], expected[parts[1]] = rotated.real, rotated.imag
    agree("rope", expected, x, theta=theta, offset=offset, factor=factor, pairs="split" if split else "adjacent")


@given(st.data())
def test_step_by_step(data):
    queries, keys, depth, width = (data.draw(st.integers(1, 40)) for _ in range(4))
    query, rows = data.draw(numbers((queries, depth))), data.draw(numbers((keys, depth)))
    scores = np.matmul(*wide(query, rows.T)) / np.sqrt(depth)
    size = np.matmul(*wide(np.abs(query), np.abs(rows.T))) / np.sqrt(depth)
    agree("attention_scores", scores, query, rows, magnitude=size)
    weights, values = data.draw(numbers((queries, keys))), data.draw(numbers((keys, width)))
    size = np.matmul(*wide(np.abs(weights), np.abs(values)))
    agree("weighted_sum", np.matmul(*wide(weights, values)), weights, values, magnitude=size)
