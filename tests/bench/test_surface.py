"""Tests `python -m tests.bench surface`: what is drawn, what is measured, and how it is judged."""

import json
import os
from functools import partial

import pytest

import lanewise as lw
from lanewise.costs.timing import Timing
from tests.bench.command import main
from tests.bench.surface import cells
from tests.bench.surface.cells import KINDS, Cell, cell
from tests.bench.surface.draw import LARGEST
from tests.bench.surface.judge import FIRM, UNCOUNTED, Judged, Outcome, mean
from tests.bench.surface.measure import measured
from tests.cases import operations
from tests.cases.cases import Viewed, build
from tests.cases.inputs import HostArray

SMALL = 2000  # bytes of an operand


def at_once(contestants):
    return [Timing(each.name, 1, (1.0,)) for each in contestants]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_computes(kind):
    for number in range(12):
        drawn = cell(5, number, [kind], SMALL)
        assert drawn.kind == kind and cell(5, number, [kind], SMALL) == drawn
        outcome = measured(drawn, "scalar", [], lambda rounds: at_once)
        assert not outcome.note or outcome.note.startswith("not counted"), f"{drawn.text}: {outcome.note}"


@pytest.fixture
def on_gpu():
    """Returns a cell of an elementwise operation, for a GPU."""
    (info,) = [info for info in lw.backends() if info.name == "wgpu"]
    if not info.available:
        required = {"wgpu", "webgpu"} & set(os.environ.get("LANEWISE_REQUIRE", "").split(","))
        (pytest.fail if required else pytest.skip)(info.reason)
    return lambda dtype: Cell(0, "elementwise", build(operations.find("negative"), (SMALL,), dtype))


@pytest.mark.parametrize(
    ("dtype", "note"), [("float64", f"{UNCOUNTED}computed on the CPU, as declared"), ("int32", "")]
)
def test_what_a_gpu_leaves_to_the_cpu_is_not_counted(on_gpu, dtype, note):
    assert measured(on_gpu(dtype), "wgpu", [], lambda rounds: at_once).note == note


def test_each_call_is_computed_on_a_gpu(on_gpu):
    """A chain whose results are freed would not be."""
    made = []
    measured(on_gpu("float32"), "wgpu", [], lambda rounds: lambda ready: made.extend(ready) or at_once(ready))
    before = lw.memory_stats("wgpu")["dispatches"]
    with made[0].context():
        made[0].loop(keep=False)(10)
    assert lw.memory_stats("wgpu")["dispatches"] - before == 10


def test_every_operation_but_views_is_drawn():
    drawn = {name for names, _ in KINDS.values() for name in names()}
    assert drawn | set(operations.kinds()["view"]) == set(operations.load())


def test_a_view_has_the_shape_that_it_states():
    base = HostArray("float32", (4, 6), bytes(96))
    for view in (
        Viewed(base, (1, 0)),
        Viewed(base, (), (..., slice(1, -2))),
        Viewed(base, (), (slice(None, None, -1),)),
    ):
        array = lw.zeros((4, 6))
        assert view.of(array, lw.permute_dims).shape == view.shape


def outcome(ratio, note="", number=0):
    return Outcome(number, "copy", "stack float32 [2, 2]", 100.0, {"numpy": 100 * ratio}, ratio, note)


def test_what_is_missed():
    assert mean([100, 0.05], 5) == 0.5
    judged = Judged([outcome(2.0)] * 40, FIRM["cpu"], "again --cell")
    assert judged.complaints() == []
    judged = Judged([*judged.outcomes, *[outcome(0.5, number=7)] * 2], FIRM["cpu"], "again --cell")
    assert judged.complaints() == ["4.8% of the cells below 0.9, firm 3%", "the worst cell at 0.50, firm 0.6"]
    assert any("0.50  again --cell 7  # stack float32" in line for line in judged.lines())
    uncounted = outcome(0.1, "not counted: eigenvalues")
    assert Judged([outcome(2.0), uncounted], FIRM["cpu"], "").ratios == [2.0]
    wrong = Judged([outcome(2.0), outcome(3.0, "element 3: expected 1, got 2", 5)], FIRM["cpu"], "")
    assert wrong.complaints() == ["cell 5: element 3: expected 1, got 2"]


def test_a_cell_from_the_command_line(capsys, monkeypatch):
    monkeypatch.setattr(cells, "cell", partial(cell, largest=SMALL))
    words = ["surface", "--seed", "3", "--kinds", "creation", "--cell", "4", "--backends", "scalar", "--json"]
    assert main(words) == 0
    (measured,) = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert measured["kind"] == "creation" and measured["number"] == 4 and measured["ours_ns"] > 0
    assert main(["surface", "--seed", "3", "--kinds", "creations"]) == 2
    assert "expected kinds from" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [(["--wheel", "a.whl"], "--wheel is for --browser"), (["--browser", "--threads", "2"], "--browser excludes")],
)
def test_options_that_exclude_each_other(words, message, capsys):
    with pytest.raises(SystemExit):
        main(["surface", "--seed", "3", *words])
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("largest", [LARGEST, cells.IN_PAGE, SMALL])
def test_products_are_small_enough(largest):
    for number in range(100):
        drawn = cell(number, number, ["product", "attention"], largest)
        assert drawn.case.flops is None or drawn.case.flops <= 4e9
        if largest < LARGEST:
            assert sum(array.nbytes for array in drawn.case.inputs) < 2e8
