"""Tests the dtype that a call computes in and the one it returns: the promotions of README.md, and what is rejected.
Also tests that nothing is rounded before it has to be: in comparisons, in Python ints, in statistics of ints."""

import itertools
import operator

import calls
import numpy as np
import pytest
from generator import references
from generator.facts import FACTS
from generator.schema import DTYPES, FLOATS, INTEGERS

import lanewise as lw

# An operation that does not accept a dtype computes in the first of these that it accepts.
LATER = {"bool": ("int32", "float32"), **{each: ("float64" if "64" in each else "float32",) for each in INTEGERS}}


def promoted(first, second):
    """Returns the dtype that tensors of two dtypes are promoted to, or None if there is none."""
    both = FACTS.promoted(FACTS.dtypes[first], FACTS.dtypes[second])
    return both and both.name


def expected_dtype(contract, *dtypes):
    """Returns the dtype of the result of tensors of one or two dtypes, or None if they are rejected."""
    together = promoted(dtypes[0], dtypes[-1])
    if contract.compares:
        return "bool"
    accepted = DTYPES if contract.moves else contract.dtypes
    dtype = next((each for each in (together, *LATER.get(together, ())) if each in accepted), None)
    if contract.widens and dtype in INTEGERS:  # sums, of integers of less than 32 bits
        dtype = promoted(dtype, "uint32" if FACTS.dtypes[dtype].group.name == "unsigned" else "int32")
    return dtype and contract.result(dtype)


def tensors(contract, dtypes):
    """Returns tensors of ones, which every operation accepts. Inputs whose dtype the contract fixes keep it."""
    free = iter(dtypes)
    return [
        lw.asarray(np.ones((2, 2)[: each.ndim], each.dtype or next(free)))
        for each in contract.inputs
        if not each.optional
    ]


def free_inputs(contract):
    return sum(each.dtype is None and not each.optional for each in contract.inputs)


@pytest.mark.contracts(
    lambda contract: contract.kind.has_out and contract.kind.name not in ("window", "gather", "search")
)
def test_promotion(contract, backend):
    """Promotion does not depend on the backend. A GPU compiles a kernel for each pair of dtypes, so there each
    operation tries a seventh of the pairs; together, the operations try all."""
    function = getattr(lw, contract.operation, None)
    if contract.internal:
        return
    every = list(itertools.product(DTYPES, repeat=min(free_inputs(contract), 2)))
    for dtypes in every[len(contract.operation) % 7 :: 7] if backend.is_gpu else every:
        inputs = tensors(contract, [*dtypes, dtypes[-1]])
        expected = expected_dtype(contract, *dtypes)
        if expected is None:
            with pytest.raises(lw.DTypeError, match="astype"):
                function(*inputs, **calls.with_axis(contract))
        else:
            assert function(*inputs, **calls.with_axis(contract)).dtype == expected, dtypes


@pytest.mark.contracts(
    lambda contract: contract.kind.name == "elementwise" and free_inputs(contract) == 2 and not contract.internal
)
def test_python_numbers_are_weak(contract, backend):
    """A Python number takes the tensor's dtype, unless its type comes after the dtype in the order bool, int, float."""
    function = getattr(lw, contract.operation)
    for value, dtypes in ((True, DTYPES), (1, DTYPES[1:]), (1.0, FLOATS)):
        for dtype in dtypes:
            if contract.moves or dtype in contract.dtypes:
                inputs = tensors(contract, [dtype, dtype])
                result = function(*inputs[:-1], value)
                assert result.dtype == contract.result(dtype), (dtype, value)


COMPARISONS = {
    "less": operator.lt,
    "less_equal": operator.le,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}
# Where dtypes end, begin to skip integers, or stop having fractions.
POWERS = [2**power for power in (0, 7, 8, 10, 11, 15, 16, 21, 22, 23, 24, 30, 31, 52, 53, 62, 63, 64, 127, 128, 200)]
WHOLE = sorted({sign * (power + step) for power in POWERS for step in (-1, 0, 1) for sign in (-1, 1)})
FRACTIONS = [
    sign * (power - part) for power in (1, 2**21, 2**22, 2**24, 2**31) for part in (0.5, 0.3) for sign in (-1, 1)
]
SPECIAL = [-0.0, -(2.0**63), 65504.0, 65520.0, 2.0**63 - 1024, 1e300, np.inf, -np.inf, np.nan]
HUGE = [10**400, -(10**400), 2**70 + 2**17, 2**70 + 2**17 + 1, 2**90 - 1]


def edges(dtype):
    """Returns numbers of a dtype, as Python numbers, that others do not hold or that are at the end of their range."""
    if dtype in FLOATS:
        with np.errstate(over="ignore"):
            return list(dict.fromkeys(np.array([*map(float, WHOLE), *FRACTIONS, *SPECIAL], dtype).tolist()))
    low, high = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return [number for number in WHOLE if low <= number <= high]


@pytest.mark.parametrize(("first", "second"), list(itertools.product(DTYPES, DTYPES)))
def test_tensors_are_compared_by_value(first, second, backend):
    """Python compares ints and floats exactly. Contiguous operands of one shape, so that a GPU runs chains: the second
    time as one kernel. It takes seconds to compile, so each pair of dtypes tries one comparison there."""
    pairs = list(itertools.product(edges(first), edges(second)))
    x1 = lw.asarray(np.array([each for each, _ in pairs], first))
    x2 = lw.asarray(np.array([each for _, each in pairs], second))
    chosen = (DTYPES.index(first) + DTYPES.index(second)) % len(COMPARISONS)
    for name, exact in list(COMPARISONS.items())[slice(chosen, chosen + 1) if backend.is_gpu else slice(None)]:
        expected = [exact(a, b) for a, b in pairs]
        for result in (getattr(lw, name)(x1, x2), getattr(lw, name)(x1, x2), getattr(lw, name)(x1, x2, out=x1 != x1)):
            assert result.dtype is lw.bool
            wrong = np.flatnonzero(np.array(expected) != np.asarray(result))
            assert not wrong.size, (name, [pairs[each] for each in wrong[:5]])


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("second", ["float32", "uint64"])
def test_errors_of_comparisons_name_the_operation(name, second, backend):
    with pytest.raises(lw.ShapeError, match=f"^{name}: expected shapes that broadcast"):
        getattr(lw, name)(lw.ones(3, "int64"), lw.ones(4, second))


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_are_compared_by_value(dtype, backend):
    """A float beside floats is the exception: it stands for the nearest number of their dtype, as everywhere."""
    elements = edges(dtype)
    x = lw.asarray(np.array(elements, dtype))
    for number in some([*WHOLE, *HUGE, *FRACTIONS, *SPECIAL], backend):
        nearest = number
        if dtype in FLOATS and isinstance(number, float):
            with np.errstate(over="ignore"):
                nearest = np.array(number, dtype).item()
        results = [(getattr(lw, name)(x, number), getattr(lw, name)(number, x)) for name in COMPARISONS]
        got = lw.stack([each for pair in results for each in pair]).tolist()
        expected = [
            [exact(*pair) for pair in pairs]
            for exact in COMPARISONS.values()
            for pairs in ([(each, nearest) for each in elements], [(nearest, each) for each in elements])
        ]
        assert got == expected, number


# The bits of the significand, and the largest exponent.
DIGITS = {"float16": (11, 16), "bfloat16": (8, 128), "float32": (24, 128), "float64": (53, 1024)}


def rounded(number, dtype):
    """Returns the nearest number of a float dtype, to even."""
    digits, limit = DIGITS[dtype]
    magnitude = abs(number)
    unit = 1 << max(magnitude.bit_length() - digits, 0)
    steps, rest = divmod(magnitude, unit)
    magnitude = (steps + (2 * rest > unit or (2 * rest == unit and steps % 2))) * unit
    return (-1 if number < 0 else 1) * (float(magnitude) if magnitude.bit_length() <= limit else np.inf)


def beside_halves(dtype):
    """Yields ints at and beside the middle between two floats, where rounding twice goes wrong."""
    digits, limit = DIGITS[dtype]
    for exponent in sorted({digits, 53, 54, 62, 63, 64, 100, limit - 1}):
        for middle in (2**exponent + 2 ** (exponent - digits), 2 ** (exponent + 1) - 2 ** (exponent - digits)):
            yield from (sign * (middle + step) for step in (-1, 0, 1) for sign in (-1, 1))


def some(numbers, backend):
    """Returns the numbers, or for GPUs, on which a call takes a hundred times as long, a seventh of them. What becomes
    of a number is decided on the host."""
    return list(numbers)[:: 7 if backend.is_gpu else 1]


ENTRIES = {
    "asarray": lambda n, dtype: lw.asarray(n, dtype=dtype),
    "asarray of a list": lambda n, dtype: lw.asarray([n], dtype=dtype)[0],
    "astype": lambda n, dtype: lw.astype(n, dtype),
    "full": lambda n, dtype: lw.full((), n, dtype=dtype),
    "full_like": lambda n, dtype: lw.full_like(lw.zeros((), dtype=dtype), n),
    "arange": lambda n, dtype: lw.arange(n, n + 1, dtype=dtype)[0],
    "linspace, start": lambda n, dtype: lw.linspace(n, 0, 2, dtype=dtype)[0],
    "linspace, stop": lambda n, dtype: lw.linspace(0, n, 2, dtype=dtype)[1],
    "pad": lambda n, dtype: lw.pad(lw.zeros(1, dtype=dtype), 1, constant_values=n)[0],
    "setitem": lambda n, dtype: assigned(lw.zeros(2, dtype=dtype), n)[0],
    "where": lambda n, dtype: lw.where(True, n, lw.zeros((), dtype=dtype)),
}
RANGES = ("arange", "linspace, start", "linspace, stop")
COMPUTED = {  # by operations, which have kernels for float32
    "add": lambda n, _: lw.zeros(()) + n,
    "operator on the left": lambda n, _: n - lw.zeros(()),
    "in place": lambda n, _: operator.iadd(lw.zeros(()), n),
    "bound": lambda n, _: lw.clip(lw.full((), np.inf * (1 if n < 0 else -1)), **{"max" if n < 0 else "min": n}),
    "parameter": lambda n, _: -lw.leaky_relu(lw.full((), -1.0), slope=n),
    "parameter of NumPy": lambda n, _: -lw.leaky_relu(lw.full((), -1.0), slope=np.array(n)[()]),
}


def assigned(tensor, number):
    tensor[:] = number
    return tensor


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_python_int_is_rounded_once(dtype, backend):
    for name, entry in (ENTRIES | (COMPUTED if dtype == "float32" else {})).items():
        for number in some(beside_halves(dtype), backend):
            # ranges are computed: they refuse infinite numbers, and GPUs compute them with 48 bits
            if name not in RANGES or (abs(number) < 2**1000 and not backend.is_gpu):
                assert entry(number, dtype).item() == rounded(number, dtype), (name, number)


COMPOSED = ("zscore", "covariance", "correlation", "cov", "corrcoef")


def large_integers():
    """Yields int32 arrays of 6 x 41 that float32 would round: all near a large number, or of the whole range."""
    random = np.random.default_rng(0)
    for low, high in ((2**30, 2**30 + 9), (2**31 - 64, 2**31), (-(2**31), 9 - 2**31), (2**24, 2**24 + 3)):
        yield random.integers(low, high, (6, 41)).astype("int32")
    yield random.integers(-(2**31), 2**31, (6, 41)).astype("int32")
    far = random.integers(2**31 - 9, 2**31, (6, 41)).astype("int32")
    far[:, 0], far[0] = -(2**31), -(2**31) + np.arange(41)
    far[0, 5] = 2**31 - 1
    yield far


@pytest.mark.contracts(lambda contract: contract.pivot or contract.operation in COMPOSED)
def test_operations_subtract_integers_before_they_round(contract, backend):
    """Operations whose results depend on differences alone are as exact for large integers as for small ones."""
    arrays = list(large_integers())
    axis = next((each for each in contract.parameters if each.name == "axis"), None)
    axes = [{"axis": each} for each in ([0, 1, (0, 1), None] if axis.type == "axes" else [0, 1])] if axis else [{}]
    has_optional = any(each.optional for each in contract.inputs)
    for (x, other), chosen, optional in itertools.product(
        zip(arrays, arrays[1:] + arrays[:1], strict=True), axes, (False, True) if has_optional else (False,)
    ):
        along = np.linspace(-2, 2, x.shape[chosen.get("axis", 0)] if optional and chosen else 1, dtype="float32")
        given = {"x": x, "x1": x, "x2": other, "weight": along, "bias": along, "y": (other % 64).astype("float32")}
        inputs = [given[each.name] if optional or not each.optional else None for each in contract.inputs]
        settings = {each.name: each.default for each in contract.parameters} | chosen
        with np.errstate(all="ignore"):
            wide = [None if each is None else each.astype("float64") for each in inputs]
            names = {each.name: value for each, value in zip(contract.inputs, wide, strict=True)}
            expected = np.asarray(eval(contract.expression("float32"), {**references.NAMES}, {**names, **settings}))
        got = np.asarray(getattr(lw, contract.operation)(*inputs, **chosen))
        assert got.dtype == "float32"
        size = np.abs(expected[np.isfinite(expected)]).max(initial=1)
        tolerance = contract.accuracy("float32").tolerance
        allowed = 1e-5 * np.abs(expected) + 4e-6 * size * (tolerance.of(backend.value).absolute > 0)
        good = (np.abs(got - expected) <= allowed) | (np.isnan(got) & np.isnan(expected))
        assert good.all(), (x[:1, :4], chosen, optional, got[~good][:4], expected[~good][:4])
