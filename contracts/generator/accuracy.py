"""Reads and compares two fields of a contract: `tolerance` (the errors allowed) and `measured` (the largest found).

Those of float64 are in a section of its name.
"""

from __future__ import annotations

from typing import Any

from .fields import Fields
from .schema import GROUPS, MEASURES, Accuracy, Bound, Contract, Measured, Tolerance, Worst

GPU_BACKENDS = ("cuda", "wgpu")
LARGEST_MARGIN = 1.5  # the tolerance is at most this many times the largest measured error
FEWEST_DRAWS = 1000  # a measurement must compare at least this many results
REMEDY = "run: python tests/native/measure.py --write"


SECTIONS = ("float64",)  # computed dtypes with a tolerance of their own


def accuracies(fields: Fields, computed: tuple[str, ...]) -> dict[str, Accuracy]:
    """Returns the errors by computed dtype; "" stands for the dtypes without a section of their own."""
    found = {"": Accuracy(_tolerance(fields), _measured(fields))}
    for dtype in SECTIONS:
        section = fields.section(dtype)
        if (section is not None) != (dtype in computed and not found[""].tolerance.bound.is_exact):
            raise fields.error(
                f"expected a section {dtype} if the operation has a tolerance and computes in {dtype}, and only then"
            )
        if section is not None:
            found[dtype] = section.record(Accuracy, tolerance=_tolerance(section), measured=_measured(section))
    return found


def _tolerance(fields: Fields) -> Tolerance:
    """Returns the field `tolerance`; without it, results must equal the reference, rounded once to their dtype."""
    section = fields.section("tolerance")
    if section is None:
        return Tolerance(Bound(), {})
    backends = {}
    for name, raw in section.mapping("backends").items():
        each = Fields(raw, fields.where, f"tolerance of {name}")
        if name not in GPU_BACKENDS:
            raise each.error(
                f"expected a GPU backend ({', '.join(GPU_BACKENDS)}), got {name!r}; CPU backends share one tolerance"
            )
        backends[str(name)] = each.record(Bound, why=each.text("why"))
    return Tolerance(section.record(Bound, why=""), backends)


def _measured(fields: Fields) -> Measured | None:
    """Returns the field `measured`, or None without it."""
    section = fields.section("measured")
    if section is None:
        return None
    names = [name for name in ("all", *GROUPS) if name in section]
    worst = {name: _worst(Fields(section.value(name), fields.where, f"measured: {name}")) for name in names}
    if names != ["all"] and ("all" in names or not {"fma", "plain"} <= set(names)):
        raise section.error(
            f"expected either field 'all' or fields 'fma' and 'plain', got {', '.join(names) or 'none'}; {REMEDY}"
        )
    return section.record(Measured, worst=worst)


def check(contract: Contract) -> None:
    """Checks the errors of every dtype."""
    for dtype, each in contract.accuracies.items():
        _check(contract, dtype, each)


def _check(contract: Contract, dtype: str, accuracy: Accuracy) -> None:
    """Checks that `measured` is complete and the tolerance is 1 to LARGEST_MARGIN times the largest error in it."""
    allowed, found = accuracy.tolerance.bound, accuracy.measured
    remedy = f"{REMEDY} {contract.operation}{dtype and '.'}{dtype}"
    if allowed.is_exact:
        if found:
            raise contract.error("expected no `measured` beside a tolerance of 0, got one; remove it")
        return
    if found is None:
        raise contract.error(f"expected `measured` beside tolerance, got none; {remedy}")
    every_float = contract.is_unary and not dtype
    if every_float != (found.draws is None):
        number = "draws, the number of results compared"
        expected = "no draws, because every float is measured" if every_float else number
        raise contract.error(f"measured: expected {expected}, got {found.draws or 'none'}; {remedy}")
    if found.draws is not None and found.draws < FEWEST_DRAWS:
        raise contract.error(f"measured: expected at least {FEWEST_DRAWS} draws, got {found.draws}; {remedy}")
    for measure in MEASURES:
        limit = getattr(allowed, measure)
        sizes = [getattr(each.bound, measure) for each in found.worst.values()]
        if any((size == 0) != (limit == 0) for size in sizes):
            raise contract.error(
                f"expected {measure} in both tolerance and measured or in neither, got it in one; {remedy}"
            )
        if not max(sizes) <= limit <= LARGEST_MARGIN * max(sizes):
            raise contract.error(
                f"expected a tolerance of 1 to {LARGEST_MARGIN} times {max(sizes):g}, the largest {measure} measured, "
                f"got {limit:g}; change the tolerance or, if the code changed, {remedy}",
            )


def _worst(fields: Fields) -> Worst:
    at = fields.value("at")
    numbers = [at] if isinstance(at, (int, float)) else at
    if not isinstance(at, str) and not (
        isinstance(numbers, list) and numbers and all(isinstance(each, (int, float)) for each in numbers)
    ):
        raise fields.error(f"expected field 'at' to be a number, a list of numbers or a case's name, got {at!r}")
    place: Any = at if isinstance(at, str) else tuple(map(float, numbers))
    parameters = fields.mapping("with")
    return Worst(fields.record(Bound, why=""), place, parameters)
