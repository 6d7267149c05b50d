"""Writes the test cases of each contract to a binary file: inputs, the kernel's arguments and the expected result.
contracts/README.md describes the format.

The cases of paths.py go into a second file of the same name, in the folder <folder>_paths. Each of these cases also has
the layouts for operands that are not contiguous (PLACEMENTS).

Numbers are little-endian, and everything starts at a multiple of 8 bytes, so that C reads it in place.
"""

from __future__ import annotations

import json
import struct
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import layouts, paths, table
from .cases import Case, cases
from .draw import Array
from .facts import FACTS
from .fields import ContractError
from .references import NAMES
from .schema import BACKENDS, DTYPES, FLOATS, Accuracy, Bound, Contract, Input, Parameter

MAGIC, VERSION = b"LWORACLE", 3
STRICT = 1  # flags of a case: the signs of zeros must match,
MAGNITUDE = 2  # the magnitude follows the reference,
REST = 4  # what the reference lacks in float64 follows
ABSENT = 0xFFFFFFFF

# References of results in float64 that are not rounded once; a longdouble has 64 bits on x86, and more on other CPUs.
WIDEST = np.longdouble

Placed = Callable[[Sequence[int], int], layouts.Operand]  # takes an operand's shape and its bytes per item
Placement = tuple[Placed, Placed, Placed]  # of the inputs with an even number, of the others, and of the result
CONTIGUOUS: Placement = (layouts.contiguous,) * 3
PLACEMENTS: tuple[Placement, ...] = (  # for the cases of paths.py
    (layouts.gapped,) * 3,
    (layouts.reversed_axes, layouts.reversed_rows, layouts.rows_of_larger),
    (layouts.rows_of_larger, layouts.reversed_axes, layouts.reversed_axes),
)


def write(contracts: tuple[Contract, ...], folder: Path, only: list[str] | None, verbose: bool) -> None:
    """Writes <operation>.bin for every contract with a reference; if `only` is given, just for those named there.
    Otherwise also writes accepted.json: the dtypes of each public operation."""
    unknown = sorted(set(only or ()) - {contract.operation for contract in contracts})
    if unknown:
        raise ContractError(f"--only: expected operations, got {unknown[0]!r}")
    folder.mkdir(parents=True, exist_ok=True)
    for contract in contracts:
        if (only and contract.operation not in only) or not contract.reference:
            continue
        signature = table.signature(contracts)
        _write(folder / f"{contract.operation}.bin", encode(contract, signature), verbose)
        if contract.kind.has_kernels and (listed := list(paths.cases(contract))):
            content = encode(contract, signature, listed, PLACEMENTS)
            _write(folder.with_name(f"{folder.name}_paths") / f"{contract.operation}.bin", content, verbose)
    if not only:
        accepted = {each.operation: _accepted(each) for each in contracts if not each.internal}
        _write(folder / "accepted.json", json.dumps(accepted, indent=1).encode(), verbose)


def _accepted(contract: Contract) -> dict[str, str]:
    """Returns the dtypes that an operation accepts, each with the dtype that it is computed in."""
    if not contract.dtypes:  # moved, or cast as they are
        return dict(zip(DTYPES, DTYPES, strict=True))
    return {dtype: FACTS.dtypes[dtype].elements for dtype in contract.dtypes}


def _write(path: Path, content: bytes, verbose: bool) -> None:
    if path.exists() and path.read_bytes() == content:
        return
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    if verbose:
        print(f"wrote {path} ({len(content)} bytes)")


def encode(
    contract: Contract, signature: int, listed: Iterable[Case] | None = None, placements: Sequence[Placement] = ()
) -> bytes:
    """Returns the content of one file; by default, with the cases of cases.py."""
    try:
        records = [_record(contract, case, placements) for case in (cases(contract) if listed is None else listed)]
    except Exception as problem:
        raise contract.error(f"expected a valid reference, got {problem!r}") from problem
    bounds = [(dtype, *row) for dtype, each in contract.accuracies.items() for row in _bounds(each)]
    body = _text(contract.operation) + struct.pack("<II", len(bounds), len(records))
    for dtype, backend, bound in bounds:
        body += _text(dtype) + _text(backend)
        body += struct.pack("<4d", bound.ulp, bound.absolute, bound.relative, bound.magnitude)
    body += b"".join(records)
    return MAGIC + struct.pack("<IIQQ", VERSION, 0, len(body) + 32, signature) + body


def _bounds(accuracy: Accuracy) -> Iterator[tuple[str, Bound]]:
    """Yields the bound of all backends, whose name is empty, then those of backends with another one."""
    bound = accuracy.tolerance.bound
    yield "", bound
    yield from ((each, own) for each in BACKENDS if (own := accuracy.judged_by(each)) != bound)


def _record(contract: Contract, case: Case, placements: Sequence[Placement]) -> bytes:
    result = _result_dtype(contract, case)
    reference, rest = split(expected(contract, case))
    scale = magnitude(contract, case)
    arrays = _kernel_inputs(contract, case)
    kernel, layout, scalars, placed = "", b"", b"", [b""] * len(placements)
    if contract.kind.has_kernels:
        kernel = _kernel(contract, case)
        operands = [None if each is None else (each.shape, each.itemsize) for each in arrays]
        operands.append((reference.shape, np.dtype(result).itemsize))
        layout, scalars, _ = _place(contract, case, CONTIGUOUS, operands)
        for i, placement in enumerate(placements):
            other, own, strides = _place(contract, case, placement, operands)
            placed[i] = other + own + strides
    excused = ",".join(case.special.unless) if case.special else ""
    flags = STRICT if case.special or contract.accuracy(case.dtype).tolerance.bound.is_exact else 0
    flags |= (0 if scale is None else MAGNITUDE) | (0 if rest is None else REST)
    record = _text(case.name) + _text(kernel) + _text(json.dumps(keywords(contract, case))) + _text(excused)
    record += struct.pack("<IIII", flags, DTYPES.index(result), len(layout), len(scalars) // 8)
    record += layout + scalars
    record += struct.pack("<II", len(arrays), 0)
    record += b"".join(_array(each) for each in arrays) + _array(reference)
    record += b"".join(_array(each.astype(np.float64)) for each in (scale, rest) if each is not None)
    record += struct.pack("<II", len(placed), 0) + b"".join(placed)
    return struct.pack("<Q", len(record) + 8) + record


def _place(
    contract: Contract, case: Case, placement: Placement, operands: Sequence[tuple[tuple[int, ...], int] | None]
) -> tuple[bytes, bytes, bytes]:
    """Returns the kernel's layout, its scalars and all strides, for operands that `placement` lays out."""
    given, result = operands[:-1], operands[-1]
    inputs = [None if each is None else placement[i % 2](*each) for i, each in enumerate(given)]
    assert result is not None
    out = placement[2](*result)
    called = layouts.call(contract, dict(case.parameters), inputs, out)
    scalars = struct.pack(f"<{len(called.scalars)}q", *called.scalars) + _scalars(contract, case)
    strides = [stride for each in (*inputs, out) if each is not None for stride in each.strides]
    layout = called.layout
    if contract.kind.name in ("elementwise", "reduction", "index_reduction"):
        layout = layout[: -8 * len(layouts.UNCONVERTED)] + _conversions(contract, case)
    return layout, scalars, struct.pack(f"<{len(strides)}q", *strides)


def _conversions(contract: Contract, case: Case) -> bytes:
    """Returns the end of an lw_layout: which operands the kernel converts, and their dtypes."""
    computed = FACTS.dtypes[case.dtype].elements
    results = [contract.result(each) for each in (case.dtype, computed)]
    is_reduced = contract.kind.name != "elementwise"  # then the host converts the result
    dtypes = [case.dtype if each.dtype is None else computed for each in contract.inputs]
    dtypes += [computed] if is_reduced else results[:1]
    own = [computed] * len(contract.inputs) + (dtypes[-1:] if is_reduced else results[1:])
    converts = not contract.moves and case.dtype != computed
    mask = sum(1 << i for i, pair in enumerate(zip(dtypes, own, strict=True)) if converts and pair[0] != pair[1])
    codes = [DTYPES.index(dtype) for dtype in dtypes] if converts else []
    return struct.pack(f"<I{layouts.MAX_OPERANDS}b7x", mask, *layouts.zero_padded(codes, layouts.MAX_OPERANDS))


def expected(contract: Contract, case: Case) -> Array:
    """Returns the expected result: as float64 or longdouble if it is a float, otherwise in the result's dtype."""
    result = _result_dtype(contract, case)
    if case.special:
        value = np.array(case.special.out)
        if _tiled(contract, case):
            value = np.broadcast_to(value, (_copy_count(case), *value.shape))
        if not contract.inputs:
            value = value.reshape(case.parameters.get("shape", -1))
    else:
        value = _evaluate(contract, case, _as_computed(contract, case), case.parameters)
    value = np.asarray(value)
    if result in FLOATS:
        return value if value.dtype == WIDEST else value.astype(np.float64)
    return value.astype(result)


def _as_computed(contract: Contract, case: Case) -> Mapping[str, Any]:
    """Returns the inputs, converted to the computed dtype if the parameter `dtype` names it."""
    if not case.is_converted:
        return case.inputs
    present = {each.name: each.dtype or case.dtype for each in contract.inputs if case.inputs[each.name] is not None}
    return {**case.inputs, **{name: case.inputs[name].astype(dtype) for name, dtype in present.items()}}


def split(reference: Array) -> tuple[Array, Array | None]:
    """Returns a reference of longdouble as two of float64: rounded, and the rest; another one as it is, and None."""
    if reference.dtype != WIDEST:
        return reference, None
    with np.errstate(all="ignore"):
        rounded = reference.astype(np.float64)
        return rounded, np.where(np.isfinite(rounded), reference - rounded, 0).astype(np.float64)


def _tiled(contract: Contract, case: Case) -> bool:
    return contract.kind.name in ("elementwise", "cast") or case.name.endswith((", rows", ", columns"))


def _copy_count(case: Case) -> int:
    first = next(each for each in case.inputs.values() if each is not None)
    return int(first.shape[1] if case.name.endswith(", columns") else first.shape[0])


def _evaluate(contract: Contract, case: Case, inputs: Mapping[str, Any], parameters: Mapping[str, Any]) -> Array:
    # Except for data movement and casts, inputs are widened; bools stay as they are.
    raw = contract.moves or contract.kind.name == "cast"
    rounds_once = contract.accuracy(case.dtype).tolerance.bound.is_exact
    wide = np.float64 if case.dtype != "float64" or rounds_once else WIDEST
    inputs = {each.name: _present(each, case.dtype, inputs[each.name]) for each in contract.inputs}
    values = {name: value if raw else _wide(value, wide) for name, value in inputs.items()}
    settings = {each.name: _setting(contract, case.dtype, each, parameters[each.name]) for each in contract.parameters}
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        return np.asarray(eval(contract.expression(case.dtype), {**NAMES}, {**values, **settings}))


def _wide(value: Any, floating: type[np.floating[Any]]) -> Any:
    if value is None or value.dtype in (bool, np.uint64):
        return value
    return value.astype(floating if value.dtype.name in FLOATS else np.int64)


def _setting(contract: Contract, dtype: str, parameter: Parameter, value: Any) -> Any:
    """Returns a parameter's value as the kernel sees it: elementwise kernels round floats to the computed dtype."""
    if parameter.type == "float" and contract.kind.name == "elementwise":
        return float(np.dtype(dtype).type(value))
    return tuple(value) if isinstance(value, list) else value


def magnitude(contract: Contract, case: Case) -> Array | None:
    """Returns the reference for the inputs' absolute values, without activation; None if the case does not need it.

    It is needed for float results whose bound has the measure `magnitude`, except for special values.
    """
    tolerance = contract.accuracy(case.dtype).tolerance
    bounds = (tolerance.bound, *tolerance.backends.values())
    if not any(bound.magnitude for bound in bounds) or _result_dtype(contract, case) not in FLOATS or case.special:
        return None
    inputs = {name: None if value is None else np.abs(value) for name, value in _as_computed(contract, case).items()}
    plain = {each.name: each.choices[0] for each in contract.parameters if each.type == "choice"}
    return np.abs(_evaluate(contract, case, inputs, {**case.parameters, **plain}))


def _result_dtype(contract: Contract, case: Case) -> str:
    if contract.kind.name == "cast" or (not contract.inputs and contract.moves):
        return str(case.parameters["dtype"])
    return contract.result(case.dtype)


def _kernel(contract: Contract, case: Case) -> str:
    if case.is_converted:
        return ""  # the kernel reads copies of the inputs
    if contract.kind.name == "cast":
        target = case.parameters["dtype"]
        if target == case.dtype:
            return ""  # astype to the same dtype uses a kernel of the operation copy
        return f"{contract.operation}_{case.dtype}_{target}"
    variant = 0
    if contract.variants:
        parameter = contract.parameter(contract.variants.parameter)
        variant = parameter.choices.index(case.parameters[parameter.name])
    return contract.kernel(case.dtype, variant)


def _kernel_inputs(contract: Contract, case: Case) -> list[Array | None]:
    """Returns the input arrays in order. An absent input is replaced by its default, or by None if it has none."""
    arrays: list[Array | None] = []
    for each in contract.inputs:
        value = case.inputs[each.name]
        if each.sequence:
            arrays += value
        else:
            arrays.append(_present(each, case.dtype, value))
    return arrays


def _present(each: Input, dtype: str, value: Any) -> Any:
    """Returns an input; if it is absent and has a default, returns the default."""
    if value is not None or each.default is None:
        return value
    own = np.dtype(each.dtype or dtype)
    lowest, highest = (-np.inf, np.inf) if own.name in FLOATS else (np.iinfo(own).min, np.iinfo(own).max)
    return np.array(lowest if each.default == "lowest" else highest, own)


def _scalars(contract: Contract, case: Case) -> bytes:
    """Returns the kernel's parameters[] as bytes."""
    packed = b""
    for each in contract.kernel_parameters:
        value = case.parameters[each.name]
        if each.name == "start" and case.parameters["stop"] is None:
            value = 0  # arange(x) ends at x and starts at 0
        if each.type == "float" or (each.type == "scalar" and case.dtype in FLOATS):
            packed += struct.pack("<d", value)
        elif each.type == "choice":
            packed += struct.pack("<q", each.choices.index(value))
        else:
            packed += struct.pack("<q", int(value))
    return packed


def keywords(contract: Contract, case: Case) -> dict[str, Any]:
    """Returns the keyword arguments of the call from Python, without those at their default."""
    return {each.name: case.parameters[each.name] for each in contract.parameters
            if each.required or case.parameters[each.name] != each.default}  # fmt: skip


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<I", len(data)) + data + bytes(-(4 + len(data)) % 8)


def _array(array: Array | None) -> bytes:
    if array is None:
        return struct.pack("<II", ABSENT, 0)
    data = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
    head = struct.pack("<II", DTYPES.index(array.dtype.name), array.ndim)
    head += struct.pack(f"<{array.ndim}q", *array.shape) + struct.pack("<Q", len(data))
    return head + data + bytes(-len(data) % 8)
