"""What NumPy and PyTorch call what has another name here, for errors to say so.

The second of the two tables is about names that are no aliases of ours; all that others have is in
contracts/coming_from.yaml.
"""

from __future__ import annotations

from typing import Final

from lanewise import operations
from lanewise.errors import ArgumentTypeError

__all__ = ["FUNCTIONS", "PARAMETERS", "refuse_keyword", "suggestion"]

# Their parameter: ours, the first of them that the operation has.
PARAMETERS: Final[dict[str, str]] = {
    "a": "x x1 obj",
    "a_max": "max",
    "a_min": "min",
    "b": "x2",
    "ddof": "correction",
    "diagonal": "k",
    "dim": "axis",
    "dims": "axis axes repetitions",
    "input": "x x1 indices query",
    "keepdim": "keepdims",
    "M": "n_cols",
    "N": "n_rows",
    "negative_slope": "slope",
    "newshape": "shape",
    "other": "x2",
    "pad": "pad_width",
    "reps": "repetitions",
    "sections": "indices_or_sections",
    "shifts": "shift",
    "size": "shape",
    "sorted_sequence": "x1",
    "split_size_or_sections": "indices_or_sections",
    "steps": "num",
    "tensors": "arrays",
    "unbiased": "correction",
    "values": "x2",
}

FUNCTIONS: Final[dict[str, str]] = {
    "amax": "max",
    "amin": "min",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "array": "asarray",
    "bitwise_not": "bitwise_invert",
    "bmm": "matmul",
    "cat": "concat",
    "double": "float64",
    "eq": "equal",
    "expit": "sigmoid",
    "fabs": "abs",
    "fix": "trunc",
    "float": "float32",
    "from_numpy": "asarray",
    "ge": "greater_equal",
    "gt": "greater",
    "half": "float16",
    "hstack": "concat",
    "identity": "eye",
    "int": "int32",
    "invert": "bitwise_invert",
    "le": "less_equal",
    "left_shift": "bitwise_left_shift",
    "long": "int64",
    "lt": "less",
    "mm": "matmul",
    "mv": "matvec",
    "ne": "not_equal",
    "permute": "permute_dims",
    "power": "pow",
    "right_shift": "bitwise_right_shift",
    "rint": "round",
    "tensor": "asarray",
    "true_divide": "divide",
    "view": "reshape",
    "vstack": "concat",
}


def refuse_keyword(operation: str, name: str) -> None:
    """Raises the error of a call with a keyword that the operation does not have."""
    own = operations.arguments(operation)
    called = next((one for one in PARAMETERS.get(name, "").split() if one in own), None)
    hint = f"it is called {called} here, " if called else ""
    raise ArgumentTypeError(f"{operation}: there is no parameter '{name}'; {hint}see help(lw.{operation})")


def suggestion(name: str) -> str:
    """What an error about a name that the package does not have ends with."""
    return f"; it is called {FUNCTIONS[name]} here" if name in FUNCTIONS else ""
