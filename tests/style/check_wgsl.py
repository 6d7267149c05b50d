"""Looks in the shaders for expressions that a driver may simplify to another value, or compiles slowly.

WGSL lets an implementation assume that NaN and infinity do not occur, ignore the sign of zero and reassociate sums. So
`0.0 - x` may give 0 or -0 for a zero x, and `x != x` may be false for NaN, depending on the driver. webgpu/README.md
says what to write instead. ALLOWED names each exception.

`a && b` is a branch. A chain calls the functions of its operations one after another, four times each, and the time
that SwiftShader takes to compile it doubles with each such branch: six comparisons of one tensor took minutes."""

from __future__ import annotations

import re

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
ZERO, ONE = r"(?:0\.0*[fh]?|0[fh])", r"(?:1\.0*[fh]?|1[fh])"
START, LEFT, END = r"(?<![\w.])", r"[\w)\]]\s*", r"(?![\w.])"  # an operand's start, a left operand, an operand's end
NAME, SAME = r"([A-Za-z_][\w.]*)", r"\1(?![\w.\[(])"
FOLDED = {  # a pattern -> an example that it matches, and a description that says what to write instead
    rf"(?:^|[=(,?:+*/<>&|]|return)\s*(?:{ZERO}|0)\s*-": (
        "return 0.0 - x",
        "a difference from zero; write -x or flip the sign",
    ),
    rf"{LEFT}[-+]\s*{ZERO}{END}": ("x + 0.0", "a sum with zero; leave it out"),
    rf"{START}{ZERO}\s*\+": ("0.0 + x", "a sum with zero; leave it out"),
    rf"[*/]\s*{ONE}{END}": ("x * 1.0", "a product with one; leave it out"),
    rf"{START}{ONE}\s*\*": ("1.0 * x", "a product with one; leave it out"),
    rf"\*\s*{ZERO}{END}": ("x * 0.0", "a product with zero; write 0.0, or test the bits of x"),
    rf"{START}{ZERO}\s*[*/]": ("0.0 * x", "a product with zero; write 0.0, or test the bits of x"),
    rf"{START}{NAME}\s*[-/]\s*{SAME}": ("x - x", "a value minus or divided by itself; test the bits of x"),
    rf"{START}{NAME}\s*[!=]=\s*{SAME}": ("x != x", "a comparison with itself; test for NaN with lw_is_nan"),
    rf"\(\s*{NAME}\s*[-+]\s*[\w.]+\s*\)\s*[-+]\s*{SAME}": (
        "(x + y) - x",
        "a sum that cancels; protect it by lw_rounded",
    ),
    rf"\(\s*[\w.]+\s*[-+]\s*{NAME}\s*\)\s*[-+]\s*{SAME}": (
        "(y + x) - x",
        "a sum that cancels; protect it by lw_rounded",
    ),
}
SHORT_CIRCUIT = re.compile(r"&&|\|\|")
FUNCTIONS = ("webgpu/functions/", "webgpu/math/", "webgpu/ops/")  # which chains call
ALLOWED: dict[str, str] = {}  # "file: the line's code" -> why this line is correct


def complaints(sources: dict[str, str]) -> list[str]:
    """Returns what is wrong with the shaders, which patterns miss their own example, and which entries of ALLOWED are
    unused."""
    found, seen = [], set()
    for name, text in sources.items():
        if not name.endswith(".wgsl"):
            continue
        code = COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
        for number, line in enumerate(code.splitlines(), 1):
            entry = f"{name}: {line.strip()}"
            hits = [why for pattern, (_, why) in FOLDED.items() if re.search(pattern, line)]
            if name.startswith(FUNCTIONS) and SHORT_CIRCUIT.search(line):
                hits.append("a branch; write & or |, with parentheses around comparisons")
            if hits and entry in ALLOWED:
                seen.add(entry)
            else:
                found += [f"{name}:{number}: {line.strip()}\n    has {why}" for why in hits]
    found += [
        f"{name}: is not found by {pattern}" for pattern, (name, _) in FOLDED.items() if not re.search(pattern, name)
    ]
    return found + [f"{entry}: no longer in the shaders; remove it from ALLOWED" for entry in set(ALLOWED) - seen]
