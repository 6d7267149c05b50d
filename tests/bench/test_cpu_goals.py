"""Tests `python -m tests.bench --goals`, which compares times with goals, other libraries and the machine's limits.

Most tests set the times themselves. The whole table of goals takes minutes and needs a quiet machine, so people start
it by hand.
"""

import json
from dataclasses import replace

import pytest

import lanewise as lw
from lanewise import tuning
from lanewise.calibration import KINDS
from lanewise.errors import ArgumentError
from lanewise.timing import Timing
from native.errors import BuildError
from tests.bench import auto, goals, machine
from tests.bench.command import main
from tests.bench.cpu import command, compile_limits, limits, table
from tests.bench.cpu.limits import Limits
from tests.bench.cpu.measure import Place
from tests.bench.goals import Against, Goal, Measured, Work
from tests.bench.peers import Call

AVAILABLE = [str(info.name) for info in lw.backends() if info.available and not info.name.is_gpu]
DEFAULT = str(lw.ones(1).backend)
FAST = ["--seconds", "0.0001", "--repeats", "2"]


@pytest.fixture(autouse=True)
def threads():
    """Restores the number of threads, which measuring the goals sets to one."""
    before = lw.get_num_threads()
    yield
    lw.set_num_threads(before)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Limits the bandwidth measurements to L1 and L2, and uses smaller arrays for L2."""
    monkeypatch.setattr(limits, "LEVELS", {"L1": 1 << 14, "L2": 1 << 16})


def place(peers=(), absent=(), loops=None):
    return Place(2, 1e-4, peers, frozenset(absent), loops or {}, AVAILABLE)


@pytest.fixture
def clock(monkeypatch):
    """Replaces measure() by a function that calls and records each contestant. The time that it reports is 100 ns, or
    the time that the test has set for the contestant's name."""
    times, seen = {}, {}

    def measure(contestants, **settings):
        for contestant in contestants:
            seen[contestant.name] = contestant
            with contestant.context():
                contestant.loop(keep=False)(1)
        return [Timing(each.name, 1, (times.get(each.name, 100.0), 200.0)) for each in contestants]

    monkeypatch.setattr("tests.bench.runner.measure", measure)
    monkeypatch.setattr("tests.bench.cpu.limits.measure", measure)
    times["seen"] = seen
    return times


class Adder:
    """Stands in for NumPy, as a library whose only operation is add."""

    name = "numpy"
    settings = "adder 1"

    def call(self, case):
        if case.operation.name != "add":
            return None
        return Call(lw.add, tuple(lw.asarray(item.view, copy=True) for item in case.inputs))

    def numbers(self, result, positions):
        return [float(result[position]) for position in positions]


class Library:
    """Stands in for the shared library of limits.c, whose loops run at the machine's limits, and records the calls."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        def function(*arguments):
            values = [argument.value for argument in arguments]
            if name != "fill":
                self.calls.append((name, *values))
            return 100 if name == "madd_flops" else 0

        setattr(self, name, function)
        return function


def test_a_row_has_our_time_and_those_of_the_peers_and_the_limit(clock):
    clock.update({"lanewise": 100.0, "numpy": 150.0, "limit": 80.0})
    goal = Goal("add", goals.NANOSECONDS, (Against(("numpy",), 1.5),), (), Work("add", (2048,)), DEFAULT)
    row = place([Adder()], {"torch"}, {DEFAULT: Limits(Library())}).row(goal)
    assert row.measured == Measured(100.0, 150.0, {"numpy": 150.0}, 80.0, 2048, frozenset({"torch"}))
    assert row.notes == ()
    assert goal.met(goal.firm, row.measured)


def test_a_goal_for_another_processor_is_measured_but_not_judged(clock):
    other = next(name for name in ("neon", "avx512") if name not in AVAILABLE)
    goal = Goal("add", goals.NANOSECONDS, (Against(("numpy",)),), (), Work("add", (64,)), other)
    row = place([Adder()]).row(goal)
    assert row.measured.value == 100.0
    assert goal.met(goal.firm, row.measured) is None
    assert row.notes == (f"measured on {DEFAULT}, judged only with {other}",)


def test_a_peer_with_a_wrong_result_is_named_and_counts_as_absent(clock):
    class Wrong(Adder):
        def numbers(self, result, positions):
            return [0.0 for _ in positions]

    goal = Goal("add", goals.NANOSECONDS, (Against(("numpy",)),), (), Work("add", (64,)), DEFAULT)
    row = place([Wrong()]).row(goal)
    assert row.measured.absent == {"numpy"}
    assert "numpy is WRONG" in row.notes[0]


@pytest.mark.parametrize("goal", table.CALLS, ids=lambda goal: goal.name)
def test_whole_calls_time_the_expressions_of_users(goal, clock):
    np = pytest.importorskip("numpy", reason="a row takes its arrays")
    assert place([Adder()]).row(goal).measured
    ours, theirs = clock["seen"]["lanewise"], clock["seen"]["numpy"]
    assert theirs.expression == "argument0 + argument1"
    if goal == table.CALLS[0]:
        assert ours.expression == theirs.expression
        assert isinstance(ours.names["argument0"], lw.Tensor)
    else:
        assert ours.names["function"] is lw.add
        assert isinstance(ours.names["argument0"], np.ndarray)


@pytest.mark.parametrize("goal", table.KERNELS, ids=lambda goal: goal.name)
def test_kernels_called_from_c_give_the_right_result(goal, clock, compiled):
    pytest.importorskip("cffi", reason="it opens the kernels")
    backend = goal.backend if goal.backend in AVAILABLE else DEFAULT
    row = place(loops={backend: compiled}).row(goal)
    assert row.details["wrong"] == {}
    assert row.details["checked_against"] != "nothing"
    assert row.measured.limit == 100.0


def test_without_the_compiled_loop_a_kernel_has_no_figure_and_says_why(clock, monkeypatch):
    goal = replace(table.KERNELS[0], backend=DEFAULT)  # so that the goal is judged on any processor
    monkeypatch.setattr("tests.bench.cpu.measure.KERNELS", (goal,))
    row = place().row(goal)
    assert row.measured is None
    assert row.notes == ("lanewise was not timed (the loop that calls it is in limits.c, which could not be compiled)",)


def test_two_threads_are_compared_with_one(clock, monkeypatch):
    used = [7]
    monkeypatch.setattr(lw, "set_num_threads", used.append, raising=False)
    monkeypatch.setattr(lw, "get_num_threads", lambda: used[-1], raising=False)
    monkeypatch.setattr(machine, "cores", lambda: 2)
    clock.update({"lanewise": 55.0, "one thread": 100.0})
    goal = table.THREADS[1]
    goal = replace(goal, backend=DEFAULT)  # so that the goal is judged on any processor
    monkeypatch.setattr(table, "THREADS", (goal,))
    monkeypatch.setattr("tests.bench.cpu.measure.THREADS", (goal,))
    row = place().row(goal)
    assert used == [7, 2, 7, 1, 7]
    assert (row.measured.value, row.measured.peers) == (55.0, {"one thread": 100.0})
    assert goal.reached(goal.firm, row.measured) == pytest.approx(100 / 55 / 1.8)


@pytest.mark.parametrize(("factor", "status"), [(1.0, 1), (1e-9, 0)])
def test_firm_goals_that_are_missed_fail_the_command(factor, status, clock, monkeypatch, capsys):
    clock.update({"lanewise": 100.0, "numpy": 50.0})
    goal = Goal("add", goals.NANOSECONDS, (Against(("numpy",), factor),), (), Work("add", (64,)), DEFAULT)
    monkeypatch.setattr(command, "CPU", (goal,))
    monkeypatch.setattr(command, "_limits", lambda backends: ({}, "none"))
    assert main(["--goals", "--peers", "numpy", *FAST]) == 0
    assert main(["--goals", "--firm", "--peers", "numpy", *FAST]) == status
    assert f"firm: {1 - status} of 1 rows" in capsys.readouterr().out


def test_one_core_has_no_second_thread(clock, monkeypatch):
    monkeypatch.setattr(machine, "cores", lambda: 1)
    monkeypatch.setattr(lw, "set_num_threads", id, raising=False)
    monkeypatch.setattr(lw, "get_num_threads", id, raising=False)
    row = place().row(table.THREADS[0])
    assert (row.measured, row.notes[0]) == (None, "lanewise was not timed (this process has 1 core)")


@pytest.mark.parametrize(
    ("work", "loops", "traffic"),
    [
        (Work("add", (1 << 14,)), {"triad", "triad_past"}, 3),
        (Work("fma", (1 << 14,)), {"triad", "triad_past"}, 3),
        (Work("exp", (1 << 14,)), {"scale", "scale_past"}, 2),
        (Work("layer_norm", (64, 512)), {"scale", "scale_past"}, 2),
        (Work("sum", (1 << 14,)), {"read", "read_apart"}, 1),
        (Work("dot", (1 << 14,)), {"read", "read_apart"}, 1),
        (Work("matvec", (256,)), {"read", "read_apart"}, 1),
    ],
)
def test_the_memory_limit_moves_the_bytes_of_the_case(work, loops, traffic, clock):
    library = Library()
    case = work.case()
    limit = Limits(library).limit(case)
    limit.batch(3)
    assert {name for name, *_ in library.calls} == {"madd_flops", *loops}
    *addresses, count, times = library.calls[-1][1:]
    assert len(addresses) == traffic
    assert times == 3
    assert traffic * 4 * count == pytest.approx(case.bytes, rel=0.05)
    assert all(address % 64 == 0 for address in addresses)


@pytest.mark.parametrize("work", [Work("matmul", (64,)), Work("conv2d", (8,))])
def test_the_arithmetic_limit_is_scaled_to_the_operations_of_the_case(work, monkeypatch):
    library = Library()
    case = work.case()
    limit = Limits(library).limit(case)
    clock = iter([1000, 6000])
    monkeypatch.setattr(limits, "perf_counter_ns", lambda: next(clock))
    assert limit.timed
    taken = limit.batch(2)
    (name, turns) = library.calls[-1]
    assert name == "madd"
    assert taken == round(2 * 5000 * case.flops / (100 * turns))


@pytest.fixture(scope="module")
def compiled():
    pytest.importorskip("ziglang", reason="it compiles the limits")
    name = "avx2" if "avx2" in AVAILABLE else DEFAULT
    return limits.compiled([name])[name]


def test_the_compiled_limits_are_measured(compiled):
    figures = compiled.figures("here", 2, 1e-4, bandwidth=True)
    assert len(figures) == 7
    assert all(value > 0 for value in figures.values())
    assert figures["here multiply and add, GFLOP/s"] < 1000


def test_without_a_compiler_there_are_no_limits_and_no_failure(monkeypatch, capsys):
    def build(names):
        raise BuildError("no compiler")

    monkeypatch.setattr(compile_limits, "build", build)
    with pytest.raises(ArgumentError, match="no compiler"):
        limits.compiled([DEFAULT])
    assert main(["--goals", "add 16K", "--peers", *FAST]) == 0
    out = capsys.readouterr().out
    assert "limits are not measured: no compiler" in out
    assert "absent: numpy (left out)" in out
    assert "firm: 0 of 1 rows" in out


def test_the_version_of_a_library_is_printed_once(capsys):
    numpy = pytest.importorskip("numpy", reason="it is the peer")
    assert main(["--goals", "add 16K", "--peers", "numpy", "numpy-out", *FAST]) == 0
    assert capsys.readouterr().out.count(f"numpy {numpy.__version__}") == 1


def test_json_has_every_row_and_the_shared_facts(capsys):
    pytest.importorskip("numpy", reason="it is the peer")
    assert main(["--goals", "exp 16K", "--peers", "numpy", "--json", *FAST]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["goal"] for row in found["goals"]] == ["exp 16K", "exp 16K, AVX2"]
    assert found["absent"]["torch"] == "left out" or "not installed" in found["absent"]["torch"]
    assert found["peers"][0].startswith("numpy ")
    row = found["goals"][0]
    assert {each["name"] for each in row["details"]["contestants"]} == {"lanewise", "numpy"}
    assert row["details"]["checked_against"] == "NumPy in float64"
    assert row["figure"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--goals", "fly"], "no goal begins with 'fly'; there are x + y 1K, whole call"),
        (["--goals", "--peers", "tfjs"], "expected peers from numpy, numpy-out"),
        (["--goals", "--sizes", "4"], "excludes --sizes"),
        (["--goals", "--threads", "2"], "excludes --sizes, --dtype, --threads and --plot"),
        (["--goals", "--wheel", "x.whl"], "--wheel is for --backends browser"),
        (["add", "--wheel", "x.whl"], "a browser can only measure the goals"),
        (["add", "--markdown", "README.md"], "--markdown works only with --goals; add it"),
        (["--goals", "--backends", "avx2"], "expected cpu, browser or wgpu as --backends with --goals, got avx2"),
        (["--goals", "--markdown", "nowhere.md"], "nowhere.md cannot be read: No such file or directory"),
    ],
)
def test_mistakes_are_explained(arguments, message, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_a_peer_that_is_not_installed_is_named(monkeypatch, capsys):
    monkeypatch.setattr("tests.bench.peers.find_spec", lambda name: None)
    assert main(["--goals", "--peers", "torch"]) == 2
    assert "the peer torch is not installed; pip install torch" in capsys.readouterr().err
    assert main(["--goals", "add 16K", *FAST]) == 0
    assert "absent: torch (not installed; pip install torch, or leave it out)" in capsys.readouterr().out


def test_auto_is_compared_with_the_best_backend(monkeypatch):
    """The measurement is a ratio, the median over all cases: the time with AUTO (Lanewise chooses the backend) divided
    by that of the best backend. Times that differ by less than 2 us count as equal."""
    best, *others = [name for name in AVAILABLE if name != "scalar"] or ["scalar"]
    times = {auto.AUTO: 1e6, best: 8e5} | dict.fromkeys(others, 9e5)

    def measure(contestants, **settings):
        assert [each.name for each in contestants] == [auto.AUTO, best, *others]
        assert settings == {"repeats": 2, "sample_seconds": 1e-4}
        return [Timing(each.name, 1, (times[each.name], 2e6, 2e6)) for each in contestants]

    monkeypatch.setattr(auto, "measure", measure)
    monkeypatch.setattr(auto, "SIZES", (10, 100))
    monkeypatch.setattr(tuning, "_sampled", lambda backends: {kind: [ranks(backends)] for kind in KINDS})
    before = lw.get_calibration()
    row = place().row(table.AUTO)
    assert lw.get_calibration() is before
    assert row.measured.value == pytest.approx(1.25) and row.measured.median == 1
    assert row.goal.met(row.goal.firm, row.measured) is False
    assert "add 10 1.25 of " in row.notes[1] and len(row.details["cases"]) == 2 * len(auto.OPERATIONS)
    times[auto.AUTO] = 8e5 + 1999
    assert place().row(table.AUTO).measured.value == 1


def ranks(backends):
    return {backend: 100.0 * (1 + at) for at, backend in enumerate(backends)}
