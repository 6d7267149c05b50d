"""Runs the kernels and the extension under sanitizers. gcc builds them, because Debian packages its sanitizer runtimes.

AddressSanitizer, which also finds leaks, and UndefinedBehaviorSanitizer check the kernels in runner.c, and the
extension in tests/extension and two files of tests/sweep. ThreadSanitizer checks both in tests of the thread pool.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from oracle_runner import ROOT, compile_runner, run

import lanewise as lw
from native import binaries, compiler
from native.targets import host

PACKAGES = ROOT / "build" / "sanitized"
RUNTIMES = {"address": ("libasan.so", "libubsan.so"), "thread": ("libtsan.so",)}
REPORTS = ROOT / "build" / "reports" / "sanitizer"  # in files, because pytest loses captured output if the process dies
# Python uses malloc, because its own allocator would hide overruns and leaks. A failed allocation returns NULL instead
# of ending the process: tests cover that case. __tls_get_addr is not intercepted: if a thread's block of thread-local
# variables happens to begin 16 bytes into a page, libasan of gcc 12 takes its own header of that block for one of the
# C library's, and LeakSanitizer dies when it scans the range that it reads there. It needs no interception to find such
# blocks, because the thread points to them.
PROGRAMS = Path(__file__).with_name("programs")
OPTIONS = f"detect_leaks=1:intercept_tls_get_addr=0:allocator_may_return_null=1:exitcode=99:log_path={REPORTS}"
SETTINGS = {
    "ASAN_OPTIONS": f"{OPTIONS}:leak_check_at_exit=0",  # Python does not free all at exit; CHECK_LEAKS checks earlier
    "UBSAN_OPTIONS": f"print_stacktrace=1:log_path={REPORTS}",
    "LSAN_OPTIONS": f"suppressions={PROGRAMS / 'leaks.supp'}:print_suppressions=0",
    "TSAN_OPTIONS": f"exitcode=99:log_path={REPORTS}:suppressions={PROGRAMS / 'races.supp'}",
    "PYTHONMALLOC": "malloc",
    "PYTHONSAFEPATH": "1",
    "LANEWISE_REQUIRE": "",
    "LANEWISE_NO_MATRIX": "1",
}
PYTEST = "import pytest, sys; status = pytest.main(sys.argv[1:])"
# Looks for leaks while the interpreter still runs and refers to the memory that Python and NumPy keep, so that none of
# it is reported. Suppressing what Python's functions allocate would hide leaks of Lanewise, too, because the stacks in
# the sanitizer's reports often break off in Python's functions, before those of Lanewise that called them.
CHECK_LEAKS = """
import ctypes, gc, os, sys
frame = sys._getframe()  # otherwise only Python's stack refers to it, which the sanitizer does not scan
gc.collect()
leaks = ctypes.CDLL(None).__lsan_do_recoverable_leak_check()
sys.stdout.flush()
os._exit(status or bool(leaks))
"""
# It measures the process's memory. To detect use after free, AddressSanitizer frees memory late, and the test would
# report the delay as a leak.
LEAK_TEST = "test_pool.py::test_eight_threads_leak_nothing"
# It forks while other threads run. If one of them holds a lock of the sanitizer's allocator, the child waits forever.
FORK_TEST = "test_pool.py::test_fork_while_the_pool_is_in_use"
# These tests repeat calls, or make a long one, for what AddressSanitizer does not look for: races, the GIL and page
# faults. It sees the same accesses in test_pool.py::test_the_number_changes_while_calls_run and in calls of the rest of
# the tests.
LONG_TESTS = (
    "test_threads.py::test_eight_threads_at_once",  # test_no_data_races() runs it
    "test_threads.py::test_large_work_releases_the_gil",
    "test_pool.py::test_ten_thousand_calls_from_eight_threads",
    "test_storage.py::test_a_second_large_result_costs_no_page_faults",
)


def _runtime(name: str) -> Path:
    done = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return Path(done.stdout.strip())


def _environment(sanitizer: str) -> dict[str, str]:
    """Returns an environment in which Python can import the sanitized package: it preloads the sanitizer's runtime."""
    preload = " ".join(str(_runtime(name)) for name in RUNTIMES[sanitizer])
    return {**os.environ, **SETTINGS, "PYTHONPATH": str(PACKAGES / sanitizer), "LD_PRELOAD": preload}


def _reported() -> str:
    """Returns the reports of the sanitizers."""
    return "\n".join(path.read_text() for path in REPORTS.parent.glob("sanitizer.*"))


def _remove_reports() -> None:
    for path in REPORTS.parent.glob("sanitizer.*"):
        path.unlink()


def _absent() -> str:
    if not sys.platform.startswith("linux") or shutil.which("gcc") is None:
        return "the sanitizers' build needs gcc on Linux"
    missing = [name for names in RUNTIMES.values() for name in names if not _runtime(name).is_absolute()]
    return f"gcc has no {', '.join(missing)} here" if missing else ""


pytestmark = pytest.mark.skipif(bool(_absent()), reason=_absent() or "never")


def _build(sanitizer: str, *options: str) -> Path:
    """Builds the package with a sanitizer, and returns its folder."""
    into = PACKAGES / sanitizer
    command = [sys.executable, ROOT / "native" / "build.py", "--sanitize", sanitizer, "--into", into, *options]
    _remove_reports()
    done = subprocess.run(command, env={**os.environ, "CC": "gcc"}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    extension = into / "lanewise" / host().extension
    assert any(RUNTIMES[sanitizer][0] in name for name in binaries.read(extension).needed)
    return into / "lanewise"


def _run_tests(package: Path, environment: dict[str, str], *arguments: object) -> None:
    program = "import lanewise._ext; print(lanewise._ext.__file__)"
    found = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert found.stdout.strip() == str(package / host().extension), found.stderr
    end = CHECK_LEAKS if "libasan" in environment["LD_PRELOAD"] else "sys.exit(status)"
    command = [sys.executable, "-c", f"{PYTEST}\n{end}", "-q", "-x", "-p", "no:faulthandler", *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}\n{_reported()}"


def _checked_libraries() -> list[str]:
    """Returns the scalar instruction set and the best one of this processor. Those between differ from them in the
    width of vectors, and tests/sweep/test_kernels.py finds what they access outside of arrays."""
    names = [info.name.value for info in lw.backends() if info.available and not info.name.is_gpu]
    return sorted({"scalar", names[0]})


@pytest.fixture(scope="module")
def sanitized() -> Path:
    return _build("address", "--only", *_checked_libraries())


def test_the_kernels(sanitized: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ASAN_OPTIONS", OPTIONS)
    monkeypatch.setenv("CC", "gcc")
    runner = compile_runner(host(), compiler.choose(sanitizer="address"))
    monkeypatch.setenv(
        "LD_PRELOAD", _environment("address")["LD_PRELOAD"]
    )  # because kernel libraries are not linked with the runtime
    for name in _checked_libraries():
        report = run([runner, sanitized / "_lib" / f"kernels_{name}.so"])
        assert (report.library, sum(report.failed.values())) == (name, 0), report.output[-2000:]
    assert not _reported()


def test_the_extension(sanitized: Path) -> None:
    tests = [ROOT / "tests" / name for name in ("extension", "sweep/test_numpy.py", "sweep/test_out.py")]
    unfit = [f"--deselect=tests/extension/{name}" for name in (LEAK_TEST, FORK_TEST, *LONG_TESTS)]
    _run_tests(sanitized, _environment("address"), *unfit, *tests)


def test_resident_memory(sanitized: Path) -> None:
    """Runs the test that measures the memory of the process, with the sanitizer set to free at once."""
    environment = _environment("address")
    environment["ASAN_OPTIONS"] += ":quarantine_size_mb=0:thread_local_quarantine_size_kb=0"
    _run_tests(sanitized, environment, ROOT / "tests" / "extension" / LEAK_TEST)


@pytest.mark.parametrize("lost", ["ctypes.CDLL(None).malloc(1000)", "python.Py_IncRef(ctypes.py_object(lw.ones(3)))"])
def test_a_leak_is_reported(sanitized: Path, lost: str) -> None:
    program = f"""
import ctypes
import lanewise as lw
status, python = 0, ctypes.pythonapi
for _ in range(100):
    {lost}
{CHECK_LEAKS}"""
    done = subprocess.run([sys.executable, "-c", program], env=_environment("address"), capture_output=True, text=True)
    reported = _reported()
    _remove_reports()
    assert (done.returncode, "LeakSanitizer: detected memory leaks" in reported) == (1, True), done.stderr


def test_no_data_races() -> None:
    """Runs two tests, in which threads compute concurrently, share work, and change the number of threads. It runs no
    others, because code is a hundred times slower under the sanitizer."""
    package = _build("thread", "--only", host().isas[1].name)  # one backend is enough: threads work the same on all
    chosen = ("test_threads.py::test_eight_threads_at_once", "test_pool.py::test_the_number_changes_while_calls_run")
    tests = [ROOT / "tests" / "extension" / name for name in chosen]
    _run_tests(package, _environment("thread"), "--durations=9", *tests)
    assert not _reported()
