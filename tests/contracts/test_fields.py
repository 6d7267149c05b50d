"""Every field of a contract (contracts/*.yaml) is checked, wherever it stands: an unknown field or a value of a wrong
type raises ContractError, which names the contract, and never an exception such as TypeError."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from generator import load
from generator.fields import ContractError

CONTRACTS = Path(__file__).resolve().parents[2] / "contracts"
Place = tuple[str, ...]  # the keys that lead to a value; "*" is any index of a list, or any name in a field of NAMED
NAMED = {"inputs", "parameters", "laws", "backends", "domain"}  # fields that map names to sections

# Mappings whose keys the loader does not check.
FREE = {
    ("errors",),
    ("bench", "inputs"),
    ("bench", "inputs", "*"),
    ("bench", "keywords"),
    ("bench", "size"),
    ("measured", "fma", "with"),
    ("measured", "plain", "with"),
    *(("float64", "measured", group, "with") for group in ("all", "fma", "plain")),
}


def _values(container: Any, place: Place = ()) -> Iterator[tuple[Place, Any, Any]]:
    """Yields the place of each value in nested mappings and lists, the container that holds it and its key there."""
    for key, value in list(container.items() if isinstance(container, dict) else enumerate(container)):
        is_name = isinstance(container, list) or (place and place[-1] in NAMED)
        inner = (*place, "*" if is_name else str(key))
        yield inner, container, key
        if isinstance(value, dict | list):
            yield from _values(value, inner)


CONTENTS = {
    path.stem: load.read_yaml(path) for path in sorted(CONTRACTS.glob("*.yaml")) if path.name not in load.SHARED
}
KINDS = load.load_kinds(CONTRACTS)


def _places() -> dict[Place, tuple[str, Any]]:
    """Returns the place of every value, with an operation whose contract has this place, and the value there. If a
    place holds mappings in some contracts and other values in others, an operation with a mapping is chosen."""
    found: dict[Place, tuple[str, Any]] = {}
    for operation, content in CONTENTS.items():
        for place, container, key in _values(content):
            value = container[key]
            if place not in found or (isinstance(value, dict) and not isinstance(found[place][1], dict)):
                found[place] = operation, value
    return found


PLACES = _places()
MAPPINGS = [place for place, (_, value) in PLACES.items() if isinstance(value, dict)]


def _load_with(place: Place, new: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loads a contract that has this place, with a new value there."""
    operation, old = PLACES[place]
    content = deepcopy(CONTENTS[operation])
    holders = ((container, key) for found, container, key in _values(content) if found == place)
    container, key = next((container, key) for container, key in holders if repr(container[key]) == repr(old))
    container[key] = new
    monkeypatch.setattr(load, "read_yaml", lambda path: content)
    load.load_contract(CONTRACTS / f"{operation}.yaml", KINDS)


@pytest.mark.parametrize("place", [place for place in MAPPINGS if place not in FREE], ids=".".join)
def test_unknown_fields_are_refused(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    operation, mapping = PLACES[place]
    with pytest.raises(ContractError, match=rf"^contracts/{operation}\.yaml: .*\btypo\b"):
        _load_with(place, {**mapping, "typo": 1}, monkeypatch)


@pytest.mark.parametrize("place", sorted(FREE), ids=".".join)
def test_free_names_are_accepted(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    _load_with(place, {**PLACES[place][1], "typo": 1}, monkeypatch)


@pytest.mark.parametrize("place", PLACES, ids=".".join)
def test_values_of_a_wrong_type_are_errors_of_the_contract(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in (None, True, 7, -0.5, "text", [], [7], ["text"], [[7]], {}, {"text": 7}, {7: "text"}):
        with suppress(ContractError):  # or no error, where the value is valid; any other exception fails the test
            _load_with(place, wrong, monkeypatch)
