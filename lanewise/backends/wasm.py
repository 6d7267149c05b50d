"""Detects the SIMD features of the WebAssembly engine that runs Pyodide, and says which engines have SIMD.

A WebAssembly module cannot query the engine, and compiling one with unknown instructions fails. So JavaScript validates
a tiny module for each feature before any library is opened. Imported in Pyodide only.
"""

from __future__ import annotations

from typing import Final

import js

__all__ = ["NO_KERNELS", "features"]

# The error of the import if no kernel library of the wheel runs in the engine.
NO_KERNELS: Final = (
    "expected a WebAssembly engine with SIMD128, as Chrome 91, Firefox 89, Safari 16.4, Node.js 16.4 and later ones "
    "have (on x86, if the processor has SSE4.1), got one without; use such an engine, or the wheel that "
    "`python wasm/build.py --only scalar` makes"
)

# A module that declares one function () -> v128; each probe appends a code section with the body of the function.
_HEAD: Final = b"\0asm\x01\0\0\0" + b"\x01\x05\x01\x60\x00\x01\x7b" + b"\x03\x02\x01\x00"
_SPLAT: Final = b"\x41\x00\xfd\x0f"  # i32.const 0, i8x16.splat

# Maps each bit LW_CPU_* of lanewise_facts.h to the module to validate.
_PROBES: Final[dict[int, bytes]] = {
    1 << 7: _HEAD + b"\x0a\x08\x01\x06\x00" + _SPLAT + b"\x0b",  # SIMD128
    # relaxed SIMD: i8x16.relaxed_swizzle
    1 << 8: _HEAD + b"\x0a\x0f\x01\x0d\x00" + _SPLAT + _SPLAT + b"\xfd\x80\x02\x0b",
}


def features() -> int:
    """Returns the bits LW_CPU_SIMD128 and LW_CPU_RELAXED_SIMD for the features that the engine has."""
    bits = 0
    for bit, probe in _PROBES.items():
        array = js.Uint8Array.new(len(probe))
        array.assign(probe)
        if js.WebAssembly.validate(array):
            bits |= bit
    return bits
