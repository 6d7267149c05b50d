"""The vocabulary's primitives on every instruction set: vocabulary.c, compiled with the build's instruction sets, and
run by this processor, by qemu as one that has no more than the instruction set, or by Node."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import environment  # noqa: E402

from native.targets import TARGETS  # noqa: E402

HERE = Path(__file__).parent
INCLUDE = (ROOT / "core" / "include", ROOT / "core")
FLAGS = (
    *("-std=c11", "-O2", "-D_GNU_SOURCE", "-Wall", "-ffp-contract=off", "-fwrapv", "-fno-builtin", "-fno-math-errno"),
    *("-fno-vectorize", "-fno-slp-vectorize"),  # what the primitives are compared with stays plain C
)
NODE = ("node", "--no-warnings")
RELAXED = "--experimental-wasm-relaxed-simd"  # older versions of Node ask for it


@dataclass(frozen=True)
class Run:
    """One instruction set on one machine, real or not."""

    isa: str
    target: str  # whose list of instruction sets has it
    triple: str  # statically linked
    command: tuple[str, ...] = ()  # what runs the program; nothing: this processor

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


def why_not(run: Run) -> str:
    """Why this machine cannot do it, or nothing."""
    if not run.command:
        mine = _is_mine(run) and run.isa in environment.required().split(",")
        return "" if mine else f"this is no {run.isa} processor"
    if not shutil.which(run.command[0]):
        return f"{run.command[0]} is not installed"
    if run.isa == "relaxed_simd" and not _node_flags():
        return "this Node has no relaxed SIMD"
    return ""


def _is_mine(run: Run) -> bool:
    arm = os.uname().machine in ("aarch64", "arm64")
    return sys.platform == "linux" and run.triple == (ARM if arm else X86)


@cache
def _node_flags() -> tuple[str, ...] | None:
    """What makes Node accept i8x16.relaxed_swizzle; None where nothing does."""
    module = "0,97,115,109,1,0,0,0,1,5,1,96,0,1,123,3,2,1,0,10,15,1,13,0,65,1,253,15,65,2,253,15,253,128,2,11"
    script = f"process.exit(WebAssembly.validate(new Uint8Array([{module}])) ? 0 : 1)"
    for flags in ((), (RELAXED,)):
        if subprocess.run([*NODE, *flags, "-e", script], capture_output=True, check=False).returncode == 0:
            return flags
    return None


@pytest.mark.parametrize("run", RUNS, ids=[run.name for run in RUNS])
def test_every_primitive(run: Run, tmp_path: Path) -> None:
    reason = why_not(run)
    elsewhere = any(other.isa == run.isa and not why_not(other) for other in RUNS)
    if reason and run.isa in required() and not elsewhere:
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)
    isa = next(isa for isa in TARGETS[run.target].isas if isa.name == run.isa)
    program = tmp_path / "vocabulary"
    command = [sys.executable, "-m", "ziglang", "cc", "-target", run.triple, f"-mcpu={isa.zig_cpu}", *FLAGS]
    command += [f"-D{isa.macro}", *(f"-I{folder}" for folder in INCLUDE), str(HERE / "vocabulary.c"), "-static"]
    subprocess.run([*command, "-o", str(program)], check=True)
    words = [*run.command, str(program)]
    if "qemu-x86_64" in run.command:
        words.append("unguarded")  # qemu 7 reads all of memory that a masked load touches in part
    if run.command == NODE:
        words = [*NODE, *(_node_flags() or ()), str(HERE / "wasi.mjs"), str(program)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
