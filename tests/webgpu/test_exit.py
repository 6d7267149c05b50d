"""Tests what happens to a process whose adapter refuses to open, whose device is lost, and that ends while the device
works. Each in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

ENDING = """
import sys
import lanewise as lw

x = lw.rand((300, 300), seed=1).to("wgpu")
kept = [x @ x for _ in range(100)]  # one batch is in flight, another one is not full
lw.exp(x)
if sys.argv[1] == "error":
    raise ValueError("stop")
if sys.argv[1] == "exit":
    sys.exit(3)
"""

REFUSED = """
import lanewise as lw
from lanewise.webgpu import desktop

adapter = type(desktop.adapters()[0])
request = adapter.request_device_sync


def refuse(*_, **__):
    raise RuntimeError("Request device failed (4):\\n not enough queues")


adapter.request_device_sync = refuse
for call in (lambda: lw.init_backend("wgpu"), lambda: lw.ones(3).to("wgpu"), lambda: lw.use_backend("wgpu")):
    try:
        call()
        print("it opened")
    except lw.DeviceError as error:
        print(error)
assert lw.ones(3).sum().item() == 3
assert "not enough queues" in next(each.reason for each in lw.backends() if each.name == "wgpu")
adapter.request_device_sync = request
assert lw.ones(3).to("wgpu").sum().item() == 3
assert next(each.available for each in lw.backends() if each.name == "wgpu")
"""

LOST = """
import lanewise as lw
from lanewise.webgpu import desktop

players = []
create = desktop.Player.__init__
desktop.Player.__init__ = lambda self, adapter: (create(self, adapter), players.append(self))[0]
x = lw.ones(3).to("wgpu")
before = [(each.name, each.available) for each in lw.backends()]
players[0]._device.destroy()
for _ in range(2):
    assert [(each.name, each.available) for each in lw.backends()] == before
    try:
        x.tolist()
        print("it was read")
    except lw.DeviceError as error:
        assert "wgpu was lost" in str(error)
assert lw.ones(3).sum().item() == 3
lw.reset("wgpu")
assert lw.ones(3).to("wgpu").sum().item() == 3
"""


def run(program: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(("how", "code"), [("end", 0), ("error", 1), ("exit", 3)])
def test_exit_with_work_in_flight_and_tensors_alive(adapter: None, how: str, code: int) -> None:
    done = run(ENDING, how)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr[-2000:]
    if how == "error":
        first, *_, last = done.stderr.splitlines()
        assert (first, last) == ("Traceback (most recent call last):", "ValueError: stop")
    else:
        assert done.stderr == ""


def test_an_adapter_that_refuses_to_open(adapter: None) -> None:
    """The error has the driver's words. The CPU works, and so does a later attempt."""
    done = run(REFUSED)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    assert all("error when opening " in each and "failed (4): not enough queues" in each for each in lines)


def test_listing_backends_while_a_device_is_lost(adapter: None) -> None:
    done = run(LOST)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr[-2000:]
