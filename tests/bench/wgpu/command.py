"""`python -m tests.bench --goals --backends wgpu`: measures the goals for WebGPU, or those named."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

import lanewise as lw
from lanewise.errors import ArgumentError
from tests.bench import auto, goals, machine
from tests.bench.goal_report import Row, Table, places, publish
from tests.bench.goals import Goal, Measured
from tests.bench.settings import Settings
from tests.bench.wgpu import work
from tests.bench.wgpu.clock import Times, times
from tests.bench.wgpu.table import AUTO, MATMUL, TORCH, UNFUSED, WEBGPU

OPTIONS = ("--goals", "--backends", "wgpu")
JOBS: Mapping[str, Callable[[work.Inputs], work.Job]] = {
    "add 2^26": lambda inputs: work.elementwise(inputs, "add", 2, np.add),
    "relu 2^26": lambda inputs: work.elementwise(inputs, "relu", 1, lambda x: np.maximum(x, 0)),
    "sum 2^26": work.summed,
    "softmax 8192 x 8192": work.softmax,
    "matrix times vector 8192": work.matvec,
    "matmul 4096": lambda inputs: work.matmul(inputs, 4096),
    "matmul 2048": lambda inputs: work.matmul(inputs, 2048),
    "matmul 1024": lambda inputs: work.matmul(inputs, 1024),
    "matmul 4096, B transposed": lambda inputs: work.matmul(inputs, 4096, transposed=True),
    "matmul 4100": lambda inputs: work.matmul(inputs, 4100),
    "attention, 8 heads, 2048 x 64, causal": work.attention,
    "conv2d 3x3, 64 x 56 x 56, batch 32": work.conv2d,
    "gelu(x * a + b) 2^26": work.fused,
    "tiny operation": work.tiny,
    "read 4 bytes": work.read,
}


def run(names: Sequence[str], settings: Settings) -> int:
    """Measures and reports the goals whose names begin with one of `names`, or all. Returns the exit status."""
    chosen = goals.find(WEBGPU, names)
    marked = places(settings.documents, OPTIONS, chosen)
    adapter = _adapter()
    seed = time.time_ns() % 2**31
    heading = _heading(adapter, seed)
    if not settings.as_json:
        print("\n".join([*heading, ""]), flush=True)
    bench = Bench(settings, work.Inputs(seed))
    rows = []
    for goal in chosen:
        print(goal.name, file=sys.stderr, flush=True)
        rows.append(bench.row(goal))
    about = {"adapter": adapter, "seed": seed}
    return publish(Table(rows, [TORCH, MATMUL, UNFUSED], heading, about, adapter), settings, marked)


def _adapter() -> str:
    (info,) = [info for info in lw.backends() if info.name == work.GPU]
    if not info.available:
        raise ArgumentError(f"bench: {info.reason}")
    if info.devices[0].software:
        raise ArgumentError(
            f"bench: {info.devices[0].name} computes on the CPU, where times of WebGPU say nothing; run this with a GPU"
        )
    lw.init_backend(work.GPU)
    return str(info.devices[0].name)


def _heading(adapter: str, seed: int) -> list[str]:
    from importlib.metadata import PackageNotFoundError, version

    facts = machine.facts()
    packages = [f"lanewise {facts['lanewise']}", f"Python {facts['python']}"]
    for name in ("wgpu", "torch"):
        try:
            packages.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return [
        f"{adapter}; {facts['cpu']}, {facts['cores']} cores; {facts['system']}",
        f"{'; '.join(packages)}; seed {seed}",
        "figures are minima; results were checked against float64 before they were timed",
    ]


class Bench:
    """Measures goals on the GPU."""

    def __init__(self, settings: Settings, inputs: work.Inputs) -> None:
        self._settings = settings
        self._inputs = inputs
        self._per_flop = 0.0  # nanoseconds, of our matmul 4096

    def row(self, goal: Goal) -> Row:
        """Checks and times one goal, and what it is compared with."""
        if goal is AUTO:
            return auto.row(goal, *self._samples(), gpu=work.GPU)
        job = JOBS[goal.name](self._inputs)
        if job.error > 1:
            note = f"is WRONG and was not timed: the error is {job.error:.3g} times what is allowed"
            return Row(goal, None, (note,), {"wrong": {"lanewise": note}})
        peers = {}
        compared = {name for bar in (*goal.firm, *goal.aim) for name in getattr(bar, "peers", ())}
        if MATMUL in compared:
            peers[MATMUL] = self._matmul() * job.amount
        mine = self._times(job)
        if goal.name == "matmul 4096":
            self._per_flop = mine.minimum / job.amount
        if job.torch:
            peers[TORCH] = times(job.torch, work.wait_for_torch, *self._samples()).minimum
        if UNFUSED in compared:
            del job
            with work.without_chains():
                peers[UNFUSED] = self._times(JOBS[goal.name](self._inputs)).minimum
            return Row(goal, Measured(mine.minimum, mine.median, peers), ())
        return Row(goal, Measured(mine.minimum, mine.median, peers, flops=job.amount or None), ())

    def _matmul(self) -> float:
        if not self._per_flop:
            job = work.matmul(self._inputs, 4096)
            self._per_flop = self._times(job).minimum / job.amount
        return self._per_flop

    def _times(self, job: work.Job) -> Times:
        return times(job.call, work.synchronize, *self._samples())

    def _samples(self) -> tuple[int, float]:
        return max(7, self._settings.repeats), max(0.02, self._settings.seconds)
