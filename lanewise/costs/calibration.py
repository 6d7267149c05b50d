"""The result of lw.calibrate(): costs, which the extension divides calls by, and the file that stores them.

tuning.py, thread_cost.py and offload.py measure; selection.py reads at import which backends AUTO uses, and passes the
costs on (native/extension/plan/cost.c). Each field of the file is checked. A file without the expected form is ignored
with a warning, and the import continues.
"""

from __future__ import annotations

import os
import stat
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from lanewise import _ext, _version
from lanewise.backends import registry
from lanewise.backends.backend import CPU_BACKENDS, GPU_BACKENDS, Backend

__all__ = ["Adapter", "Calibration", "folder", "forget", "load", "save", "using_costs", "warn"]

NAME: Final = "calibration.json"
FORMAT: Final = 7
RATES: Final = tuple(backend.value for backend in CPU_BACKENDS)
THREAD_COSTS: Final = ("spinning", "sleeping")
GPU_COSTS: Final = ("launch", "transfer", "gpu")
MAX_BYTES: Final = 1 << 16
MAX_RATE: Final = 1e6
MAX_NANOSECONDS: Final = 1e12
NOISE: Final = 1.03  # backends that take at most this many times as long as the fastest keep the order of Backend


class Adapter(NamedTuple):
    """The GPU that lw.calibrate() measured. Calls are moved only to a device with this name and driver."""

    backend: Backend
    name: str
    driver: str | None


class Calibration(NamedTuple):
    """The costs that lw.calibrate() measured.

    `costs` has a rate for each CPU backend, by its name: the geometric mean of times of operations on one thread,
    divided by the times in their contracts. "spinning" and "sleeping" are the least work per thread, in nanoseconds,
    for which one more thread makes a call faster: a thread that still spins, or one that sleeps; a process that can run
    only one thread does not measure them. With a GPU, "launch" is the time of a call on it with its copies, "transfer"
    that of copying a byte, both in nanoseconds, and "gpu" its rate; `gpu` says which GPU that is, None without one.
    `date` is the day of the measurement. `path` is the file that stores the calibration, None if there is none. print()
    shows the rates.
    """

    costs: Mapping[str, float]
    date: str
    path: str | None = None
    gpu: Adapter | None = None

    @property
    def order(self) -> tuple[Backend, ...]:
        """The CPU backends, fastest first. Backends within 3 % of the fastest keep the order of lw.Backend."""
        rates = {backend: self.costs[backend] for backend in CPU_BACKENDS if backend in self.costs}
        limit = min(rates.values()) * NOISE
        return tuple(sorted(rates, key=lambda backend: 0.0 if rates[backend] <= limit else rates[backend]))

    @property
    def backend(self) -> Backend:
        """The CPU backend that AUTO chooses by this calibration."""
        return self.order[0]

    def reason(self) -> str:
        """Returns what AUTO chooses and why: `AVX-512; AVX2 takes 1.25 times as long, ...`."""
        chosen, *others = self.order
        base = self.costs[chosen]
        compared = [f"{other.label} takes {self.costs[other] / base:.2f} times as long" for other in others]
        return "; ".join([chosen.label, ", ".join(compared) or "it is the only one"])

    def __str__(self) -> str:
        width = max(len(backend.label) for backend in self.order)
        return "\n".join(f"{backend.label:>{width}}  {self.costs[backend]:.2f}" for backend in self.order)


@contextmanager
def using_costs(**costs: float) -> Iterator[None]:
    """Changes some costs in a `with` block. They apply to all threads of the process."""
    before = _ext.get_costs()
    _ext.set_costs(before | costs)
    try:
        yield
    finally:
        _ext.set_costs(before)


def folder() -> Path | None:
    """Returns the folder of the calibration file: LANEWISE_CACHE_DIR, or `lanewise` in the user's cache folder.

    If the variable is not set, returns None for users without a cache folder and in Pyodide, where files do not last.
    """
    directory = os.environ.get("LANEWISE_CACHE_DIR", "").strip()
    if directory:
        return Path(os.path.expanduser(directory))  # may have a "~" that no shell expanded
    if sys.platform == "emscripten":
        return None
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME", "")
        if not os.path.isabs(base):  # the XDG specification says to ignore relative paths
            base = os.path.expanduser("~/.cache")
    return Path(base, "lanewise") if os.path.isabs(base) else None


def load() -> Calibration | None:
    """Returns the stored calibration if this machine and version of Lanewise measured it, or None. Raises no error."""
    directory = folder()
    if directory is None or not os.path.exists(directory / NAME):
        return None
    path = directory / NAME
    try:
        return _parse(_read(path), str(path))
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
        with suppress(RuntimeWarning):  # with -W error, the import must still succeed
            warn(f"lanewise: ignoring {path}, which is not a valid calibration ({str(reason)[:200]}); {_cure(path)}")
        return None


def _cure(path: Path) -> str:
    """Returns what to do about an invalid file: forget() and save() replace anything but a folder, if they may."""
    if os.path.isdir(path) and not os.path.islink(path):
        return "remove this folder"
    if not os.access(path.parent, os.W_OK):
        return "set LANEWISE_CACHE_DIR to a folder that you may write to"
    return "lw.calibrate() replaces it, lw.reset_calibration() removes it"


def warn(message: str) -> None:
    """Issues a warning that points to the line of the user's code that imports or calls this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back:
        importing = "importlib._bootstrap" in frame.f_code.co_filename  # `stacklevel` skips these frames
        if not importing and frame.f_globals.get("__name__", "").partition(".")[0] != "lanewise":
            break
        level, frame = level + (not importing), frame.f_back
    warnings.warn(message, RuntimeWarning, stacklevel=level)


def save(calibration: Calibration) -> Calibration:
    """Writes the calibration file atomically and returns the calibration with the path.

    If folder() is None, writes nothing and returns the argument. Raises OSError if the folder cannot be written to.
    """
    import json
    import tempfile

    directory = folder()
    if directory is None:
        return calibration
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / NAME
    content = {"format": FORMAT, "machine": _machine(), "date": calibration.date, "costs": dict(calibration.costs)}
    content["gpu"] = calibration.gpu and calibration.gpu._asdict()
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
    """Removes the calibration file if it exists. Raises OSError if it cannot be removed."""
    directory = folder()
    if directory is not None:
        (directory / NAME).unlink(missing_ok=True)


def _machine() -> dict[str, str]:
    """Returns the processor, the operating system and the version of Lanewise for which a measurement is valid."""
    from lanewise.backends import hardware

    return {
        "lanewise": _version.__version__,
        "kernels": f"{_ext.signature():016x}",
        "system": sys.platform,
        "cpu": hardware.cpu_name(),
        "features": ", ".join(registry.cpu_features()),
    }


def _read(path: Path) -> str:
    """Returns a file's text. Raises ValueError before opening the file if it is too large or not a regular file."""
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("expected a regular file")
    if status.st_size > MAX_BYTES:
        raise ValueError(f"expected at most {MAX_BYTES} bytes, got {status.st_size}")
    with open(path, encoding="utf-8") as file:
        return file.read(MAX_BYTES)


def _parse(text: str, path: str) -> Calibration | None:
    """Returns the calibration in `text`, or None if it was measured on another machine or version.

    Raises ValueError if the text is not a valid calibration.
    """
    import json

    content = json.loads(text)
    if isinstance(content, dict) and type(content.get("format")) is int and 1 <= content["format"] < FORMAT:
        return None  # an earlier version wrote it
    content = _table(content, {"format", "machine", "date", "costs", "gpu"}, "the file")
    if content["format"] != FORMAT or isinstance(content["format"], bool):
        raise ValueError(f"expected format {FORMAT}, got {content['format']!r}")
    machine = _machine()
    if _table(content["machine"], set(machine), "machine") != machine:
        return None
    date = content["date"]
    if not (isinstance(date, str) and len(date) == 10 and date.isascii() and date.isprintable()):
        raise ValueError(f"expected date to be a string such as 2026-01-31, got {date!r:.40}")
    gpu = _adapter(content["gpu"])
    return Calibration(_costs(content["costs"], gpu), date, path, gpu)


def _table(value: Any, keys: set[str], name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"expected {name} to be a table, got {value!r:.80}")
    if wrong := sorted(value.keys() ^ keys):
        raise ValueError(f"expected other fields in {name}: missing or unknown {wrong!s:.80}")
    return value


def _costs(value: Any, gpu: Adapter | None) -> dict[str, float]:
    """Returns the costs in the file: rates, both costs of threads or neither, and those of the GPU if there is one."""
    if not (isinstance(value, dict) and any(name in value for name in RATES)):
        raise ValueError(f"expected costs to include the rate of a CPU backend, got {value!r:.80}")
    rates = [name for name in RATES if name in value]
    threads = THREAD_COSTS if any(name in value for name in THREAD_COSTS) else ()
    others = (*threads, *(GPU_COSTS if gpu else ()))
    table = _table(value, {*rates, *others}, "costs")
    return _floats(table, rates, 1 / MAX_RATE, MAX_RATE) | _floats(table, others, 0.0, MAX_NANOSECONDS)


def _floats(table: Mapping[str, Any], keys: Iterable[str], least: float, most: float) -> dict[str, float]:
    floats = {key: table[key] for key in keys}
    wrong = {key: each for key, each in floats.items() if not (isinstance(each, float) and least <= each <= most)}
    if wrong:
        raise ValueError(f"expected floats from {least:g} to {most:g} in costs, got {wrong!r:.80}")
    return floats


def _adapter(value: Any) -> Adapter | None:
    if value is None:
        return None
    table = _table(value, set(Adapter._fields), "gpu")
    if table["backend"] not in [backend.value for backend in GPU_BACKENDS]:  # a set would raise TypeError for a list
        raise ValueError(f"expected the name of a GPU backend, got {table['backend']!r:.80}")
    if not (isinstance(table["name"], str) and isinstance(table["driver"], str | None)):
        raise ValueError(f"expected names, got adapter {table['name']!r:.80} and driver {table['driver']!r:.80}")
    return Adapter(**table | {"backend": Backend(table["backend"])})
