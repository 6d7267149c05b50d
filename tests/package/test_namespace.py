"""The module as a whole: its names, the array API's inspection, and what importing it costs."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

import lanewise as lw


def test_everything_public_is_there_once():
    assert len(set(lw.__all__)) == len(lw.__all__)
    for name in lw.__all__:
        assert getattr(lw, name) is not None or name == "newaxis", name


def test_constants():
    assert (lw.pi, lw.e, lw.inf, lw.newaxis) == (math.pi, math.e, math.inf, None)
    assert math.isnan(lw.nan)


def test_every_function_has_documentation():
    for name in lw.__all__:
        value = getattr(lw, name)
        if callable(value):
            assert value.__doc__, name


def test_array_namespace_info():
    info = lw.__array_namespace_info__()
    assert info.capabilities() == {
        "boolean indexing": True,
        "data-dependent shapes": True,
        "max dimensions": 8,
    }
    assert info.default_device() == "cpu" and "cpu" in info.devices()
    assert info.default_dtypes() == {"real floating": lw.float32, "integral": lw.int32, "indexing": lw.int32}
    assert list(info.dtypes()) == ["bool", "int32", "float32"]
    assert info.dtypes(device="cpu", kind=("bool", "unsigned integer")) == {"bool": lw.bool}
    with pytest.raises(lw.ArgumentError, match="no device 'tpu'"):
        info.dtypes(device="tpu")


FRESH = """
import sys, time
start = time.process_time()  # other processes do not count
import lanewise
seconds = time.process_time() - start
heavy = [name for name in ("numpy", "dataclasses", "inspect", "argparse", "wgpu", "cffi") if name in sys.modules]
print(seconds, *heavy)
"""


def test_importing_is_fast_and_needs_no_numpy(tmp_path):
    best = min(_import(tmp_path) for _ in range(5))
    assert best < 0.05, f"import lanewise took {best * 1000:.0f} ms; 50 are allowed"


def _import(bytecode: Path) -> float:
    """Seconds, from bytecode but for the first time: pip compiles what it installs."""
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    surroundings["PYTHONPYCACHEPREFIX"] = str(bytecode)
    done = subprocess.run([sys.executable, "-c", FRESH], env=surroundings, capture_output=True, text=True, check=True)
    seconds, *heavy = done.stdout.split()
    assert heavy == []
    return float(seconds)


def test_without_numpy():
    code = """
import sys
from pathlib import Path
sys.modules["numpy"] = None
import lanewise as lw
x = lw.asarray([[1.0, 2.0], [3.0, 4.0]])
x[x > 3] = 0
print(lw.sum(x @ x + [1, 2], axis=0), lw.concat([x[0], [5.0]]), repr(x[[1]]))
try:
    x.numpy()
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    computed, error = done.stdout.splitlines()
    assert computed == "[12. 12.] [1. 2. 5.] Tensor([[3., 0.]])"
    assert error.startswith("numpy: NumPy is not installed; pip install numpy, or use tolist()")
