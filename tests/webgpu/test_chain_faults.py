"""Tests what happens if chains of elementwise launches cannot be compiled or run, and when they are compiled."""

from __future__ import annotations

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
