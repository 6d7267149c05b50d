"""Tests which symbols the build refuses in its libraries. The symbols are made up; tests/packaging/test_rebuild.py
compiles libraries that are refused."""

from __future__ import annotations

import struct
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


def _elf(symbols: list[tuple[str, int, int, int]], needed: list[str]) -> bytes:
    """Returns a 64-bit ELF file with only what the loader reads: a string table, dynamic symbols, given as (name,
    st_info, st_other, st_shndx), and the names of libraries."""
    names = [name for name, *_ in symbols] + needed
    strings = b"\0" + b"".join(name.encode() + b"\0" for name in names if name)
    at = {name: strings.index(b"\0" + name.encode() + b"\0") + 1 if name else 0 for name in names}
    value = 1 << 36 | 1  # a reader that took this field for the start of an entry would see a global symbol
    table = b"".join(struct.pack("<IBBHQQ", at[name], *rest, value, value) for name, *rest in symbols)
    dynamic = b"".join(struct.pack("<QQ", 1, at[name]) for name in needed) + struct.pack("<QQQQ", 5, 1, 0, 0)
    content, sections = b"", [struct.pack("<IIQQQQIIQQ", *[0] * 10)]
    for kind, data in ((3, strings), (11, table), (6, dynamic)):  # SHT_STRTAB, SHT_DYNSYM, SHT_DYNAMIC
        sections.append(struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, 64 + len(content), len(data), 1, 0, 0, 0))
        content += data
    head = ELF.ljust(0x28, b"\0") + struct.pack("<QIHHHHHH", 64 + len(content), 0, 64, 0, 0, 64, len(sections), 0)
    return head + content + b"".join(sections)


def test_the_symbols_of_an_elf_file(tmp_path: Path) -> None:
    """The loader sees named symbols that are global or weak, unless their visibility is internal or hidden."""
    local, exported, weak, function, indirect = 0x00, 0x10, 0x20, 0x02, 0x0A
    default, internal, hidden, protected = range(4)
    symbols = [
        ("", local, default, 0),
        ("", exported, default, 1),
        ("local_function", local | function, default, 1),
        ("local_indirect", local | indirect, default, 1),
        ("outside", exported | function, default, 0),
        ("maybe_outside", weak, default, 0),
        ("inside", exported | function, default, 1),
        ("weak_inside", weak | indirect, default, 2),
        ("internal", exported, internal, 1),
        ("hidden", exported, hidden, 1),
        ("hidden_with_flags", exported, hidden | 0x84, 1),  # high bits of st_other: flags of the processor
        ("protected", exported, protected, 1),
        ("protected_with_flags", exported, protected | 0x84, 1),
    ]
    path = tmp_path / "library.so"
    path.write_bytes(_elf(symbols, ["libm.so.6", "libc.so.6"]))
    assert binaries.read(path) == Symbols(
        ("outside", "maybe_outside"),
        ("inside", "weak_inside", "protected", "protected_with_flags"),
        ("libm.so.6", "libc.so.6"),
    )


@pytest.mark.parametrize("case", EXTENSIONS)
def test_the_extension(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content, symbols, words = EXTENSIONS[case]
    path = tmp_path / "_ext.abi3.so"
    path.write_bytes(content)
    monkeypatch.setattr(binaries, "read", lambda path: symbols)
    _check(binaries.check_extension, path, words)
