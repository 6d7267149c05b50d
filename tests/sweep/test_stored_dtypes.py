"""Tests dtypes that are only stored: their results are, bit by bit, those of the dtype that they are computed in,
converted. Every operation with kernels runs on drawn inputs and on the special values of each stored dtype. Those that
are composed of others round the result of each, so their results are only near."""

import functools
import itertools

import ml_dtypes
import numpy as np
import pytest
import stored
from generator.draw import draw
from generator.facts import FACTS
from generator.schema import FLOATS, INTEGERS
from judge import as_array, bits

import lanewise as lw

STORED = {each.name: each.computed for each in FACTS.dtypes.values() if each.computed}
LARGEST = 3000  # elements of the inputs of a case
CALLS = 12  # cases of an operation and a dtype


def limits(dtype):
    """Returns the smallest and the largest finite number of a dtype."""
    found = np.iinfo(dtype) if dtype in INTEGERS else ml_dtypes.finfo(dtype)
    return found.min, found.max


def special_values(dtype):
    """Returns numbers where rounding, wrapping and special cases show."""
    low, high = limits(dtype)
    if dtype in INTEGERS:
        return np.unique(np.array([low, low + 1, high, high - 1, 0, 1, 2, 5, max(low, -1), max(low, -3)], dtype))
    small = ml_dtypes.finfo(dtype)
    normal, subnormal = small.smallest_normal, small.smallest_subnormal
    positive = [0, subnormal, normal - subnormal, normal, 0.5, 1, 1 + small.eps, 3, high, np.inf]
    return np.array([*positive, *(-each for each in positive), np.nan], "float64").astype(dtype)


def drawn(contract, name, dtype, shape, seed):
    """Returns random values of a stored dtype, within the domain of the computed one."""
    wide = draw(contract, name, STORED[dtype], shape, "stored", seed)
    low, high = limits(dtype)
    if dtype in FLOATS:
        return np.asarray(np.clip(wide, np.float32(low), np.float32(high)), dtype)
    domain = contract.range(name, STORED[dtype])
    lowest, highest = max(low, int(domain.low)), min(high, int(domain.high))
    if lowest <= highest:
        low, high = lowest, highest
    return np.asarray(low + (wide.astype("int64") - low) % (high - low + 1), dtype)


def chosen_cases(oracle, computed):
    """Returns the largest case for each choice of parameters and numbers of dimensions, but none that names a dtype."""
    largest = {}
    for case in oracle.cases:
        sizes = [each.size for each in case.inputs if each]
        is_converted = "dtype" in case.keywords
        if case.computed_dtype == computed and not is_converted and min(sizes) > 0 and sum(sizes) <= LARGEST:
            key = repr(case.keywords), tuple(each and len(each.shape) for each in case.inputs)
            if key not in largest or sum(sizes) > largest[key][0]:
                largest[key] = sum(sizes), case
    cases = [case for _, case in largest.values()]
    return cases[:: -(-len(cases) // CALLS)]


def inputs_of(contract, case, dtype):
    """Returns the inputs of a case with values of a stored dtype: first drawn, then with special values in between.
    Inputs whose dtype the contract fixes, such as indices, keep their values. What is searched in is sorted."""
    special = special_values(dtype)
    for is_special in (False, True):
        arrays = []
        for place, (each, array) in enumerate(zip(contract.inputs, case.inputs, strict=True)):
            if array is None or each.dtype or array.dtype != case.computed_dtype:
                arrays.append(None if array is None else as_array(array))
                continue
            values = drawn(contract, each.name, dtype, array.shape, f"{case.name} {place}")
            if is_special:  # other steps for each input, so that all pairs meet
                values = values.copy()
                values.reshape(-1)[:: place + 1] = np.resize(special, values.reshape(-1)[:: place + 1].shape)
            arrays.append(np.sort(values) if contract.kind.name == "search" and place == 0 else values)
        yield arrays


def result_dtype(contract, dtype):
    """Returns the dtype of the result, which is as for float32 if the operation does not accept a stored integer."""
    if contract.widens and dtype in INTEGERS:
        return "uint32" if FACTS.dtypes[dtype].group.name == "unsigned" else "int32"
    return contract.dtypes.get(dtype) or contract.result(dtype if contract.moves else "float32")


def check(what, function, arrays, dtype, results, steps=0):
    """Checks a call with arrays of a stored dtype against the same call with them converted to the computed dtype. With
    `steps`, results may differ by this many times the precision of the stored dtype at the largest of them. Returns
    whether a GPU left the calls to the CPU."""
    wide = [array.astype(STORED[dtype]) if array is not None and array.dtype == dtype else array for array in arrays]
    before = lw.memory_stats()["readbacks"]
    calls = [function(*[None if each is None else lw.asarray(each) for each in inputs]) for inputs in (arrays, wide)]
    is_left = lw.memory_stats()["readbacks"] != before
    for got, computed in zip(*[each if isinstance(each, tuple) else (each,) for each in calls], strict=True):
        assert got.dtype == results, what
        with np.errstate(all="ignore"):
            expected = np.asarray(computed).astype(results)
        different = bits(np.asarray(got)) != bits(expected)
        if steps:
            wide = [np.asarray(each, "float64") for each in (got, expected)]
            different &= ~(np.abs(wide[0] - wide[1]) <= steps * ml_dtypes.finfo(dtype).eps * np.abs(wide[1]).max())
        wrong = np.flatnonzero(different)
        assert got.shape == expected.shape and not wrong.size, (what, wrong[:9], got, expected)
    return is_left


def reaches(contract, dtype):
    """Returns whether an operation accepts a stored dtype, or integers that become float32. Masks of attention do not
    become floats."""
    becomes_float = dtype in INTEGERS and "float32" in contract.dtypes and contract.kind.name != "attention"
    return contract.moves or dtype in contract.dtypes or becomes_float


def note(compared, contract, dtype, is_left=False):
    """Adds a stored dtype to those in which results were compared, if the contract says that it is accepted."""
    if dtype in contract.dtypes:
        compared.dtypes.add(dtype)
        compared.left |= {dtype} if is_left else set()


def dtypes_of(contract, backend):
    """Returns the stored dtypes that an operation accepts, or integers that become float32. A GPU, which compiles
    kernels for each, gets every third of the latter."""
    dtypes = [dtype for dtype in STORED if reaches(contract, dtype)]
    share = dtypes[len(contract.operation) % 3 :: 3] if backend.is_gpu else dtypes
    return [dtype for dtype in dtypes if dtype in contract.dtypes or dtype in share]


@pytest.mark.contracts(
    lambda contract: (
        contract.kind.has_kernels
        and contract.inputs
        and contract.reference
        and contract.kind.name != "cast"
        and not contract.internal
    )
)
def test_results_are_those_of_the_computed_dtype(contract, backend, oracle, compared):
    function = getattr(lw, contract.operation)
    for dtype in dtypes_of(contract, backend):
        computed = STORED[dtype] if contract.moves or dtype in contract.dtypes else "float32"
        cases = chosen_cases(oracle, computed)
        assert cases, dtype
        for case in cases[:1] if backend.is_gpu else cases:
            for arrays in inputs_of(contract, case, dtype):
                call = functools.partial(function, **case.keywords)
                is_left = check(f"{dtype}, {case.name}", call, arrays, dtype, result_dtype(contract, dtype))
        note(compared, contract, dtype, is_left)


STEPS = 8  # roundings of an operation that is composed of others


@pytest.mark.contracts(
    lambda contract: contract.kind.name == "composed" and contract.inputs and contract.reference and not contract.moves
)
def test_composed_operations_round_each_step(contract, backend, oracle, compared):
    for dtype in [each for each in STORED if each in contract.dtypes]:
        is_rounded = dtype in FLOATS
        for case in chosen_cases(oracle, STORED[dtype])[:2]:
            arrays = next(inputs_of(contract, case, dtype))
            if is_rounded:  # and no sum of squares may overflow
                arrays = [array if array is None else array / array.dtype.type(32) for array in arrays]
            call = functools.partial(getattr(lw, contract.operation), **case.keywords)
            results = result_dtype(contract, dtype)
            check(f"{dtype}, {case.name}", call, arrays, dtype, results, STEPS if is_rounded else 0)
        note(compared, contract, dtype)


@pytest.mark.contracts(
    lambda contract: contract.kind.name == "elementwise" and contract.inputs and not contract.internal
)
def test_all_pairs_of_special_values(contract, backend):
    for dtype in dtypes_of(contract, backend):
        pairs = itertools.product(special_values(dtype), repeat=min(len(contract.inputs), 2))
        columns = np.array(list(pairs), dtype).T
        numbers = itertools.cycle(columns)
        arrays = [np.ones(columns.shape[1], each.dtype) if each.dtype else next(numbers) for each in contract.inputs]
        check(dtype, getattr(lw, contract.operation), arrays, dtype, result_dtype(contract, dtype))


@pytest.mark.contracts(lambda contract: contract.operation in stored.CALLS)
def test_several_results(contract, backend, compared):
    for dtype in [each for each in STORED if each in contract.dtypes]:
        stored.check_several(contract.operation, dtype, STORED[dtype])
        note(compared, contract, dtype)


@pytest.mark.contracts(lambda contract: contract.dtypes and not contract.inputs)
def test_created_tensors(contract, backend, oracle, compared):
    for dtype in [each for each in STORED if each in contract.dtypes]:
        stored.check(contract.operation, oracle, dtype, STORED[dtype], composed=False)
        note(compared, contract, dtype)
