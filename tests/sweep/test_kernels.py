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
        made = raw.layouts.call(contract, {"axis": axis}, [each.place for each in inputs], out.place)
        scalars = np.array(made.scalars, "int64").tobytes()
        context = raw.Context(tasks=tasks)
        assert raw.call(host.value, contract.kernel(dtype), made.layout, scalars, inputs, out, context) == raw.OK
        assert np.array_equal(bits(out.array), bits(expected))
        assert (out.surroundings() == raw.POISON).all()
        assert (context.tasks > 1) == (tasks > 0 and is_divided)


@pytest.mark.contracts(lambda contract: contract.operation == "put")
@pytest.mark.parametrize("gaps", [False, True], ids=["contiguous", "gaps"])
@pytest.mark.parametrize("columns", [(), (3,)], ids=["items", "rows"])
def test_put_by_ranges_of_the_axis(contract, host, gaps, columns):
    """If the result is larger than a cache, each of eight threads writes a range of the axis."""
    for dtype in contract.computed:
        size = raw.place((1,), dtype, gaps=False).array.nbytes
        extent = (2 << 20) // size + 100
        count = (2 << 20) + 700 if size == 1 else 700  # more than eight threads write before they can be interrupted
        places = np.random.default_rng(0).integers(-extent, extent, count).astype("int32")
        places[:-1:3] = places[-1]
        values = draw(contract, "values", dtype, (count, *columns), "put")
        inputs = [raw.copy_of(values, gaps), raw.copy_of(places, gaps)]
        out = raw.place((extent, *columns), dtype, gaps)
        expected = out.array.copy()
        expected[places] = values
        made = raw.layouts.call(contract, {"axis": 0}, [each.place for each in inputs], out.place)
        scalars = np.array(made.scalars, "int64").tobytes()
        context = raw.Context(tasks=8, threads=8)
        assert raw.call(host.value, contract.kernel(dtype), made.layout, scalars, inputs, out, context) == raw.OK
        assert np.array_equal(bits(out.array), bits(expected))
        assert (out.surroundings() == raw.POISON).all()
        assert context.tasks > 8  # the indices are checked in tasks, too
