"""AddressSanitizer and UndefinedBehaviorSanitizer over the kernels, through the oracle runner, and over the extension,
through its own tests and those of shapes and strides. Built by gcc, whose runtimes Debian has."""

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

PACKAGE = ROOT / "build" / "sanitized"
RUNTIMES = ("libasan.so", "libubsan.so")
REPORTS = ROOT / "build" / "reports" / "sanitizer"  # pytest captures what is printed, and dies with it
# Python keeps what it allocated until the process ends, and its own allocator would hide an overrun. Memory that cannot
# be had is an error to handle.
SETTINGS = {
    "ASAN_OPTIONS": f"detect_leaks=0:allocator_may_return_null=1:exitcode=99:log_path={REPORTS}",
    "UBSAN_OPTIONS": f"print_stacktrace=1:log_path={REPORTS}",
    "PYTHONMALLOC": "malloc",
    "PYTHONPATH": str(PACKAGE),
    "PYTHONSAFEPATH": "1",
    "LANEWISE_REQUIRE": "",
}


def _runtime(name: str) -> Path:
    done = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return Path(done.stdout.strip())


def _preload() -> str:
    return " ".join(str(_runtime(name)) for name in RUNTIMES)


def _said() -> str:
    """What the sanitizers reported."""
    return "\n".join(path.read_text() for path in REPORTS.parent.glob("sanitizer.*"))


def _absent() -> str:
    if not sys.platform.startswith("linux") or shutil.which("gcc") is None:
        return "the sanitizers' build needs gcc on Linux"
    missing = [name for name in RUNTIMES if not _runtime(name).is_absolute()]
    return f"gcc has no {', '.join(missing)} here" if missing else ""


pytestmark = pytest.mark.skipif(bool(_absent()), reason=_absent() or "never")


@pytest.fixture(scope="module")
def sanitized() -> Path:
    """The whole package with checked binaries."""
    command = [sys.executable, ROOT / "native" / "build.py", "--sanitize", "--into", PACKAGE]
    for path in REPORTS.parent.glob("sanitizer.*"):
        path.unlink()
    done = subprocess.run(command, env={**os.environ, "CC": "gcc"}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    extension = PACKAGE / "lanewise" / host().extension
    assert any("libasan" in name for name in binaries.read(extension).needed)
    return PACKAGE / "lanewise"


def test_the_kernels(sanitized: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CC", "gcc")
    runner = compile_runner(host(), compiler.choose(sanitize=True))
    monkeypatch.setenv("LD_PRELOAD", _preload())  # libraries of kernels name no runtime of their own
    for info in lw.backends():
        library = sanitized / "_lib" / f"kernels_{info.name.value}.so"
        if info.available and library.exists():
            report = run([runner, library])
            assert (report.library, sum(report.failed.values())) == (info.name.value, 0), report.output[-2000:]
    assert not _said()


def test_the_extension(sanitized: Path) -> None:
    environment = {**os.environ, **SETTINGS, "LD_PRELOAD": _preload()}
    program = "import lanewise._ext; print(lanewise._ext.__file__)"
    found = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert found.stdout.strip() == str(sanitized / host().extension), found.stderr
    tests = [ROOT / "tests" / name for name in ("extension", "sweep/test_numpy.py", "sweep/test_out.py")]
    # The sanitizer holds back what is freed, to notice its use: that is no leak, and these run without it too.
    leaks = ("test_threads.py::test_nothing_leaks", "test_pool.py::test_eight_threads_leak_nothing")
    unfit = [f"--deselect=tests/extension/{name}" for name in leaks]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:faulthandler", *unfit, *tests]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}\n{_said()}"
