"""Compares lanewise.h and lanewise_facts.h with abi.txt, so that no change of the ABI happens by accident: a library
that was built before such a change would misread what it is passed."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from native import build

HERE = Path(__file__).parent
HEADERS = [build.GENERATED / "lanewise_facts.h", build.ROOT / "core" / "include" / "lanewise.h"]
ZIG = [sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-linux-gnu", "-std=c11"]
ADVICE = "if the ABI has to change, raise LW_ABI_VERSION and update tests/core/abi.txt"


def _declared() -> Iterable[str]:
    """Yields C expressions for the headers' constants, the sizes of its types and the offsets of their fields."""
    text = re.sub(r"/\*.*?\*/", "", "".join(header.read_text(encoding="utf-8") for header in HEADERS), flags=re.DOTALL)
    yield from re.findall(r"^#define (LW_\w+) ", text, flags=re.MULTILINE)
    for body in re.findall(r"\benum(?: \w+)? \{(.*?)\}", text, flags=re.DOTALL):
        yield from re.findall(r"LW_\w+", body)
    for name, body in re.findall(r"\b(?:struct|union) (\w+) \{(.*?)\}", text, flags=re.DOTALL):
        yield f"sizeof({name})"
        for declaration in re.sub(r"\(\*(\w+)\)\([^;]*\)", r"\1", body).split(";"):
            for field in re.findall(r"(\w+)(?:\[\w+\])*\s*(?:,|$)", declaration.strip()):
                yield f"offsetof({name}, {field})"


def _recorded() -> dict[str, str]:
    lines = (HERE / "abi.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split(" = ") for line in lines if line and not line.startswith("#"))


def test_every_constant_and_field_is_recorded() -> None:
    assert set(_declared()) == set(_recorded()), ADVICE


def test_values_sizes_and_offsets_are_those_recorded(tmp_path: Path) -> None:
    source = tmp_path / "abi.c"
    asserts = (f'_Static_assert({name} == {value}, "{name}");' for name, value in _recorded().items())
    source.write_text("\n".join(["#include <lanewise.h>", *asserts, ""]), encoding="utf-8")
    include = [f"-I{header.parent}" for header in HEADERS]
    command = [*ZIG, *include, "-c", "-ferror-limit=0", "-o", tmp_path / "abi.o", source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wrong = re.findall(r"static assertion failed.*: (.+)", done.stderr)
    assert done.returncode == 0, f"{wrong or done.stderr}: {ADVICE}"
