"""Every kernel that WebGPU carries, against its contract: values over the domain, and the special rows."""

from __future__ import annotations

import numpy as np
import pytest
from generator import references
from generator.draw import everywhere
from harness import Runner
from reference import assert_close, inputs_of, wanted

SIZE = 10_007


def bits_of(kernel) -> list[str]:
    """The dtypes that a kernel serves: of data movement, those of its item size."""
    from generator.schema import DTYPES, ITEM_BITS

    if kernel.dtype.startswith("bits"):
        return [dtype for dtype in DTYPES if ITEM_BITS[dtype] == int(kernel.dtype[4:])]
    return [kernel.dtype]


def settings(contract, kernel, given=None) -> tuple[dict, list[float]]:
    """Parameters of a call by name, and those for the kernel."""
    values = {each.name: each.default for each in contract.parameters if not each.required} | dict(given or {})
    if contract.variants:
        choices = contract.parameter(contract.variants.parameter).choices
        values[contract.variants.parameter] = choices[contract.stems.index(kernel.stem)]
    numbers = []
    for each in contract.kernel_parameters:
        value = values[each.name]
        numbers.append(float(value) if each.type == "float" else each.choices.index(value) if each.choices else int(value))
    return values, numbers


@pytest.mark.kinds("elementwise")
def test_domain(gpu: Runner, kernel) -> None:
    contract, kernel = kernel
    for dtype in bits_of(kernel):
        inputs = inputs_of(contract, dtype, SIZE)
        values, numbers = settings(contract, kernel)
        result = gpu.elementwise(kernel.name, list(inputs.values()), contract.result(dtype), numbers)
        reference = wanted(contract, dtype, inputs, values)
        assert_close(result, reference, contract.tolerance.of("wgpu"), magnitude(contract, dtype, inputs, values))


@pytest.mark.kinds("cast")
def test_casts(gpu: Runner, kernel) -> None:
    contract, kernel = kernel
    x = inputs_of(contract, kernel.dtype, SIZE)["x"]
    if x.dtype.kind == "f":
        x[::2] = everywhere(kernel.dtype, len(x[::2]))
        x[:4] = np.nan, np.inf, -np.inf, -0.0
    elif x.dtype.kind == "i":
        x[::2] = np.random.default_rng(0).integers(np.iinfo(x.dtype).min, np.iinfo(x.dtype).max, len(x[::2]), x.dtype)
    with np.errstate(all="ignore"):
        reference = references.cast(x, kernel.result)
    result = gpu.elementwise(kernel.name, [x], kernel.result, kind="cast")
    np.testing.assert_array_equal(result, reference)
    if reference.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(result)[~np.isnan(x)], np.signbit(reference)[~np.isnan(x)])
    for row in contract.special:
        if kernel.dtype in row.dtypes and row.parameters["dtype"] == kernel.result:
            result = gpu.elementwise(kernel.name, [np.array(row.inputs["x"], kernel.dtype)], kernel.result, kind="cast")
            assert_special(result, row.out, contract.tolerance.of("wgpu"), row)


def magnitude(contract, dtype, inputs, values):
    """The reference of the inputs' absolute values."""
    if not contract.tolerance.of("wgpu").magnitude:
        return 0.0
    return np.abs(wanted(contract, dtype, {name: np.abs(x) for name, x in inputs.items()}, values))


def rows(contract, kernel, dtype):
    """The special rows that this kernel must meet; those it is excused from are no part of them."""
    for row in contract.special:
        if dtype not in row.dtypes or row.raises or "wgpu" in row.unless:
            continue
        values, numbers = settings(contract, kernel, row.parameters)
        if all(values[name] == value for name, value in row.parameters.items()):
            yield row, numbers


def filled(contract, row, dtype) -> list[np.ndarray]:
    """A row's inputs; for one left out, what its None stands for."""
    limit = np.iinfo(dtype) if np.dtype(dtype).kind == "i" else np.finfo(dtype) if np.dtype(dtype).kind == "f" else None
    arrays = []
    for each in contract.inputs:
        value = row.inputs.get(each.name)
        if value is None and each.default:
            infinite = np.dtype(dtype).kind == "f"
            lowest, highest = (-np.inf, np.inf) if infinite else (limit.min, limit.max)
            value = lowest if each.default == "lowest" else highest
        arrays.append(np.array(value, each.dtype or dtype))
    return arrays


@pytest.mark.kinds("elementwise")
def test_special_values(gpu: Runner, kernel) -> None:
    contract, kernel = kernel
    for dtype in bits_of(kernel):
        for row, numbers in rows(contract, kernel, dtype):
            result = gpu.elementwise(kernel.name, filled(contract, row, dtype), contract.result(dtype), numbers)
            assert_special(result, row.out, contract.tolerance.of("wgpu"), row)


@pytest.mark.kinds("reduction", "index_reduction")
def test_special_reductions(gpu: Runner, kernel) -> None:
    contract, kernel = kernel
    for row, numbers in rows(contract, kernel, kernel.dtype):
        x = np.array(row.inputs["x"], kernel.dtype)
        result = gpu.reduction(kernel.name, x, range(x.ndim), kernel.result, numbers, kind=contract.kind.name)
        assert_special(result, row.out, contract.tolerance.of("wgpu"), row)


@pytest.mark.kinds("matrix")
def test_special_matrices(gpu: Runner, kernel) -> None:
    contract, kernel = kernel
    for row, numbers in rows(contract, kernel, kernel.dtype):
        a, b, *rest = (row.inputs.get(each.name) for each in contract.inputs)
        a, b = np.array(a, np.float32), np.array(b, np.float32)
        a = a[None] if a.ndim == 1 else a
        b = b.T if contract.operation == "linear" else b[:, None] if b.ndim == 1 else b
        others = [None if each is None else np.array(each, np.float32) for each in rest]
        result = gpu.matrix(kernel.name, a, b, others, numbers)
        assert_special(result.reshape(np.shape(row.out)), row.out, contract.tolerance.of("wgpu"), row)


def assert_special(result: np.ndarray, out, bound, row) -> None:
    """Exactly where the row says zero, an infinity or NaN; else within the tolerance."""
    expected = np.array(out, np.float64 if result.dtype.kind == "f" else result.dtype)
    exact = ~np.isfinite(expected) | (expected == 0)
    np.testing.assert_array_equal(result[exact], expected[exact], err_msg=str(row))
    np.testing.assert_array_equal(np.signbit(result[exact & ~np.isnan(expected)]),
                                  np.signbit(expected[exact & ~np.isnan(expected)]), err_msg=str(row))  # fmt: skip
    assert_close(result, expected, bound, np.abs(expected))
