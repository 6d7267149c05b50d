"""Processes and threads that use a device: a fork, an exit with work in flight, reads beside computations."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

import lanewise as lw
from lanewise import _ext
from tests.loopback.comparison import on
from tests.loopback.conftest import PACKAGE, ROOT

BEGIN = """
import os, sys
sys.path[:0] = {paths!r}
from tests.loopback.provider import register
register()
import lanewise as lw
from lanewise import _ext
x = lw.arange(1000, dtype=lw.float32).to("wgpu")
y = lw.exp(x * -0.01) + 1  # in flight
"""
FORK = """
read, write = os.pipe()
child = os.fork()
if child == 0:
    said = []
    try:
        {child}
    except lw.DeviceError as error:
        said.append(str(error))
    os.write(write, repr(said).encode())
    os._exit(0)
os.close(write)
answer = os.fdopen(read).read()
status = os.waitpid(child, 0)[1]
right = lw.exp(lw.arange(1000, dtype=lw.float32) * -0.01) + 1
print(status, y.tolist() == right.tolist(), answer)
"""
LOST = "wgpu was lost: this process is a fork of the one that opened it"


def run(program: str) -> str:
    """Runs a program in a process of its own, which has to exit with 0 and print no error. Returns what it prints."""
    code = BEGIN.format(paths=[str(PACKAGE), str(ROOT)]) + program
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


# What the child of a fork does -> the beginning of what it says
CHILD = {
    "y.tolist()": LOST,
    "y[0].item()": LOST,
    "x + 1": LOST,
    "lw.add(x, y, out=y)": LOST,
    "y[::-1].to('cpu')": LOST,
    "lw.ones(10).to('wgpu')": LOST,
    "lw.zeros(100_000, device='wgpu')": LOST,
    "said.append((lw.ones(3) + lw.arange(3)).tolist())": [1.0, 2.0, 3.0],
    "said.append(float(lw.sum(lw.ones(4_000_000))))": 4_000_000.0,
    "lw.reset('wgpu'); said.append((lw.ones(3).to('wgpu') * 2).tolist())": [2.0, 2.0, 2.0],
    "lw.reset('wgpu'); y.tolist()": LOST,
    "lw.reset('wgpu'); z = lw.ones(1000).to('wgpu'); z += y": LOST,
    "del x, y; lw.empty_cache(); said.append(_ext.live_blocks())": 0,
}


@pytest.mark.parametrize("action", CHILD)
def test_fork(action: str) -> None:
    """The child has lost the device, but computes on the CPU and may open the device again. The parent goes on."""
    status, same, answer = run(FORK.format(child=action)).split(" ", 2)
    assert (status, same) == ("0", "True")
    [said] = eval(answer)
    expected = CHILD[action]
    assert said == expected if not isinstance(expected, str) else expected in said


def test_fork_after_a_reset() -> None:
    """The child has lost the earlier device, too."""
    program = "earlier = y\nlw.reset('wgpu')\ny = lw.exp(lw.arange(1000.0).to('wgpu') * -0.01) + 1"
    status, same, answer = run(program + FORK.format(child="earlier.tolist()")).split(" ", 2)
    assert (status, same) == ("0", "True")
    assert "wgpu was lost: reset() replaced it" in answer


@pytest.mark.parametrize(
    "program",
    [
        "",
        "for i in range(200): y += 1",
        "_ext.inject('late', 0); z = y + 1",
        "_ext.inject('late', 0); z = y + 1\ntry: z.tolist()\nexcept lw.DeviceError: pass",
        "_ext.inject('loss', 0)\ntry: y + 1\nexcept lw.DeviceError: pass",
        "lw.reset('wgpu'); z = lw.ones(3).to('wgpu') + 1",
        "import threading; _ext.slow_reads(0.3); threading.Thread(target=y.tolist, daemon=True).start(); x += 1",
        "import threading; _ext.slow_reads(0.3); threading.Thread(target=y.tolist).start(); x += 1",
        "view = memoryview(y)",
        "import builtins; builtins.kept = y",
    ],
)
def test_exit_with_work_in_flight(program: str) -> None:
    assert run(program) == ""


def test_computing_while_another_thread_reads() -> None:
    """A read releases the GIL: a thread that computes and another that reads take turns, and both are right."""
    x = on("wgpu", range(1000))
    order, values = [], []
    begins = threading.Event()

    def read() -> None:
        begins.set()
        values.append((x + 1).tolist())
        order.append("read")

    _ext.slow_reads(1.0)
    reader = threading.Thread(target=read)
    reader.start()
    begins.wait()
    host = lw.sum(lw.arange(1000)).tolist()
    y = x
    for _ in range(100):  # more than loopback keeps before it runs them
        y = y + 1
    order.append("computed")
    reader.join()
    _ext.slow_reads(0)
    assert order == ["computed", "read"]
    assert host == 499_500
    assert values == [[number + 1.0 for number in range(1000)]]
    assert y.tolist() == [number + 100.0 for number in range(1000)]


def test_failures_while_another_thread_reads() -> None:
    """A launch that fails during a read of another tensor spoils its own result only."""
    x = on("wgpu", range(100))
    good = x * 2
    values = []
    _ext.slow_reads(0.2)
    reader = threading.Thread(target=lambda: values.append(good.tolist()))
    reader.start()
    _ext.inject("late", 0)
    spoiled = x + 1
    after = spoiled * 2
    reader.join()
    assert values == [[2.0 * number for number in range(100)]]
    for tensor in (after, spoiled):
        with pytest.raises(lw.DeviceError):
            tensor.tolist()
    assert good.tolist() == values[0]
