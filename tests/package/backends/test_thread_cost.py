"""Tests what one more thread costs: how lw.calibrate() measures it, and that calls are divided by it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import lanewise as lw
from lanewise import _ext, cli
from lanewise.backends import selection
from lanewise.costs import thread_cost, timing, tuning
from lanewise.costs.calibration import THREAD_COSTS, using_costs

pytestmark = pytest.mark.host  # only backends of the CPU have threads

BEST = lw.best_available_backend()


@pytest.fixture(autouse=True)
def two_threads():
    """Lets calls use two threads; afterwards as many as before, at the costs of the calibration in use."""
    before, in_use = lw.get_num_threads(), lw.get_calibration()
    lw.set_num_threads(2)
    yield
    lw.set_num_threads(before)
    selection.follow(in_use)


def measured(monkeypatch, **microseconds):
    """Returns what thread_cost.measured() makes of these times."""

    def measure(contestants, **options):
        times = {each.name: 1000.0 * microseconds[each.name.replace(" ", "_")] for each in contestants}
        return [timing.Timing(name, 1, (time,)) for name, time in times.items()]

    monkeypatch.setattr(timing, "measure", measure)
    monkeypatch.setattr(_ext, "get_running_threads", lambda: 2)
    return thread_cost.measured(BEST)


def test_the_cost_is_the_time_beyond_half_of_that_of_one_thread(monkeypatch):
    found = measured(monkeypatch, spinning_1=30, spinning_2=18, sleeping_1=500, sleeping_2=300)
    assert found == pytest.approx({"spinning": 3000, "sleeping": 50_000})


def test_noise_makes_no_thread_free(monkeypatch):
    found = measured(monkeypatch, spinning_1=30, spinning_2=14, sleeping_1=500, sleeping_2=249)
    assert found == {"spinning": thread_cost.LEAST_SPINNING, "sleeping": thread_cost.LEAST_SLEEPING}


def test_a_thread_that_sleeps_costs_no_less_than_one_that_spins(monkeypatch):
    found = measured(monkeypatch, spinning_1=30, spinning_2=24, sleeping_1=500, sleeping_2=252)
    assert found == pytest.approx({"spinning": 9000, "sleeping": 9000})


def test_one_thread_has_no_cost():
    lw.set_num_threads(1)
    assert thread_cost.measured(BEST) == {}


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cannot restrict the processors of a process")
def test_one_processor_has_no_cost():
    program = f"""
import os
os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])
import lanewise as lw
from lanewise.costs import thread_cost
lw.set_num_threads(2)
print(thread_cost.measured(lw.Backend("{BEST.value}")))"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "{}\n", done.stderr


def test_costs_do_not_depend_on_how_long_threads_spin(monkeypatch):
    def measure(contestants, **options):
        assert _ext.set_spin(thread_cost.SPIN) == thread_cost.SPIN
        raise InterruptedError

    monkeypatch.setattr(timing, "measure", measure)
    monkeypatch.setattr(_ext, "get_running_threads", lambda: 2)
    before = _ext.set_spin(7)
    try:
        with pytest.raises(InterruptedError):
            thread_cost.measured(BEST)
        assert _ext.set_spin(7) == 7
    finally:
        _ext.set_spin(before)


def test_a_real_measurement(monkeypatch):
    monkeypatch.setattr(thread_cost, "SAMPLE_SECONDS", 1e-5)
    monkeypatch.setattr(thread_cost, "PAUSE_SECONDS", 1e-4)
    monkeypatch.setattr(_ext, "get_running_threads", lambda: 2)
    with using_costs(spinning=1.0, sleeping=2.0):
        before, found = _ext.get_costs(), thread_cost.measured(BEST)
        assert _ext.get_costs() == before
    assert tuple(found) == THREAD_COSTS
    assert thread_cost.LEAST_SPINNING <= found["spinning"] <= found["sleeping"]


@pytest.mark.parametrize(
    ("costs", "line"),
    [
        (
            {"spinning": 2500.0, "sleeping": 12000.0},
            "One more thread needs 2.5 us of work if it spins, 12 us if it sleeps.",
        ),
        ({}, "What another thread costs was not measured, because only one thread can run at once."),
    ],
)
def test_the_command_says_what_a_thread_costs(monkeypatch, capsys, costs, line):
    monkeypatch.setattr(tuning, "_rates", lambda backends: dict.fromkeys(map(str, backends), 1.0))
    monkeypatch.setattr(thread_cost, "measured", lambda backend: costs)
    assert cli.main(["calibrate", "--no-save"]) == 0
    assert line in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(("cost", "threads"), [(1.0, 2), (1e12, 1)])
def test_calls_are_divided_by_the_costs(threads_used, cost, threads):
    used, running = threads_used(f'_ext.set_costs({{"spinning": {cost}, "sleeping": {cost}}})')
    assert used == min(threads, running)


@pytest.mark.parametrize(("rate", "threads"), [(1.0, 1), (100.0, 2)])
def test_calls_are_divided_by_the_time_on_this_machine(threads_used, rate, threads):
    used, running = threads_used(f'_ext.set_costs({{"spinning": 1e5, "sleeping": 1e5, "{BEST}": {rate}}})')
    assert used == min(threads, running)
