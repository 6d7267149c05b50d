"""Tests the tables of goals that are measured in this process: `python -m tests.bench --goals`, `--goals threads` and
`--goals --backends wgpu`.

Most tests set the times themselves. The tables take minutes and need a quiet machine, so people start them by hand.
"""

import json
import os
from dataclasses import replace

import pytest

import lanewise as lw
from lanewise.costs import offload, thread_cost, timing, tuning
from lanewise.costs.timing import Contestant, Timing
from native.errors import BuildError
from tests.bench import auto, contestants, goals, here, machine, runner
from tests.bench.command import main
from tests.bench.goals import Goal, Measured
from tests.bench.limits import compiled, loops
from tests.bench.limits.loops import Limits
from tests.bench.peers import Peer
from tests.bench.settings import Settings
from tests.cases.cases import build
from tests.cases.operations import find

AVAILABLE = [str(info.name) for info in lw.backends() if info.available and not info.name.is_gpu]
DEFAULT = str(lw.ones(1).backend)
WGPU = next(info for info in lw.backends() if info.name == here.GPU)
FAST = ["--seconds", "0.0001", "--repeats", "2"]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Limits the bandwidth measurements to L1 and L2, uses smaller arrays for L2, and lets rounds follow each other."""
    monkeypatch.setattr(loops, "LEVELS", {"L1": 1 << 14, "L2": 1 << 16})
    monkeypatch.setattr(here, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(here, "ROW_SECONDS", 0.0)


@pytest.fixture
def clock(monkeypatch):
    """Replaces measure() by a function that calls and records each contestant. The time that it reports is 100 ns, or
    the time that the test has set for the contestant's name."""
    times, seen = {}, {}

    def measure(contestants, **settings):
        for contestant in contestants:
            seen[contestant.name] = contestant
            with contestant.context():
                contestant.loop(keep=contestant.finish is not None)(1)
        found = [times.get(each.name, 100.0) for each in contestants]
        return [Timing(each.name, 1, (time, time + 100)) for each, time in zip(contestants, found, strict=True)]

    for module in (timing, loops, auto):
        monkeypatch.setattr(module, "measure", measure)
    times["seen"] = seen
    return times


def row(goal, peers=(), absent=(), limits=None, backends=AVAILABLE):
    """Measures a goal with these peers and limits."""
    by_name, missing = {peer.name: peer for peer in peers}, dict.fromkeys(absent, "")
    return here.Place(Settings(), timing.measure, by_name, missing, limits or {}, backends).row(goal)


def listed(table, *names):
    return goals.find(goals.load(table), names)


class Adder(Peer):
    """Stands in for NumPy, as a library whose only operation is add."""

    name = "numpy"
    settings = "adder 1"
    operators = True

    def function(self, case):
        return lw.add if case.operation.name == "add" else None

    def array(self, value):
        return runner.tensor(value)


class Recorder:
    """Stands in for the library of limits.c, whose loops run at the machine's limits, and records the calls."""

    def __init__(self):
        self.calls = []

    def __call__(self, name, *numbers):
        if name != "fill":
            self.calls.append((name, *numbers))
        return 100 if name == "madd_flops" else 0

    def limits(self):
        return Limits(self, compiled._HugePages, compiled.ITERATIONS)


def adding(firm, backend=DEFAULT, size="64", **fields):
    return Goal("add", "ns", (firm,), work=f"add {size}", peers=("numpy",), backend=backend, **fields)


def test_a_row_has_our_time_and_those_of_the_peers_and_the_limit(clock):
    clock.update({"lanewise": 100.0, "numpy": 150.0, "limit": 80.0})
    goal = adding("1.5x numpy", size="2048")
    found = row(goal, [Adder()], ["torch"], {DEFAULT: Recorder().limits()})
    assert found.measured == Measured(100.0, 150.0, {"numpy": 150.0}, 80.0, 2048, frozenset({"torch"}))
    assert found.notes == () and found.met(goal.firm)
    without = row(replace(goal, limit=False), [Adder()], [], {DEFAULT: Recorder().limits()})
    assert without.measured.limit is None


def test_a_goal_for_another_processor_or_with_a_wrong_peer_is_not_judged(clock):
    other = next(name for name in ("neon", "avx512") if name not in AVAILABLE)
    found = row(adding("1x numpy", other), [Adder()])
    assert found.measured.value == 100.0 and found.met(found.goal.firm) is None
    assert found.notes == (f"measured on {DEFAULT}, judged only with {other}",)
    wrong = Adder()
    wrong.numbers = lambda result, positions: [0.0 for _ in positions]
    found = row(adding("1x numpy"), [wrong])
    assert found.measured.absent == {"numpy"} and "numpy is WRONG" in found.notes[0]


def test_rows_for_other_backends_are_left_out(capsys):
    names = [goal.name for goal in here.on_this_machine(goals.load("dtypes"))]
    other = next(name for name in ("neon", "avx512") if name not in AVAILABLE)
    (dtypes,) = [goal for goal in goals.load("dtypes") if goal.name == "dtypes: sin 16K, float64"]
    assert dtypes.name in names and not any(name.endswith("browser") for name in names)
    assert here.on_this_machine([replace(dtypes, backend=other), dtypes]) == [dtypes]
    assert main(["--goals", "dtypes: sin 16K", "--peers", *FAST]) == 0
    assert "dtypes: sin 16K, float64" in capsys.readouterr().out


def test_a_peer_for_other_processors_is_no_reason_not_to_judge(clock, monkeypatch):
    monkeypatch.setattr(here, "foreign", {"numpy-skylakex": "for processors with AVX-512"}.get)
    assert row(adding("1x numpy and numpy-skylakex"), [Adder()], ["numpy-skylakex"]).measured.absent == frozenset()
    assert row(adding("1x numpy and torch"), [Adder()], ["torch"]).measured.absent == {"torch"}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "uint8", "float64"])
def test_the_same_call_in_float32_is_a_baseline(dtype, clock):
    clock.update({"lanewise": 50.0, "own float32": 90.0})
    found = row(adding("1.8x own float32", dtype=dtype))
    assert found.met(found.goal.firm) and found.details["wrong"] == {} and found.details["dtype"] == dtype
    theirs = clock["seen"]["own float32"].names["argument0"]
    assert (clock["seen"]["lanewise"].names["argument0"].dtype, theirs.dtype) == (dtype, lw.float32)


@pytest.mark.parametrize("goal", listed("cpu", "x + y"), ids=lambda goal: goal.name)
def test_whole_calls_time_the_expressions_of_users(goal, clock):
    np = pytest.importorskip("numpy", reason="a row takes its arrays")
    assert row(replace(goal, backend=DEFAULT), [Adder()]).measured
    ours, theirs = clock["seen"]["lanewise"], clock["seen"]["numpy"]
    assert theirs.expression == "argument0 + argument1"
    assert ours.context is contestants.nullcontext
    if goal.how == contestants.FROM_NUMPY:
        assert ours.names["function"] is lw.add and isinstance(ours.names["argument0"], np.ndarray)
    else:
        assert ours.expression == theirs.expression and isinstance(ours.names["argument0"], lw.Tensor)


@pytest.fixture(scope="module")
def opened():
    pytest.importorskip("ziglang", reason="it compiles the limits")
    name = "avx2" if "avx2" in AVAILABLE else DEFAULT
    return compiled.opened([name])[name]


@pytest.mark.parametrize(
    "goal", [goal for goal in goals.load("cpu") if goal.how == contestants.KERNEL], ids=lambda goal: goal.name
)
def test_kernels_called_from_c_give_the_right_result(goal, clock, opened):
    pytest.importorskip("cffi", reason="it opens the kernels")
    backend = goal.backend if goal.backend in AVAILABLE else DEFAULT
    found = row(replace(goal, backend=backend), limits={backend: opened})
    assert found.details["wrong"] == {} and found.details["checked_against"] != "nothing"
    assert found.measured.limit == 100.0
    without = row(replace(goal, backend=backend))
    reason = "the loop that calls it is in limits.c, which could not be compiled"
    assert (without.measured, without.notes) == (None, (f"lanewise was not timed ({reason})",))


def test_two_threads_are_compared_with_one(clock, monkeypatch):
    used = [7]
    monkeypatch.setattr(timing, "set_num_threads", used.append)
    monkeypatch.setattr(timing, "get_num_threads", lambda: used[-1])
    monkeypatch.setattr(machine, "cores", lambda: 2)
    clock.update({"lanewise": 55.0, "one thread": 100.0})
    goal = replace(*listed("cpu", "exp 256K, two threads"), backend=DEFAULT)  # judged on any processor
    found = row(goal)
    assert used[:2] == [7, 2] and used[-3:] == [1, 2, 7]
    assert (found.measured.value, found.measured.peers) == (55.0, {"one thread": 100.0})
    assert goal.reached(goal.firm, found.measured) == pytest.approx(100 / 55 / 1.8)
    monkeypatch.setattr(machine, "cores", lambda: 1)
    assert row(goal).notes == ("one thread was not timed (this process has 1 core)",)


@pytest.mark.parametrize(
    ("work", "name", "traffic"),
    [
        ("add 16K", "triad", 3),
        ("fma 16K", "triad", 3),
        ("exp 16K", "scale", 2),
        ("layer_norm 64x512", "scale", 2),
        ("sum 16K", "read", 1),
        ("dot 16K", "read", 1),
        ("matvec 256", "read", 1),
    ],
)
def test_the_memory_limit_moves_the_bytes_of_the_case(work, name, traffic, clock):
    recorder, case = Recorder(), Goal("", "us", work=work).case()
    recorder.limits().limit(case).batch(3)
    tried = {name, f"{name}_apart" if name == "read" else f"{name}_past"}
    assert {name for name, *_ in recorder.calls} == {"madd_flops", *tried}
    *addresses, count, times = recorder.calls[-1][1:]
    assert (len(addresses), times) == (traffic, 3) and all(address % 64 == 0 for address in addresses)
    assert traffic * 4 * count == pytest.approx(case.bytes, rel=0.05)


def test_the_arithmetic_limit_is_scaled_to_the_operations_of_the_case(monkeypatch):
    for work, dtype in (("matmul 64", ""), ("conv2d 8", ""), ("matmul 64", "float64"), ("matmul 64", "float16")):
        recorder, case = Recorder(), Goal("", "us", work=work, dtype=dtype).case()
        flops = case.flops * (2 if dtype == "float64" else 1)
        limit = recorder.limits().limit(case)
        monkeypatch.setattr(loops, "perf_counter_ns", iter([1000, 6000]).__next__)
        assert limit.timed
        taken = limit.batch(2)
        (name, turns) = recorder.calls[-1]
        assert name == "madd" and taken == round(2 * 5000 * flops / (100 * turns))


def test_the_compiled_limits_are_measured(opened):
    figures = opened.figures("here", 2, 1e-4, bandwidth=True)
    assert len(figures) == 7 and all(value > 0 for value in figures.values())
    assert figures["here multiply and add, GFLOP/s"] < 1000


def test_without_a_compiler_there_are_no_limits_and_no_failure(monkeypatch, capsys):
    def build(names, target):
        raise BuildError("no compiler")

    monkeypatch.setattr(compiled, "build", build)
    assert main(["--goals", "add 16K", "--peers", *FAST]) == 0
    out = capsys.readouterr().out
    assert "limits are not measured: no compiler" in out and "absent: numpy (left out)" in out
    assert "firm: 0 of 1 rows; aim: 0; firm, but not judged: 1" in out
    assert main(["--goals", "add 16K", "--peers", "--firm", *FAST]) == 3


def test_peers_and_limits_are_in_the_heading(capsys):
    numpy = pytest.importorskip("numpy", reason="it is the peer")
    assert main(["--goals", "exp 16K", "--peers", "numpy", "numpy-out", *FAST]) == 0
    out = capsys.readouterr().out
    assert out.count(f"numpy {numpy.__version__}") == 1 and "limits: " in out and "absent: torch (" in out
    assert [line.split("  ")[1] for line in out.splitlines() if " us " in line] == ["exp 16K", "exp 16K, AVX2"]


def test_a_peer_that_is_not_installed_is_named(monkeypatch, capsys):
    monkeypatch.setattr("tests.bench.peers.find_spec", lambda name: None)
    assert main(["--goals", "--peers", "torch"]) == 2
    assert "the peer torch is not installed; pip install torch" in capsys.readouterr().err
    assert main(["--goals", "add 16K", *FAST]) == 0
    assert "absent: torch (not installed; pip install torch, or leave it out)" in capsys.readouterr().out


def ranks(backends):
    return {backend: 100.0 * (1 + at) for at, backend in enumerate(backends)}


@pytest.mark.parametrize("gpu", [None, here.GPU])
def test_auto_is_compared_with_the_best_backend(gpu, clock, monkeypatch):
    """The measurement is a ratio, the median over all cases: the time with AUTO (Lanewise chooses the backend) divided
    by that of the best backend. Times that differ by less than 2 us count as equal."""
    if gpu and not WGPU.available:
        pytest.skip(WGPU.reason)
    if gpu:
        lw.init_backend(gpu)
    best, *others = [gpu, DEFAULT] if gpu else [name for name in AVAILABLE if name != "scalar"] or ["scalar"]
    clock.update({auto.AUTO: 1e6, best: 8e5} | dict.fromkeys(others, 9e5))
    monkeypatch.setattr(auto, "SIZES", (10, 100))
    monkeypatch.setattr(auto, "CASES", (("matmul", (8,)), ("scaled_dot_product_attention", (2, 5, 4)), ("add", (10,))))
    monkeypatch.setattr(offload, "measured", lambda host: None)
    monkeypatch.setattr(thread_cost, "measured", lambda backend: {})
    monkeypatch.setattr(tuning, "_rates", ranks)
    before = lw.get_calibration()
    (goal,) = listed("wgpu" if gpu else "cpu", "AUTO")
    found = row(goal, backends=[gpu] if gpu else AVAILABLE)
    assert lw.get_calibration() is before
    assert found.measured.value == pytest.approx(1.25) and found.met(goal.firm) is False
    assert len(found.details["cases"]) == auto.DRAWN + (3 if gpu else 2 * len(auto.OPERATIONS))
    assert all(case["best"] == best for case in found.details["cases"]) and " 1.25 of " in found.notes[1]
    clock[auto.AUTO] = 8e5 + 1999
    assert row(goal, backends=[gpu] if gpu else AVAILABLE).measured.value == 1


def test_rows_of_threads_have_medians_of_single_calls(capsys, monkeypatch):
    """More threads than processors are compared with as many, others with the peer."""
    monkeypatch.setattr(machine, "cores", lambda: 2)
    before = lw.get_num_threads()
    assert main(["--goals", "threads 1: exp", "threads 32", "--repeats", "2", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["goals"]
    for each, name, theirs in zip(rows, ("1: exp 256K", "32: matmul 512"), ("torch", contestants.FEWER), strict=True):
        assert each["goal"] == f"threads {name}" and not each["details"]["wrong"]
        mine, *others = each["details"]["contestants"]
        assert mine["name"] == "lanewise" and 2 <= len(mine["samples_ns"]) <= 2 * here.TIMED
        assert [other["name"] for other in others] in ([theirs], [])
        assert each["figure"] == pytest.approx(mine["median_ns"] / 1e3)
    assert rows[1]["firm_met"] is not None and lw.get_num_threads() == before


def test_a_row_of_threads_takes_at_least_some_time(monkeypatch):
    monkeypatch.setattr("time.perf_counter", iter(range(1000)).__next__)  # one second from one round to the next
    (timed,) = here.with_pauses(1, 6, [Contestant("quick", "1", {"unused": 0})])
    assert len(timed.samples) == 6 * here.TIMED


def test_only_as_many_threads_as_cores(capsys, monkeypatch):
    monkeypatch.setattr(machine, "cores", lambda: 3)
    assert main(["--goals", "threads 4"]) == 2
    error = capsys.readouterr().err
    assert "no goal begins with 'threads 4'" in error and "threads 2: matmul 256" in error


SMALLER = {"64M": "20K", "8192": "64", "8192x8192": "64x64", "4096": "64", "2048": "32", "1024": "16", "4100": "65"}
SMALLER |= {"8x2048x64": "2x40x8", "32x64x56x56": "2x4x7x7"}


@pytest.fixture
def small(monkeypatch):
    """Makes the tensors small, and lets a software adapter compute with them. Returns the goals."""
    required = {"wgpu", "webgpu"} & set(os.environ.get("LANEWISE_REQUIRE", "").split(","))
    if not WGPU.available:
        (pytest.fail if required else pytest.skip)(WGPU.reason)
    monkeypatch.setattr(contestants, "EDGE", 64)
    monkeypatch.setattr(here, "_adapter", lambda: "an adapter")
    shrunk = {}
    for goal in goals.load("wgpu"):
        operation, size, *options = goal.work.split() or ["", ""]
        shrunk[goal.name] = replace(goal, work=" ".join([operation, SMALLER.get(size, size), *options]).strip())
    monkeypatch.setattr(goals, "load", lambda table: list(shrunk.values()))
    return shrunk


GPU_GOALS = [goal.name for goal in goals.load("wgpu") if goal.how != "auto"]


@pytest.mark.parametrize("name", GPU_GOALS)
def test_results_on_the_gpu_are_checked(small, name, clock, monkeypatch):
    """The check accepts what is right, and finds what is not."""
    found = row(small[name], backends=[here.GPU])
    assert found.details["wrong"] == {} and found.details["checked_against"] == "NumPy in float64"
    assert set(found.measured.peers) == small[name].against()
    amounts = {"add 2^26": 3 * 4 * 20 * 1024, "sum 2^26": 4 * 20 * 1024 + 4, "matmul 4096": 2 * 64**3}
    assert found.measured.amount == amounts.get(name, found.measured.amount)
    elements = runner.elements
    monkeypatch.setattr(runner, "elements", lambda *given: [value + 2 for value in elements(*given)])
    assert "lanewise" in row(small[name], backends=[here.GPU]).details["wrong"]


def test_a_chain_is_launched_for_each_call_and_allocates_nothing_new(small):
    ready = runner.backend_ready(small["gelu(x * a + b) 2^26"].case(), here.GPU, runner.CHAIN)
    loop = ready.contestant.loop(keep=True)
    loop(5)
    lw.synchronize(here.GPU)  # allocates a small block of its own when it is called first
    before = lw.memory_stats(here.GPU)
    loop(10)
    lw.synchronize(here.GPU)
    after = lw.memory_stats(here.GPU)
    found = {name: after[name] - before[name] for name in after}
    assert (found["chains_run"], found["dispatches"]) == (10, 20)
    assert found["num_allocs"] == found["num_cache_hits"] > 0


def test_the_baseline_takes_the_time_of_the_product_for_as_many_operations(small, monkeypatch):
    case = build(find("matmul"), (32, 64, 64))
    contestant = contestants._as_fast_as_matmul(small["matmul 4100"], case, DEFAULT).contestant
    monkeypatch.setattr(contestants, "perf_counter_ns", iter([0, 1000]).__next__)
    assert (contestant.timed, contestant.batch(8)) == (True, 1000)  # 4 products take 1 us: 8 calls of half as many


def test_software_adapters_are_refused(capsys):
    if not WGPU.available or not WGPU.devices[0].software:
        pytest.skip("the adapter is not a software adapter")
    assert main(["--goals", "--backends", "wgpu"]) == 2
    assert "computes on the CPU, where times of WebGPU say nothing; run this with a GPU" in capsys.readouterr().err
