"""Compares the bits of all results of the oracle's cases on loopback with those of the kernels themselves: the digests
that tests/native/oracle_digest.py prints."""

from __future__ import annotations

import hashlib
from pathlib import Path

import calls
import numpy as np
import oracle_file
import pytest
from tested import CONTRACTS, HOSTS, oracle_of

import lanewise as lw
from native import compiler
from native.targets import host
from tests.native.oracle_digest import digest
from tests.native.oracle_runner import commands, compile_runner

ROOT = Path(__file__).parents[2]
WITH_ORACLE = [each for each in CONTRACTS if each.kernels and not each.internal and each.returns == "Tensor"]


def canonical(result: np.ndarray) -> bytes:
    """Returns the bytes of a result, every NaN as zeros."""
    return np.where(np.isnan(result), np.zeros_like(result), result).tobytes()


def computed(case: oracle_file.Case, backend: str) -> bool:
    """Whether the runner's results contain this case."""
    return bool(case.kernel) and backend not in case.excused


@pytest.fixture(scope="module")
def command() -> list[str | Path]:
    """The command that runs the kernels of the best CPU backend, which loopback runs, too."""
    return commands(compile_runner(host(), compiler.choose()))[HOSTS[0].value]


@pytest.mark.parametrize("contract", WITH_ORACLE, ids=lambda each: each.operation)
def test_the_bits_are_those_of_the_kernels(contract, command):
    oracle = oracle_of(contract.operation)
    results = hashlib.sha256()
    with lw.use_backend("wgpu"):
        for case in oracle.cases:
            if computed(case, HOSTS[0].value):
                results.update(canonical(calls.run(contract, case)))
    path = ROOT / "build" / "oracle" / f"{contract.operation}.bin"
    assert results.hexdigest() == digest(command, path)
