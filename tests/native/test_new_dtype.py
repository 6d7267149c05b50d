"""A stored dtype is added by a line of contracts/facts.yaml: a build of such a copy computes with it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("contracts", "core", "lanewise", "native", "wasm", "webgpu")
LINE = "  half_e6: {class: floating, bits: 16, fraction: 9, dlpack: 99, computed: float32}\n"

# Builds the scalar library and the extension without optimizations, which takes a sixth of the time.
BUILD = """
import sys
from pathlib import Path
from native import build, compiler
from native.targets import host
from tests import support
files = build.binaries_of(*support.compiled_quickly(host(), compiler.choose(), "-O0"), ["scalar"])
build.place(files, Path("lanewise"))
"""

USE = """
import pickle
import lanewise as lw
from lanewise import _ext

assert lw.half_e6 == "half_e6" and lw.half_e6.itemsize == 2 and "half_e6: " in open("lanewise/__init__.pyi").read()
x = lw.asarray([1.001, 2.5, -3.25], dtype="half_e6")
assert x.dtype is lw.half_e6 and x.tolist() == [1 + 2**-9, 2.5, -3.25]
for result, expected in (
    (x + x, [2 + 2**-8, 5.0, -6.5]),
    (x + 1, [2.0, 3.5, -2.25]),  # a tie, rounded to even
    (lw.sum(x), 0.25 + 2**-9),
    (lw.exp(lw.zeros(2, dtype=lw.half_e6)), [1.0, 1.0]),
    (lw.full(2, 1e10, dtype=lw.half_e6), [float("inf")] * 2),
    (lw.sort(x), [-3.25, 1 + 2**-9, 2.5]),
    (pickle.loads(pickle.dumps(x)), x.tolist()),
):
    assert result.dtype is lw.half_e6 and result.tolist() == expected, result
assert (x < 2).tolist() == [True, False, True] and (x == x).tolist() == [True] * 3
assert (x < lw.asarray([1.001, 2.5, 3.0])).tolist() == [False, False, True]  # 1.001 in float32 is less
assert (x + lw.asarray([1.0], dtype="float16")).dtype is lw.float32
assert lw.astype(x, "int8").tolist() == [1, 2, -3] and lw.astype(x, "float16").tolist() == x.tolist()
assert lw.finfo("half_e6").eps == 2**-9

# Every finite number, in both directions: 6 bits of exponent with bias 31, 9 bits of fraction
def number(bits):
    exponent, fraction = bits >> 9 & 63, bits & 511
    size = (512 + fraction if exponent else fraction) * 2.0 ** (max(exponent, 1) - 40)
    return -size if bits >> 15 else size

every = [bits for bits in range(1 << 16) if bits >> 9 & 63 != 63]
packed = b"".join(bits.to_bytes(2, "little") for bits in every)
halves = _ext.from_bytes(packed, lw.half_e6, (len(every),))
assert halves.tolist() == list(map(number, every))
for wide in ("float32", "float64"):
    floats = lw.astype(halves, wide)
    assert floats.tolist() == halves.tolist()
    assert lw.astype(floats, "half_e6").tobytes() == packed
"""


def run(root: Path, program: str) -> None:
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(root)!r})\n{program}"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


def test_a_line_of_facts_yaml_adds_a_stored_dtype(tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__", "_lib", "_facts.py", "*.so", "*.pyd", "*.pyi")
    for name in COPIED:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    (tmp_path / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "support.py", tmp_path / "tests")
    with (tmp_path / "contracts" / "facts.yaml").open("a", encoding="utf-8") as file:
        file.write(LINE)
    run(tmp_path, BUILD)
    run(tmp_path, USE)
