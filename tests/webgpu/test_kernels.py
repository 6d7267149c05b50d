"""Tests every kernel that has a WebGPU shader with the oracle's test cases, and sin, cos and tan with
angles close to multiples of pi/2."""

from __future__ import annotations

import hard_angles
import judge
import numpy as np
import pytest
from generator.schema import Contract
from harness import Runner, layout_of, parameters_of
from oracle_file import Oracle

from lanewise.webgpu.executor import WebGpuExecutor

BACKEND = "wgpu"


@pytest.mark.contracts(lambda contract: contract.kind.backends["webgpu"] == "now" and contract.fallback is None)
def test_oracle(gpu: Runner, contract, oracle) -> None:
    _compare(gpu, contract, oracle)


@pytest.mark.contracts(lambda contract: contract.operation in {"add", "argmax", "astype", "linear", "matmul", "sum"})
def test_few_workgroups(gpu: Runner, contract, oracle, monkeypatch) -> None:
    """If a device allows fewer workgroups than there is work for, each workgroup loops. One operation per template."""
    monkeypatch.setattr(WebGpuExecutor, "_groups", lambda self, count: min(count, 2))
    _compare(gpu, contract, oracle)


def _compare(gpu: Runner, contract: Contract, oracle: Oracle) -> None:
    started = []
    for case in oracle.cases:
        if BACKEND in case.excused or not case.kernel:
            continue
        inputs = [None if each is None else judge.as_array(each) for each in case.inputs]
        layout = layout_of(contract.kind.layout, case.layout)
        shape, dtype = case.reference.shape, np.dtype(case.result_dtype)
        parameters = parameters_of(contract, case.scalars)
        result = gpu.start(case.kernel, contract.kind.name, layout, inputs, shape, dtype, parameters)
        started.append((case, result))
    complaints = [judge.complaint(case, result(), BACKEND) for case, result in started]
    complaints = [each for each in complaints if each]
    assert not complaints, f"{len(complaints)} of {len(started)} cases failed: {complaints[:5]}"


@pytest.mark.contracts(lambda contract: contract.operation in hard_angles.OPERATIONS)
def test_hard_angles(gpu: Runner, contract) -> None:
    x, _ = hard_angles.angles()
    got = gpu.elementwise(f"{contract.operation}_float32", [x], np.float32)
    assert not hard_angles.complaint(contract.operation, got, contract.tolerance.of(BACKEND))
