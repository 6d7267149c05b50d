"""Calls the kernels of a backend's shared library directly, through lanewise.cffi, on memory that tests allocate."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from generator import layouts
from generator.schema import Contract
from oracle_file import Case

from lanewise.cffi import ffi, lib

OK, INTERRUPTED, NO_MEMORY, BAD_INDEX = (
    ffi.typeof("lw_status").relements[f"LW_{name}"] for name in ("OK", "INTERRUPTED", "NO_MEMORY", "BAD_INDEX")
)
POISON = 0xA5
SCRATCH = 0xFF  # fills scratch memory with NaN, which spreads to any result that depends on uninitialized memory
MARGIN = 64  # bytes before and after an array, filled so that a write to them is noticed


@dataclass
class Placed:
    """An array, and the memory that contains it. place() fills the bytes around the elements with POISON."""

    memory: np.ndarray  # all bytes, including the surroundings
    array: np.ndarray  # a view of some bytes of `memory`

    @property
    def pointer(self) -> Any:
        return ffi.cast("void *", self.array.__array_interface__["data"][0])

    @property
    def place(self) -> layouts.Operand:
        return layouts.Operand(self.array.shape, self.array.strides)

    def surroundings(self) -> np.ndarray:
        """Returns a copy of `memory` with the array overwritten by poison. All bytes of the copy are poison, unless a
        kernel wrote outside the array."""
        copy = self.memory.copy()
        start = self.array.__array_interface__["data"][0] - self.memory.__array_interface__["data"][0]
        view = np.lib.stride_tricks.as_strided(
            copy[start:].view(), (*self.array.shape, self.array.itemsize), (*self.array.strides, 1)
        )
        view[...] = POISON
        return copy


def place(shape: Sequence[int], dtype: Any, gaps: bool = False) -> Placed:
    """Allocates an array in poisoned memory, misaligned by a byte. With gaps, its axes are in reverse order in
    memory, every other item along each axis is unused, and some strides are negative."""
    dtype = np.dtype(dtype)
    around = [2 * extent + 1 for extent in reversed(shape)] if gaps else list(shape)
    count = int(np.prod(around, dtype=np.int64)) * dtype.itemsize
    memory = np.full(2 * MARGIN + 1 + count, POISON, np.uint8)
    whole = np.ndarray(around, dtype, buffer=memory.data, offset=MARGIN + 1)
    if gaps and around:
        steps = [slice(1, None, 2) if axis % 2 else slice(-2, None, -2) for axis in range(len(around))]
        whole = whole[tuple(steps)].transpose()
    return Placed(memory, whole)


def copy_of(array: np.ndarray, gaps: bool = False) -> Placed:
    placed = place(array.shape, array.dtype, gaps)
    placed.array[...] = array
    return placed


class Context:
    """The lw_context of a call: its callbacks allocate scratch memory and, if the work should be divided into `tasks`,
    run the kernel's tasks in reverse order, as on so many `threads`. Once `interrupt_at` tasks have run, the kernel
    gets INTERRUPTED."""

    def __init__(
        self, memory: bool = True, tasks: int = 0, interrupt_at: int = -1, cache_bytes: int = 0, threads: int = 4
    ) -> None:
        self.scratch: dict[int, tuple[np.ndarray, int, int]] = {}
        self.damage: list[str] = []
        self.tasks = 0
        self.interrupt_at = interrupt_at
        self._callbacks = [
            ffi.callback("void *(lw_context *, size_t)", self._allocate),
            ffi.callback("void (lw_context *, void *)", self._release),
            ffi.callback("lw_status (lw_context *, int64_t, lw_task *, const void *)", self._run),
        ]
        self.pointer = self._new()
        self.pointer.cache_bytes = cache_bytes
        if memory:
            self.pointer.allocate, self.pointer.release = self._callbacks[:2]
        if tasks:
            self.pointer.run = self._callbacks[2]
            self.pointer.threads, self.pointer.tasks = threads, tasks

    def _new(self) -> Any:
        return ffi.new("lw_context *")

    def _allocate(self, context: Any, count: int) -> Any:
        memory = np.full(count + 2 * MARGIN + 64, SCRATCH, np.uint8)
        address = memory.__array_interface__["data"][0]
        start = -(address + MARGIN) % 64 + MARGIN
        self.scratch[address + start] = (memory, start, count)
        return ffi.cast("void *", address + start)

    def _release(self, context: Any, pointer: Any) -> None:
        address = int(ffi.cast("uintptr_t", pointer))
        if address:
            memory, start, count = self.scratch.pop(address)
            if (memory[:start] != SCRATCH).any() or (memory[start + count :] != SCRATCH).any():
                self.damage.append(f"wrote outside of {count} bytes of scratch memory")

    def _run(self, context: Any, count: int, task: Any, argument: Any) -> int:
        for index in reversed(range(count)):
            if self.tasks == self.interrupt_at:
                return INTERRUPTED
            self.tasks += 1
            own = self._new()  # each task gets its own context
            own.allocate, own.release, own.run = self.pointer.allocate, self.pointer.release, self.pointer.run
            status = task(own, index, argument)
            if status != OK:
                return int(status)
        return OK


def call(
    backend: str,
    kernel: str,
    layout: bytes,
    scalars: bytes,
    inputs: Sequence[Placed | None],
    out: Placed,
    context: Context,
) -> int:
    """Runs a kernel and returns its status. Asserts that the kernel released its scratch memory and did not write to
    the bytes around it."""
    words = ffi.from_buffer("int64_t[]", bytearray(layout))
    read = ffi.new("const void *[]", [each.pointer if each else ffi.NULL for each in inputs] or [ffi.NULL])
    written = ffi.new("void *[]", [out.pointer])
    numbers = ffi.from_buffer("int64_t[]", bytearray(scalars)) if scalars else ffi.NULL
    parameters = ffi.cast("lw_scalar *", numbers)
    status = getattr(lib(backend).lanewise_kernels.kernels, kernel)(context.pointer, words, read, written, parameters)
    assert not context.scratch, f"{kernel} did not release its scratch memory"
    assert not context.damage, f"{kernel}: {context.damage[0]}"
    return int(status)


def default_scalars(contract: Contract) -> bytes:
    """Returns a kernel's scalars (its parameters) as bytes: each default that is a float, and 0 for all others."""
    defaults = [each.default for each in contract.kernel_parameters]
    return b"".join(struct.pack("<d", each) if isinstance(each, float) else bytes(8) for each in defaults)


def parameters(contract: Contract, case: Case) -> dict[str, Any]:
    return {each.name: each.default for each in contract.parameters} | dict(case.keywords)


def layout_of(contract: Contract, case: Case, inputs: Sequence[Placed | None], out: Placed) -> tuple[bytes, bytes]:
    """Returns the layout (shapes and strides) and scalars for operands whose strides differ from the oracle file's."""
    places = [each.place if each else None for each in inputs]
    made = layouts.call(contract, parameters(contract, case), places, out.place)
    own = struct.pack(f"<{len(made.scalars)}q", *made.scalars)
    return made.layout, own + case.scalars[len(own) :]
