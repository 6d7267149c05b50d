"""numexpr: each operation as an expression, compiled once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numexpr
import numpy as np

from tests.bench.peers import Peer, on_threads
from tests.cases.cases import Case

# The type by which numexpr denotes each dtype: its `float` is float32.
TYPES = {"bool": bool, "int32": np.int32, "int64": np.int64, "float32": float, "float64": np.float64}

# The inputs are a, b and c, in the order of the contract. Reductions are left out, because numexpr does not compute
# those of float32 in float32.
EXPRESSIONS: Mapping[str, str] = {
    "add": "a + b",
    "subtract": "a - b",
    "multiply": "a * b",
    "divide": "a / b",
    "remainder": "a % b",
    "pow": "a ** b",
    "negative": "-a",
    "square": "a * a",
    "abs": "abs(a)",
    "sqrt": "sqrt(a)",
    "exp": "exp(a)",
    "expm1": "expm1(a)",
    "log": "log(a)",
    "log10": "log10(a)",
    "log1p": "log1p(a)",
    "sin": "sin(a)",
    "cos": "cos(a)",
    "tan": "tan(a)",
    "asin": "arcsin(a)",
    "acos": "arccos(a)",
    "atan": "arctan(a)",
    "sinh": "sinh(a)",
    "cosh": "cosh(a)",
    "tanh": "tanh(a)",
    "floor": "floor(a)",
    "ceil": "ceil(a)",
    "atan2": "arctan2(a, b)",
    "fma": "a * b + c",
    "where": "where(a, b, c)",
    "equal": "a == b",
    "not_equal": "a != b",
    "less": "a < b",
    "less_equal": "a <= b",
    "greater": "a > b",
    "greater_equal": "a >= b",
    "relu": "where(a > 0, a, 0)",
    "sigmoid": "1 / (1 + exp(-a))",
    "silu": "a / (1 + exp(-a))",
    "softplus": "log1p(exp(a))",
}


class NumexprPeer(Peer):
    """Elementwise operations as expressions."""

    name = "numexpr"

    def __init__(self, threads: int) -> None:
        numexpr.set_num_threads(threads)
        self.settings = f"numexpr {numexpr.__version__}, {on_threads(threads)}"

    def function(self, case: Case) -> Callable[..., Any] | None:
        """Returns the expression, compiled for the dtypes."""
        expression = EXPRESSIONS.get(case.operation.name)
        if expression is None:
            return None
        signature = [(name, TYPES[item.dtype]) for name, item in zip("abc", case.inputs, strict=False)]
        compiled: Callable[..., Any] = numexpr.NumExpr(expression, signature)
        return compiled
