"""Tests which calls the executor makes to a device, with a fake one that only records them. Needs no adapter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lanewise.devices import DeviceInfo
from lanewise.errors import ArgumentError, BackendError, ShapeError
from lanewise.webgpu.device import PARAMETER_BYTES, Dispatch, Limits
from lanewise.webgpu.executor import BATCH, WebGpuExecutor
from lanewise.webgpu.layouts import MAX_ELEMENTS, Strided, matrix_parameters

LAYOUT = {"ndim": 1, "inner": 0, "shape": [4], "strides": [[4], [4]]}


class RecordingDevice:
    """A fake device, which computes nothing. It records submissions, and the order of reads, writes and frees."""

    limits = Limits(buffer=2**30, binding=2**30, groups=65_535)

    def __init__(self) -> None:
        self.submitted: list[tuple[list[Any], bytes]] = []
        self.calls: list[str] = []

    def buffer(self, size: int) -> object:
        return object()

    def destroy(self, buffer: object) -> None:
        self.calls.append("destroy")

    def read(self, buffer: object, offset: int, into: memoryview) -> None:
        self.calls.append("read")

    def write(self, buffer: object, offset: int, data: memoryview) -> None:
        self.calls.append("write")

    def pipeline(self, *arguments: Any) -> object:
        return object()

    def bind(self, *arguments: Any) -> object:
        return object()

    def submit(self, commands: list[Any], parameters: bytes) -> None:
        self.submitted.append((commands, parameters))


@pytest.fixture
def device() -> RecordingDevice:
    return RecordingDevice()


@pytest.fixture
def executor(device: RecordingDevice, tmp_path: Path) -> WebGpuExecutor:
    facts = {"kernel": "same_float32", "inputs": 1, "item_bytes": 4, "in_place": False, "scratch_bytes": 0, "uses": []}
    (tmp_path / "shaders.wgsl").write_text(f"// {json.dumps(facts)}\nmodule")
    return WebGpuExecutor(device, DeviceInfo(0, "fake"), tmp_path / "shaders.wgsl")


def _launch(executor: WebGpuExecutor, times: int = 1, inputs: int = 1, kind: str = "elementwise") -> None:
    operands = [(executor.allocate(16), 0) for _ in range(inputs)]
    out = (executor.allocate(16), 0)
    for _ in range(times):
        executor.launch("same_float32", kind, LAYOUT, operands, [out], [])


def test_bind_groups_are_reused_up_to_a_limit(
    executor: WebGpuExecutor, device: RecordingDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bind group keeps its buffers in memory, so the executor keeps a limited number of bind groups."""
    monkeypatch.setattr("lanewise.webgpu.executor.BINDINGS", 3)
    bound: list[object] = []
    monkeypatch.setattr(device, "bind", lambda *arguments: bound.append(arguments) or object())
    operands = [(executor.allocate(16), 0) for _ in range(4)]
    out = (executor.allocate(16), 0)

    def launch(*indices: int) -> int:
        bound.clear()
        for index in indices:
            executor.launch("same_float32", "elementwise", LAYOUT, [operands[index]], [out], [])
        return len(bound)

    assert launch(0, 1, 2, 0, 1, 2) == 3
    assert launch(3, 3, 0) == 2  # binding operand 3 discards the three bind groups before, so operand 0 is bound again


def test_commands_are_submitted_when_there_are_many(executor: WebGpuExecutor, device: RecordingDevice) -> None:
    _launch(executor, BATCH - 1)
    assert not device.submitted
    _launch(executor)
    ((commands, parameters),) = device.submitted
    assert [command.slot for command in commands if isinstance(command, Dispatch)] == list(range(BATCH))
    assert len(parameters) == BATCH * PARAMETER_BYTES
    _launch(executor, BATCH - 1)
    assert len(device.submitted) == 1


def test_reading_nothing_leaves_the_device_alone(executor: WebGpuExecutor, device: RecordingDevice) -> None:
    _launch(executor)
    executor.download(executor.allocate(0), memoryview(bytearray()))
    assert (device.submitted, device.calls) == ([], [])
    executor.download(executor.allocate(1), memoryview(bytearray(1)))
    assert (len(device.submitted), device.calls) == (1, ["read"])


@pytest.mark.parametrize("inputs", [0, 2])
def test_the_number_of_inputs_is_the_kernels(executor: WebGpuExecutor, device: RecordingDevice, inputs: int) -> None:
    with pytest.raises(ArgumentError, match=f"^same_float32: expected 1 inputs, got {inputs}$"):
        _launch(executor, inputs=inputs)
    executor.flush()
    assert not device.submitted


def test_a_kind_that_no_shader_has(executor: WebGpuExecutor) -> None:
    with pytest.raises(BackendError, match=r"same_float32: wgpu does not support kernels of kind scan; .* \.to\(\)"):
        _launch(executor, kind="scan")


@pytest.mark.parametrize(("shape", "inner"), [([MAX_ELEMENTS], 0), ([1, MAX_ELEMENTS], 1)])
def test_elements_that_32_bits_count(shape: list[int], inner: int) -> None:
    layout = {"ndim": len(shape), "inner": inner, "shape": shape, "strides": [[4] * len(shape)] * 2}
    strided = Strided("same_float32", layout, 2)
    assert strided.count * strided.length == MAX_ELEMENTS
    layout["shape"] = [*shape[:-1], MAX_ELEMENTS + 1]
    with pytest.raises(ShapeError, match="expected at most 2147483647 elements on wgpu, got 2147483648"):
        Strided("same_float32", layout, 2)


def _products(batch: int, m: int, n: int, k: int) -> int:
    strides = [4, 4, 4]
    layout = {"batch_ndim": 1, "batch_shape": [batch], "batch_strides": [[4]] * 3, "m": m, "n": n, "k": k}
    layout |= {"row_strides": strides, "column_strides": strides}
    return matrix_parameters("matmul_float32", layout, [0, 0, 0], [], 0)[1]


@pytest.mark.parametrize(
    ("fits", "exceeds"),
    [
        ((MAX_ELEMENTS, 1, 1, 1), (2**31, 1, 1, 1)),
        ((1, MAX_ELEMENTS, 1, 0), (1, 2**16, 2**15, 1)),
        ((1, 1, 0, MAX_ELEMENTS), (1, 2**16, 1, 2**15)),
        ((1, 0, 1, MAX_ELEMENTS), (1, 1, 2**16, 2**15)),
        ((1, 2**15, 1, 2**15), (2, 2**15, 1, 2**15)),
        ((1, 1, 2**15, 2**15), (2, 1, 2**15, 2**15)),
        ((1, 2**15, 2**15, 1), (2, 2**15, 2**15, 1)),
    ],
)
def test_elements_of_each_operand_that_32_bits_count(fits: tuple[int, ...], exceeds: tuple[int, ...]) -> None:
    assert _products(*fits) == fits[0]
    with pytest.raises(ShapeError, match=r"^matmul_float32: expected at most 2147483647 elements per operand"):
        _products(*exceeds)
