"""Measures the largest error of every operation with a tolerance: the field `measured` of its contract.

    python tests/native/measure.py exp softmax            prints what it measured, as JSON: a line per operation
    python tests/native/measure.py sum.float64            the same in float64
    python tests/native/measure.py --write exp            writes it into contracts/exp.yaml, too
    python tests/native/measure.py --step 8191            every 8191st float; without --step, every float
    python tests/native/measure.py --write --from FILE    writes what another machine printed

Functions of one argument are measured over every float32: about a minute each on two cores. Elementwise functions of
several arguments, and those in float64, are measured over seeded draws from the domain and, if the tolerance is in ulp
only, from all bit patterns; other operations over the oracle's cases (the generated tests), with other numbers.
Parameters take the values of these cases.

Elementwise operations are measured on three backends: one with FMA, one without, and AVX-512, which uses tables. Other
backends have the bits of one of these, as every_float.py shows. Other operations are measured on all x86 backends,
because products of matrices depend on the shape of tiles, too.

An error is computed as a multiple of the tolerance, and written in the measures of the tolerance, such as ulp.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.special

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("contracts", "tests", "tests/sweep", "")]

from generator import oracle, references  # noqa: E402
from generator.cases import Case, cases  # noqa: E402
from generator.draw import draw, generator  # noqa: E402
from generator.load import load_contracts  # noqa: E402
from generator.schema import MEASURES, Accuracy, Bound, Contract  # noqa: E402
from judge import allowed, ratio  # noqa: E402

import lanewise as lw  # noqa: E402

# The oracle's own erf of float64 does without SciPy and is slow.
references._erf = scipy.special.erf

BACKENDS = {"avx2": "fma", "avx512": "avx512", "sse2": "plain"}  # measured backend -> its key in the field `measured`
OTHERS = {"avx": "plain", "scalar": "plain"}  # give the bits of sse2, except in products of matrices
CHUNK = 1 << 15  # elements per call, so that intermediate arrays stay in L2
TASK = 1 << 24  # floats per task; tasks run in several processes
ELEMENTWISE_DRAWS = {"float32": 1 << 24, "float64": 6 << 24}  # results to compare for an elementwise function
DRAWS = 1 << 17  # results to compare for an operation that is not elementwise
ROUNDS = (128, 512)  # the minimum and maximum number of times that the cases of such an operation are drawn

Calls = Iterator[tuple[Case, str]]


@dataclass(frozen=True)
class Found:
    """The largest error among some results, as a multiple of the tolerance, and where it is."""

    ratio: float = 0.0
    at: Any = ""
    parameters: Any = None

    def join(self, other: Found) -> Found:
        return other if other.ratio > self.ratio else self


@cache
def contracts() -> dict[str, Contract]:
    """Returns all contracts by name."""
    return {each.operation: each for each in load_contracts(ROOT / "contracts", check_measured=False)}


@dataclass(frozen=True)
class Target:
    """What is measured: an operation, in one dtype."""

    operation: str
    section: str = ""  # the contract's section for the dtype; without a name, float32

    @property
    def contract(self) -> Contract:
        return contracts()[self.operation]

    @property
    def dtype(self) -> str:
        return self.section or "float32"

    @property
    def accuracy(self) -> Accuracy:
        return self.contract.accuracies[self.section]

    @property
    def bound(self) -> Bound:
        return self.accuracy.tolerance.bound

    def __str__(self) -> str:
        return f"{self.operation}{self.section and '.'}{self.section}"


def targets() -> dict[str, Target]:
    """Returns everything that has a tolerance, by name: sum, sum.float64 ..."""
    every = [Target(name, section) for name, each in contracts().items() for section in each.accuracies]
    return {str(each): each for each in every if not each.bound.is_exact}


@cache
def drawn_cases(target: Target) -> list[Case]:
    """Returns the generated test cases (the oracle's) whose inputs have the target's dtype, without those of special
    values."""
    every = (case for case in cases(target.contract) if case.dtype == target.dtype)
    return [case for case in every if not (case.special or case.is_converted)]


def parameters(target: Target) -> list[dict[str, Any]]:
    """Returns the distinct combinations of parameters in drawn_cases()."""
    found = {json.dumps(dict(case.parameters)): dict(case.parameters) for case in drawn_cases(target)}
    return list(found.values())


def every_float(target: Target, start: int, step: int) -> Calls:
    """Yields calls on TASK floats: every `step`th one in the order of their bits, from the bits `start` on."""
    end = min(start + TASK * step, 2**32)
    for given in parameters(target):
        for first in range(start, end, CHUNK * step):
            patterns = np.arange(first, min(first + CHUNK * step, end), step, dtype=np.uint64)
            x = patterns.astype(np.uint32).view(np.float32)
            x = x[np.isfinite(x)]  # a contract's `special` tests infinities and NaN, where references may be wrong
            yield Case("", "float32", {target.contract.inputs[0].name: x}, given), ""


def of_draws(target: Target, start: int, step: int) -> Calls:
    """Yields calls on TASK random inputs from the domain. If the tolerance is in ulp only, the inputs of every
    other call are instead half random bit patterns and half numbers around 1."""
    contract, dtype = target.contract, np.dtype(target.dtype)
    names, chosen = [each.name for each in contract.inputs], parameters(target)
    relative = target.bound == Bound(ulp=target.bound.ulp)
    for number in range(start, start + TASK, CHUNK):
        inputs = {name: draw(contract, name, target.dtype, (CHUNK,), "measured", number) for name in names}
        if relative and number // CHUNK % 2:
            random = generator("measured", contract.operation, number)
            patterns = random.bytes(len(names) * CHUNK // 2 * dtype.itemsize)
            wild = np.frombuffer(patterns, dtype).reshape(len(names), CHUNK // 2)
            mild = np.exp(random.normal(0, 2, wild.shape)) * random.choice([-1, 1, 1, 8], wild.shape)
            both = np.concatenate([wild, mild.astype(dtype)], axis=1)
            inputs = dict(zip(names, both, strict=True))
        yield Case("", target.dtype, inputs, chosen[number // CHUNK // 2 % len(chosen)]), ""


def of_cases(target: Target, start: int, step: int) -> Calls:
    """Yields the calls of the oracle's cases: with the oracle's numbers if `start` is 0, else with other draws."""
    contract = target.contract
    for case in drawn_cases(target):
        name = f"{case.name}, draw {start}"
        inputs, given = {}, dict(case.parameters)
        for each in contract.inputs:
            old = case.inputs[each.name]
            inputs[each.name] = redrawn(target, each.name, old, name) if start else old
        if contract.kind.name == "creation" and start:
            given["seed"] = start
        yield replace(case, inputs=inputs, parameters=given), name


def redrawn(target: Target, name: str, old: Any, seed: str) -> Any:
    """Returns an input with other numbers; an input of another dtype than the target's stays as it is."""
    if isinstance(old, list):
        return [redrawn(target, name, each, f"{seed} {number}") for number, each in enumerate(old)]
    if old is None or old.dtype != target.dtype:
        return old
    return draw(target.contract, name, target.dtype, old.shape, seed)


def run(contract: Contract, case: Case) -> np.ndarray:
    """Calls the operation on a case's inputs, and returns the result."""
    tensors = [None if each is None else lw.asarray(each) for each in case.inputs.values()]
    keywords = oracle.keywords(contract, case)
    return np.asarray(getattr(lw, contract.operation)(*tensors, **keywords))


def task(target: Target, kind: str, start: int, step: int) -> tuple[int, dict[str, Found]]:
    """Measures an operation on the calls that the function named `kind` yields. Returns how many results were compared,
    and the largest error of each group of backends."""
    contract, count = target.contract, 0
    source: Callable[[Target, int, int], Calls] = globals()[kind]
    backends = BACKENDS if contract.kind.name == "elementwise" else BACKENDS | OTHERS
    backends = {backend: group for backend, group in backends.items() if backend in available()}
    found = dict.fromkeys(backends.values(), Found())
    for case, label in source(target, start, step):
        with np.errstate(all="ignore"):
            expected, magnitude = oracle.expected(contract, case), oracle.magnitude(contract, case)
        count += expected.size
        limit = allowed(expected, target.dtype, target.bound, 0.0 if magnitude is None else magnitude)
        seen: list[tuple[np.ndarray, Found]] = []
        for backend, group in backends.items() if expected.size else ():
            with lw.use_backend(backend):
                got = run(contract, case)
            known = next((each for result, each in seen if result.tobytes() == got.tobytes()), None)
            if known is None:
                errors = ratio(got, expected, limit)
                worst = int(np.argmax(errors))
                place = label or [float(each[worst]) for each in case.inputs.values()]
                known = Found(float(errors.flat[worst]), place, {} if label else oracle.keywords(contract, case))
                seen.append((got, known))
            found[group] = found[group].join(known)
    return count, found


@cache
def available() -> frozenset[str]:
    return frozenset(info.name.value for info in lw.backends() if info.available)


def tasks(target: Target, step: int) -> list[tuple[str, int, int]]:
    """Returns the tasks that measure a target: for each, the arguments of task() after `target`."""
    contract = target.contract
    if contract.is_unary and not target.section:
        return [("every_float", start, step) for start in range(0, 2**32, TASK * step)]
    if contract.kind.name == "elementwise":
        return [("of_draws", start, 1) for start in range(0, ELEMENTWISE_DRAWS[target.dtype], TASK)]
    rounds = min(max(DRAWS // max(results_per_task(target), 1), ROUNDS[0]), ROUNDS[1])
    return [("of_cases", number, 1) for number in range(rounds)]


def results_per_task(target: Target) -> int:
    """Returns how many results a task compares, unless it compares every float."""
    contract = target.contract
    if contract.kind.name == "elementwise":
        return TASK
    return sum(oracle.expected(contract, case).size for case in drawn_cases(target))


def joined(target: Target, results: Iterator[tuple[int, dict[str, Found]]]) -> dict[str, Any]:
    """Returns the field `measured` from the results of an operation's tasks."""
    count, worst = 0, dict[str, Found]()
    for compared, found in results:
        count += compared
        worst = {group: worst.get(group, Found()).join(each) for group, each in found.items()}
    if "avx512" in worst and worst["avx512"] == worst["fma"]:
        del worst["avx512"]
    if "avx512" not in worst and worst["fma"] == worst["plain"]:
        worst = {"all": worst["fma"]}
    result: dict[str, Any] = {} if target.contract.is_unary and not target.section else {"draws": count}
    return result | {group: entry(target, each) for group, each in worst.items()}


def entry(target: Target, found: Found) -> dict[str, Any]:
    """Returns an entry of `measured`: the error, rounded up, in each measure that the tolerance uses (ulp, absolute,
    relative or magnitude), and where it occurs."""
    if not math.isfinite(found.ratio):
        sys.exit(f"{target}: expected a finite error, got an infinite one at {found.at}")
    sizes = {name: rounded_up(name, found.ratio * size) for name in MEASURES if (size := getattr(target.bound, name))}
    at = found.at[0] if isinstance(found.at, list) and len(found.at) == 1 else found.at
    return {**sizes, "at": at, **({"with": found.parameters} if found.parameters else {})}


def rounded_up(measure: str, size: float) -> float:
    """Rounds ulp up to thousandths, others to three significant digits. 1 + 1e-6 allows for errors of references."""
    digits = 3 if measure == "ulp" else 2 - math.floor(math.log10(size))
    return float(f"{math.ceil((size * (1 + 1e-6)) * 10**digits) / 10**digits:.12g}")


def text_of(value: Any) -> str:
    """Returns a value as YAML. A float gets the fewest digits that give the same float32 or, if none do, float64."""
    if isinstance(value, bool) or not isinstance(value, float):
        return json.dumps(value) if not isinstance(value, dict) else flow(value)
    with np.errstate(over="ignore"):
        text = str(np.float32(value)) if float(np.float32(value)) == value else repr(value)
    text = re.sub(r"e([+-])0", r"e\1", text)
    return text if "." in text else text.replace("e", ".0e") if "e" in text else f"{text}.0"


def flow(mapping: dict[str, Any]) -> str:
    """Returns a mapping as a line of YAML."""
    parts = [f"{key}: {text_of(value)}" for key, value in mapping.items() if not isinstance(value, list)]
    lists = {key: value for key, value in mapping.items() if isinstance(value, list)}
    parts += [f"{key}: [{', '.join(map(text_of, value))}]" for key, value in lists.items()]
    return f"{{{', '.join(parts)}}}"


def write(target: Target, field: dict[str, Any]) -> None:
    """Replaces `measured` in a contract or in its section for a dtype, or adds it after `tolerance`."""
    path = target.contract.path
    indent = "  " if target.section else ""
    lines = [f"{indent}  {key}: {flow(value) if isinstance(value, dict) else value}" for key, value in field.items()]
    made = "\n".join([f"{indent}measured:", *lines, ""])
    text = path.read_text(encoding="utf-8")
    start, end = 0, len(text)
    if target.section:
        section = re.search(rf"^{target.section}:\n(?:[ \t]+.*\n)*", text, flags=re.MULTILINE)
        assert section, "every target comes from a section of its contract"
        start, end = section.span()
    entry = rf"^{indent}{{}}:.*\n(?:{indent}[ \t]+.*\n)*"
    part = re.sub(entry.format("measured"), "", text[start:end], flags=re.MULTILINE)
    part = re.sub(entry.format("tolerance"), lambda old: old[0] + made, part, count=1, flags=re.MULTILINE)
    path.write_text(text[:start] + part + text[end:], encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operations", nargs="*", help="default: all with a tolerance")
    parser.add_argument("--step", type=int, default=1, metavar="N", help="measure every Nth float")
    parser.add_argument("--write", action="store_true", help="write the results into the contracts")
    parser.add_argument("--from", dest="source", type=Path, metavar="FILE", help="use these results")
    options = parser.parse_args()
    os.environ["LANEWISE_NUM_THREADS"] = "1"  # this script starts a process per core
    if options.write and options.step != 1:
        parser.error("--write needs every float; leave out --step")
    names = options.operations or list(targets())
    if unknown := sorted(set(names) - set(targets())):
        parser.error(f"expected operations with a tolerance, got {', '.join(unknown)}")
    known = {}
    if options.source:
        rows = (json.loads(line) for line in options.source.read_text(encoding="utf-8").splitlines() if line[:1] == "{")
        known = {name: field for row in rows for name, field in row.items()}
    with ProcessPoolExecutor() as pool:
        running = {}
        for name in names if not options.source else ():
            target = targets()[name]
            running[name] = [pool.submit(task, target, *each) for each in tasks(target, options.step)]
        for name in list(running) or [each for each in names if each in known]:
            target = targets()[name]
            field = known.get(name) or joined(target, (each.result() for each in running.pop(name)))
            print(json.dumps({name: field}), flush=True)
            if options.write:
                write(target, field)


if __name__ == "__main__":
    main()
