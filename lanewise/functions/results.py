"""Named tuples for operations that return several tensors.

sorting.py creates TopkResult. The extension creates EighResult through dispatch.several(), which uses BY_OPERATION.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from lanewise._ext import Tensor

__all__ = ["BY_OPERATION", "EighResult", "TopkResult"]


class EighResult(NamedTuple):
    """The result of eigh."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class TopkResult(NamedTuple):
    """The result of topk."""

    values: Tensor
    indices: Tensor


BY_OPERATION: Final[Mapping[str, Callable[..., Any]]] = {"eigh": EighResult}
