"""Prepares a machine for the tests: installs system packages, creates the virtual environment, and lists the backends
and browsers that the machine can run and so must test. Uses only the standard library, because it runs before anything
is installed."""

from __future__ import annotations

import ctypes.util
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

__all__ = ["ROOT", "best_and_scalar", "install_system_packages", "prepare", "required", "testable"]

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "site"))

import virtual_environment  # noqa: E402

REQUIREMENTS = ROOT / "tests" / "requirements.txt"
FOLDER = ROOT / ".cache" / "venv"

# Large packages (0.8 GB) that the tests compare Lanewise with; prepare() installs them only on request.
PEERS = {"torch": "torch==2.13.0"}

# Command names of the browsers that tests/wasm runs, Debian's name first
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
FIREFOX = ("firefox-esr", "firefox")
WEBKIT_DRIVER = "WebKitWebDriver"


def program(names: Iterable[str]) -> str | None:
    """Returns the path of the first of these programs that is installed, or None."""
    return next(filter(None, map(shutil.which, names)), None)


def minibrowser() -> Path | None:
    """Returns the path of MiniBrowser, which WebKitGTK's driver starts, or None. MiniBrowser is not on the PATH."""
    return max(Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser"), default=None)


def webkit() -> bool:
    """Returns whether tests of WebKitGTK can run: its driver, its browser and a virtual display are installed."""
    return bool(shutil.which(WEBKIT_DRIVER) and minibrowser() and shutil.which("Xvfb"))


def _lavapipe() -> bool:
    return any(Path("/usr/share/vulkan/icd.d").glob("lvp_icd*.json"))


# Debian package -> whether what it provides is already installed, from any source.
SYSTEM: dict[str, Callable[[], object]] = {
    "python3-venv": lambda: importlib.util.find_spec("ensurepip"),  # Debian leaves ensurepip out of python3
    "gcc": lambda: shutil.which("gcc"),  # a compiler besides zig, with the sanitizers' libraries
    "libc6-dev": lambda: shutil.which("gcc") and Path("/usr/include/stdio.h").exists(),
    "qemu-user": lambda: shutil.which("qemu-aarch64") and shutil.which("qemu-x86_64"),
    "mesa-vulkan-drivers": _lavapipe,  # lavapipe, Vulkan on the CPU: WebGPU without a GPU
    "libvulkan1": lambda: ctypes.util.find_library("vulkan"),
    "nodejs": lambda: shutil.which("node"),
    "npm": lambda: shutil.which("npm"),
    # browsers to run Pyodide in
    "chromium": lambda: program(CHROMIUM),
    "firefox-esr": lambda: program(FIREFOX),
    "webkit2gtk-driver": lambda: shutil.which(WEBKIT_DRIVER) and minibrowser(),
    "xvfb": lambda: shutil.which("Xvfb"),  # WebKitGTK's browser needs a display
    "emscripten": lambda: shutil.which("emcc"),  # the compiler that `pyodide build` calls
}


COMPILER = ("python3-venv", "gcc", "libc6-dev")  # what the virtual environment and the extension's tests need


def install_system_packages(*, compiler_only: bool = False) -> str:
    """Installs what is missing, where that is possible; returns a line that says what is still missing, or "".

    compiler_only: installs nothing but the packages in COMPILER"""
    needed = COMPILER if compiler_only else tuple(SYSTEM)
    missing = [package for package in needed if not SYSTEM[package]()]
    apt = shutil.which("apt-get")
    sudo = [] if hasattr(os, "geteuid") and os.geteuid() == 0 else ["sudo", "-n"]
    if not missing:
        return ""
    if not apt or (sudo and not shutil.which("sudo")):
        return f"not installed, because apt-get or root is missing: {', '.join(missing)}"
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*sudo, apt, *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    install = ("install", "-y", "-q", "--no-install-recommends")
    done = run("update", "-q")
    if done.returncode == 0 and run(*install, *missing).returncode == 0:
        print(f"installed {', '.join(missing)}")
        return ""
    if done.returncode == 0:  # one by one, because a system may lack a package or name it differently
        failed = [package for package in missing if (done := run(*install, package)).returncode]
    else:
        failed = missing
    return f"apt-get could not install {', '.join(failed)}: {done.stderr.strip()[-300:]}" if failed else ""


def prepare() -> Path:
    """Creates or updates the tests' virtual environment and returns its Python. Installs a package of PEERS if
    LANEWISE_REQUIRE or LANEWISE_ALSO_REQUIRE names it."""
    python = virtual_environment.create(FOLDER, REQUIREMENTS)
    for peer in PEERS.keys() & (_named("LANEWISE_REQUIRE") | _named("LANEWISE_ALSO_REQUIRE")):
        mark = FOLDER / f"{peer}.stamp"
        if not (mark.exists() and mark.read_text() == PEERS[peer]):
            install: list[str | Path] = [python, *virtual_environment.PIP_INSTALL, PEERS[peer]]
            done = subprocess.run(install, check=False, stdin=subprocess.DEVNULL)
            mark.write_text("" if done.returncode else PEERS[peer])  # if pip fails, tests of the package report it
    return python


def _named(variable: str) -> set[str]:
    return {name.strip().lower() for name in os.environ.get(variable, "").split(",")} - {""}


def testable() -> dict[str, str]:
    """Returns everything that the tests can require of a machine, with the reason why this machine lacks it, or "".

    The CPU's features are read from the operating system, not from the code under test."""
    return {
        "neon": "" if shutil.which("qemu-aarch64") else "qemu-aarch64 is not installed",
        **_instruction_sets(),
        "simd128": "" if shutil.which("node") else "Node is not installed",
        "chromium": "" if program(CHROMIUM) else "Chromium is not installed",
        "firefox": "" if program(FIREFOX) else "Firefox is not installed",
        "webkit": "" if webkit() else "WebKitGTK with its driver, or Xvfb, is not installed",
        "emcc": "" if shutil.which("emcc") else "emcc is not installed",
        "wgpu": "" if _lavapipe() and ctypes.util.find_library("vulkan") else "Vulkan or lavapipe is not installed",
        "cuda-compile": "" if shutil.which("nvcc") else "nvcc is not installed",
    }


def required() -> str:
    """Returns the value for LANEWISE_REQUIRE, the list of what tests must not skip: all that this machine can test.

    LANEWISE_ALSO_REQUIRE adds names to the list even if this machine lacks what they stand for. CI sets it, so that a
    browser whose installation failed is an error, and so that results are compared with PyTorch."""
    names = [name for name, reason in testable().items() if not reason]
    return ",".join([*names, *sorted(_named("LANEWISE_ALSO_REQUIRE") - set(names))])


def best_and_scalar() -> list[str]:
    """Returns the scalar backend and the best instruction set that this machine can test."""
    able = [name for name, reason in _instruction_sets().items() if not reason]
    return list(dict.fromkeys(["scalar", able[-1]]))


def _instruction_sets() -> dict[str, str]:
    """Returns the CPU backends of this machine's architecture, the best one last, each with the reason why it cannot
    run here, or ""."""
    hidden = _named("LANEWISE_HIDE")
    if platform.machine().lower() in ("aarch64", "arm64"):
        return {"scalar": "", "neon": "hidden by LANEWISE_HIDE" if "neon" in hidden else ""}
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    flags = {word for line in text.splitlines() if line.startswith("flags") for word in line.split()}
    needs = {
        "scalar": set(),
        "sse2": {"sse2"},
        "avx": {"sse2", "avx"},
        "avx2": {"sse2", "avx", "avx2", "fma", "f16c"},
        "avx512": {"sse2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512dq", "avx512vl"},
    }
    reasons = {}
    for name, words in needs.items():
        if hidden & {name, *words}:
            reasons[name] = "hidden by LANEWISE_HIDE"
        else:
            reasons[name] = "" if words <= flags else f"this CPU lacks {', '.join(sorted(words - flags))}"
    return reasons
