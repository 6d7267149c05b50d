"""Names of NumPy and PyTorch that are different or missing here, so that errors can say what to use.

contracts/coming_from.yaml has complete examples of code in other libraries and in Lanewise.
"""

from __future__ import annotations

from typing import Final

from lanewise import operations
from lanewise.errors import ArgumentTypeError

__all__ = ["FUNCTIONS", "PARAMETERS", "refuse_keyword", "suggestion"]

# From their parameters to ours: the first of these that the operation has.
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

# From their functions and dtypes to ours.
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
}

# What to use in place of functions without a single equivalent.
HINTS: Final[dict[str, str]] = {
    "atleast_1d": "use reshape",
    "atleast_2d": "use reshape",
    "choice": "draw indices with argsort(rand(n)), then use take",
    "chunk": "use split",
    "column_stack": "use stack(arrays, axis=1) for 1-D arrays, concat(arrays, axis=1) for 2-D ones",
    "count_nonzero": "use sum(x != 0)",
    "diff": "use x[1:] - x[:-1] for 1-D arrays",
    "dstack": "use stack(arrays, axis=2) for 2-D arrays, concat(arrays, axis=2) for 3-D ones",
    "einsum": "use matmul, vecdot or outer, with permute_dims and expand_dims",
    "fliplr": "use flip(x, axis=1)",
    "flipud": "use flip(x, axis=0)",
    "gather": "use take_along_axis",
    "grad": "gradients are not supported",
    "hstack": "use concat(arrays) for 1-D arrays, concat(arrays, axis=1) for others",
    "linalg": "use matmul, norm_l2 and eigh, which are functions of lanewise, or numpy.linalg on x.numpy()",
    "logsumexp": "use log(sum(exp(x - max(x)))) + max(x)",
    "masked_fill": "use where",
    "nn": "relu, softmax, linear, conv2d and others are functions of lanewise",
    "normal": "use mean + std * randn(shape, seed=...)",
    "ptp": "use max(x) - min(x)",
    "randint": "use floor(low + (high - low) * rand(shape, seed=...)).astype(int)",
    "random": "use rand(shape, seed=...) or randn(shape, seed=...); for a random choice, argsort(rand(n)) and take",
    "randperm": "use argsort(rand(n))",
    "swapaxes": "use permute_dims or moveaxis",
    "uint8": "asarray reads arrays of uint8 as int32",
    "uniform": "use low + (high - low) * rand(shape, seed=...)",
    "vstack": "use stack(arrays) for 1-D arrays, concat(arrays) for others",
}
# Functions that Lanewise does not have; numpy.NAME works on the memory of a tensor.
_NUMPY_ONLY: Final = (
    "allclose append apply_along_axis argpartition argwhere array_equal average bincount convolve correlate cross "
    "cumprod diag diagonal digitize fft gradient histogram in1d inner interp intersect1d isclose isin kron lexsort "
    "median meshgrid nan_to_num nanmax nanmean nanmin nansum partition percentile polyfit quantile setdiff1d tensordot "
    "trace union1d unique vander"
)


def refuse_keyword(operation: str, name: str) -> None:
    """Raises the error about a keyword that the operation does not have, naming the one it has instead."""
    own = operations.arguments(operation)
    called = next((one for one in PARAMETERS.get(name, "").split() if one in own), None)
    hint = f"it is called {called} here, " if called else ""
    raise ArgumentTypeError(f"{operation}: there is no parameter '{name}'; {hint}see help(lw.{operation})")


def suggestion(name: str) -> str:
    """Returns the end of the error about a name that `lanewise` does not have: what to use instead, or ""."""
    if name in FUNCTIONS:
        return f"; it is called {FUNCTIONS[name]} here"
    if name in HINTS:
        return f"; {HINTS[name]}"
    if name in _NUMPY_ONLY.split():
        return f"; use numpy.{name} on x.numpy(), which shares its memory"
    import difflib

    import lanewise

    close = (
        []
        if name.startswith("_")
        else difflib.get_close_matches(name, [*lanewise.__all__, *FUNCTIONS], n=1, cutoff=0.7)
    )
    return f"; did you mean {FUNCTIONS.get(close[0], close[0])}?" if close else ""
