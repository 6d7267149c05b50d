"""Reads two files that contracts/generate.py makes from the contracts: operations.json in lanewise/_lib/, and
build/generated/bench.json.

From them, cases.py makes the inputs of the benchmark. Nothing here needs NumPy.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from lanewise.dtypes import as_dtype
from lanewise.errors import ArgumentError, LibraryError
from lanewise.typeinfo import can_cast

CASES = Path(__file__).resolve().parents[2] / "build" / "generated" / "bench.json"  # the `bench:` fields of contracts


@dataclass(frozen=True)
class Range:
    """The domain of an input: the values that it may have."""

    low: float
    high: float
    exclude_zero: bool = False
    whole: bool = False  # whether tests draw from all of it; the benchmark does not


@dataclass(frozen=True)
class Input:
    """A tensor argument."""

    name: str
    dtype: str | None  # the dtype that the contract fixes; None for the dtype that the operation computes in
    optional: bool
    sequence: bool  # a sequence of tensors


@dataclass(frozen=True)
class Operation:
    """A public operation, as its contract describes it."""

    name: str
    kind: str
    inputs: tuple[Input, ...]
    dtypes: Mapping[str, str]  # dtype computed in -> result dtype; `any: same` if the operation only moves data
    domain: Mapping[str, Mapping[str, Range]]  # input -> dtype computed in ("": all others) -> range
    aliases: tuple[str, ...]
    kernels: Mapping[str, str]  # dtype computed in -> kernel, of the first variant if there are several; may be empty
    bench: Mapping[str, Any] = field(default_factory=dict)  # how to make inputs, if cases.KINDS does not fit

    @property
    def dtype(self) -> str:
        """The dtype that is measured if the user names none."""
        return "float32" if "float32" in self.dtypes or "any" in self.dtypes else next(iter(self.dtypes), "float32")

    def accepts(self, dtype: str) -> bool:
        """Returns whether inputs may have this dtype."""
        return not self.dtypes or self._computed(dtype) is not None

    def result(self, dtype: str) -> str:
        """Returns the dtype of the result of inputs in `dtype`."""
        if all(result in (computed, "same") for computed, result in self.dtypes.items()):
            return dtype
        return self.dtypes.get(self._computed(dtype) or dtype, dtype)

    def _computed(self, dtype: str) -> str | None:
        """Returns the dtype that inputs are computed in: `dtype`, or if that is only stored, a larger one of its class,
        such as float32 for float16."""
        if dtype in self.dtypes or "any" in self.dtypes:
            return dtype
        kinds = {"i": "iu", "u": "iu"}.get(kind := as_dtype(dtype).kind, kind)
        larger = (each for each in self.dtypes if as_dtype(each).kind in kinds and can_cast(dtype, each))
        return next(larger, None)

    def range(self, name: str, dtype: str) -> Range | None:
        """Returns the domain of an input when computing in `dtype`, or None if the contract has none."""
        by_dtype = self.domain.get(name, {})
        return by_dtype.get(self._computed(dtype) or dtype, by_dtype.get(""))


@cache
def load() -> Mapping[str, Operation]:
    """Returns every public operation by its canonical name."""
    path = files("lanewise") / "_lib" / "operations.json"
    try:
        described = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LibraryError(f"bench: {path} is missing; install lanewise again, or run native/build.py") from None
    bench = json.loads(CASES.read_text(encoding="utf-8"))
    return {entry["name"]: _operation(entry, bench.get(entry["name"], {})) for entry in described["operations"]}


def kinds() -> dict[str, list[str]]:
    """Returns the names of the operations of each kind."""
    grouped: dict[str, list[str]] = {}
    for operation in load().values():
        grouped.setdefault(operation.kind, []).append(operation.name)
    return grouped


def find(name: str) -> Operation:
    """Returns the operation of this name or alias. If there is none, raises ArgumentError with similar names."""
    operations = load()
    names = {alias: operation for operation in operations.values() for alias in operation.aliases} | dict(operations)
    if name in names:
        return names[name]
    near = difflib.get_close_matches(name, names, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(sorted(operations))}"
    raise ArgumentError(f"bench: there is no operation {name!r}; {hint}")


def _operation(entry: Mapping[str, Any], bench: Mapping[str, Any]) -> Operation:
    return Operation(
        name=entry["name"],
        kind=entry["kind"],
        inputs=tuple(Input(**item) for item in entry["inputs"]),
        dtypes=entry["dtypes"],
        domain={
            name: {dtype: Range(**within) for dtype, within in by_dtype.items()}
            for name, by_dtype in entry["domain"].items()
        },
        aliases=tuple(entry["aliases"]),
        kernels=next(iter(entry["kernels"]), {}),
        bench=bench,
    )
