"""A fake device of WebGPU, which only records what the extension asks for. It needs no adapter and computes nothing,
but keeps what is written to its buffers."""

from __future__ import annotations

import re
import struct
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from harness import on_gpu
from openers import open_player

import lanewise as lw
from lanewise import _ext
from lanewise.errors import OutOfMemoryError
from lanewise.webgpu import shaders

ROOT = Path(__file__).resolve().parents[2]
KINDS = ROOT / "webgpu" / "kinds"
STRUCTS = "".join(path.read_text(encoding="utf-8") for path in sorted(KINDS.rglob("*.wgsl")))
DISPATCH = struct.Struct("<16I")
PARAMETER_BYTES = 256
BATCH = 64  # number of dispatches that are handed over at once
GROUPS = 100  # maximum number of workgroups along each dimension of a dispatch
# The names of the entry points, in the order of lw_entry.
*_entries, _first_of_tiles = re.findall(
    r"\bLW_ENTRY_(\w+)", (ROOT / "native/extension/webgpu/recorder.h").read_text(encoding="utf-8")
)
assert _first_of_tiles == "MATRIX_TILES"
ENTRIES = (
    *map(str.lower, _entries),
    *(f"{stem}_{tile}" for tile in _ext.tile_names() for stem in ("tiles", "tile_parts")),
)
OWN, NUMBER, RESULT, ABSENT = range(4)  # where the elements of an input are
Failures = list[tuple[int, str]]


class Dispatch(NamedTuple):
    """One recorded dispatch."""

    kernel: str
    entry: str
    sources: int
    variant: int  # the override of VARIANTS that the kernel has
    groups: tuple[int, ...]
    buffers: tuple[int, ...]  # 8 numbers of buffers; 0 is none
    parameters: bytes

    def source(self, position: int) -> int:
        """Returns where the elements of an input are."""
        return self.sources >> 2 * position & 3

    def fields(self, name: str = "LwLayout") -> dict[str, Any]:
        """Decodes the parameters, which are a struct of webgpu/kinds."""
        return decode(name, self.parameters)


class FakePlayer:
    """Records calls. `answer` is called for each batch and returns the dispatches that fail; it may raise an error."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.lost = ""
        self.is_closed = False
        self.max_rounds: object = 0  # of loops; 0 means no limit
        self.compiles_tiles = True
        self.max_workgroup_bytes: object = 32768
        self.calls: list[tuple[Any, ...]] = []
        self.batches: list[list[Dispatch]] = []
        self.sizes: dict[int, int] = {}  # of the buffers that exist
        self.capacity: float = float("inf")  # bytes; create() raises OutOfMemoryError beyond them
        self.answer: Callable[[list[Dispatch]], Failures] = lambda batch: []
        self._contents: dict[int, bytearray] = {}

    def close(self) -> None:
        self.is_closed = True

    def open(self, groups: int = GROUPS, **limits: int) -> None:
        """Makes this the player of the backend wgpu, with limits as in open_player()."""
        open_player(self, groups, **limits)

    def create(self, number: int, size: int) -> None:
        assert number not in self.sizes and size % 4 == 0
        if sum(self.sizes.values()) + size > self.capacity:
            raise OutOfMemoryError("the fake is full")
        self.calls.append(("create", number, size))
        self.sizes[number] = size

    def destroy(self, number: int) -> None:
        self.calls.append(("destroy", number))
        del self.sizes[number]
        self._contents.pop(number, None)

    def write(self, number: int, offset: int, data: memoryview) -> None:
        assert offset % 4 == 0 == data.nbytes % 4 and offset + data.nbytes <= self.sizes[number]
        self.calls.append(("write", number, offset, bytes(data)))
        self._content(number, offset + data.nbytes)[offset : offset + data.nbytes] = data

    def read(self, number: int, offset: int, into: memoryview) -> None:
        assert offset % 4 == 0 == into.nbytes % 4 and offset + into.nbytes <= self.sizes[number]
        self.calls.append(("read", number, offset, into.nbytes))
        into[:] = self._content(number, offset + into.nbytes)[offset : offset + into.nbytes]

    def play(self, dispatches: bytes, parameters: bytes, _is_read_next: int = 0) -> Failures:
        batch = [
            _decoded(words, parameters[position * PARAMETER_BYTES : (position + 1) * PARAMETER_BYTES])
            for position, words in enumerate(DISPATCH.iter_unpack(dispatches))
        ]
        assert len(parameters) == len(batch) * PARAMETER_BYTES
        assert all(number in self.sizes for dispatch in batch for number in dispatch.buffers if number)
        self.calls.append(("play", len(batch)))
        self.batches.append(batch)
        return self.answer(batch)

    def names(self) -> list[str]:
        """Returns the names of the calls since the last time, and forgets them."""
        names = [name for name, *_ in self.calls]
        self.calls.clear()
        return names

    def placed(self, array: Any, dtype: Any = np.float32) -> tuple[lw.Tensor, int]:
        """Returns a tensor on this device, and the number of its buffer."""
        tensor = on_gpu(array, dtype)
        return tensor, self.calls[-1][1]

    def recorded(self, result: lw.Tensor) -> list[Dispatch]:
        """Hands over what is pending by reading a result, and returns it; the last batch if nothing is pending, because
        the work was so long that it was handed over at once. Asserts that the last dispatch binds the
        result."""
        start = len(self.batches)
        result.tolist()
        dispatches = [dispatch for batch in self.batches[start:] or self.batches[-1:] for dispatch in batch]
        name, number, *_ = [call for call in self.calls if call[0] != "destroy"][-1]
        assert name == "read" and number in dispatches[-1].buffers
        return dispatches

    def _content(self, number: int, size: int) -> bytearray:
        content = self._contents.setdefault(number, bytearray())
        content.extend(bytes(max(size - len(content), 0)))
        return content


def _decoded(words: tuple[int, ...], parameters: bytes) -> Dispatch:
    kernel, entry, sources, variant, x, y, z, unused, *buffers = words
    assert unused == 0
    return Dispatch(
        shaders.load(kernel).kernel, ENTRIES[entry], sources, variant, (x, y, z), tuple(buffers), parameters
    )


def constant(kind: str, name: str) -> int:
    """Returns the value of a WGSL constant in a file of webgpu/kinds, or the default value of an `override`."""
    source = next(KINDS.rglob(f"{kind}.wgsl")).read_text(encoding="utf-8")
    return int(re.search(rf"^(?:override {name}: u32|const {name}) = (\d+)u;", source, re.MULTILINE)[1])


def decode(name: str, content: bytes) -> Mapping[str, Any]:
    """Decodes a WGSL struct of webgpu/kinds by its declaration: scalars to integers, vectors and arrays to lists of
    their words. Members are aligned as WGSL prescribes."""
    body = re.search(rf"^struct {name} {{$(.*?)^}}", STRUCTS, re.MULTILINE | re.DOTALL)[1]
    fields: dict[str, Any] = {}
    at = 0
    members = re.findall(r"^ +(\w+): (?:array<)?(u32|i32|vec2<u32>|vec4<u32>)(?:, (\d+)>)?,", body, re.MULTILINE)
    assert len(members) == sum(1 for line in body.splitlines() if line.split("//")[0].strip())
    for member, kind, length in members:
        words = int(kind[3]) if kind.startswith("vec") else 1
        at += -at % (4 * words)
        count = words * int(length or 1)
        values = struct.unpack_from(f"<{count}{'i' if kind == 'i32' else 'I'}", content, at)
        fields[member] = list(values) if count > 1 else values[0]
        at += 4 * count
    assert not any(content[at:]), "the bytes after the last member are not 0"
    return fields
