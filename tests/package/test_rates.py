"""Tests the rates of operations: how lw.calibrate() measures them, and that the expected times of calls follow them."""

from __future__ import annotations

from pathlib import Path

import pytest

import lanewise as lw
from contracts.generator.load import load_contracts
from lanewise import _ext, calibration, rates, selection, timing
from lanewise.calibration import KINDS, RATED

pytestmark = pytest.mark.host  # rates are those of backends of the CPU

CONTRACTS = Path(__file__).parents[2] / "contracts"
BEST = lw.best_available_backend()
UNRATED = {("cast", "low"), ("creation", "low"), ("window", "medium")}  # have parameters that must be passed


@pytest.fixture(autouse=True)
def rates_in_use():
    """Restores the rates of the calibration in use."""
    in_use = lw.get_calibration()
    yield
    selection.follow(in_use)


def expected(name, *inputs):
    nominal, time, *_ = _ext.expected_times(name, *inputs)
    return time / nominal


def test_each_kind_and_complexity_is_measured_by_operations_of_its_own():
    contracts = {each.operation: each for each in load_contracts(CONTRACTS)}
    all_classes = {(each.kind.name, each.complexity) for each in contracts.values() if each.kernel_names}
    works = rates.workloads()
    assert tuple(works) == RATED
    classes = [{(contracts[name].kind.name, contracts[name].complexity) for name in alike} for alike in works.values()]
    assert all(len(each) == 1 for each in classes)
    assert all(name in alike for name, alike in works.items())
    assert sorted(each for pairs in classes for each in pairs) == sorted(all_classes - UNRATED)


@pytest.mark.parametrize("in_use", [(), (("add", 100.0), ("matmul", 0.01))])
def test_a_rate_is_the_time_divided_by_that_of_the_contract(monkeypatch, in_use):
    factors = {"add": 1.0, "exp": 9.0, "tanh": 4.0, "sin": 4.0, "matmul": 0.5}

    def measure(contestants, **options):
        found = []
        for each in contestants:
            inputs = [value for name, value in each.names.items() if name != "function"]
            nominal, now, *_ = _ext.expected_times(each.name, *inputs)
            with each.context():
                prices = _ext.set_waking(1.0, 1.0, 1.0)
                _ext.set_waking(*prices)
            assert now < 2 * prices[0]  # only one thread is worth it
            found.append(timing.Timing(each.name, 1, (nominal * factors.get(each.name, 1.0),)))
        return found

    monkeypatch.setattr(timing, "measure", measure)
    _ext.set_rates(*in_use)
    found = rates.measured(BEST)
    assert found == pytest.approx(dict.fromkeys(RATED, 1.0) | {"add": 3.0, "tanh": 4.0, "matmul": 0.5})


def test_a_real_measurement(monkeypatch):
    monkeypatch.setattr(rates, "SAMPLE_SECONDS", 1e-5)
    found = rates.measured(BEST)
    assert tuple(found) == RATED and calibration._rates(found) == found


def test_expected_times_follow_the_calibration_in_use():
    x, square = lw.ones(1 << 12), lw.ones((64, 64))
    result = calibration.Calibration({BEST: dict.fromkeys(KINDS, 1.0)}, "2026-11-28", rates={"add": 3.0, "matmul": 0.5})
    selection.follow(result)
    found = [expected("exp", x), expected("tanh", x), expected("linear", square, square)]
    assert found == pytest.approx([3.0, 1.0, 0.5])
    selection.follow(None)
    assert expected("exp", x) == 1.0 and expected("linear", square, square) == 1.0


def test_rates_do_not_change_the_time_to_move_bytes():
    matrix, vector = lw.ones((512, 512)), lw.ones((512, 1))
    _ext.set_rates(("matmul", 2.0))
    assert expected("matmul", matrix, matrix) == pytest.approx(2.0)
    assert expected("matmul", matrix, vector) == 1.0


@pytest.mark.parametrize(
    "wrong",
    [
        *(("add",), ("add", 1.0, 1.0), ("nothing", 1.0), (1, 1.0), 1, None),
        *(("add", rate) for rate in (0.0, -1.0, 2e6, float("nan"))),
    ],
)
def test_wrong_rates_are_refused_and_change_nothing(wrong):
    _ext.set_rates(("add", 3.0))
    with pytest.raises(lw.ArgumentError, match="expected pairs of an operation's name and a rate, 0 < rate <= 1e6"):
        _ext.set_rates(("add", 2.0), wrong)
    with pytest.raises(TypeError):
        _ext.set_rates(("add", "fast"))
    assert expected("exp", lw.ones(9)) == pytest.approx(3.0)


@pytest.mark.parametrize(("rate", "threads"), [(1.0, 1), (100.0, 2)])
def test_calls_are_divided_by_the_time_on_this_machine(threads_used, rate, threads):
    used, running = threads_used(f'_ext.set_waking(1e5, 1e5, 1e5); _ext.set_rates(("exp", {rate}))')
    assert used == min(threads, running)
