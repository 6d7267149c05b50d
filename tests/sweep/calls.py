"""Calling an operation from Python with what a case of the oracle holds."""

from __future__ import annotations

from typing import Any

import numpy as np
from generator.schema import Contract
from judge import as_array
from oracle_file import Case

import lanewise as lw


def arguments(contract: Contract, case: Case) -> list[Any]:
    """Positional arguments: a tensor for each input, None for an absent one."""
    arrays = [None if each is None else as_array(each) for each in case.inputs]
    tensors = [None if array is None else lw.asarray(array) for array in arrays]
    return [tensors] if contract.inputs and contract.inputs[0].sequence else tensors


def keywords(case: Case) -> dict[str, Any]:
    """Parameters: lists, JSON's only sequence, are tuples to Python."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in case.keywords.items()}


def with_axis(contract: Contract) -> dict[str, int]:
    """The axis, where an operation on rows of several dimensions wants it named."""
    named = contract.kind.name == "rows" and contract.parameter("axis").default is None
    return {"axis": 0} if named else {}


def run(contract: Contract, case: Case, **more: Any) -> np.ndarray:
    """The result as a NumPy array."""
    function = getattr(lw, contract.operation)
    return np.asarray(function(*arguments(contract, case), **keywords(case), **more))
