"""Tests attention against references.attention, on inputs and parameters drawn by hypothesis. They include bool masks,
which the cases in the oracle's files do not have. Also tests how much scratch memory attention uses."""

import numpy as np
import pytest
import raw
from generator import references
from hypothesis import given
from hypothesis import strategies as st
from strategies import views
from tested import HOSTS

import lanewise as lw


@st.composite
def masks(draw, batch, queries, keys):
    """Draws None, a bool mask or a float mask, possibly with fewer dimensions or with axes of size 1."""
    shape = [draw(st.sampled_from([extent, 1])) for extent in (*batch, queries, keys)]
    array = draw(views(shape[draw(st.integers(0, len(batch))) :], "float32"))
    return draw(st.sampled_from([None, array > 0, array * np.float32(0.5)]))


@given(st.data())
def test_attention(data):
    group, heads, batch = (data.draw(st.integers(1, 3)) for _ in range(3))
    queries, keys = (data.draw(st.integers(0, 5) | st.integers(0, 300)) for _ in range(2))
    depth, width = (data.draw(st.integers(1, 40)) for _ in range(2))
    query = data.draw(views((batch, heads * group, queries, depth), "float32"))
    key = data.draw(views((batch, heads, keys, depth), "float32"))
    value = data.draw(views((data.draw(st.sampled_from([1, batch])), heads, keys, width), "float32"))
    mask = data.draw(masks((batch, heads * group), queries, keys))
    settings = {
        "is_causal": data.draw(st.booleans()),
        "scale": data.draw(st.none() | st.sampled_from([-0.1, 0.0, 0.05])),
        "enable_gqa": group > 1 or data.draw(st.booleans()),
        "window": data.draw(st.none() | st.integers(1, 200)),
        "offset": data.draw(st.integers(0, 200)),
    }
    wide = [each.astype("float64") for each in (query, key, value)]
    expected = references.attention(*wide, mask, **settings)
    for backend in HOSTS:
        with lw.use_backend(backend):
            result = np.asarray(lw.scaled_dot_product_attention(query, key, value, mask, **settings))
        assert result.shape == expected.shape
        # scores reach about 100: depth 40, times products of up to 25, times |scale| 0.1; an ulp of 100 is 8e-6
        assert np.abs(result - expected).max(initial=0) < 1e-4


@pytest.mark.parametrize("enable_gqa", [False, True])
def test_no_query_heads(enable_gqa):
    heads = 2 if enable_gqa else 1
    query, key, value = lw.ones((3, 0, 4, 5)), lw.ones((3, heads, 6, 5)), lw.ones((1, heads, 6, 7))
    result = lw.scaled_dot_product_attention(query, key, value, enable_gqa=enable_gqa)
    assert result.shape == (3, 0, 4, 7)


def test_queries_without_elements_weigh_all_keys_alike():
    value = np.random.default_rng(4).normal(size=(6, 7)).astype("f4")
    for backend in HOSTS:
        with lw.use_backend(backend):
            result = lw.scaled_dot_product_attention(lw.ones((4, 0)), lw.ones((6, 0)), value)
        np.testing.assert_allclose(result, np.broadcast_to(value.mean(axis=0), (4, 7)), atol=1e-6)


def test_integer_mask_is_rejected():
    x = lw.ones((2, 2))
    with pytest.raises(lw.DTypeError, match=r"attn_mask.*astype"):
        lw.scaled_dot_product_attention(x, x, x, lw.ones((2, 2), dtype=lw.int32))


def test_keys_outside_the_window_are_not_read(backend):
    """NaN in keys and values outside the window does not affect the result."""
    x = np.ones((600, 8), "float32")
    outside = x.copy()
    outside[:300] = np.nan
    result = lw.scaled_dot_product_attention(x[:2], outside, outside, is_causal=True, window=10, offset=500)
    assert np.abs(np.asarray(result) - 1).max() < 1e-5


# Kernels divide queries into chunks and blocks, and keys into blocks (core/attention.h). 40 queries are less than a
# block, 900 are more than a chunk; 300 keys already take several blocks. Widths 3 and 33 are not multiples of the width
# of the tiles in which kernels multiply weights by values.
@pytest.mark.parametrize(("queries", "keys", "width"), [(2, 1100, 3), (40, 300, 33), (900, 300, 8)])
@pytest.mark.parametrize("value_of_masked", [np.nan, np.inf, -np.inf])
def test_masked_keys_and_values_do_not_matter(queries, keys, width, value_of_masked):
    """Non-finite keys and values change only the results of queries that attend to them."""
    generator = np.random.default_rng(keys)
    query, key, value = (
        generator.standard_normal(shape).astype("float32") for shape in ((queries, 5), (keys, 5), (keys, width))
    )
    seen = generator.random((queries, keys)) < 0.5
    seen[0] = False
    seen[:, -40:] = False
    seen[-1, 3] = True
    seen[: queries - 1, 3] = False
    added = np.where(seen, generator.standard_normal(seen.shape), -np.inf).astype("float32")
    for backend in HOSTS:
        for settings in ({"attn_mask": seen}, {"attn_mask": added}, {"attn_mask": added, "window": 200, "offset": 30}):
            altered_key, altered_value = key.copy(), value.copy()
            altered_key[-40:] = altered_value[-40:] = altered_value[3] = value_of_masked
            with lw.use_backend(backend):
                plain = np.asarray(lw.scaled_dot_product_attention(query, key, value, **settings))
                altered = np.asarray(lw.scaled_dot_product_attention(query, altered_key, altered_value, **settings))
            assert np.abs(altered[:-1] - plain[:-1]).max() < 1e-5
            attends = "window" not in settings or abs(3 - (queries - 1) - 30) < 200
            assert np.isfinite(altered[-1]).all() != attends
        altered_value = value.copy()
        altered_value[queries - 1 :] = value_of_masked
        with lw.use_backend(backend):
            plain = np.asarray(lw.scaled_dot_product_attention(query, key, value, is_causal=True))
            altered = np.asarray(lw.scaled_dot_product_attention(query, key, altered_value, is_causal=True))
        assert np.abs(altered[:-1] - plain[:-1]).max() < 1e-5
        assert queries > keys or not np.isfinite(altered[-1]).any()


def test_infinite_value_does_not_affect_other_columns():
    """Kernels compute a row of the result again if it contains an infinity; its other columns must stay accurate."""
    keys = 100_000
    query, key, value = np.ones((2, 4), "float32"), np.ones((keys, 4), "float32"), np.ones((keys, 20), "float32")
    value[5, 7] = np.inf
    for backend in HOSTS:
        with lw.use_backend(backend):
            result = np.asarray(lw.scaled_dot_product_attention(query, key, value))
        assert (result[:, 7] == np.inf).all()
        assert np.abs(np.delete(result, 7, axis=1) - 1).max() < 1e-5


class Counting(raw.Context):
    """Adds up the bytes of scratch memory that a kernel requests."""

    total = 0

    def _allocate(self, context, count):
        self.total += count
        return super()._allocate(context, count)


@pytest.mark.contracts(lambda contract: contract.kind.name == "attention")
@pytest.mark.parametrize("queries", [2, 8])
def test_scratch_memory_does_not_grow_with_the_keys(contract, host, queries):
    used = []
    for keys in (1000, 50_000):
        inputs = [raw.copy_of(np.ones(shape, "float32")) for shape in ((queries, 4), (keys, 4), (keys, 4))] + [None]
        out = raw.place((queries, 4), "float32")
        settings = {each.name: each.default for each in contract.parameters}
        places = [each.place if each else None for each in inputs]
        layout = raw.layouts.call(contract, settings, places, out.place).layout
        context = Counting()
        assert raw.call(host.value, contract.kernel("float32"), layout, b"", inputs, out, context) == raw.OK
        assert np.abs(out.array - 1).max() < 1e-5
        used.append(context.total)
    assert used[0] == used[1]
