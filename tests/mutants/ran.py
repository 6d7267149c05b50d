"""Finds the lines that run on this machine: in C with gcov, in Python with coverage.py. All lines of contracts count as
running, and all lines of shaders if there is a GPU.

A line of a kernel runs if the oracle's cases (generated inputs with expected results) reach it on one of the two
instruction sets that mutants are built for. A line of the extension runs if tests reach it, and a line of Python if
tests, the build or contracts/generate.py reach it. The result is saved for each commit."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests import environment
from tests.mutants.process import Ended, Processes
from tests.mutants.project import Project, isas
from tests.mutants.results import Known
from tests.mutants.source import code_lines, statements
from tests.mutants.trial import Copy

LIMIT = 3600.0

Lines = dict[str, list[int] | None]


def lines(project: Project, processes: Processes, kept: Path) -> Lines:
    """Returns, for each source, the lines that run, or None for all of its lines."""
    file = kept / "lines.json"
    if file.exists():
        found: Lines = json.loads(file.read_text(encoding="utf-8"))
        return found
    if project.settings.get("coverage"):
        print(f"finding out which lines run, once for each commit ({file})", flush=True)
        found = _measure(project, processes, Known(kept / "coverage.json"))
    else:
        found = dict.fromkeys(project.sources(project.root))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(found), encoding="utf-8")
    return found


def _measure(project: Project, processes: Processes, known: Known) -> Lines:
    copy = Copy(project, processes, known, "coverage")
    copy.scratch.mkdir(parents=True)
    project.copy(copy.tree)
    here = Path(__file__).parent
    settings = processes.folder / "coveragerc"
    data = processes.folder / "coverage-data"
    data.mkdir()
    folders = "\n    ".join(str(copy.tree / name) for name in ("contracts", "lanewise", "native"))
    settings.write_text(
        f"[run]\nparallel = true\npatch = subprocess\ndata_file = {data}/.coverage\nsource =\n    {folders}\n"
    )
    covered = f"python -m coverage run --rcfile={settings}"
    names = " ".join(isas())

    def run(command: str, *passing: int) -> Ended:
        ended = copy.run(command, LIMIT)
        if ended.status not in (0, *passing):
            raise SystemExit(f"mutants: `{command}` failed without a mutant:\n{ended.output[-4000:]}")
        print(f"{ended.seconds:5.0f} s: {command}", flush=True)
        return ended

    run(f"{covered} native/build.py --only {names} --into .")
    run(f"{covered} contracts/generate.py --oracle build/oracle")
    run(f"python {here / 'instrument.py'} {names}")
    tests = project.settings["coverage"]
    # status 1 is accepted: a test that fails in a copy, or under coverage, still runs its lines
    run(f"{covered} -m pytest -q {' '.join(tests)}", 1)
    run(f"python -m coverage combine --rcfile={settings} --quiet")
    run(f"python -m coverage json --rcfile={settings} --quiet -o {data / 'python.json'}", 1)
    run(f"python {here / 'instrument.py'} --gcov {data / 'c.json'}")
    python = json.loads((data / "python.json").read_text(encoding="utf-8"))["files"]
    compiled = json.loads((data / "c.json").read_text(encoding="utf-8"))
    return collect(project, copy.tree, python, compiled)


def collect(
    project: Project,
    tree: Path,
    python: Mapping[str, Mapping[str, list[int]]],
    compiled: Mapping[str, dict[str, list[int]]],
) -> Lines:
    """Returns what lines() returns, from the reports of coverage.py and instrument.py."""
    found: Lines = {}
    c_ran: dict[str, set[int]] = {}
    has_gpu = not environment.testable()["wgpu"]
    executed = {_relative(Path(name), tree): set(each["executed_lines"]) for name, each in python.items()}
    for name in project.sources(tree):
        text = (tree / name).read_text(encoding="utf-8")
        if name.endswith(".py"):
            ran = executed.get(name, set())
            spans = [(first, last) for first, last in statements(text) if first in ran]
            found[name] = sorted({line for first, last in spans for line in range(first, last + 1)})
        elif name.endswith((".c", ".h")):
            own = compiled["ran"].get(str(tree / name))
            if own:
                c_ran[name] = _continued(text, set(own), set(compiled["known"].get(str(tree / name), ())))
            elif str(tree / name) in compiled["active"] and not compiled["known"].get(str(tree / name)):
                c_ran[name] = set()  # the file has only definitions, which _add_definitions() adds
        elif name.endswith(".yaml") or has_gpu:
            found[name] = None
    texts = {name: (tree / name).read_text(encoding="utf-8") for name in c_ran}
    active = {name: set(compiled["active"].get(str(tree / name), ())) for name in c_ran}
    _add_definitions(texts, c_ran, active)
    found |= {name: sorted(ran) for name, ran in c_ran.items()}
    return {name: found[name] for name in sorted(found)}


def _relative(path: Path, tree: Path) -> str:
    return (tree / path).relative_to(tree).as_posix()


def _continued(text: str, ran: set[int], known: set[int]) -> set[int]:
    """Adds lines that continue a statement which runs: the compiler counts only some of its lines."""
    code = code_lines(text, ".c")
    for number, line in enumerate(code[:-1], 1):
        if number in ran and number + 1 not in known and not line.rstrip().endswith((";", "{", "}", ":")):
            ran.add(number + 1)
    return ran


_DEFINE = re.compile(r"\s*#\s*define\s+(\w+)")
_CONSTANT = re.compile(r"^\s*(?:static )?const\b[^=;(]*?\b(\w+)(?:\[[^=]*\])* = ")


def definitions(code: list[str]) -> Iterable[tuple[str, list[int]]]:
    """Yields the names of macros, constants and members of enums in a C source, each with the lines of its
    definition."""
    inside_enum, number = False, 0
    while number < len(code):
        line = code[number]
        first = number
        macro, constant = _DEFINE.match(line), _CONSTANT.match(line)
        if macro:
            while code[number].rstrip().endswith("\\"):
                number += 1
            yield macro[1], list(range(first + 1, number + 2))
        elif constant:
            while ";" not in code[number] and number + 1 < len(code):
                number += 1
            yield constant[1], list(range(first + 1, number + 2))
        else:
            inside_enum = inside_enum or bool(re.search(r"\benum\b[^;(]*\{", line))
            if inside_enum:
                for name in re.findall(r"\b([A-Z]\w+)(?: = |,|\s*$|\s*\})", line):
                    yield name, [number + 1]
                inside_enum = "}" not in line
        number += 1


def _add_definitions(texts: Mapping[str, str], ran: dict[str, set[int]], active: Mapping[str, set[int]]) -> None:
    """Adds to `ran` the definitions whose names appear in lines that run, or in a definition added before."""
    code = {name: code_lines(text, ".c") for name, text in texts.items()}
    where: dict[str, list[tuple[str, list[int]]]] = defaultdict(list)
    for file, all_lines in code.items():
        for name, numbers in definitions(all_lines):
            if active[file].intersection(numbers):
                where[name].append((file, numbers))
    waiting = {word for file, numbers in ran.items() for n in numbers for word in re.findall(r"\w+", code[file][n - 1])}
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        for file, numbers in where.get(name, ()):
            ran[file].update(numbers)
            words = {word for n in numbers for word in re.findall(r"\w+", code[file][n - 1])}
            waiting |= words - seen
