"""Tests what happens if chains of elementwise launches cannot be compiled or run, and when they are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from harness import Runner, counted, floats, on_gpu, spoiled
from openers import Switch, open_player, real_player
from recording import DISPATCH, FakePlayer

import lanewise as lw
from lanewise.errors import DeviceError, OutOfMemoryError
from lanewise.webgpu import chains


def test_without_chains(gpu: Runner, switch: Switch) -> None:
    player = real_player()
    switch.use(lambda: open_player(player, player.max_groups, player.max_buffer))
    x = floats(1.0, 2.0)
    for _ in range(3):
        result, change = counted(lambda: (x * 2 + 1).tolist())
        assert result == [3.0, 5.0]
        assert (change["dispatches"], change["chains_run"], change["chains_compiled"]) == (2, 0, 0)


def test_a_chain_that_does_not_compile_runs_one_by_one(
    gpu: Runner, switch: Switch, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = chains.compose
    monkeypatch.setattr(chains, "compose", lambda key: spoiled(whole(key)))
    switch.use(None)
    x = floats(1.0, 2.0)
    for _ in range(4):
        result, change = counted(lambda: (x * 2 + 1).tolist())
        assert (result, change["dispatches"], change["chains_compiled"]) == ([3.0, 5.0], 2, 0)


class CompilingPlayer(FakePlayer):
    """A fake that compiles chains: as soon as its answers say so, which may be errors, then always. It has the kernels
    that were compiled and not discarded."""

    def __init__(self, *answers: Any) -> None:
        super().__init__()
        self.answers = list(answers)
        self.keys: list[bytes] = []
        self.compiled: dict[int, bytes] = {}
        self.discarded: list[bytes] = []
        self.kernels: list[int] = []  # that were played
        self.chains: list[bytes] = []  # the keys of those in the last batch
        self.meanwhile: Callable[[], object] = lambda: None  # called once, while a kernel is compiled

    def compile(self, number: int, key: bytes) -> bool:
        self.keys.append(key)
        action, self.meanwhile = self.meanwhile, lambda: None
        action()
        answer = self.answers.pop(0) if self.answers else True
        if isinstance(answer, BaseException):
            raise answer
        if answer:
            self.compiled[number] = key
        return bool(answer)

    def discard(self, number: int) -> None:
        self.discarded.append(self.compiled.pop(number))

    def play(self, dispatches: bytes, parameters: bytes, _is_read_next: int = 0) -> list[tuple[int, str]]:
        kernels = [kernel for kernel, *_ in DISPATCH.iter_unpack(dispatches)]
        self.kernels += kernels
        self.chains = [self.compiled[kernel] for kernel in kernels if kernel >= 1 << 31]
        return []


@pytest.fixture
def compiling(switch: Switch) -> Callable[..., CompilingPlayer]:
    """Returns a function that opens a player with these answers."""

    def opened(*answers: Any) -> CompilingPlayer:
        player = CompilingPlayer(*answers)
        switch.use(lambda: player.open(fuses=True))
        return player

    return opened


@pytest.fixture
def keeping(compiling: Callable[..., CompilingPlayer]) -> CompilingPlayer:
    return compiling()


def run_chain(x: lw.Tensor) -> None:
    (x * 2 + 1).tolist()


def test_nodes_run_one_by_one_until_a_chain_is_compiled(compiling: Callable[..., CompilingPlayer]) -> None:
    player = compiling(False, False, True)
    x = floats(1.0, 2.0)
    counts = []
    for _ in range(6):
        player.kernels.clear()
        run_chain(x)
        counts.append(len(player.kernels))
    assert counts == [2, 2, 2, 1, 1, 1]
    assert len(set(player.keys)) == 1 and len(player.keys) == 3


KEPT = 128  # kernels of chains


def numbered_chain(x: lw.Tensor, number: int) -> lw.Tensor:
    """Launches one of 512 chains."""
    for bit in range(9):
        x = lw.abs(x) if number >> bit & 1 else lw.negative(x)
    return x


def run_twice(player: CompilingPlayer, x: lw.Tensor, number: int) -> bytes:
    """Returns the key of the chain, which must have run as one kernel the second time."""
    for _ in range(2):
        numbered_chain(x, number).tolist()
    (key,) = player.chains
    return key


def test_the_chains_that_ran_last_are_kept(keeping: CompilingPlayer) -> None:
    x = floats(1.0, 2.0)
    keys = [run_twice(keeping, x, number) for number in range(KEPT)]
    run_twice(keeping, x, 0)
    keys += [run_twice(keeping, x, number) for number in range(KEPT, KEPT + 5)]
    lw.synchronize("wgpu")
    assert keeping.discarded == keys[1:6]
    assert len(keeping.compiled) == lw.memory_stats("wgpu")["chains_kept"] == KEPT
    assert len(set(keys)) == KEPT + 5
    lw.reset("wgpu")
    assert lw.memory_stats("wgpu")["chains_kept"] == 0


def test_a_chain_that_is_not_kept_is_compiled_after_twice_as_many_runs(keeping: CompilingPlayer) -> None:
    """So a program that uses more chains than are kept does not compile one at every step."""
    x = floats(1.0, 2.0)
    rounds = 40
    _, change = counted(
        lambda: [numbered_chain(x, number).tolist() for _ in range(rounds) for number in range(KEPT + 1)]
    )
    assert KEPT < change["chains_compiled"] < 6 * KEPT
    assert change["chains_kept"] == KEPT == len(keeping.compiled)


@pytest.mark.parametrize("others", [1, KEPT - 1, KEPT, 3 * KEPT])
def test_a_chain_that_is_being_compiled_is_kept(keeping: CompilingPlayer, others: int) -> None:
    """Other threads may run any number of chains meanwhile."""
    x = floats(1.0, 2.0)
    numbered_chain(x, 511).tolist()
    keeping.meanwhile = lambda: [run_twice(keeping, x, number) for number in range(others)]
    numbered_chain(x, 511).tolist()
    (key,) = keeping.chains
    assert key not in keeping.discarded
    run_twice(keeping, x, 511)
    assert keeping.chains == [key] and len(keeping.compiled) <= KEPT


def test_ctrl_c_while_a_chain_is_compiled(compiling: Callable[..., CompilingPlayer]) -> None:
    player = compiling(KeyboardInterrupt(), True)
    x = floats(1.0, 2.0)
    run_chain(x)
    y = x * 2 + 1
    with pytest.raises(KeyboardInterrupt):
        y.tolist()
    player.kernels.clear()
    assert y.tolist() is not None  # it ran, one by one
    run_chain(x)
    assert len(player.kernels) == 3


def test_memory_that_runs_out_when_a_chain_runs(compiling: Callable[..., CompilingPlayer]) -> None:
    """The tensors of the chain raise it when they are read, all others are intact."""
    player = compiling(True, True)
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


def test_a_chain_ends_if_memory_runs_out(compiling: Callable[..., CompilingPlayer]) -> None:
    """What its nodes read is released then, also if nothing needs its results any more."""
    player = compiling()
    x = on_gpu(np.ones(1000, np.float32))
    y = x * 2
    player.capacity = sum(player.sizes.values())
    del x, y
    assert len(on_gpu(np.ones(1000, np.float32)).tolist()) == 1000


def test_a_device_that_is_lost_while_a_chain_waits(compiling: Callable[..., CompilingPlayer]) -> None:
    player = compiling()
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
    new = compiling()
    with pytest.raises(DeviceError, match="wgpu was lost"):
        (y + 1).tolist()
    with pytest.raises(DeviceError, match="wgpu was lost"):
        lw.sum(y)
    assert len(floats(1.0).tolist()) == 1 and new.kernels == []


def test_a_pending_result_of_a_replaced_device(compiling: Callable[..., CompilingPlayer]) -> None:
    compiling()
    y = floats(1.0, 2.0) * 2
    compiling()
    z = floats(1.0, 2.0) * 2
    for use in (lambda: y.tolist(), lambda: y[1:], lambda: y + z, lambda: z + y, lambda: y @ y):
        with pytest.raises(DeviceError, match=r"wgpu was lost: reset\(\) replaced it"):
            use()
