"""What the contracts say about operations, for the slow path of calls (dispatch.py).

Read from lanewise/_lib/operations.json, which the build writes, when it is first needed. The hot path has the
same in the extension.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from lanewise import libraries
from lanewise.dtypes import DType, as_dtype

__all__ = ["Input", "arguments", "inputs", "names"]


class Input(NamedTuple):
    """A tensor argument: its name, and its dtype where the contract fixes one."""

    name: str
    dtype: DType | None


@cache
def _table() -> dict[str, dict[str, Any]]:
    import json

    described = json.loads((libraries.DIRECTORY / "operations.json").read_text(encoding="utf-8"))["operations"]
    return {one["name"]: one for one in described}


def names() -> tuple[str, ...]:
    """The operations there are, without their aliases."""
    return tuple(_table())


def arguments(operation: str) -> tuple[str, ...]:
    """The names of an operation's inputs and parameters."""
    described = _table()[operation]
    return tuple(one["name"] for one in (*described["inputs"], *described["parameters"]))


@cache
def inputs(operation: str) -> tuple[Input, ...]:
    """The tensor arguments of an operation, in order."""
    described = _table()[operation]["inputs"]
    return tuple(Input(one["name"], as_dtype(one["dtype"]) if one.get("dtype") else None) for one in described)
