"""The CPU's name and the machine's memory, from the operating system.

Used by registry.py, calibration.py, memory.py and others. Nothing is read at import. Values that the system does not
report are None, 0 or a name such as "unknown x86_64 CPU"; these functions raise no errors.
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path
from typing import Final

__all__ = ["cpu_name", "free_memory", "total_memory"]

HEAD: Final = 512  # characters at the start of /proc/cpuinfo, enough to include the first processor's name
_SYSTEM: Final = sys.platform  # a variable, so that type checkers check the branches of every system


def cpu_name() -> str:
    """Returns the CPU's model name, as the system reports it."""
    name = ""
    if _SYSTEM == "linux":
        # On x86, the first processor's lines have "model name"; on many ARM boards, "Model" or "Hardware" comes last.
        path = Path("/proc/cpuinfo")
        head = _fields(path, HEAD)  # reading the whole file is slow on machines with many processors
        fields = head if head.get("model name") else _fields(path)
        name = fields.get("model name") or fields.get("Model") or fields.get("Hardware") or ""
    elif _SYSTEM == "darwin":
        name = _sysctl("machdep.cpu.brand_string", 256).rstrip(b"\0").decode(errors="replace")
    elif _SYSTEM == "win32":
        from lanewise.backends import windows

        name = windows.cpu_name()
    elif _SYSTEM == "emscripten":
        name = "WebAssembly"
    return name or platform.processor() or f"unknown {platform.machine()} CPU".replace("  ", " ")


def total_memory() -> int:
    """Returns the largest number of bytes of memory that this process may use, 0 if unknown."""
    if _SYSTEM == "linux":
        total = _meminfo("MemTotal") or 0
        limit = _container("memory.max")
        return min(total, limit) if limit and total else total
    if _SYSTEM == "darwin":
        return _sysctl_int("hw.memsize")
    if _SYSTEM == "win32":
        from lanewise.backends import windows

        return windows.memory()[0]
    return 2**32 if _SYSTEM == "emscripten" else 0  # WebAssembly's address space


def free_memory() -> int | None:
    """Returns the number of bytes of memory available without swapping, None if unknown."""
    if _SYSTEM == "linux":
        free, left = _meminfo("MemAvailable"), _container_left()
        return left if free is None else free if left is None else min(free, left)
    if _SYSTEM == "darwin":
        pages = _sysctl_int("vm.page_free_count") + _sysctl_int("vm.page_purgeable_count")
        return pages * _sysctl_int("hw.pagesize") or None
    if _SYSTEM == "win32":
        from lanewise.backends import windows

        return windows.memory()[1]
    return None


def _fields(path: Path, max_characters: int = -1) -> dict[str, str]:
    """Reads `name: value` lines in the first `max_characters` of a file (-1: all). Keeps a name's first value."""
    fields: dict[str, str] = {}
    try:
        with path.open(errors="replace") as file:
            lines = file.read(max_characters).splitlines()
    except OSError:
        return fields
    for line in lines:
        name, _, value = line.partition(":")
        fields.setdefault(name.strip(), value.strip())
    return fields


def _meminfo(name: str) -> int | None:
    value = _fields(Path("/proc/meminfo")).get(name, "").removesuffix(" kB")
    return int(value) * 1024 if value.isdecimal() else None


def _container(name: str) -> int | None:
    """Returns the number of bytes that a Linux cgroup file such as memory.max states, None if it states no number."""
    try:
        text = Path("/sys/fs/cgroup", name).read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() else None  # the word "max" means no limit


def _container_left() -> int | None:
    limit, used = _container("memory.max"), _container("memory.current")
    if limit is None or used is None:
        return None
    try:
        statistics = Path("/sys/fs/cgroup/memory.stat").read_text().split()
        used -= int(statistics[statistics.index("inactive_file") + 1])  # page cache that Linux can reclaim
    except (OSError, ValueError, IndexError):
        pass
    return max(limit - used, 0)


def _sysctl(name: str, size: int) -> bytes:
    import ctypes

    libc = ctypes.CDLL(None)
    value = ctypes.create_string_buffer(size)
    length = ctypes.c_size_t(size)
    if libc.sysctlbyname(name.encode(), value, ctypes.byref(length), None, ctypes.c_size_t(0)) != 0:
        return b""
    return value.raw[: length.value]


def _sysctl_int(name: str) -> int:
    return int.from_bytes(_sysctl(name, 8), sys.byteorder)
