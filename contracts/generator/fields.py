"""Reads a YAML mapping field by field. Errors name the file and the entry, what was expected and what was found."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import yaml

Record = TypeVar("Record")
_hints: Callable[[type], dict[str, Any]] = cache(get_type_hints)  # which compiles each annotation

NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
ABSENT: Any = object()


class ContractError(Exception):
    """A contract is invalid. The message names the file and what to change."""


class _StrictLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # in C where PyYAML has it
    """Refuses duplicate keys; SafeLoader would silently use the last value."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.YAMLError(
                    f"expected each key once, got {key.value!r} again in line {key.start_mark.line + 1}; remove one"
                )
            seen.add(key.value)
        constructed: dict[Any, Any] = super().construct_mapping(node, deep)
        return constructed


def read_yaml(path: Path) -> dict[str, Any]:
    """Returns the mapping in a YAML file."""
    where = f"contracts/{path.name}"
    try:
        raw = yaml.load(path.read_text(encoding="utf-8"), Loader=_StrictLoader)
    except FileNotFoundError:
        raise ContractError(f"{where}: expected a file in {path.parent}, got none") from None
    except (yaml.YAMLError, UnicodeDecodeError) as problem:
        raise ContractError(f"{where}: {problem}") from None
    if not isinstance(raw, dict):
        raise ContractError(f"{where}: expected 'key: value' lines, got {raw!r:.40}")
    return raw


class Fields:
    """A mapping whose fields are read one by one; finish() refuses fields that were never read."""

    def __init__(self, raw: Any, where: str, entry: str = "") -> None:
        self.where = where
        self.entry = entry
        if not isinstance(raw, Mapping):
            raise self.error(f"expected a mapping, {{key: value, ...}}, got {raw!r}")
        self._raw = dict(raw)
        self._known: list[str] = []

    def __contains__(self, key: str) -> bool:
        return key in self._raw

    def peek(self, key: str) -> Any:
        """Returns the value of a field, None if there is none, without reading it."""
        return self._raw.get(key)

    def error(self, message: str) -> ContractError:
        return ContractError(f"{self.where}: {self.entry + ': ' if self.entry else ''}{message}")

    def value(self, key: str, default: Any = ABSENT) -> Any:
        self._known.append(key)
        if key in self._raw:
            return self._raw.pop(key)
        if default is ABSENT:
            raise self.error(f"expected field {key}, got none; add it")
        return default

    def text(self, key: str, default: Any = ABSENT) -> Any:
        value = self.value(key, default)
        if value is not default and not isinstance(value, str):
            raise self.error(f"expected {key} to be text, got {value!r}; quote it")
        return value.strip() if isinstance(value, str) else value

    def sentence(self, key: str) -> str:
        value: str = self.text(key)
        if not value.endswith(".") or "\n" in value:
            raise self.error(f"expected {key} to be one sentence on one line, ending in a period, got {value!r}")
        return value

    def name(self, key: str) -> str:
        value: str = self.text(key)
        if not NAME.match(value):
            raise self.error(f"expected {key} to be a lower-case name, got {value!r}")
        return value

    def names(self, key: str) -> tuple[str, ...]:
        value = self.value(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) and NAME.match(each) for each in value):
            raise self.error(f"expected {key} to be a list of lower-case names, got {value!r}")
        return tuple(value)

    def choice(self, key: str, choices: tuple[str, ...], default: Any = ABSENT) -> Any:
        value = self.text(key, default)
        if value is not default and value not in choices:
            raise self.error(f"expected {key} to be one of {', '.join(choices)}, got {value!r}")
        return value

    def flag(self, key: str, default: Any = ABSENT) -> bool:
        value = self.value(key, default)
        if not isinstance(value, bool):
            raise self.error(f"expected {key} to be true or false, got {value!r}")
        return value

    def number(self, key: str) -> float:
        value = self.value(key)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            hint = "; YAML requires a decimal point, 1.0e-6" if isinstance(value, str) else ""
            raise self.error(f"expected {key} to be a number, got {value!r}{hint}")
        return value

    def mapping(self, key: str) -> dict[Any, Any]:
        value = self.value(key, {})
        if not isinstance(value, dict):
            raise self.error(f"expected {key} to be a mapping, {{key: value, ...}}, got {value!r}")
        return dict(value)

    def texts(self, key: str) -> dict[str, str]:
        return {str(name): str(text) for name, text in self.mapping(key).items()}

    def record(self, kind: type[Record], /, **given: Any) -> Record:
        """Returns a dataclass of `given`, and of the fields that have the names of its other members; then finishes.

        A member's annotation says which values its field may have, and its default stands for a missing field.
        """
        hints = _hints(kind)
        for member in fields(kind):  # type: ignore[arg-type] # no public type covers every dataclass
            key = member.name
            if key in given:
                continue
            if key not in self and member.default is not MISSING:
                given[key] = self.value(key, member.default)
                continue
            optional = get_origin(hints[key]) in (Union, UnionType)
            hint = get_args(hints[key])[0] if optional else hints[key]  # X of X | None
            is_choice = get_origin(hint) is Literal
            given[key] = self.choice(key, get_args(hint)) if is_choice else _READERS[hint](self, key)
        self.finish()
        return kind(**given)

    def section(self, key: str) -> Fields | None:
        return Fields(self.value(key), self.where, key) if key in self else None

    def sections(self, key: str) -> Iterator[tuple[str, Fields]]:
        """Yields the entries of a mapping of mappings, each with its name."""
        for name, raw in self.mapping(key).items():
            if not isinstance(name, str) or not NAME.match(name):
                raise self.error(f"expected {key} to have lower-case names, got {name!r}")
            yield name, Fields(raw, self.where, f"{key}: {name}")

    def rows(self, key: str) -> Iterator[Fields]:
        """Yields the entries of a list of mappings."""
        value = self.value(key, [])
        if not isinstance(value, list):
            raise self.error(f"expected {key} to be a list of {{key: value, ...}}, got {value!r}")
        for number, raw in enumerate(value, 1):
            yield Fields(raw, self.where, f"{key}: row {number}")

    def finish(self) -> None:
        if self._raw:
            key = next(iter(self._raw))
            raise self.error(f"expected only the fields {', '.join(self._known)}, got {key!r}; remove it")


_READERS: Mapping[Any, Callable[[Fields, str], Any]] = {
    bool: Fields.flag,
    int: lambda section, key: int(section.number(key)),
    float: Fields.number,
    str: Fields.text,
    tuple[str, ...]: Fields.names,
    Mapping[str, str]: Fields.texts,
}
