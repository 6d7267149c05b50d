"""Tests the estimate of a model's memory, and opening a backend only if that much memory is free."""

from __future__ import annotations

import numpy as np
import pytest

import lanewise as lw
from lanewise.backends import hardware, memory


def test_the_worked_example():
    estimate = lw.estimate_inference_memory(4096, 14336, 32, 32000, 32, 8, 4096, 4)
    assert estimate.model_bytes == 28_966_928_384
    assert estimate.kv_bytes == 1_073_741_824
    assert estimate.activation_bytes == 262_144
    assert estimate.total_bytes == 30_040_932_352
    assert estimate.total_gb() == pytest.approx(27.98, abs=0.005)


def test_numbers_have_four_bytes_by_default():
    sizes = (64, 128, 2, 100, 4, 4, 32)
    assert lw.estimate_inference_memory(*sizes) == lw.estimate_inference_memory(*sizes, 4)


@pytest.mark.parametrize(
    ("text", "limit"),
    [("0", 0), (" 1000 ", 1000), (str(2**63 - 1), 2**63 - 1), (str(2**63), None), ("9" * 5000, None), ("0x10", None)],
)
def test_the_environment_limits_the_cache(monkeypatch, text, limit):
    monkeypatch.setenv("LANEWISE_CACHE_LIMIT", text)
    if limit is not None:
        assert memory.default_cache_limit() == limit
        return
    with pytest.raises(lw.ArgumentError, match=r"^LANEWISE_CACHE_LIMIT: expected a number of bytes below 2"):
        memory.default_cache_limit()


def test_the_default_limit_of_a_machine_of_unknown_memory(monkeypatch):
    monkeypatch.delenv("LANEWISE_CACHE_LIMIT", raising=False)
    monkeypatch.setattr(hardware, "total_memory", lambda: 0)
    assert memory.default_cache_limit() == 2**28
    monkeypatch.setattr(hardware, "total_memory", lambda: 2**40)
    assert memory.default_cache_limit() == 2**36


def test_keywords_and_numpy_numbers():
    by_name = lw.estimate_inference_memory(
        hidden_size=np.int64(8),
        intermediate_size=16,
        n_layers=2,
        vocab_size=100,
        n_heads=4,
        n_kv_heads=2,
        max_seq_len=10,
        dtype_bytes=2,
    )
    layer = 2 * 64 + 2 * 8 * 4 + 3 * 8 * 16 + 16
    assert by_name.model_bytes == 2 * (2 * layer + 2 * 100 * 8 + 8)
    assert by_name.kv_bytes == 2 * 2 * 10 * 4 * 2


@pytest.mark.parametrize(
    ("sizes", "error", "words"),
    [
        ((0, 1, 1, 1, 1, 1, 1), lw.ArgumentError, "hidden_size of at least 1, got 0"),
        ((8, 1, 1, 1, 3, 1, 1), lw.ArgumentError, "a multiple of n_heads"),
        ((8, 1, 1, 1.5, 4, 1, 1), lw.ArgumentTypeError, "an int for vocab_size, got 1.5"),
    ],
)
def test_impossible_models(sizes, error, words):
    with pytest.raises(error, match=words):
        lw.estimate_inference_memory(*sizes)


def test_a_small_model_fits():
    small = lw.estimate_inference_memory(64, 128, 2, 100, 4, 4, 32, 4)
    assert lw.init_backend_with_memory_check("cpu", small) in lw.Backend
    assert lw.init_backend_with_memory_check("scalar", 1) is lw.Backend.SCALAR
    assert lw.init_backend_with_memory_check() in lw.Backend


def test_a_model_that_fits_nowhere():
    with pytest.raises(lw.OutOfMemoryError, match=r"1048576\.00 GB of free memory; .* GB free"):
        lw.init_backend_with_memory_check("cpu", 2**50)
    with pytest.raises(lw.ArgumentError):
        lw.init_backend_with_memory_check("cpu", -1)
    with pytest.raises(lw.ArgumentTypeError):
        lw.init_backend_with_memory_check("cpu", "much")
