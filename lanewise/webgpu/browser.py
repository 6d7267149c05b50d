"""WebGPU in a browser, from Pyodide: the adapter of the page or worker, and the player of recorded dispatches.

native/extension/webgpu/recorder.c calls the player, whose work is done by player.js: one call of JavaScript for a
batch. All JavaScript is reached through _script(), _call() and _wait(). WebGPU answers by promises. Python waits for
them where the browser can suspend it (JavaScript Promise Integration, in code that runPythonAsync() runs); elsewhere,
programs await: lw.init_backend("wgpu") and Tensor.cpu_async() are made for that.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from pyodide.code import run_js
from pyodide.ffi import JsException, can_run_sync, create_proxy, run_sync, to_js

from lanewise._ext import Tensor
from lanewise.backends import placement
from lanewise.backends.devices import LIMITS, DeviceInfo, Unsettled
from lanewise.errors import DeviceError, OutOfMemoryError
from lanewise.webgpu import chains, compiling, shaders

__all__ = ["Player", "devices", "fetch", "is_pending", "missing", "open_player", "prepare"]

SCRIPT: Final = Path(__file__).with_name("player.js")
LARGE: Final = 1 << 24  # bytes; whether such a buffer fits is checked at once, which takes a round trip to the GPU
MAX_BUFFER: Final = (1 << 31) - 16  # addresses of devices are in the upper half of 32 bits (native/memory/addresses.c)
CACHE_LIMIT: Final = 1 << 30  # bytes of freed memory that are kept, as WebGPU does not tell the size of the memory
CANNOT_WAIT: Final = "Python cannot wait for the GPU here"


@functools.cache
def _script() -> Any:
    """Returns the functions of player.js."""
    tables = map(to_js, (shaders.ENTRIES, shaders.VARIANTS, LIMITS))
    note = create_proxy(_note_compiling)
    return run_js(SCRIPT.read_text(encoding="utf-8"))(*tables, note, compiling.SECONDS * 1000)


def _note_compiling() -> None:
    compiling.note(_adapter.name if _adapter else "the GPU")


def _call(target: Any, function: str, *arguments: Any) -> Any:
    """Calls a function of JavaScript. Raises its exceptions as DeviceError."""
    try:
        return getattr(target, function)(*arguments)
    except JsException as error:
        raise DeviceError(_text(error)) from None


def _wait(promise: Any) -> Any:
    """Waits for a promise; can_wait() must be true. Meanwhile the page runs other tasks, also those of Python."""
    try:
        return run_sync(promise)
    except JsException as error:
        raise DeviceError(_text(error)) from None


def _text(error: Any) -> str:
    return " ".join(str(getattr(error, "message", error)).split()).rstrip(".")


def can_wait() -> bool:
    """Whether the browser can suspend this call of Python until a promise is settled."""
    return bool(can_run_sync())


_adapter: DeviceInfo | None = None  # the adapter that the browser offers first
_has_looked = False  # for an adapter
_ready: Player | None = None  # opened by prepare(), for open_player()


def missing() -> str:
    """Returns why this page has no WebGPU, "" if it has it. Waits for the browser at the first call."""
    if not _call(_script(), "hasWebGpu"):
        return "this JavaScript has no navigator.gpu; use a browser with WebGPU, and a page from https: or localhost"
    if not _has_looked:
        if not can_wait():
            return Unsettled(f'{CANNOT_WAIT}; `await lw.init_backend("wgpu")` looks for an adapter')
        _note(_wait(_call(_script(), "look")))
    return "" if _adapter else "the browser has no adapter for WebGPU; see chrome://gpu or about:support for the reason"


def devices() -> list[DeviceInfo]:
    """Returns the adapter that missing() has found. Browsers tell neither its memory nor its API."""
    return [_adapter] if _adapter else []


def is_pending() -> bool:
    """Whether WebGPU needs prepare() here, because Python cannot wait."""
    return not can_wait() and bool(_call(_script(), "hasWebGpu"))


async def prepare(*, opening: bool) -> None:
    """Looks for the adapter if that has not been done. If `opening`, opens a device for the next open_player()."""
    global _ready
    if not _has_looked:
        _note(await _settled(_call(_script(), "look")))
    if opening and _adapter:
        _ready = Player(await _settled(_call(_script(), "open")))


def _note(found: Any) -> None:
    global _adapter, _has_looked
    _has_looked = True
    _adapter = None
    if found:
        limits = dict(zip(LIMITS, found.limits, strict=True))
        kind = "software" if found.software else None
        features = tuple(sorted(found.features))
        _adapter = DeviceInfo(0, found.name, software=found.software, type=kind, limits=limits, features=features)


def open_player() -> Player:
    """Returns the player of a new device. Waits for the browser, unless prepare() has opened the device."""
    global _ready
    player, _ready = _ready, None
    if player:
        return player
    if not can_wait():
        raise DeviceError(f'{CANNOT_WAIT}; write `await lw.init_backend("wgpu")`, or `await lw.reset("wgpu")`')
    return Player(_wait(_call(_script(), "open")))


async def _settled(promise: Any) -> Any:
    try:
        return await promise
    except JsException as error:
        raise DeviceError(_text(error)) from None


class Player:
    """Has the same interface as desktop.Player. Errors that WebGPU reports late, such as those of the shader compiler,
    count as a loss of the device: nobody knows which tensors they concern."""

    def __init__(self, page: Any) -> None:
        # Nothing ever waits for it: a page has one thread. Only a read suspends Python, after the dispatches before it
        # have been submitted, so what other tasks do meanwhile comes later in the order of the GPU.
        self.lock = threading.RLock()
        self._page = page
        self.max_groups = int(page.maxGroups)
        self.max_workgroup_bytes = int(page.maxWorkgroupBytes)
        self.max_buffer = min(int(page.maxBuffer) // 16 * 16, MAX_BUFFER)
        self.compiles_tiles = compiling.compiles_tiles(_adapter.name if _adapter else "")

    @property
    def lost(self) -> str:
        """Why the device is lost, "" while it is not."""
        return _text(self._page.lost)

    def create(self, number: int, size: int) -> None:
        """Creates the buffer with this number. Raises OutOfMemoryError, for a small buffer or where Python cannot wait
        only as a loss of the device."""
        is_awaited = size >= LARGE and can_wait()
        refusal = _call(self._page, "create", number, size, is_awaited)
        if is_awaited and (message := _wait(refusal)):
            raise OutOfMemoryError(f"out of memory when allocating {size} bytes: {message}")

    def destroy(self, number: int) -> None:
        """Destroys a buffer, which no dispatch uses that is still to be played."""
        _call(self._page, "destroy", number)

    def write(self, number: int, offset: int, data: memoryview) -> None:
        """Copies bytes from the host to a buffer. Offset and size are multiples of 4."""
        _call(self._page, "write", number, offset, data)

    def read(self, number: int, offset: int, into: memoryview) -> None:
        """Waits for all dispatches, and copies bytes of a buffer to the host. Offset and size are multiples of 4.
        Inside _postponed(), starts only, and leaves `into` as it is."""
        if _reads is not None:
            _reads.append(_Read(self._page, _call(self._page, "start", number, offset, into.nbytes)))
            return
        if not can_wait():
            raise DeviceError(f"{CANNOT_WAIT}; write `await tensor.cpu_async()`")
        _call(self._page, "finish", _wait(_call(self._page, "start", number, offset, into.nbytes)), into)

    def play(self, dispatches: bytes, parameters: bytes, _is_read_next: int) -> list[tuple[int, str]]:
        """Submits recorded dispatches. Returns no failures: those that WebGPU finds come later, as a loss."""
        unknown = _call(self._page, "play", dispatches, parameters)
        if unknown:
            for kernel in unknown:
                self._define(kernel, shaders.load(kernel))
            _call(self._page, "play", dispatches, parameters)
        return []

    def compile(self, number: int, key: bytes) -> bool:
        """Compiles the kernel of a chain in the background, for dispatches of this number. Returns whether they can be
        played yet."""
        if not _call(self._page, "isDefined", number):
            self._define(number, chains.compose(key))
        return bool(_call(self._page, "prepare", number))

    def discard(self, number: int) -> None:
        """Drops the kernel of a chain, which no dispatch uses that is still to be played."""
        _call(self._page, "discard", number)

    def _define(self, kernel: int, shader: shaders.Shader) -> None:
        _call(self._page, "define", kernel, shader.kernel, shader.source, shader.inputs, shader.outputs)

    def close(self) -> None:
        """Destroys the device, with all of its buffers."""
        _call(self._page, "close")


class _Read(NamedTuple):
    """A read that has started."""

    page: Any
    promise: Any


_reads: list[_Read] | None = None


@contextlib.contextmanager
def _postponed() -> Iterator[list[_Read]]:
    """Makes reads inside the block start only. Yields the list of them."""
    global _reads
    _reads = []
    try:
        yield _reads
    finally:
        _reads = None


async def fetch(tensor: Tensor) -> Tensor:
    """Returns a copy of a tensor on the CPU, and lets the page run other tasks until the GPU has computed it.

    The read starts at once, so later changes of the tensor do not show. It copies whole words to the new tensor, which
    is why elements that are smaller are copied to the start of a buffer first.
    """
    is_aligned = tensor.is_contiguous and tensor.itemsize % 4 == 0
    source = tensor if is_aligned else tensor.copy()
    with _postponed() as reads:
        host = placement.place(source, "cpu")
    for read in reads:  # none if the tensor has no elements
        try:
            mapped = await _settled(read.promise)
        except DeviceError:
            placement.place(source, "cpu")  # raises the loss with its cure, as any other read
            raise
        _call(read.page, "finish", mapped, host)
    return host
