"""How each backend becomes available: one small class for each way, and the table of them.

A provider says why this machine lacks its backend, or which devices it has, and opens one. WebAssembly's
libraries are CPU libraries like any other; WebGPU and CUDA join with classes of their own, and `register()`
replaces one. selection.py asks here before anything is used, and discovery.py shows the answers to the user.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Sequence
from typing import Final, Protocol

from lanewise import _ext, libraries
from lanewise.backend import CPU_BACKENDS, PRIORITY, Backend
from lanewise.devices import DeviceInfo, Executor
from lanewise.errors import ArgumentError, BackendError, BackendUnavailableError, LibraryError

__all__ = [
    "Provider",
    "cpu_features",
    "devices",
    "ensure_open",
    "executor",
    "force_cpu",
    "hidden_features",
    "missing",
    "opens",
    "register",
]


class Provider(Protocol):
    """A way for a backend to become available."""

    def missing(self) -> str:
        """Why this machine does not have the backend; "" where it has."""
        ...

    def devices(self) -> Sequence[DeviceInfo]:
        """Its devices, best first, where the backend is not missing."""
        ...

    def open(self, device: DeviceInfo | None) -> Executor | None:
        """Makes the backend usable on a device, or on its first; an Executor where tensors live in its own
        memory."""
        ...


# LW_CPU_* of core/include/lanewise.h, by the manifest's names
_FEATURES: Final[dict[str, tuple[int, str]]] = {
    "sse2": (1 << 0, "SSE2"),
    "avx": (1 << 1, "AVX"),
    "avx2": (1 << 2, "AVX2"),
    "fma": (1 << 3, "FMA"),
    "f16c": (1 << 4, "F16C"),
    "avx512": (1 << 5, "AVX-512"),
    "neon": (1 << 6, "NEON"),
    "simd128": (1 << 7, "SIMD128"),
    "relaxed_simd": (1 << 8, "relaxed SIMD"),
}

_FAMILIES: Final[dict[Backend, str]] = {
    Backend.AVX512: "x86-64",
    Backend.AVX2: "x86-64",
    Backend.AVX: "x86-64",
    Backend.SSE2: "x86-64",
    Backend.NEON: "ARM",
    Backend.RELAXED_SIMD: "WebAssembly",
    Backend.SIMD128: "WebAssembly",
}


@functools.cache
def _cpu_bits() -> int:
    if sys.platform == "emscripten":  # a WASM module cannot ask its engine
        from lanewise import wasm

        return wasm.features()
    bits: int = _ext.cpu_features()
    return bits


@functools.cache
def _hidden_bits() -> int:
    """The instruction sets that LANEWISE_HIDE names. Tests use it to run as on an older CPU."""
    names = [name.strip().lower() for name in os.environ.get("LANEWISE_HIDE", "").split(",") if name.strip()]
    unknown = [name for name in names if name not in _FEATURES]
    if unknown:
        raise ArgumentError(f"LANEWISE_HIDE: expected names from {', '.join(_FEATURES)}, got {', '.join(unknown)}")
    return sum(_FEATURES[name][0] for name in set(names))


def hidden_features() -> tuple[str, ...]:
    """The instruction sets that LANEWISE_HIDE hides, whether or not this CPU has them."""
    return tuple(label for bit, label in _FEATURES.values() if _hidden_bits() & bit)


def cpu_features() -> tuple[str, ...]:
    """The instruction sets that this CPU has, its operating system enables and LANEWISE_HIDE does not hide."""
    bits = _cpu_bits() & ~_hidden_bits()
    return tuple(label for bit, label in _FEATURES.values() if bits & bit)


def _family() -> str:
    if sys.platform == "emscripten":
        return "WebAssembly"
    machine = (os.uname().machine if hasattr(os, "uname") else os.environ["PROCESSOR_ARCHITECTURE"]).lower()
    if machine in ("x86_64", "amd64"):
        return "x86-64"
    return "ARM" if machine in ("aarch64", "arm64") else machine


def force_cpu() -> bool:
    """Whether LANEWISE_FORCE_CPU keeps the GPUs out."""
    value = os.environ.get("LANEWISE_FORCE_CPU", "").strip().lower()
    if value in ("", "0", "false", "no", "off"):
        return False
    if value in ("1", "true", "yes", "on"):
        return True
    raise ArgumentError(f"LANEWISE_FORCE_CPU is {value!r}; set it to 1 or 0")


class CpuLibrary:
    """A library of kernels for one instruction set, which this package carries."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend

    def missing(self) -> str:
        """Says which instruction sets the CPU lacks or LANEWISE_HIDE hides, or that the library is not there."""
        family = _FAMILIES.get(self.backend)
        if family and family != _family():
            return f"{self.backend.label} is for {family}; this Python runs on {_family()}"
        library = libraries.find(self.backend.value)
        if library is None:
            reason = libraries.left_out(self.backend.value)
            return f"this build of lanewise has no {self.backend.label} library{reason and f': {reason}'}"
        bits = _cpu_bits()
        needed = [_FEATURES[name] for name in library.cpu_features]
        hidden = [label for bit, label in needed if bit & _hidden_bits()]
        if hidden:
            return f"hidden by LANEWISE_HIDE: {', '.join(hidden)}"
        lacking = [label for bit, label in needed if not bits & bit]
        if lacking:
            where = "this WebAssembly engine" if _family() == "WebAssembly" else "this CPU, or its operating system,"
            has = ", ".join(cpu_features()) or "none of them"
            return f"{where} lacks {' and '.join(lacking)}; it has {has}"
        return ""

    def devices(self) -> Sequence[DeviceInfo]:
        """The CPU with the machine's memory."""
        from lanewise import hardware

        return [DeviceInfo(0, hardware.cpu_name(), hardware.total_memory(), hardware.free_memory())]

    def open(self, device: DeviceInfo | None) -> None:
        """Checks the file against the manifest, then loads it, and before it the library that it builds on."""
        library = libraries.find(self.backend.value)
        base = library.base if library else ""
        if base:
            ensure_open(Backend(base))
        _ext.open_library(str(libraries.checked_path(self.backend.value)), self.backend.value, base or None)


class WebGpu:
    """A GPU through WebGPU: wgpu-py on the desktop, navigator.gpu in a browser."""

    def missing(self) -> str:
        """Its kernels run (lanewise.webgpu), but tensors cannot live there in this version."""
        if force_cpu():
            return _FORCED
        return "tensors on WebGPU come in a later version; lanewise.webgpu runs kernels by themselves"

    def devices(self) -> Sequence[DeviceInfo]:
        """Its adapters."""
        from lanewise import webgpu

        return webgpu.devices()

    def open(self, device: DeviceInfo | None) -> Executor:
        """An executor on that adapter."""
        from lanewise import webgpu

        return webgpu.open(device or self.devices()[0])


class Cuda:
    """An NVIDIA GPU through the CUDA plugin."""

    def missing(self) -> str:
        """The plugin is not part of this version."""
        return _FORCED if force_cpu() else "the CUDA plugin comes in a later version"

    def devices(self) -> Sequence[DeviceInfo]:
        """None in this version."""
        return []

    def open(self, device: DeviceInfo | None) -> Executor:
        """Not in this version."""
        raise BackendUnavailableError(f"cuda: {self.missing()}")


_FORCED: Final = "LANEWISE_FORCE_CPU keeps GPUs out; unset it"
_providers: dict[Backend, Provider] = {
    Backend.CUDA: Cuda(),
    Backend.WGPU: WebGpu(),
    **{backend: CpuLibrary(backend) for backend in CPU_BACKENDS},
}
_missing: dict[Backend, str] = {}
_opened: dict[Backend, tuple[DeviceInfo | None, Executor | None]] = {}
_lock = threading.RLock()


def register(backend: Backend, provider: Provider) -> None:
    """Lets `provider` stand for `backend` from now on. BackendError once the backend is open."""
    with _lock:
        if backend not in PRIORITY:
            raise BackendError(f"register: {backend} stands for others; register one of {', '.join(PRIORITY)}")
        if backend in _opened:
            raise BackendError(f"register: {backend} is open already; register providers before backends are used")
        _providers[backend] = provider
        _missing.pop(backend, None)


def missing(backend: Backend) -> str:
    """Why this machine does not have `backend`, "" where it has. Looked up once in a process."""
    with _lock:
        if backend not in _missing:
            _missing[backend] = _providers[backend].missing()
        return _missing[backend]


def damage(backend: Backend) -> str:
    """What is wrong with the file of a backend that this machine could run, "" where nothing is."""
    if missing(backend) or backend in _opened or not isinstance(_providers[backend], CpuLibrary):
        return ""
    try:
        libraries.checked_path(backend.value)
    except LibraryError as error:
        return str(error)
    return ""


def opens(backend: Backend) -> bool:
    """Whether `backend` can be used. The library of a CPU backend is opened to find out."""
    if missing(backend):
        return False
    try:
        if isinstance(_providers[backend], CpuLibrary):
            ensure_open(backend)
    except LibraryError:
        return False
    return True


def devices(backend: Backend) -> tuple[DeviceInfo, ...]:
    """The devices of a backend as they are now; none where the backend is missing."""
    return () if missing(backend) else tuple(_providers[backend].devices())


def ensure_open(backend: Backend, device: DeviceInfo | None = None) -> None:
    """Opens `backend`, on its first device where none is given, unless it is open."""
    with _lock:
        if backend in _opened:
            current = _opened[backend][0]
            if device is not None and current is not None and device.index != current.index:
                raise BackendError(
                    f"{backend}: it is open on {current.name}, and a process uses one device of a backend; "
                    f"start another process for {device.name}"
                )
            return
        reason = missing(backend)
        if reason:
            raise BackendUnavailableError(f"{backend}: {reason}")
        _opened[backend] = device, _providers[backend].open(device)


def executor(backend: Backend) -> Executor | None:
    """The executor of a GPU backend, opened; None for backends that compute in host memory."""
    ensure_open(backend)
    return _opened[backend][1]
