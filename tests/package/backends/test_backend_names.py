"""Tests names of backends: the enum, its spellings, and the names that other libraries use."""

from __future__ import annotations

import asyncio
import pickle

import pytest

import lanewise as lw
from lanewise.backends.backend import CPU_BACKENDS, PRIORITY, parse_backend

ORDER = ["cuda", "wgpu", "avx512", "avx2", "avx", "sse2", "neon", "relaxed_simd", "simd128", "scalar"]


def test_the_order_of_the_enum():
    assert [backend.value for backend in PRIORITY] == ORDER
    assert [backend.value for backend in lw.Backend] == ["auto", *ORDER]


def test_members_are_their_names():
    assert lw.Backend.AVX2 == "avx2" and str(lw.Backend.AVX2) == "avx2" and f"{lw.Backend.AVX2}" == "avx2"
    assert lw.Backend("avx2") is lw.Backend("AVX-2".replace("-2", "2")) is lw.Backend.AVX2
    assert pickle.loads(pickle.dumps(lw.Backend.SSE2)) is lw.Backend.SSE2
    with pytest.raises(ValueError, match="'tpu' is not a valid Backend"):
        lw.Backend("tpu")


@pytest.mark.parametrize(
    ("name", "candidates"),
    [
        ("AVX-512", ["avx512"]),
        (" avx2+fma ", ["avx2"]),
        ("Relaxed SIMD", ["relaxed_simd"]),
        ("webgpu", ["wgpu"]),
        ("gpu", ["cuda", "wgpu"]),
        ("wasm", ["relaxed_simd", "simd128"]),
        ("cpu", [backend.value for backend in CPU_BACKENDS]),
        ("auto", ORDER),
    ],
)
def test_spellings_and_groups(name, candidates):
    assert [backend.value for backend in parse_backend(name).candidates] == candidates


@pytest.mark.parametrize(
    ("name", "api"),
    [
        ("metal", "metal"),
        ("mps", "metal"),
        ("vulkan", "vulkan"),
        ("rocm", "vulkan"),
        ("opencl", "vulkan"),
        ("dx12", "dx12"),
        ("DirectML", "dx12"),
    ],
)
def test_backends_of_other_libraries_select_a_webgpu_adapter(name, api):
    request = parse_backend(name)
    assert request.candidates == (lw.Backend.WGPU,) and request.api == api


@pytest.mark.parametrize("call", [lw.use_backend, lw.init_backend, lw.ones(1).to, lw.ones(1).to_backend])
def test_unknown_names_list_the_known_ones(call):
    with pytest.raises(lw.BackendError, match=r"expected a backend, got 'tpu'; give one of auto, .*scalar$"):
        call("tpu")
    with pytest.raises(lw.ArgumentTypeError, match="expected a backend, got 3"):
        call(3)


def test_await_works_everywhere():
    async def run() -> lw.Backend:
        return await lw.init_backend("scalar")

    assert asyncio.run(run()) is lw.Backend.SCALAR
