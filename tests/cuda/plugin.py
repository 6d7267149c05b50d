"""Calls the kernels of the CUDA plugin as a C program would: through the table that the plugin exports, by ctypes."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from generator.load import load_contracts

CONTRACTS = load_contracts(Path(__file__).resolve().parents[2] / "contracts")
LAUNCHED = {each.kind.name for each in CONTRACTS if each.kind.backends["cuda"] == "now"}
POISON = 0xA5  # the value of every byte of an output before a launch
GUARD = 64  # poisoned bytes before and after each output


class Context(ctypes.Structure):
    """The C struct lw_context. A `stream` of zero is the default stream."""

    _fields_ = (
        ("run", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("host", ctypes.c_void_p),
        ("stream", ctypes.c_void_p),
        ("bad_index", ctypes.c_int64),
        ("message", ctypes.c_char * 128),
        ("cache_bytes", ctypes.c_size_t),
        ("threads", ctypes.c_int64),
        ("tasks", ctypes.c_int64),
        ("l2_bytes", ctypes.c_size_t),
    )


POINTER = ctypes.c_void_p
CONTEXT = ctypes.POINTER(Context)
KERNEL = ctypes.CFUNCTYPE(ctypes.c_int, CONTEXT, POINTER, POINTER, POINTER, POINTER)
TRANSFER = ctypes.CFUNCTYPE(ctypes.c_int, CONTEXT, POINTER, POINTER, ctypes.c_size_t)


class Memory(ctypes.Structure):
    """The C struct lw_memory."""

    _fields_ = (
        ("allocate", ctypes.CFUNCTYPE(POINTER, CONTEXT, ctypes.c_size_t)),
        ("release", ctypes.CFUNCTYPE(None, CONTEXT, POINTER)),
        ("upload", TRANSFER),
        ("download", TRANSFER),
        ("synchronize", ctypes.CFUNCTYPE(ctypes.c_int, CONTEXT)),
    )


class Head(ctypes.Structure):
    """The C struct lw_library_head."""

    _fields_ = (
        ("abi_version", ctypes.c_uint32),
        ("kernel_count", ctypes.c_uint32),
        ("signature", ctypes.c_uint64),
        ("cpu_features", ctypes.c_uint64),
        ("name", ctypes.c_char_p),
        ("memory", Memory),
    )


class Plugin:
    """The loaded plugin. Loading it works without a GPU, because that calls no CUDA function."""

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        self.library = ctypes.CDLL(str(path))
        self.head = Head.in_dll(self.library, "lanewise_kernels")
        table = (POINTER * len(names)).from_address(ctypes.addressof(self.head) + ctypes.sizeof(Head))
        self.kernels: dict[str, int | None] = dict(zip(names, table, strict=True))
        self.context = Context()

    @property
    def message(self) -> str:
        """The message of the last error in `context`."""
        return self.context.message.decode()

    def missing_gpu(self) -> str:
        """Returns why kernels cannot run here, or an empty string."""
        memory = self.head.memory.allocate(self.context, 4)
        if not memory:
            return self.message
        self.head.memory.release(self.context, memory)
        return ""

    def allocate(self, nbytes: int) -> int:
        """Allocates device memory."""
        memory = self.head.memory.allocate(self.context, nbytes)
        assert memory, self.message
        return memory

    def upload(self, array: np.ndarray) -> int:
        """Copies a contiguous array to the device."""
        memory = self.allocate(array.nbytes)
        assert self.head.memory.upload(self.context, memory, array.ctypes.data, array.nbytes) == 0, self.message
        return memory

    def download(self, memory: int, into: np.ndarray) -> np.ndarray:
        """Waits for launched kernels, then copies device memory to an array."""
        status = self.head.memory.download(self.context, into.ctypes.data, memory, into.nbytes)
        assert status == 0, self.message
        return into

    def launch(self, kernel: str, layout: bytes, inputs: Sequence[int], out: int, scalars: bytes = b"") -> None:
        """Launches a kernel on device addresses."""
        pointers, outputs = (POINTER * len(inputs))(*inputs), (POINTER * 1)(out)
        status = KERNEL(self.kernels[kernel])(self.context, layout, pointers, outputs, scalars or None)
        assert status == 0, self.message

    def start(
        self,
        kernel: str,
        layout: bytes,
        inputs: Sequence[np.ndarray],
        shape: Sequence[int],
        dtype: np.dtype,
        scalars: bytes = b"",
    ) -> Callable[[], np.ndarray]:
        """Uploads inputs and launches a kernel. Returns a function that waits for the kernel, checks that it wrote only
        its result, and returns the result in row-major order."""
        nbytes = math.prod(shape) * dtype.itemsize
        out = self.upload(np.full(nbytes + 2 * GUARD, POISON, np.uint8))
        memory = [self.upload(np.ascontiguousarray(each)) for each in inputs]
        self.launch(kernel, layout, memory, out + GUARD, scalars)

        def result() -> np.ndarray:
            into = self.download(out, np.empty(nbytes + 2 * GUARD, np.uint8))
            for each in (out, *memory):
                self.head.memory.release(self.context, each)
            guards = np.concatenate([into[:GUARD], into[GUARD + nbytes :]])
            assert (guards == POISON).all(), "the kernel wrote outside its result"
            return into[GUARD : GUARD + nbytes].view(dtype).reshape(shape)

        return result
