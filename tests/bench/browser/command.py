"""`python -m tests.bench --goals --backends browser`: measures the browser's goals in a page in Chromium.

The page runs lanewise/timing.py in Pyodide. This module builds and fetches what the page needs, and asks the page to
measure each goal.
"""

from __future__ import annotations

import gzip
import json
import statistics
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lanewise.errors import ArgumentError
from native.errors import BuildError
from tests.bench import goals, machine, operations
from tests.bench.browser import chromium_page, compile_limits, packages, webgpu
from tests.bench.browser.table import (
    BROWSER,
    IMPORT,
    ONE_THREAD,
    THREADS,
    WEBGPU,
    WHEEL_SIZE,
    WITHOUT_NUMPY,
    WORKERS,
)
from tests.bench.goal_report import Row, Table, from_case, places, publish
from tests.bench.goals import Goal, Measured
from tests.bench.settings import Settings
from wasm import build, releases

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = ROOT / "tests" / "bench"
# --markdown writes the table of goals into a document, below a comment with `python -m tests.bench` and these options.
OPTIONS = ("--goals", "--backends", "browser")
PYODIDE = "0.27.7"  # wasm/releases.py fetches NumPy and SciPy for this Pyodide
JAVASCRIPT = ("onnxruntime", "tfjs", "jax")  # libraries to compare with; each has a module in page/
THREADED = ("onnxruntime", "jax")  # of them, those that can use web workers; tfjs 4.22 starts some and uses one
# Rows on two workers have this many times as many rounds as others. On two processors, the browser or the system needs
# one of them in most rounds: minima of 7 rounds were up to 1.7 times those of 60.
WORKER_ROUNDS = 8
PEERS = ("numpy", "scipy", *JAVASCRIPT)
PACKAGES = ("numpy", "openblas", "scipy")

BUILD_NEEDS = ("hatchling", "ziglang", "yaml")  # unless all are installed, pip installs them for the build

# The files that a page downloads to use each JavaScript library. Their sizes are measured compressed, as a
# server sends them.
DOWNLOADS: Mapping[str, tuple[str, ...]] = {
    "tfjs": (
        "@tensorflow/tfjs-core/dist/tf-core.min.js",
        "@tensorflow/tfjs-backend-wasm/dist/tf-backend-wasm.min.js",
        "@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm",
    ),
    "jax": ("@jax-js/jax/dist/index.js", "@jax-js/jax/dist/backend-CnjgxpXq.js"),
    "onnxruntime": (
        "onnxruntime-web/dist/ort.wasm.min.mjs",
        "onnxruntime-web/dist/ort-wasm-simd-threaded.mjs",
        "onnxruntime-web/dist/ort-wasm-simd-threaded.wasm",
    ),
}


@dataclass(frozen=True)
class Served:
    """The files that the page needs, after they were built or fetched."""

    wheel: Path
    limits: Mapping[str, Path]
    pyodide: Path
    npm: Path | None  # None if no peer from npm takes part

    def folders(self) -> dict[str, Path]:
        """Returns the folders to serve, by the first part of the URL's path."""
        folders = {
            "page": Path(__file__).with_name("page"),
            "pyodide": self.pyodide,
            "dist": self.wheel.parent,
            "limits": compile_limits.FOLDER,
        }
        return folders if self.npm is None else {**folders, "npm": self.npm}


def run(names: Sequence[str], settings: Settings) -> int:
    """Measures and reports the goals whose names begin with one of `names`, or all. Returns the exit status."""
    chosen = goals.find(BROWSER, names)
    peers = _peers(settings.peers)
    marked = places(settings.documents, OPTIONS, chosen)
    chromium_page.require()
    on_cpu = [goal for goal in chosen if goal not in (*WORKERS, *WEBGPU)]
    on_workers = [goal for goal in chosen if goal in WORKERS]
    on_gpu = [goal for goal in chosen if goal in WEBGPU]
    javascript = {
        *(JAVASCRIPT if on_cpu else ()),
        *(THREADED if on_workers else ()),
        *(webgpu.JAVASCRIPT if on_gpu else ()),
    }
    served = _served(settings.wheel, needs_npm=not javascript.isdisjoint(peers))
    measuring = (
        (_on_cpu, on_cpu, [name for name in peers if name in PEERS]),
        (_on_workers, on_workers, [name for name in peers if name in THREADED]),
        (_on_gpu, on_gpu, [name for name in webgpu.PEERS if name in peers]),
    )
    tables = [measure(rows, served, among, settings) for measure, rows, among in measuring if rows]
    whole = Table(
        [row for table in tables for row in table.rows],
        list(dict.fromkeys(name for table in tables for name in table.columns)),
        list(dict.fromkeys(line for table in tables for line in table.heading)),
        {name: fact for table in tables for name, fact in table.about.items()},
        f"in Chromium with Pyodide {PYODIDE} on {machine.short_cpu_name()}",
    )
    return publish(whole, settings, marked)


def _on_cpu(chosen: Sequence[Goal], served: Served, peers: Sequence[str], settings: Settings) -> Table:
    urls = {name: f"/limits/{path.name}" for name, path in served.limits.items()}
    with chromium_page.opened(served.folders()) as page:
        imports = _imports(page, served.wheel, peers, settings.repeats) if IMPORT in _names(chosen) else None
        page.load()
        about = _start(page, served, peers, limits=urls)
        limits = page.ask("limits", {"repeats": settings.repeats, "seconds": settings.seconds})
        engine = "limits of the engine: " + "; ".join(f"{name} {value:.3g}" for name, value in limits.items())
        heading = _heading(f"one thread: {_versions(about)}", engine, as_json=settings.as_json)
        rows = []
        for goal in chosen:
            _announce(goal)
            if goal.work:
                rows.append(measured_row(page, goal, peers, settings, about["default"]))
            elif goal.name == WHEEL_SIZE:
                rows.append(Row(goal, _download_sizes(served, peers), ()))
            else:
                rows.append(Row(goal, imports, ()))
    return Table(rows, peers, heading, {"page": about, "limits": limits})


def _on_workers(chosen: Sequence[Goal], served: Served, peers: Sequence[str], settings: Settings) -> Table:
    with chromium_page.opened(served.folders(), in_worker=True) as page:
        page.load()
        about = _start(page, served, peers, threads=THREADS)
        heading = _heading(f"{THREADS} workers, Pyodide in another: {_versions(about)}", as_json=settings.as_json)
        longer = replace(settings, repeats=WORKER_ROUNDS * settings.repeats)
        rows = []
        for goal in chosen:
            _announce(goal)
            rows.append(measured_row(page, goal, peers, longer, about["default"]))
    return Table(rows, [*peers, ONE_THREAD], heading, {"workers": about})


def _start(
    page: chromium_page.Page,
    served: Served,
    peers: Sequence[str],
    *,
    limits: Mapping[str, str] | None = None,
    threads: int = 1,
) -> dict[str, Any]:
    """Loads what the page measures, and returns what describe() in inside.py does.

    `limits` are the URLs of the modules of limits.c.
    """
    request = {
        "wheel": f"/dist/{served.wheel.name}",
        "programs": f"/limits/{pack_programs(compile_limits.FOLDER).name}",
        "packages": PACKAGES,
        "peers": [name for name in peers if name in JAVASCRIPT],
        "limitUrls": limits or {},
        "threads": threads,
    }
    about: dict[str, Any] = json.loads(page.call("start", request))
    return about


def _versions(about: Mapping[str, Any]) -> str:
    return f"lanewise {about['lanewise']} on {about['default']}; {'; '.join(about['peers'].values())}"


def _announce(goal: Goal) -> None:
    print(goal.name, file=sys.stderr, flush=True)


def _on_gpu(chosen: Sequence[Goal], served: Served, peers: Sequence[str], settings: Settings) -> Table:
    needed = {webgpu.OURS: [f"/dist/{served.wheel.name}"]}
    folders = served.folders()
    if webgpu.PYBORCH in peers:
        pyborch = _pyborch(served.pyodide.parent)
        folders["pypi"] = pyborch.parent
        needed[webgpu.PYBORCH] = ["numpy", f"/pypi/{pyborch.name}"]
    programs = f"/limits/{pack_programs(compile_limits.FOLDER).name}"
    print(", ".join(_names(chosen)), file=sys.stderr, flush=True)
    with chromium_page.opened(folders, webgpu=True) as page:
        asked = webgpu.requests((webgpu.OURS, *peers), programs, needed)
        found = webgpu.answers(page, asked, settings.repeats)
    versions = webgpu.versions(found)
    heading = _heading(f"WebGPU: {versions}", as_json=settings.as_json)
    rows = webgpu.rows(chosen, found, frozenset(webgpu.PEERS).difference(peers))
    return Table(rows, peers, heading, {"webgpu": versions})


def _names(chosen: Sequence[Goal]) -> list[str]:
    return [goal.name for goal in chosen]


def _peers(names: Sequence[str] | None) -> Sequence[str]:
    offered = tuple(dict.fromkeys((*PEERS, *webgpu.PEERS)))
    if names is None:
        return offered
    if unknown := sorted(set(names) - set(offered)):
        raise ArgumentError(f"bench: expected peers among {', '.join(offered)} in the browser, got {unknown[0]!r}")
    return tuple(dict.fromkeys(names))


def _served(wheel: Path | None, *, needs_npm: bool) -> Served:
    try:
        wheel = wheel or build.build(compile_limits.FOLDER, isolated=not all(map(find_spec, BUILD_NEEDS)))
        pyodide = releases.fetch(PYODIDE)
        return Served(wheel, compile_limits.build(), pyodide, _npm(pyodide.parent) if needs_npm else None)
    except (build.WheelError, BuildError, releases.ReleaseError) as error:
        raise ArgumentError(f"bench: {error}") from None


def _npm(cache: Path) -> Path:
    return packages.fetch(packages.NPM, cache) / "node_modules"


def _pyborch(cache: Path) -> Path:
    (wheel,) = packages.fetch(packages.PYPI, cache).glob("*.whl")
    return wheel


def pack_programs(folder: Path) -> Path:
    """Writes an archive of what the page needs besides the wheel: tests/bench without its tests, and bench.json.

    The benchmark makes the arguments of operations from bench.json.
    """
    path = folder / "programs.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tests/__init__.py", "")
        archive.write(operations.CASES, operations.CASES.relative_to(ROOT))
        for file in sorted(PROGRAMS.rglob("*.py")):
            if not file.name.startswith("test_"):
                archive.write(file, file.relative_to(ROOT))
    return path


def measured_row(page: chromium_page.Page, goal: Goal, peers: Sequence[str], settings: Settings, default: str) -> Row:
    """Measures a goal in the page and returns its row of the table. If the page throws, a note replaces the figure."""
    request = {
        "goal": goal.name,
        "peers": [name for name in peers if name != "numpy" or goal.name != WITHOUT_NUMPY],
        "repeats": settings.repeats,
        "seconds": settings.seconds,
    }
    try:
        case = page.ask("measure", request)
    except chromium_page.PageError as error:
        return Row(goal, None, (f"no figure ({str(error).splitlines()[0]})",))
    return from_case(goal, case, default, frozenset(PEERS).difference(peers))


def _imports(page: chromium_page.Page, wheel: Path, peers: Sequence[str], repeats: int) -> Measured:
    """Measures the first import of lanewise, and of NumPy if it is a peer, in nanoseconds, in a new page each time."""
    locations = {"lanewise": f"/dist/{wheel.name}"}
    if "numpy" in peers:
        locations["numpy"] = "numpy"
    samples: dict[str, list[float]] = {name: [] for name in locations}
    for _ in range(repeats):
        for name, location in locations.items():
            page.load()
            samples[name].append(page.call("importTime", location, name) * 1e6)
    ours = samples.pop("lanewise")
    return Measured(min(ours), statistics.median(ours), {name: min(times) for name, times in samples.items()})


def _download_sizes(served: Served, names: Sequence[str]) -> Measured:
    """Returns the size in bytes of the wheel, and of what a page downloads for each peer except SciPy."""
    size = float(served.wheel.stat().st_size)
    peers = {}
    if "numpy" in names:
        (numpy,) = served.pyodide.glob("numpy-*.whl")
        peers["numpy"] = float(numpy.stat().st_size)
    for name, files in DOWNLOADS.items():
        if served.npm and name in names:
            peers[name] = float(sum(len(gzip.compress((served.npm / file).read_bytes())) for file in files))
    return Measured(size, size, peers)


def _heading(*facts_of_run: str, as_json: bool) -> list[str]:
    """Returns the lines above a table, and prints them before the rows are measured unless JSON is to follow."""
    facts = machine.facts()
    heading = [
        f"{facts['cpu']}, {facts['cores']} cores, load {facts['load']}; Chromium, Pyodide {PYODIDE}",
        *facts_of_run,
        "figures are minima; peers are in the unit of the row",
    ]
    if not as_json:
        print("\n".join([*heading, ""]), flush=True)
    return heading
