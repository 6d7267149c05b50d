"""The platforms that Lanewise is built for, and the instruction sets of each, as data for build.py."""

from __future__ import annotations

import platform
import sysconfig
from dataclasses import dataclass

from native.errors import BuildError

__all__ = ["TARGETS", "Isa", "Target", "host"]


@dataclass(frozen=True)
class Isa:
    """An instruction set, which has one kernel library."""

    name: str  # as in lw_library_head.name
    cpu_features: tuple[str, ...]  # the names of the LW_CPU_* bits that it needs, in lower case
    zig_cpu: str  # the value of zig's -mcpu
    flags: tuple[str, ...]  # the flags for gcc, clang and emcc
    base: str = ""  # the instruction set whose library has the kernels that this one omits
    probe: str = ""  # C code that only compilers with these instructions accept; empty if all compilers have them
    left_out: str = ""  # why builds leave its library out unless --only names it; empty if they do not

    @property
    def macro(self) -> str:
        """The macro by which core/simd/simd.h chooses the header of this instruction set."""
        return f"LW_ISA_{self.name.upper()}"


@dataclass(frozen=True)
class Target:
    """A platform, which has one wheel."""

    name: str
    zig_triple: str  # zig's name of the platform, with the oldest supported version of its system
    wheel_platform: str
    binary_format: str  # elf, macho, pe or wasm
    library_suffix: str
    extension: str  # file name of lanewise._ext
    isas: tuple[Isa, ...]
    python_tag: str = "cp311"  # the wheel's tag for the oldest supported Python
    optimization: str = "-O3"

    def library(self, isa: Isa) -> str:
        """Returns the file name of the kernel library for an instruction set."""
        return f"kernels_{isa.name}{self.library_suffix}"


_BASE = ("-march=x86-64", "-mtune=generic")
_AVX2 = ("-mavx2", "-mpopcnt", "-mfma", "-mf16c")
_AVX512 = ("-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mprefer-vector-width=512")

_X86_64 = (
    Isa("scalar", (), "x86_64", _BASE),
    Isa("sse2", ("sse2",), "x86_64", _BASE),
    Isa("avx", ("sse2", "avx"), "x86_64+avx", (*_BASE, "-mavx")),
    Isa("avx2", ("sse2", "avx", "avx2", "fma", "f16c"), "x86_64+avx2+fma+f16c+popcnt", (*_BASE, *_AVX2)),
    Isa(
        "avx512",
        ("sse2", "avx", "avx2", "fma", "f16c", "avx512"),
        "x86_64+avx2+fma+f16c+popcnt+avx512f+avx512bw+avx512dq+avx512vl",
        (*_BASE, *_AVX2, *_AVX512),
    ),
)

_AARCH64 = (
    Isa("scalar", (), "generic", ("-march=armv8-a",)),
    Isa("neon", ("neon",), "generic", ("-march=armv8-a",)),
)

# The features, besides SIMD, that all WebAssembly engines have had since 2021. zig enables further
# ones by default, some of which Node 20 lacks.
_MVP = "mvp+sign_ext+mutable_globals+bulk_memory+bulk_memory_opt+nontrapping_fptoint"
_SIMD128 = ("-msimd128", "-mbulk-memory", "-mnontrapping-fptoint")  # emcc enables none of them by default

_WASM32 = (
    Isa(
        "scalar",
        (),
        _MVP,
        (),
        # A fifth of the wheel. The browsers in which Pyodide is tested have SIMD128.
        left_out="left out of the browser's wheel; a wheel that `wasm/build.py --only scalar` makes has it",
    ),
    Isa("simd128", ("simd128",), f"{_MVP}+simd128", _SIMD128),
    Isa(
        "relaxed_simd",
        ("simd128", "relaxed_simd"),
        f"{_MVP}+simd128+relaxed_simd",
        (*_SIMD128, "-mrelaxed-simd"),
        base="simd128",
        # LLVM 14, which Debian 12's emcc uses, accepts -mrelaxed-simd but lacks the functions of relaxed SIMD.
        probe="#include <wasm_simd128.h>\nv128_t probe(v128_t x) { return wasm_f32x4_relaxed_madd(x, x, x); }\n",
    ),
)

# The platform tags of Pyodide 0.27 to 315, some under a new and an old name, in the order of auditwheel-emscripten.
_PYODIDE = ".".join(
    f"{tag}_wasm32"
    for tag in (
        *("pyemscripten_2024_0", "pyemscripten_2025_0", "pyemscripten_2026_0", "pyemscripten_2026_5"),
        *("pyodide_2024_0", "pyodide_2025_0"),
    )
)

# The binary format, the suffix of kernel libraries, and the file name of the extension.
_ELF = ("elf", ".so", "_ext.abi3.so")
_MACHO = ("macho", ".dylib", "_ext.abi3.so")
_PE = ("pe", ".dll", "_ext.pyd")

TARGETS = {
    target.name: target
    for target in (
        Target(
            "x86_64-linux",
            "x86_64-linux-gnu.2.17",
            "manylinux2014_x86_64.manylinux_2_17_x86_64",  # two names of the tag for glibc 2.17
            *_ELF,
            _X86_64,
        ),
        Target(
            "aarch64-linux",
            "aarch64-linux-gnu.2.17",
            "manylinux2014_aarch64.manylinux_2_17_aarch64",
            *_ELF,
            _AARCH64,
        ),
        Target("x86_64-macos", "x86_64-macos.11.0", "macosx_11_0_x86_64", *_MACHO, _X86_64),
        Target("aarch64-macos", "aarch64-macos.11.0", "macosx_11_0_arm64", *_MACHO, _AARCH64),
        Target("x86_64-windows", "x86_64-windows-gnu", "win_amd64", *_PE, _X86_64),
        # Compiled for size, because every web page downloads it; core/ unrolls critical loops itself. Libraries end in
        # .wasm, because Pyodide opens every .so when it installs a wheel, before lanewise/backends/wasm.py can probe
        # the engine.
        Target("wasm32-pyodide", "wasm32-freestanding", _PYODIDE, "wasm", ".wasm", _ELF[2], _WASM32, "cp312", "-Os"),
    )
}

_MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
_SYSTEMS = {"Linux": "linux", "Darwin": "macos", "Windows": "windows"}


def host() -> Target:
    """Returns the platform of the Python that runs the build."""
    machine, system = platform.machine().lower(), platform.system()
    libc = " with musl" if "musl" in (sysconfig.get_config_var("SOABI") or "") else ""
    target = TARGETS.get(f"{_MACHINES.get(machine)}-{_SYSTEMS.get(system)}")
    if target is None or libc:
        raise BuildError(
            f"expected a platform of {', '.join(TARGETS)}, got {machine} {system}{libc}; add a row to native/targets.py"
        )
    return target
