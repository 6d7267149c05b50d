"""Tests the price of waking threads: how lw.calibrate() measures it, and that calls are divided by it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import lanewise as lw
from lanewise import _ext, calibration, cli, rates, selection, timing, tuning, waking
from lanewise.calibration import KINDS, WakingTimes

pytestmark = pytest.mark.host  # only backends of the CPU have threads

BEST = lw.best_available_backend()
DEFAULTS = (2500.0, 8000.0, 40000.0)


@pytest.fixture(autouse=True)
def two_threads():
    """Lets calls use two threads; afterwards as many as before, at the prices of the calibration in use."""
    before, in_use = lw.get_num_threads(), lw.get_calibration()
    lw.set_num_threads(2)
    yield
    lw.set_num_threads(before)
    selection.follow(in_use)


def measured(monkeypatch, **microseconds):
    """Returns what waking.measured() makes of these times."""

    def measure(contestants, **options):
        times = {each.name: 1000.0 * microseconds[each.name.replace(" ", "_")] for each in contestants}
        return [timing.Timing(name, 1, (time,)) for name, time in times.items()]

    monkeypatch.setattr(timing, "measure", measure)
    monkeypatch.setattr(_ext, "get_running_threads", lambda: 2)
    return waking.measured(BEST)


def test_the_price_is_the_time_beyond_half_of_that_of_one_thread(monkeypatch):
    found = measured(monkeypatch, ready_1=30, ready_2=18, sleeping_1=500, sleeping_2=300)
    assert found == pytest.approx((3000, 10_000, 50_000))


def test_noise_makes_no_thread_free(monkeypatch):
    found = measured(monkeypatch, ready_1=30, ready_2=14, sleeping_1=500, sleeping_2=249)
    assert found == (waking.LEAST_READY, waking.LEAST_SLEEPING / waking.CALLS_PER_WAKING, waking.LEAST_SLEEPING)


def test_a_thread_that_sleeps_costs_no_less_than_one_that_is_ready(monkeypatch):
    found = measured(monkeypatch, ready_1=30, ready_2=24, sleeping_1=500, sleeping_2=252)
    assert found == pytest.approx((9000, 9000, 9000))


def test_one_thread_has_no_price():
    lw.set_num_threads(1)
    assert waking.measured(BEST) is None


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cannot restrict the processors of a process")
def test_one_processor_has_no_price():
    program = f"""
import os
os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])
import lanewise as lw
from lanewise import waking
lw.set_num_threads(2)
print(waking.measured(lw.Backend("{BEST.value}")))"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "None\n", done.stderr


def test_prices_do_not_depend_on_how_long_threads_spin(monkeypatch):
    def measure(contestants, **options):
        assert _ext.set_spin(waking.SPIN) == waking.SPIN
        raise InterruptedError

    monkeypatch.setattr(timing, "measure", measure)
    monkeypatch.setattr(_ext, "get_running_threads", lambda: 2)
    before = _ext.set_spin(7)
    try:
        with pytest.raises(InterruptedError):
            waking.measured(BEST)
        assert _ext.set_spin(7) == 7
    finally:
        _ext.set_spin(before)


def test_a_real_measurement(monkeypatch):
    monkeypatch.setattr(waking, "SAMPLE_SECONDS", 1e-5)
    monkeypatch.setattr(waking, "PAUSE_SECONDS", 1e-4)
    monkeypatch.setattr(_ext, "get_running_threads", lambda: 2)
    _ext.set_waking(1.0, 2.0, 3.0)
    found = waking.measured(BEST)
    assert waking.LEAST_READY <= found.ready <= found.in_a_series <= found.sleeping
    assert _ext.set_waking() == (1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    ("prices", "line"),
    [
        (
            WakingTimes(2500.0, 8000.0, 40000.0),
            "2.5 us of work pay for a thread, 8 in a series, 40 if it sleeps.",
        ),
        (None, "Which work pays for a thread was not measured, because only one thread can run at once."),
    ],
)
def test_the_command_says_what_pays_for_a_thread(monkeypatch, capsys, prices, line):
    monkeypatch.setattr(tuning, "_sampled", lambda backends: {kind: [dict.fromkeys(backends, 1.0)] for kind in KINDS})
    monkeypatch.setattr(waking, "measured", lambda backend: prices)
    monkeypatch.setattr(rates, "measured", lambda backend: None)
    assert cli.main(["calibrate", "--no-save"]) == 0
    assert line in capsys.readouterr().out.splitlines()


def test_prices_are_those_of_the_calibration_in_use():
    times = {BEST: dict.fromkeys(calibration.KINDS, 1.0)}
    selection.follow(calibration.Calibration(times, "2026-11-26", waking=WakingTimes(3.0, 4.0, 5.0)))
    assert _ext.set_waking(1.0, 1.0, 1.0) == (3.0, 4.0, 5.0)
    selection.follow(calibration.Calibration(times, "2026-11-26"))
    assert _ext.set_waking() == DEFAULTS
    _ext.set_waking(1.0, 1.0, 1.0)
    selection.follow(None)
    assert _ext.set_waking() == DEFAULTS


@pytest.mark.parametrize("prices", [(1.0,), (0.5, 1.0, 1.0), (2.0, 1.0, 3.0), (1.0, 2.0, 1e13), (float("nan"),) * 3])
def test_wrong_prices_are_refused(prices):
    with pytest.raises(lw.ArgumentError, match="expected nanoseconds, 1 <= ready <= in_a_series <= sleeping <= 1e12"):
        _ext.set_waking(*prices)
    assert _ext.set_waking() == DEFAULTS


@pytest.mark.parametrize(("price", "threads"), [(1.0, 2), (1e12, 1)])
def test_calls_are_divided_by_the_price(threads_used, price, threads):
    used, running = threads_used(f"_ext.set_waking({price}, {price}, {price})")
    assert used == min(threads, running)
