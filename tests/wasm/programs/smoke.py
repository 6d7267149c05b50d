"""Adds two vectors, and sums the elements of a third, on every available CPU backend. test_smoke.py compares the bits
of the sums in Pyodide with those of the native backends."""

from __future__ import annotations

import struct

import lanewise as lw

CPU_BACKENDS = ("avx512", "avx2", "avx", "sse2", "neon", "relaxed_simd", "simd128", "scalar")


def bits(value: float) -> str:
    """Returns the bits of a float32 as 8 hexadecimal digits."""
    return struct.pack(">f", value).hex()


def results() -> dict[str, dict[str, object]]:
    left = [index * 0.5 for index in range(1024)]
    right = [1024 - index * 0.25 for index in range(1024)]
    found: dict[str, dict[str, object]] = {}
    for backend in lw.backends():
        if backend.name not in CPU_BACKENDS or not backend.available:
            continue
        with lw.use_backend(backend.name):
            added = lw.add(left, right)
            total = lw.sum(lw.full((1 << 20,), 0.1))
        found[backend.name] = {
            "backend": [added.backend.value, total.backend.value],
            "added": memoryview(added).tolist(),
            "sum": float(total),
            "sum_bits": bits(float(total)),
        }
    return found


results() if __name__ == "__main__" else None
