"""Tests the costs that the extension is given: their names and limits, and the expected times that follow from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import lanewise as lw
from lanewise import _ext
from lanewise.backends import selection
from lanewise.backends.backend import CPU_BACKENDS
from lanewise.costs.calibration import Calibration, using_costs

pytestmark = pytest.mark.host  # the rates are those of backends of the CPU

BEST = lw.best_available_backend()
CONSTANTS = {
    "spinning": 2500.0, "sleeping": 12000.0, "web_worker": 106000.0, "opening": 1e9, "launch": 0.0, "transfer": 0.0,
    "gpu": 0.0,
}  # fmt: skip
DEFAULTS = CONSTANTS | {backend.value: 1.0 for backend in CPU_BACKENDS}


@pytest.fixture(autouse=True)
def costs_in_use() -> Iterator[None]:
    """Starts with the defaults; afterwards restores the costs of the calibration in use."""
    in_use = lw.get_calibration()
    _ext.set_costs({})
    yield
    selection.follow(in_use)


def rate(name: str, *inputs: Any) -> float:
    """Returns the expected time of a call on this machine, divided by that in the contract."""
    nominal, expected, *_ = _ext.expected_times(name, *inputs)
    return expected / nominal


def test_costs_that_are_not_given_are_the_defaults() -> None:
    assert _ext.get_costs() == DEFAULTS
    _ext.set_costs({"sleeping": 1e12, "scalar": 2, "gpu": 0.0})
    assert _ext.get_costs() == DEFAULTS | {"sleeping": 1e12, "scalar": 2.0}
    _ext.set_costs({"spinning": 1.0})
    assert _ext.get_costs() == DEFAULTS | {"spinning": 1.0}


@pytest.mark.parametrize(
    "wrong",
    [
        *({name: 1.0} for name in ("nothing", "", "auto", "wgpu", "\ud800", 1, None)),
        *({"spinning": cost} for cost in (-1.0, 1e13, float("nan"), float("inf"), "1", None, 10**400)),
        *(None, 1, (), [("spinning", 1.0)]),
    ],
)
def test_wrong_costs_are_refused_and_change_nothing(wrong: Any) -> None:
    _ext.set_costs({"launch": 3.0})
    with pytest.raises(lw.ArgumentError, match=r"^set_costs: expected names of costs and numbers from 0 to 1e12$"):
        _ext.set_costs({"launch": 4.0} | wrong if isinstance(wrong, dict) else wrong)
    assert _ext.get_costs() == DEFAULTS | {"launch": 3.0}


def test_costs_of_a_block_end_with_it() -> None:
    _ext.set_costs({"launch": 3.0})
    with pytest.raises(ZeroDivisionError), using_costs(spinning=1.0):
        assert _ext.get_costs() == DEFAULTS | {"launch": 3.0, "spinning": 1.0}
        raise ZeroDivisionError
    assert _ext.get_costs() == DEFAULTS | {"launch": 3.0}


def test_costs_are_those_of_the_calibration_in_use() -> None:
    selection.follow(Calibration({BEST: 2.0, "spinning": 3.0, "sleeping": 5.0}, "2026-11-26"))
    assert _ext.get_costs() == DEFAULTS | {BEST: 2.0, "spinning": 3.0, "sleeping": 5.0}
    assert rate("exp", lw.ones(1 << 12)) == pytest.approx(2.0)
    selection.follow(None)
    assert _ext.get_costs() == DEFAULTS
    assert rate("exp", lw.ones(1 << 12)) == 1.0


def test_the_rate_is_that_of_the_backend_of_the_call() -> None:
    _ext.set_costs({BEST: 3.0, "scalar": 5.0})
    x = lw.ones((64, 64))
    assert rate("matmul", x, x) == pytest.approx(5.0 if BEST == "scalar" else 3.0)
    with lw.use_backend("scalar"):
        assert rate("matmul", x, x) == pytest.approx(5.0)


def test_rates_do_not_change_the_time_to_move_bytes() -> None:
    matrix, vector = lw.ones((512, 512)), lw.ones((512, 1))
    _ext.set_costs({BEST: 2.0})
    assert rate("matmul", matrix, matrix) == pytest.approx(2.0)
    assert rate("matmul", matrix, vector) == 1.0


def test_times_on_a_gpu_are_only_those_of_calls_that_are_offloaded() -> None:
    assert len(_ext.expected_times("matmul", lw.ones((4, 4)), lw.ones((4, 4)))) == 2
