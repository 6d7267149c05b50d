"""What a figure needs to be understood later: the machine, the versions, the settings."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime

import lanewise as lw
from lanewise.hardware import cpu_name, total_memory


def facts() -> dict[str, object]:
    """This machine and this Python, as they are now."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "lanewise": lw.__version__,
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpu": cpu_name(),
        "cores": cores(),
        "memory_bytes": total_memory(),
        "load": load(),
        "backends": [info.name for info in lw.backends() if info.available],
    }


def cores() -> int:
    """The processors that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # not everywhere
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def load() -> float | None:
    """How busy the machine was over the last minute: figures from a busy machine are slow ones."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None
