"""The examples in docstrings run, those of the Python side and those of the contracts."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import lanewise as lw
from lanewise import operations

MODULES = sorted(
    f"lanewise.{path.stem}"
    for path in Path(lw.__file__).parent.glob("*.py")
    if path.stem not in ("__init__", "__main__", "cffi", "javascript", "wasm")  # the last two need a browser
)


@pytest.mark.parametrize("name", ["lanewise", *MODULES])
def test_module(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


@pytest.mark.parametrize("name", sorted(operations.names()))
def test_operation(name):
    examples = doctest.DocTestParser().get_doctest(getattr(lw, name).__doc__, {"lw": lw}, name, None, None)
    assert examples.examples, f"{name} has no example"
    assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(examples).failed == 0
