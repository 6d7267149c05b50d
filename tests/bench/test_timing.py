"""Tests lanewise/costs/timing.py, which times contestants in turn: their order in each round, the warm-up and the
number of calls. Tests about time replace the clock."""

import gc
from contextlib import contextmanager

import pytest

from lanewise.costs import timing as timing_module
from lanewise.costs.timing import Contestant, Ratio, Timing, measure, ratio


class Clock:
    """A clock that advances only by what a test passes to spend()."""

    def __init__(self):
        self.nanoseconds = 0

    def __call__(self):
        return self.nanoseconds

    def spend(self, nanoseconds):
        self.nanoseconds += nanoseconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(timing_module, "perf_counter_ns", clock)
    return clock


def counting(calls, name):
    return Contestant(name, "calls.append(name)", {"calls": calls, "name": name})


def test_rounds_take_turns_and_begin_with_another_contestant():
    sampled = []
    contestants = [Contestant(name, "1 + 1", {"unused": 0}) for name in "abc"]
    measure(contestants, repeats=4, sample_seconds=1e-6, progress=sampled.append)
    assert "".join(sampled) == "abcbcacababc"


def test_every_contestant_has_a_sample_each_round():
    timings = measure([counting([], "a"), counting([], "b")], repeats=5, sample_seconds=1e-5)
    assert [timing.name for timing in timings] == ["a", "b"]
    assert all(len(timing.samples) == 5 and timing.minimum > 0 for timing in timings)


def test_short_calls_are_repeated_until_they_fill_a_sample(clock):
    (timing,) = measure([Contestant("short", "clock.spend(2000)", {"clock": clock})], repeats=2, sample_seconds=0.005)
    assert 2500 <= timing.calls <= 3000  # a sample should take 10 % more than 5 ms
    assert timing.samples == (2000.0, 2000.0)


def test_long_calls_are_made_once_a_sample(clock):
    (timing,) = measure([Contestant.calling("long", clock.spend, 10_000_000)], repeats=2, sample_seconds=0.005)
    assert (timing.calls, timing.samples) == (1, (10e6, 10e6))


def test_the_time_grows_with_the_work(clock):
    contestants = [Contestant.calling(str(n), clock.spend, n) for n in (1000, 10_000)]
    small, large = measure(contestants, sample_seconds=0.002)
    assert ratio(large, small).minimum == 10


def test_a_sample_that_only_waited_does_not_set_the_number_of_calls(clock):
    waits = iter([0, 10_000_000])  # delays in ns: of the first call, of the first sample

    def stalled(count):
        clock.spend(next(waits, 0) + 1000 * count)

    (timing,) = measure([Contestant.batched("stalled", stalled)], repeats=2, sample_seconds=0.005)
    assert timing.calls >= 5000


def test_warming_up_comes_before_anything_else(clock):
    asked = []

    def work(count):
        asked.append(count)
        clock.spend(count * 1_000_000)

    measure([Contestant.batched("work", work)], repeats=1, sample_seconds=1e-9, warm_seconds=0.3)
    assert asked[:9] == [1, 2, 4, 8, 16, 32, 64, 128, 256]
    assert set(asked[9:]) == {1}


def test_a_batch_loops_by_itself(clock):
    asked = []

    def work(count):
        asked.append(count)
        clock.spend(count * 1000)

    (timing,) = measure([Contestant.batched("elsewhere", work)], repeats=2, sample_seconds=1e-4)
    assert asked[0] == 1  # the warm-up is one call
    assert asked[-2:] == [timing.calls] * 2


def test_a_batch_may_report_its_own_time():
    (timing,) = measure([Contestant.batched("elsewhere", lambda count: 1000 * count, timed=True)], sample_seconds=1e-4)
    assert set(timing.samples) == {1000.0}
    assert timing.calls >= 100


def test_calling_passes_arguments_and_keywords():
    contestant = Contestant.calling("call", dict, [("a", 1)], keywords={"b": 2})
    assert contestant.expression == "function(argument0, b=b_)"
    assert contestant.run() == {"a": 1, "b": 2}


def test_a_keyword_may_have_a_name_that_the_code_uses():
    contestant = Contestant.calling("call", dict, keywords={"function": 1, "argument0": 2})
    assert contestant.run() == {"function": 1, "argument0": 2}


def test_the_context_surrounds_every_sample():
    entered = []

    @contextmanager
    def inside():
        entered.append(True)
        yield
        entered.append(False)

    def call():
        assert entered[-1]

    measure([Contestant.calling("call", call, context=inside)], repeats=2, sample_seconds=1e-9)
    assert entered[-1] is False
    assert entered.count(True) == entered.count(False) >= 3


def test_finish_receives_the_last_result():
    received = []
    contestant = Contestant.calling("call", object, finish=received.append)
    (timing,) = measure([contestant], repeats=1, sample_seconds=1e-9)
    assert received
    assert all(type(result) is object for result in received)
    assert timing.minimum > 0


def test_garbage_collection_is_off_while_timing_and_on_afterwards():
    seen = []
    measure([Contestant.calling("call", lambda: seen.append(gc.isenabled()))], repeats=1, sample_seconds=1e-9)
    assert seen
    assert not any(seen)
    assert gc.isenabled()


def test_an_error_in_a_call_comes_through_and_restores_the_collector():
    with pytest.raises(ZeroDivisionError):
        measure([Contestant("broken", "1 / x", {"x": 0})])
    assert gc.isenabled()


def test_no_contestants_give_no_timings():
    assert measure([]) == []


def test_no_repeats_is_an_error():
    with pytest.raises(ValueError, match="expected repeats of at least 1, got 0"):
        measure([counting([], "a")], repeats=0)


def test_a_ratio_compares_minima_and_rounds():
    mine, other = Timing("mine", 1, (2.0, 4.0, 9.0)), Timing("other", 1, (1.0, 4.0, 3.0))
    assert ratio(mine, other) == Ratio(minimum=2.0, median=2.0)
    assert mine.median == 4.0
