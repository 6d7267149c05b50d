"""Runs a backend's kernels on the inputs of the oracle's cases, with each operand next to an inaccessible page of
memory. Prints the name of each case before the case runs.

    python guarded.py avx2 build/oracle

An access one byte out of bounds ends the process with a signal; the last line printed names the case.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "contracts"), str(HERE.parent), str(HERE)]

import ml_dtypes  # noqa: E402, F401  registers bfloat16
import numpy as np  # noqa: E402
import oracle_file  # noqa: E402
import raw  # noqa: E402
from judge import as_array  # noqa: E402

PAGE = mmap.PAGESIZE
ROOM = 64 * PAGE  # bytes for one operand; cases with a larger operand are skipped


class Fenced:
    """Memory between two inaccessible pages."""

    def __init__(self) -> None:
        self.pages = mmap.mmap(-1, ROOM + 2 * PAGE)
        self.start = ctypes.addressof(ctypes.c_char.from_buffer(self.pages))
        libc = ctypes.CDLL(None, use_errno=True)
        for fence in (self.start, self.start + PAGE + ROOM):
            if libc.mprotect(ctypes.c_void_p(fence), ctypes.c_size_t(PAGE), 0):
                raise OSError(ctypes.get_errno(), "mprotect failed")

    def place(self, shape: tuple[int, ...], dtype: Any, at_end: bool) -> raw.Placed:
        count = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        offset = PAGE + (ROOM - count if at_end else 0)
        memory = np.frombuffer(self.pages, np.uint8, count, offset)
        return raw.Placed(memory, memory.view(dtype).reshape(shape))


def main(backend: str, oracle: Path) -> None:
    fences = [Fenced() for _ in range(6)]
    for path in sorted(oracle.glob("*.bin")):
        for case in oracle_file.read(path).cases:
            arrays = [None if each is None else as_array(each) for each in case.inputs]
            largest = max(case.reference.size * 8, *(each.nbytes for each in arrays if each is not None), 0)
            if not case.kernel or largest > ROOM:
                continue
            for at_end in (True, False):
                print(f"{case.kernel}, {case.name}, at the {'end' if at_end else 'start'}", flush=True)
                inputs = []
                for fence, array in zip(fences, arrays, strict=False):
                    placed = None if array is None else fence.place(array.shape, array.dtype, at_end)
                    if placed is not None:
                        placed.array[...] = array
                    inputs.append(placed)
                out = fences[-1].place(case.reference.shape, case.result_dtype, at_end)
                status = raw.call(backend, case.kernel, case.layout, case.scalars, inputs, out, raw.Context())
                assert status == raw.OK


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
