"""`python -m lanewise bench --browser --goals`: every row of the browser's goals, measured in one page of Chromium. The
page runs the benchmark engine in Pyodide; this side gets what it needs, asks for each row, and prints the table."""

from __future__ import annotations

import gzip
import json
import statistics
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lanewise.errors import ArgumentError
from native.errors import BuildError
from tests.bench import goal_report, goals, machine, operations
from tests.bench.browser import chromium_page, compile_limits, npm
from tests.bench.browser.fixtures import pyodide_fixture
from tests.bench.goal_report import Row
from tests.bench.goals import Goal, Measured
from wasm import build

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = ROOT / "tests" / "bench"
OPTIONS = ("--browser", "--goals")  # what marks the places in documents for this table
PYODIDE = "0.27.7"  # the one with NumPy and scipy
JAVASCRIPT = ("onnxruntime", "tfjs", "jax")  # modules in page/
PEERS = ("numpy", "scipy", *JAVASCRIPT)
PACKAGES = ("numpy", "openblas", "scipy")

BUILD_NEEDS = ("hatchling", "ziglang", "yaml")  # pip fetches them where one is missing

# What a page downloads to use a peer, compressed as servers do.
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
class Settings:
    """What the user may choose."""

    repeats: int
    seconds: float
    peers: tuple[str, ...]
    wheel: Path | None = None  # else it is built
    documents: Sequence[Path] = ()  # to write the table into


@dataclass(frozen=True)
class Served:
    """What the page needs, built or fetched."""

    wheel: Path
    limits: Mapping[str, Path]
    pyodide: Path
    npm: Path | None  # only with peers that come from there

    def folders(self) -> dict[str, Path]:
        """By the first part of their addresses."""
        found = {
            "page": Path(__file__).with_name("page"),
            "pyodide": self.pyodide,
            "dist": self.wheel.parent,
            "limits": compile_limits.FOLDER,
        }
        return found if self.npm is None else {**found, "npm": self.npm}


def run(names: Sequence[str], settings: Settings, *, as_json: bool) -> int:
    """Measure the goals whose names begin so; the exit code is 1 where a result was wrong or a row has no figure."""
    chosen = goals.find(goals.BROWSER, names)
    if unknown := sorted(set(settings.peers) - set(PEERS)):
        raise ArgumentError(f"bench: there is no peer {unknown[0]!r} in the browser; there are {', '.join(PEERS)}")
    places = goal_report.places(settings.documents, OPTIONS, chosen)
    chromium_page.require()
    served = _served(settings)
    start = {
        "wheel": f"/dist/{served.wheel.name}",
        "programs": f"/limits/{pack_programs(compile_limits.FOLDER).name}",
        "packages": PACKAGES,
        "peers": [name for name in settings.peers if name in JAVASCRIPT],
        "limitUrls": {name: f"/limits/{path.name}" for name, path in served.limits.items()},
    }
    with chromium_page.opened(served.folders()) as page:
        imports = _imports(page, served.wheel, settings) if any(goal.name == goals.IMPORT for goal in chosen) else None
        page.load()
        about = json.loads(page.call("start", start))
        at_most = page.ask("limits", {"repeats": settings.repeats, "seconds": settings.seconds})
        heading = _heading(about, at_most)
        if not as_json:
            print("\n".join([*heading, ""]))
        rows = []
        for goal in chosen:
            print(goal.name, file=sys.stderr, flush=True)
            if goal.work:
                rows.append(_worked(page, goal, settings, about["default"]))
            elif goal.name == goals.WHEEL_SIZE:
                rows.append(Row(goal, _sizes(served, settings), ()))
            else:
                rows.append(Row(goal, imports, ()))
    if as_json:
        json.dump(goal_report.as_json({"page": about, "limits": at_most}, rows), sys.stdout, indent=1)
        print()
    else:
        print(goal_report.table(rows, settings.peers))
    for place in places:
        place.write(rows, settings.peers, heading)
    return 0 if goal_report.complete(rows) else 1


def _served(settings: Settings) -> Served:
    try:
        wheel = settings.wheel or build.build(compile_limits.FOLDER, isolated=not all(map(find_spec, BUILD_NEEDS)))
        pyodide = pyodide_fixture.fetch(PYODIDE)
        wants_npm = bool(set(settings.peers) & set(JAVASCRIPT))
        return Served(wheel, compile_limits.build(), pyodide, npm.fetch(pyodide.parent) if wants_npm else None)
    except (build.WheelError, BuildError, pyodide_fixture.FixtureError) as error:
        raise ArgumentError(f"bench: {error}") from None


def pack_programs(folder: Path) -> Path:
    """Writes an archive with the files of a checkout that the page needs: this benchmark without its tests."""
    path = folder / "programs.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tests/__init__.py", "")
        archive.write(operations.CASES, operations.CASES.relative_to(ROOT))
        for file in sorted(PROGRAMS.rglob("*.py")):
            if not file.name.startswith("test_"):
                archive.write(file, file.relative_to(ROOT))
    return path


def _worked(page: chromium_page.Page, goal: Goal, settings: Settings, default: str) -> Row:
    request = {
        "goal": goal.name,
        "peers": settings.peers,
        "repeats": settings.repeats,
        "seconds": settings.seconds,
    }
    try:
        found = page.ask("measure", request)
    except chromium_page.PageError as error:  # one row is lost, not the run
        return Row(goal, None, (f"no figure ({str(error).splitlines()[0]})",))
    return goal_report.from_case(goal, found, default, frozenset(PEERS).difference(settings.peers))


def _imports(page: chromium_page.Page, wheel: Path, settings: Settings) -> Measured:
    """Of the first import in a fresh page each time, in nanoseconds."""
    wanted = {"lanewise": f"/dist/{wheel.name}"}
    if "numpy" in settings.peers:
        wanted["numpy"] = "numpy"
    samples: dict[str, list[float]] = {name: [] for name in wanted}
    for _ in range(settings.repeats):
        for name, location in wanted.items():
            page.load()
            samples[name].append(page.call("importTime", location, name) * 1e6)
    ours = samples.pop("lanewise")
    return Measured(min(ours), statistics.median(ours), {name: min(times) for name, times in samples.items()})


def _sizes(served: Served, settings: Settings) -> Measured:
    size = float(served.wheel.stat().st_size)
    peers = {}
    if "numpy" in settings.peers:
        (numpy,) = served.pyodide.glob("numpy-*.whl")
        peers["numpy"] = float(numpy.stat().st_size)
    for name, files in DOWNLOADS.items():
        if served.npm and name in settings.peers:
            peers[name] = float(sum(len(gzip.compress((served.npm / file).read_bytes())) for file in files))
    return Measured(size, size, peers)


def _heading(about: Mapping[str, Any], at_most: Mapping[str, float]) -> list[str]:
    facts = machine.facts()
    return [
        f"{facts['cpu']}, {facts['cores']} cores, load {facts['load']}; Chromium, Pyodide {PYODIDE}, one thread",
        f"lanewise {about['lanewise']} on {about['default']}; {'; '.join(about['peers'].values())}",
        "limits of the engine: " + "; ".join(f"{name} {value:.3g}" for name, value in at_most.items()),
        "figures are minima; peers are in the unit of the row",
    ]
