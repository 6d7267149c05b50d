"""Tests lanewise/webgpu/desktop.py: which adapters it offers, and the player on a real adapter, called as the
extension calls it."""

from __future__ import annotations

import os
import re
import struct
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from harness import in_process, spoiled
from openers import real_player
from recording import BATCH, DISPATCH, ENTRIES, PARAMETER_BYTES, ROOT, STRUCTS

from lanewise.errors import DeviceError, OutOfMemoryError
from lanewise.webgpu import compiling, shaders

wgpu = pytest.importorskip("wgpu")
from lanewise.webgpu import desktop  # noqa: E402

X = np.linspace(-3, 4, 600, dtype=np.float32)


@pytest.fixture(scope="module")
def shared_player(adapter: None) -> Any:
    return real_player()


@pytest.fixture
def player(shared_player: Any) -> Any:
    """A player with three buffers: 1 holds X, 2 and 3 hold zeros."""
    for number in (1, 2, 3):
        shared_player.create(number, X.nbytes)
    shared_player.write(1, 0, memoryview(X).cast("B"))
    yield shared_player
    for number in (1, 2, 3):
        shared_player.destroy(number)
    shared_player.lost = ""


def read(player: Any, number: int, offset: int = 0, count: int = X.size) -> np.ndarray:
    result = np.full(count, 99, np.float32)
    player.read(number, offset, memoryview(result).cast("B"))
    return result


def kernel(name: str) -> int:
    return next(index for index in shaders._read(shaders.FILE)[1] if shaders.load(index).kernel == name)


def dispatch(name: str, *buffers: int, sources: int = 0, offset: int = 0) -> tuple[bytes, bytes]:
    """Returns an elementwise dispatch, and its parameters, for contiguous operands; `offset` is that of the result."""
    words = (kernel(name), ENTRIES.index("main"), sources, 1, 3, 1, 1, 0, *buffers, *[0] * (8 - len(buffers)))
    parameters = bytearray(PARAMETER_BYTES)
    struct.pack_into("<4I", parameters, 0, 0, *[offset] * 3)
    struct.pack_into("<I", parameters, 32, X.size)
    struct.pack_into("<4I", parameters, 64, *[4] * 4)
    struct.pack_into("<6I", parameters, 192, X.size, 0, 1, 1, 1, 1)
    return DISPATCH.pack(*words), bytes(parameters)


def play(player: Any, *steps: tuple[bytes, bytes]) -> list[tuple[int, str]]:
    """Plays several dispatches as one batch."""
    failures: list[tuple[int, str]] = player.play(*(b"".join(part) for part in zip(*steps, strict=True)))
    return failures


class Clock:
    """A threading.Timer whose time is up at once, if it is less than a second."""

    def __init__(self, seconds: float, function: Callable[[str], None], arguments: list[str]) -> None:
        self.seconds, self.function, self.arguments = seconds, function, arguments

    def start(self) -> None:
        """Calls the function if the time is up."""
        if self.seconds < 1:
            self.function(*self.arguments)

    def cancel(self) -> None:
        """Does nothing."""


def test_a_note_says_that_kernels_are_compiled(
    player: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It comes once, while pipelines are created or while their first run is read, if that takes long."""

    def notes_of(function: Any, *arguments: Any) -> int:
        caplog.clear()
        function(*arguments)
        assert all(each.name == "lanewise" and "waiting for" in each.message for each in caplog.records)
        return len(caplog.records)

    names = ("acosh_float32", "atanh_float32", "asinh_float32", "cosh_float32")
    first, second, third, fourth = (dispatch(name, 1, 2) for name in names)
    monkeypatch.setattr(compiling, "_has_noted", False)
    monkeypatch.setattr(threading, "Timer", Clock)
    monkeypatch.setattr(compiling, "SECONDS", 1e9)
    assert [notes_of(player.play, *first), notes_of(read, player, 2)] == [0, 0]
    monkeypatch.setattr(compiling, "SECONDS", 0)
    assert [notes_of(player.play, *first), notes_of(read, player, 2)] == [0, 0]  # nothing was compiled
    assert [notes_of(player.play, *second), notes_of(player.play, *third)] == [1, 0]
    monkeypatch.setattr(compiling, "_has_noted", False)
    assert [notes_of(read, player, 2), notes_of(player.play, *fourth)] == [1, 0]


@pytest.mark.parametrize(
    ("adapter", "expected"),
    [("SwiftShader Device (LLVM 10.0.0)", False), ("google swiftshader", False), ("llvmpipe", True), ("", True)],
)
def test_adapters_that_compile_tiles(adapter: str, expected: bool) -> None:
    assert compiling.compiles_tiles(adapter) is expected


def test_the_note_comes_during_a_call_that_takes_long(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(compiling, "_has_noted", False)
    with compiling.noted("GPU", compiling.SECONDS - 1e-3):
        end = time.monotonic() + 60
        while not caplog.records and time.monotonic() < end:
            time.sleep(1e-3)
    assert [each.message for each in caplog.records] == [
        "lanewise: waiting for GPU, which compiles each kernel before it first runs in a process"
    ]
    before = {*threading.enumerate()}
    monkeypatch.setattr(compiling, "_has_noted", False)
    with compiling.noted("GPU", 0):
        assert len({*threading.enumerate()} - before) == 1
    assert not compiling._has_noted


def test_opengl_is_neither_started_nor_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    extras = pytest.importorskip("wgpu.backends.wgpu_native.extras")
    started: list[str] = []
    vulkan, opengl = (SimpleNamespace(info={"backend_type": name}) for name in ("Vulkan", "OpenGL"))
    monkeypatch.setattr(extras, "set_instance_extras", lambda *, backends: started.extend(backends))
    monkeypatch.setattr(wgpu.gpu, "enumerate_adapters_sync", lambda: [opengl, vulkan])
    assert desktop.adapters.__wrapped__() == (vulkan,)
    assert started == ["Vulkan", "Metal", "DX12"]


def test_the_environment_is_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str | None] = []
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(
        wgpu.gpu, "enumerate_adapters_sync", lambda: [seen.append(os.environ.get("XDG_RUNTIME_DIR"))][:0]
    )
    desktop.adapters.__wrapped__()
    assert seen and seen[0]
    assert "XDG_RUNTIME_DIR" not in os.environ


def test_constants_are_those_of_the_extension() -> None:
    assert shaders.ENTRIES == ENTRIES
    assert desktop.DISPATCH.format == DISPATCH.format
    header = (ROOT / "native" / "extension" / "webgpu" / "recorder.h").read_text(encoding="utf-8")
    assert re.search(r"LW_BATCH = (\d+)", header)[1] == str(desktop.BATCH) == str(BATCH)
    assert 4 * int(re.search(r"LW_PARAMETER_WORDS = (\d+)", header)[1]) == desktop.PARAMETER_BYTES == PARAMETER_BYTES
    assert all(f"override {name}: u32" in STRUCTS for name in ("lw_sources", *shaders.VARIANTS))


def test_limits(player: Any) -> None:
    assert player.max_groups >= 65_535
    assert player.max_buffer % 4 == 0 and player.max_buffer >= 2**27


def test_dispatches_run_in_order(player: Any) -> None:
    steps = [
        dispatch("negative_float32", 1, 2),
        dispatch("abs_float32", 2, 3),
        dispatch("add_float32", 0, 3, 2, sources=2),
    ]
    assert play(player, *steps) == []
    np.testing.assert_array_equal(read(player, 2), np.abs(X) - X)


def test_a_whole_batch(player: Any) -> None:
    steps = [dispatch("add_float32", 0, 1, 2, sources=2)] * BATCH
    for _ in range(3):
        assert play(player, *steps) == []
    np.testing.assert_allclose(read(player, 2), 3 * BATCH * X, rtol=1e-5)


def test_writes_run_before_later_dispatches_and_after_earlier_ones(player: Any) -> None:
    player.play(*dispatch("negative_float32", 1, 2))
    player.write(1, 0, memoryview(np.zeros_like(X)).cast("B"))
    player.play(*dispatch("negative_float32", 1, 3))
    np.testing.assert_array_equal(read(player, 2), -X)
    assert not read(player, 3).any()


def test_a_part_of_a_buffer(player: Any) -> None:
    player.write(2, 400, memoryview(X[:50]).cast("B"))
    expected = np.zeros_like(X)
    expected[100:150] = X[:50]
    np.testing.assert_array_equal(read(player, 2), expected)
    np.testing.assert_array_equal(read(player, 2, 440, 7), X[10:17])


def test_large_and_small_reads(player: Any) -> None:
    """Reads of at most STAGING_BYTES share a buffer; larger ones have their own. Each sees what was written last."""
    count = desktop.STAGING_BYTES // 4
    player.create(9, 4 * (count + 1))
    try:
        for size in (count + 1, 3, count, 1, count + 1, 7):
            values = np.random.default_rng(size).normal(size=size).astype(np.float32)
            player.write(9, 0, memoryview(values).cast("B"))
            np.testing.assert_array_equal(read(player, 9, 0, size), values)
            staging = player._staging
            assert staging is None or staging.size == desktop.STAGING_BYTES
        assert staging is not None
        read(player, 9, 0, 5)
        assert player._staging is staging
    finally:
        player.destroy(9)


def test_a_module_that_does_not_compile(player: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its dispatches fail, each time; those beside it run."""
    load, wrong = shaders.load, kernel("sinh_float32")
    monkeypatch.setattr(shaders, "load", lambda index: spoiled(load(index)) if index == wrong else load(index))
    steps = [
        dispatch("negative_float32", 1, 2),
        dispatch("sinh_float32", 1, 2),
        dispatch("abs_float32", 1, 3),
        dispatch("sinh_float32", 1, 3),
    ]
    for _ in range(2):
        failures = play(player, *steps)
        assert [position for position, _ in failures] == [1, 3]
        assert all(re.search("error when compiling sinh_float32: .*nonsense", message) for _, message in failures)
    np.testing.assert_array_equal(read(player, 2), -X)
    np.testing.assert_array_equal(read(player, 3), np.abs(X))
    assert player.lost == ""


def test_bind_groups_are_reused(player: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are kept up to a limit, until a buffer is destroyed: they refer to buffers."""
    monkeypatch.setattr(desktop, "MAX_BIND_GROUPS", 3)
    player._bind_groups.clear()
    made: list[Any] = []
    create = player._device.create_bind_group
    monkeypatch.setattr(player._device, "create_bind_group", lambda **each: (made.append(1), create(**each))[1])
    for buffers in ((1, 2), (1, 3), (2, 3), (1, 2), (1, 3)):
        player.play(*dispatch("negative_float32", *buffers))
    player.play(*dispatch("abs_float32", 1, 2))  # another kernel with the same layout
    assert (len(made), len(player._bind_groups)) == (3, 3)
    player.play(*dispatch("negative_float32", 2, 1))
    assert (len(made), len(player._bind_groups)) == (4, 1)
    player.create(9, 256)
    player.destroy(9)
    assert not player._bind_groups
    player.play(*dispatch("negative_float32", 2, 1))
    np.testing.assert_array_equal(read(player, 1), -read(player, 2))


def test_a_batch_with_more_bind_groups_than_are_kept(player: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups that are dropped while a batch is prepared are still used by its dispatches."""
    monkeypatch.setattr(desktop, "MAX_BIND_GROUPS", 1)
    player._bind_groups.clear()
    steps = [dispatch("negative_float32", 1, 2), dispatch("abs_float32", 2, 3), dispatch("negative_float32", 3, 1)]
    assert play(player, *steps) == []
    np.testing.assert_array_equal(read(player, 1), -np.abs(X))


def test_errors_of_the_c_library_are_translated(player: Any) -> None:
    """The player works afterwards."""
    with pytest.raises(DeviceError, match=r"^error when writing 4 bytes: "):
        player.write(1, X.nbytes, memoryview(bytes(4)))
    assert player.lost == ""
    player.play(*dispatch("negative_float32", 1, 2))
    np.testing.assert_array_equal(read(player, 2), -X)


NO_MEMORY, FAILED = "out of memory when allocating 256 bytes", "error when allocating 256 bytes"


@pytest.mark.parametrize(
    ("error", "expected", "message", "lost"),
    [
        (wgpu.GPUOutOfMemoryError("no room"), OutOfMemoryError, NO_MEMORY, False),
        (wgpu.GPUValidationError("In create\n Not enough memory left."), OutOfMemoryError, NO_MEMORY, False),
        (wgpu.GPUValidationError("it is wrong"), DeviceError, FAILED, False),
        (wgpu.GPUError("the glossary says it is wrong"), DeviceError, FAILED, False),
        (RuntimeError("Parent device is lost"), DeviceError, FAILED, True),
        (wgpu.GPUError("Device lost: the driver\n has crashed"), DeviceError, FAILED, True),
        (wgpu.GPUError("DEVICE LOST"), DeviceError, FAILED, True),
        (ZeroDivisionError("a bug"), ZeroDivisionError, "a bug", False),
    ],
)
def test_errors_and_losses(
    player: Any,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    expected: type[Exception],
    message: str,
    lost: bool,
) -> None:
    def fail(**_: Any) -> None:
        raise error

    monkeypatch.setattr(player._device, "create_buffer", fail)
    with pytest.raises(expected, match=f"^{message}"):
        player.create(9, 256)
    assert player.lost == (" ".join(str(error).split()) if lost else "")


def test_a_buffer_larger_than_the_device_allows(player: Any) -> None:
    with pytest.raises((DeviceError, OutOfMemoryError), match="allocating"):
        player.create(9, 2**40)


def test_a_destroyed_buffer_cannot_be_used(player: Any) -> None:
    player.create(9, 256)
    player.destroy(9)
    with pytest.raises(KeyError):
        player.write(9, 0, memoryview(bytes(4)))


INTERRUPTED = """
import numpy as np
import lanewise as lw
from lanewise.webgpu import desktop

lw.init_backend("wgpu")
x = lw.asarray(np.ones((500, 500), np.float32)).to("wgpu")
y = lw.asarray(np.arange(5)).to("wgpu")
library = desktop._lib


class Interrupting:
    def __getattr__(self, name):
        return getattr(library, name)

    def wgpuDevicePoll(self, *arguments):
        raise KeyboardInterrupt


for attempt in range(5):
    product = x @ x
    desktop._lib = Interrupting()
    try:
        product.tolist()
        print("it was ready")
    except KeyboardInterrupt:
        print("interrupted")
    desktop._lib = library
    assert y.tolist() == [0, 1, 2, 3, 4]
    assert product[0, 0].item() == 500
    assert (x + 1).sum().item() == 500_000
print("done")
"""


def test_an_interrupt_while_a_read_waits(adapter: None) -> None:
    """The device still works, and so does the tensor that was to be read. In a process of its own, as the driver later
    calls back about the memory that it was to map."""
    assert in_process(INTERRUPTED) == ["interrupted"] * 5 + ["done"]


LOST = """
import itertools
import numpy as np
import lanewise as lw
from lanewise.webgpu import desktop

players = []
create = desktop.Player.__init__
desktop.Player.__init__ = lambda self, adapter: (create(self, adapter), players.append(self))[0]
lw.init_backend("wgpu")
calls = {
    "read": lambda x: x.tolist(),
    "compute": lambda x: (x + 1).tolist(),
    "compile": lambda x: lw.exp(x).tolist(),
    "write": lambda x: lw.asarray(np.ones(1000, np.float32)).to("wgpu"),
}
for name, work in itertools.product(calls, ("pending", "none")):
    listed = [(each.name, each.available) for each in lw.backends()]
    x = lw.asarray(np.ones(10, np.float32)).to("wgpu")
    assert (x + 1).tolist() == [2] * 10
    y = x + 2 if work == "pending" else None
    players[-1]._device.destroy()
    for call in (calls[name], calls["read"]):
        assert [(each.name, each.available) for each in lw.backends()] == listed
        try:
            call(x)
            print(f"{name}, {work}: it succeeded")
        except lw.DeviceError as error:
            print(error)
    lw.reset("wgpu")
    assert lw.asarray(np.ones(10, np.float32)).to("wgpu").sum().item() == 10
"""


def test_a_lost_device(adapter: None) -> None:
    """Calls raise errors that name lw.reset(), which opens a new device. In a process of its own."""
    messages = [line for line in in_process(LOST) if "was lost" in line or ": it succeeded" in line]
    assert len(messages) == 16
    for message in messages:
        assert "wgpu was lost: " in message and '; open it again with lw.reset("wgpu")' in message
