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
    **{name: f"{name}(a)" for name in ("abs", "sqrt", "exp", "expm1", "log", "log10", "log1p", "sin", "cos", "tan")},
    **{name: f"{name}(a)" for name in ("sinh", "cosh", "tanh", "floor", "ceil")},
    **{name: f"arc{name[1:]}(a)" for name in ("asin", "acos", "atan")},
    "atan2": "arctan2(a, b)",
    "add": "a + b",
    "subtract": "a - b",
    "multiply": "a * b",
    "divide": "a / b",
    "remainder": "a % b",
    "pow": "a ** b",
    "equal": "a == b",
    "not_equal": "a != b",
    "less": "a < b",
    "less_equal": "a <= b",
    "greater": "a > b",
    "greater_equal": "a >= b",
    "negative": "-a",
    "square": "a * a",
    "fma": "a * b + c",
    "where": "where(a, b, c)",
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
        if expression is None or any(item.dtype not in TYPES for item in case.inputs):
            return None
        signature = [(name, TYPES[item.dtype]) for name, item in zip("abc", case.inputs, strict=False)]
        compiled: Callable[..., Any] = numexpr.NumExpr(expression, signature)
        return compiled
