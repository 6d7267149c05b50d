"""Tests that each kernel library's machine code uses its instruction set's vector registers, and no larger ones."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter

import pytest

import lanewise as lw
from lanewise.backends.libraries import checked_path

LARGEST = {"scalar": "xmm", "sse2": "xmm", "avx": "ymm", "avx2": "ymm", "avx512": "zmm"}


def _code(isa: str) -> str:
    if shutil.which("objdump") is None:
        pytest.skip("objdump is not installed (Debian: binutils)")
    command = ["objdump", "--disassemble", "--no-show-raw-insn", str(checked_path(isa))]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _registers(isa: str) -> Counter[str]:
    return Counter(re.findall(r"%([xyz]mm)\d", _code(isa)))


AVAILABLE = [info.name.value for info in lw.backends() if info.available and info.name.value in LARGEST]


@pytest.mark.parametrize("isa", AVAILABLE)
def test_libraries_use_the_registers_of_their_instruction_set(isa: str) -> None:
    registers = _registers(isa)
    sizes = ["xmm", "ymm", "zmm"]
    largest = sizes.index(LARGEST[isa])
    assert registers[sizes[largest]] > 1000
    assert not any(registers[size] for size in sizes[largest + 1 :])


@pytest.mark.skipif("scalar" not in AVAILABLE, reason="this processor has no x86 registers")
def test_scalar_code_is_scalar() -> None:
    """The scalar library has no packed floating-point arithmetic."""
    packed = Counter(re.findall(r"\b((?:add|sub|mul|div|sqrt|max|min)p[sd])\b", _code("scalar")))
    assert not packed, packed


@pytest.mark.parametrize("isa", AVAILABLE)
def test_streaming_stores(isa: str) -> None:
    """Vector libraries have streaming stores, and the fence that orders them. The scalar library has neither."""
    found = set(re.findall(r"\b(?:v?(movnt)(?:dq|ps|pd)|(sfence))\b", _code(isa)))
    assert len(found) == (0 if isa == "scalar" else 2), found
