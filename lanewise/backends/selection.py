"""Chooses the backend that runs operations: at import, and when users call the functions below.

At import, the CPU's instruction sets, an earlier lw.calibrate(), LANEWISE_BACKEND and LANEWISE_FORCE_CPU determine a
CPU backend, and only the libraries that it needs are opened. The extension stores the choice (a default for the
process, and per thread a stack for use_backend()) and reads it on every call; this module changes it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import ContextDecorator, suppress
from types import TracebackType

from lanewise import _ext
from lanewise.backends import registry, threads
from lanewise.backends.backend import (
    GPU_BACKENDS,
    PRIORITY,
    Backend,
    Request,
    backend_of,
    hooks,
    parse_backend,
    place_of,
)
from lanewise.backends.devices import DeviceInfo
from lanewise.costs import calibration
from lanewise.costs.calibration import Adapter, Calibration
from lanewise.errors import (
    ArgumentError,
    ArgumentTypeError,
    BackendUnavailableError,
    DeviceError,
    LanewiseError,
    LibraryError,
    describe,
    named,
)
from lanewise.functions.arguments import is_ordered

__all__ = [
    "available", "calibration_in_use", "default_backend", "device_for", "finish", "follow", "init_backend",
    "initialize", "offload_adapter", "open_backend", "open_place", "reset", "set_backend_priority", "strict_backends",
    "use_backend",
]  # fmt: skip

_calibration: Calibration | None = None
_order: tuple[Backend, ...] = PRIORITY  # AUTO's default order: that of lw.Backend, or that of a calibration
_priority: tuple[Backend, ...] = PRIORITY  # the order that AUTO uses: _order, or that of set_backend_priority()
_is_named = False  # whether the default backend comes from LANEWISE_BACKEND
_default = Backend.AUTO


def initialize(apply_settings: Callable[[], None]) -> None:
    """Applies settings of modules above this one and of the threads, and chooses the default backend, at import.

    `python -m lanewise` imports the package before its command line runs: there, an error ends the process with one
    line in place of a traceback.
    """
    try:
        apply_settings()
        _initialize()
    except LanewiseError as error:
        if sys.argv[:1] == ["-m"] and "lanewise" in sys.orig_argv:  # argv[0] is "-m" only until the import ends
            raise SystemExit(f"lanewise: {error}") from None
        raise


@named("LANEWISE_BACKEND")
def _initialize() -> None:
    global _is_named
    threads.initialize()
    _set_calibration(calibration.load())
    name = os.environ.get("LANEWISE_BACKEND", "").strip() or "auto"
    _is_named = parse_backend(name).name != "auto"
    place = open_place(name) if _is_named else _first_that_opens()
    if backend_of(place).is_gpu:
        _first_that_opens()  # for what GPUs leave to the CPU
    _set_default(place)


def follow(result: Calibration | None) -> None:
    """Makes AUTO use a calibration's order, or lw.Backend's if `result` is None. The user's choices stay in effect."""
    _set_calibration(result)
    if _priority is _order and not _is_named:
        _set_default(_first_that_opens())
    else:
        _set_offload()


def calibration_in_use() -> Calibration | None:
    """Returns the calibration that AUTO's order comes from, None if the order is not from a calibration."""
    return _calibration


def offload_adapter() -> Adapter | None:
    """Returns the GPU to which AUTO offloads calls, None if it does not: without lw.calibrate(), or if the user has
    chosen another backend than calibrate(), or an order in which the GPU does not come first."""
    adapter = _calibration.gpu if _calibration else None
    if not _calibration or not adapter or _is_named or registry.gpu_exclusion() or _default is not _calibration.backend:
        return None
    return adapter if _rank(adapter.backend) < _rank(_default) else None


def _set_offload() -> None:
    _ext.set_offload(offload_adapter() is not None)


def _set_calibration(result: Calibration | None) -> None:
    global _calibration, _order, _priority
    measured = result.order if result else ()
    order = (*GPU_BACKENDS, *measured, *(other for other in PRIORITY if other not in (*GPU_BACKENDS, *measured)))
    _priority = order if _priority is _order else _priority
    _calibration, _order = result, order
    _ext.set_costs(dict(result.costs) if result else {})


@named("LANEWISE_BACKEND")
def _first_that_opens() -> Backend:
    """Opens and returns the best CPU backend.

    A damaged library is skipped with a warning, so that `python -m lanewise info` can say what is wrong.
    """
    try:
        usable = available(parse_backend("cpu"))
    except BackendUnavailableError:
        if sys.platform == "emscripten":
            from lanewise.backends import wasm

            raise BackendUnavailableError(wasm.NO_KERNELS, operation="lanewise") from None
        raise
    for backend in usable[:-1]:
        try:
            registry.ensure_open(backend)
            return backend
        except LibraryError as error:
            calibration.warn(f"lanewise: {error}. Using a slower backend")
    registry.ensure_open(usable[-1])
    return usable[-1]


def default_backend() -> Backend:
    """Returns the backend that runs operations outside use_backend() if the user has not placed their operands."""
    return _default


def available(request: Request) -> list[Backend]:
    """Returns the backends of this machine that satisfy a request, best first.

    Requests for several backends ("gpu") skip software adapters; AUTO also skips adapters that refused to open. Raises
    BackendUnavailableError if none is left.
    """
    candidates = request.candidates
    if request.name == "auto":
        candidates = _priority
    elif len(candidates) > 1:
        candidates = tuple(sorted(candidates, key=_rank))
    reasons = {backend: registry.missing(backend) or _unsuitable(request, backend) for backend in candidates}
    usable = [backend for backend, reason in reasons.items() if not reason]
    if not usable:
        listing = [reason if len(reasons) == 1 else f"{backend.label}: {reason}" for backend, reason in reasons.items()]
        has = ", ".join(backend.value for backend in registry.named_in_errors())
        raise BackendUnavailableError(
            f"expected a backend of this machine, got {request.name}: {'; '.join(listing)}; give one of auto, {has}"
        )
    return usable


def open_backend(name: Backend | str) -> Backend:
    """Opens and returns the best backend for a name, as open_place() does."""
    return backend_of(open_place(name))


def open_place(name: Backend | str) -> str:
    """Opens the best backend for a name, and returns the place: the extension's name of the device. If the name stands
    for several backends, skips GPUs that refuse to open."""
    request = parse_backend(name)
    backend, number = request.candidates[0], request.number or 0
    if len(request.candidates) == 1 and not request.api and number in registry.open_numbers(backend):
        return place_of(backend, number)  # without a list of the adapters, which takes longer than most operations
    *others, last = available(request)
    for backend in others:
        with suppress(DeviceError):
            return registry.ensure_open(backend, device_for(request, backend))
        if request.name == "auto" and not _unsuitable(request, backend):
            return open_place(name)  # the backend has another device
    return registry.ensure_open(last, device_for(request, last))


@named("init_backend")
def init_backend(backend: Backend | str = Backend.AUTO) -> Backend:
    """Opens a backend before its first use and returns it. A name such as "auto" opens the best one that it stands for,
    and "wgpu:1" the second GPU.

    Opening does not select the backend: use_backend() and Tensor.to() do. `await lw.init_backend(...)` works on every
    platform; GPUs in browsers need the `await`.

    >>> import lanewise as lw
    >>> lw.init_backend("scalar")
    <Backend.SCALAR: 'scalar'>
    """
    request = parse_backend(backend)
    if any(each.is_gpu and registry.is_pending(each) for each in request.candidates):
        return _begin(request, open_backend)
    return open_backend(backend)


@named("reset")
def reset(backend: Backend | str) -> Backend:
    """Opens a GPU backend again, after its device was lost; `lw.reset("wgpu:1")` names one of several devices. What the
    tensors on it held is lost, too. `await lw.reset(...)` works on every platform, as with init_backend().

    >>> import lanewise as lw
    >>> lw.reset("scalar")
    Traceback (most recent call last):
        ...
    lanewise.errors.BackendError: reset: expected a GPU backend that is open, got scalar
    """
    request = parse_backend(backend)
    if any(each.is_gpu and registry.is_pending(each) for each in request.candidates):
        return _begin(request, _reopen)
    return _reopen(backend)


def _reopen(name: Backend | str) -> Backend:
    request = parse_backend(name)
    chosen = available(request)[0]
    registry.reopen(chosen, device_for(request, chosen))
    _set_offload()  # the device may be another one than before
    return chosen


# What `await` ends for the backend that init_backend() or reset() returned: a request, and the function to call.
_unfinished: dict[Backend, tuple[Request, Callable[[str], Backend]]] = {}


def _begin(request: Request, opener: Callable[[str], Backend]) -> Backend:
    """Returns a backend for a request that `await` has to end: without it, the best CPU backend if the request includes
    one, else a GPU backend that is not open."""
    hosts = [each for each in request.candidates if not each.is_gpu]
    backend = open_backend(request.name) if hosts else request.candidates[-1]
    _unfinished[backend] = request, opener
    return backend


async def finish(backend: Backend) -> Backend:
    """Ends what init_backend() or reset() began when it returned this backend. Returns the backend that it opens."""
    request, opener = _unfinished.pop(backend, (None, open_backend))
    if request is None:
        return backend
    for each in request.candidates:
        await registry.prepare(each, opening=False)
    chosen = available(request)[0]
    if opener is _reopen or not registry.is_open(chosen):
        try:
            await registry.prepare(chosen, opening=True)
        except DeviceError:
            if request.name != "auto" or opener is _reopen:
                raise
    return opener(request.name)


hooks["finish"] = finish


@named("synchronize")
def synchronize(backend: Backend | str | None = None) -> None:
    """Waits until a backend, or if None the CPU and each GPU that is open, has computed everything that it was given.

    Only timing needs this: reading a tensor waits for it.

    >>> import lanewise as lw
    >>> lw.synchronize()
    """
    request = parse_backend("gpu" if backend is None else backend)
    if backend is None or not request.candidates[0].is_gpu:
        _ext.synchronize(_ext.host_backend())
    chosen = request.candidates if backend is None else available(request)[:1]
    for each in chosen:
        for number in registry.open_numbers(each):
            if request.number in (None, number):
                _ext.synchronize(place_of(each, number))


@named("set_backend_priority")
def set_backend_priority(backends: Iterable[Backend | str]) -> Backend:
    """Makes AUTO choose only among these backends, in this order. Returns the first that this machine has.

    The order applies to the whole process, and overrides lw.calibrate(). Operations whose operands the user has not
    placed on a backend run on the list's first available CPU backend, or, without one, on its first available GPU.

    >>> import lanewise as lw
    >>> lw.set_backend_priority(["scalar"])
    <Backend.SCALAR: 'scalar'>
    >>> best = lw.set_backend_priority(["auto"])  # back to AUTO's default order
    """
    global _priority, _is_named
    if not is_ordered(backends):
        example = f'["{backends}"]' if isinstance(backends, str) else '["auto"] for the default order'
        raise ArgumentTypeError(f"expected a list of names in order, got {describe(backends)}; write {example}")
    order: dict[Backend, None] = {}
    for name in backends:
        request = parse_backend(name)
        if request.number is not None:
            raise ArgumentError(f"expected backends without a device number, got {name!r}; open it with init_backend()")
        candidates = request.candidates
        order.update(dict.fromkeys(sorted(candidates, key=_order.index)))
    if not order:
        raise ArgumentError("expected at least one backend, got an empty list")
    previous, _priority = _priority, _order if tuple(order) == _order else tuple(order)
    try:
        usable = available(Request(" > ".join(order), tuple(order)))
        hosts = [backend for backend in usable if not backend.is_gpu]
        default = registry.ensure_open((hosts or usable)[0])
    except BaseException:
        _priority = previous
        raise
    _is_named = False
    _set_default(default)
    return usable[0]


class use_backend(ContextDecorator):  # noqa: N801 (it reads as a verb)
    """Runs operations on a backend, inside a `with` block or inside a function that it decorates. `backend` is what
    Tensor.to() accepts, such as "avx2", "cpu", "wgpu" or "wgpu:1".

    Only the current thread is affected. Operations on tensors that the user has placed on another backend run there.

    >>> import lanewise as lw
    >>> with lw.use_backend("scalar"):
    ...     lw.ones(3).backend
    <Backend.SCALAR: 'scalar'>
    >>> @lw.use_backend("cpu")
    ... def double(x):
    ...     return x + x
    """

    @named("use_backend")
    def __init__(self, backend: Backend | str) -> None:
        automatic = parse_backend(backend).name == "auto"
        self._place = None if automatic else open_place(backend)
        self.backend = Backend.AUTO if self._place is None else backend_of(self._place)

    def __enter__(self) -> Backend:
        _ext.push_backend(self._place)
        return self.backend

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _ext.pop_backend()


class strict_backends:  # noqa: N801 (it reads as a verb)
    """Makes it an error to combine tensors that were placed on different backends.

    By default, the operation runs on the one of these backends that lw.Backend lists last. A call applies to the whole
    process, until `strict_backends(False)`; in a `with` statement, it applies until the end of the block.

    >>> import lanewise as lw
    >>> with lw.strict_backends():
    ...     lw.ones(2).to("scalar") + lw.ones(2).to("scalar")
    Tensor([2., 2.], backend=scalar)
    """

    def __init__(self, enabled: bool = True) -> None:
        self._previous = _ext.set_strict_backends(bool(enabled))

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _ext.set_strict_backends(self._previous)


def _set_default(place: str) -> None:
    global _default
    _ext.set_default_backend(str(place))
    _default = backend_of(place)
    _set_offload()


def _rank(backend: Backend) -> int:
    """Returns a backend's position in the order that AUTO uses; backends that this order leaves out come last."""
    return _priority.index(backend) if backend in _priority else len(_priority) + _order.index(backend)


def _suits(request: Request, device: DeviceInfo) -> bool:
    if request.number not in (None, device.index) or (request.api and device.api != request.api):
        return False
    if request.vendor and request.vendor not in device.name.lower():
        return False
    if request.name == "auto" and device.reason:
        return False
    return not (device.software and len(request.candidates) > 1)


def device_for(request: Request, backend: Backend) -> DeviceInfo | None:
    """Returns the device that a request selects, or None to let the backend open its first device."""
    if not backend.is_gpu or not (request.api or request.number is not None or len(request.candidates) > 1):
        return None
    suitable = [device for device in registry.devices(backend) if _suits(request, device)]
    in_use = registry.open_numbers(backend)
    return min(suitable, key=lambda device: (device.index not in in_use, device.software), default=None)


def _unsuitable(request: Request, backend: Backend) -> str:
    """Returns why an available backend does not satisfy a request, "" if it does."""
    if not backend.is_gpu:
        return ""
    devices = registry.devices(backend)
    if any(_suits(request, device) for device in devices):
        return ""
    listing = ", ".join(f"{device.name} ({device.api})" if device.api else device.name for device in devices)
    if request.number is not None:
        return f"device {request.number} does not exist; the devices are {', '.join(map(str, devices))}"
    if request.api:
        adapter = f"{request.vendor} adapter through {request.api}" if request.vendor else f"{request.api} adapter"
        return f"{request.name} means WebGPU's {adapter}, and there is none among {listing}"
    if any(device.reason for device in devices):
        return f"no adapter can be opened: {'; '.join(map(str, devices))}"
    return f"there are only software adapters: {listing}"
