"""Tests `python -m tests.bench --goals --backends wgpu`, with small tensors and made-up times: the table itself needs a
GPU."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import lanewise as lw
from lanewise import promotion, tuning
from lanewise.calibration import KINDS
from lanewise.errors import ArgumentError
from lanewise.timing import Timing
from tests.bench import auto, goals
from tests.bench.command import main
from tests.bench.settings import Settings
from tests.bench.wgpu import clock, command, table, work
from tests.bench.wgpu.clock import Times

HOST = str(lw.ones(1).backend)
WGPU = next(info for info in lw.backends() if info.name == work.GPU)


@pytest.fixture
def small(monkeypatch):
    """Makes the tensors small, and lets a software adapter compute with them."""
    required = {"wgpu", "webgpu"} & set(os.environ.get("LANEWISE_REQUIRE", "").split(","))
    if not WGPU.available:
        (pytest.fail if required else pytest.skip)(WGPU.reason)
    sizes = {"LARGE": 20_000, "EDGE": 64, "HEADS": 2, "LENGTH": 40, "DEPTH": 8, "BATCH": 2, "CHANNELS": 4, "SIZE": 7}
    for name, size in sizes.items():
        monkeypatch.setattr(work, name, size)
    matmul = work.matmul
    monkeypatch.setattr(work, "matmul", lambda inputs, edge, **keywords: matmul(inputs, edge // 64, **keywords))
    monkeypatch.setattr(command, "_adapter", lambda: "an adapter")
    monkeypatch.setattr(auto, "CASES", (("matmul", (8,)), ("scaled_dot_product_attention", (2, 5, 4)), ("add", (10,))))


@pytest.fixture
def seconds(monkeypatch):
    """Replaces the clock: calls once, and says that a call takes 1 ms, or what the test has set for it."""
    found = {"call": 1e-3}

    def times(call, wait, repeats, seconds):
        assert repeats >= 7
        call(2)
        wait()
        return Times(found["call"] * 1e9, 2e9 * found["call"])

    def measure(contestants, **settings):
        for contestant in contestants:
            with contestant.context():
                contestant.loop(keep=False)(1)
        assert [each.name for each in contestants[1:]] == [HOST, work.GPU]
        return [Timing(each.name, 1, (found.get(each.name, 1e6),)) for each in contestants]

    monkeypatch.setattr(command, "times", times)
    monkeypatch.setattr(auto, "measure", measure)
    monkeypatch.setattr(promotion, "measured", lambda host: None)
    monkeypatch.setattr(tuning, "_sampled", lambda backends: {kind: [ranks(backends)] for kind in KINDS})
    return found


def ranks(backends):
    """Returns the times that calibrating seems to find: the best first."""
    return {backend: 100.0 * (1 + at) for at, backend in enumerate(backends)}


def test_each_goal_has_its_work():
    assert [goal.name for goal in table.WEBGPU if goal is not table.AUTO] == list(command.JOBS)


@pytest.mark.parametrize("name", command.JOBS)
def test_results_are_checked(small, name, monkeypatch):
    """The check accepts what is right, and finds what is not."""
    job = command.JOBS[name](work.Inputs(7))
    assert job.error <= 1
    job.call(3)
    work.synchronize()
    if name != "read 4 bytes":
        share = work.share
        monkeypatch.setattr(work, "share", lambda result, *more: share(np.asarray(result) + 0.05, *more))
        assert command.JOBS[name](work.Inputs(7)).error > 1


def test_a_chain_is_launched_for_each_call_and_allocates_nothing_new(small):
    job = work.fused(work.Inputs(7))
    job.call(3)
    before = lw.memory_stats(work.GPU)
    job.call(10)
    work.synchronize()
    after = lw.memory_stats(work.GPU)
    found = {name: after[name] - before[name] for name in after}
    assert (found["chains_run"], found["dispatches"]) == (10, 20)
    assert found["num_allocs"] == found["num_cache_hits"] > 0


def test_the_table(small, seconds, capsys):
    """Rates are in TB/s and TFLOP/s; other rows are compared with our own figures."""
    assert main(["--goals", "--backends", "wgpu", "--json"]) == 0
    rows = {row["goal"]: row for row in json.loads(capsys.readouterr().out)["goals"]}
    assert rows["add 2^26"]["figure"] == pytest.approx(3 * 4 * work.LARGE / 1e-3 / 1e12)
    assert rows["matmul 4096"]["figure"] == pytest.approx(2 * 64**3 / 1e-3 / 1e12)
    assert rows["add 2^26"]["firm_met"] is rows["matmul 4096"]["aim_met"] is False
    assert rows["gelu(x * a + b) 2^26"]["firm_met"] is False
    assert rows["tiny operation"]["firm_met"] is False


def test_firm_goals_decide_the_status(small, seconds, capsys):
    goal = ["--goals", "--backends", "wgpu", "tiny operation"]
    assert main(goal) == 0
    assert main([*goal, "--firm"]) == 1
    seconds["call"] = 14e-6
    assert main([*goal, "--firm"]) == 0
    assert "<= 15 yes <= 8 NO 57%" in " ".join(capsys.readouterr().out.split())


def test_auto_is_compared_with_the_cpu_and_the_gpu(small, seconds, capsys):
    """Its inputs and its result are on the CPU, with AUTO and on the GPU."""
    seconds["wgpu"] = 8e5
    before = lw.get_calibration()
    assert main(["--goals", "--backends", "wgpu", "AUTO", "--json", "--firm"]) == 1
    (row,) = json.loads(capsys.readouterr().out)["goals"]
    assert lw.get_calibration() is before and row["figure"] == pytest.approx(1.25)
    assert [case["best"] for case in row["details"]["cases"]] == ["wgpu"] * 3
    seconds[HOST] = 1.01e6
    seconds["wgpu"] = 1.02e6
    assert main(["--goals", "--backends", "wgpu", "AUTO", "--firm"]) == 0


def test_a_wrong_result_is_not_timed(small, seconds, monkeypatch, capsys):
    monkeypatch.setitem(command.JOBS, "tiny operation", lambda inputs: work.Job(lambda count: 1 / 0, error=3.0))
    assert main(["--goals", "--backends", "wgpu", "tiny"]) == 1
    assert "is WRONG and was not timed: the error is 3 times what is allowed" in capsys.readouterr().out


def test_chains_are_off_only_inside(small, monkeypatch):
    monkeypatch.delenv("LANEWISE_FUSE", raising=False)

    def chains():
        x = lw.asarray([1.0, 2.0], dtype=lw.float32).to(work.GPU)
        before = lw.memory_stats(work.GPU)["chains_run"]
        for _ in range(3):
            (x * 2 + 1).tolist()
        return lw.memory_stats(work.GPU)["chains_run"] - before

    with work.without_chains():
        assert chains() == 0
    assert chains() == 2
    assert "LANEWISE_FUSE" not in os.environ


def test_the_clock_wakes_the_gpu_and_takes_the_shortest_sample(monkeypatch):
    now, calls = [0.0], []
    monkeypatch.setattr(clock.time, "perf_counter", lambda: now[0])

    def call(count):
        calls.append(count)
        now[0] += count * (2e-3 if now[0] < 0.4 else 1e-3)

    found = clock.times(call, lambda: None, 7, 0.02)
    assert found == Times(pytest.approx(1e6), pytest.approx(1e6))
    assert now[0] > clock.WAKING_SECONDS and calls[:2] == [3, 3] and set(calls[2:]) == {10}


def test_software_adapters_are_refused(capsys):
    if not WGPU.available or not WGPU.devices[0].software:
        pytest.skip("the adapter is not a software adapter")
    assert main(["--goals", "--backends", "wgpu"]) == 2
    assert "computes on the CPU, where times of WebGPU say nothing; run this with a GPU" in capsys.readouterr().err


def test_unknown_goals_are_refused():
    with pytest.raises(ArgumentError, match="no goal begins with 'sort'"):
        command.run(["sort"], Settings())


def test_the_document_has_a_place_for_the_table():
    document = Path(__file__).with_name("figures.md").read_text(encoding="utf-8")
    assert "<!-- python -m tests.bench --goals --backends wgpu -->" in document
    assert len(goals.find(table.WEBGPU, [])) == 16
