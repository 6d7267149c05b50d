"""Reads which symbols a shared library imports and exports. The library can be 64-bit little-endian ELF, Mach-O or PE,
or WebAssembly (wasm/module.py). Supports only what the checks of our own libraries need; anything unexpected raises
BuildError."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from native.errors import BuildError
from wasm import imports, module

__all__ = ["Symbols", "check_extension", "check_kernels", "read"]

TABLE = "lanewise_kernels"


@dataclass(frozen=True)
class Symbols:
    """A library's symbols as C spells them, and the names of the libraries that the loader would open along with it."""

    undefined: tuple[str, ...]
    exported: tuple[str, ...]
    needed: tuple[str, ...]


def check_kernels(path: Path) -> None:
    """Checks that a kernel library imports nothing, needs no other library, and exports only its kernel table. If not,
    deletes the library and raises BuildError."""
    symbols = read(path)
    problems = []
    if symbols.undefined:
        problems.append(f"calls {', '.join(symbols.undefined)}, but must call nothing outside itself")
    if symbols.needed:
        problems.append(f"needs the libraries {', '.join(symbols.needed)}, but must need none")
    if symbols.exported != (TABLE,):
        problems.append(f"exports {', '.join(symbols.exported) or 'nothing'}, but must export only {TABLE}")
    _refuse(path, problems)


def check_extension(path: Path) -> None:
    """Checks that the extension exports only its initialization function and, if it is a WebAssembly module, imports
    only functions that Pyodide has, which the linker does not check. If not, deletes it and raises BuildError."""
    symbols = read(path)
    problems = []
    if symbols.exported != ("PyInit__ext",):
        problems.append(f"exports {', '.join(symbols.exported) or 'nothing'}, but must export only PyInit__ext")
    foreign = imports.foreign(symbols.undefined) if path.read_bytes().startswith(module.MAGIC) else ()
    if foreign:
        problems.append(f"imports {', '.join(foreign)}, which wasm/imports.py does not list")
    _refuse(path, problems)


def _refuse(path: Path, problems: list[str]) -> None:
    if problems:
        path.unlink()
        raise BuildError(f"{path.name} {' and '.join(problems)}")


def read(path: Path) -> Symbols:
    """Returns the symbols of a shared library."""
    data = path.read_bytes()
    try:
        if data.startswith(b"\x7fELF\x02\x01"):
            return _elf(data)
        if data.startswith(b"\xcf\xfa\xed\xfe"):
            return _macho(data)
        if data.startswith(b"MZ"):
            return _pe(data)
        if data.startswith(module.MAGIC):
            return _wasm(data)
    except (struct.error, ValueError, IndexError) as error:
        raise BuildError(f"{path} is malformed: {error}") from error
    raise BuildError(
        f"{path}: expected a 64-bit ELF, Mach-O, PE or WebAssembly file, got one that begins with {data[:5]!r}"
    )


def _text(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode()


def _elf(data: bytes) -> Symbols:
    """Reads the dynamic symbol table, which is the only one that the loader uses (ELF gABI, chapters 4 and 5)."""
    DYNAMIC, DYNSYM, NEEDED, LOCAL = 6, 11, 1, 0
    (table,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * size) for i in range(count)]
    undefined: list[str] = []
    exported: list[str] = []
    needed: list[str] = []
    for _, kind, _, _, offset, length, link, _, _, _ in sections:
        strings = sections[link][4]
        if kind == DYNSYM:
            for at in range(offset, offset + length, 24):
                name, info, other, section = struct.unpack_from("<IBBH", data, at)
                hidden = (other & 3) in (1, 2)
                if name and info >> 4 != LOCAL and not hidden:
                    (exported if section else undefined).append(_text(data, strings + name))
        elif kind == DYNAMIC:
            for tag, value in struct.iter_unpack("<QQ", data[offset : offset + length]):
                if tag == NEEDED:
                    needed.append(_text(data, strings + value))
    return Symbols(tuple(undefined), tuple(exported), tuple(needed))


def _macho(data: bytes) -> Symbols:
    """Reads the external symbols (mach-o/loader.h, nlist.h) except those that the linker adds to every library, and the
    names of the libraries to load except libSystem, which every library loads."""
    SYMTAB, LOAD_DYLIB, STAB, PRIVATE, TYPE, EXTERNAL = 0x2, 0xC, 0xE0, 0x10, 0x0E, 0x01
    undefined: list[str] = []
    exported: list[str] = []
    needed: list[str] = []
    (commands,) = struct.unpack_from("<I", data, 16)
    at = 32
    for _ in range(commands):
        command, size = struct.unpack_from("<II", data, at)
        if command == SYMTAB:
            symbols, count, strings, _ = struct.unpack_from("<4I", data, at + 8)
            for i in range(count):
                name, kind, _, _, _ = struct.unpack_from("<IBBHQ", data, symbols + i * 16)
                if kind & EXTERNAL and not kind & (STAB | PRIVATE):
                    text = _text(data, strings + name).removeprefix("_")
                    (exported if kind & TYPE else undefined).append(text)
        elif command == LOAD_DYLIB:
            (name,) = struct.unpack_from("<I", data, at + 8)
            needed.append(_text(data, at + name))
        at += size
    ignored = {"dyld_stub_binder", "__dso_handle", "_mh_dylib_header"}
    return Symbols(
        tuple(name for name in undefined if name not in ignored),
        tuple(name for name in exported if name not in ignored),
        tuple(name for name in needed if "libSystem" not in name),
    )


def _pe(data: bytes) -> Symbols:
    """Reads the names in the export and import directories (PE format, "The .edata Section")."""
    (header,) = struct.unpack_from("<I", data, 0x3C)
    count, optional_size = struct.unpack_from("<H12xH", data, header + 6)
    optional = header + 24
    sections = [
        struct.unpack_from("<8xIIII", data, optional + optional_size + i * 40) for i in range(count)
    ]  # virtual size, virtual address, raw size, raw address

    def position(address: int) -> int:
        for virtual_size, start, raw_size, raw in sections:
            if start <= address < start + max(virtual_size, raw_size):
                return int(address - start + raw)
        raise ValueError(f"address {address:#x} is not in any section")

    def quadwords(at: int) -> Iterator[int]:
        while value := int.from_bytes(data[at : at + 8], "little"):
            yield value
            at += 8

    exports, _, imports, _ = struct.unpack_from("<4I", data, optional + 112)
    undefined: list[str] = []
    exported: list[str] = []
    needed: list[str] = []
    if exports:
        names, table = struct.unpack_from("<I4xI", data, position(exports) + 24)
        for i in range(names):
            (name,) = struct.unpack_from("<I", data, position(table) + i * 4)
            exported.append(_text(data, position(name)))
    at = position(imports) if imports else 0
    while imports:
        lookup, _, _, name, _ = struct.unpack_from("<5I", data, at)
        if not name:
            break
        needed.append(_text(data, position(name)))
        undefined += [
            f"#{entry & 0xFFFF}" if entry >> 63 else _text(data, position(entry) + 2)
            for entry in quadwords(position(lookup))
        ]
        at += 20
    return Symbols(tuple(undefined), tuple(exported), tuple(needed))


def _wasm(data: bytes) -> Symbols:
    """Reads the imports and exports of a WebAssembly module, except those that exist for the dynamic linker."""
    parsed = module.read(data)
    undefined = dict.fromkeys(entry.name for entry in parsed.imports if entry.name not in imports.LINKER)
    exported = tuple(name for name in parsed.exports if name not in imports.HOOKS)
    return Symbols(tuple(undefined), exported, tuple(parsed.needed))
