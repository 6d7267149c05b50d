"""The generated type stubs match the extension; with them, type checkers accept valid calls and reject others."""

import subprocess
import sys
from pathlib import Path

import pytest

import lanewise as lw
from lanewise import methods

PACKAGE = Path(lw.__file__).parent

USE = """
import lanewise as lw
import numpy as np
from typing_extensions import assert_type

x = lw.asarray([[1.0, 2.0], [3.0, 4.0]])
assert_type(x, lw.Tensor)
assert_type(lw.flip(x, axis=(0, 1)).sum(axis=(0, 1)), lw.Tensor)
assert_type(x @ x + 1.0 - np.ones(2), lw.Tensor)
assert_type(2 * x.relu().sum(axis=0), lw.Tensor)
assert_type(x == x, lw.Tensor)
assert_type(x[0, ..., None], lw.Tensor)
assert_type(x.reshape(4, 1).permute_dims(1, 0), lw.Tensor)
assert_type(lw.gelu(np.ones(3), approximate="tanh"), lw.Tensor)
assert_type(lw.zeros((2, 3), lw.int32).dtype, lw.DType)
assert_type(lw.clip(x, 0.0, max=x), lw.Tensor)
assert_type(lw.pi, float)
assert_type(x.to("scalar").backend, lw.Backend)
x += 1
assert_type(x.sum(-1) + lw.softmax(x, 1).mean(0) + lw.max_pool2d(x, 2), lw.Tensor)
x[0] = [1.0, 2.0]
with lw.use_backend("scalar"):
    lw.concat([x, x], axis=1)
print(lw.backends()[0].available, lw.ShapeError, lw.__version__)
"""

MISUSE = """
import lanewise as lw
lw.gelu([1.0], approximate="exact")
lw.gelu([1.0], "tanh")
lw.add([1.0])
lw.nosuch([1.0])
lw.ones(2).nosuch()
lw.conv2d(lw.ones(2), lw.ones(2), stride="two")
lw.expand_dims(lw.ones(2), (0, 1))
lw.concat([lw.ones(2)], axis=(0, 1))
"""


def mypy(folder, text, *options):
    program = folder / "program.py"
    program.write_text(text, encoding="utf-8")
    (folder / "mypy.ini").write_text(f"[mypy]\nstrict = true\nmypy_path = {PACKAGE.parent}\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--cache-dir", folder / "cache", "--config-file", folder / "mypy.ini"]
    return subprocess.run([*command, *options, program], capture_output=True, text=True, cwd=folder, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("typed")


def test_right_calls_type_check(folder):
    done = mypy(folder, USE)
    wrong = [line for line in done.stdout.splitlines() if line.startswith("program.py") or ".pyi:" in line]
    assert not wrong, "\n".join(wrong)


def test_wrong_calls_are_type_errors(folder):
    refused = {line.split(":")[1] for line in mypy(folder, MISUSE).stdout.splitlines() if line.startswith("program.py")}
    assert refused == {str(line) for line in range(3, 11)}


def test_stubs_match_the_extension(folder):
    """mypy's stubtest compares names and signatures. Three differences are allowed: the stub leaves out the attributes
    in methods.MISSING, which only raise an error with a hint, the extension has no __buffer__ before Python 3.12, and
    only that for WebAssembly has set_workers."""
    (folder / "stubtest.ini").write_text(
        "[mypy]\nignore_errors = true\nignore_missing_imports = true\n", encoding="utf-8"
    )
    allowed = [rf"lanewise\._ext\.Tensor\.{name}" for name in ("__buffer__", *methods.MISSING.split())]
    allowed += [r"lanewise\._ext\.set_workers"]
    (folder / "allowed").write_text("\n".join(allowed), encoding="utf-8")
    command = [sys.executable, "-m", "mypy.stubtest", "lanewise._ext", "--concise", "--ignore-unused-allowlist"]
    options = ["--mypy-config-file", folder / "stubtest.ini", "--allowlist", folder / "allowed"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, cwd=PACKAGE.parent, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
