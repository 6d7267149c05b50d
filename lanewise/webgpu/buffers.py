"""Device memory: a pool of buffers in a few sizes, and a budget.

A buffer returns to the pool when the last reference to it goes, and its memory may then carry another tensor; commands
run in the order in which they were recorded, so nothing needs to wait for that.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any, Final

from lanewise.errors import OutOfMemoryError
from lanewise.webgpu.device import Device

__all__ = ["DeviceBuffer", "Pool"]

SMALLEST: Final = 256
KEPT: Final = 256 * 1024**2  # unused bytes that a pool holds on to


def size_class(size: int) -> int:
    """The size of the buffers that serve `size` bytes: eight for each doubling, so at most an eighth is wasted."""
    step = max(SMALLEST, 1 << max(0, (size - 1).bit_length() - 4))
    return max(SMALLEST, -(-size // step) * step)


class DeviceBuffer:
    """Memory on a device. `handle` is the device's own object of `capacity` bytes, `size` what was asked for."""

    __slots__ = ("__weakref__", "_returned", "capacity", "handle", "size")

    def __init__(self, returned: collections.deque[tuple[int, Any]], handle: Any, capacity: int, size: int) -> None:
        self._returned: collections.deque[tuple[int, Any]] | None = returned
        self.handle = handle
        self.capacity = capacity
        self.size = size

    def __repr__(self) -> str:
        return f"DeviceBuffer({self.size} bytes)"

    def release(self) -> None:
        """Returns the memory now rather than when the object goes; the buffer must not be used again."""
        returned, self._returned = self._returned, None
        if returned is not None:
            returned.append((self.capacity, self.handle))

    def __del__(self) -> None:
        self.release()


class Pool:
    """The buffers of one device, under its executor's lock, except that buffers may be released in any thread."""

    def __init__(self, device: Device, budget: int | None, settle: Callable[[], None]) -> None:
        self._device = device
        self._free: collections.defaultdict[int, list[Any]] = collections.defaultdict(list)
        self._returned: collections.deque[tuple[int, Any]] = collections.deque()
        # Every handle, in use or not: where a DeviceBuffer goes in a cycle, the collector must not take its handle
        # along, which would come back to the pool as a wreck.
        self._handles: dict[int, Any] = {}
        self._settle = settle  # submits what was recorded and forgets bindings: after it, memory can be freed
        self.budget = budget  # bytes that may be allocated in all, None where only the device knows
        self.allocated = 0  # bytes, unused ones included
        self.unused = 0

    def allocate(self, size: int) -> DeviceBuffer:
        """A buffer of any content. OutOfMemoryError beyond the device's limits or the budget."""
        limit = min(self._device.limits.buffer, self._device.limits.binding) // 4 * 4
        if size > limit:
            raise OutOfMemoryError(
                f"wgpu: a tensor of {size} bytes exceeds the {limit} that a shader sees of one buffer on this device; "
                "split it, or keep it on the CPU"
            )
        capacity = min(size_class(size), limit)
        self._collect()
        if self._free[capacity]:
            self.unused -= capacity
            return DeviceBuffer(self._returned, self._free[capacity].pop(), capacity, size)
        if self.unused > KEPT or (self.budget is not None and self.allocated + capacity > self.budget):
            self.trim()
        if self.budget is not None and self.allocated + capacity > self.budget:
            raise OutOfMemoryError(
                f"wgpu: a tensor of {size} bytes does not fit: {self.allocated} of {self.budget} bytes are in use; "
                "free tensors, or raise LANEWISE_WGPU_MEMORY"
            )
        handle = self._device.buffer(capacity)
        self._handles[id(handle)] = handle
        self.allocated += capacity
        return DeviceBuffer(self._returned, handle, capacity, size)

    def trim(self) -> None:
        """Frees all that is unused."""
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
