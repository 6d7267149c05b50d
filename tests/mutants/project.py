"""A project that mutants are planted in, as a TOML file describes it: its sources, how a copy is made, and what is
built and tested for a mutant of each folder."""

from __future__ import annotations

import hashlib
import io
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from tests import environment
from tests.mutants.source import SUFFIXES

MAX_OPERATIONS = 40  # a source that belongs to more operations is tested as if it belonged to none


@dataclass(frozen=True)
class Plan:
    """The commands that build and test the copy for one mutant. A command of pytest is left out if it contains
    {operations} and the mutant's file belongs to no operation, or if it contains * and matches no file."""

    build: list[str]
    tests: list[str]


class Project:
    """The folder of a project, and what the TOML file says about it."""

    def __init__(self, file: Path, root: Path) -> None:
        self.root = root
        with file.open("rb") as opened:
            self.settings: dict[str, Any] = tomllib.load(opened)

    @cached_property
    def commit(self) -> str:
        """The commit, or a hash of all files if the folder is not the root of a repository."""
        if self._is_repository:
            return self._git("rev-parse", "HEAD").decode().strip()
        texts = (f"{name}\0{(self.root / name).read_text(encoding='utf-8')}" for name in self._files())
        return hashlib.sha256("\0".join(texts).encode()).hexdigest()

    @property
    def is_changed(self) -> bool:
        """Whether the working tree differs from the last commit. copy() writes the commit, without these changes."""
        return self._is_repository and bool(self._git("status", "--porcelain", "--untracked-files=no"))

    @property
    def _is_repository(self) -> bool:
        return (self.root / ".git").exists()

    def _git(self, *words: str) -> bytes:
        return subprocess.run(["git", *words], cwd=self.root, stdout=subprocess.PIPE, check=True).stdout

    def _files(self) -> list[str]:
        found = [path.relative_to(self.root) for path in self.root.rglob("*") if path.is_file()]
        return sorted(path.as_posix() for path in found if not {"build", "__pycache__"} & set(path.parts))

    def copy(self, to: Path) -> None:
        """Writes the project's files to a folder. If the project is a repository, writes those of the last commit."""
        if self._is_repository:
            with tarfile.open(fileobj=io.BytesIO(self._git("archive", "HEAD"))) as packed:
                packed.extractall(to, filter="data")
        else:
            shutil.copytree(self.root, to, ignore=shutil.ignore_patterns("build", "__pycache__"))

    def sources(self, root: Path) -> list[str]:
        """Returns the files of a copy that mutants are planted in."""
        found = [path for folder in self.settings["sources"] for path in (root / folder).rglob("*")]
        names = sorted(path.relative_to(root).as_posix() for path in found if path.suffix in SUFFIXES)
        without = tuple(self.settings.get("without", ()))
        generated = ("lanewise/_lib/", "build/")
        return [name for name in names if not name.startswith((*without, *generated))]

    # -- commands --

    @property
    def prepare(self) -> list[str]:
        """The commands that build a copy of the project."""
        return [self._fill(command, "", "") for command in self.settings["prepare"]]

    def plan(self, root: Path, file: str) -> Plan:
        """Returns what is built and tested for mutants of a file. `root` is the copy's folder."""
        matching = [each for each in self.settings["folder"] if _is_within(file, each["path"])]
        entry = max(matching, key=lambda each: len(each["path"]))
        operations = " ".join(_operations(root, file))
        stem = Path(file).stem
        tests: list[str] = []
        for command in [*entry["tests"], *self._unnamed(root)]:
            if "{operations}" in command and command.startswith("tests/"):
                either = " or ".join(operations.split())
                tests += [command.replace("{operations}", shlex.quote(either))] if either else []
            elif "*" in command:
                found = sorted(root.glob(command.replace("{stem}", stem)))
                tests += [" ".join(path.relative_to(root).as_posix() for path in found)] if found else []
            else:
                tests.append(self._fill(command, operations, stem))
        build = [self._fill(command, operations, stem) for command in entry["build"]]
        return Plan(build, list(dict.fromkeys(tests)))

    def _unnamed(self, root: Path) -> list[str]:
        """Returns the folders of tests that the TOML file names neither in a command nor in `never`; they run for every
        mutant."""
        folders = _folders_of_tests(root)
        text = " ".join(command for each in self.settings["folder"] for command in each["tests"])
        named = set(re.findall(r"\btests/(\w+)", text)) | set(self.settings.get("never", ()))
        return [f"tests/{name}" for name in sorted(folders - named)]

    def _fill(self, command: str, operations: str, stem: str) -> str:
        return command.format(isas=" ".join(isas()), operations=operations, stem=stem).rstrip()

    def words(self, command: str) -> list[str]:
        """Returns the words of a command; one that begins with tests/ becomes a call of pytest."""
        words = shlex.split(command)
        if words[0].startswith("tests/"):
            return [sys.executable, "-m", "pytest", "-q", "-x", *words]
        return [sys.executable, *words[1:]] if words[0] == "python" else words


@cache
def isas() -> tuple[str, ...]:
    """Returns the instruction sets that mutants are built for: scalar, and this machine's best up to AVX2 or NEON."""
    able = [name for name, reason in environment.testable().items() if not reason]
    return ("scalar", *[name for name in ("avx2", "avx", "sse2", "neon") if name in able][:1])


def _is_within(file: str, folder: str) -> bool:
    return not folder or file == folder or file.startswith(folder + "/")


@cache
def _folders_of_tests(root: Path) -> frozenset[str]:
    return frozenset(path.relative_to(root).parts[1] for path in root.glob("tests/*/**/test_*.py"))


@cache
def _includes(root: Path) -> dict[str, set[str]]:
    """Returns, for each file in core/, the files that it includes directly."""
    texts = {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in root.glob("core/**/*.[ch]")
    }
    named = {path: re.findall(r'#include "([^"]+)"', text) for path, text in texts.items()}
    folders = {path: ("core", path.rpartition("/")[0]) for path in texts}
    return {
        path: {f"{folder}/{name}" for name in names for folder in folders[path]} & texts.keys()
        for path, names in named.items()
    }


def _operations(root: Path, file: str) -> list[str]:
    """Returns the operations that a file belongs to. The file is an operation's contract, shader or header in core/ops,
    or a file that this header includes, directly or not. Returns none if there are more than MAX_OPERATIONS."""
    contracts = {path.stem for path in (root / "contracts").glob("*.yaml")}
    names = {Path(file).stem}
    if file.startswith("core/"):
        including = {file, re.sub(r"\.c$", ".h", file)}
        while more := {path for path, included in _includes(root).items() if included & including} - including:
            including |= more
        names = {Path(path).stem for path in including if path.startswith("core/ops/")}
    found = sorted(names & contracts)
    return found if len(found) <= MAX_OPERATIONS else []
