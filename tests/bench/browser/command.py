"""Measures the browser's goals in a page in Chromium: `python -m tests.bench --goals --backends browser`.

The page runs lanewise/costs/timing.py in Pyodide. This module builds and fetches what the page needs, and asks the page
to measure each goal.
"""

from __future__ import annotations

import gzip
import json
import statistics
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lanewise.errors import ArgumentError
from native.errors import BuildError
from tests.bench import machine
from tests.bench.browser import chromium_page, packages, webgpu
from tests.bench.goals import Goal, Measured, load
from tests.bench.limits import compiled
from tests.bench.report import OURS, Row, Table, announce, from_case
from tests.bench.settings import Settings
from tests.cases import operations
from wasm import build, releases

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = (ROOT / "tests" / "bench", ROOT / "tests" / "cases")
PYODIDE = "0.27.7"  # wasm/releases.py fetches NumPy and SciPy for this Pyodide
PYTHON = ("numpy", "scipy", webgpu.PYBORCH)  # peers that npm does not have
PACKAGES = ("numpy", "openblas", "scipy")
SIMD = ("simd128", "relaxed_simd")

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
    """What the page needs, after it was built or fetched, and the options."""

    settings: Settings
    wheel: Path
    folders: Mapping[str, Path]  # the folders to serve, by the first part of the URL's path
    limits: Mapping[str, str]  # URLs of the modules of limits.c, by instruction set
    packages: Mapping[str, Sequence[str]]  # what Python libraries on WebGPU need in Pyodide


def measured(chosen: Sequence[Goal], settings: Settings) -> Table:
    """Measures goals, each part of the table in pages of its own."""
    offered = dict.fromkeys(name for goal in load("browser") for name in goal.peers)
    if unknown := sorted(set(settings.peers or ()) - set(offered)):
        raise ArgumentError(f"bench: expected peers among {', '.join(offered)} in the browser, got {unknown[0]!r}")
    chromium_page.require()
    taking_part = [name for name in offered if settings.peers is None or name in settings.peers]
    needs = served(settings, {name for goal in chosen for name in goal.peers if name in taking_part})
    tables = []
    for part, measure in {"page": _in_page, "workers": _in_page, "webgpu": _on_gpu}.items():
        rows = [goal for goal in chosen if goal.part == part]
        peers = [name for name in taking_part if any(name in goal.peers for goal in rows)]
        if rows:
            tables.append(measure(rows, needs, peers))
    return Table(
        [row for table in tables for row in table.rows],
        list(dict.fromkeys(line for table in tables for line in table.heading)),
        {name: fact for table in tables for name, fact in table.about.items()},
        f"in Chromium with Pyodide {PYODIDE} on {machine.short_cpu_name()}",
    )


def _in_page(chosen: Sequence[Goal], served: Served, peers: Sequence[str]) -> Table:
    """Measures goals for one thread in a page, or those for several in a web worker, which has further workers."""
    settings, threads = served.settings, chosen[0].threads
    several = threads > 1
    with chromium_page.opened(served.folders, in_worker=several) as page:
        imports = None
        if any(goal.how == "import" for goal in chosen):
            imports = _imports(page, served.wheel, peers, settings.repeats)
        page.load()
        about = start(page, served, peers, threads)
        versions = f"lanewise {about['lanewise']} on {about['default']}; {'; '.join(about['peers'].values())}"
        lines = heading(f"{threads} workers, Pyodide in another: {versions}" if several else f"one thread: {versions}")
        facts = {"workers": about} if several else {"page": about}
        if not several:
            facts["limits"] = page.ask("limits", {"repeats": settings.repeats, "seconds": settings.seconds})
            limits = "; ".join(f"{name} {value:.3g}" for name, value in facts["limits"].items())
            lines.insert(2, f"limits of the engine: {limits}")
        announce(lines, settings)
        others = {
            "wheel size": lambda goal: Row(goal, _download_sizes(served, peers), ()),
            "import": lambda goal: Row(goal, imports, ()),
        }
        row = partial(measured_row, page, peers=peers, settings=settings, default=about["default"])
        rows = []
        for goal in chosen:
            print(goal.name, file=sys.stderr, flush=True)
            rows.append(others.get(goal.how, row)(goal))
    return Table(rows, lines, facts)


def start(page: chromium_page.Page, served: Served, peers: Sequence[str], threads: int) -> dict[str, Any]:
    """Loads what the page measures, and returns what describe() in inside.py does."""
    request = {
        "wheel": f"/dist/{served.wheel.name}",
        "programs": f"/limits/{pack_programs(compiled.FOLDER).name}",
        "packages": PACKAGES,
        "peers": [name for name in peers if name not in PYTHON],
        "limitUrls": served.limits if threads == 1 else {},
        "threads": threads,
    }
    about: dict[str, Any] = json.loads(page.call("start", request))
    return about


def _on_gpu(chosen: Sequence[Goal], served: Served, peers: Sequence[str]) -> Table:
    print(", ".join(goal.name for goal in chosen), file=sys.stderr, flush=True)
    with chromium_page.opened(served.folders, webgpu=True) as page:
        needed = {name: served.packages.get(name, []) for name in (OURS, *peers)}
        found = webgpu.answers(page, needed, served.settings.repeats)
    versions = webgpu.versions(found)
    lines = heading(f"WebGPU: {versions}")
    announce(lines, served.settings)
    return Table(webgpu.rows(chosen, found), lines, {"webgpu": versions})


def served(settings: Settings, peers: set[str]) -> Served:
    """Builds or fetches what the page needs for these peers."""
    try:
        wheel = settings.wheel or build.build(compiled.FOLDER, isolated=not all(map(find_spec, BUILD_NEEDS)))
        pyodide = releases.fetch(PYODIDE)
        limits = {name: f"/limits/{path.name}" for name, path in compiled.build(SIMD, compiled.BROWSER).items()}
    except (build.WheelError, BuildError, releases.ReleaseError) as error:
        raise ArgumentError(f"bench: {error}") from None
    page = Path(__file__).with_name("page")
    folders = {"page": page, "pyodide": pyodide, "dist": wheel.parent, "limits": compiled.FOLDER}
    needed = {OURS: [f"/dist/{wheel.name}"]}
    if peers.difference(PYTHON):
        folders["npm"] = packages.fetch(packages.NPM, pyodide.parent)
    if webgpu.PYBORCH in peers:
        (pyborch,) = packages.fetch(packages.PYPI, pyodide.parent).glob("*.whl")
        folders["pypi"] = pyborch.parent
        needed[webgpu.PYBORCH] = ["numpy", f"/pypi/{pyborch.name}"]
    return Served(settings, wheel, folders, limits, needed)


def pack_programs(folder: Path) -> Path:
    """Writes an archive of what the page needs besides the wheel: tests/bench without its tests, tests/cases, and
    bench.json.

    The benchmark makes the arguments of operations from bench.json.
    """
    path = folder / "programs.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tests/__init__.py", "")
        archive.write(operations.CASES, operations.CASES.relative_to(ROOT))
        for file in sorted(file for folder in PROGRAMS for file in folder.rglob("*.py")):
            if not file.name.startswith("test_"):
                archive.write(file, file.relative_to(ROOT))
    return path


def measured_row(
    page: chromium_page.Page, goal: Goal, *, peers: Sequence[str], settings: Settings, default: str
) -> Row:
    """Measures a goal in the page and returns its row of the table. If the page throws, a note replaces the figure."""
    taking_part = [name for name in goal.peers if name in peers]
    request = {
        "goal": asdict(goal),
        "peers": taking_part,
        "repeats": goal.rounds * settings.repeats,
        "seconds": settings.seconds,
    }
    try:
        case = page.ask("measure", request)
    except chromium_page.PageError as error:
        return Row(goal, None, (f"no figure ({str(error).splitlines()[0]})",))
    return from_case(goal, case, default, frozenset(goal.peers).difference(taking_part))


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
        (numpy,) = served.folders["pyodide"].glob("numpy-*.whl")
        peers["numpy"] = float(numpy.stat().st_size)
    for name, files in DOWNLOADS.items():
        if name in names:
            contents = ((served.folders["npm"] / file).read_bytes() for file in files)
            peers[name] = float(sum(len(gzip.compress(content)) for content in contents))
    return Measured(size, size, peers)


def heading(versions: str, figures: str = "minima") -> list[str]:
    """Returns the lines above a table."""
    facts = machine.facts()
    machine_and_browser = f"{facts['cpu']}, {facts['cores']} cores, load {facts['load']}; Chromium, Pyodide {PYODIDE}"
    return [machine_and_browser, versions, f"figures are {figures}; peers are in the unit of the row"]
