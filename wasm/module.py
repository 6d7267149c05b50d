"""Reads what a WebAssembly module imports and exports: the type, import, function and export sections, and `dylink.0`,
which is for the dynamic linker. Only our own modules and Pyodide's are read, so anything unexpected raises
MalformedError. Format: WebAssembly core specification 2.0, chapter 5, and the tool conventions' DynamicLinking.md."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

CUSTOM, TYPE, IMPORT, FUNCTION, EXPORT = 0, 1, 2, 3, 7
KINDS = ("function", "table", "memory", "global", "tag")
VALUE_TYPES = {
    0x7F: "i32",
    0x7E: "i64",
    0x7D: "f32",
    0x7C: "f64",
    0x7B: "v128",
    0x70: "funcref",
    0x6F: "externref",
}
MAGIC = b"\0asm\x01\0\0\0"


class MalformedError(ValueError):
    """The file is not a WebAssembly module of version 1, is truncated, or has parts that this parser does not know."""


@dataclass(frozen=True)
class Import:
    """One import of a module."""

    module: str
    name: str
    kind: str
    signature: str  # of a function or tag, such as "i32,i32->i32"; otherwise empty


@dataclass
class Module:
    """The imports and exports of a module, and what its dylink.0 section says."""

    imports: list[Import] = field(default_factory=list)
    exports: dict[str, str] = field(default_factory=dict)  # name -> kind
    signatures: dict[str, str] = field(default_factory=dict)  # name -> signature of an exported function
    memory_bytes: int = 0  # size of the static data, from dylink.0
    needed: list[str] = field(default_factory=list)  # libraries that the linker must open first


class Reader:
    """A cursor over bytes. Reading past the end raises MalformedError."""

    def __init__(self, data: bytes, start: int = 0, end: int | None = None) -> None:
        self.data = data
        self.position = start
        self.end = len(data) if end is None else end
        if self.end > len(data):
            raise MalformedError("a section ends after the end of the file")

    def read(self, count: int) -> bytes:
        """Reads `count` bytes."""
        start, stop = self.position, self.position + count
        if stop > self.end:
            raise MalformedError(f"truncated at byte {start}")
        self.position = stop
        return self.data[start:stop]

    def byte(self) -> int:
        """Reads one byte."""
        return self.read(1)[0]

    def unsigned(self) -> int:
        """Reads an unsigned LEB128 integer of at most 32 bits."""
        value = 0
        for shift in range(0, 35, 7):
            part = self.byte()
            value |= (part & 0x7F) << shift
            if part < 0x80:
                return value
        raise MalformedError(f"an integer longer than 32 bits at byte {self.position}")

    def name(self) -> str:
        """Reads a string that is preceded by its length."""
        return self.read(self.unsigned()).decode("utf-8")

    def section(self) -> Reader:
        """Reads a length, skips that many bytes, and returns a reader for them."""
        length = self.unsigned()
        start = self.position
        self.read(length)
        return Reader(self.data, start, start + length)

    def done(self) -> bool:
        """Returns whether all bytes have been read."""
        return self.position >= self.end


def read(source: bytes | Path) -> Module:
    """Parses a module, given as bytes or as the path of a file."""
    data = source if isinstance(source, bytes) else source.read_bytes()
    try:
        return _read(Reader(data))
    except (IndexError, KeyError, UnicodeDecodeError) as error:  # an unknown code or index, or an undecodable name
        raise MalformedError(f"{type(error).__name__}: {error}") from error


def _read(reader: Reader) -> Module:
    if reader.read(len(MAGIC)) != MAGIC:
        raise MalformedError("expected a WebAssembly module of version 1")
    module = Module()
    types: list[str] = []
    functions: list[str] = []  # signature of each function, imported ones first
    while not reader.done():
        section_id = reader.byte()
        section = reader.section()
        if section_id == CUSTOM and section.name() == "dylink.0":
            _read_dylink(section, module)
        elif section_id == TYPE:
            types = [_read_type(section) for _ in range(section.unsigned())]
        elif section_id == IMPORT:
            module.imports = [_read_import(section, types) for _ in range(section.unsigned())]
            functions = [entry.signature for entry in module.imports if entry.kind == "function"]
        elif section_id == FUNCTION:
            functions += [types[section.unsigned()] for _ in range(section.unsigned())]
        elif section_id == EXPORT:
            for _ in range(section.unsigned()):
                name, kind, index = section.name(), KINDS[section.byte()], section.unsigned()
                module.exports[name] = kind
                if kind == "function":
                    module.signatures[name] = functions[index]
    return module


def _read_type(reader: Reader) -> str:
    if reader.byte() != 0x60:
        raise MalformedError("expected a function type")
    sides = [[VALUE_TYPES[reader.byte()] for _ in range(reader.unsigned())] for _ in range(2)]
    return "->".join(",".join(side) for side in sides)


def _read_import(reader: Reader, types: list[str]) -> Import:
    module, name, kind = reader.name(), reader.name(), KINDS[reader.byte()]
    signature = ""
    if kind == "function":
        signature = types[reader.unsigned()]
    elif kind == "global":
        reader.read(2)  # value type, mutability
    elif kind == "tag":
        reader.byte()
        signature = types[reader.unsigned()]
    else:
        if kind == "table":
            reader.byte()  # element type
        has_maximum = reader.byte() & 1
        reader.unsigned()
        if has_maximum:
            reader.unsigned()
    return Import(module, name, kind, signature)


def _read_dylink(reader: Reader, module: Module) -> None:
    while not reader.done():
        subsection_id = reader.byte()
        subsection = reader.section()
        if subsection_id == 1:  # WASM_DYLINK_MEM_INFO
            module.memory_bytes = subsection.unsigned()
        elif subsection_id == 2:  # WASM_DYLINK_NEEDED
            module.needed = [subsection.name() for _ in range(subsection.unsigned())]
