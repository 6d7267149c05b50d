"""What lw.calibrate() has measured of this machine, and the file in which it is kept.

tuning.py measures; selection.py asks for the order of the CPU's backends at import. Only what has the form written here
is taken from the file: whatever else it holds, it is ignored with a warning, and the import goes on.
"""

from __future__ import annotations

import math
import os
import stat
import sys
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from lanewise import _ext, _version, registry
from lanewise.backend import CPU_BACKENDS, PRIORITY, Backend

__all__ = ["Calibration", "folder", "forget", "load", "save"]

NAME: Final = "calibration.json"
KINDS: Final = ("arithmetic", "functions", "reductions", "rows", "matrices")
FORMAT: Final = 1
MOST_BYTES: Final = 1 << 16
MOST_TIMES: Final = 1e6  # as slow as the fastest
SAME: Final = 1.03  # what differs by less may be noise

Times = Mapping[Backend, Mapping[str, float]]


class Calibration(NamedTuple):
    """What lw.calibrate() has measured: how long each CPU backend takes for each kind of operations.

    `times` are relative to the fastest backend of the kind: 1.5 takes half as long again. `date` is the day, `path` the
    file that keeps it, None where it holds for this process alone. Printed, it is a table.
    """

    times: Times
    date: str
    path: str | None = None

    @property
    def order(self) -> tuple[Backend, ...]:
        """The CPU backends as AUTO prefers them, the fastest first. What is within 3 % of it keeps the order of
        lw.Backend."""
        overall = {backend: self.overall(backend) for backend in CPU_BACKENDS if backend in self.times}
        limit = min(overall.values()) * SAME
        return tuple(sorted(overall, key=lambda backend: 0.0 if overall[backend] <= limit else overall[backend]))

    @property
    def backend(self) -> Backend:
        """The one that AUTO takes."""
        return self.order[0]

    def overall(self, backend: Backend) -> float:
        """The geometric mean of a backend's times over the kinds of operations."""
        return math.exp(math.fsum(map(math.log, self.times[backend].values())) / len(KINDS))

    def reason(self) -> str:
        """What AUTO takes, and why: `AVX-512; AVX2 takes 1.25 times as long, ...`."""
        chosen, *others = self.order
        base = self.overall(chosen)
        compared = [f"{other.label} takes {self.overall(other) / base:.2f} times as long" for other in others]
        return "; ".join([chosen.label, ", ".join(compared) or "there is no other"])

    def __str__(self) -> str:
        rows = [["", *KINDS, "overall"]]
        for backend in self.order:
            figures = [*self.times[backend].values(), self.overall(backend)]
            rows.append([backend.label, *(f"{figure:.2f}" for figure in figures)])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join(lines)


def folder() -> Path | None:
    """Where the file is: LANEWISE_CACHE_DIR, else a folder of Lanewise's in the user's cache. None where that does not
    last, in Pyodide, or the user has none."""
    chosen = os.environ.get("LANEWISE_CACHE_DIR", "").strip()
    if chosen:
        return Path(os.path.expanduser(chosen))  # a shell has not, where a file sets it
    if sys.platform == "emscripten":
        return None
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME", "")
        if not os.path.isabs(base):  # as the XDG specification wants it
            base = os.path.expanduser("~/.cache")
    return Path(base, "lanewise") if os.path.isabs(base) else None


def load() -> Calibration | None:
    """What is kept for this machine and this version, None where nothing is. Never an error."""
    directory = folder()
    if directory is None or not os.path.exists(directory / NAME):
        return None
    path = directory / NAME
    try:
        found = _parse(_read(path), str(path))
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
        with suppress(RuntimeWarning):  # an import does not fail for it, not even with -W error
            warnings.warn(
                f"lanewise: {path} is ignored: it is no calibration ({str(reason)[:200]}). "
                "lw.calibrate() replaces it, lw.reset_calibration() removes it",
                RuntimeWarning,
                stacklevel=2,
            )
        return None
    return found


def save(calibration: Calibration) -> Calibration:
    """Writes it, all or nothing, and returns it with its path. OSError where the folder cannot be written to; as it was
    where there is no folder."""
    import json
    import tempfile

    directory = folder()
    if directory is None:
        return calibration
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / NAME
    times = {backend.value: dict(of_kind) for backend, of_kind in calibration.times.items()}
    content = {"format": FORMAT, "machine": _machine(), "date": calibration.date, "times": times}
    descriptor, temporary = tempfile.mkstemp(prefix=f"{NAME}.", dir=directory)
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=1)
            file.write("\n")
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    return calibration._replace(path=str(path))


def forget() -> None:
    """Removes the file, where there is one. OSError where that is not allowed."""
    directory = folder()
    if directory is not None:
        (directory / NAME).unlink(missing_ok=True)


def _machine() -> dict[str, str]:
    """What a measurement holds for: another processor, system or version needs one of its own."""
    from lanewise import hardware

    return {
        "lanewise": _version.__version__,
        "kernels": f"{_ext.signature():016x}",
        "system": sys.platform,
        "cpu": hardware.cpu_name(),
        "features": ", ".join(registry.cpu_features()),
    }


def _read(path: Path) -> str:
    """The file's text. ValueError where it is no ordinary file or a large one: neither is opened."""
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("not a file")
    if status.st_size > MOST_BYTES:
        raise ValueError(f"{status.st_size} bytes; at most {MOST_BYTES} are expected")
    with open(path, encoding="utf-8") as file:
        return file.read(MOST_BYTES)


def _parse(text: str, path: str) -> Calibration | None:
    """ValueError where the text is no calibration, None where it is one of another machine or version."""
    import json

    content = _table(json.loads(text), {"format", "machine", "date", "times"}, "it")
    if content["format"] != FORMAT or isinstance(content["format"], bool):
        raise ValueError(f"format {content['format']!r}; {FORMAT} is expected")
    machine = _machine()
    if _table(content["machine"], set(machine), "machine") != machine:
        return None
    date = content["date"]
    if not (isinstance(date, str) and len(date) == 10 and date.isascii() and date.isprintable()):
        raise ValueError("date is no day")
    times = content["times"]
    if not (isinstance(times, dict) and times and times.keys() <= {backend.value for backend in CPU_BACKENDS}):
        raise ValueError("times are not those of CPU backends")
    rows = {Backend(name): _row(row) for name, row in times.items()}
    if any(min(row[kind] for row in rows.values()) != 1.0 for kind in KINDS):
        raise ValueError("times have no fastest backend")
    return Calibration({backend: rows[backend] for backend in PRIORITY if backend in rows}, date, path)


def _table(value: Any, keys: set[str], name: str) -> dict[str, Any]:
    if not (isinstance(value, dict) and value.keys() == keys):
        raise ValueError(f"{name} has not the fields {', '.join(sorted(keys))}")
    return value


def _row(value: Any) -> dict[str, float]:
    row = _table(value, set(KINDS), "times")
    if not all(isinstance(figure, float) and 1.0 <= figure <= MOST_TIMES for figure in row.values()):
        raise ValueError(f"times are not numbers from 1 to {MOST_TIMES:g}")
    return {kind: row[kind] for kind in KINDS}
