"""Reading one YAML mapping field by field, with errors that say which file, which entry and what was wanted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
ABSENT: Any = object()


class ContractError(Exception):
    """A contract that cannot be used. The message names the file and what to do."""


class _StrictLoader(yaml.SafeLoader):
    """YAML in which a key that is written twice is an error and not a silent loss."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.YAMLError(f"line {key.start_mark.line + 1}: {key.value!r} is written twice")
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping that a file holds."""
    where = f"contracts/{path.name}"
    try:
        raw = yaml.load(path.read_text(encoding="utf-8"), Loader=_StrictLoader)
    except FileNotFoundError:
        raise ContractError(f"{where}: not found; is {path.parent} the contracts folder?") from None
    except (yaml.YAMLError, UnicodeDecodeError) as problem:
        raise ContractError(f"{where}: {problem}") from None
    if not isinstance(raw, dict):
        raise ContractError(f"{where}: must hold 'key: value' lines")
    return raw


class Fields:
    """A mapping from which each field is taken once; finish() complains about what nobody took."""

    def __init__(self, raw: Any, where: str, entry: str = "") -> None:
        self.where = where
        self.entry = entry
        if not isinstance(raw, Mapping):
            raise self.error(f"is {raw!r}; must be a mapping, {{key: value, ...}}")
        self._raw = dict(raw)
        self._known: list[str] = []

    def __contains__(self, key: str) -> bool:
        return key in self._raw

    def error(self, message: str) -> ContractError:
        return ContractError(f"{self.where}: {self.entry + ': ' if self.entry else ''}{message}")

    def value(self, key: str, default: Any = ABSENT) -> Any:
        self._known.append(key)
        if key in self._raw:
            return self._raw.pop(key)
        if default is ABSENT:
            raise self.error(f"{key} is missing")
        return default

    def text(self, key: str, default: Any = ABSENT) -> Any:
        value = self.value(key, default)
        if value is not default and value is not None and not isinstance(value, str):
            raise self.error(f"{key} is {value!r}; must be text (quote it)")
        return value.strip() if isinstance(value, str) else value

    def sentence(self, key: str) -> str:
        value: str = self.text(key)
        if not value.endswith(".") or "\n" in value:
            raise self.error(f"{key} must be one sentence on one line, with its full stop")
        return value

    def name(self, key: str) -> str:
        value: str = self.text(key)
        if not NAME.match(value):
            raise self.error(f"{key} is {value!r}; must be a lower-case name")
        return value

    def names(self, key: str) -> tuple[str, ...]:
        value = self.value(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) and NAME.match(each) for each in value):
            raise self.error(f"{key} is {value!r}; must be a list of lower-case names")
        return tuple(value)

    def choice(self, key: str, choices: tuple[str, ...]) -> str:
        value: str = self.text(key)
        if value not in choices:
            raise self.error(f"unknown {key} {value!r}; one of {', '.join(choices)}")
        return value

    def flag(self, key: str, default: Any = ABSENT) -> bool:
        value = self.value(key, default)
        if not isinstance(value, bool):
            raise self.error(f"{key} is {value!r}; must be true or false")
        return value

    def number(self, key: str, default: Any = ABSENT) -> float:
        value = self.value(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            hint = "; YAML wants a point before the exponent, 1.0e-6" if isinstance(value, str) else ""
            raise self.error(f"{key} is {value!r}; must be a number{hint}")
        return value

    def mapping(self, key: str) -> dict[Any, Any]:
        value = self.value(key, {})
        if not isinstance(value, dict):
            raise self.error(f"{key} is {value!r}; must be a mapping, {{key: value, ...}}")
        return dict(value)

    def section(self, key: str) -> Fields | None:
        return Fields(self.value(key), self.where, key) if key in self else None

    def sections(self, key: str, any_name: bool = False) -> Iterator[tuple[str, Fields]]:
        """The named entries of a mapping of mappings."""
        for name, raw in self.mapping(key).items():
            if not isinstance(name, str) or not (any_name or NAME.match(name)):
                raise self.error(f"{key} names {name!r}; must be a lower-case name")
            yield name, Fields(raw, self.where, f"{key}: {name}")

    def rows(self, key: str) -> Iterator[Fields]:
        """The entries of a list of mappings."""
        value = self.value(key, [])
        if not isinstance(value, list):
            raise self.error(f"{key} is {value!r}; must be a list of {{key: value, ...}}")
        for number, raw in enumerate(value, 1):
            yield Fields(raw, self.where, f"{key}: row {number}")

    def finish(self) -> None:
        if self._raw:
            key = next(iter(self._raw))
            raise self.error(f"unknown field {key!r}; one of {', '.join(self._known)}")
