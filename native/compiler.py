"""The C compiler: zig from PyPI, which compiles for every target on every machine, or the compiler that CC names. Makes
its command lines, and refuses flags that would change the results of floating-point code."""

from __future__ import annotations

import importlib.util
import os
import shlex
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from native.errors import BuildError
from native.targets import TARGETS, Isa, Target, host

__all__ = ["SANITIZERS", "Compiler", "choose"]

# The types of kernels, tasks and Python's methods have parameters that not every function needs.
_WARNINGS = ("-Wall", "-Wextra", "-Wno-unused-parameter")
_LANGUAGE = ("-std=c11", "-ffp-contract=off", "-fno-math-errno", "-fwrapv", "-fvisibility=hidden", *_WARNINGS)
# A kernel library calls nothing outside itself: no C library, no runtime checks that a distribution's CFLAGS insert.
# A kind's headers have functions that not every dtype needs. In #if, a name without a #define would be 0.
_KERNEL = ("-ffreestanding", "-nostdlib", "-fno-stack-protector", "-Wno-unused-function", "-Werror=undef")
# The scalar library is the baseline for measuring speedups, and a reference free of the vectorizer's bugs.
_NOT_VECTORIZED = {
    "zig": ("-fno-vectorize", "-fno-slp-vectorize"),
    "clang": ("-fno-vectorize", "-fno-slp-vectorize"),
    "emcc": ("-fno-vectorize", "-fno-slp-vectorize"),
    "gcc": ("-fno-tree-vectorize", "-fno-tree-loop-vectorize", "-fno-tree-slp-vectorize"),
}

SANITIZERS = {
    "address": ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"),
    "thread": ("-fsanitize=thread",),
}

# Flags that let the compiler ignore NaN, infinity or signed zeros, reorder, fuse or approximate arithmetic, or flush
# denormals: results would no longer be bit-identical. -Ofast also links code that makes the CPU flush denormals.
_REFUSED = frozenset(
    {
        *("-ffast-math", "-Ofast", "-funsafe-math-optimizations", "-fassociative-math", "-freciprocal-math"),
        *("-ffinite-math-only", "-fno-signed-zeros", "-fno-honor-nans", "-fno-honor-infinities", "-fapprox-func"),
        *("-ffp-contract=fast", "-ffp-contract=on", "-ffp-model=fast", "-ffp-model=aggressive"),
        *("-fcx-limited-range", "-fcx-fortran-rules", "-fsingle-precision-constant", "-mrecip", "-mdaz-ftz"),
        *("-cl-fast-relaxed-math", "-cl-unsafe-math-optimizations", "-menable-unsafe-fp-math"),
    }
)
_REFUSED_PREFIXES = ("-mrecip=", "-fdenormal-fp-math=", "-fdenormal-fp-math-f32=")
_LTO = frozenset({"elf", "wasm"})  # zig's own linker, for Mach-O and PE, has no link-time optimization
_READ = ("CC", "CPPFLAGS", "CFLAGS", "LDFLAGS")


@dataclass(frozen=True)
class Compiler:
    """A command that accepts a C compiler's arguments."""

    command: tuple[str, ...]
    family: str  # zig, clang, gcc or emcc
    version: str  # printed by the compiler; part of each step's key, so an upgrade rebuilds everything
    cflags: tuple[str, ...] = ()  # from CPPFLAGS and CFLAGS; the build's own flags follow and take precedence
    ldflags: tuple[str, ...] = ()
    sanitizer: str = ""  # a key of SANITIZERS, or empty

    @property
    def target(self) -> Target:
        """The default platform: WebAssembly for emcc, else this machine."""
        return TARGETS["wasm32-pyodide"] if self.family == "emcc" else host()

    def can_build(self, target: Target) -> bool:
        """Returns whether this compiler can compile for the platform; only zig can for all platforms."""
        return self.family == "zig" or target == self.target

    @property
    def portable(self) -> bool:
        """Whether the binaries run on other systems: zig links against an old C library on purpose, and emcc's imports
        are limited to what every Pyodide has (wasm/imports.py)."""
        return self.family in ("zig", "emcc")

    def knows(self, target: Target, isa: Isa, folder: Path) -> bool:
        """Returns whether the compiler knows an instruction set, by compiling a probe. The pinned zig knows all."""
        if self.family == "zig" or not isa.probe:
            return True
        folder.mkdir(parents=True, exist_ok=True)
        source = folder / f"probe_{isa.name}.c"
        source.write_text(isa.probe, encoding="utf-8")
        command = [*self._common(target, isa), "-c", str(source), "-o", str(source.with_suffix(".o"))]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0

    def kernels(self, target: Target, isa: Isa, objects: Iterable[Path], output: Path) -> list[str]:
        """Returns the command that links a kernel library."""
        command = [*self.command, *self._machine(target, isa), target.optimization, "-nostdlib"]
        command += [*map(str, objects), *self._shared("lanewise_kernels")]
        if target.binary_format == "pe":  # no start-up code; compiler_rt has the stack probe for large stack frames
            command += ["-Wl,--no-entry", "-lcompiler_rt"]
        return [*command, "-o", str(output)]

    def kernel_object(self, target: Target, isa: Isa, source: Path, include: Iterable[Path], output: Path) -> list[str]:
        """Returns the command that compiles one file of a kernel library."""
        return [*self._kernel_flags(target, isa, include), "-c", str(source), "-o", str(output)]

    def object(self, target: Target, source: Path, include: Iterable[Path], output: Path) -> list[str]:
        """Returns the command that compiles one file of the extension, for the target's least capable processor."""
        command = [*self._common(target, target.isas[0]), *self._lto(target), *_directories(include)]
        return [*command, "-c", str(source), "-o", str(output)]

    def extension(self, target: Target, objects: Iterable[Path], output: Path) -> list[str]:
        """Returns the command that links the extension. Except on Windows, Python's functions stay undefined, because
        the interpreter provides them at load time."""
        command = [*self.command, *self._machine(target, target.isas[0]), target.optimization, *self._lto(target)]
        command += [*map(str, objects), *self._shared("PyInit__ext")]
        libraries = {
            "elf": ["-lpthread", "-ldl"],
            "macho": ["-Wl,-undefined,dynamic_lookup"],
            "pe": [],
            # emcc assumes that the main module provides all undefined functions
            "wasm": [] if self.family == "emcc" else ["-nostdlib", "-Wl,--import-symbols", "-lcompiler_rt"],
        }
        return [*command, *libraries[target.binary_format], "-o", str(output)]

    def program(self, target: Target, objects: Iterable[Path], output: Path) -> list[str]:
        """Returns the command that links a program, such as the tests' runner. With musl, it links statically. Strips
        the program, because zig would compile its C libraries again, with debug information."""
        command = [*self.command, *self._machine(target, target.isas[0]), *map(str, objects)]
        command += self._sanitized() or ["-s"]
        libraries = ["-static", "-lm"] if "musl" in target.zig_triple else ["-lm", "-ldl"]
        return [*command, *libraries, "-o", str(output)]

    def import_library(self, target: Target, definition: Path, output: Path) -> list[str]:
        """Returns the command that makes the import library of a DLL from a list of its symbols."""
        machine = "i386:x86-64" if target.name.startswith("x86_64") else "arm64"
        return [*self.command[:-1], "dlltool", "-m", machine, "-d", str(definition), "-l", str(output)]

    def _common(self, target: Target, isa: Isa) -> list[str]:
        position = () if target.binary_format == "pe" else ("-fPIC",)
        machine = self._machine(target, isa)
        return [*self.command, *self.cflags, *machine, *_LANGUAGE, target.optimization, *position, *self._sanitized()]

    def _kernel_flags(self, target: Target, isa: Isa, include: Iterable[Path]) -> list[str]:
        command = [*self._common(target, isa), *_KERNEL, f"-D{isa.macro}", *self._not_vectorized(isa)]
        if target.binary_format != "wasm":
            command += ["-falign-loops=32"]  # a short loop that crosses a fetch line can take twice as long
        if self.family == "gcc":
            command += ["-Wno-psabi"]  # the ABI of vector arguments does not matter: only static functions have them
        return [*command, *_directories(include)]

    def _machine(self, target: Target, isa: Isa) -> tuple[str, ...]:
        if self.family == "zig":
            return ("-target", target.zig_triple, f"-mcpu={isa.zig_cpu}")
        return isa.flags

    def _lto(self, target: Target) -> tuple[str, ...]:
        """Returns the flags for link-time optimization of the extension, which makes a call 5 to 10 % cheaper."""
        return ("-flto",) if self.family == "zig" and target.binary_format in _LTO else ()

    def _not_vectorized(self, isa: Isa) -> tuple[str, ...]:
        return _NOT_VECTORIZED[self.family] if isa.name == "scalar" else ()

    def _sanitized(self) -> tuple[str, ...]:
        return ("-O1", "-g1", "-fno-omit-frame-pointer", *SANITIZERS[self.sanitizer]) if self.sanitizer else ()

    def _shared(self, symbol: str) -> list[str]:
        """Returns the flags that link a shared library with one exported symbol. emcc needs a flag to make a library,
        a flag with the symbol to export and, if it is an old version, a flag to pass 64-bit integers as BigInt."""
        if self.family == "emcc":
            return ["-sSIDE_MODULE=2", "-sWASM_BIGINT", f"-sEXPORTED_FUNCTIONS=_{symbol}", *self.ldflags]
        return ["-shared", *(SANITIZERS[self.sanitizer] if self.sanitizer else ("-s",)), *self.ldflags]


def choose(*, sanitizer: str = "") -> Compiler:
    """Returns the compiler that CC names, or zig, with the flags of CPPFLAGS, CFLAGS and LDFLAGS."""
    words = {name: tuple(shlex.split(os.environ.get(name, ""))) for name in _READ}
    for name, flags in words.items():
        _refuse(name, flags)
    cflags = words["CPPFLAGS"] + words["CFLAGS"]
    command = words["CC"]
    if command:
        banner = _banner((*command, "--version"))
        # `pyodide build` runs emcc under another name, but emcc prints "Emscripten gcc/clang-like replacement"
        family = "emcc" if "Emscripten" in banner else "clang" if "clang" in banner else "gcc"
        return Compiler(command, family, banner, cflags, words["LDFLAGS"], sanitizer)
    if importlib.util.find_spec("ziglang") is None:
        raise BuildError("expected a C compiler, found none; pip install ziglang==0.17.0, or set CC")
    command = (sys.executable, "-m", "ziglang")
    return Compiler((*command, "cc"), "zig", _banner((*command, "version")), cflags, words["LDFLAGS"], sanitizer)


def _refuse(name: str, flags: Iterable[str]) -> None:
    for flag in flags:
        if flag in _REFUSED or flag.startswith(_REFUSED_PREFIXES):
            raise BuildError(
                f"{name} contains {flag}, which changes the results of floating-point arithmetic; remove it from {name}"
            )


def _banner(command: Sequence[str]) -> str:
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    except FileNotFoundError:
        raise BuildError(f"CC: expected a C compiler, but {command[0]} is not installed; fix or unset CC") from None
    except subprocess.CalledProcessError as error:
        raise BuildError(
            f"CC: expected a C compiler, but `{shlex.join(command)}` failed: {error.stderr.strip()}; fix or unset CC"
        ) from None


def _directories(include: Iterable[Path]) -> list[str]:
    return [f"-I{directory}" for directory in include]
