"""Runs the examples in the docstrings of modules and operations, and in the pages of site/docs."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import lanewise as lw
from lanewise.functions import operations

PAGES = sorted((Path(__file__).parents[2] / "site" / "docs").glob("*.md"))
PACKAGE = Path(lw.__file__).parent
MODULES = sorted(
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    for path in PACKAGE.rglob("*.py")
    if path.parent.name not in ("demo", "webgpu")
    # javascript, wasm and workers need a browser
    if path.stem not in ("__init__", "__main__", "cffi", "javascript", "wasm", "workers")
)


HOST = ("lanewise.functions.creation", "lanewise.backends.memory")  # their examples have the memory of the CPU


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.host if name in HOST else ()) for name in ("lanewise", *MODULES)],
)
def test_examples_of_modules(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def test_the_readme_counts_the_operations():
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert f"Array math for Python: {len(operations.names())} operations" in readme


def test_docs_say_how_to_name_a_device():
    creating = [name for name in operations.names() if "device=" in getattr(lw, name).__text_signature__]
    assert len(creating) >= 9
    functions = [*(getattr(lw, name) for name in creating), lw.Tensor.to, lw.Tensor.to_device, lw.use_backend]
    assert all('"cpu"' in function.__doc__ and '"wgpu:1"' in function.__doc__ for function in functions)


@pytest.mark.parametrize("name", sorted(operations.names()))
def test_examples_of_operations(name):
    examples = doctest.DocTestParser().get_doctest(getattr(lw, name).__doc__, {"lw": lw}, name, None, None)
    assert examples.examples, f"{name} has no example"
    assert doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE).run(examples).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_of_pages(page):
    result = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0
