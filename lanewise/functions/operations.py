"""The inputs and parameters of operations, for calls that the extension passes on to Python (dispatch.py).

They are read at first use from lanewise/_lib/operations.json, which the build writes from the contracts. The extension
has the same data compiled in.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from lanewise.backends import libraries
from lanewise.dtypes import DType, as_dtype

__all__ = ["Input", "arguments", "inputs", "names"]


class Input(NamedTuple):
    """A tensor argument: its name, and its dtype if the contract fixes one."""

    name: str
    dtype: DType | None


@cache
def _table() -> dict[str, dict[str, Any]]:
    import json

    described = json.loads((libraries.DIRECTORY / "operations.json").read_text(encoding="utf-8"))["operations"]
    return {one["name"]: one for one in described}


def names() -> tuple[str, ...]:
    """Returns the names of all operations, without their aliases."""
    return tuple(_table())


def arguments(operation: str) -> tuple[str, ...]:
    """Returns the names of an operation's inputs and parameters."""
    described = _table()[operation]
    return tuple(one["name"] for one in (*described["inputs"], *described["parameters"]))


@cache
def inputs(operation: str) -> tuple[Input, ...]:
    """Returns the tensor arguments of an operation, in order."""
    described = _table()[operation]["inputs"]
    return tuple(Input(one["name"], as_dtype(one["dtype"]) if one.get("dtype") else None) for one in described)
