"""Tests the web workers of lw.init_threads() in pages that are cross-origin isolated, with Pyodide in the page or in a
worker, and what is said elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import engines
import pytest
from chromium import Chromium, Driver
from console import PAGES, Console
from local_site import ISOLATION, LocalSite
from test_webgpu import WITHOUT_JSPI, in_engine

from wasm import releases

PROGRAMS = Path(__file__).parent / "programs"
ENGINES = ("page-0.27.7", f"page-{engines.NEWEST}", f"worker-{engines.NEWEST}", f"firefox-{engines.NEWEST}")

Results = dict[str, Any]


@pytest.fixture(scope="module")
def isolated_site(wheel: Path) -> Iterator[LocalSite]:
    folders = {f"pyodide-{version}": engines.distribution(version) for version in releases.DISTRIBUTIONS}
    with closing(LocalSite({"pages": PAGES, **folders}, {"lanewise": wheel}, ISOLATION)) as served:
        yield served


@pytest.fixture(scope="module")
def collecting(driver: Driver) -> Iterator[Chromium]:
    """Chromium with gc(), a function that collects garbage."""
    with closing(driver.launch(["--expose-gc"])) as browser:
        yield browser


@pytest.fixture(scope="module", params=ENGINES)
def results(request: pytest.FixtureRequest, isolated_site: LocalSite) -> Iterator[Results]:
    place, _, version = request.param.partition("-")
    browser = request.getfixturevalue("firefox" if place == "firefox" else "collecting")
    with closing(Console(browser, isolated_site, version, worker=place == "worker")) as console:
        yield {"place": place, **console.run(PROGRAMS / "workers.py")}


def test_bits_are_those_of_one_thread(results: Results) -> None:
    """Long matrix products, convolutions and attention run on the workers, other calls do not."""
    assert results["different"] == {"1": [], "2": [], "3": []}
    assert [results[f"{count} threads"] for count in (1, 2, 3)] == [1, 2, 3]


def test_numbers_of_threads_are_checked(results: Results) -> None:
    assert results["kept"] == "accepted"
    assert results["refused"] == (
        "ArgumentError: set_num_threads: expected 1 thread or as many as there are (3), got 2; "
        "await lw.init_threads(n) to have n"
    )
    counts = [f"ArgumentError: init_threads: expected a number of threads from 1 to 64, got {n}" for n in (0, -1, 65)]
    assert results["bad"][:3] == counts
    assert results["bad"][3].endswith(f"from 1 to 64, got {1 << 70}")
    assert [text.partition(", got")[0] for text in results["bad"][4:]] == [
        "ArgumentTypeError: init_threads: expected an int for n"
    ] * 3


def test_memories_grow(results: Results) -> None:
    assert results["growth"] == [True] * 3


def test_calls_that_do_not_fit_run_on_one_thread(results: Results) -> None:
    """Neither is the lack of memory for operands or scratch an error, nor does it end the workers."""
    assert results["too large"] == [[True, [False], 2]] * 2


def test_ctrl_c_stops_a_call(results: Results) -> None:
    assert results["interrupted"] == ["KeyboardInterrupt", True, [True]]


def test_other_tasks_may_multiply_while_a_call_waits(results: Results) -> None:
    assert results["other task"] == [True, True]


def test_a_worker_that_ends_gives_one_warning(results: Results) -> None:
    """Between calls and during a call: results are right, and later calls run on one thread."""
    warning = "RuntimeWarning: lost the workers of init_threads (they did not answer); using one thread"
    assert results["lost"] == [[[True, True], [warning], 1]] * 2


def test_set_num_threads_ends_the_workers(results: Results) -> None:
    """Garbage collection, which a program cannot request in Firefox, then frees the memory that they shared."""
    is_freed = None if results["place"] == "firefox" else True
    assert results["ended"] == [1, [3, 0], is_freed]


@in_engine("page")
def test_a_page_that_is_not_isolated_says_so(engine: engines.Engine) -> None:
    found = engine.run(PROGRAMS / "workers_refused.py")
    assert found == {
        "error": "init_threads: expected a page that is cross-origin isolated, got one that cannot share memory; serve "
        "it with the headers Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp",
        "same": True,
        "threads": 1,
        "ended": 1,
    }


@in_engine("node")
def test_node_says_so(engine: engines.Engine) -> None:
    found = engine.run(PROGRAMS / "workers_refused.py")
    assert found["error"] == (
        "init_threads: expected a browser, got a JavaScript runtime without web workers; remove this call"
    )
    assert (found["same"], found["threads"]) == (True, 1)


def test_a_page_that_cannot_suspend_python_uses_one_thread(driver: Driver, isolated_site: LocalSite) -> None:
    with (
        closing(driver.launch(script=WITHOUT_JSPI)) as browser,
        closing(Console(browser, isolated_site, engines.NEWEST)) as console,
    ):
        found = console.run(PROGRAMS / "workers_refused.py")
    assert found == {"error": "", "same": True, "threads": 2, "ended": 1}
