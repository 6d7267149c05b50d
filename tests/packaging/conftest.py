"""Fixtures for tests of the build: a miniature of Lanewise that builds quickly, and the source archive of
this checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SMALL = Path(__file__).parent / "small"

Build = Callable[..., subprocess.CompletedProcess[str]]

# This process's environment without variables that would change how the tests compile.
CLEAN = {name: value for name, value in os.environ.items() if name not in ("CC", "CFLAGS", "CPPFLAGS", "LDFLAGS")}


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source archive of this checkout."""
    folder = tmp_path_factory.mktemp("sdist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.tar.gz")
    return path


@pytest.fixture(scope="session")
def sources(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked source archive."""
    folder = tmp_path_factory.mktemp("sources")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    (root,) = folder.iterdir()
    return root


@pytest.fixture
def small(tmp_path: Path, sources: Path) -> Path:
    """A miniature of Lanewise in a temporary folder: its build scripts, with the files of tests/packaging/small in
    place of the other sources."""
    root = tmp_path / "small"
    for name in ("native", "wasm"):
        shutil.copytree(sources / name, root / name, ignore=shutil.ignore_patterns("extension", "cuda"))
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(sources / name, root / name)
    places = {"generate.py": "contracts", "kernel.h": "core", "module.c": "native/extension"}
    for name, place in places.items():
        (root / place).mkdir(parents=True, exist_ok=True)
        shutil.copy(SMALL / name, root / place / name)
    (root / "contracts" / "generator").mkdir()
    for name in ("facts.yaml", "generator/__init__.py", "generator/facts.py", "generator/fields.py"):
        shutil.copy(sources / "contracts" / name, root / "contracts" / name)
    shutil.copytree(sources / "core" / "include", root / "core" / "include")
    (root / "lanewise" / "backends").mkdir(parents=True)
    for name in ("_version.py", "backends/libraries.py"):
        shutil.copy(sources / "lanewise" / name, root / "lanewise" / name)
    return root


@pytest.fixture
def build(small: Path) -> Build:
    """Returns a function that runs native/build.py in the miniature of the fixture `small`."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "native/build.py", *arguments]
        return subprocess.run(command, cwd=small, env=CLEAN | environment, capture_output=True, text=True, check=False)

    return run
