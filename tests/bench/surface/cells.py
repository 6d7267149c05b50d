"""Draws the cells of a surface: first a kind, then an operation of that kind, then its dtype, shapes and layouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tests.bench.surface import arguments, products
from tests.bench.surface.draw import LARGEST, Draw, Drawn
from tests.cases import operations
from tests.cases.cases import Argument, Case, Several, Viewed
from tests.cases.inputs import HostArray
from tests.cases.operations import Operation


@dataclass(frozen=True)
class Cell:
    """One cell of a surface. Its seed, the kinds drawn from and its number in the sequence repeat it."""

    number: int
    kind: str
    case: Case

    @property
    def text(self) -> str:
        """The call as text."""
        name, case = self.case.operation.name, self.case
        words = [*map(_text, case.arguments), *(f"{key}={value}" for key, value in case.keywords.items())]
        return f"{case.call.replace('function', name) or name} {case.dtype} {', '.join(words)}"


def _text(argument: Argument) -> str:
    if isinstance(argument, Several):
        return "[" + ", ".join(map(_text, argument.items)) + "]"
    if isinstance(argument, Viewed):
        axes = f".permute{argument.axes}" if argument.axes else ""
        parts = ["..." if part is ... else f"{part.start or ''}:{part.stop or ''}:{part.step or ''}".rstrip(":") or ":"
                 for part in argument.index]  # fmt: skip
        return "x".join(map(str, argument.array.shape)) + axes + (f"[{', '.join(parts)}]" if parts else "")
    return ("x".join(map(str, argument.shape)) or "()") if isinstance(argument, HostArray) else repr(argument)


IN_PAGE = 3e7  # bytes at most of an operand in a page, whose memory is 4 GB


def cell(seed: int, number: int, kinds: Sequence[str] = (), largest: float = LARGEST) -> Cell:
    """Draws a cell of a sequence."""
    draw = Draw(f"{seed}/{number}", largest)
    kind = draw.choice(kinds or list(KINDS))
    names, generator = KINDS[kind]
    operation = operations.find(draw.choice(names()))
    drawn = generator(draw, operation)
    case = Case(operation, drawn.dtype, (), tuple(drawn.arguments), drawn.keywords, flops=drawn.flops, call=drawn.call)
    return Cell(number, kind, case)


def _of(*kinds: str) -> Callable[[], list[str]]:
    """Returns the operations of kinds of contracts."""
    return lambda: [name for kind in kinds for name in operations.kinds()[kind]]


def _named(*names: str) -> Callable[[], list[str]]:
    return lambda: list(names)


def _others() -> list[str]:
    """Returns the operations that have no other kind here, without views, which do no work."""
    drawn = {name for kind, (names, _) in KINDS.items() if kind != "other" for name in names()}
    left_out = {*drawn, *operations.kinds()["view"]}
    return [name for name in operations.load() if name not in left_out]


COPIES = ("asarray", "concat", "stack", "roll", "tile", "repeat", "pad", "tril", "triu")
CREATED = ("zeros", "ones", "eye", "linspace", "full", "arange", "rand", "randn")
Generator = Callable[[Draw, Operation], Drawn]
KINDS: Mapping[str, tuple[Callable[[], list[str]], Generator]] = {
    "elementwise": (_of("elementwise"), arguments.elementwise),
    "cast": (_of("cast"), arguments.cast),
    "reduction": (_of("reduction"), arguments.reduction),
    "index reduction": (_of("index_reduction"), arguments.reduction),
    "rows": (_of("rows"), arguments.rows),
    "sort": (_named("sort", "argsort", "topk", "searchsorted"), arguments.sort),
    "gather": (_named("take", "take_along_axis", "embedding", "nonzero"), arguments.gather),
    "copy": (_named(*COPIES), arguments.copy),
    "creation": (_named(*CREATED), arguments.creation),
    "product": (_named("matmul", "linear", "matvec", "vecmat", "outer"), products.product),
    "window": (_of("window"), products.window),
    "attention": (_of("attention"), products.attention),
    "other": (_others, arguments.other),
}
