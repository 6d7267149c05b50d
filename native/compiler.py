"""The C compiler: zig from PyPI, which builds for every target from every machine, or what CC names. Makes the command
lines of the two things that are compiled, and refuses flags that would change what floating-point code means."""

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

_LANGUAGE = ("-std=c11", "-ffp-contract=off", "-fwrapv", "-fvisibility=hidden", "-Wall", "-Wextra")
# A kernel library stands alone: no C library, and none of the helpers that distributions' CFLAGS ask for.
_KERNEL = ("-ffreestanding", "-nostdlib", "-fno-stack-protector", "-fno-math-errno")
# The scalar library is what the others are measured against, and where a vectorizer's mistake would show.
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

# Each lets the compiler assume there are no NaNs, no infinities or no signed zeros, or reorder or fuse arithmetic: the
# special values and the promise of equal bits would be gone. Denormals are lost through the start-up code of -Ofast.
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
_WHOLE = frozenset({"elf", "wasm"})  # zig's own linker, for Mach-O and PE, cannot
_READ = ("CC", "CPPFLAGS", "CFLAGS", "LDFLAGS")


@dataclass(frozen=True)
class Compiler:
    """A command that takes a C compiler's arguments."""

    command: tuple[str, ...]
    family: str  # zig, clang, gcc or emcc
    version: str  # the same command can become another compiler
    cflags: tuple[str, ...] = ()  # the user's; ours follow and win
    ldflags: tuple[str, ...] = ()
    sanitizer: str = ""  # one of SANITIZERS

    @property
    def target(self) -> Target:
        """What it compiles for where nobody names a platform: emcc makes WebAssembly and nothing else."""
        return TARGETS["wasm32-pyodide"] if self.family == "emcc" else host()

    def can_build(self, target: Target) -> bool:
        """Only zig compiles for every platform."""
        return self.family == "zig" or target == self.target

    @property
    def portable(self) -> bool:
        """Whether what it links runs on more than this system: zig links against an old C library on purpose, and what
        emcc links may ask for nothing but what every Pyodide has (wasm/imports.py)."""
        return self.family in ("zig", "emcc")

    def knows(self, target: Target, isa: Isa, folder: Path) -> bool:
        """Whether it compiles the instructions of an instruction set that some compilers in use do not know yet; zig,
        which is pinned, knows all."""
        if self.family == "zig" or not isa.probe:
            return True
        folder.mkdir(parents=True, exist_ok=True)
        source = folder / f"probe_{isa.name}.c"
        source.write_text(isa.probe, encoding="utf-8")
        command = [*self._begin(target, isa), "-c", str(source), "-o", str(source.with_suffix(".o"))]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0

    def kernels(self, target: Target, isa: Isa, source: Path, include: Iterable[Path], output: Path) -> list[str]:
        """Compiles and links a library of kernels."""
        command = [*self._kernel_flags(target, isa, include), str(source), *self._shared("lanewise_kernels")]
        if target.binary_format == "pe":  # nothing to run when it is loaded; large frames need zig's stack probe
            command += ["-Wl,--no-entry", "-lcompiler_rt"]
        return [*command, "-o", str(output)]

    def kernel_object(self, target: Target, isa: Isa, source: Path, include: Iterable[Path], output: Path) -> list[str]:
        """Compiles kernels for a program to link with, as the tests' runner does."""
        return [*self._kernel_flags(target, isa, include), "-c", str(source), "-o", str(output)]

    def object(self, target: Target, source: Path, include: Iterable[Path], output: Path) -> list[str]:
        """Compiles one file of the extension, for the oldest processor."""
        command = [*self._begin(target, target.isas[0]), *self._whole(target), *_directories(include)]
        return [*command, "-c", str(source), "-o", str(output)]

    def extension(self, target: Target, objects: Iterable[Path], output: Path) -> list[str]:
        """Links the extension. But for PE, Python's functions stay undefined: the interpreter has them."""
        command = [*self.command, *self._machine(target, target.isas[0]), target.optimization, *self._whole(target)]
        command += [*map(str, objects), *self._shared("PyInit__ext")]
        libraries = {
            "elf": ["-lpthread", "-ldl"],
            "macho": ["-Wl,-undefined,dynamic_lookup"],
            "pe": [],
            # emcc knows by itself that the main module has the rest
            "wasm": [] if self.family == "emcc" else ["-nostdlib", "-Wl,--import-symbols", "-lcompiler_rt"],
        }
        return [*command, *libraries[target.binary_format], "-o", str(output)]

    def program(self, target: Target, objects: Iterable[Path], output: Path) -> list[str]:
        """Links a program of C, as the tests' runner; with musl, one that needs nothing of the system."""
        command = [*self.command, *self._machine(target, target.isas[0]), *map(str, objects), *self._checked()]
        libraries = ["-static", "-lm"] if "musl" in target.zig_triple else ["-lm", "-ldl"]
        return [*command, *libraries, "-o", str(output)]

    def import_library(self, target: Target, definition: Path, output: Path) -> list[str]:
        """Makes the stub through which a DLL finds the functions of another, from a list of their names."""
        machine = "i386:x86-64" if target.name.startswith("x86_64") else "arm64"
        return [*self.command[:-1], "dlltool", "-m", machine, "-d", str(definition), "-l", str(output)]

    def _begin(self, target: Target, isa: Isa) -> list[str]:
        position = () if target.binary_format == "pe" else ("-fPIC",)
        machine = self._machine(target, isa)
        return [*self.command, *self.cflags, *machine, *_LANGUAGE, target.optimization, *position, *self._checked()]

    def _kernel_flags(self, target: Target, isa: Isa, include: Iterable[Path]) -> list[str]:
        command = [*self._begin(target, isa), *_KERNEL, f"-D{isa.macro}", *self._not_vectorized(isa)]
        if target.binary_format != "wasm":
            command += ["-falign-loops=32"]  # a short loop that crosses a line of code can take twice as long
        if self.family == "gcc":
            command += ["-Wno-psabi"]  # how vectors are passed matters between files, and this is one
        return [*command, *_directories(include)]

    def _machine(self, target: Target, isa: Isa) -> tuple[str, ...]:
        if self.family == "zig":
            return ("-target", target.zig_triple, f"-mcpu={isa.zig_cpu}")
        return isa.flags

    def _whole(self, target: Target) -> tuple[str, ...]:
        """Lets the linker optimize the extension as one file, which makes a call 5 to 10 % cheaper."""
        return ("-flto",) if self.family == "zig" and target.binary_format in _WHOLE else ()

    def _not_vectorized(self, isa: Isa) -> tuple[str, ...]:
        return _NOT_VECTORIZED[self.family] if isa.name == "scalar" else ()

    def _checked(self) -> tuple[str, ...]:
        return ("-O1", "-g", "-fno-omit-frame-pointer", *SANITIZERS[self.sanitizer]) if self.sanitizer else ()

    def _shared(self, symbol: str) -> list[str]:
        """Links a library that exports one symbol. emcc would make a program, and exports nothing that is not named;
        old ones put 64-bit integers into pairs of 32 where they are not told that engines pass them."""
        if self.family == "emcc":
            return ["-sSIDE_MODULE=2", "-sWASM_BIGINT", f"-sEXPORTED_FUNCTIONS=_{symbol}", *self.ldflags]
        return ["-shared", *(SANITIZERS[self.sanitizer] if self.sanitizer else ("-s",)), *self.ldflags]


def choose(*, sanitizer: str = "") -> Compiler:
    """The compiler that CC names, or zig; with the flags of the environment, as distributions set them."""
    words = {name: tuple(shlex.split(os.environ.get(name, ""))) for name in _READ}
    for name, flags in words.items():
        _refuse(name, flags)
    cflags = words["CPPFLAGS"] + words["CFLAGS"]
    command = words["CC"]
    if command:
        banner = _banner((*command, "--version"))
        # what emcc says of itself, under whatever name `pyodide build` calls it, has "gcc/clang-like" in it too
        family = "emcc" if "Emscripten" in banner else "clang" if "clang" in banner else "gcc"
        return Compiler(command, family, banner, cflags, words["LDFLAGS"], sanitizer)
    if importlib.util.find_spec("ziglang") is None:
        raise BuildError(
            "no compiler: install the one Lanewise is built with, `pip install ziglang==0.17.0`, or name one in CC"
        )
    command = (sys.executable, "-m", "ziglang")
    return Compiler((*command, "cc"), "zig", _banner((*command, "version")), cflags, words["LDFLAGS"], sanitizer)


def _refuse(name: str, flags: Iterable[str]) -> None:
    for flag in flags:
        if flag in _REFUSED or flag.startswith(_REFUSED_PREFIXES):
            raise BuildError(
                f"{name} contains {flag}: it changes the results of floating-point arithmetic, which Lanewise promises "
                f"to keep; remove it from {name}"
            )


def _banner(command: Sequence[str]) -> str:
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    except FileNotFoundError:
        raise BuildError(f"{command[0]} is not there; CC must name a C compiler") from None
    except subprocess.CalledProcessError as error:
        raise BuildError(f"{shlex.join(command)} fails: {error.stderr.strip()}; CC must name a C compiler") from None


def _directories(include: Iterable[Path]) -> list[str]:
    return [f"-I{directory}" for directory in include]
