"""Tests a process whose adapter refuses to open, and one that ends while the device works."""

from __future__ import annotations

import subprocess
import sys

import pytest
from harness import in_process

ENDING = """
import sys
import lanewise as lw

x = lw.rand((128, 128), seed=1).to("wgpu")
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


@pytest.mark.parametrize(("how", "code"), [("end", 0), ("error", 1), ("exit", 3)])
def test_exit_with_work_in_flight_and_tensors_alive(adapter: None, how: str, code: int) -> None:
    done = subprocess.run([sys.executable, "-c", ENDING, how], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr[-2000:]
    if how == "error":
        first, *_, last = done.stderr.splitlines()
        assert (first, last) == ("Traceback (most recent call last):", "ValueError: stop")
    else:
        assert done.stderr == ""


def test_an_adapter_that_refuses_to_open(adapter: None) -> None:
    """The error has the driver's words. The CPU works, and so does a later attempt."""
    lines = in_process(REFUSED)
    assert len(lines) == 3
    assert all("error when opening " in each and "failed (4): not enough queues" in each for each in lines)
