"""Finds the lines of C that run: builds Lanewise with gcov's line counters, runs the oracle's cases (generated inputs
with expected results), and reads the counters. The working directory is a copy of this repository, whose modules it
imports.

    python instrument.py scalar avx2     builds the oracle runners and runs them; puts the extension into lanewise/
    python instrument.py --gcov FILE     after the tests: writes the result of counts() as JSON
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

ROOT = Path.cwd()
sys.path.insert(0, str(ROOT))

from native import build, compiler, steps  # noqa: E402
from native.targets import Isa, host  # noqa: E402
from tests.native.oracle_runner import ORACLE, compile_runner  # noqa: E402

FOLDER = ROOT / "build" / "counted"
TARGET = replace(host(), optimization="-O1")


def instrument(names: list[str]) -> None:
    """Builds with line counters (gcov). For each instruction set, builds and runs the program that runs the oracle's
    cases. Then builds the CPython extension and puts it into lanewise/."""
    target, using = TARGET, compiler.choose()

    def run(isa: Isa) -> None:
        runner = compile_runner(target, using, isa)
        subprocess.run([runner, *ORACLE], stdout=subprocess.DEVNULL, check=True)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, [isa for isa in target.isas if isa.name in names]))
    objects = build._objects(target, using, FOLDER)
    extension = build._extension(target, using, FOLDER, FOLDER / target.extension)
    steps.run(objects)
    steps.run([replace(extension, check=None)])  # the check of symbols would refuse those that gcov needs
    build.place({target.extension: FOLDER / target.extension, **_libraries()}, build.PACKAGE)


def _libraries() -> build.Files:
    """Returns the kernel libraries in lanewise/_lib, to keep them: build.place() deletes those that it is not given."""
    return {f"_lib/{path.name}": path for path in (build.PACKAGE / "_lib").glob("kernels_*")}


def counts() -> dict[str, dict[str, list[int]]]:
    """Returns three dictionaries from files to lines. `ran` has the lines that ran, `known` those that gcov counts, and
    `active` those that the preprocessor kept."""
    ran: dict[str, set[int]] = defaultdict(set)
    known: dict[str, set[int]] = defaultdict(set)
    active: dict[str, set[int]] = defaultdict(set)
    for notes in sorted((ROOT / "build").rglob("*.gcda")):
        done = subprocess.run(
            ["gcov", "--json-format", "--stdout", str(notes)], cwd=notes.parent, stdout=subprocess.PIPE
        )
        for row in done.stdout.splitlines():
            for each in json.loads(row)["files"]:
                name = os.path.normpath(ROOT / each["file"])
                for line in each["lines"]:
                    known[name].add(line["line_number"])
                    if line["count"]:
                        ran[name].add(line["line_number"])
    for command in _preprocessing():
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        for name, line in _markers(done.stdout.decode(errors="replace")):
            active[os.path.normpath(ROOT / name)].add(line)
    return {
        title: {name: sorted(lines) for name, lines in each.items() if name.startswith(str(ROOT))}
        for title, each in (("ran", ran), ("known", known), ("active", active))
    }


def _preprocessing() -> Iterable[list[str]]:
    """Yields commands that preprocess the sources, and keep the definitions of macros in their output."""
    target, using = TARGET, compiler.choose()
    folder = ROOT / "build" / "tests"
    for isa in target.isas:
        if list(folder.glob(f"*-{isa.name}/kernels.gcda")):
            for step in build.kernel_objects(target, using, isa, Path("-")):
                yield _preprocess(step.command)
    for source in build.sources(target):
        yield _preprocess(using.object(target, source, build.EXTENSION_INCLUDE, Path("-")))


def _preprocess(command: Sequence[str]) -> list[str]:
    """Returns the command that prints the preprocessed source, from the one that compiles it."""
    words = ["-E" if word == "-c" else word for word in command]
    words[words.index("-o") + 1] = "-"
    return [*words, "-dD"]


def _markers(text: str) -> Iterable[tuple[str, int]]:
    name, number = "", 0
    for line in text.split("\n"):
        marker = re.match(r'# (\d+) "(.*?)"', line)
        if marker:
            number, name = int(marker[1]), marker[2]
            continue
        if line.strip():
            yield name, number
        number += 1


if __name__ == "__main__":
    # Turns off inlining: gcov would not count the lines of inlined functions, nor those that call them.
    os.environ["CC"] = "gcc --coverage -fno-inline -fno-early-inlining -Dalways_inline="
    if sys.argv[1] == "--gcov":
        Path(sys.argv[2]).write_text(json.dumps(counts()), encoding="utf-8")
    else:
        instrument(sys.argv[1:])
