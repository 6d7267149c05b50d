"""A contract's field `draws`, the number of results that were compared to measure its errors, is the number that
measure.py compares now. If a contract's cases change, its errors must be measured again."""

from __future__ import annotations

import pytest

from tests.native import measure

DRAWN = sorted(name for name, each in measure.contracts().items() if each.measured and each.measured.draws)


@pytest.mark.parametrize("operation", DRAWN)
def test_errors_were_measured_over_the_draws_of_today(operation: str) -> None:
    contract = measure.contracts()[operation]
    assert contract.measured is not None
    draws = measure.results_per_task(contract) * len(measure.tasks(contract, 1))
    assert contract.measured.draws == draws, f"run: python tests/native/measure.py --write {operation}"
