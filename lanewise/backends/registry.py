"""Says which backends are available, and opens them, by asking the provider of each backend.

A provider says why this machine does not have its backend, or else lists the backend's devices and opens one of them.
selection.py opens backends through this module; discovery.py shows them to the user. register() replaces a provider.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
import threading
from collections.abc import Sequence
from typing import Any, Final, Protocol

from lanewise import _ext
from lanewise._facts import FEATURES
from lanewise.backends import libraries
from lanewise.backends.backend import CPU_BACKENDS, PRIORITY, Backend, hooks, place_of
from lanewise.backends.devices import DeviceInfo, Unsettled
from lanewise.errors import ArgumentError, BackendError, BackendUnavailableError, DeviceError, LibraryError, named

__all__ = [
    "Provider", "cpu_features", "devices", "ensure_open", "gpu_exclusion", "hidden_features", "is_open", "is_pending",
    "missing", "named_in_errors", "open_numbers", "opens", "prepare", "refusal", "register", "reopen",
    "switch",
]  # fmt: skip


class Provider(Protocol):
    """Says whether this machine has a backend, lists its devices, and opens one of them."""

    def missing(self) -> str:
        """Returns why this machine does not have the backend, "" if it has it."""
        ...

    def devices(self) -> Sequence[DeviceInfo]:
        """Returns the devices, best first. Called only if missing() returned ""."""
        ...

    def open(self, device: DeviceInfo | None) -> None:
        """Makes the backend usable, on the first device if `device` is None."""
        ...


_FEATURE_LABELS: Final = {"avx512": "AVX-512", "relaxed_simd": "relaxed SIMD"}
# Maps a CPU feature's name in the build's manifest to its bit LW_CPU_* and to its name in messages.
_FEATURES: Final[dict[str, tuple[int, str]]] = {
    name: (1 << bit, _FEATURE_LABELS.get(name, name.upper())) for bit, name in enumerate(FEATURES) if name != "cuda"
}

_FAMILIES: Final[dict[Backend, str]] = {
    Backend.AVX512: "x86-64", Backend.AVX2: "x86-64", Backend.AVX: "x86-64", Backend.SSE2: "x86-64",
    Backend.NEON: "ARM", Backend.RELAXED_SIMD: "WebAssembly", Backend.SIMD128: "WebAssembly",
}  # fmt: skip


@functools.cache
def _cpu_bits() -> int:
    if sys.platform == "emscripten":  # a WebAssembly module cannot query its engine
        from lanewise.backends import wasm

        return wasm.features()
    bits: int = _ext.cpu_features()
    return bits


@functools.cache
@named("LANEWISE_HIDE")
def _hidden_bits() -> int:
    """Returns the LW_CPU_* bits of the features in LANEWISE_HIDE, by which tests simulate an older CPU."""
    names = [name.strip().lower() for name in os.environ.get("LANEWISE_HIDE", "").split(",") if name.strip()]
    unknown = [name for name in names if name not in _FEATURES]
    if unknown:
        raise ArgumentError(f"expected names from {', '.join(_FEATURES)}, got {', '.join(unknown)}")
    return sum(_FEATURES[name][0] for name in set(names))


def hidden_features() -> tuple[str, ...]:
    """Returns the instruction sets that LANEWISE_HIDE hides, whether or not this CPU has them."""
    return tuple(label for bit, label in _FEATURES.values() if _hidden_bits() & bit)


def cpu_features() -> tuple[str, ...]:
    """Returns the instruction sets that the CPU has and the system enables, without those in LANEWISE_HIDE."""
    bits = _cpu_bits() & ~_hidden_bits()
    return tuple(label for bit, label in _FEATURES.values() if bits & bit)


def _family() -> str:
    if sys.platform == "emscripten":
        return "WebAssembly"
    machine = (os.uname().machine if hasattr(os, "uname") else os.environ["PROCESSOR_ARCHITECTURE"]).lower()
    if machine in ("x86_64", "amd64"):
        return "x86-64"
    return "ARM" if machine in ("aarch64", "arm64") else machine


def switch(variable: str, *, default: bool) -> bool:
    """Returns whether an environment variable switches something on. Raises ArgumentError for other texts."""
    value = os.environ.get(variable, "").strip().lower()
    if value in ("0", "false", "no", "off"):
        return False
    if value in ("1", "true", "yes", "on"):
        return True
    if value:
        raise ArgumentError(f"expected 1 or 0, got {value!r:.60}", operation=variable)
    return default


def gpu_exclusion() -> str:
    """Returns why LANEWISE_FORCE_CPU excludes GPUs, "" if it does not. A text that it cannot have excludes them too, so
    that only a program that asks for a GPU gets to know of it."""
    try:
        return "LANEWISE_FORCE_CPU keeps GPUs out; unset it" if switch("LANEWISE_FORCE_CPU", default=False) else ""
    except ArgumentError as error:
        return str(error)


class CpuLibrary:
    """The provider of a CPU backend, whose kernel library is part of this package."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend

    def missing(self) -> str:
        """Returns why the library cannot run (because of the CPU, the build or LANEWISE_HIDE), "" if it can run."""
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
        """Returns one device: the CPU, with the machine's memory."""
        from lanewise.backends import hardware

        return [DeviceInfo(0, hardware.cpu_name(), hardware.total_memory(), hardware.free_memory())]

    def open(self, device: DeviceInfo | None) -> None:
        """Checks and loads the library, after opening the base library, which has the kernels that this one lacks."""
        library = libraries.find(self.backend.value)
        base = library.base if library else ""
        if base:
            ensure_open(Backend(base))
        _ext.open_library(str(libraries.checked_path(self.backend.value)), self.backend.value, base or None)


class Deferred:
    """The provider that a module's functions make up. The module is imported when one of them is first called. It has
    two more: is_pending(), which says whether prepare() has to be awaited before open(), and prepare()."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, function: str) -> Any:
        return getattr(importlib.import_module(self._module), function)


class UnsupportedGpu:
    """The provider of a GPU backend that cannot compute with tensors in this version."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def missing(self) -> str:
        """Returns the reason given at construction."""
        return self._reason

    def devices(self) -> Sequence[DeviceInfo]:
        """Returns no devices."""
        return []

    def open(self, device: DeviceInfo | None) -> None:
        """Raises BackendUnavailableError."""
        raise BackendUnavailableError(self.missing())


_providers: dict[Backend, Provider | Deferred] = {
    Backend.CUDA: UnsupportedGpu("the CUDA plugin comes in a later version"),
    Backend.WGPU: Deferred("lanewise.webgpu.provider"),
    **{backend: CpuLibrary(backend) for backend in CPU_BACKENDS},
}
_missing: dict[Backend, str] = {}
_opened: dict[Backend, list[int]] = {}  # the numbers of the open devices of each backend, in the order of opening
_refusals: dict[Backend, dict[int, str]] = {}  # why devices could not be opened, by their numbers
_lock = threading.RLock()


@named("register")
def register(backend: Backend, provider: Provider) -> None:
    """Replaces the provider of a backend. Raises BackendError if `backend` is AUTO or already open."""
    with _lock:
        if backend not in PRIORITY:
            raise BackendError(f"expected one of {', '.join(PRIORITY)}, got {backend}")
        if backend in _opened:
            raise BackendError(f"{backend} is already open; register providers before using backends")
        _providers[backend] = provider
        _missing.pop(backend, None)
        _refusals.pop(backend, None)


def missing(backend: Backend) -> str:
    """Returns why this machine does not have `backend`, "" if it has it. Determined once per provider, unless it is
    Unsettled."""
    with _lock:
        if backend not in _missing:
            reason = (gpu_exclusion() if backend.is_gpu else "") or _providers[backend].missing()
            if isinstance(reason, Unsettled):
                return reason
            _missing[backend] = reason
        return _missing[backend]


def is_pending(backend: Backend) -> bool:
    """Whether prepare() has to be awaited before a backend can be opened: WebGPU where Python cannot wait for the
    browser. Does not load drivers."""
    provider = _providers[backend]
    return isinstance(provider, Deferred) and not gpu_exclusion() and provider.is_pending()


async def prepare(backend: Backend, *, opening: bool) -> None:
    """Does for a pending backend what missing() and, if `opening`, open() have to wait for. Does nothing for others."""
    provider = _providers[backend]
    if isinstance(provider, Deferred) and is_pending(backend):
        try:
            await provider.prepare(opening=opening)
        except DeviceError as error:
            _refusals.setdefault(backend, {})[0] = str(error)
            raise


def named_in_errors() -> list[Backend]:
    """Returns the backends that an error message offers: those that this machine has. GPUs only count if they have been
    found before, because looking for them loads drivers."""
    return [each for each in PRIORITY if not (_missing.get(each, "not asked") if each.is_gpu else missing(each))]


hooks["named_in_errors"] = named_in_errors


def damage(backend: Backend) -> str:
    """Returns what is wrong with a backend's library, "" if nothing is or if this machine cannot run the backend."""
    if missing(backend) or backend in _opened or not isinstance(_providers[backend], CpuLibrary):
        return ""
    return libraries.damage(backend.value)


def refusal(backend: Backend) -> str:
    """Returns why no device of a backend can be opened, "" if one is open or has not been tried yet."""
    reasons = [device.reason or "" for device in devices(backend)] if backend in _refusals else []
    return "; ".join(reasons) if all(reasons) else ""


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
    """Returns the current devices of a backend, none if it is missing."""
    found = () if missing(backend) else _providers[backend].devices()
    refusals = _refusals.get(backend, {})
    return tuple(device._replace(reason=refusals.get(device.index)) for device in found)


def ensure_open(backend: Backend, device: DeviceInfo | None = None) -> str:
    """Opens a backend on a device unless it is open there, on its first device if `device` is None. Returns the place:
    the extension's name of the device."""
    with _lock:
        number = device.index if device else 0
        if number not in _opened.get(backend, []):
            reason = missing(backend)
            if reason:
                raise BackendUnavailableError(reason, operation=backend)
            if number >= (limit := _ext.max_adapters()):
                raise BackendUnavailableError(
                    f"expected one of the first {limit} devices, got number {number}", operation=backend
                )
            _open(backend, device, number)
        return place_of(backend, number)


def _open(backend: Backend, device: DeviceInfo | None, number: int) -> None:
    """Opens a backend. If its device refuses, notes the reason for lw.backends()."""
    try:
        _providers[backend].open(device)
    except DeviceError as error:
        if not is_pending(backend):  # otherwise, prepare() is what asks for the device
            _refusals.setdefault(backend, {})[number] = str(error)
        raise
    _refusals.get(backend, {}).pop(number, None)
    numbers = _opened.setdefault(backend, [])
    numbers += [number] if number not in numbers else []


def is_open(backend: Backend) -> bool:
    """Whether a backend is open."""
    return backend in _opened


def open_numbers(backend: Backend) -> list[int]:
    """Returns the numbers of the open devices of a backend, in the order in which they were opened."""
    return _opened.get(backend, [])


def reopen(backend: Backend, device: DeviceInfo | None = None) -> None:
    """Opens a GPU (the first if `device` is None) again, in place of its open device, or after opening it failed."""
    with _lock:
        number = device.index if device else 0
        if not backend.is_gpu or (number not in _opened.get(backend, []) and number not in _refusals.get(backend, {})):
            raise BackendError(f"expected a GPU backend that is open, got {place_of(backend, number)}")
        _open(backend, device, number)
