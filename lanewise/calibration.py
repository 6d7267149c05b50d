"""The result of lw.calibrate(), and the file that stores it.

tuning.py, rates.py, waking.py, promotion.py and tiles.py measure; selection.py reads at import which backends AUTO
uses. Each field of the file is checked. A file without the expected form is ignored with a warning, and the import
continues.
"""

from __future__ import annotations

import math
import os
import stat
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from lanewise import _ext, _version, registry
from lanewise.backend import CPU_BACKENDS, GPU_BACKENDS, PRIORITY, Backend

__all__ = ["PROMOTED", "TILED", "Calibration", "GpuTimes", "WakingTimes", "folder", "forget", "load", "save", "warn"]

NAME: Final = "calibration.json"
KINDS: Final = ("arithmetic", "functions", "reductions", "rows", "matrices")
PROMOTED: Final = ("matmul", "conv2d", "scaled_dot_product_attention")
TILED: Final = ("matmul", "linear")
MAX_TILES: Final = 4  # sizes of products, LW_TILED_SIZES of native/extension/recorder.h
FORMAT: Final = 6
# Operations that stand for all of their kind and complexity in `rates`. Creation, casts and pooling have required
# parameters, which _ext.expected_times() does not take, so they keep the contracts' times.
RATED: Final = (
    "add", "tanh", "pow", "sum", "argmax", "cumulative_sum", "softmax", "matmul", "conv2d",
    "scaled_dot_product_attention", "rope", "eigvalsh", "eigh", "take", "sort", "searchsorted",
)  # fmt: skip
MAX_BYTES: Final = 1 << 16
MAX_RELATIVE_TIME: Final = 1e6
MAX_NANOSECONDS: Final = 1e12
NOISE: Final = 1.03  # backends that take at most this many times as long as the fastest keep the order of Backend

Times = Mapping[Backend, Mapping[str, float]]


class GpuTimes(NamedTuple):
    """The times in nanoseconds that lw.calibrate() measured on a GPU and on the fastest CPU backend.

    `opening` is the time to open the GPU, `latency` that of a call on one element with its copies, `upload` and
    `download` those of copying a byte. `rates` has, for one operation of each kind that a GPU may run faster, the time
    on the CPU with `threads` threads and the time on the GPU, both divided by the time in the contract. `tiles` has,
    for matmul and linear, the names of the fastest tiles for products of 512 x 512 elements, 1024 x 1024 and so on.
    """

    backend: Backend
    adapter: str
    driver: str | None
    threads: int
    opening: float
    latency: float
    upload: float
    download: float
    rates: Mapping[str, tuple[float, float]]
    tiles: Mapping[str, tuple[str, ...]]


class WakingTimes(NamedTuple):
    """How many nanoseconds of work pay for another thread: for one that is ready, because it spins; for one that
    sleeps, in a call that continues a series; and for one that sleeps, in a single call."""

    ready: float
    in_a_series: float
    sleeping: float


class Calibration(NamedTuple):
    """The times that lw.calibrate() measured for each CPU backend and kind of operation.

    `times` are relative to the fastest backend of each kind: 1.5 means 1.5 times as long. `date` is the day of the
    measurement. `path` is the file that stores the calibration, None if there is none. `gpu` has the times by which
    AUTO moves calls to a GPU, None without one; `waking` those by which calls use threads, None for the defaults.
    `rates` has the times of operations on one thread of the fastest CPU backend, divided by those in their contracts.
    print() shows a table.
    """

    times: Times
    date: str
    path: str | None = None
    gpu: GpuTimes | None = None
    waking: WakingTimes | None = None
    rates: Mapping[str, float] | None = None

    @property
    def order(self) -> tuple[Backend, ...]:
        """The CPU backends, fastest first. Backends within 3 % of the fastest keep the order of lw.Backend."""
        overall = {backend: self.overall(backend) for backend in CPU_BACKENDS if backend in self.times}
        limit = min(overall.values()) * NOISE
        return tuple(sorted(overall, key=lambda backend: 0.0 if overall[backend] <= limit else overall[backend]))

    @property
    def backend(self) -> Backend:
        """The CPU backend that AUTO chooses by this calibration."""
        return self.order[0]

    def overall(self, backend: Backend) -> float:
        """Returns the geometric mean of a backend's times over the kinds of operations."""
        return math.exp(math.fsum(map(math.log, self.times[backend].values())) / len(KINDS))

    def reason(self) -> str:
        """Returns what AUTO chooses and why: `AVX-512; AVX2 takes 1.25 times as long, ...`."""
        chosen, *others = self.order
        base = self.overall(chosen)
        compared = [f"{other.label} takes {self.overall(other) / base:.2f} times as long" for other in others]
        return "; ".join([chosen.label, ", ".join(compared) or "it is the only one"])

    def __str__(self) -> str:
        rows = [["", *KINDS, "overall"]]
        for backend in self.order:
            figures = [*self.times[backend].values(), self.overall(backend)]
            rows.append([backend.label, *(f"{figure:.2f}" for figure in figures)])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join(lines)


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
    times = {backend.value: dict(of_kind) for backend, of_kind in calibration.times.items()}
    gpu, waking = (each and each._asdict() for each in (calibration.gpu, calibration.waking))
    content = {"format": FORMAT, "machine": _machine(), "date": calibration.date, "times": times}
    content |= {"gpu": gpu, "waking": waking, "rates": calibration.rates}
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
    from lanewise import hardware

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
    content = _table(content, {"format", "machine", "date", "times", "gpu", "waking", "rates"}, "the file")
    if content["format"] != FORMAT or isinstance(content["format"], bool):
        raise ValueError(f"expected format {FORMAT}, got {content['format']!r}")
    machine = _machine()
    if _table(content["machine"], set(machine), "machine") != machine:
        return None
    date = content["date"]
    if not (isinstance(date, str) and len(date) == 10 and date.isascii() and date.isprintable()):
        raise ValueError(f"expected date to be a string such as 2026-01-31, got {date!r:.40}")
    times = content["times"]
    if not (isinstance(times, dict) and times and times.keys() <= {backend.value for backend in CPU_BACKENDS}):
        raise ValueError(f"expected times to map names of CPU backends to times, got {times!r:.80}")
    rows = {Backend(name): _floats(row, KINDS, "times", 1.0, MAX_RELATIVE_TIME) for name, row in times.items()}
    if any(min(row[kind] for row in rows.values()) != 1.0 for kind in KINDS):
        raise ValueError(f"expected the time 1.0 for the fastest backend in each kind of operation, got {times!r:.80}")
    parsers: dict[str, Callable[[Any], Any]] = {"gpu": _gpu_times, "waking": _waking_times, "rates": _rates}
    optional = {name: parse(value) for name, parse in parsers.items() if (value := content[name]) is not None}
    return Calibration({backend: rows[backend] for backend in PRIORITY if backend in rows}, date, path, **optional)


def _table(value: Any, keys: set[str], name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"expected {name} to be a table, got {value!r:.80}")
    if wrong := sorted(value.keys() ^ keys):
        raise ValueError(f"expected other fields in {name}: missing or unknown {wrong!s:.80}")
    return value


def _floats(value: Any, keys: Iterable[str], name: str, least: float, most: float) -> dict[str, float]:
    table = _table(value, set(keys), name)
    wrong = {key: each for key, each in table.items() if not (isinstance(each, float) and least <= each <= most)}
    if wrong:
        raise ValueError(f"expected floats from {least:g} to {most:g} in {name}, got {wrong!r:.80}")
    return {key: table[key] for key in keys}


def _rates(value: Any) -> dict[str, float]:
    return _floats(value, RATED, "rates", 1 / MAX_RELATIVE_TIME, MAX_RELATIVE_TIME)


def _waking_times(value: Any) -> WakingTimes:
    times = WakingTimes(**_floats(value, WakingTimes._fields, "waking", 1.0, MAX_NANOSECONDS))
    if sorted(times) != list(times):
        raise ValueError(f"expected ready <= in_a_series <= sleeping, got {value!r:.80}")
    return times


def _gpu_times(value: Any) -> GpuTimes:
    table = _table(value, set(GpuTimes._fields), "gpu")
    rates = _table(table["rates"], set(PROMOTED), "rates")
    pairs = {name: rates[name] for name in PROMOTED}
    if table["backend"] not in [backend.value for backend in GPU_BACKENDS]:  # a set would raise TypeError for a list
        raise ValueError(f"expected the name of a GPU backend, got {table['backend']!r:.80}")
    if not (isinstance(table["adapter"], str) and isinstance(table["driver"], str | None)):
        raise ValueError(f"expected names, got adapter {table['adapter']!r:.80} and driver {table['driver']!r:.80}")
    if type(table["threads"]) is not int or not 1 <= table["threads"] <= 1 << 20:
        raise ValueError(f"expected a number of threads, got {table['threads']!r:.80}")
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs.values()):
        raise ValueError(f"expected two times for each operation, got {rates!r:.80}")
    times = {name: table[name] for name in ("opening", "latency", "upload", "download")}
    times |= {f"{name} {i}": time for name, pair in pairs.items() for i, time in enumerate(pair)}
    _floats(times, times, "gpu", 0.0, MAX_NANOSECONDS)
    paired = {name: (pair[0], pair[1]) for name, pair in pairs.items()}
    tiles = {name: _tiles(each) for name, each in _table(table["tiles"], set(TILED), "tiles").items()}
    return GpuTimes(**table | {"backend": Backend(table["backend"]), "rates": paired, "tiles": tiles})


def _tiles(value: Any) -> tuple[str, ...]:
    names = _ext.tile_names()
    if not (isinstance(value, list) and len(value) <= MAX_TILES and all(each in names for each in value)):
        raise ValueError(f"expected at most {MAX_TILES} of the tiles {', '.join(names)}, got {value!r:.80}")
    return tuple(value)
