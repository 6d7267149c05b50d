"""Tests elementwise kernels of float32 with all combinations of special values: a kernel gives NaN, infinity and zero
exactly where the CPU does, and every NaN acts like any other. Oracle files have only the combinations that a contract
lists."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from generator.schema import Contract
from harness import Runner
from tested import oracle_of

import lanewise as lw

SPECIAL = np.array([0, 1, 2.5, 3e38, np.inf, np.nan], np.float32)


def calls(contract: Contract) -> Iterator[dict[str, Any]]:
    """Yields the keywords of the first oracle case of each float32 kernel of the operation."""
    seen = set()
    for case in oracle_of(contract.operation).cases:
        if case.kernel.endswith("_float32") and case.kernel not in seen:
            seen.add(case.kernel)
            yield dict(case.keywords)


def of_float32(contract: Contract) -> bool:
    of_floats = all(each.dtype in (None, "float32") for each in contract.inputs)
    return contract.kind.name == "elementwise" and of_floats and contract.fallback is None and not contract.internal


def kind_of(x: np.ndarray) -> np.ndarray:
    """Classifies numbers: NaN is 3, infinity 2, zero 0 and any other number 1, negated for negative numbers."""
    kind = np.where(np.isinf(x), 2, np.where(x == 0, 0, 1)) * np.where(np.signbit(x), -1, 1)
    return np.where(np.isnan(x), 3, kind)


@pytest.mark.contracts(lambda contract: of_float32(contract))
def test_combinations(gpu: Runner, contract: Contract) -> None:
    values = np.concatenate([SPECIAL, -SPECIAL])
    inputs = [np.array(each) for each in zip(*itertools.product(values, repeat=len(contract.inputs)), strict=True)]
    for keywords in calls(contract):
        expected = np.asarray(getattr(lw, contract.operation)(*map(lw.asarray, inputs), **keywords))
        got = gpu.guarded(contract.operation, *inputs, **keywords)
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(kind_of(got), kind_of(expected), str(keywords))


@pytest.mark.contracts(lambda contract: of_float32(contract))
@pytest.mark.parametrize("sign", [0, 1 << 31], ids=["positive", "negative"])
def test_nans(gpu: Runner, contract: Contract, sign: int) -> None:
    """Passes each NaN that has one mantissa bit set, and expects the kind of result that the default NaN gives."""
    quiet = np.uint32(0x7FC00000 | sign)
    nans = np.array([0x7F800000 | sign | 1 << bit for bit in range(23)], np.uint32).view(np.float32)
    same = np.full(len(nans), quiet).view(np.float32)
    for keywords in calls(contract):
        for position in range(len(contract.inputs)):
            inputs = [SPECIAL[:-1, None]] * len(contract.inputs)
            got, expected = (
                gpu.run(contract.operation, *inputs[:position], x[None], *inputs[position + 1 :], **keywords)
                for x in (nans, same)
            )
            np.testing.assert_array_equal(kind_of(got), kind_of(expected), str(keywords))
