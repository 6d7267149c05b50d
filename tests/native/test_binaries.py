"""Tests which symbols the build refuses in its libraries. The symbols are made up; tests/packaging/test_rebuild.py
compiles libraries that are refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lanewise import _ext
from native import binaries
from native.binaries import Symbols
from native.errors import BuildError
from wasm import module

ELF = b"\x7fELF\x02\x01"

KERNELS = {
    "alone": (Symbols((), ("lanewise_kernels",), ()), ""),
    "imports": (
        Symbols(("memcpy", "expf"), ("lanewise_kernels",), ()),
        "calls memcpy, expf, but must call nothing outside itself",
    ),
    "libraries": (
        Symbols((), ("lanewise_kernels",), ("libm.so.6",)),
        "needs the libraries libm.so.6, but must need none",
    ),
    "two exports": (
        Symbols((), ("lanewise_kernels", "sum"), ()),
        "exports lanewise_kernels, sum, but must export only lanewise_kernels",
    ),
    "no export": (Symbols((), (), ()), "exports nothing, but must export only lanewise_kernels"),
    "several": (
        Symbols(("expf",), ("lanewise_kernels",), ("libm.so.6",)),
        "calls expf, but must call nothing outside itself and needs the libraries libm.so.6, but must need none",
    ),
}

EXTENSIONS = {
    "ELF": (ELF, Symbols(("PyErr_Occurred", "fopen"), ("PyInit__ext",), ("libc.so.6",)), ""),
    "WebAssembly": (module.MAGIC, Symbols(("PyErr_Occurred", "memcpy"), ("PyInit__ext",), ()), ""),
    "foreign": (
        module.MAGIC,
        Symbols(("PyErr_Occurred", "fopen"), ("PyInit__ext",), ()),
        "imports fopen, which wasm/imports.py does not list",
    ),
    "two exports": (
        ELF,
        Symbols((), ("PyInit__ext", "helper"), ()),
        "exports PyInit__ext, helper, but must export only PyInit__ext",
    ),
    "no export": (ELF, Symbols((), (), ()), "exports nothing, but must export only PyInit__ext"),
}


def _check(check, path: Path, words: str) -> None:
    """Asserts that `check` accepts the file or, if `words` is not empty, refuses it with these words and deletes it, so
    that no later build uses it."""
    if not words:
        check(path)
        assert path.exists()
        return
    with pytest.raises(BuildError) as refusal:
        check(path)
    assert str(refusal.value) == f"{path.name} {words}"
    assert not path.exists()


@pytest.mark.parametrize("case", KERNELS)
def test_kernel_libraries(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    symbols, words = KERNELS[case]
    path = tmp_path / "kernels_scalar.so"
    path.touch()
    monkeypatch.setattr(binaries, "read", lambda path: symbols)
    _check(binaries.check_kernels, path, words)


@pytest.mark.skipif(sys.platform != "linux", reason="the extension of this system is no ELF file")
def test_the_libraries_that_an_elf_file_needs_are_named() -> None:
    assert "libc.so.6" in binaries.read(Path(_ext.__file__)).needed


@pytest.mark.parametrize("case", EXTENSIONS)
def test_the_extension(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content, symbols, words = EXTENSIONS[case]
    path = tmp_path / "_ext.abi3.so"
    path.write_bytes(content)
    monkeypatch.setattr(binaries, "read", lambda path: symbols)
    _check(binaries.check_extension, path, words)
