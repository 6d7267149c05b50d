"""What Windows reports about the hardware, for hardware.py."""

from __future__ import annotations

import os
from typing import Any

__all__ = ["cpu_name", "memory"]


def cpu_name() -> str:
    """Returns the CPU's model name, "" if Windows does not report it."""
    registry: Any = __import__("winreg")  # exists on Windows only
    path = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
    try:
        with registry.OpenKey(registry.HKEY_LOCAL_MACHINE, path) as key:
            return str(registry.QueryValueEx(key, "ProcessorNameString")[0]).strip()
    except OSError:
        return os.environ.get("PROCESSOR_IDENTIFIER", "")


def memory() -> tuple[int, int]:
    """Returns the number of bytes of memory, and how many of them are available."""
    import ctypes

    class Status(ctypes.Structure):
        _fields_ = (
            ("dwLength", ctypes.c_uint32),
            ("dwMemoryLoad", ctypes.c_uint32),
            ("ullTotalPhys", ctypes.c_uint64),
            ("ullAvailPhys", ctypes.c_uint64),
            ("ullTotalPageFile", ctypes.c_uint64),
            ("ullAvailPageFile", ctypes.c_uint64),
            ("ullTotalVirtual", ctypes.c_uint64),
            ("ullAvailVirtual", ctypes.c_uint64),
            ("ullAvailExtendedVirtual", ctypes.c_uint64),
        )

    status = Status(dwLength=ctypes.sizeof(Status))
    ctypes.CDLL("kernel32").GlobalMemoryStatusEx(ctypes.byref(status))
    return status.ullTotalPhys, status.ullAvailPhys
