"""Tests the entry points that compute convolution, attention and products in tiles of elements: sizes around the tiles,
and NaN and infinity where they must have no effect, or an effect. The expected results are computed in float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from harness import Runner, on_gpu, stays_on_gpu
from recording import GROUPS, FakePlayer

import lanewise as lw

Shape = tuple[int, ...]


def normal(*shape: int, seed: int = 4) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(np.float32)


def convolution(
    x: np.ndarray,
    weight: np.ndarray,
    stride: Any = (1, 1),
    padding: Any = (0, 0),
    dilation: Any = (1, 1),
    groups: int = 1,
) -> np.ndarray:
    rows, columns = padding
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (rows, rows), (columns, columns)))
    outputs, channels, *kernel = weight.shape
    size = [(padded.shape[2 + d] - dilation[d] * (kernel[d] - 1) - 1) // stride[d] + 1 for d in range(2)]
    result = np.zeros((len(x), outputs, *size))
    for o, p, q in np.ndindex(outputs, *kernel):
        first = o * groups // outputs * channels
        taps = padded[:, first : first + channels, p * dilation[0] :, q * dilation[1] :]
        taps = taps[:, :, :: stride[0], :: stride[1]][:, :, : size[0], : size[1]]
        result[:, o] += np.einsum("nchw,c->nhw", taps, weight[o, :, p, q].astype(np.float64))
    return result


CONVOLUTIONS: list[tuple[Shape, Shape, dict[str, Any]]] = [
    ((1, 1, 8, 8), (8, 1, 1, 1), {}),
    ((2, 16, 8, 8), (64, 16, 1, 1), {}),
    ((1, 5, 9, 9), (65, 5, 3, 3), {"padding": (1, 1)}),
    ((3, 7, 5, 13), (9, 7, 3, 3), {"padding": (2, 0)}),
    ((2, 3, 20, 17), (70, 3, 5, 5), {"stride": (2, 3), "padding": (2, 1)}),
    ((2, 4, 15, 14), (8, 4, 3, 2), {"dilation": (2, 3), "padding": (3, 2)}),
    ((2, 6, 9, 8), (24, 2, 3, 3), {"groups": 3, "padding": (1, 1)}),
    ((1, 4, 9, 8), (130, 2, 3, 3), {"groups": 2, "stride": (2, 2)}),
    ((5, 2, 3, 3), (8, 2, 3, 3), {"padding": (3, 3)}),
    ((1, 2, 130, 1), (8, 2, 3, 1), {}),
]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("images", "weights", "keywords"), CONVOLUTIONS)
def test_convolution(gpu: Runner, images: Shape, weights: Shape, keywords: dict[str, Any], bias: bool) -> None:
    x, weight, added = normal(*images), normal(*weights, seed=5), normal(weights[0], seed=6) if bias else None
    result = gpu.guarded("conv2d", x, weight, added, **keywords)
    expected = convolution(x, weight, **keywords) + (0 if added is None else added.reshape(-1, 1, 1))
    size = convolution(abs(x), abs(weight), **keywords) + 5
    assert result.shape == expected.shape
    assert (abs(result - expected) <= 1e-6 * size).all()


def test_convolution_of_views(gpu: Runner) -> None:
    """Around the operands are NaN, which must not be used."""
    x, weight = np.full((2, 9, 11, 4), np.nan, np.float32), np.full((17, 3, 4, 3), np.nan, np.float32)
    x[..., :3], weight[1:] = normal(2, 9, 11, 3), normal(16, 3, 4, 3)
    images, filters = on_gpu(x), on_gpu(weight)
    with stays_on_gpu():
        result = lw.conv2d(
            lw.permute_dims(images, (0, 3, 2, 1))[:, 2::-1], filters[1:, :, ::2, ::-1], stride=(1, 2), padding=(1, 1)
        )
    expected = convolution(x.transpose(0, 3, 2, 1)[:, 2::-1], weight[1:, :, ::2, ::-1], (1, 2), (1, 1))
    np.testing.assert_allclose(np.array(result), expected, atol=1e-5)


@pytest.mark.parametrize("outputs", [4, 16])
def test_infinity_times_padding_is_nan(gpu: Runner, outputs: int) -> None:
    """As on the CPU. With few output channels, each element is computed by itself."""
    x, weight = abs(normal(2, 3, 9, 9)), normal(outputs, 3, 3, 3)
    weight[2, 1, 0, 1] = np.inf
    x[1, 2, 4, 4] = np.nan
    result = gpu.run("conv2d", x, weight, padding=(1, 1))
    with np.errstate(invalid="ignore"):
        expected = convolution(x, weight, padding=(1, 1))
    assert np.isnan(expected[0, 2, 0]).all() and np.isposinf(expected[0, 2, 1:]).all()
    np.testing.assert_allclose(result, expected, atol=1e-5)


def attention(query: np.ndarray, key: np.ndarray, value: np.ndarray, added: Any = 0.0) -> np.ndarray:
    """Values of keys whose weight is 0 have no effect, even NaN. Queries that see no key give 0."""
    query, key, value = (each.astype(np.float64) for each in (query, key, value))
    scores = query @ key.mT / math.sqrt(query.shape[-1]) + added
    largest = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isinf(largest), 0, largest))
    good = np.isfinite(value).all((*range(value.ndim - 2), -1))  # keys, whose terms a product may sum
    others = weights[..., ~good, None] * np.where(weights[..., ~good, None] == 0, 0, value[..., None, ~good, :])
    terms, total = weights[..., good] @ value[..., good, :] + others.sum(-2), weights.sum(-1, keepdims=True)
    return np.divide(terms, total, out=np.zeros(terms.shape), where=total != 0)


# queries, keys, depth, value depth; of 512 keys or more, some workgroups compute a part
SIZES = [(8, 1, 1, 1), (63, 64, 16, 64), (64, 65, 17, 65), (65, 63, 33, 3), (130, 200, 64, 130), (9, 700, 8, 8)]
SIZES += [(600, 1100, 32, 36), (700, 600, 10, 6)]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("is_causal", [False, True])
def test_attention(gpu: Runner, sizes: Shape, is_causal: bool) -> None:
    queries, keys, depth, width = sizes
    query, key = normal(2, 3, queries, depth), normal(3, keys, depth, seed=5)
    value = normal(2, 1, keys, width, seed=6)
    hidden = np.where(is_causal & (np.arange(keys) > np.arange(queries)[:, None]), -np.inf, 0)
    result = gpu.guarded("scaled_dot_product_attention", query, key, value, is_causal=is_causal)
    np.testing.assert_allclose(result, attention(query, key, value, hidden), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("is_causal", [False, True])
def test_sliding_window(gpu: Runner, is_causal: bool) -> None:
    query, key, value = normal(2, 700, 16), normal(2, 900, 16, seed=5), normal(900, 8, seed=6)
    distance = np.arange(900) - np.arange(700)[:, None]
    hidden = np.where((abs(distance) >= 500) | (is_causal & (distance > 0)), -np.inf, 0)
    result = gpu.run("scaled_dot_product_attention", query, key, value, is_causal=is_causal, window=500)
    np.testing.assert_allclose(result, attention(query, key, value, hidden), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("keys", [90, 600])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_hidden_keys_have_no_effect(gpu: Runner, bad: float, keys: int) -> None:
    """Queries 0 to 69 do not see one of the last keys, query 3 sees no key, and no query sees key 5."""
    mask, late = normal(100, keys), keys - 20
    mask[:70, late] = mask[3] = mask[:, 5] = -np.inf
    query, key, value = normal(2, 100, 20), normal(2, keys, 20, seed=5), normal(keys, 70, seed=6)
    value[[5, late]] = bad
    key[:, 5] = np.nan
    clean = key.copy()
    clean[:, 5] = 0
    result = gpu.run("scaled_dot_product_attention", query, key, value, mask)
    expected = attention(query, clean, value, mask)
    assert (expected[:, 3] == 0).all() and np.isfinite(expected[:, :70]).all()
    assert not np.isfinite(expected[:, 70:]).any()
    np.testing.assert_allclose(result, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("keys", [150, 600])
@pytest.mark.parametrize("bad", [np.nan, -np.nan, np.inf])
def test_bad_scores(gpu: Runner, bad: float, keys: int) -> None:
    """A score that is NaN or infinite affects its query only."""
    query, key, value = normal(70, 8), normal(keys, 8, seed=5), normal(keys, 6, seed=6)
    mask = np.zeros((70, keys), np.float32)
    mask[66, 100] = bad
    result = gpu.run("scaled_dot_product_attention", query, key, value, mask)
    assert np.isnan(result[66]).all()
    others = np.arange(70) != 66
    np.testing.assert_allclose(result[others], attention(query, key, value)[others], atol=1e-5, rtol=1e-5)


def test_infinite_values_of_a_part_without_weight(gpu: Runner) -> None:
    """The first part has 320 keys, whose weights round to 0 once the scores of the others are known."""
    query, key, value = normal(64, 16), normal(600, 16, seed=5), normal(600, 4, seed=6)
    mask = np.where(np.arange(600) < 320, np.float32(-500), np.float32(0))
    value[7] = np.inf
    result = gpu.run("scaled_dot_product_attention", query, key, value, mask)
    np.testing.assert_allclose(result, attention(query, key[320:], value[320:]), atol=1e-5, rtol=1e-5)


def test_shared_heads_on_views(gpu: Runner) -> None:
    base = normal(3, 70, 8, 12)
    x = on_gpu(base)
    with stays_on_gpu():
        heads = lw.permute_dims(x, (0, 2, 1, 3))
        result = lw.scaled_dot_product_attention(heads[0], heads[1, ::4, ::-1], heads[2, ::4, :, ::-1], enable_gqa=True)
    q, k, v = base.transpose(0, 2, 1, 3)
    k, v = (np.repeat(each[::4], 4, axis=0) for each in (k[:, ::-1], v[..., ::-1]))
    np.testing.assert_allclose(np.array(result), attention(q, k, v), atol=1e-5, rtol=1e-5)


def zeros(*shape: int) -> lw.Tensor:
    return on_gpu(np.zeros(shape), np.float32)


def test_when_tiles_are_used(fake: FakePlayer) -> None:
    """They need 8 rows, output channels of a group or queries."""

    def entry(result: lw.Tensor) -> tuple[str, Shape]:
        dispatch = fake.recorded(result)[-1]
        return dispatch.entry, dispatch.groups

    images = zeros(3, 6, 10, 10)
    assert entry(lw.conv2d(images, zeros(65, 6, 1, 1))) == ("tiles", (5, 2, 1))
    assert entry(lw.conv2d(images, zeros(24, 2, 3, 3), groups=3)) == ("tiles", (3, 1, 3))
    assert entry(lw.conv2d(images, zeros(21, 2, 3, 3), groups=3))[0] == "main"
    query = zeros(2, 3, 65, 4)
    assert entry(lw.scaled_dot_product_attention(query, query, query)) == ("tiles", (12, 1, 1))
    assert entry(lw.scaled_dot_product_attention(query[..., :8, :], query, query)) == ("tiles", (6, 1, 1))
    assert entry(lw.scaled_dot_product_attention(query[..., :7, :], query, query)) == ("main", (42, 1, 1))


@pytest.mark.parametrize("m", [1, 5, 64, 67])
@pytest.mark.parametrize("n", [1, 7, 128, 131])
@pytest.mark.parametrize("k", [1, 8, 9, 31, 257])
def test_products_of_any_extents(gpu: Runner, m: int, n: int, k: int) -> None:
    """With the rows or the columns of each operand contiguous, or neither."""
    a, b = normal(m, k), normal(k, n)
    expected, size = a.astype(np.float64) @ b, abs(a).astype(np.float64) @ abs(b)
    left = (on_gpu(a), on_gpu(np.ascontiguousarray(a.T)).T, on_gpu(np.repeat(a, 3, axis=1))[:, ::3])
    right = (on_gpu(b), on_gpu(np.ascontiguousarray(b.T)).T, on_gpu(np.repeat(b[::-1], 3, axis=1))[::-1, 1::3])
    with stays_on_gpu():
        results = [x @ y for x in left for y in right]
    for result in results:
        assert (abs(np.array(result) - expected) <= 1e-6 * size).all()


@pytest.mark.parametrize(
    ("batch", "m", "n", "k"),
    [
        *((2, 197, n, k) for n in (60, 450, 512) for k in (20, 33)),
        (2, 197, 60, 1030),
        (2, 197, 450, 1030),
        (30, 197, 450, 33),
        (30, 197, 512, 20),
    ],
)
def test_products(gpu: Runner, batch: int, m: int, n: int, k: int) -> None:
    """All tiles, whole and in parts, in all orders of the elements: 64x64 with few columns, 64x128 with a small batch,
    and with a large one 128x256, or 128x128 if B is read along k."""
    a, b = normal(batch, m, k), normal(k, n, seed=5)
    expected, size = a.astype(np.float64) @ b, abs(a).astype(np.float64) @ abs(b)
    x, y, left, right = on_gpu(a), on_gpu(b), on_gpu(a.swapaxes(1, 2)), on_gpu(b.T)
    for result in (x @ y, x @ right.T, left.mT @ y, left.mT @ right.T):
        assert (abs(np.asarray(result) - expected) <= 1e-6 * size).all()


def test_a_product_uses_nothing_around_its_operands(gpu: Runner) -> None:
    """Around the operands are NaN; around the result is what was there before."""
    a, b = np.full((3, 70, 40), np.nan, np.float32), np.full((3, 41, 80), np.nan, np.float32)
    a[:, 2:69, 1:32], b[:, 5:36, 3:76] = normal(3, 67, 31), normal(3, 31, 73)
    x, y, out = on_gpu(a), on_gpu(b), on_gpu(np.full(3 * 67 * 73 + 4, 7, np.float32))
    with stays_on_gpu():
        lw.matmul(x[:, 2:69, 1:32], y[:, 5:36, 3:76], out=out[3:-1].reshape((3, 67, 73)))
    written = np.array(out)
    np.testing.assert_allclose(
        written[3:-1].reshape(3, 67, 73), a[:, 2:69, 1:32].astype(np.float64) @ b[:, 5:36, 3:76], atol=1e-4
    )
    assert (written[[0, 1, 2, -1]] == 7).all()


@pytest.mark.parametrize(
    ("heads", "keys", "columns", "parts"),
    [
        (3, 511, 6, 1),
        (3, 512, 6, 2),
        (3, 700, 6, 2),
        (3, 5000, 6, 16),
        (1023, 512, 6, 2),
        (1025, 512, 6, 1),
        (2049, 512, 6, 1),
        (3, 5000, 129, 1),
    ],
)
def test_keys_are_split_if_there_are_few_tiles(
    fake: FakePlayer, heads: int, keys: int, columns: int, parts: int
) -> None:
    """Parts have at least 256 keys, in whole tiles."""
    query, key, value = (
        lw.broadcast_to(zeros(*shape), (heads, *shape)) for shape in ((9, 4), (keys, 4), (keys, columns))
    )
    first, *rest = fake.recorded(lw.scaled_dot_product_attention(query, key, value))
    assert (first.entry, first.groups) == ("tiles", (min(heads * parts, GROUPS), 1, 1))
    fields = first.fields("LwAttentionLayout")
    assert fields["parts"] == parts
    assert fields["part_keys"] * (parts - 1) < keys <= fields["part_keys"] * parts
    assert [each.entry for each in rest] == ["combine"] * (parts > 1)
    if parts > 1:
        assert fields["part_keys"] % 64 == 0
        assert rest[0].groups == (min(math.ceil(heads * 9 * 2 / 256), GROUPS), 1, 1)
        assert fake.sizes[first.buffers[5]] >= heads * 9 * parts * 3 * 16


@pytest.mark.parametrize(
    ("make", "vectors"),
    [
        (lambda: zeros(70, 16), 1),
        (lambda: zeros(3, 70, 32), 1),
        (lambda: lw.permute_dims(zeros(70, 3, 20)[::-1, :, 4:], (1, 0, 2)), 1),
        (lambda: zeros(70, 20)[:, 2:18], 0),
        (lambda: zeros(70, 18)[:, :16], 0),
        (lambda: zeros(16, 70).T, 0),
        (lambda: zeros(70, 20), 0),
    ],
)
def test_rows_that_are_read_as_vectors(fake: FakePlayer, make: Any, vectors: int) -> None:
    x = make()
    (dispatch,) = fake.recorded(lw.scaled_dot_product_attention(x, x, x))
    assert (dispatch.entry, dispatch.variant) == ("tiles", vectors)
