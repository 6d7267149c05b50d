"""Pools device memory in buffers of a few sizes, within a budget.

A buffer returns to the pool when the last reference to it is dropped, and can be reused for another tensor at once,
because commands run in the order in which they were recorded.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any, Final

from lanewise.errors import OutOfMemoryError
from lanewise.webgpu.device import Device

__all__ = ["DeviceBuffer", "Pool"]

SMALLEST: Final = 256  # bytes of the smallest buffer
MAX_UNUSED: Final = 256 * 1024**2  # bytes; above this, a pool frees its unused buffers before it creates one


def size_class(size: int) -> int:
    """Rounds `size` up to a multiple of 256 or, above 4096, of p / 8, where p is the largest power of two <= `size`."""
    step = max(SMALLEST, (1 << size.bit_length()) // 16)
    return max(SMALLEST, -(-size // step) * step)


class DeviceBuffer:
    """Memory on a device: `handle` is the device's buffer object of `capacity` bytes, `size` the requested bytes."""

    __slots__ = ("__weakref__", "_returned", "capacity", "handle", "size")

    def __init__(self, returned: collections.deque[tuple[int, Any]], handle: Any, capacity: int, size: int) -> None:
        self._returned: collections.deque[tuple[int, Any]] | None = returned
        self.handle = handle
        self.capacity = capacity
        self.size = size

    def __repr__(self) -> str:
        return f"DeviceBuffer({self.size} bytes)"

    def release(self) -> None:
        """Returns the memory to the pool now instead of at deletion. The buffer must not be used afterwards."""
        returned, self._returned = self._returned, None
        if returned is not None:
            returned.append((self.capacity, self.handle))

    def __del__(self) -> None:
        self.release()


class Pool:
    """The buffers of one device. Callers hold the executor's lock, except to release a buffer."""

    def __init__(self, device: Device, budget: int | None, settle: Callable[[], None]) -> None:
        self._device = device
        self._free: collections.defaultdict[int, list[Any]] = collections.defaultdict(list)
        self._returned: collections.deque[tuple[int, Any]] = collections.deque()
        # References to all handles: without them, the garbage collector could finalize a handle together with its
        # DeviceBuffer, whose __del__ would then return the dead handle to the pool.
        self._handles: dict[int, Any] = {}
        self._settle = settle  # submits recorded commands and drops bindings, so that memory can be freed
        self.budget = budget  # limit of `allocated` in bytes; if None, only the device sets a limit
        self.allocated = 0  # bytes of all buffers, including unused ones
        self.unused = 0  # bytes of unused buffers

    def allocate(self, size: int) -> DeviceBuffer:
        """Returns an uninitialized buffer. Raises OutOfMemoryError beyond the device's limits or the budget."""
        limit = min(self._device.limits.buffer, self._device.limits.binding) // 4 * 4
        if size > limit:
            raise OutOfMemoryError(
                f"wgpu: expected a tensor of at most {limit} bytes, the limit of a buffer on this device, got "
                f"{size} bytes; split it, or keep it on the CPU"
            )
        capacity = min(size_class(size), limit)
        self._collect()
        if self._free[capacity]:
            self.unused -= capacity
            return DeviceBuffer(self._returned, self._free[capacity].pop(), capacity, size)
        if self.unused > MAX_UNUSED or (self.budget is not None and self.allocated + capacity > self.budget):
            self.trim()
        if self.budget is not None and self.allocated + capacity > self.budget:
            raise OutOfMemoryError(
                f"wgpu: cannot allocate {size} bytes: {self.allocated} of {self.budget} bytes are in use; free "
                "tensors, or raise LANEWISE_WGPU_MEMORY"
            )
        handle = self._device.buffer(capacity)
        self._handles[id(handle)] = handle
        self.allocated += capacity
        return DeviceBuffer(self._returned, handle, capacity, size)

    def trim(self) -> None:
        """Frees all unused buffers."""
        self._settle()
        self._collect()
        for handles in self._free.values():
            for handle in handles:
                del self._handles[id(handle)]
                self._device.destroy(handle)
        self._free.clear()
        self.allocated -= self.unused
        self.unused = 0

    def _collect(self) -> None:
        while self._returned:
            capacity, handle = self._returned.popleft()
            self._free[capacity].append(handle)
            self.unused += capacity
