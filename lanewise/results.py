"""Results of several tensors: a named tuple for each operation that has them.

The extension makes them through a hook of dispatch.py, which imports this module with the first of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from lanewise._ext import Tensor

__all__ = ["BY_OPERATION", "EighResult", "TopkResult"]


class EighResult(NamedTuple):
    """What eigh returns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class TopkResult(NamedTuple):
    """What topk returns."""

    values: Tensor
    indices: Tensor


BY_OPERATION: Final[Mapping[str, Callable[..., Any]]] = {"eigh": EighResult}
