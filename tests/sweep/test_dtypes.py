"""Tests the dtype that a call computes in and the one it returns: the promotions of README.md, and what is rejected.
Also tests that nothing is rounded before it has to be: in Python ints."""

import itertools
import operator

import calls
import numpy as np
import pytest
from generator.schema import DTYPES, FLOATS
from judge import bits

import lanewise as lw

# An operation without a kernel for a dtype computes in the next dtype of this list for which it has a kernel.
ORDER = ("bool", "int32", "float32")


def promoted(*dtypes):
    """Returns the dtype that tensors of these dtypes are promoted to: the last in the order of DTYPES."""
    return max(dtypes, key=DTYPES.index)


def computed(contract, dtype):
    """Returns the dtype that a call computes in, or None if it is rejected."""
    if dtype in contract.computed:
        return dtype
    later = ORDER[ORDER.index(dtype) + 1 :] if dtype in ORDER else ()
    return next((each for each in later if each in contract.computed), None)


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
    function = getattr(lw, contract.operation, None)
    if contract.internal:
        return
    for dtypes in itertools.product(DTYPES, repeat=min(free_inputs(contract), 2)):
        together = promoted(*dtypes)
        inputs = tensors(contract, [*dtypes, dtypes[-1]])
        expected = computed(contract, together)
        if expected is None:
            with pytest.raises(lw.DTypeError, match="astype"):
                function(*inputs, **calls.with_axis(contract))
        else:
            assert function(*inputs, **calls.with_axis(contract)).dtype == contract.result(expected), dtypes


@pytest.mark.contracts(
    lambda contract: contract.kind.name == "elementwise" and free_inputs(contract) == 2 and not contract.internal
)
def test_python_numbers_are_weak(contract, dtype, backend):
    """A Python number takes the tensor's dtype, unless its type comes after the dtype in the order bool, int, float."""
    function = getattr(lw, contract.operation)
    number, dtypes = {"b": (True, DTYPES), "i": (1, DTYPES[1:]), "f": (1.0, FLOATS)}, None
    for kind, (value, dtypes) in number.items():
        if dtype in dtypes:
            inputs = tensors(contract, [dtype, dtype])
            result = function(*inputs[:-1], value)
            assert result.dtype == contract.result(dtype), kind


@pytest.mark.parametrize(("target", "source"), list(itertools.product(DTYPES, DTYPES)))
def test_casts_agree_with_numpy(target, source):
    """The values are representable in both dtypes, so only one result is correct."""
    values = np.array([0, 1, 1, 0, 1] if "bool" in (target, source) else [0, 1, -7, 100, -2048], source)
    result = np.asarray(lw.astype(lw.asarray(values), target))
    assert result.dtype == target
    assert np.array_equal(bits(result), bits(values.astype(target)))


DIGITS = {"float16": (11, 16), "float32": (24, 128), "float64": (53, 1024)}  # of the significand; the largest exponent


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
