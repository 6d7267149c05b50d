"""Names of NumPy and PyTorch that Lanewise does not have, and what error messages suggest in their place.

contracts/coming_from.yaml has complete examples of code in other libraries and in Lanewise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lanewise.errors import ArgumentTypeError
from lanewise.functions import operations

__all__ = ["FUNCTIONS", "HINTS", "PARAMETERS", "attribute_suggestion", "refuse_keyword", "suggestion"]

# Maps NumPy's and PyTorch's parameters to Lanewise's names; errors show the first name that the operation has.
PARAMETERS: Final[dict[str, str]] = {
    "a": "x x1 obj", "a_max": "max", "a_min": "min", "b": "x2", "ddof": "correction", "diagonal": "k", "dim": "axis",
    "dims": "axis axes repetitions", "input": "x x1 indices query", "keepdim": "keepdims", "M": "n_cols",
    "N": "n_rows", "negative_slope": "slope", "newshape": "shape", "other": "x2", "pad": "pad_width",
    "reps": "repetitions", "sections": "indices_or_sections", "shifts": "shift", "size": "shape",
    "sorted_sequence": "x1", "split_size_or_sections": "indices_or_sections", "steps": "num", "tensors": "arrays",
    "unbiased": "correction", "values": "x2",
}  # fmt: skip

# Functions and dtypes of NumPy and PyTorch, and Lanewise's names for them.
FUNCTIONS: Final[dict[str, str]] = {
    "amax": "max", "amin": "min", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "array": "asarray", "bitwise_not": "bitwise_invert",
    "bmm": "matmul", "cat": "concat", "double": "float64", "eq": "equal", "expit": "sigmoid", "fabs": "abs",
    "fix": "trunc", "float": "float32", "from_numpy": "asarray", "ge": "greater_equal", "gt": "greater",
    "half": "float16", "identity": "eye", "int": "int32", "invert": "bitwise_invert", "le": "less_equal",
    "left_shift": "bitwise_left_shift", "long": "int64", "lt": "less", "mm": "matmul", "mv": "matvec",
    "ne": "not_equal", "permute": "permute_dims", "power": "pow", "right_shift": "bitwise_right_shift",
    "rint": "round", "tensor": "asarray", "true_divide": "divide", "view": "reshape",
}  # fmt: skip

# What to use in place of functions without a single equivalent; several names can share a hint.
_TEXTS: Final[dict[str, str]] = {
    "atleast_1d atleast_2d": "use reshape",
    "cbrt": "use sign(x) * pow(abs(x), 1 / 3)",
    "choice": "draw indices with argsort(rand(n)), then use take",
    "chunk": "use split",
    "column_stack": "use stack(arrays, axis=1) for 1-D arrays, concat(arrays, axis=1) for 2-D ones",
    "complex64 complex128 imag": "there are no complex numbers; compute with their real and imaginary parts separately",
    "conj real": "all tensors are real: leave it out",
    "copy": "use x.copy(), or asarray(x, copy=True)",
    "count_nonzero": "use sum(x != 0)",
    "cumulative_prod": "use numpy.cumprod on x.numpy()",
    "device": 'use strings such as "cpu"; x.device is the device of a tensor',
    "diff": "use x[1:] - x[:-1] for 1-D arrays",
    "dstack": "use stack(arrays, axis=2) for 2-D arrays, concat(arrays, axis=2) for 3-D ones",
    "einsum": "use matmul, vecdot or outer, with permute_dims and expand_dims",
    "fliplr": "use flip(x, axis=1)",
    "flipud": "use flip(x, axis=0)",
    "frombuffer": "use asarray; for bytes of float32, asarray(memoryview(data).cast('f'))",
    "gather": "use take_along_axis",
    "glu": "use a * sigmoid(b) with a, b = split(x, 2, axis=-1)",
    "grad no_grad": "gradients are not supported",
    "hardtanh": "use clip(x, -1, 1)",
    "hstack": "use concat(arrays) for 1-D arrays, concat(arrays, axis=1) for others",
    "index_select": "use take(x, indices, axis=...)",
    "inv inverse svd qr det solve pinv cholesky matrix_rank": "use numpy.linalg on x.numpy()",
    "linalg": "use matmul, norm_l2 and eigh, which are functions of lanewise, or numpy.linalg on x.numpy()",
    "logsumexp": "use log(sum(exp(x - max(x)))) + max(x)",
    "ma": "masked arrays are not supported; use where",
    "manual_seed seed": "give seed=... to rand and randn; there is no global state",
    "masked_fill": "use where",
    "masked_select": "use x[mask]",
    "ndim": "use x.ndim",
    "nn": "relu, softmax, linear, conv2d and others are functions of lanewise",
    "normal": "use mean + std * randn(shape, seed=...)",
    "numel size": "use x.size",
    "one_hot": "use (expand_dims(indices, -1) == arange(n)).astype(lw.float32)",
    "ptp": "use max(x) - min(x)",
    "randint": "use floor(low + (high - low) * rand(shape, seed=...)).astype(int)",
    "random": "use rand(shape, seed=...) or randn(shape, seed=...); for a random choice, argsort(rand(n)) and take",
    "randperm": "use argsort(rand(n))",
    "save load": "use numpy.save(file, x.numpy()) and asarray(numpy.load(file)), or pickle",
    "scatter": "assign to x[indices]",
    "shape": "use x.shape",
    "swapaxes": "use permute_dims or moveaxis",
    "t": "use x.T",
    "uniform": "use low + (high - low) * rand(shape, seed=...)",
    "unique_values unique_counts unique_inverse": "use numpy.unique on x.numpy()",
    "vstack": "use stack(arrays) for 1-D arrays, concat(arrays) for others",
}
HINTS: Final[dict[str, str]] = {name: text for names, text in _TEXTS.items() for name in names.split()}
# What to use in place of attributes of PyTorch's tensors; these hints take precedence over FUNCTIONS and HINTS.
_ATTRIBUTES: Final[dict[str, str]] = {
    "add_ mul_ sub_ div_": "use +=, *=, -= or /=",
    "clone contiguous": "use copy()",
    "cpu": 'use to("cpu")',
    "cuda": 'use to("gpu")',
    "detach requires_grad": "tensors have no gradients: leave it out",
    "dim": "use ndim",
    "double float half int long type": "use astype",
    "expand": "use broadcast_to(x, shape)",
    "numel": "use size",
}
# Functions without an equivalent. The hint is to call numpy.NAME, which can read a tensor's memory.
_NUMPY_ONLY: Final = (
    "allclose append apply_along_axis argpartition argwhere array_equal average bincount convolve correlate cross "
    "cumprod delete diag diagonal digitize fft gradient histogram in1d inner insert interp intersect1d isclose isin "
    "kron lexsort median meshgrid nan_to_num nanmax nanmean nanmin nansum partition percentile polyfit quantile "
    "setdiff1d sinc tensordot trace union1d unique vander"
)


def refuse_keyword(operation: str, name: str) -> None:
    """Raises the error about a keyword that the operation does not have; its message names the equivalent, if any."""
    own = operations.arguments(operation)
    if (operation, name) == ("round", "decimals"):
        raise ArgumentTypeError("there is no parameter 'decimals'; write round(x * 10) / 10") from None
    names = "constant_values" if name == "value" else PARAMETERS.get(name, "")  # attention has its own 'value'
    called = next((one for one in names.split() if one in own), None)
    hint = f"it is called {called} here, " if called else ""
    raise ArgumentTypeError(f"there is no parameter '{name}'; {hint}see help(lw.{operation})") from None


def suggestion(name: str, public: Sequence[str]) -> str:
    """Returns what to append to the error about a name that `lanewise` does not have, whose public names are `public`:
    what to use instead, or ""."""
    if hint := _hint(name):
        return hint
    import difflib

    # A wrong guess is worse than none, so suggest only names that the user is likely to have meant.
    names = [known for known in (*public, *FUNCTIONS) if len(name) >= 4 and known[0] == name[0] != "_"]
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.8)
    return f"; did you mean {FUNCTIONS.get(close[0], close[0])}?" if close else ""


def attribute_suggestion(name: str) -> str:
    """Returns what to append to the error about an attribute in methods.MISSING, which tensors do not have."""
    return next((f"; {text}" for names, text in _ATTRIBUTES.items() if name in names.split()), _hint(name))


def _hint(name: str) -> str:
    if name in FUNCTIONS:
        return f"; it is called {FUNCTIONS[name]} here"
    if name in HINTS:
        return f"; {HINTS[name]}"
    return (
        f"; use numpy.{name} on x.numpy(), which shares the memory of a tensor on the CPU"
        if name in _NUMPY_ONLY.split()
        else ""
    )
