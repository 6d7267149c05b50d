"""What the tests need of a machine: system packages, a virtual environment, and the list of backends that it can run
and so must test. Standard library only, because it runs before anything is installed."""

from __future__ import annotations

import ctypes.util
import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

__all__ = ["ROOT", "install_system_packages", "prepare", "required"]

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "tests" / "requirements.txt"
FOLDER = ROOT / ".cache" / "venv"

# PyPI's packages that are large and that most tests do without: 0.8 GB, where pip is offered the build for the CPU.
PEERS = {"torch": "torch==2.13.0"}

# Debian's name, and others that tests/wasm takes as well
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def _chromium() -> bool:
    return any(map(shutil.which, CHROMIUM))


def _lavapipe() -> bool:
    return any(Path("/usr/share/vulkan/icd.d").glob("lvp_icd*.json"))


# Debian's package, and whether what it gives is there already, from wherever.
SYSTEM: dict[str, Callable[[], object]] = {
    "python3-venv": lambda: importlib.util.find_spec("ensurepip"),  # Debian keeps it apart from its Python
    "gcc": lambda: shutil.which("gcc"),  # the second compiler, and the sanitizers' runtimes
    "libc6-dev": lambda: shutil.which("gcc") and Path("/usr/include/stdio.h").exists(),
    "qemu-user": lambda: shutil.which("qemu-aarch64") and shutil.which("qemu-x86_64"),
    "mesa-vulkan-drivers": _lavapipe,  # lavapipe: WebGPU without a GPU
    "libvulkan1": lambda: ctypes.util.find_library("vulkan"),
    "nodejs": lambda: shutil.which("node"),
    "npm": lambda: shutil.which("npm"),
    "chromium": _chromium,  # Pyodide in a page and in a worker
    "emscripten": lambda: shutil.which("emcc"),  # the compiler that `pyodide build` calls
}


def install_system_packages() -> str:
    """Installs what is missing where that is possible; says what is still missing, or nothing."""
    missing = [package for package, present in SYSTEM.items() if not present()]
    apt = shutil.which("apt-get")
    become = [] if hasattr(os, "geteuid") and os.geteuid() == 0 else ["sudo", "-n"]
    if not missing:
        return ""
    if not apt or (become and not shutil.which("sudo")):
        return f"missing, and not installed for want of apt-get and root: {', '.join(missing)}"
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update", "-q"], ["install", "-y", "-q", "--no-install-recommends", *missing]):
        done = subprocess.run(
            [*become, apt, *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            return f"apt-get {arguments[0]} failed for {', '.join(missing)}: {done.stderr.strip()[-300:]}"
    print(f"installed {', '.join(missing)}")
    return ""


def prepare() -> Path:
    """The Python of the tests' virtual environment, made or brought up to date. Peers are installed where the tests
    must not be without them."""
    python = FOLDER / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = FOLDER / "requirements.stamp"
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode()).hexdigest()
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if not (python.exists() and stamp.exists() and stamp.read_text() == wanted):
        shutil.rmtree(FOLDER, ignore_errors=True)
        venv.create(FOLDER, with_pip=True)
        subprocess.run([*pip, "-r", str(REQUIREMENTS)], check=True, stdin=subprocess.DEVNULL)
        stamp.write_text(wanted)
    for peer in PEERS.keys() & (_named("LANEWISE_REQUIRE") | _named("LANEWISE_ALSO_REQUIRE")):
        mark = FOLDER / f"{peer}.stamp"
        if not (mark.exists() and mark.read_text() == PEERS[peer]):
            done = subprocess.run([*pip, PEERS[peer]], check=False, stdin=subprocess.DEVNULL)
            mark.write_text("" if done.returncode else PEERS[peer])  # without it, its tests fail and say so
    return python


def _named(variable: str) -> set[str]:
    return set(os.environ.get(variable, "").split(",")) - {""}


def required() -> str:
    """LANEWISE_REQUIRE for this machine: the backends that it can run, so that none of them is skipped unnoticed.

    The processor's own word is read from the kernel here, not from the code under test. LANEWISE_ALSO_REQUIRE adds what
    must be tested even where this machine lacks it, in CI: a browser that could not be installed, PyTorch as a peer."""
    backends = ["scalar", *_instruction_sets()]
    if shutil.which("qemu-aarch64") and "neon" not in backends:
        backends.append("neon")
    if shutil.which("node"):
        backends.append("simd128")
    if _chromium():
        backends.append("chromium")
    if shutil.which("emcc"):
        backends.append("emcc")
    if _lavapipe() and ctypes.util.find_library("vulkan"):
        backends.append("wgpu")
    if shutil.which("nvcc"):
        backends.append("cuda-compile")
    return ",".join([*backends, *sorted(_named("LANEWISE_ALSO_REQUIRE") - set(backends))])


def _instruction_sets() -> list[str]:
    if platform.machine().lower() in ("aarch64", "arm64"):
        return ["neon"]
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return []
    flags = {word for line in text.splitlines() if line.startswith("flags") for word in line.split()}
    needs = {
        "sse2": {"sse2"},
        "avx": {"avx"},
        "avx2": {"avx2", "fma", "f16c"},
        "avx512": {"avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512dq", "avx512vl"},
    }
    return [name for name, words in needs.items() if words <= flags]
