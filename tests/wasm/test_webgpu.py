"""Tests tensors on WebGPU in Chromium, on SwiftShader: in a page and in a worker, with every Pyodide that engines.py
runs there, where the browser can suspend Python and where it cannot. Also tests what is said without WebGPU."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import engines
import pytest
import support
from chromium import Chromium, Driver
from console import Console
from local_site import LocalSite
from test_sweep import OPERATIONS, TESTS, mounts_for

from lanewise.backends.devices import LIMITS
from wasm import releases

PROGRAMS = TESTS / "wasm" / "programs"
ENGINES = [each for each in engines.ENGINES if each.partition("-")[0] in ("page", "worker")]
# Pyodide takes a browser without these for one that cannot suspend Python, such as Safari 26.
WITHOUT_JSPI = "delete WebAssembly.Suspending; delete WebAssembly.promising;"

Results = dict[str, Any]


def in_engine(place: str) -> pytest.MarkDecorator:
    """Runs a test in an engine that other tests have started, with the newest release that all browsers run."""
    return pytest.mark.parametrize("engine", [f"{place}-{engines.NEWEST}"], indirect=True, scope="session")


@pytest.fixture(scope="module")
def gpu_chromium(driver: Driver) -> Iterator[Chromium]:
    with closing(driver.launch(webgpu=True)) as browser:
        yield browser


@pytest.fixture(scope="module", params=ENGINES)
def gpu_engine(request: pytest.FixtureRequest, gpu_chromium: Chromium, site: LocalSite) -> Iterator[engines.Engine]:
    place, _, version = request.param.partition("-")
    with closing(Console(gpu_chromium, site, version, worker=place == "worker")) as console:
        yield engines.BrowserEngine(console)


@pytest.fixture(scope="module")
def results(gpu_engine: engines.Engine) -> Results:
    found: Results = gpu_engine.run(PROGRAMS / "webgpu.py")
    return found


@pytest.fixture(scope="module")
def lost(gpu_engine: engines.Engine, results: Results) -> Results:
    """What programs/webgpu_loss.py returns, after the program that must be the first."""
    found: Results = gpu_engine.run(PROGRAMS / "webgpu_loss.py")
    return found


@pytest.fixture(scope="module")
def awaited(gpu_engine: engines.Engine, results: Results) -> Results:
    found: Results = gpu_engine.run(PROGRAMS / "webgpu_await.py")
    return found


@pytest.fixture(scope="module")
def never_suspending(driver: Driver) -> Iterator[Chromium]:
    with closing(driver.launch(webgpu=True, script=WITHOUT_JSPI)) as browser:
        yield browser


@pytest.fixture(scope="module", params=[min(releases.DISTRIBUTIONS), max(releases.DISTRIBUTIONS)])
def never_suspended(request: pytest.FixtureRequest, never_suspending: Chromium, site: LocalSite) -> Iterator[Results]:
    """What programs/webgpu_await.py returns in a page that cannot suspend Python."""
    with closing(Console(never_suspending, site, request.param)) as console:
        yield console.run(PROGRAMS / "webgpu_await.py")


def test_import_loads_nothing_of_it(results: Results) -> None:
    assert results["loaded by import"] == []


def test_the_adapter_is_described_and_auto_leaves_out_a_software_one(results: Results) -> None:
    assert results["info"] == "✓ wgpu: [0] google swiftshader (software)"
    assert results["auto"] in ("relaxed_simd", "simd128")


def test_limits_and_features_of_the_adapter(results: Results) -> None:
    """Every adapter has at least WebGPU's default limits."""
    assert list(results["limits"]) == list(LIMITS)
    assert results["limits"]["maxBufferSize"] >= 2**28
    assert results["limits"]["maxComputeWorkgroupSizeX"] >= 256
    assert "core-features-and-limits" in results["features"]
    assert list(results["features"]) == sorted(results["features"])


def test_operations(results: Results) -> None:
    found = results["basics"]
    assert found.pop("softmax") == pytest.approx([1.0, 1.0], abs=1e-6)
    assert found == {
        "add": [[2.0, 4.0, 6.0], [8.0, 10.0, 12.0]],
        "with a number": [[1.0, 3.0, 5.0], [7.0, 9.0, 11.0]],
        "int32": [1000, -2000, 3000],
        "int64": [1, -(2**40)],
        "comparison": [[False, False, True], [True, True, True]],
        "bool view": [False, True, True],
        "transpose": [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]],
        "sum": [5.0, 7.0, 9.0],
        "mean": 3.5,
        "argmax": [2, 2],
        "matmul": [[14.0, 32.0], [32.0, 77.0]],
        "empty": [],
        "item": 6.0,
        "repr": "Tensor([1., 2., 3.], backend=wgpu)",
        "device": "wgpu",
        "back": "cpu",
    }


def test_assignment(results: Results) -> None:
    assert results["assignment"] == [[2.0, 2.0, 8.0], [6.0, 7.0, 9.0]]


def test_random_numbers_have_the_bits_of_the_cpu(results: Results) -> None:
    assert results["random"] == {"rand": True, "randn": True}


def test_a_chain_is_read_once_and_submitted_in_batches(results: Results) -> None:
    found = results["chain"]
    assert found["total"] == pytest.approx(2000.0)
    assert (found["uploads"], found["readbacks"], found["dispatches"]) == (0, 1, 101)
    assert found["submissions"] <= 3


def test_elementwise_operations_run_as_one_kernel(results: Results) -> None:
    """15 operations and a sum are two dispatches, and only their results are allocated."""
    expected = {"total": pytest.approx(1968.75), "readbacks": 1, "dispatches": 2, "submissions": 1, "num_allocs": 2}
    assert results["fused"] == expected


def test_tiles(results: Results) -> None:
    assert results["tiles"] == dict.fromkeys(("matmul", "transposed", "few rows", "conv2d", "attention"), True)


def test_memory_does_not_grow_with_the_number_of_operations(results: Results) -> None:
    after_a_tenth, at_the_end = results["growth"]
    assert at_the_end == after_a_tenth


def test_a_large_tensor(results: Results) -> None:
    assert results["large"] == 1 << 23


def _check_awaited(found: Results) -> None:
    """Checks what does not depend on whether the browser can suspend Python."""
    assert (found["opened"], found["again"], found["auto"]) == ("wgpu", "wgpu", False)
    assert found["computed"] == [[8.0 * row + 2.0 * column + 1.0 for column in range(4)] for row in range(3)]
    assert found["transposed"] == [[4.0 * row + column for row in range(3)] for column in range(4)]
    assert found["bool view"] == [[True, True], [True, True]]
    assert found["float16"] == [1.0, 2.0, 3.0]
    assert (found["scalar"], found["empty"], found["on the CPU"]) == (66.0, [], [0, 1, 2])
    if found["numpy"]:
        assert found["numpy_async"] == [[0.0, 1.0, 2.0, 3.0], False]
        assert found["numpy_async on the CPU"] == [[0, 1, 2], True]
    else:
        for name in ("numpy_async", "numpy_async on the CPU"):
            assert found[name][0].startswith("numpy: NumPy is not installed")
    assert found["together"] == [[0.0, 1.0, 2.0, 3.0], [5.0, 6.0, 7.0, 8.0], [8.0, 9.0, 10.0, 11.0]]
    assert found["readbacks"] == 3
    reason = "wgpu failed: Python cannot wait for the GPU here; write `await tensor.cpu_async()`"
    assert found["read"] == f"DeviceError: tolist: {reason}"
    assert found["shown"] == [f"Tensor(shape=(2,), dtype=float32, backend=wgpu; {reason})"] * 2
    assert (found["reset"], found["after reset"]) == ("wgpu", [2.0, 2.0, 2.0])


def test_await_works_where_the_browser_suspends_python(awaited: Results) -> None:
    assert awaited["can wait"]
    _check_awaited(awaited)


def test_await_works_where_the_browser_never_suspends_python(never_suspended: Results) -> None:
    assert not never_suspended["can wait"]
    assert '`await lw.init_backend("wgpu")` looks for an adapter' in never_suspended["before"]
    assert never_suspended["without await"] == ["wgpu", "False"]
    _check_awaited(never_suspended)


def test_a_lost_device_is_named_and_replaced_by_reset(lost: Results) -> None:
    found = lost["destroyed"]
    cure = 'wgpu was lost: Device was destroyed; open it again with lw.reset("wgpu")'
    for name, operation in {"read": "tolist", "operation": "add", "upload": "to"}.items():
        assert found[name] == f"DeviceError: {operation}: {cure}"
    for name in ("numpy_async", "cpu_async"):
        assert found[name] == f"DeviceError: {name}: {cure}"
    assert found["cpu"] == [2.0, 2.0, 2.0]
    assert found["reset"] == "wgpu"
    assert found["old tensor"] == "DeviceError: tolist: wgpu was lost: Device was destroyed"
    assert found["after"] == [2.0, 2.0, 2.0]


def test_a_shader_that_does_not_compile_is_named(lost: Results) -> None:
    found = lost["miscompiled"]
    for name in ("error", "later"):
        assert found[name].startswith("DeviceError: ")
        assert "error when compiling hypot_float32: Error while parsing WGSL" in found[name]
    assert (found["cpu"], found["reset"], found["after"]) == ([2.0, 2.0, 2.0], "wgpu", [3.0, 3.0, 3.0])


def test_a_dispatch_that_cannot_be_submitted_is_reported_by_the_next_read(lost: Results) -> None:
    found = lost["oversized"]
    assert (found["before"], found["reset"]) == ([2.0, 2.0, 2.0], "wgpu")
    assert found["error"].startswith("DeviceError: tolist: wgpu was lost: error when submitting work: Dispatch ")


def test_a_large_buffer_that_does_not_fit_is_tried_again_and_refused(lost: Results) -> None:
    found = lost["out of memory"]
    assert (found["total"], found["retries"]) == (1 << 22, 1)
    assert found["error"] == (
        "OutOfMemoryError: to: cannot allocate 33554432 bytes on wgpu: out of memory when allocating 33554432 bytes: "
        "no memory left; use smaller arrays, or release some"
    )
    assert found["after"] == [2.0, 2.0, 2.0]


def test_a_part_of_the_oracle_in_each_engine(
    gpu_engine: engines.Engine, lost: Results, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Each engine runs a share of the operations, so that together they run all of them. Also checks the device that
    follows a lost one."""
    part = support.share(OPERATIONS, ENGINES.index(request.node.callspec.params["gpu_engine"]), len(ENGINES))
    found = gpu_engine.run(PROGRAMS / "webgpu_sweep.py", mounts=mounts_for(part, tmp_path), timeout=600)
    assert sorted(found) == sorted(part)
    wrong = {name: complaints for name, complaints in found.items() if complaints}
    assert not wrong


@pytest.mark.parametrize("gpu_engine", [ENGINES[-1]], indirect=True)
def test_the_demo_predicts_what_the_cpu_does(gpu_engine: engines.Engine) -> None:
    """`python -m lanewise demo` has a line for WebGPU, and all predictions agree."""
    report = gpu_engine.run(PROGRAMS / "digits.py", timeout=600)
    names = {each["name"] for each in report["readers"]}
    assert names >= {"wgpu", "simd128"}
    assert report["agree"] and report["status"] == 0


@in_engine("firefox")
def test_firefox(engine: engines.Engine) -> None:
    """Computes on WebGPU where Firefox has an adapter; elsewhere, it is refused with a reason, and the CPU goes on."""
    found = engine.run(PROGRAMS / "webgpu_missing.py")
    assert (found["auto"], found["cpu"]) == (False, [2.0, 2.0])
    if found["reason"] is None:
        assert (found["error"], found["gpu"]) == ("", [2.0, 4.0, 6.0])
    else:
        assert re.match(
            "this JavaScript has no navigator.gpu; |the browser has no adapter for WebGPU; ", found["reason"]
        )
        assert found["reason"] in found["error"]
        assert found["gpu"] is None


def test_a_note_says_that_kernels_are_compiled(gpu_chromium: Chromium, site: LocalSite) -> None:
    """It comes while new kernels first run, not afterwards."""
    with closing(Console(gpu_chromium, site, engines.NEWEST)) as console:
        first, second = console.run(PROGRAMS / "webgpu_note.py")
    assert first == second and len(first) == 1
    assert re.fullmatch("lanewise: waiting for .*swiftshader.*, which compiles each kernel before .*", first[0])


@pytest.mark.parametrize("script", ["", WITHOUT_JSPI])
def test_an_adapter_that_gives_no_device_is_listed_as_missing(driver: Driver, site: LocalSite, script: str) -> None:
    """AUTO goes on with the CPU."""
    with (
        closing(driver.launch(webgpu=True, script=script)) as browser,
        closing(Console(browser, site, engines.NEWEST)) as console,
    ):
        found = console.run(PROGRAMS / "webgpu_refusal.py")
    assert (found["auto"], found["cpu"]) == (False, [2.0, 2.0])
    assert found["first"] == found["listed"] == "✗ wgpu: no queue is left"
    assert all("no queue is left" in error for error in found["errors"]) and len(found["errors"]) == 2


@in_engine("page")
def test_a_browser_without_an_adapter_says_so(engine: engines.Engine) -> None:
    found = engine.run(PROGRAMS / "webgpu_missing.py")
    assert found["reason"].startswith("the browser has no adapter for WebGPU; see chrome://gpu")
    assert found["reason"] in found["error"]
    assert (found["auto"], found["cpu"]) == (False, [2.0, 2.0])


@in_engine("node")
def test_an_engine_without_webgpu_says_so(engine: engines.Engine) -> None:
    found = engine.run(PROGRAMS / "webgpu_missing.py")
    assert found["reason"].startswith("this JavaScript has no navigator.gpu; use a browser with WebGPU")
    assert found["reason"] in found["error"]
    assert (found["auto"], found["cpu"]) == (False, [2.0, 2.0])
    summary = found["summary"]  # what runs comes first, and no advice needs a command line
    marks = re.findall("^[✓✗]", summary, re.MULTILINE)
    assert "".join(marks) == "✓" * len(engine.backends) + "✗" * (len(marks) - len(engine.backends))
    assert not re.search("pip |python |LANEWISE_|install", summary), summary
