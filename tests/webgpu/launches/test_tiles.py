"""Tests convolution and attention, which are computed in tiles of elements: sizes around the tiles, and NaN and
infinity where they must have no effect, or an effect."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from generator import references
from harness import Runner, normal, on_gpu, stays_on_gpu, zeros
from recording import GROUPS, FakePlayer

import lanewise as lw

Shape = tuple[int, ...]


def convolution(x: np.ndarray, weight: np.ndarray, bias: np.ndarray | None = None, **keywords: Any) -> np.ndarray:
    """Returns what conv2d computes, in float64."""
    settings = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1, **keywords}
    return references.conv2d(x.astype(np.float64), weight.astype(np.float64), bias, **settings)


def attention(query: np.ndarray, key: np.ndarray, value: np.ndarray, mask: Any = None, **keywords: Any) -> np.ndarray:
    """Returns what scaled_dot_product_attention computes, in float64."""
    settings = {"is_causal": False, "scale": None, "enable_gqa": False, "window": None, "offset": 0, **keywords}
    return references.attention(*(each.astype(np.float64) for each in (query, key, value)), mask, **settings)


def attend(gpu: Runner, *inputs: Any, **keywords: Any) -> None:
    """Asserts that the results of attention on the device are near those in float64."""
    result = gpu.guarded("scaled_dot_product_attention", *inputs, **keywords)
    np.testing.assert_allclose(result, attention(*inputs, **keywords), atol=1e-5, rtol=1e-5)


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
    expected, size = convolution(x, weight, added, **keywords), convolution(abs(x), abs(weight), **keywords) + 5
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
    expected = convolution(x.transpose(0, 3, 2, 1)[:, 2::-1], weight[1:, :, ::2, ::-1], stride=(1, 2), padding=1)
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


# queries, keys, depth, value depth; of 512 keys or more, some workgroups compute a part
SIZES = [(8, 1, 1, 1), (63, 64, 16, 64), (64, 65, 17, 65), (65, 63, 33, 3), (130, 200, 64, 130), (9, 700, 8, 8)]
SIZES += [(600, 1100, 32, 36), (700, 600, 10, 6), (1, 130, 16, 128), (7, 65, 16, 68), (66, 70, 16, 129)]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("is_causal", [False, True])
def test_attention(gpu: Runner, sizes: Shape, is_causal: bool) -> None:
    queries, keys, depth, width = sizes
    key, value = normal(3, keys, depth, seed=5), normal(2, 1, keys, width, seed=6)
    attend(gpu, normal(2, 3, queries, depth), key, value, is_causal=is_causal)


@pytest.mark.parametrize("shape", [(7, 9), (3, 7, 9), (2, 3, 2, 2, 5, 8), (2, 3, 1, 2, 1, 3, 5, 8), (2, 65, 1)])
@pytest.mark.parametrize("mask", ["float", "bool", "rows"])
def test_masks(gpu: Runner, shape: Shape, mask: str) -> None:
    """A dispatch has up to four dimensions of the batch; with more, there are several dispatches."""
    *batch, queries, depth = shape
    keys = queries + 66
    key, value = normal(*batch[1:], keys, depth, seed=5), normal(*batch, keys, 70, seed=6)
    given = normal(keys) if mask == "rows" else normal(*batch, queries, keys)
    attend(gpu, normal(*shape), key, value, given > -0.5 if mask == "bool" else given)


@pytest.mark.parametrize("mask", [True, 0.5, -3.0])
def test_a_number_as_mask(gpu: Runner, mask: Any) -> None:
    """Whatever number is added to all scores, or if all keys may be seen, the result is that without a mask."""
    inputs = normal(5, 8), normal(9, 8, seed=5), normal(9, 3, seed=6)
    result = gpu.run("scaled_dot_product_attention", *inputs, mask)
    np.testing.assert_allclose(result, attention(*inputs), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("window", "offset"), [(None, 0), (70, 0), (200, 90)])
def test_earlier_keys(gpu: Runner, window: int | None, offset: int) -> None:
    """Values of keys that no query sees may be NaN."""
    query, key, value = normal(3, 150, 8), normal(260, 8, seed=5), normal(260, 70, seed=6)
    value[150 + offset :] = np.nan
    attend(gpu, query, key, value, is_causal=True, window=window, offset=offset)


@pytest.mark.parametrize("is_causal", [False, True])
def test_sliding_window(gpu: Runner, is_causal: bool) -> None:
    query, key, value = normal(2, 700, 16), normal(2, 900, 16, seed=5), normal(900, 8, seed=6)
    attend(gpu, query, key, value, is_causal=is_causal, window=500)


@pytest.mark.parametrize("keys", [90, 600])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_hidden_keys_have_no_effect(gpu: Runner, bad: float, keys: int) -> None:
    """Queries 0 to 69 do not see one of the last keys, query 3 sees no key, and no query sees key 5."""
    mask, late = normal(100, keys), keys - 20
    mask[:70, late] = mask[3] = mask[:, 5] = -np.inf
    query, key, value = normal(2, 100, 20), normal(2, keys, 20, seed=5), normal(keys, 70, seed=6)
    value[[5, late]] = bad
    key[:, 5] = np.nan
    result = gpu.run("scaled_dot_product_attention", query, key, value, mask)
    expected = attention(query, key, value, mask)
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


@pytest.mark.parametrize("step", [1, 4])
def test_heads_on_views(gpu: Runner, step: int) -> None:
    """Heads are a dimension of one tensor, as models compute them; those of keys and values may be shared."""
    base = normal(3, 70, 8, 12)
    x = on_gpu(base)
    with stays_on_gpu():
        heads = lw.permute_dims(x, (0, 2, 1, 3))
        result = lw.scaled_dot_product_attention(
            heads[0], heads[1, ::step, ::-1], heads[2, ::step, :, ::-1], enable_gqa=True
        )
    q, k, v = base.transpose(0, 2, 1, 3)
    expected = attention(q, k[::step, ::-1], v[::step, :, ::-1], enable_gqa=True)
    np.testing.assert_allclose(np.array(result), expected, atol=1e-5, rtol=1e-5)


def test_when_tiles_are_used(fake: FakePlayer) -> None:
    """Those of a convolution need 16 output channels of a group."""

    def entry(result: lw.Tensor) -> tuple[str, Shape]:
        dispatch = fake.recorded(result)[-1]
        return dispatch.entry, dispatch.groups

    images = zeros(3, 6, 10, 10)
    assert entry(lw.conv2d(images, zeros(65, 6, 1, 1))) == ("tiles", (5, 2, 1))
    assert entry(lw.conv2d(images, zeros(48, 2, 3, 3), groups=3)) == ("tiles", (3, 1, 3))
    assert entry(lw.conv2d(images, zeros(45, 2, 3, 3), groups=3))[0] == "main"
    query = zeros(2, 3, 65, 4)
    assert entry(lw.scaled_dot_product_attention(query, query[..., :64, :], query[..., :64, :])) == (
        "tiles",
        (12, 1, 1),
    )
    one = query[..., :1, :]
    assert entry(lw.scaled_dot_product_attention(one, one, one)) == ("tiles", (6, 1, 1))


@pytest.mark.parametrize(
    ("heads", "keys", "columns", "parts"),
    [
        (3, 64, 6, 1),
        (3, 65, 6, 2),
        (3, 511, 6, 8),
        (3, 5000, 6, 79),
        (255, 300, 6, 5),
        (256, 300, 6, 2),
        (1023, 512, 6, 2),
        (1025, 512, 6, 1),
        (2049, 512, 6, 1),
        (3, 5000, 129, 1),
    ],
)
def test_keys_are_split_if_there_are_few_tiles(
    fake: FakePlayer, heads: int, keys: int, columns: int, parts: int
) -> None:
    """Parts have about 256 keys, or a tile of 64 if there are fewer than 256 tiles."""
    query, key, value = (
        lw.broadcast_to(zeros(*shape), (heads, *shape)) for shape in ((9, 4), (keys, 4), (keys, columns))
    )
    first, *rest = fake.recorded(lw.scaled_dot_product_attention(query, key, value))
    passes = 1 + (columns > 128)
    assert (first.entry, first.groups) == ("tiles", (min(heads * parts * passes, GROUPS), 1, 1))
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
    dispatch, _ = fake.recorded(lw.scaled_dot_product_attention(x, x, x))
    assert (dispatch.entry, dispatch.variant) == ("tiles", vectors)


@pytest.mark.parametrize(("columns", "groups", "variant"), [(64, 4, 1), (68, 4, 3), (128, 4, 3), (132, 8, 3)])
def test_wide_values_take_tiles_of_128_columns(fake: FakePlayer, columns: int, groups: int, variant: int) -> None:
    query, value = zeros(2, 70, 16), zeros(2, 64, columns)
    (dispatch,) = fake.recorded(lw.scaled_dot_product_attention(query, query[:, :64], value))
    assert (dispatch.groups, dispatch.variant) == ((groups, 1, 1), variant)


@pytest.mark.parametrize(
    ("outputs", "channels", "edge", "entry", "parts"),
    [(4, 15, 8, "main", 1), (4, 16, 8, "main", 2), (4, 1000, 8, "main", 125), (4, 1000, 512, "main", 1),
     (64, 127, 8, "tiles", 1), (64, 256, 8, "tiles", 2), (64, 4096, 100, "tiles", 3)],
)  # fmt: skip
def test_products_of_a_convolution_are_divided_if_there_are_few_workgroups(
    fake: FakePlayer, outputs: int, channels: int, edge: int, entry: str, parts: int
) -> None:
    """Parts have at least 8 channels, or 8 strips of 16 products in tiles."""
    image, weight = (
        lw.broadcast_to(zeros(1), shape) for shape in ((1, channels, edge, edge), (outputs, channels, 1, 1))
    )
    first, *rest = fake.recorded(lw.conv2d(image, weight))
    fields = first.fields("LwWindowLayout")
    assert (first.entry, fields["parts"]) == (entry, parts)
    assert fields["part"] * (parts - 1) < channels <= fields["part"] * parts
    assert [each.entry for each in rest] == ["combine"] * (parts > 1)
