"""Tests the kernels that each CPU backend's shared library exports against the oracle's expected results, with
unaligned pointers, strides that leave gaps between elements, and poison around results."""

import os
import subprocess
import sys
from pathlib import Path

import calls
import numpy as np
import pytest
import raw
from generator.draw import draw
from judge import as_array, bits, complaint
from tested import ORACLE

import lanewise as lw


def cases_of(oracle):
    return [case for case in oracle.cases if case.kernel]


def run(contract, host, case, gaps=False, **context):
    """Runs a case's kernel on copies of its inputs, and asserts that it writes to nothing but the result. Returns its
    status and the result."""
    inputs = [None if each is None else raw.copy_of(as_array(each), gaps) for each in case.inputs]
    before = [None if each is None else each.memory.copy() for each in inputs]
    out = raw.place(case.reference.shape, case.result_dtype, gaps)
    layout, scalars = raw.layout_of(contract, case, inputs, out) if gaps else (case.layout, case.scalars)
    status = raw.call(host.value, case.kernel, layout, scalars, inputs, out, raw.Context(**context))
    assert (out.surroundings() == raw.POISON).all(), f"{case.name}: wrote outside the result"
    for each, old in zip(inputs, before, strict=True):
        assert each is None or np.array_equal(each.memory, old), f"{case.name}: wrote to an input"
    return status, out.array


def supports_gaps(contract, case):
    """Returns whether the kernel accepts any strides. Without an axis, the kernels of take require that an x of several
    dimensions is contiguous."""
    return contract.operation != "take" or "axis" in case.keywords or len(case.inputs[0].shape) == 1


@pytest.mark.contracts(lambda contract: contract.kind.has_kernels and contract.reference)
@pytest.mark.parametrize("gaps", [False, True], ids=["contiguous", "gaps"])
def test_results(contract, host, oracle, gaps):
    cases = [case for case in cases_of(oracle) if not gaps or supports_gaps(contract, case)]
    assert cases
    complaints = []
    for case in cases:
        status, result = run(contract, host, case, gaps)
        assert status == raw.OK, case.name
        complaints.append(complaint(case, result, host.value))
    wrong = [each for each in complaints if each]
    assert not wrong, f"{len(wrong)} of {len(cases)} cases are wrong:\n" + "\n".join(wrong[:10])


@pytest.mark.contracts(lambda contract: contract.kind.has_kernels and contract.reference)
def test_without_memory(contract, host, oracle):
    """Without scratch memory, a kernel either computes the right result or returns LW_NO_MEMORY."""
    for case in cases_of(oracle)[-20:]:
        status, result = run(contract, host, case, memory=False)
        assert status in (raw.OK, raw.NO_MEMORY), case.name
        assert status == raw.NO_MEMORY or complaint(case, result, host.value) is None


@pytest.mark.contracts(lambda contract: contract.kind.has_kernels and contract.reference and not contract.internal)
def test_python_returns_the_kernel_result(contract, host, oracle):
    cases = cases_of(oracle)
    for case in cases[:: max(len(cases) // 10, 1)]:
        _, result = run(contract, host, case)
        assert np.array_equal(bits(result), bits(calls.run(contract, case))), case.name


@pytest.mark.skipif(sys.platform != "linux", reason="needs mprotect")
def test_kernels_stay_within_their_operands(host):
    """Runs all cases in a separate process, which ends at the first invalid access. Each case runs twice: with an
    inaccessible page of memory right after every operand, then with one right before every operand."""
    script = Path(__file__).with_name("guarded.py")
    environment = {**os.environ, "PYTHONPATH": str(Path(lw.__file__).parents[1])}  # import the package under test
    command = [sys.executable, script, host.value, ORACLE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    last = done.stdout.strip().splitlines()[-1:]
    assert done.returncode == 0, f"ended with {done.returncode} in {last}\n{done.stderr}"


def call_along(contract, host, dtype, axis, inputs, out, context):
    """Calls a kernel of take or put along an axis and returns its status."""
    made = raw.layouts.call(contract, {"axis": axis}, [each.place for each in inputs], out.place)
    scalars = np.array(made.scalars, "int64").tobytes()
    return raw.call(host.value, contract.kernel(dtype), made.layout, scalars, inputs, out, context)


# Shapes of the values, the indices and the result, the axis, and whether several tasks write the result.
PUTS = {
    "rows and items": ((5, 2, 2, 3), [[6, 0], [-3, 1]], (5, 7, 3), 1, True),
    "many rows": ((40, 3), [6, 0, -1], (40, 7), 1, True),
    "long items": ((4, 300), [6, 0, -1, 6], (7, 300), 0, True),
    "one dimension": ((5,), [2, 6, 0, -1, -5], (7,), 0, False),
}


@pytest.mark.contracts(lambda contract: contract.operation == "put")
@pytest.mark.parametrize("gaps", [False, True], ids=["contiguous", "gaps"])
@pytest.mark.parametrize("case", PUTS)
@pytest.mark.parametrize("tasks", [0, 7])
def test_put_writes_only_the_indexed_elements(contract, host, gaps, case, tasks):
    """Compares put with NumPy, because its contract has no reference expression: the last value for an element wins.
    Elements that are not indexed keep their values."""
    shape, places, whole, axis, is_divided = PUTS[case]
    places = np.array(places, "int32")
    for dtype in contract.computed:
        values = draw(contract, "values", dtype, shape, "put")
        inputs = [raw.copy_of(values, gaps), raw.copy_of(places, gaps)]
        out = raw.place(whole, dtype, gaps)
        expected = out.array.copy()
        expected[(slice(None),) * axis + (places,)] = values
        context = raw.Context(tasks=tasks)
        assert call_along(contract, host, dtype, axis, inputs, out, context) == raw.OK
        assert np.array_equal(bits(out.array), bits(expected))
        assert (out.surroundings() == raw.POISON).all()
        assert (context.tasks > 1) == (tasks > 0 and is_divided)


@pytest.mark.contracts(lambda contract: contract.operation == "put")
@pytest.mark.parametrize("gaps", [False, True], ids=["contiguous", "gaps"])
@pytest.mark.parametrize("columns", [(), (3,)], ids=["items", "rows"])
def test_put_by_ranges_of_the_axis(contract, host, gaps, columns):
    """Eight threads divide a result of more than PUT_RANGES_MIN_BYTES (2 MB); of seven, one writes all values."""
    for dtype in contract.computed:
        size = raw.place((1,), dtype, gaps=False).array.nbytes
        extent = (2 << 20) // size + 100
        per_range = -(-extent // 8 // 64) * 64
        random = np.random.default_rng(0).integers(-extent, extent, 700)
        first = np.arange(0, extent, per_range)
        edges = np.concatenate([first, first + per_range - 1, [extent - 1]])
        edges = edges[edges < extent]
        places = np.concatenate([random, edges, edges - extent, random[::3], np.sort(random)]).astype("int32")
        values = draw(contract, "values", dtype, (len(places), *columns), "put")
        inputs = [raw.copy_of(values, gaps), raw.copy_of(places, gaps)]
        contexts = [raw.Context(tasks=8, threads=threads) for threads in (7, 8)]
        for context in contexts:
            out = raw.place((extent, *columns), dtype, gaps)
            expected = out.array.copy()
            expected[places] = values
            assert call_along(contract, host, dtype, 0, inputs, out, context) == raw.OK
            assert np.array_equal(bits(out.array), bits(expected))
            assert (out.surroundings() == raw.POISON).all()
        in_order, by_ranges = (context.tasks for context in contexts)  # both include tasks that check the indices
        assert by_ranges - in_order == len(first) - 1
        context = raw.Context(tasks=8, threads=8, interrupt_at=by_ranges - 1)
        assert call_along(contract, host, dtype, 0, inputs, out, context) == raw.INTERRUPTED


@pytest.mark.contracts(lambda contract: contract.operation in {"take", "put"})
@pytest.mark.parametrize("gaps", [False, True], ids=["contiguous", "gaps"])
@pytest.mark.parametrize("tasks", [0, 7])
@pytest.mark.parametrize("bad", [5, -6, 2**31 - 1, -(2**31)])
def test_an_index_out_of_range_is_found_in_any_row(contract, host, gaps, tasks, bad):
    """The indices are two-dimensional, and checked before the result is written."""
    for at in [(0, 0), (20, 30), (28, 36)]:
        places = np.full((29, 37), -5, "int32")
        places[at] = bad
        inputs = {"take": [np.ones(5, "float32"), places], "put": [np.ones(places.shape, "float32"), places]}
        operands = [raw.copy_of(each, gaps) for each in inputs[contract.operation]]
        out = raw.place(places.shape if contract.operation == "take" else (5,), "float32", gaps)
        before = out.memory.copy()
        context = raw.Context(tasks=tasks)
        assert call_along(contract, host, "float32", 0, operands, out, context) == raw.BAD_INDEX
        assert tasks or context.pointer.bad_index == bad  # of several tasks, each has a context of its own
        assert np.array_equal(out.memory, before)
