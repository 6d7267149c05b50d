"""Reads what a WebAssembly module asks for and offers: the type, import, function and export sections, and
what the dynamic linker needs to know (`dylink.0`). Written for checking our own modules before they ship, so
it refuses anything malformed instead of guessing. The format: WebAssembly core specification 2.0, chapter 5,
and the tool conventions' DynamicLinking.md."""

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
    """The bytes are not a WebAssembly module of version 1."""


@dataclass(frozen=True)
class Import:
    """One thing that a module asks for."""

    module: str
    name: str
    kind: str
    signature: str  # of a function: "i32,i32->i32"; empty for the others


@dataclass
class Module:
    """What was found."""

    imports: list[Import] = field(default_factory=list)
    exports: dict[str, str] = field(default_factory=dict)  # name -> kind
    signatures: dict[str, str] = field(default_factory=dict)  # of exported functions
    memory_bytes: int = 0  # static data, from dylink.0
    needed: list[str] = field(default_factory=list)  # libraries that the loader must open first


class Reader:
    """A cursor over bytes; every read past the end is a MalformedError."""

    def __init__(self, data: bytes, start: int = 0, end: int | None = None) -> None:
        self.data = data
        self.position = start
        self.end = len(data) if end is None else end
        if self.end > len(data):
            raise MalformedError("a section is longer than the file")

    def take(self, count: int) -> bytes:
        """That many bytes."""
        start, stop = self.position, self.position + count
        if stop > self.end:
            raise MalformedError(f"truncated at byte {start}")
        self.position = stop
        return self.data[start:stop]

    def byte(self) -> int:
        """One byte."""
        return self.take(1)[0]

    def unsigned(self) -> int:
        """LEB128, at most 32 bits."""
        value = 0
        for shift in range(0, 35, 7):
            part = self.byte()
            value |= (part & 0x7F) << shift
            if part < 0x80:
                return value
        raise MalformedError(f"an integer longer than 32 bits at byte {self.position}")

    def name(self) -> str:
        """A string with its length before it."""
        return self.take(self.unsigned()).decode("utf-8")

    def section(self) -> Reader:
        """A reader of the next bytes, as many as their length before them says."""
        length = self.unsigned()
        start = self.position
        self.take(length)
        return Reader(self.data, start, start + length)

    def done(self) -> bool:
        """Whether all was read."""
        return self.position >= self.end


def read(source: bytes | Path) -> Module:
    """The module in these bytes, or in this file."""
    data = source if isinstance(source, bytes) else source.read_bytes()
    try:
        return _read(Reader(data))
    except (IndexError, KeyError, UnicodeDecodeError) as error:  # a number or a name without a meaning
        raise MalformedError(f"{type(error).__name__}: {error}") from error


def _read(reader: Reader) -> Module:
    if reader.take(len(MAGIC)) != MAGIC:
        raise MalformedError("not a WebAssembly module of version 1")
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
        raise MalformedError("a type that is not a function's")
    sides = [[VALUE_TYPES[reader.byte()] for _ in range(reader.unsigned())] for _ in range(2)]
    return "->".join(",".join(side) for side in sides)


def _read_import(reader: Reader, types: list[str]) -> Import:
    module, name, kind = reader.name(), reader.name(), KINDS[reader.byte()]
    signature = ""
    if kind == "function":
        signature = types[reader.unsigned()]
    elif kind == "global":
        reader.take(2)  # value type, mutability
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
