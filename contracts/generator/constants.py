"""Reads the constants of core/: enumerators such as REDUCE_BLOCK, for every instruction set.

Test sizes that are computed from these constants change with the code.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

CORE = Path(__file__).resolve().parents[2] / "core"
FOLDERS = (".", "gemm", "layout", "reduce", "sort")  # those of core/ with constants of algorithms
ISAS = ("scalar", "sse2", "avx", "avx2", "avx512", "neon", "simd128", "relaxed_simd")


def values(name: str) -> tuple[int, ...]:
    """Returns the distinct values that a constant has on the instruction sets, in ascending order."""
    return tuple(sorted({of(isa)[name] for isa in ISAS}))


def largest(name: str) -> int:
    """Returns the largest value of a constant on any instruction set."""
    return values(name)[-1]


@cache
def of(isa: str) -> dict[str, int]:
    """Returns the constants of one instruction set, without those that Python cannot compute."""
    header = (CORE / "simd" / f"{isa}.h").read_text(encoding="utf-8")
    for included in re.findall(r'#include "(simd/\w+_common\.h)"', header):
        header += (CORE / included).read_text(encoding="utf-8")
    found = {name: int(value) for name, value in re.findall(r"^#define (VF32_LANES|SIMD_\w+) (\d+)\b", header, re.M)}
    found |= {"SIMD_PARTIAL": found.get("SIMD_PARTIAL", 1), f"LW_ISA_{isa.upper()}": 1}
    found |= {"ELEMENT_SIZE": 4, "IS_FLOATING": 1}  # those of float32
    paths = [path for folder in FOLDERS for path in sorted((CORE / folder).glob("*.[ch]"))]
    pending = [each for path in paths for each in _enumerators(path.read_text(encoding="utf-8"), found)]
    while pending:  # a constant may refer to one of a later file
        left = [(name, text) for name, text in pending if not _define(found, name, text)]
        if len(left) == len(pending):
            return found  # the rest cannot be computed without a C compiler
        pending = left
    return found


def _define(found: dict[str, int], name: str, text: str) -> bool:
    try:
        found[name] = int(_evaluate(text, found))
    except (NameError, SyntaxError):
        return False
    return True


def _evaluate(text: str, names: dict[str, int]) -> Any:
    """Evaluates a C expression of integers."""
    if "?" in text:
        condition, rest = text.split("?", 1)
        yes, no = rest.split(":", 1)  # conditional expressions are nested only after the colon
        return _evaluate(yes if _evaluate(condition, names) else no, names)
    python = text.replace("&&", " and ").replace("||", " or ").replace("/", "//").strip()
    return eval(python, {"__builtins__": {}}, dict(names))


def _enumerators(text: str, names: dict[str, int]) -> list[tuple[str, str]]:
    """Returns name and expression of each enumerator with an explicit value, in the branches of #if that apply."""
    lines, applies, taken = [], [True], [True]
    for line in re.sub(r"/\*.*?\*/", "", text, flags=re.S).splitlines():
        directive = re.match(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b(.*)", line)
        if not directive:
            lines += [line] if all(applies) else []
        elif directive[1] == "endif":
            applies.pop(), taken.pop()
        elif directive[1].startswith("if"):
            applies.append(directive[1] == "ifndef" or (directive[1] == "if" and _holds(directive[2], names)))
            taken.append(applies[-1])
        else:
            applies[-1] = not taken[-1] and (directive[1] == "else" or _holds(directive[2], names))
            taken[-1] = taken[-1] or applies[-1]
    bodies = re.findall(r"\benum\b\s*\w*\s*\{(.*?)\}", "\n".join(lines), flags=re.S)
    return [
        (name, value) for body in bodies for name, value in re.findall(r"([A-Z][A-Z0-9_]*) = ([^,]+)", body) if value
    ]


def _holds(condition: str, names: dict[str, int]) -> bool:
    python = re.sub(r"defined\s*\(?(\w+)\)?", lambda match: str(int(match[1] in names)), condition)
    try:
        return bool(_evaluate(python, names))
    except (NameError, SyntaxError):
        return False  # Python cannot evaluate it, for example a condition on the compiler
