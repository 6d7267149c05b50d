"""pyborch on WebGPU, for gpu.mjs."""

import json
from contextlib import ExitStack
from importlib.metadata import version
from typing import Any

import borch_webgpu as torch  # type: ignore[import-not-found]

x = torch.tensor([1.0, 2.0, 3.0, 4.0])
ADDITIONS = (320, 321)  # in a sample, and how many times x the result is
inside = ExitStack()  # without these contexts, it keeps every result
sums: Any
values: Any


def squares(_: object) -> float:
    return float((x * x).sum().item())


def prepare() -> None:
    global values
    values = torch.tensor([float(i) for i in range(1000)])


def record(count: int) -> None:
    global sums
    inside.close()
    inside.enter_context(torch.no_grad())
    inside.enter_context(torch.scope())
    y = x
    for _ in range(count):
        y = y + x
    sums = y


def read() -> float:
    return float(sums.sum().item())


def chain() -> float:
    y = values
    for _ in range(5):
        y = torch.relu(y * 0.5 + 1.0)
    return float(y.sum().item())


def facts() -> str:
    return json.dumps({"settings": f"pyborch {version('pyborch')}"})
