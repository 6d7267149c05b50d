"""Tests that the sweep covers every backend that LANEWISE_REQUIRE names, except those that other folders test."""

import os
import platform

from tested import BACKENDS

ARM = platform.machine().lower() in ("aarch64", "arm64")
# Names of backends, tools and packages that LANEWISE_REQUIRE may contain, but that only other folders test.
ELSEWHERE = {"webgpu", "simd128", "relaxed_simd", "chromium", "firefox", "webkit"}
ELSEWHERE |= {"emcc", "cuda", "cuda-compile", "torch"} | (set() if ARM else {"neon"})


def test_required_backends_are_tested():
    required = set(os.environ.get("LANEWISE_REQUIRE", "scalar").split(",")) - ELSEWHERE - {""}
    assert required <= {backend.value for backend in BACKENDS}
