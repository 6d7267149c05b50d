"""Tests what happens if chains of elementwise launches cannot be compiled or run, and when they are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from harness import Runner, counted, floats, on_gpu
from openers import Switch, real_player
from recording import FakePlayer

import lanewise as lw
from lanewise import _ext
from lanewise.errors import DeviceError, OutOfMemoryError
from lanewise.webgpu import chains


def test_without_chains(gpu: Runner, switch: Switch) -> None:
    player = real_player()
    switch.use(lambda: _ext.open_webgpu("wgpu", player, player.max_groups, player.max_buffer, 0, 2**28, False))
    x = floats(1.0, 2.0)
    for _ in range(3):
        result, change = counted(lambda: (x * 2 + 1).tolist())
        assert result == [3.0, 5.0]
        assert (change["dispatches"], change["chains_run"], change["chains_compiled"]) == (2, 0, 0)


def test_a_chain_that_does_not_compile_runs_one_by_one(
    gpu: Runner, switch: Switch, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = chains.compose
    monkeypatch.setattr(chains, "compose", lambda key: _spoiled(whole(key)))
    switch.use(None)
    x = floats(1.0, 2.0)
    for _ in range(4):
        result, change = counted(lambda: (x * 2 + 1).tolist())
        assert (result, change["dispatches"], change["chains_compiled"]) == ([3.0, 5.0], 2, 0)


def _spoiled(shader: Any) -> Any:
    return type(shader)(shader.kernel, shader.source + "fn wrong() { nonsense(); }", shader.inputs, shader.outputs)


class CompilingPlayer(FakePlayer):
    """A fake that compiles chains as soon as its list of answers says so."""

    def __init__(self, answers: list[Any]) -> None:
        super().__init__()
        self.answers = answers
        self.keys: list[bytes] = []
        self.kernels: list[int] = []

    def compile(self, number: int, key: bytes) -> bool:
        """Answers as the list says, which may be an error."""
        self.keys.append(key)
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return bool(answer)

    def play(self, dispatches: bytes, parameters: bytes) -> list[tuple[int, str]]:
        """Notes the kernels."""
        kernels = [int.from_bytes(dispatches[i : i + 4], "little") for i in range(0, len(dispatches), 64)]
        self.kernels += kernels
        self.calls.append(("play", len(kernels)))
        return []


def compiling(switch: Switch, *answers: Any) -> CompilingPlayer:
    player = CompilingPlayer(list(answers))
    switch.use(lambda: player.open(fuses=True))
    return player


def run_chain(x: lw.Tensor) -> None:
    (x * 2 + 1).tolist()


def test_nodes_run_one_by_one_until_a_chain_is_compiled(switch: Switch) -> None:
    player = compiling(switch, False, False, True)
    x = floats(1.0, 2.0)
    counts = []
    for _ in range(6):
        player.kernels.clear()
        run_chain(x)
        counts.append(len(player.kernels))
    assert counts == [2, 2, 2, 1, 1, 1]
    assert len(set(player.keys)) == 1 and len(player.keys) == 3


KEPT = 128  # kernels of chains


class KeepingPlayer(FakePlayer):
    """A fake that has the kernels which were compiled and not discarded, and plays no others."""

    def __init__(self) -> None:
        super().__init__()
        self.kernels: dict[int, bytes] = {}
        self.discarded: list[bytes] = []
        self.played: list[bytes] = []
        self.meanwhile: Callable[[], object] = lambda: None  # called once, while a kernel is compiled

    def compile(self, number: int, key: bytes) -> bool:
        action, self.meanwhile = self.meanwhile, lambda: None
        action()
        self.kernels[number] = key
        return True

    def discard(self, number: int) -> None:
        self.discarded.append(self.kernels.pop(number))

    def play(self, dispatches: bytes, parameters: bytes) -> list[tuple[int, str]]:
        numbers = [int.from_bytes(dispatches[i : i + 4], "little") for i in range(0, len(dispatches), 64)]
        self.played = [self.kernels[number] for number in numbers if number >= 1 << 31]
        return []


@pytest.fixture
def keeping(switch: Switch) -> KeepingPlayer:
    player = KeepingPlayer()
    switch.use(lambda: player.open(fuses=True))
    return player


def numbered_chain(x: lw.Tensor, number: int) -> lw.Tensor:
    """Launches one of 512 chains."""
    for bit in range(9):
        x = lw.abs(x) if number >> bit & 1 else lw.negative(x)
    return x


def run_twice(player: KeepingPlayer, x: lw.Tensor, number: int) -> bytes:
    """Returns the key of the chain, which must have run as one kernel the second time."""
    for _ in range(2):
        numbered_chain(x, number).tolist()
    (key,) = player.played
    return key


def test_the_chains_that_ran_last_are_kept(keeping: KeepingPlayer) -> None:
    x = floats(1.0, 2.0)
    keys = [run_twice(keeping, x, number) for number in range(KEPT)]
    run_twice(keeping, x, 0)
    keys += [run_twice(keeping, x, number) for number in range(KEPT, KEPT + 5)]
    lw.synchronize("wgpu")
    assert keeping.discarded == keys[1:6]
    assert len(keeping.kernels) == lw.memory_stats("wgpu")["chains_kept"] == KEPT
    assert len(set(keys)) == KEPT + 5
    lw.reset("wgpu")
    assert lw.memory_stats("wgpu")["chains_kept"] == 0


def test_a_chain_that_is_not_kept_is_compiled_after_twice_as_many_runs(keeping: KeepingPlayer) -> None:
    """So a program that uses more chains than are kept does not compile one at every step."""
    x = floats(1.0, 2.0)
    rounds = 40
    _, change = counted(
        lambda: [numbered_chain(x, number).tolist() for _ in range(rounds) for number in range(KEPT + 1)]
    )
    assert KEPT < change["chains_compiled"] < 6 * KEPT
    assert change["chains_kept"] == KEPT == len(keeping.kernels)


@pytest.mark.parametrize("others", [1, KEPT - 1, KEPT, 3 * KEPT])
def test_a_chain_that_is_being_compiled_is_kept(keeping: KeepingPlayer, others: int) -> None:
    """Other threads may run any number of chains meanwhile."""
    x = floats(1.0, 2.0)
    numbered_chain(x, 511).tolist()
    keeping.meanwhile = lambda: [run_twice(keeping, x, number) for number in range(others)]
    numbered_chain(x, 511).tolist()
    (key,) = keeping.played
    assert key not in keeping.discarded
    run_twice(keeping, x, 511)
    assert keeping.played == [key] and len(keeping.kernels) <= KEPT


def test_ctrl_c_while_a_chain_is_compiled(switch: Switch) -> None:
    player = compiling(switch, KeyboardInterrupt(), True)
    x = floats(1.0, 2.0)
    run_chain(x)
    y = x * 2 + 1
    with pytest.raises(KeyboardInterrupt):
        y.tolist()
    player.kernels.clear()
    assert y.tolist() is not None  # it ran, one by one
    run_chain(x)
    assert len(player.kernels) == 3


def test_memory_that_runs_out_when_a_chain_runs(switch: Switch) -> None:
    """The tensors of the chain raise it when they are read, all others are intact."""
    player = compiling(switch, True, True)
    x = on_gpu(np.ones(1000, np.float32))
    for _ in range(3):
        lw.empty_cache()
        lw.synchronize("wgpu")
        player.capacity = sum(player.sizes.values())
        first = x * 2
        second = first + 1
        for tensor in (second, first, second):
            with pytest.raises(
                OutOfMemoryError, match=r"wgpu failed: cannot allocate 4000 bytes on wgpu: the fake is f"
            ):
                tensor.tolist()
        with pytest.raises(OutOfMemoryError):
            (second * 2).tolist()
        with pytest.raises(OutOfMemoryError):
            lw.sum(second)
        player.capacity = float("inf")
        assert x.tolist() == [1.0] * 1000
        run_chain(x)


def test_a_chain_ends_if_memory_runs_out(switch: Switch) -> None:
    """What its nodes read is released then, also if nothing needs its results any more."""
    player = compiling(switch)
    x = on_gpu(np.ones(1000, np.float32))
    y = x * 2
    player.capacity = sum(player.sizes.values())
    del x, y
    assert len(on_gpu(np.ones(1000, np.float32)).tolist()) == 1000


def test_a_device_that_is_lost_while_a_chain_waits(switch: Switch) -> None:
    player = compiling(switch)
    x = floats(1.0, 2.0)
    y = x * 2 + 1
    player.lost = "the cable is out"

    def refuse(dispatches: bytes, parameters: bytes) -> Any:
        raise DeviceError("no")

    player.play = refuse  # type: ignore[method-assign]
    for _ in range(2):
        with pytest.raises(DeviceError, match="wgpu was lost: the cable is out"):
            y.tolist()
        with pytest.raises(DeviceError, match="wgpu was lost"):
            y + 1
    new = compiling(switch)
    with pytest.raises(DeviceError, match="wgpu was lost"):
        (y + 1).tolist()
    with pytest.raises(DeviceError, match="wgpu was lost"):
        lw.sum(y)
    assert len(floats(1.0).tolist()) == 1 and new.kernels == []


def test_a_pending_result_of_a_replaced_device(switch: Switch) -> None:
    compiling(switch)
    y = floats(1.0, 2.0) * 2
    compiling(switch)
    z = floats(1.0, 2.0) * 2
    for use in (lambda: y.tolist(), lambda: y[1:], lambda: y + z, lambda: z + y, lambda: y @ y):
        with pytest.raises(DeviceError, match=r"wgpu was lost: reset\(\) replaced it"):
            use()
