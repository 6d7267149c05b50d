"""Draws random programs for programs.py: statements that create tensors, compute with them, write to them through
views, read and delete them.

Statements are drawn one after another and executed on the CPU at once, so that each is valid when the next is drawn.
Most results are exact on every device: integers, comparisons, and floats that are small multiples of 1/4. A float is
*tame* if it is such a multiple; sums and products of tame floats have no rounding error in any order. For each memory
that tensors share, the drawing keeps a bound on the difference between devices: 0, or after a function such as tanh,
its contract's tolerances on both devices, which further operations enlarge; all of these are continuous."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from generator.load import load_contracts

import lanewise as lw

LARGEST, STEP = 128, 4  # tame floats are multiples of 1 / STEP, and at most LARGEST
TERMS, PRODUCTS = 2**15, 2**6  # so many tame floats, or products of two, have a sum of 24 bits
UNIT = 2.0**-23  # one unit in the last place of a float32, relative to it, at most
MAX_ELEMENTS = 2**20  # of a tensor
USELESS = 1e-2  # tensors with a larger error are not used any more
SHAPES = [(7,), (64,), (1000,), (3, 5), (16, 33), (1, 9), (8, 1), (4, 3, 6), (2, 3, 4, 5), (), (2, 0, 3), (70_001,),
          (65, 130)]  # fmt: skip
WEIGHTS = [4, 4, 2, 6, 6, 2, 2, 4, 3, 1, 0.5, 0.5, 1]
UNARY = ("negative", "abs", "floor", "ceil", "trunc", "round", "sign", "relu", "square", "astype", "copy")
BINARY = ("add", "subtract", "multiply", "minimum", "maximum")
COMPARISONS = ("less", "less_equal", "equal", "not_equal", "greater", "greater_equal")
BITS = ("bitwise_and", "bitwise_or", "bitwise_xor")
LOGIC = ("logical_and", "logical_or", "logical_xor")
# Functions with a largest slope, by which an error of the argument grows
SLOPES = {"sin": 1.0, "cos": 1.0, "tanh": 1.0, "atan": 1.0, "sigmoid": 0.25, "softsign": 1.0, "softplus": 1.0,
          "erf": 1.13, "gelu": 1.13, "silu": 1.1, "mish": 1.1, "hardswish": 1.5, "leaky_relu": 1.0,
          "elu": 1.0}  # fmt: skip
FORMS = {"arithmetic": 6, "unary": 3, "number": 4, "compare": 2, "where": 2, "clip": 1, "bits": 2}
OPERATORS = {"add": "+=", "subtract": "-=", "multiply": "*=", "bitwise_and": "&=", "bitwise_or": "|=",
             "bitwise_xor": "^="}  # fmt: skip
RELATED = ("s", "s", "(s - s)", "(-s)", "lw.abs(s)", '(i - i).astype("float32")', '(i - i).astype("float32")')
CONTRACTS = {each.operation: each for each in load_contracts(Path(__file__).resolve().parents[3] / "contracts")}
ELEMENTWISE = [each for each in CONTRACTS.values() if each.kind.name == "elementwise"]
FUNCTIONS = [each for each in ELEMENTWISE if "float32" in {kernel.dtype for kernel in each.kernels}]


@dataclass
class Memory:
    """What tensors that may share memory have in common: how much devices may differ in any element."""

    error: float = 0.0


@dataclass
class Drawing:
    """A program that is being drawn: its statements, and what it has computed on the CPU."""

    random: random.Random
    shape: tuple[int, ...] = ()
    statements: list[str] = field(default_factory=list)
    names: dict[str, Memory] = field(default_factory=dict)
    namespace: dict[str, Any] = field(default_factory=dict)
    count: int = 0

    def value(self, name: str) -> np.ndarray:
        return np.array(self.namespace[name])

    def is_exact(self, *names: str) -> bool:
        return all(self.names[name].error == 0 for name in names)

    def is_tame(self, name: str) -> bool:
        """Returns whether arithmetic with a tensor is exact. That of int32 is: it wraps around."""
        x = self.value(name)
        if x.dtype.kind in "bi":
            return x.dtype != np.int64
        if not self.is_exact(name) or x.dtype == np.float64:
            return False
        return bool((np.isfinite(x) & (np.abs(x) <= LARGEST) & (x * STEP == np.floor(x * STEP))).all())

    def size(self, name: str) -> float:
        return float(np.abs(self.value(name).astype(np.float64)).max(initial=0))

    def pick(self, condition: Callable[[str], bool] = lambda name: True) -> str | None:
        """Returns the name of a tensor, most often of a recent one; None if there is none."""
        fitting = [name for name in self.names if condition(name)]
        if not fitting:
            return None
        return self.random.choice(fitting[-3:] if self.random.random() < 0.6 else fitting)

    def run(self, statement: str) -> bool:
        """Appends a statement, unless it fails."""
        try:
            exec(statement, self.namespace)
        except (lw.LanewiseError, ValueError, IndexError, TypeError):
            return False
        self.statements.append(statement)
        return True

    def bind(self, expression: str, memory: Memory, name: str | None = None) -> str | None:
        """Binds a name, a new one unless it is given, to the value of an expression."""
        if memory.error > USELESS:
            return None
        if name is None:
            self.count += 1
            name = f"t{self.count}"
        if not self.run(f"{name} = {expression}"):
            return None
        self.names.pop(name, None)
        self.names[name] = memory
        return name


def draw(seed: int, environment: dict[str, Any], length: int = 60) -> list[str]:
    """Returns the statements of a program. `environment` has the names that they use."""
    choice = random.Random(seed)
    drawing = Drawing(choice, choice.choices(SHAPES, WEIGHTS)[0], namespace=dict(environment))
    for _ in range(3):
        create(drawing)
    kinds = (compute, burst, write, view, reduce, gather, join, approximate, related, products, read, delete, create)
    weights = (10, 3, 14, 4, 1.5, 1, 1, 3, 4, 1, 1.5, 3, 1)
    while len(drawing.statements) < length:
        choice.choices(kinds, weights)[0](drawing)
        while len(drawing.names) > 12:
            delete(drawing)
    for name in list(drawing.names):
        check(drawing, name)
    return drawing.statements


def create(drawing: Drawing) -> None:
    choice = drawing.random
    shape = drawing.shape
    if choice.random() < 0.4:  # a shape that broadcasts to it
        shape = tuple(extent if choice.random() < 0.5 else 1 for extent in shape)[choice.randrange(len(shape) + 1) :]
    dtype = choice.choice(["float32"] * 5 + ["int32"] * 3 + ["bool", "float16", "int64", "float64"])
    if choice.random() < 0.2:
        number = choice.randrange(2) if dtype == "bool" else choice.randrange(-5, 6)
        drawing.bind(f'lw.full({shape}, {number}, dtype="{dtype}")', Memory())
    else:
        drawing.bind(f'data({choice.randrange(1000)}, {shape}, "{dtype}")', Memory())


def compute(drawing: Drawing, rebind: bool = False) -> None:
    """An elementwise operation whose result is exact, or whose operands have errors that it keeps small."""
    found = expression(drawing)
    if found:
        text, error, operands = found
        shapes = [drawing.namespace[name].shape for name in drawing.names if re.search(rf"\b{name}\b", text)]
        if not is_small(*shapes):
            return
        aside = operands[0] if operands[0] in drawing.names and (rebind or drawing.random.random() < 0.15) else None
        drawing.bind(text, Memory(error), aside)


def is_small(*shapes: tuple[int, ...]) -> bool:
    """Returns whether shapes broadcast to at most MAX_ELEMENTS elements: (70001,) and (70001, 1) would take 20 GB."""
    try:
        return prod(np.broadcast_shapes(*shapes)) <= MAX_ELEMENTS
    except ValueError:
        return False


def expression(drawing: Drawing) -> tuple[str, float, list[str]] | None:
    """Returns an elementwise operation, the error of its result and the names of its operands."""
    choice = drawing.random
    x = drawing.pick()
    if x is None:
        return None
    if not drawing.is_exact(x):
        return inexact(drawing, x)
    kind = drawing.value(x).dtype.kind
    form = choice.choices(list(FORMS), list(FORMS.values()))[0]
    if form == "unary":
        operation = choice.choice(UNARY)
        if operation == "astype":
            dtype = choice.choice(["float32", "float32", "int32", "int32", "bool", "float16", "int64", "float64"])
            if kind == "f" and (not drawing.is_tame(x) and drawing.value(x).dtype != np.float16):
                return None
            return f'{x}.astype("{dtype}")', 0, [x]
        if operation in ("square", "abs", "negative") and not drawing.is_tame(x):
            return None
        return (f"{x}.copy()" if operation == "copy" else f"lw.{operation}({x})"), 0, [x]
    if form == "clip":
        low = choice.randrange(-9, 1)
        return f"lw.clip({x}, {low}, {low + choice.randrange(1, 40)})", 0, [x]
    if form == "bits" and kind in "bi":
        y = drawing.pick(lambda name: drawing.value(name).dtype == drawing.value(x).dtype)
        if kind == "i" and choice.random() < 0.3:
            return f"lw.bitwise_{choice.choice(['left', 'right'])}_shift({x}, {choice.randrange(32)})", 0, [x]
        return f"lw.{choice.choice(BITS if kind == 'i' else BITS + LOGIC)}({x}, {y})", 0, [x]
    if form == "number":
        number = choice.choice(["2", "3", "-1", "1"] if kind != "f" else ["2", "0.5", "-1.25", "3", "1", "0"])
        if not drawing.is_tame(x):
            return f"lw.{choice.choice(['minimum', 'maximum'])}({x}, {number})", 0, [x]
        if choice.random() < 0.2:
            return f"lw.{choice.choice(['floor_divide', 'remainder'])}({x}, {choice.choice([2, 4, -8])})", 0, [x]
        order = (x, number) if choice.random() < 0.7 else (number, x)
        return f"lw.{choice.choice(BINARY)}({order[0]}, {order[1]})", 0, [x]
    y = drawing.pick(drawing.is_exact)
    is_tame = drawing.is_tame(x) and drawing.is_tame(y)
    x, y = seen(drawing, x), seen(drawing, y)
    if form == "compare":
        return f"lw.{choice.choice(COMPARISONS)}({x}, {y})", 0, [x, y]
    if form == "where":
        flags = drawing.pick(lambda name: drawing.value(name).dtype == bool) or f"({x} > 0)"
        return f"lw.where({flags}, {x}, {choice.choice([y, '1'])})", 0, [x]
    if is_tame:
        return f"lw.{choice.choice(BINARY)}({x}, {y})", 0, [x, y]
    return f"lw.{choice.choice(['minimum', 'maximum'])}({x}, {y})", 0, [x, y]


def seen(drawing: Drawing, name: str) -> str:
    """Returns a tensor or, sometimes, a view of it with the same shape."""
    forms = ["{}[...]", "{}[..., ::-1]", "{}[::-1]", "{}[::-1].mT.mT"][: 4 if drawing.value(name).ndim > 1 else 3]
    if drawing.value(name).ndim == 0 or drawing.random.random() < 0.8:
        return name
    return drawing.random.choice(forms).format(name)


def inexact(drawing: Drawing, x: str) -> tuple[str, float, list[str]] | None:
    """Like expression(), for an operand with an error."""
    choice, error = drawing.random, drawing.names[x].error
    y = drawing.pick(lambda name: drawing.value(name).dtype == np.float32 and np.isfinite(drawing.value(name)).all())
    operation = choice.choice((*BINARY, *SLOPES, "abs", "negative", "relu", "number", "where"))
    if operation in SLOPES:
        return function(drawing, operation, x)
    if operation in ("abs", "negative", "relu"):
        return f"lw.{operation}({x})", error, [x]
    if operation == "number":
        return f"{x} * 0.5 + 0.25", error + UNIT * (drawing.size(x) + 1), [x]
    if y is None:
        return None
    other, sizes = drawing.names[y].error, (drawing.size(x), drawing.size(y))
    if operation == "where":
        flags = drawing.pick(lambda name: drawing.value(name).dtype == bool)
        return flags and (f"lw.where({flags}, {x}, {y})", max(error, other), [x, y])
    if operation == "multiply":
        error = error * sizes[1] + other * sizes[0] + error * other + UNIT * sizes[0] * sizes[1]
    elif operation in ("add", "subtract"):
        error = error + other + UNIT * sum(sizes)
    else:
        error = max(error, other)
    return f"lw.{operation}({x}, {y})", error, [x, y]


def function(drawing: Drawing, operation: str, x: str) -> tuple[str, float, list[str]]:
    """Returns a call of a function with a bounded slope, and the error of its result."""
    size = 1 + SLOPES[operation] * drawing.size(x)  # |f(x)| <= |f(0)| + slope * |x|, and |f(0)| <= 1
    error = SLOPES[operation] * drawing.names[x].error + tolerance(operation, size)
    return f"lw.{operation}({x})", error, [x]


def tolerance(operation: str, size: float) -> float:
    """Returns how far the results of two devices may be apart that are not larger than `size`."""
    allowed = CONTRACTS[operation].accuracy("float32").tolerance
    both = (allowed.bound, allowed.of("wgpu"))
    return sum((each.ulp * UNIT + each.relative + each.magnitude) * size + each.absolute for each in both)


def approximate(drawing: Drawing) -> None:
    x = drawing.pick(lambda name: drawing.value(name).dtype == np.float32 and drawing.size(name) < 1000)
    if x is None:
        return
    rows = drawing.value(x).ndim > 0 and drawing.value(x).size > 0 and drawing.is_tame(x)
    if rows and drawing.random.random() < 0.2:
        axis = drawing.random.randrange(drawing.value(x).ndim)
        operation = drawing.random.choice(["softmax", "mean", "norm_l2"])
        size = {"softmax": 1, "mean": LARGEST, "norm_l2": LARGEST * drawing.value(x).shape[axis] ** 0.5}[operation]
        drawing.bind(f"lw.{operation}({x}, axis={axis})", Memory(tolerance(operation, size)))
        return
    text, error, _ = function(drawing, drawing.random.choice(list(SLOPES)), x)
    drawing.bind(text, Memory(error))


def related(drawing: Drawing) -> None:
    """A chain of functions of the same special numbers, what follows from them, constants, and each other's results."""
    choice, results = drawing.random, list[str]()
    drawing.run(f"s = specials({choice.randrange(1000)}, {drawing.shape})")
    drawing.run(f'i = data({choice.randrange(1000)}, {drawing.shape}, "int32")')
    often, argument = choice.choice(FUNCTIONS), choice.choice(RELATED)
    for name in ("r1", "r2", "r3", "r4")[: choice.randrange(2, 5)]:
        function = often if choice.random() < 0.7 else choice.choice(FUNCTIONS)
        arguments = choice.choices([*RELATED, *results, *[argument] * 9], k=len(function.inputs))
        if drawing.run(f"{name} = lw.{function.operation}({', '.join(arguments)})"):
            results.append(name)
    for name in results:
        drawing.run(f"check({name}, inf)")  # with any error, but as unfused


def burst(drawing: Drawing) -> None:
    """A long chain on one shape: more nodes than a chain may have, most of them temporaries."""
    choice = drawing.random
    keep = choice.random() * 0.3
    for _ in range(choice.choice([5, 12, 20, 45])):
        before = set(drawing.names)
        if choice.random() < 0.25:
            choice.choice([write, view])(drawing)
        else:
            compute(drawing, rebind=choice.random() < 0.3)
        new = [name for name in drawing.names if name not in before]
        if new and len(drawing.names) > 6 and choice.random() > keep:
            old = choice.choice(list(drawing.names)[:-2])
            drawing.names.pop(old)
            drawing.run(f"del {old}")


def part(drawing: Drawing, shape: Sequence[int], empty: bool = False) -> str:
    """Returns a basic index into a tensor."""
    choice, items = drawing.random, []
    for extent in shape[: choice.randrange(len(shape) + 1)]:
        form = choice.randrange(6)
        if form == 0 and extent:
            items.append(str(choice.randrange(-extent, extent)))
        elif form == 1:
            items.append("::-1")
        elif form == 2:
            items.append(f"{choice.randrange(extent + 1)}::{choice.randrange(1, 4)}")
        elif form == 3:
            items.append(f":{choice.randrange(1, extent + 1) if extent else 0}")
        elif form == 4:
            items.append(f"{extent - 1}:0:-{choice.randrange(1, 4)}")
        else:
            items.append(":")
    if choice.random() < 0.1:
        items.append("...")
    return ", ".join(items) or "..."


def view(drawing: Drawing) -> None:
    choice = drawing.random
    x = drawing.pick()
    if x is None:
        return
    shape = drawing.value(x).shape
    form = choice.randrange(7)
    if form <= 2:
        text = f"{x}[{part(drawing, shape)}]"
    elif form == 3 and len(shape) > 1:
        axes = list(range(len(shape)))
        choice.shuffle(axes)
        text = f"lw.permute_dims({x}, {tuple(axes)})"
    elif form == 4:
        text = choice.choice([f"lw.reshape({x}, (-1,))", f"lw.expand_dims({x}, 0)", f"lw.flip({x})"])
        if text.endswith("(-1,))") and not prod(shape):
            return
    elif form == 5:
        text = f"lw.broadcast_to({x}, {drawing.shape})"
    else:
        text = f"{x}.mT" if len(shape) > 1 else f"{x}[:]"
    drawing.bind(text, drawing.names[x])


def write(drawing: Drawing) -> None:
    """Changes a tensor: `out=`, an operator in place, or an assignment, to all of it or to a part."""
    choice = drawing.random
    x = drawing.pick()
    if x is None:
        return
    whole = drawing.value(x)
    target = f"{x}[{part(drawing, whole.shape)}]"
    form = choice.choice(["out", "out", "operator", "operator", "set", "number", "gathered"])
    error = 0.0
    if form == "number":
        number = choice.randrange(2) if whole.dtype == bool else choice.randrange(-5, 6)
        text = f"{target} = {number}"
    elif form == "gathered" and whole.ndim and whole.shape[0]:
        rows = [choice.randrange(-whole.shape[0], whole.shape[0]) for _ in range(choice.randrange(1, 5))]
        text = f'{x}[lw.asarray({rows}, dtype="int32")] = {choice.randrange(2)}'
    elif form == "set":
        y = drawing.pick(lambda name: drawing.value(name).dtype == whole.dtype)
        error = drawing.names[y].error
        text = f"{target} = {y}[{part(drawing, drawing.value(y).shape)}]"
    elif form == "operator":
        y = drawing.pick(drawing.is_tame)
        if y is None or not drawing.is_tame(x) or drawing.value(y).dtype != whole.dtype:
            return
        signs = {"b": BITS, "i": BITS + BINARY[:3], "f": BINARY[:3]}[whole.dtype.kind]
        operand = choice.choice([y, f"{y}[{part(drawing, drawing.value(y).shape)}]", target, f"{target}[::-1]", "2"])
        if operand == "2" and whole.dtype == bool:
            return
        text = f"{choice.choice([x, target])} {OPERATORS[choice.choice(signs)]} {operand}"
    else:
        found = expression(drawing)
        if found is None:
            return
        text, error, _ = found
        target = fitting_target(drawing, text)
        if target is None:
            return
        x, _, _ = target.partition("[")
        if text.startswith("lw.") and eval(target, drawing.namespace).is_contiguous:
            text = f"{text[:-1]}, out={target})"
        else:
            text = f"{target}[...] = {text}"
    if error <= USELESS and drawing.run(text):
        drawing.names[x].error = max(drawing.names[x].error, error)


def fitting_target(drawing: Drawing, text: str) -> str | None:
    """Returns a tensor, or a view of one, that has the shape and dtype of an expression; None if there is none."""
    try:
        result = eval(text, drawing.namespace)
    except (lw.LanewiseError, ValueError):
        return None

    def fits(name: str) -> bool:
        value = drawing.value(name)
        return value.dtype == result.dtype and value.shape[max(value.ndim - result.ndim, 0) :] == result.shape

    x = drawing.pick(fits)
    if x is None:
        return None
    whole = drawing.value(x)
    if whole.ndim > result.ndim:
        return f"{x}[{', '.join('0' for _ in range(whole.ndim - result.ndim))}]" if whole.size else None
    return drawing.random.choice([x, x, x, f"{x}[..., ::-1]" if whole.ndim else x])


def reduce(drawing: Drawing) -> None:
    choice = drawing.random
    x = drawing.pick(drawing.is_exact)
    if x is None or not drawing.value(x).size:
        return
    value = drawing.value(x)
    axis = choice.choice([None, *range(value.ndim)])
    operations = ["max", "min", "argmax", "argmin", "any", "all"]
    if drawing.is_tame(x) and value.size <= TERMS:
        operations += ["sum", "sum", "sum"] + ["norm_l1"] * (value.dtype == np.float32)
        operations += ["cumulative_sum"] * (value.ndim > 0)
    operation = choice.choice(operations)
    if operation == "cumulative_sum":
        axis = choice.randrange(value.ndim)
    keep = ", keepdims=True" if operation != "cumulative_sum" and choice.random() < 0.5 else ""
    drawing.bind(f"lw.{operation}({x}, axis={axis}{keep})", Memory())


def gather(drawing: Drawing) -> None:
    choice = drawing.random
    x = drawing.pick(lambda name: drawing.value(name).ndim > 0 and drawing.value(name).size > 0)
    if x is None:
        return
    axis = choice.randrange(drawing.value(x).ndim)
    extent = drawing.value(x).shape[axis]
    rows = [choice.randrange(-extent, extent) for _ in range(choice.randrange(1, 6))]
    index = f'lw.asarray({rows}, dtype="int32")'
    text = choice.choice([f"take({x}, {index}, axis={axis})", f"sort({x}, axis={axis})", f"roll({x}, 2, {axis})"])
    if drawing.is_exact(x) or "sort" not in text:
        drawing.bind(f"lw.{text}", Memory(drawing.names[x].error))


def join(drawing: Drawing) -> None:
    x = drawing.pick(lambda name: 0 < drawing.value(name).ndim < 4 and drawing.value(name).size < 20_000)
    if x is None:
        return
    like = drawing.value(x)
    y = drawing.pick(lambda name: drawing.value(name).shape == like.shape and drawing.value(name).dtype == like.dtype)
    error = max(drawing.names[x].error, drawing.names[y].error)
    axis = drawing.random.randrange(like.ndim)
    text = drawing.random.choice([f"concat([{x}, {y}, {x}], axis={axis})", f"stack([{x}, {y}])"])
    drawing.bind(f"lw.{text}", Memory(error))


def products(drawing: Drawing) -> None:
    def fits(name: str, like: str | None = None) -> bool:
        value, other = drawing.value(name), drawing.value(like or name)
        if value.dtype not in (np.int32, np.float32) or value.dtype != other.dtype or not drawing.is_tame(name):
            return False
        return value.shape[-1:] == other.shape[-1:] != () and value.shape[-1] <= PRODUCTS and value.size < 20_000

    x = drawing.pick(fits)
    y = x and drawing.pick(lambda name: fits(name, x))
    if y is None:
        return
    several = drawing.value(x).ndim > 1 and drawing.value(y).ndim > 1
    drawing.bind(f"lw.matmul({x}, {y}.mT)" if several else f"lw.vecdot({x}, {y})", Memory())


def check(drawing: Drawing, name: str) -> None:
    error = drawing.names[name].error
    drawing.run(f"check({name}, {error:.2g})" if error else f"check({name})")


def read(drawing: Drawing) -> None:
    x = drawing.pick()
    if x is None:
        return
    if drawing.random.random() < 0.5:
        check(drawing, x)
    elif drawing.is_exact(x):
        drawing.run(f"check({x}[{part(drawing, drawing.value(x).shape)}])")


def delete(drawing: Drawing) -> None:
    if len(drawing.names) > 2:
        drawing.names.pop(name := drawing.random.choice(list(drawing.names)[:-1]))
        drawing.run(f"del {name}")
