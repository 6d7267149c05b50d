"""A contract's field `draws`, the number of results that were compared to measure its errors, is the number that
measure.py compares now. If a contract's cases change, its errors must be measured again. The oracle draws from the
whole domain."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from generator.cases import cases
from generator.schema import Contract, Range

from tests.native import measure

CONTRACTS = measure.contracts().values()
DRAWN = [each for each in measure.targets().values() if each.accuracy.measured and each.accuracy.measured.draws]


@pytest.mark.parametrize("target", DRAWN, ids=str)
def test_errors_were_measured_over_the_draws_of_today(target: measure.Target) -> None:
    assert target.accuracy.measured is not None
    draws = measure.results_per_task(target) * len(measure.tasks(target, 1))
    assert target.accuracy.measured.draws == draws, f"run: python tests/native/measure.py --write {target}"


def _drawn(contract: Contract) -> Iterator[tuple[str, str, Range, np.ndarray]]:
    """Yields the values drawn for each input and dtype, with the range that they are drawn from. For an operation that
    indexes, indices are divided by the extent of their axis."""
    found: dict[tuple[str, str], list[np.ndarray]] = {}
    indexed = contract.inputs[0].name
    for case in cases(contract):
        for each in contract.inputs if not case.special else ():
            value = case.inputs[each.name]
            for array in value if each.sequence else () if value is None else (value,):
                own, extent = each.dtype or (array.dtype.name if case.is_converted else case.dtype), 1
                if contract.kind.name == "gather" and own == "int32" and each.dtype:
                    axis, x = case.parameters["axis"], case.inputs[indexed]
                    own, extent = "index", x.size if axis is None else x.shape[axis]
                found.setdefault((each.name, own), []).append(array.ravel() / max(extent, 1))
    for (name, own), arrays in found.items():
        domain = {"index": Range(-1, 1), "bool": Range(0, 1)}.get(own) or contract.range(name, own)
        yield name, own, domain, np.concatenate(arrays)


@pytest.mark.parametrize("contract", [each for each in CONTRACTS if each.inputs], ids=lambda each: each.operation)
def test_draws_reach_both_ends_of_the_domain(contract: Contract) -> None:
    """Without negative indices, for example, no error in counting from the end would be found."""
    for name, dtype, domain, values in _drawn(contract):
        if values.size < 40 or (dtype.startswith("uint") and domain.low < 0):  # whose negative numbers wrap
            continue
        margin = (domain.high - domain.low) / (10 if values.size >= 200 else 3)
        assert values.min() <= domain.low + margin, (name, dtype)
        assert values.max() >= domain.high - margin, (name, dtype)
        if not domain.whole:
            assert domain.low <= values.min() <= values.max() <= domain.high, (name, dtype)
