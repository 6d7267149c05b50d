"""Tests several real adapters in one process: lavapipe, and SwiftShader as Chromium brings it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from harness import in_process

DRIVERS = [
    next(Path("/usr/share/vulkan/icd.d").glob("lvp_icd*.json"), None),
    next(Path("/usr/lib/chromium").glob("vk_swiftshader_icd.json"), None),
]
pytestmark = pytest.mark.skipif(
    None in DRIVERS, reason="needs the Vulkan drivers lavapipe and SwiftShader, the latter of Chromium"
)


def with_both(program: str, **variables: str) -> list[str]:
    """Returns the lines that a program prints in a process that has both adapters."""
    return in_process(program, VK_DRIVER_FILES=os.pathsep.join(map(str, DRIVERS)), **variables)


PROGRAM = """
import copy, pickle
import numpy as np
import lanewise as lw

names = [device.name for info in lw.backends() if info.name == "wgpu" for device in info.devices]
assert len(names) == 2 and any("llvmpipe" in name for name in names) and any("SwiftShader" in name for name in names)
X = np.arange(12, dtype=np.float32).reshape(3, 4)
try:
    lw.reset("wgpu:1")
except lw.BackendError as error:
    print(error)
one = lw.asarray(X).to("wgpu:1")
assert (one.device, one.backend, lw.zeros(2, device="vulkan").device) == ("wgpu:1", "wgpu", "wgpu:1")
zero = lw.asarray(X).to("wgpu")  # the first adapter, whether or not another is in use
assert (zero.device, repr(zero[0])) == ("wgpu", "Tensor([0., 1., 2., 3.], backend=wgpu)")
assert repr(one[0, :2]) == "Tensor([0., 1.], backend=wgpu:1)"

for tensor in (zero, one):  # each computes with its own
    before = {name: lw.memory_stats(name) for name in ("wgpu:0", "wgpu:1")}
    result = lw.sum(lw.exp(tensor.T * 0.1) + 1, axis=0)
    assert result.device == tensor.device
    assert np.allclose(result.numpy(), (np.exp(X.T * 0.1) + 1).sum(0), rtol=1e-5)
    counts = {name: lw.memory_stats(name)["dispatches"] - old["dispatches"] for name, old in before.items()}
    other = "wgpu:1" if tensor is zero else "wgpu:0"
    assert counts.pop(other) == 0 and all(counts.values()), counts
assert sum(lw.memory_stats(name)["readbacks"] for name in ("wgpu:0", "wgpu:1")) == lw.memory_stats()["readbacks"]

both = zero + one.T.T[:, ::-1]  # runs on the later of the two
assert both.device == "wgpu:1" and np.array_equal(both.numpy(), X + X[:, ::-1])
with lw.strict_backends():
    try:
        zero + one
    except lw.BackendError as error:
        print(error)
zero[1] = one[2]
zero += one
lw.multiply(one, 2, out=zero)
assert zero.device == "wgpu" and np.array_equal(zero.numpy(), 2 * X)
moved = zero.to("wgpu:1")
assert (moved.device, moved.tolist()) == ("wgpu:1", zero.tolist())
with lw.use_backend("wgpu:1") as chosen:
    assert chosen is lw.Backend.WGPU and lw.ones(2).device == "wgpu:1"
    assert np.array_equal((lw.asarray(X) @ X.T).numpy(), X @ X.T)
assert lw.zeros_like(zero).device == "wgpu" and lw.ones_like(one).device == "wgpu:1"
assert lw.concat([zero, one]).device == "wgpu:1" and copy.deepcopy(one).device == "wgpu:1"
assert np.array_equal(pickle.loads(pickle.dumps(one)).numpy(), X)
for name in ("wgpu:0", "wgpu:1", "wgpu", None):
    lw.synchronize(name)

kept = lw.exp(zero)
lw.reset("wgpu:1")
try:
    one.tolist()
except lw.DeviceError as error:
    print(error)
assert np.allclose(kept.numpy(), np.exp(2 * X), rtol=1e-5)
assert (lw.asarray(X).to("wgpu:1") + 1).device == "wgpu:1"
try:
    lw.init_backend("wgpu:2")
except lw.BackendUnavailableError as error:
    print(error)
"""


def test_two_adapters_at_once() -> None:
    closed, mixed, lost, unknown = with_both(PROGRAM)
    assert closed == "reset: expected a GPU backend that is open, got wgpu:1"
    assert "expected operands on one backend inside strict_backends(), got wgpu and wgpu:1" in mixed
    assert "wgpu:1 was lost: reset() replaced it" in lost
    assert "device 2 does not exist; the devices are [0] " in unknown


BENCHMARKS = """
import contextlib, io, json
import lanewise as lw
from lanewise import bench
from tests.bench import command

def dispatches():
    return [lw.memory_stats(name)["dispatches"] for name in ("wgpu:0", "wgpu:1")]

for main, options in ((bench.main, ()), (command.main, ("--sizes", "64", "--repeats", "1", "--peers"))):
    before, text = dispatches(), io.StringIO()
    with contextlib.redirect_stdout(text):
        assert main(["add", "--backends", "wgpu:1", "--json", "--seconds", "0.0001", *options]) == 0
    assert "wgpu:1" in text.getvalue()
    print([after > old for after, old in zip(dispatches(), before, strict=True)])
"""


def test_benchmarks_measure_the_adapter_that_is_named() -> None:
    path = os.pathsep.join([str(Path(__file__).parents[2]), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    assert with_both(BENCHMARKS, PYTHONPATH=path) == ["[False, True]"] * 2


def test_the_environment_names_an_adapter() -> None:
    program = 'import lanewise as lw\nx = lw.ones(3)\nprint(x.backend, x.sum().item())\nlw.init_backend("wgpu:1")'
    assert with_both(program, LANEWISE_BACKEND="wgpu:1") == ["wgpu 3.0"]
