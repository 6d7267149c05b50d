"""Tests the module as a whole: its names, the array API's __array_namespace_info__(), and what importing it loads."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

import lanewise as lw
from lanewise.backends import libraries


def test_every_public_name_exists_once():
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
    assert info.capabilities() == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 8}
    assert info.default_device() == "cpu" and "cpu" in info.devices()
    assert info.default_dtypes() == {"real floating": lw.float32, "integral": lw.int32, "indexing": lw.int32}
    signed, unsigned = ("int8", "int16", "int32", "int64"), ("uint8", "uint16", "uint32", "uint64")
    assert list(info.dtypes()) == ["bool", *signed, *unsigned, "float32", "float64"]
    assert info.dtypes(kind="signed integer") == {name: getattr(lw, name) for name in signed}
    assert list(info.dtypes(device="cpu", kind=("bool", "unsigned integer"))) == ["bool", *unsigned]
    with pytest.raises(lw.ArgumentError, match="got 'tpu'"):
        info.dtypes(device="tpu")


# `import lanewise` must not load these modules: they are slow to import, or most programs do not need them.
SLOW = {
    *("argparse", "asyncio", "ctypes", "dataclasses", "inspect", "logging", "multiprocessing", "platform"),
    *("subprocess", "tempfile", "unittest", "yaml"),
    *("lanewise.cli", "lanewise.backends.hardware", "lanewise.costs.timing"),
}
PACKAGES = ("lanewise.bench", "lanewise.demo", "lanewise.webgpu", "lanewise.backends.wasm")
FRESH = """
import json, sys
before = set(sys.modules)
opened = []
sys.addaudithook(lambda event, arguments: opened.append(str(arguments[0])) if event == "open" else None)
import lanewise
loaded = sorted(set(sys.modules) - before)
print(json.dumps([loaded, opened, lanewise.ones(1).backend]))
"""


@pytest.fixture(scope="module")
def imported() -> tuple[list[str], list[str], str]:
    """The modules that `import lanewise` loads in a new process, the files that it opens, and the default backend."""
    # -S leaves out site-packages, which may hold .pth files that import modules
    command = [sys.executable, "-S", "-c", FRESH]
    environment = os.environ | {"PYTHONPATH": str(Path(lw.__file__).parents[1])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    loaded, opened, backend = json.loads(done.stdout)
    return loaded, opened, backend


def test_an_import_loads_no_other_package(imported):
    roots = {name.partition(".")[0] for name in imported[0]}
    assert roots - sys.stdlib_module_names == {"lanewise"}


def test_an_import_loads_no_slow_module(imported):
    loaded = set(imported[0])
    assert not loaded & SLOW
    assert not [name for name in loaded if name.startswith(PACKAGES)]
    assert len(loaded) < 110  # including the modules of the standard library


def test_an_import_opens_one_library(imported):
    _, opened, backend = imported
    folder = Path(libraries.DIRECTORY)
    read = [Path(path).name for path in opened if Path(path).parent == folder]
    kernels = json.loads((folder / "manifest.json").read_text())["libraries"][backend]["file"]
    assert sorted(read) == sorted(["manifest.json", kernels])  # each opened once, although the library is also hashed


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
