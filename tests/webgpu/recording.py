"""A fake device, which only records calls, for tests of the executor that need no adapter."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lanewise.devices import DeviceInfo
from lanewise.webgpu.device import Limits
from lanewise.webgpu.executor import WebGpuExecutor

KINDS = Path(__file__).resolve().parents[2] / "webgpu" / "kinds"

# Made-up kernels: the number of inputs, the bytes of an element, whether there is an entry point "in_place", and the
# bytes of the partial result of a block.
KERNELS = {
    "same_float32": (1, 4, False, 0),
    "same_bits8": (1, 1, False, 0),
    "same_bits16": (1, 2, False, 0),
    "same_bits64": (1, 8, False, 0),
    "negative_float32": (1, 4, True, 0),
    "add_float32": (2, 4, True, 0),
    "sum_float32": (1, 4, False, 24),
    "vecdot_float32": (2, 4, False, 24),
    "matmul_float32": (2, 4, False, 0),
    "linear_float32": (3, 4, False, 0),
}


class Pipeline(NamedTuple):
    """The arguments with which a pipeline was created."""

    label: str
    source: str
    entry: str
    access: Sequence[str]
    constants: Mapping[str, float]


class RecordingDevice:
    """A fake device that computes nothing. Records arguments and the order of submissions, reads, writes and frees."""

    limits = Limits(buffer=2**30, binding=2**30, groups=100)

    def __init__(self) -> None:
        self.submitted: list[tuple[list[Any], bytes]] = []
        self.calls: list[str] = []
        self.written: list[tuple[int, bytes]] = []  # offset and content
        self.read_into: list[tuple[int, int, object]] = []  # offset, number of bytes, and the object they are read into
        self.bound: list[list[object]] = []  # buffers of each bind group
        self.pipelines: list[Pipeline] = []
        self.sizes: dict[object, int] = {}  # size of each buffer

    def buffer(self, size: int) -> object:
        handle = object()
        self.sizes[handle] = size
        return handle

    def destroy(self, buffer: object) -> None:
        self.calls.append("destroy")

    def read(self, buffer: object, offset: int, into: memoryview) -> None:
        self.calls.append("read")
        self.read_into.append((offset, into.nbytes, into.obj))
        into[:] = bytes(range(into.nbytes))

    def write(self, buffer: object, offset: int, data: memoryview) -> None:
        self.calls.append("write")
        self.written.append((offset, bytes(data)))

    def pipeline(self, *arguments: Any) -> Pipeline:
        self.pipelines.append(Pipeline(*arguments))
        return self.pipelines[-1]

    def bind(self, pipeline: Pipeline, buffers: list[object]) -> list[object]:
        self.bound.append(buffers)
        return buffers

    def submit(self, commands: list[Any], parameters: bytes) -> None:
        self.calls.append("submit")
        self.submitted.append((commands, parameters))


def opened(device: RecordingDevice, folder: Path) -> WebGpuExecutor:
    """Writes a shader file with KERNELS into the folder, and returns an executor on the device that uses it."""
    names = ("inputs", "item_bytes", "in_place", "scratch_bytes")
    file = folder / "shaders.wgsl"
    facts = ({"kernel": each, "uses": []} | dict(zip(names, KERNELS[each], strict=True)) for each in KERNELS)
    file.write_text("".join(f"// {json.dumps(each)}\nmodule {each['kernel']}" for each in facts))
    return WebGpuExecutor(device, DeviceInfo(0, "fake"), file)


def constant(kind: str, name: str) -> int:
    """Returns the value of a WGSL constant in a file of webgpu/kinds, or the default value of an `override`."""
    source = (KINDS / f"{kind}.wgsl").read_text(encoding="utf-8")
    return int(re.search(rf"^(?:override {name}: u32|const {name}) = (\d+)u;", source, re.MULTILINE)[1])


def decode(name: str, content: bytes) -> dict[str, Any]:
    """Decodes a WGSL struct of webgpu/kinds: scalars to integers, vectors and arrays to lists of their words."""
    sources = "".join((KINDS / f"{kind}.wgsl").read_text(encoding="utf-8") for kind in ("layout", "matrix"))
    body = re.search(rf"^struct {name} {{$(.*?)^}}", sources, re.MULTILINE | re.DOTALL)[1]
    fields: dict[str, Any] = {}
    at = 0
    for field, vector, length in re.findall(r"^ +(\w+): (?:u32|(vec4<u32>)|array<vec4<u32>, (\d+)>),", body, re.M):
        count = 4 * int(length or 1) if vector or length else 1
        values = struct.unpack_from(f"<{count}I", content, at)
        fields[field] = list(values) if vector or length else values[0]
        at += 4 * count
    assert not any(content[at:]), "the bytes after the last field are not 0"
    return fields
