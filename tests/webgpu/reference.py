"""Whether results are near enough to a contract's reference; the references are contracts/generator's."""

from __future__ import annotations

from typing import Any

import numpy as np
from generator import references
from generator.draw import draw, everywhere

NAMES = {"np": np} | {name: each for name, each in vars(references).items() if not name.startswith("_")}


def inputs_of(contract: Any, dtype: str, size: int) -> dict[str, np.ndarray]:
    """Values over the contract's domains; where one is whole, half of them have random bits."""
    arrays = {}
    for each in contract.inputs:
        values = draw(contract, each.name, dtype, (size,))
        if contract.range(each.name, each.dtype or dtype).whole and np.dtype(dtype).kind == "f":
            values[::2] = everywhere(dtype, len(values[::2]), each.name)
        arrays[each.name] = values
    return arrays


def wanted(contract: Any, dtype: str, inputs: dict[str, np.ndarray], parameters: dict[str, Any]) -> np.ndarray:
    """The reference's value, in float64 from floats; parameters are float32 in a kernel."""
    parameters = {name: float(np.float32(x)) if isinstance(x, float) else x for name, x in parameters.items()}
    wide = {name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in inputs.items()}
    with np.errstate(all="ignore"):
        return np.asarray(eval(contract.expression(dtype), NAMES, {**parameters, **wide}))


def assert_close(result: np.ndarray, reference: np.ndarray, bound: Any, magnitude: np.ndarray | float = 0.0) -> None:
    """The largest of a bound's parts holds; without any, the reference rounded once."""
    if result.dtype.kind != "f":
        np.testing.assert_array_equal(result, reference.astype(result.dtype))
        return
    with np.errstate(all="ignore"):
        rounded = reference.astype(result.dtype)
        unit = np.abs(np.spacing(rounded)).astype(np.float64)
        parts = (bound.ulp * unit, bound.absolute, bound.relative * np.abs(reference), bound.magnitude * magnitude)
        allowed = np.maximum.reduce(np.broadcast_arrays(*parts))
        error = np.abs(result.astype(np.float64) - reference)
    fine = (result == rounded) | (np.isnan(result) & np.isnan(reference)) | (error <= allowed)
    if not fine.all():
        at = tuple(int(i) for i in np.argwhere(~fine)[0])
        raise AssertionError(
            f"{(~fine).sum()} of {fine.size} differ; first at {at}: {result[at]!r}, wanted {reference[at]!r} "
            f"within {allowed[at] if allowed.ndim else allowed!r}"
        )
