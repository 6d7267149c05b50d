"""Tests, on a fake device, what happens if dispatches or calls of the player fail: exactly the tensors concerned raise
the error when they are read, and so does what is computed from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from harness import floats, on_gpu
from openers import Switch, open_player
from recording import Dispatch, FakePlayer

import lanewise as lw
from lanewise.errors import DeviceError, OutOfMemoryError

FAILED = "wgpu failed: it does not compile"
LOST = r'wgpu was lost: the cable is out; open it again with lw\.reset\("wgpu"\)'


def failing(kernel: str, message: str = "it does not compile") -> Callable[[list[Dispatch]], list[tuple[int, str]]]:
    """Returns an answer for FakePlayer: all dispatches of a kernel fail."""
    return lambda batch: [(i, message) for i, each in enumerate(batch) if each.kernel == kernel]


def refuse(tensor: lw.Tensor, match: str = FAILED) -> None:
    for _ in range(2):  # the error stays
        with pytest.raises(DeviceError, match=match):
            tensor.tolist()


@pytest.mark.parametrize("first", ["failed", "sound"])
def test_a_failed_dispatch_spoils_what_depends_on_it(fake: FakePlayer, first: str) -> None:
    fake.answer = failing("exp_float32")
    x = floats(1, 2)
    before, spoiled, after = lw.abs(x), lw.exp(x), lw.sqrt(x)
    dependent, view = spoiled + x, spoiled[1:]
    apart = before + after
    total = floats(0, 0)
    lw.add(total, dependent, out=total)
    if first == "failed":
        refuse(spoiled)
    for sound in (x, before, after, apart):
        assert len(sound.tolist()) == 2
    for each in (spoiled, dependent, view, total):
        refuse(each)
    refuse(lw.sum(dependent))  # what is launched after the failure is known does not run
    assert "sum_float32" not in [each.kernel for batch in fake.batches for each in batch]
    assert lw.abs(apart).shape == (2,)


def test_the_dispatches_of_a_launch_fail_together(fake: FakePlayer) -> None:
    fake.answer = lambda batch: [(i, "one") for i, each in enumerate(batch) if each.entry == "combine"]
    x = on_gpu(np.zeros((3, 5000)), np.float32)
    sums, products = lw.sum(x[:, ::-1], axis=1), x * x
    refuse(sums, "wgpu failed: one")
    assert products.tolist()[0][0] == 0


def test_a_failure_in_a_later_batch(fake: FakePlayer) -> None:
    fake.answer = failing("exp_float32")
    x = floats(1)
    results = [lw.exp(x) if i % 50 == 49 else lw.abs(x) for i in range(200)]
    assert len(fake.batches) == 3
    for i, result in enumerate(results):
        refuse(result) if i % 50 == 49 else result.tolist()


@pytest.mark.parametrize(
    "answer",
    [None, [], [(99, "no such dispatch")], [(-1, "before the first")], ["no pair"], [(0,)], [("0", "no number")]],
)
def test_answers_that_name_no_dispatch(fake: FakePlayer, answer: Any) -> None:
    fake.answer = lambda batch: answer
    x = floats(1)
    assert lw.abs(x).tolist() == [0]
    assert x.tolist() == [1]


def test_a_long_message_is_cut_off(fake: FakePlayer) -> None:
    fake.answer = failing("exp_float32", "w" * 10_000)
    spoiled = lw.exp(floats(1))
    with pytest.raises(DeviceError, match="wgpu failed: www") as caught:
        spoiled.tolist()
    assert len(str(caught.value)) < 500


def raising(error: BaseException) -> Callable[..., Any]:
    def fail(*_: Any) -> Any:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "expected"),
    [(DeviceError("the queue is full"), DeviceError), (OutOfMemoryError("no room"), OutOfMemoryError),
     (ZeroDivisionError("a bug"), DeviceError)],
)  # fmt: skip
def test_an_error_in_play_spoils_the_batch(fake: FakePlayer, error: Exception, expected: type[Exception]) -> None:
    x = floats(1)
    earlier = lw.abs(x)
    earlier.tolist()
    fake.answer = raising(error)
    spoiled, other = lw.abs(x), lw.exp(x)
    for tensor in (spoiled, other, spoiled + 1):
        with pytest.raises(expected, match=str(error)):
            tensor.tolist()
    fake.answer = lambda batch: []
    for tensor in (spoiled, other):
        with pytest.raises(expected, match=str(error)):
            tensor.tolist()
    assert len((lw.abs(x) + earlier).tolist()) == 1


def test_an_error_in_play_of_a_full_batch_comes_late(fake: FakePlayer) -> None:
    """Launches return, whichever of them hands the batch over."""
    x = floats(1)
    fake.answer = raising(DeviceError("the queue is full"))
    results = [lw.abs(x) for _ in range(70)]
    fake.answer = lambda batch: []
    for position, result in enumerate(results):
        if position < 64:
            refuse(result, "wgpu failed: the queue is full")
        else:
            result.tolist()


def test_an_interrupt_passes_through(fake: FakePlayer) -> None:
    x = floats(1)
    spoiled = lw.abs(x)
    fake.answer = raising(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        x.tolist()
    fake.answer = lambda batch: []
    refuse(spoiled, "wgpu failed: Ctrl-C interrupted it")
    assert x.tolist() == [1]
    assert lw.abs(x).tolist() == [0]
    assert fake.lock.acquire(blocking=False)  # by this thread or none
    fake.lock.release()


def test_an_interrupt_of_a_full_batch(fake: FakePlayer) -> None:
    """The launch that hands the batch over raises."""
    x = floats(1)
    results = [lw.abs(x) for _ in range(63)]
    fake.answer = raising(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        lw.abs(x)
    fake.answer = lambda batch: []
    for result in results:
        refuse(result, "wgpu failed: Ctrl-C interrupted it")
    assert lw.abs(x).tolist() == [0]


@pytest.mark.parametrize("error", [DeviceError("it is broken"), KeyError("it is broken"), KeyboardInterrupt()])
@pytest.mark.parametrize("method", ["create", "write", "read"])
def test_methods_that_fail(
    fake: FakePlayer, monkeypatch: pytest.MonkeyPatch, method: str, error: BaseException
) -> None:
    """The call raises the error, and later ones succeed."""
    x = floats(1, 2)
    before = lw.memory_stats("wgpu")["allocated_bytes"]
    monkeypatch.setattr(fake, method, raising(error))
    expected = (DeviceError, "wgpu failed: '?it is broken") if isinstance(error, Exception) else (type(error), None)
    with pytest.raises(expected[0], match=expected[1]):
        x.tolist() if method == "read" else on_gpu(np.zeros(100))
    monkeypatch.undo()
    assert lw.memory_stats("wgpu")["allocated_bytes"] == before
    assert x.tolist() == [1, 2]
    assert on_gpu([3.0], np.float32).tolist() == [3]


def test_a_buffer_that_cannot_be_destroyed(fake: FakePlayer, monkeypatch: pytest.MonkeyPatch) -> None:
    x = floats(1)
    monkeypatch.setattr(fake, "destroy", raising(DeviceError("it is broken")))
    kept = floats(5)
    del x
    lw.empty_cache()
    assert kept.tolist() == [5]
    assert floats(2).tolist() == [2]


def lose(player: FakePlayer) -> None:
    """Makes the player lose its device in the next batch."""

    def answer(batch: list[Dispatch]) -> list[tuple[int, str]]:
        player.lost = "the cable is out"
        raise DeviceError("the cable is out")

    player.answer = answer


def test_a_loss(fake: FakePlayer) -> None:
    x = floats(1)
    y = lw.abs(x)
    lose(fake)
    for call in (
        y.tolist,
        x.tolist,
        lambda: lw.exp(x),
        lambda: floats(2),
        lambda: lw.add(x, x, out=y),
        lambda: lw.synchronize("wgpu"),
    ):
        with pytest.raises(DeviceError, match=LOST):
            call()
    calls = len(fake.calls)
    with pytest.raises(DeviceError, match=LOST):
        (x + 1).tolist()
    assert len(fake.calls) == calls
    assert lw.asarray([1.0]).tolist() == [1]


def test_a_loss_while_a_full_batch_is_handed_over(fake: FakePlayer) -> None:
    x = floats(1)
    results = [lw.abs(x) for _ in range(63)]
    lose(fake)
    with pytest.raises(DeviceError, match=LOST):
        lw.abs(x)
    for result in results:
        refuse(result, LOST)


def test_reset_replaces_a_device_that_works(fake: FakePlayer, switch: Switch) -> None:
    """What was recorded for the old device never runs, and its buffers are destroyed once they are unused."""
    x = floats(1)
    y = lw.abs(x)
    second = FakePlayer()
    switch.opener = second.open
    lw.reset("wgpu")
    for tensor in (x, y):
        with pytest.raises(DeviceError, match=r"wgpu was lost: reset\(\) replaced it$"):
            tensor.tolist()
    with pytest.raises(DeviceError, match="replaced"):
        x + floats(5)
    assert not fake.batches and not second.batches
    assert floats(3).tolist() == [3]


def test_a_player_without_a_lock(fake: FakePlayer) -> None:
    with pytest.raises(AttributeError, match="lock"):
        open_player(object(), 100)
    assert floats(1).tolist() == [1]
    with pytest.raises(lw.ArgumentTypeError, match="expected \\(name, player, groups"):
        open_player(fake, "many")
