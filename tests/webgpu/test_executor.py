"""Tests when the executor submits commands, and how it moves bytes, with a fake device that only records calls."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest
from recording import RecordingDevice, opened

from lanewise.errors import ArgumentError, BackendError
from lanewise.webgpu.device import PARAMETER_BYTES, Dispatch
from lanewise.webgpu.executor import WebGpuExecutor

BATCH = 64  # number of recorded commands that triggers a submission
LAYOUT = {"ndim": 1, "inner": 0, "shape": [4], "strides": [[4], [4]]}


@pytest.fixture
def executor(device: RecordingDevice, tmp_path: Path) -> WebGpuExecutor:
    return opened(device, tmp_path)


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
    operands = [(executor.allocate(16), 0) for _ in range(4)]
    out = (executor.allocate(16), 0)

    def launch(*indices: int) -> int:
        device.bound.clear()
        for index in indices:
            executor.launch("same_float32", "elementwise", LAYOUT, [operands[index]], [out], [])
        return len(device.bound)

    assert launch(0, 1, 2, 0, 1, 2) == 3
    assert len(device.pipelines) == 1
    assert launch(3, 3, 0) == 2  # binding operand 3 discards all three bind groups, so operand 0 needs a new one


def test_thousands_of_bind_groups_are_kept(executor: WebGpuExecutor, device: RecordingDevice) -> None:
    limit = 4096
    operands = [(executor.allocate(16), 0) for _ in range(limit + 1)]
    out = (executor.allocate(16), 0)
    for index in [*range(limit), 0]:
        executor.launch("same_float32", "elementwise", LAYOUT, [operands[index]], [out], [])
    assert len(device.bound) == limit
    for index in (limit, 0):
        executor.launch("same_float32", "elementwise", LAYOUT, [operands[index]], [out], [])
    assert len(device.bound) == limit + 2


def test_commands_are_submitted_when_there_are_many(executor: WebGpuExecutor, device: RecordingDevice) -> None:
    _launch(executor, BATCH - 1)
    assert not device.submitted
    _launch(executor)
    ((commands, parameters),) = device.submitted
    assert [command.slot for command in commands if isinstance(command, Dispatch)] == list(range(BATCH))
    assert len(parameters) == BATCH * PARAMETER_BYTES
    _launch(executor, BATCH - 1)
    assert len(device.submitted) == 1
    _launch(executor)
    assert [command.slot for command in device.submitted[1][0]] == list(range(BATCH))


def test_reading_nothing_leaves_the_device_alone(executor: WebGpuExecutor, device: RecordingDevice) -> None:
    _launch(executor)
    executor.download(executor.allocate(0), memoryview(bytearray()))
    assert (device.submitted, device.calls) == ([], [])
    executor.download(executor.allocate(1), memoryview(bytearray(1)))
    assert device.calls == ["submit", "read"]


@pytest.mark.parametrize(
    ("data", "written"),
    [
        (b"", []),
        (b"abc", [(0, b"abc\0")]),
        (b"abcd", [(0, b"abcd")]),
        (b"abcdefghi", [(0, b"abcdefgh"), (8, b"i\0\0\0")]),
        (b"abcd" * 5, [(0, b"abcd" * 5)]),
        (array("h", [1, 2, 3]), [(0, b"\1\0\2\0"), (4, b"\3\0\0\0")]),
    ],
)
def test_bytes_are_uploaded_in_whole_words(
    executor: WebGpuExecutor, device: RecordingDevice, data: bytes | array[int], written: list[tuple[int, bytes]]
) -> None:
    executor.upload(executor.allocate(64), memoryview(data))
    assert device.written == written


@pytest.mark.parametrize(("size", "words"), [(1, 1), (3, 1), (4, 1), (5, 2), (6, 2), (8, 2), (12, 3), (13, 4)])
def test_bytes_are_downloaded_in_whole_words(
    executor: WebGpuExecutor, device: RecordingDevice, size: int, words: int
) -> None:
    """A multiple of 4 bytes is read directly into the caller's memory."""
    result = bytearray(size)
    executor.download(executor.allocate(64), memoryview(result))
    assert result == bytes(range(size))
    ((offset, nbytes, into),) = device.read_into
    assert (offset, nbytes) == (0, 4 * words)
    assert (into is result) == (size % 4 == 0)


@pytest.mark.parametrize("length", [2, 3])
def test_items_of_any_size_are_downloaded(executor: WebGpuExecutor, length: int) -> None:
    result = array("h", [0] * length)
    executor.download(executor.allocate(64), memoryview(result))
    assert result.tobytes() == bytes(range(2 * length))


def test_an_upload_submits_only_work_that_uses_its_buffer(executor: WebGpuExecutor, device: RecordingDevice) -> None:
    first, second, other = ((executor.allocate(16), 0) for _ in range(3))
    data = memoryview(bytes(16))
    executor.launch("same_float32", "elementwise", LAYOUT, [first], [second], [])
    executor.upload(other[0], data)
    executor.upload(first[0], data)
    executor.launch("same_float32", "elementwise", LAYOUT, [other], [second], [])
    executor.upload(first[0], data)
    executor.upload(second[0], data)
    assert device.calls == ["write", "submit", "write", "write", "submit", "write"]


def test_commands_are_submitted_before_memory_is_freed(
    device: RecordingDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bind groups are discarded too: they would keep freed buffers alive, and a bind group of a freed buffer could be
    reused for a new buffer that has the same id."""
    monkeypatch.setenv("LANEWISE_WGPU_MEMORY", "1024")
    executor = opened(device, tmp_path)
    kept = [(executor.allocate(16), 0) for _ in range(2)]
    executor.launch("same_float32", "elementwise", LAYOUT, kept[:1], kept[1:], [])
    executor.allocate(256).release()
    executor.allocate(512)
    assert device.calls == ["submit", "destroy"]
    executor.launch("same_float32", "elementwise", LAYOUT, kept[:1], kept[1:], [])
    assert len(device.bound) == 2


@pytest.mark.parametrize("inputs", [0, 2])
def test_the_number_of_inputs_is_the_kernels(executor: WebGpuExecutor, device: RecordingDevice, inputs: int) -> None:
    with pytest.raises(ArgumentError, match=f"^same_float32: expected 1 inputs, got {inputs}$"):
        _launch(executor, inputs=inputs)
    executor.flush()
    assert not device.submitted


def test_a_kind_that_no_shader_has(executor: WebGpuExecutor) -> None:
    with pytest.raises(BackendError, match=r"same_float32: wgpu does not support kernels of kind scan; .* \.to\(\)"):
        _launch(executor, kind="scan")
