"""LANEWISE_REQUIRE: a backend that this machine can run and the sweep would leave out is a failure."""

import os
import platform

from tested import BACKENDS

ARM = platform.machine().lower() in ("aarch64", "arm64")
# Swept by folders of their own, whatever this process can load.
ELSEWHERE = {"wgpu", "webgpu", "simd128", "relaxed_simd", "chromium", "emcc", "cuda", "cuda-compile", "torch"} | (
    {"neon"} if not ARM else set()
)


def test_no_required_backend_is_left_out():
    required = set(os.environ.get("LANEWISE_REQUIRE", "scalar").split(",")) - ELSEWHERE - {""}
    assert required <= {backend.value for backend in BACKENDS}
