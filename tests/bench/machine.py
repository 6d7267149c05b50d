"""Describes the machine and the versions with which a benchmark runs."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from datetime import UTC, datetime

import lanewise as lw
from lanewise.backends.hardware import cpu_name, total_memory


def facts() -> dict[str, object]:
    """Describes this machine and this Python."""
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


def heading(packages: Sequence[str], *more: str) -> list[str]:
    """Returns the lines above a table: the machine, the versions of packages, and more."""
    known = facts()
    versions = [f"lanewise {known['lanewise']}", f"Python {known['python']}", *dict.fromkeys(packages)]
    machine = f"{known['cpu']}, {known['cores']} cores, load {known['load']}; {known['system']}"
    return [machine, "; ".join(versions), *more]


def today() -> str:
    """Returns the date of a measurement, for documents."""
    return datetime.now(UTC).date().isoformat()


def short_cpu_name() -> str:
    """Returns the name of the processor for captions: without (R), (TM), "CPU", "Processor" and the clock rate."""
    return " ".join(re.sub(r"\((R|TM)\)|\b(CPU|Processor)\b|@.*", "", cpu_name()).split())


def cores() -> int:
    """Returns how many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def load() -> float | None:
    """Returns the load average of the last minute; on a busy machine, times are too long."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None
