"""The contracts, oracle files and backends that the sweep runs over."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import oracle_file
import pytest
from generator import table
from generator.facts import FACTS
from generator.load import load_contracts

import lanewise as lw
from lanewise.webgpu.shaders import kernel_names

ROOT = Path(__file__).resolve().parents[2]
CONTRACTS = load_contracts(ROOT / "contracts")
SIGNATURE = table.signature(CONTRACTS)
ORACLE = Path(os.environ.get("LANEWISE_ORACLE", ROOT / "build" / "oracle"))
CHOSEN = set(filter(None, os.environ.get("LANEWISE_SWEEP_BACKENDS", "").split(",")))  # empty: all of them
BACKENDS = [info.name for info in lw.backends() if info.available and (not CHOSEN or info.name.value in CHOSEN)]
SHADERS = kernel_names()
HOSTS = [backend for backend in BACKENDS if not backend.is_gpu]  # the CPU backends
GPUS = [backend for backend in BACKENDS if backend.is_gpu]


@dataclass
class Compared:
    """The dtypes in which a test compares results of an operation, and those that a GPU leaves to the CPU."""

    dtypes: set[str] = field(default_factory=set)
    left: set[str] = field(default_factory=set)


def is_left_to_the_cpu(backend: lw.Backend, dtype: str, kernel: str) -> bool:
    """Returns whether a GPU leaves a kernel to the CPU because it does not compute the dtype."""
    return backend.is_gpu and bool(FACTS.dtypes[dtype].no_webgpu) and kernel not in SHADERS


@cache
def oracle_of(operation: str) -> oracle_file.Oracle:
    """Returns an operation's oracle; fails the test if its file is missing or was made from other contracts."""
    path = ORACLE / f"{operation}.bin"
    if not path.exists():
        pytest.fail(f"{path} is missing; run: python contracts/generate.py --oracle {ORACLE}")
    oracle = oracle_file.read(path)
    if oracle.signature != SIGNATURE:
        pytest.fail(f"{path} was made from other contracts; run: python contracts/generate.py --oracle {ORACLE}")
    return oracle
