"""Calls an operation from Python with the arguments of a case: inputs with their expected result, from the oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
from generator.schema import Contract
from judge import as_array
from oracle_file import Case

import lanewise as lw


def arguments(contract: Contract, case: Case) -> list[Any]:
    """Returns the positional arguments: a tensor or None for each input, or one list if the input is a sequence."""
    arrays = [None if each is None else as_array(each) for each in case.inputs]
    tensors = [None if array is None else lw.asarray(array) for array in arrays]
    return [tensors] if contract.inputs and contract.inputs[0].sequence else tensors


def with_axis(contract: Contract) -> dict[str, int]:
    """Returns axis=0 as a keyword if the operation requires an axis for inputs of several dimensions."""
    named = contract.kind.name == "rows" and contract.parameter("axis").default is None
    return {"axis": 0} if named else {}


def run(contract: Contract, case: Case, **more: Any) -> np.ndarray:
    """Runs the operation and returns its result as a NumPy array."""
    function = getattr(lw, contract.operation)
    return np.asarray(function(*arguments(contract, case), **case.keywords, **more))
