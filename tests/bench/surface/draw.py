"""Draws what the arguments of a cell are: sizes, shapes, layouts, dtypes and elements."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log, prod

from tests.cases.cases import Argument, Literal, Viewed
from tests.cases.inputs import ITEM_BYTES, HostArray, Shape, draw
from tests.cases.operations import Operation, Range

SMALLEST, LARGEST = 1e5, 3e8  # bytes of an operand, but for `few numbers`
FEW = 1000
SHORT, BETWEEN = (2, 32), (33, 512)  # extents of the short side of a matrix
DTYPES = {"float32": 8, "float64": 4, "int32": 2, "int64": 2, "uint8": 2}  # dtype -> weight; others have 1

LAYOUTS = ("contiguous", "transposed", "strided", "reversed", "rows of a larger array")
PLAIN = 0.5  # the share of contiguous operands


@dataclass(frozen=True)
class Drawn:
    """The arguments of a call."""

    dtype: str
    arguments: Sequence[Argument]
    keywords: Mapping[str, Literal] = field(default_factory=dict)
    call: str = ""  # as in cases.Case
    flops: int | None = None


class Draw:
    """A stream of random choices."""

    def __init__(self, seed: str, largest: float = LARGEST) -> None:
        self.random = random.Random(seed)
        self.choice = self.random.choice
        self._largest = largest
        self.scale = largest / LARGEST  # what bounds numbers of elements is multiplied by

    def chance(self, probability: float) -> bool:
        """Returns whether something happens that has this probability."""
        return self.random.random() < probability

    def extent(self, low: float, high: float) -> int:
        """Draws a whole number whose logarithm is uniformly distributed."""
        return max(1, round(exp(self.random.uniform(log(low), log(high)))))

    def dtype(self, operation: Operation, among: Sequence[str] = tuple(ITEM_BYTES)) -> str:
        """Draws a dtype that the operation accepts. Operations without dtypes in their contract accept all."""
        accepted = [name for name in among if operation.accepts(name)]
        return self.random.choices(accepted, [DTYPES.get(name, 1) for name in accepted])[0]

    def count(self, dtype: str, most: float = LARGEST) -> int:
        """Draws how many elements an operand has."""
        return self.extent(SMALLEST, min(most, self._largest)) // ITEM_BYTES[dtype]

    def shape(self, dtype: str, most: float = LARGEST, *, rows: bool = False) -> Shape:
        """Draws a shape, with `rows` of at least two dimensions."""
        name = self.choice(("few", "vector", "short rows", "long rows", "square", "tall", "wide", "middle", "deep"))
        if name == "few":
            columns = self.extent(1, FEW)
            return (self.extent(1, FEW / columns), columns) if rows else (columns,)
        count = self.count(dtype, most)
        if name == "vector" and not rows:
            return (count,)
        if name == "middle":
            outer, inner = self.extent(2, 128), self.extent(1, 128)
            return (outer, max(count // (outer * inner), 1), inner)
        if name == "deep":
            edge = max(round(count**0.25), 1)
            return (edge, edge, edge, edge)
        side = {
            "short rows": max(count // self.extent(*SHORT), 1),
            "long rows": self.extent(2, 8),
            "tall": max(count // self.extent(*BETWEEN), 1),
            "wide": self.extent(*BETWEEN),
        }.get(name, max(round(count**0.5), 1))
        return (side, max(count // side, 1))

    def axis(self, shape: Shape) -> int:
        """Draws an axis: the last one in half of all cases."""
        return -1 if self.chance(0.5) else self.random.randrange(len(shape))

    def array(
        self,
        operation: Operation,
        name: str,
        dtype: str,
        shape: Shape,
        *,
        layout: str = "",
        within: Range | None = None,
        spread: bool = False,
    ) -> Argument:
        """Draws the elements of an operand, from its domain or `within`, and its layout unless that is given;
        cases.inputs.draw has `spread`."""
        inputs = {each.name: each for each in operation.inputs}
        given = inputs[name].dtype if name in inputs else None
        within = within or operation.range(name, dtype)
        seed = list(inputs).index(name) if name in inputs else 0
        inner, axes, index = _lay(shape, layout or self.layout(shape))
        made = draw(given or dtype, inner, within, seed, spread=spread)
        return Viewed(made, axes, index) if axes or index else made

    def layout(self, shape: Shape) -> str:
        """Draws a layout that an operand of this shape can have."""
        if not shape or prod(shape) <= 1 or self.chance(PLAIN):
            return LAYOUTS[0]
        return self.choice([name for name in LAYOUTS[1:] if name != "transposed" or len(shape) > 1])

    def positions(self, shape: Shape, below: int) -> HostArray:
        """Draws indices of an axis with so many elements."""
        return draw("int32", shape, Range(0, below - 1), self.random.randrange(1 << 16))


def _lay(shape: Shape, layout: str) -> tuple[Shape, tuple[int, ...], tuple[object, ...]]:
    """Returns the shape of an array, and the axes and the subscript that make an operand of it, empty if it is one."""
    if layout == "transposed":
        *outer, rows, columns = shape
        axes = (*range(len(outer)), len(outer) + 1, len(outer))
        return (*outer, columns, rows), axes, ()
    *outer, last = shape or (1,)
    if layout == "strided":
        return (*outer, 2 * last), (), (..., slice(None, None, 2))
    if layout == "reversed":
        return shape, (), (slice(None, None, -1),)
    if layout == "rows of a larger array":
        return (*outer, last + 3), (), (..., slice(1, -2))
    return shape, (), ()
