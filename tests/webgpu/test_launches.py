"""Tests, with a fake device, what a launch records for each kind of kernel: entry points, constants, accesses, buffers,
numbers of workgroups and parameters. Tests of results cannot check the number of workgroups: shaders loop until the
work is done, so any number computes the same results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from recording import RecordingDevice, constant, decode, opened

from lanewise.errors import DeviceError
from lanewise.webgpu.buffers import DeviceBuffer
from lanewise.webgpu.device import Copy, Dispatch
from lanewise.webgpu.executor import WebGpuExecutor

MOST = RecordingDevice.limits.groups  # maximum number of workgroups in a dispatch
READ, WRITE = "read", "read_write"

Operand = tuple[DeviceBuffer, int]


@pytest.fixture
def executor(device: RecordingDevice, tmp_path: Path) -> WebGpuExecutor:
    return opened(device, tmp_path)


def _strided(shape: Sequence[int], *strides: Sequence[int], inner: int = 0) -> dict[str, Any]:
    """Returns a layout. Like the C struct, it has five rows of strides, of which the last ones are unused."""
    rows = [*(list(each) for each in strides), *[[-7] * len(shape)] * 5][:5]
    return {"ndim": len(shape), "inner": inner, "shape": list(shape), "strides": rows}


def _vector(count: int, operands: int) -> dict[str, Any]:
    return _strided([count], *[[4]] * operands)


def _rows(count: int, length: int, inputs: int = 1) -> dict[str, Any]:
    """Returns the layout of a reduction of rows."""
    return _strided([count, length], *[[4 * length, 4]] * inputs, [4, 0], inner=1)


def _matrix(batch: int, m: int, n: int, operands: int = 3) -> dict[str, Any]:
    layout = {"batch_ndim": 1, "batch_shape": [batch], "batch_strides": [[4]] * operands, "m": m, "n": n, "k": 1}
    return layout | {"row_strides": [4] * operands, "column_strides": [4] * operands}


def _buffers(executor: WebGpuExecutor, count: int) -> list[Operand]:
    """Returns operands, each in a buffer of its own, at byte offsets 4, 8, 12 and so on."""
    return [(executor.allocate(16), 4 * index + 4) for index in range(count)]


def _launch(
    executor: WebGpuExecutor,
    device: RecordingDevice,
    kernel: str,
    kind: str,
    layout: Mapping[str, Any],
    operands: Sequence[tuple[DeviceBuffer | None, int]],
) -> tuple[list[Any], bytes]:
    """Launches a kernel; the last operand is its result. Returns the commands and parameters that are submitted."""
    executor.launch(kernel, kind, layout, operands[:-1], operands[-1:], [])
    executor.flush()
    ((commands, parameters),) = device.submitted or [([], b"")]
    return commands, parameters


def _handles(operands: Sequence[Operand | None]) -> list[object]:
    return [operand[0].handle if operand else None for operand in operands]


def _check(command: Any, entry: str, access: Sequence[str], handles: list[object], groups: tuple[int, ...]) -> None:
    """Asserts what one command dispatches."""
    assert isinstance(command, Dispatch)
    assert (command.pipeline.entry, list(command.pipeline.access)) == (entry, list(access))
    assert (command.bindings, command.groups) == (handles, groups)


@pytest.mark.parametrize(("bits", "per_invocation"), [("bits8", 4), ("bits16", 2), ("float32", 1), ("bits64", 1)])
@pytest.mark.parametrize("groups", [1, 2, MOST])
@pytest.mark.parametrize("extra", [0, 1])
@pytest.mark.parametrize("kind", ["elementwise", "cast"])
def test_an_elementwise_kernel_has_an_invocation_per_word(
    executor: WebGpuExecutor,
    device: RecordingDevice,
    bits: str,
    per_invocation: int,
    groups: int,
    extra: int,
    kind: str,
) -> None:
    """An invocation computes the elements of one word, or one element of 64 bits."""
    group = constant("elementwise_packed" if per_invocation > 1 else "elementwise", "lw_group")
    operands = _buffers(executor, 2)
    layout = _vector(groups * group * per_invocation + extra, 2)
    ((command,), parameters) = _launch(executor, device, f"same_{bits}", kind, layout, operands)
    _check(command, "main", [READ, WRITE], _handles(operands), (min(groups + extra, MOST), 1, 1))
    assert command.pipeline[:2] == (f"same_{bits}", f"module same_{bits}")
    fields = decode("LwLayout", parameters)
    assert (fields["offsets"], fields["strides"][:4]) == ([4, 8, 0, 0], [4, 4, 0, 0])


def test_an_elementwise_pipeline_is_specialized_for_the_number_of_dimensions(
    executor: WebGpuExecutor, device: RecordingDevice
) -> None:
    operands = _buffers(executor, 2)
    for ndim in (0, 1, 3, 1):
        layout = _strided([2] * ndim, [4] * ndim, [4] * ndim)
        executor.launch("same_float32", "elementwise", layout, operands[:1], operands[1:], [])
    assert [pipeline.constants for pipeline in device.pipelines] == [{"lw_ndim": each} for each in (0, 1, 3)]


@pytest.mark.parametrize(("stride", "offset", "packed"), [(1, 4, 1), (2, 4, 0), (1, 2, 0)])
def test_words_are_stored_whole_where_the_result_fills_them(
    executor: WebGpuExecutor, device: RecordingDevice, stride: int, offset: int, packed: int
) -> None:
    (source, result) = _buffers(executor, 2)
    layout = _strided([9], [3], [stride])
    operands = [source, (result[0], offset)]
    _, parameters = _launch(executor, device, "same_bits8", "elementwise", layout, operands)
    assert decode("LwLayout", parameters)["packed"] == packed


@pytest.mark.parametrize(
    ("kernel", "offset", "strides", "in_place"),
    [
        ("negative_float32", 4, ([12, 4], [12, 4]), True),
        ("add_float32", 4, ([12, 4], [0, 4], [12, 4]), True),
        ("negative_float32", 8, ([12, 4], [12, 4]), False),
        ("negative_float32", 4, ([12, 4], [4, 12]), False),
        ("add_float32", 4, ([4, 12], [12, 4], [12, 4]), False),
        ("same_float32", 4, ([12, 4], [12, 4]), False),
    ],
)
def test_a_result_over_the_first_input_is_computed_in_place_or_from_a_copy(
    executor: WebGpuExecutor,
    device: RecordingDevice,
    kernel: str,
    offset: int,
    strides: tuple[list[int], ...],
    in_place: bool,
) -> None:
    first, *others = _buffers(executor, len(strides) - 1)
    operands = [first, *others, (first[0], offset)]
    commands, parameters = _launch(executor, device, kernel, "elementwise", _strided([3, 3], *strides), operands)
    handles = _handles(operands)
    reads = [READ] * len(others)
    assert decode("LwLayout", parameters)["offsets"][: len(operands)] == [at for _, at in operands]
    if in_place:
        (command,) = commands
        _check(command, "in_place", ["", *reads, WRITE], [None, *handles[1:]], (1, 1, 1))
    else:
        copy, command = commands
        assert copy == Copy(handles[0], copy.target, device.sizes[copy.target])
        _check(command, "main", [READ, *reads, WRITE], [copy.target, *handles[1:]], (1, 1, 1))


def test_an_input_in_place_is_copied_for_the_other_input(executor: WebGpuExecutor, device: RecordingDevice) -> None:
    (buffer,) = _buffers(executor, 1)
    (copy, command), _ = _launch(executor, device, "add_float32", "elementwise", _vector(9, 3), [buffer] * 3)
    handle = buffer[0].handle
    assert copy.source is handle
    _check(command, "in_place", ["", READ, WRITE], [None, copy.target, handle], (1, 1, 1))


@pytest.mark.parametrize("shared", [0, 1])
@pytest.mark.parametrize(
    ("kernel", "kind", "layout"),
    [("vecdot_float32", "reduction", _rows(3, 5, 2)), ("matmul_float32", "matrix", _matrix(1, 3, 5))],
)
def test_reductions_and_products_copy_an_input_that_is_the_result_too(
    executor: WebGpuExecutor, device: RecordingDevice, kernel: str, kind: str, layout: dict[str, Any], shared: int
) -> None:
    operands = _buffers(executor, 3)
    operands[2] = operands[shared]
    (copy, command), _ = _launch(executor, device, kernel, kind, layout, operands)
    expected = _handles(operands)
    expected[shared] = copy.target
    assert copy.source is operands[2][0].handle and copy.target is not copy.source
    assert command.bindings[:3] == expected


def test_a_copy_without_its_dispatch_does_not_overwrite_an_upload(
    executor: WebGpuExecutor, device: RecordingDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a shader does not compile, the copy of its input, recorded before, still runs at the next submission. Another
    tensor may then own the buffer that the copy writes to, so an upload to that buffer must submit the copy first."""

    def fail(*_: Any) -> None:
        raise DeviceError("compiling")

    monkeypatch.setattr(device, "pipeline", fail)
    (buffer,) = _buffers(executor, 1)
    with pytest.raises(DeviceError, match="compiling"):
        executor.launch("same_float32", "elementwise", _vector(4, 2), [buffer], [buffer], [])
    others = [executor.allocate(16) for _ in range(2)]  # one of them is the target of the copy
    for other in others:
        executor.upload(other, memoryview(bytes(16)))
    ((copy,), _) = device.submitted[0]
    assert copy.target in {other.handle for other in others}
    assert device.calls.index("submit") == [other.handle for other in others].index(copy.target)


@pytest.mark.parametrize("inputs", [1, 2])
@pytest.mark.parametrize("kind", ["reduction", "index_reduction"])
@pytest.mark.parametrize("length", [0, 1, 4096])
@pytest.mark.parametrize("count", [1, 30, MOST, MOST + 1])
def test_a_reduction_of_one_block_has_a_workgroup_per_row(
    executor: WebGpuExecutor, device: RecordingDevice, inputs: int, kind: str, length: int, count: int
) -> None:
    operands = _buffers(executor, inputs + 1)
    kernel = "sum_float32" if inputs == 1 else "vecdot_float32"
    ((command,), parameters) = _launch(executor, device, kernel, kind, _rows(count, length, inputs), operands)
    access = [*[READ] * inputs, WRITE, ""]
    _check(command, "main", access, [*_handles(operands), None], (min(count, MOST), 1, 1))
    assert command.pipeline.constants == {}
    fields = decode("LwLayout", parameters)
    assert [fields[name] for name in ("count", "packed", "outer", "ndim", "length")] == [count, 0, 1, 2, length]
    assert fields["offsets"] == [*range(4, 4 * inputs + 5, 4), *[0] * (3 - inputs)]
    padding = [0] * (3 - inputs)
    assert fields["strides"][:8] == [*[4 * length] * inputs, 4, *padding, *[4] * inputs, 0, *padding]


@pytest.mark.parametrize("inputs", [1, 2])
@pytest.mark.parametrize(("count", "groups"), [(1, 3), (30, 90), (MOST, MOST), (MOST + 1, MOST)])
def test_a_reduction_of_three_blocks_has_a_workgroup_per_block(
    executor: WebGpuExecutor, device: RecordingDevice, inputs: int, count: int, groups: int
) -> None:
    operands = _buffers(executor, inputs + 1)
    kernel = "sum_float32" if inputs == 1 else "vecdot_float32"
    layout = _rows(count, 2 * 4096 + 1, inputs)
    ((blocks, combine), parameters) = _launch(executor, device, kernel, "reduction", layout, operands)
    *sources, result = _handles(operands)
    scratch = blocks.bindings[-1]
    assert device.sizes[scratch] >= count * 3 * 24
    _check(blocks, "blocks", [*[READ] * inputs, "", WRITE], [*sources, None, scratch], (groups, 1, 1))
    last = [*[None] * inputs, result, scratch]
    _check(combine, "combine", [*[""] * inputs, WRITE, WRITE], last, (min(count, MOST), 1, 1))
    assert parameters[:256] == parameters[256:]
    assert decode("LwLayout", parameters[:256])["blocks"] == 3


def test_the_memory_for_partial_results_is_used_again(executor: WebGpuExecutor, device: RecordingDevice) -> None:
    operands = _buffers(executor, 2)
    for _ in range(3):
        executor.launch("sum_float32", "reduction", _rows(9, 5000), operands[:1], operands[1:], [])
    assert len(device.sizes) == 3


@pytest.mark.parametrize(
    ("m", "n", "batch", "groups"),
    [
        (1, 1, 1, (1, 1, 1)),
        (64, 128, 2, (2, 1, 2)),
        (65, 129, 3, (3, 2, 3)),
        (64 * MOST + 1, 1, MOST, (1, MOST, MOST)),
        (1, 64 * MOST + 1, MOST + 1, (MOST, 1, MOST)),
    ],
)
def test_a_product_has_a_workgroup_per_tile(
    executor: WebGpuExecutor, device: RecordingDevice, m: int, n: int, batch: int, groups: tuple[int, ...]
) -> None:
    assert [4 * constant("matrix", name) for name in ("lw_rows", "lw_columns")] == [64, 64]
    operands = _buffers(executor, 3)
    layout = _matrix(batch, m, n)
    ((command,), parameters) = _launch(executor, device, "matmul_float32", "matrix", layout, operands)
    _check(command, "main", [READ, READ, WRITE], _handles(operands), groups)
    assert command.pipeline.constants == {}
    fields = decode("LwMatrixLayout", parameters)
    assert (fields["offsets"], fields["absent"]) == ([4, 8, 12, 0], 0)


@pytest.mark.parametrize("present", [(True, True, False), (False, True, True), (False, True, False)])
def test_absent_inputs_are_flagged_and_bound_to_a_present_one(
    executor: WebGpuExecutor, device: RecordingDevice, present: tuple[bool, ...]
) -> None:
    operands = _buffers(executor, 4)
    inputs = [each if here else (None, 99) for each, here in zip(operands, present, strict=False)]
    layout = _matrix(1, 2, 2, operands=4)
    ((command,), parameters) = _launch(executor, device, "linear_float32", "matrix", layout, [*inputs, operands[3]])
    first = operands[present.index(True)]
    bound = [each if here else (first[0], 0) for each, here in zip(operands, present, strict=False)] + [operands[3]]
    _check(command, "main", [READ, READ, READ, WRITE], _handles(bound), (1, 1, 1))
    fields = decode("LwMatrixLayout", parameters)
    assert fields["offsets"] == [at for _, at in bound]
    assert fields["absent"] == sum(2**index for index, here in enumerate(present) if not here)


@pytest.mark.parametrize(
    ("kernel", "kind", "layout"),
    [
        ("same_float32", "elementwise", _strided([3, 0], [4, 4], [4, 4])),
        ("sum_float32", "reduction", _rows(0, 5)),
        ("sum_float32", "reduction", _rows(0, 5000)),
        ("matmul_float32", "matrix", _matrix(0, 2, 2)),
        ("matmul_float32", "matrix", _matrix(2, 0, 2)),
        ("matmul_float32", "matrix", _matrix(2, 2, 0)),
    ],
)
def test_a_result_without_elements_needs_no_commands(
    executor: WebGpuExecutor, device: RecordingDevice, kernel: str, kind: str, layout: dict[str, Any]
) -> None:
    operands = _buffers(executor, 3 if kind == "matrix" else 2)
    assert _launch(executor, device, kernel, kind, layout, operands) == ([], b"")
