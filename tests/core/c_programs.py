"""Compiles C programs for one instruction set each, and runs them on this processor, in Node, or under qemu, which
emulates older x86 processors and ARM."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import environment  # noqa: E402
import support  # noqa: E402

from native.build import KERNEL_INCLUDE  # noqa: E402
from native.targets import TARGETS  # noqa: E402

HERE = Path(__file__).parent
FLAGS = (
    *("-std=c11", "-O2", "-D_GNU_SOURCE", "-Wall", "-ffp-contract=off", "-fwrapv", "-fno-builtin", "-fno-math-errno"),
    *("-fno-vectorize", "-fno-slp-vectorize"),  # keep the compiler from vectorizing the reference code
)
NODE = ("node", "--no-warnings")


@dataclass(frozen=True)
class Run:
    """One instruction set on one real or emulated machine."""

    isa: str
    target: str  # the build target that has the instruction set
    triple: str  # the compiler's target for the statically linked program
    command: tuple[str, ...] = ()  # the command that runs the program; empty if this processor runs it

    @property
    def name(self) -> str:
        return "-".join((self.isa, *(part for part in self.command[:1]), *self.command[2:3])).replace(".mjs", "")


X86, ARM, WASM = "x86_64-linux-musl", "aarch64-linux-musl", "wasm32-wasi"
RUNS = (
    *(Run(isa, "x86_64-linux", X86) for isa in ("scalar", "sse2", "avx", "avx2", "avx512")),
    Run("sse2", "x86_64-linux", X86, ("qemu-x86_64", "-cpu", "Nehalem")),
    Run("avx", "x86_64-linux", X86, ("qemu-x86_64", "-cpu", "SandyBridge")),
    Run("neon", "aarch64-linux", ARM),
    Run("scalar", "aarch64-linux", ARM, ("qemu-aarch64",)),
    Run("neon", "aarch64-linux", ARM, ("qemu-aarch64",)),
    *(Run(isa, "wasm32-pyodide", WASM, NODE) for isa in ("scalar", "simd128", "relaxed_simd")),
)


@cache
def required() -> frozenset[str]:
    return frozenset(os.environ.get("LANEWISE_REQUIRE", "").split(","))


def skip_reason(run: Run) -> str:
    """Returns why this run is impossible on this machine, or an empty string."""
    if not run.command:
        native = _matches_host(run) and run.isa in environment.required().split(",")
        return "" if native else f"this processor does not have {run.isa}"
    if not shutil.which(run.command[0]):
        return f"{run.command[0]} is not installed"
    if run.isa == "relaxed_simd" and not support.relaxed_simd_flags():
        return "this Node has no relaxed SIMD"
    return ""


def skip_unless_possible(run: Run) -> None:
    """Skips a test that this machine cannot run; fails it if the machine has to, and no other run has the same
    instruction set."""
    reason = skip_reason(run)
    elsewhere = any(other.isa == run.isa and not skip_reason(other) for other in RUNS)
    if reason and run.isa in required() and not elsewhere:
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)


def output(run: Run, source: Path, folder: Path, *arguments: str, defines: Sequence[str] = ()) -> str:
    """Compiles a program with these macros, runs it, and returns what it printed. Fails if its exit status is not 0."""
    words = [*run.command, str(_compiled(run, source, folder, defines)), *arguments]
    if run.command == NODE:
        words[len(NODE) : len(NODE)] = [*(support.relaxed_simd_flags() or ()), str(HERE / "wasi.mjs")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def _compiled(run: Run, source: Path, folder: Path, defines: Sequence[str]) -> Path:
    """Compiles a program for the instruction set, but links it stripped and for the platform's least capable processor,
    as Compiler.program() does, so that all programs share one C library: zig compiles a C library for each processor
    that it links for, and another one if it does not strip."""
    isas = TARGETS[run.target].isas
    isa = next(isa for isa in isas if isa.name == run.isa)
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", run.triple]
    object_file, program = folder / f"{source.stem}.o", folder / source.stem
    macros = [f"-D{name}" for name in (isa.macro, *defines)]
    options = [*FLAGS, *macros, *(f"-I{include}" for include in KERNEL_INCLUDE)]
    subprocess.run([*zig, f"-mcpu={isa.zig_cpu}", *options, "-c", source, "-o", object_file], check=True)
    subprocess.run([*zig, f"-mcpu={isas[0].zig_cpu}", "-s", "-static", object_file, "-o", program], check=True)
    return program


def _matches_host(run: Run) -> bool:
    arm = os.uname().machine in ("aarch64", "arm64")
    return sys.platform == "linux" and run.triple == (ARM if arm else X86)
