"""Measures pyborch on WebGPU, as gpu_lanewise.py measures Lanewise."""

import json
from importlib.metadata import version
from time import perf_counter_ns

began = perf_counter_ns()
import borch_webgpu as torch  # type: ignore[import-not-found] # noqa: E402

x = torch.tensor([1.0, 2.0, 3.0, 4.0])
number = float((x * x).sum().item())
first = perf_counter_ns() - began

from tests.bench.browser.page.gpu import measured  # noqa: E402

CALLS = 320
values = torch.tensor([float(i) for i in range(1000)])


def additions() -> tuple[float, float]:
    with torch.no_grad(), torch.scope():  # without these, it keeps every result
        y = x
        start = perf_counter_ns()
        for _ in range(CALLS):
            y = y + x
        taken = perf_counter_ns() - start
        return taken / CALLS, float(y.sum().item()) / (CALLS + 1)


def chain() -> float:
    y = values
    for _ in range(5):
        y = torch.relu(y * 0.5 + 1.0)
    return float(y.sum().item())


json.dumps(measured(f"pyborch {version('pyborch')}", first, number, additions, chain))
