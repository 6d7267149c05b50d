"""Random programs, which run on WebGPU and on the CPU, and must have the same results.

    python tests/webgpu/programs.py --seconds 300 --seed 7    prints the seed; prints a program that fails, and exits

A program is a list of statements in Python. It computes with whole numbers, so that every result is exact. Statements
write to tensors and views of them, hold and drop temporaries, and read at random points, to test what waits in chains.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable
from typing import Any, Final

import lanewise as lw

NAMES: Final = tuple("abcdefgh")
SHAPES: Final = ((7,), (4, 6), (6,), (4, 1), (2, 3, 4), (1,), (), (24,), (3, 4), (300, 5))
DTYPES: Final = ("float32", "int32", "bool")
LARGEST: Final = 1 << 12  # results beyond it are clipped: sums and products stay exact
HEADER: Final = """\
import lanewise as lw
def new(shape, dtype, seed):
    size = 1
    for extent in shape:
        size *= extent
    values = [(i * 7 + seed) % 23 - 11 for i in range(size)]
    return lw.asarray(values, dtype=lw.int32).reshape(shape).astype(dtype).to(backend)
def read(tensor):
    results.append(tensor.tolist())
"""


def run(statements: list[str], backend: str) -> dict[str, Any]:
    """Runs a program. Returns its variables, with `results`, what it has read."""
    variables: dict[str, Any] = {"backend": backend, "results": []}
    exec(HEADER, variables)
    for statement in statements:
        exec(statement, variables)
    return variables


class Writer:
    """Writes a program, and runs it on the CPU meanwhile, to know shapes and dtypes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.statements: list[str] = []
        self.variables = run([], "cpu")

    def write(self, length: int) -> list[str]:
        """Returns a program of at least so many statements, which reads all variables at its end."""
        self._do(f"a = {self._new()}")
        while len(self.statements) < length:
            self._step()
        for name in self._names():
            self._do(f"read({name})")
        return self.statements

    def _names(self, fits: Callable[[lw.Tensor], bool] = lambda tensor: True) -> list[str]:
        return [name for name in NAMES if name in self.variables and fits(self.variables[name])]

    def _do(self, statement: str) -> None:
        exec(statement, self.variables)
        self.statements.append(statement)
        for name in NAMES:
            tensor = self.variables.get(name)
            if tensor is None or tensor.dtype is lw.bool or tensor.size == 0:
                continue
            if float(lw.max(lw.abs(tensor))) > LARGEST:
                clip = f"{name} = lw.clip({name}, -9, 9)"
                exec(clip, self.variables)
                self.statements.append(clip)

    def _new(self) -> str:
        shape, dtype = self.random.choice(SHAPES), self.random.choice(DTYPES)
        return f"new({shape}, lw.{dtype}, {self.random.randrange(23)})"

    def _step(self) -> None:
        """Adds a statement. Those that do not fit the variables are left out."""
        kinds = {
            self._compute: 12, self._view: 4, self._assign: 3, self._in_place: 3, self._out: 1, self._reduce: 2,
            self._product: 1, self._gather: 1, self._make: 2, self._drop: 1, self._read: 1, self._hold: 1,
        }  # fmt: skip
        (kind,) = self.random.choices(list(kinds), list(kinds.values()))
        statement = kind(self.random.choice(self._names()), self.random.choice(NAMES))
        if statement:
            self._do(statement)

    def _make(self, name: str, target: str) -> str:
        return f"{target} = {self._new()}"

    def _drop(self, name: str, target: str) -> str:
        return f"del {name}" if len(self._names()) > 1 else ""

    def _read(self, name: str, target: str) -> str:
        return f"read({name})"

    def _hold(self, name: str, target: str) -> str:
        return f"{target} = {name}"

    def _operand(self, name: str) -> str:
        """Returns a variable that broadcasts to the shape of `name`, or a number."""
        shape = self.variables[name].shape

        def fits(tensor: lw.Tensor) -> bool:
            pairs = zip(reversed(tensor.shape), reversed(shape), strict=False)
            return len(tensor.shape) <= len(shape) and all(mine in (1, theirs) for mine, theirs in pairs)

        names = self._names(fits)
        number = self.random.choice(["2", "-1", "3.0", "0", "1", "True"])
        return self.random.choice([*names, *names, number])

    def _expression(self, name: str) -> str:
        other = self._operand(name)
        return self.random.choice(
            [
                f"{name} + {other}", f"({name} * {other})", f"lw.maximum({name}, {other})",
                f"lw.where({name} > {other}, {name}, {other})", f"({name} - lw.asarray({other}).astype(lw.int32))",
                f"lw.minimum({name} * 2, {other}) + 1", f"lw.abs({name} * 1)", f"lw.relu({name} + 0)",
                f"({name} >= {other})", f"{name}.astype(lw.float32)", f"{name}.astype(lw.int32)",
                f"{name}.astype(lw.bool)", f"lw.clip({name} * 1, -5, 6)", f"lw.sign({name} * 1) * {other}",
                f"lw.floor({name} * 0.5)", f"-({name} * 1)", f"{name} * {name} - {other}", f"({name} == {other})",
            ]
        )  # fmt: skip

    def _compute(self, name: str, target: str) -> str:
        expression = self._expression(name)
        return f"{target} = {expression}"

    def _view(self, name: str, target: str) -> str:
        tensor = self.variables[name]
        views = ["[...]", ".reshape((-1,))", "[None]"] if tensor.ndim < 4 else [".reshape((-1,))"]
        if tensor.ndim == 2:
            views += [".T", "[:, 0]", "[::-1]"] + [".T[1:]"] * (tensor.shape[1] > 1)
        if tensor.ndim and tensor.shape[0] > 1:
            views += ["[1:]", "[::2]", "[0]", "[-1:]", "[1::3]"]
        return f"{target} = {name}{self.random.choice(views)}"

    def _part(self, name: str) -> str:
        tensor = self.variables[name]
        parts = ["[...]"]
        if tensor.ndim and tensor.shape[0] > 1:
            parts += ["[0]", "[1:]", "[::2]", "[-1]"]
        return self.random.choice(parts)

    def _assign(self, name: str, target: str) -> str:
        value = self.random.choice(["5", "0", f"lw.asarray({self._operand(name)}).reshape((-1,))[0]"])
        return f"{name}{self._part(name)} = {value}"

    def _in_place(self, name: str, target: str) -> str:
        operator = self.random.choice(["+", "-", "*"])
        number = self.random.choice(["1", "2"])
        is_bool = self.variables[name].dtype is lw.bool
        return "" if is_bool else f"{name} {operator}= {number}"

    def _out(self, name: str, target: str) -> str:
        tensor = self.variables[name]
        if not tensor.is_contiguous or tensor.dtype is lw.bool:
            return ""
        names = self._names(lambda other: other.shape == tensor.shape and other.dtype is tensor.dtype)
        return f"lw.add({name}, {self.random.choice(['1', '2'])}, out={name})" if names else ""

    def _reduce(self, name: str, target: str) -> str:
        if self.variables[name].size == 0:
            return ""
        function = self.random.choice(["sum", "max", "min"])
        axis = "" if self.variables[name].ndim == 0 else self.random.choice(["", ", axis=0", ", axis=-1"])
        return f"{target} = lw.{function}({name} * 1{axis})"

    def _product(self, name: str, target: str) -> str:
        tensor = self.variables[name]
        if tensor.ndim != 2 or tensor.dtype is not lw.float32:
            return ""
        return f"{target} = lw.clip({name}, -9, 9) @ lw.clip({name}, -9, 9).T"

    def _gather(self, name: str, target: str) -> str:
        tensor = self.variables[name]
        if not tensor.ndim or tensor.shape[0] < 2:
            return ""
        return self.random.choice(
            [
                f"{target} = lw.take({name}, lw.asarray([1, 0, 1]), axis=0)",
                f"{target} = lw.concat([{name} * 1, {name}], axis=0)[:7]",
                f"{name}[lw.asarray([1, 0])] = {name}[:2] * 1",
            ]
        )


def fails(statements: list[str]) -> bool:
    """Returns whether a program has other results on WebGPU than on the CPU."""
    return bool(run(statements, "wgpu")["results"] != run(statements, "cpu")["results"])


def shortened(statements: list[str]) -> list[str]:
    """Leaves out statements of a program that fails, as long as it still does."""
    for position in reversed(range(len(statements))):
        shorter = statements[:position] + statements[position + 1 :]
        try:
            statements = shorter if fails(shorter) else statements
        except (NameError, lw.LanewiseError):
            continue
    return statements


def check(seed: int, length: int = 40) -> None:
    """Runs the program of a seed. Raises AssertionError with the shortest program found that fails."""
    statements = Writer(seed).write(length)
    if fails(statements):
        program = "\n".join([f"backend, results = 'wgpu', []  # seed {seed}", HEADER, *shortened(statements)])
        raise AssertionError(f"another result than on the CPU:\n{program}")


def main() -> None:
    """Runs programs for some time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    options = parser.parse_args()
    print(f"seed {options.seed}, {next(info for info in lw.backends() if info.name == 'wgpu')}", flush=True)
    end, count = time.monotonic() + options.seconds, 0
    while time.monotonic() < end:
        try:
            check(options.seed + count)
        except Exception as error:
            sys.exit(f"{error}\nafter {count} programs, at seed {options.seed + count}")
        count += 1
    chains = lw.memory_stats("wgpu")
    print(f"{count} programs have the results of the CPU; {chains['chains_run']} chains ran as one kernel")


if __name__ == "__main__":
    main()
