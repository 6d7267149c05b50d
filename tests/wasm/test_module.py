"""Tests the parser of WebAssembly modules on a handwritten module and on malformed ones."""

from __future__ import annotations

import pytest

from wasm.module import Import, MalformedError, read


def vector(*items: bytes) -> bytes:
    return bytes([len(items)]) + b"".join(items)


def name(text: str) -> bytes:
    return bytes([len(text)]) + text.encode()


def section(number: int, content: bytes) -> bytes:
    return bytes([number, len(content)]) + content


MAGIC = b"\0asm\x01\0\0\0"
MODULE = (
    MAGIC
    + section(0, name("dylink.0") + b"\x01\x04\x40\x03\x00\x00" + b"\x02" + bytes([7]) + vector(name("libm.")))
    + section(1, vector(b"\x60" + vector(b"\x7f", b"\x7e") + vector(b"\x7d"), b"\x60\x00\x00"))
    + section(
        2,
        vector(
            name("env") + name("call") + b"\x00\x00",
            name("env") + name("memory") + b"\x02\x01\x01\x02",
            name("env") + name("table") + b"\x01\x70\x00\x01",
            name("GOT.mem") + name("data") + b"\x03\x7f\x01",
        ),
    )
    + section(3, vector(b"\x01"))
    + section(6, b"\x00")
    + section(7, vector(name("init") + b"\x00\x01", name("table") + b"\x03\x00"))
)


def test_finds_imports_exports_and_dynamic_linking() -> None:
    found = read(MODULE)
    assert found.imports == [
        Import("env", "call", "function", "i32,i64->f32"),
        Import("env", "memory", "memory", ""),
        Import("env", "table", "table", ""),
        Import("GOT.mem", "data", "global", ""),
    ]
    assert found.exports == {"init": "function", "table": "global"}
    assert found.signatures == {"init": "->"}
    assert found.memory_bytes == 64
    assert found.needed == ["libm."]


@pytest.mark.parametrize("length", range(len(MODULE)))
def test_a_truncated_module_is_refused_or_ends_between_sections(length: int) -> None:
    try:
        found = read(MODULE[:length])
    except MalformedError:
        return
    assert found != read(MODULE)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\x7fELF" + bytes(60), id="another format"),
        pytest.param(b"\0asm\x0d\0\x01\0", id="a component"),
        pytest.param(MAGIC + b"\x01\xff\xff\xff\xff\xff\x01", id="integer too long"),
        pytest.param(MAGIC + section(1, vector(b"\x5f\x00")), id="a struct type"),
        pytest.param(MAGIC + section(1, vector(b"\x60" + vector(b"\x01") + b"\x00")), id="unknown value type"),
        pytest.param(MAGIC + section(2, vector(name("a") + name("b") + b"\x09\x00")), id="unknown import kind"),
        pytest.param(MAGIC + section(2, vector(name("a") + name("b") + b"\x00\x05")), id="no such type"),
        pytest.param(MAGIC + section(2, vector(b"\x01\xff" + name("b") + b"\x00\x00")), id="name is not UTF-8"),
    ],
)
def test_refuses_what_is_not_a_module(data: bytes) -> None:
    with pytest.raises(MalformedError):
        read(data)
