"""Which backend is used: the choice at load, and the calls with which users change it.

At import, AUTO's CPU backend is chosen once from what the CPU has, what lw.calibrate() has measured before, and what
LANEWISE_BACKEND and LANEWISE_FORCE_CPU say; its library is the only one opened then. The extension keeps the outcome
(a default of the process, a stack of each thread) and consults it on every call; this module only changes it.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable
from contextlib import ContextDecorator
from types import TracebackType

from lanewise import _ext, calibration, memory, registry, threads
from lanewise.backend import GPU_BACKENDS, PRIORITY, Backend, Request, parse_backend
from lanewise.calibration import Calibration
from lanewise.devices import DeviceInfo
from lanewise.errors import ArgumentError, ArgumentTypeError, BackendUnavailableError, LanewiseError, LibraryError

__all__ = [
    "available",
    "calibration_in_use",
    "default_backend",
    "follow",
    "init_backend",
    "initialise",
    "is_strict",
    "open_backend",
    "set_backend_priority",
    "strict_backends",
    "use_backend",
]

_calibration: Calibration | None = None
_order: tuple[Backend, ...] = PRIORITY  # AUTO's own: that of the enum, or of a calibration
_priority: tuple[Backend, ...] = PRIORITY  # the same, or what the user has set
_is_named = False  # LANEWISE_BACKEND has chosen the default
_default = Backend.AUTO
_strict = False


def initialise() -> None:
    """Chooses the default backend, and takes the limit of kept memory and the number of threads, at import.

    `python -m lanewise` imports the package before its command line runs: what is wrong ends the process with a line.
    """
    try:
        _initialise()
    except LanewiseError as error:
        if sys.argv[:1] == ["-m"] and "lanewise" in sys.orig_argv:  # Python still looks for the module to run
            raise SystemExit(f"lanewise: {error}") from None
        raise


def _initialise() -> None:
    global _is_named
    memory.initialise()
    threads.initialise()
    _take(calibration.load())
    wanted = os.environ.get("LANEWISE_BACKEND", "").strip() or "auto"
    _is_named = parse_backend(wanted, operation="LANEWISE_BACKEND").name != "auto"
    _set_default(open_backend(wanted, "LANEWISE_BACKEND") if _is_named else _first_that_opens())


def follow(found: Calibration | None) -> None:
    """Lets AUTO go by a calibration from now on, by the order of the enum without one. What the user has set stays."""
    _take(found)
    if _priority is _order and not _is_named:
        _set_default(_first_that_opens())


def calibration_in_use() -> Calibration | None:
    """What AUTO's order comes from, where it is measured."""
    return _calibration


def _take(found: Calibration | None) -> None:
    global _calibration, _order, _priority
    measured = found.order if found else ()
    order = (*GPU_BACKENDS, *measured, *(other for other in PRIORITY if other not in (*GPU_BACKENDS, *measured)))
    _priority = order if _priority is _order else _priority
    _calibration, _order = found, order


def _first_that_opens() -> Backend:
    """The best CPU backend: uncommitted work starts there, going to a GPU is a matter of promotion. A damaged library
    is passed over with a warning, so that `python -m lanewise info` can say what is wrong."""
    found = available(parse_backend("cpu"), "LANEWISE_BACKEND")
    for backend in found[:-1]:
        try:
            registry.ensure_open(backend)
            return backend
        except LibraryError as error:
            warnings.warn(f"lanewise: {error}. Until then a slower backend is used", RuntimeWarning, stacklevel=2)
    registry.ensure_open(found[-1])
    return found[-1]


def default_backend() -> Backend:
    """What uncommitted work runs on outside use_backend()."""
    return _default


def available(request: Request, operation: str) -> list[Backend]:
    """The backends that a request would do with and that this machine has, best first.

    BackendUnavailableError where there is none. Where a name stands for several backends, software adapters
    are passed over.
    """
    candidates = request.candidates
    if request.name == "auto":
        candidates = _priority
    elif len(candidates) > 1:
        candidates = tuple(sorted(candidates, key=_rank))
    reasons = {backend: registry.missing(backend) or _unsuitable(request, backend) for backend in candidates}
    found = [backend for backend, reason in reasons.items() if not reason]
    if not found:
        listing = [reason if len(reasons) == 1 else f"{backend.label}: {reason}" for backend, reason in reasons.items()]
        has = ", ".join(backend.value for backend in PRIORITY if not registry.missing(backend))
        raise BackendUnavailableError(
            f"{operation}: {request.name} is not available: {'; '.join(listing)}. "
            f"This machine can run {has}: name one of these, or auto"
        )
    return found


def open_backend(name: Backend | str, operation: str) -> Backend:
    """The best backend that a name stands for, opened. `operation` begins the message of errors."""
    request = parse_backend(name, operation=operation)
    backend = available(request, operation)[0]
    registry.ensure_open(backend, _adapter(request, backend))
    return backend


def init_backend(backend: Backend | str = Backend.AUTO) -> Backend:
    """Opens a backend now rather than at its first use, and returns the one that `backend` stands for.

    use_backend() and Tensor.to() place work on it. `await lw.init_backend(...)`, which a browser's GPU needs,
    works everywhere.

    >>> import lanewise as lw
    >>> lw.init_backend("scalar")
    <Backend.SCALAR: 'scalar'>
    """
    return open_backend(backend, "init_backend")


def set_backend_priority(backends: Iterable[Backend | str]) -> Backend:
    """Lets AUTO choose only among these, in this order. Returns the first that this machine has.

    It holds for the whole process, also against lw.calibrate(). Uncommitted work runs on the first CPU backend of the
    list.

    >>> import lanewise as lw
    >>> lw.set_backend_priority(["scalar"])
    <Backend.SCALAR: 'scalar'>
    >>> best = lw.set_backend_priority(["auto"])  # AUTO's own order again
    """
    global _priority, _is_named
    operation = "set_backend_priority"
    if isinstance(backends, str):
        raise ArgumentTypeError(f"{operation}: {backends!r} is one name; give a list of them")
    order: dict[Backend, None] = {}
    for name in backends:
        candidates = parse_backend(name, operation=operation).candidates
        order.update(dict.fromkeys(sorted(candidates, key=_order.index)))
    if not order:
        raise ArgumentError(f"{operation}: the list is empty; name at least one backend")
    previous, _priority = _priority, _order if tuple(order) == _order else tuple(order)
    try:
        found = available(Request(" > ".join(order), tuple(order)), operation)
        hosts = [backend for backend in found if not backend.is_gpu]
        default = (hosts or found)[0]
        registry.ensure_open(default)
    except BaseException:
        _priority = previous
        raise
    _is_named = False
    _set_default(default)
    return found[0]


class use_backend(ContextDecorator):  # noqa: N801 (it reads as a verb)
    """Runs uncommitted work on a backend: inside a `with` block, or inside a function it decorates.

    It holds for the current thread. Tensors that the user placed elsewhere keep their place.

    >>> import lanewise as lw
    >>> with lw.use_backend("scalar"):
    ...     lw.ones(3).backend
    <Backend.SCALAR: 'scalar'>
    >>> @lw.use_backend("cpu")
    ... def double(x):
    ...     return x + x
    """

    def __init__(self, backend: Backend | str) -> None:
        automatic = parse_backend(backend, operation="use_backend").name == "auto"
        self.backend = Backend.AUTO if automatic else open_backend(backend, "use_backend")

    def __enter__(self) -> Backend:
        _ext.push_backend(None if self.backend is Backend.AUTO else self.backend.value)
        return self.backend

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _ext.pop_backend()


class strict_backends:  # noqa: N801 (it reads as a verb)
    """Makes it an error to combine tensors that were placed on different backends.

    Otherwise they are converted to the one with the lower priority. A call holds for the process until
    `strict_backends(False)`; a `with` block takes it back at its end.

    >>> import lanewise as lw
    >>> with lw.strict_backends():
    ...     lw.ones(2).to("scalar") + lw.ones(2).to("scalar")
    Tensor([2., 2.], backend=scalar)
    """

    def __init__(self, enabled: bool = True) -> None:
        self._previous = _set_strict(bool(enabled))

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _set_strict(self._previous)


def is_strict() -> bool:
    """Whether strict_backends() holds."""
    return _strict


def _set_strict(enabled: bool) -> bool:
    """Returns what held before."""
    global _strict
    _ext.set_strict_backends(enabled)  # the extension's calls follow the same rule
    previous, _strict = _strict, enabled
    return previous


def _set_default(backend: Backend) -> None:
    global _default
    _ext.set_default_backend(backend.value)
    _default = backend


def _rank(backend: Backend) -> int:
    """The place in the priority the user set; what they left out comes last."""
    return _priority.index(backend) if backend in _priority else len(_priority) + _order.index(backend)


def _suits(request: Request, device: DeviceInfo) -> bool:
    if request.api and device.api != request.api:
        return False
    if request.vendor and request.vendor not in device.name.lower():
        return False
    return not (device.software and len(request.candidates) > 1)


def _adapter(request: Request, backend: Backend) -> DeviceInfo | None:
    """The device that a request picks, None where any will do."""
    if not backend.is_gpu or not (request.api or len(request.candidates) > 1):
        return None
    suitable = [device for device in registry.devices(backend) if _suits(request, device)]
    return min(suitable, key=lambda device: device.software, default=None)


def _unsuitable(request: Request, backend: Backend) -> str:
    """Why an available backend is not what the request asks for, "" where it is."""
    if not backend.is_gpu:
        return ""
    devices = registry.devices(backend)
    if any(_suits(request, device) for device in devices):
        return ""
    listing = ", ".join(f"{device.name} ({device.api})" if device.api else device.name for device in devices)
    if request.api:
        wanted = f"{request.vendor} adapter through {request.api}" if request.vendor else f"{request.api} adapter"
        return f"Lanewise reaches {request.name} as WebGPU's {wanted}, and there is none among {listing}"
    return f"only software adapters were found: {listing}"
