"""Builds the site into site/dist:

    python site/build.py                    with its own copy of Pyodide, so that no page needs another server
    python site/build.py --pyodide URL      for publishing: pages load Pyodide from the URL of the release's folder,
                                            such as https://cdn.jsdelivr.net/pyodide/v0.27.7/full/

Needs Python 3.11 or later with pip and venv. Downloads everything else: the packages of requirements.txt into
.cache/site-venv, Pyodide into the user's cache. The same sources give the same files, byte for byte."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036  (pip checks the version, too, but this runs before pip)
    sys.exit("site/build.py needs Python 3.11 or later; this is " + sys.version.split()[0])

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT), str(HERE)]

import distribution  # noqa: E402
import notebooks_app  # noqa: E402
import virtual_environment  # noqa: E402
from commands import SiteError, announce, output_of, run  # noqa: E402

REQUIREMENTS = HERE / "requirements.txt"
ENVIRONMENT = ROOT / ".cache" / "site-venv"
DIST = HERE / "dist"
LAB_TAG = "pyodide_2024_0"  # the ABI of the lab's Pyodide 0.27; JupyterLite's kernel 0.6 accepts wheels of one tag only
MAX_SITE_BYTES = 60 << 20  # a visitor downloads about half of the site
DEFAULT_EPOCH = 1767225600  # 2026-01-01, the time of the site's files outside of a git checkout


def prepare() -> Path:
    """Creates or updates the environment of the build and returns its Python."""
    return virtual_environment.create(ENVIRONMENT, REQUIREMENTS)


def build(dist: Path = DIST, *, pyodide: str | None = None, support: Path | None = None, isolated: bool = True) -> Path:
    """Builds the site and returns its folder. An older site there is replaced once the new one is complete.

    dist:     the site's folder: new, empty, or one with a site
    pyodide:  the URL of the folder from which pages load Pyodide; None copies the checked release into the site
    support:  the file with the tests' support matrix; None takes that of the last run of the tests, if it exists
    isolated: whether pip installs what lanewise's build needs; otherwise this Python must have it
    """
    dist = dist.resolve()
    check_dist(dist)
    if support is not None and not support.is_file():
        raise SiteError(
            f"--support: expected a file, got {support}; python tests/run.py writes build/reports/support.md"
        )
    if pyodide is not None:
        pyodide = pyodide.rstrip("/") + "/"
    dist.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=dist.parent, prefix=f".{dist.name}-") as temporary:
        workplace, output = Path(temporary), Path(temporary) / "dist"
        output.mkdir()
        _build(output, workplace, pyodide, support, isolated)
        check_size(output)
        check_dist(dist)  # again, because a build takes minutes
        replace(dist, output, workplace / "replaced")
    return dist


def check_dist(dist: Path) -> None:
    """Raises SiteError if the site would replace anything other than an empty folder or a site."""
    if dist.exists() and not (dist.is_dir() and (not any(dist.iterdir()) or _is_site(dist))):
        raise SiteError(f"--dist: expected a new or empty folder, or one with a site, got {dist}; name another one")


def _is_site(folder: Path) -> bool:
    """Returns whether this program has written the folder: whether its config.json names a wheel that is there."""
    try:
        config = json.loads((folder / "config.json").read_bytes())
        return Path(folder / "wheels" / config["wheel"]).is_file()
    except (OSError, ValueError, LookupError, TypeError):  # absent, not JSON, or other JSON
        return False


def replace(dist: Path, output: Path, aside: Path) -> None:
    """Moves what is in the site's folder aside, and the new site there. All three paths are on one file system. A crash
    loses neither site: the caller deletes files only after the new site is in place."""
    replaced = dist.exists()
    if replaced:
        dist.rename(aside)
    try:
        output.rename(dist)
    except BaseException:
        if replaced:
            aside.rename(dist)
        raise


def _build(output: Path, workplace: Path, pyodide: str | None, support: Path | None, isolated: bool) -> None:
    time = epoch()
    folder = output / "pyodide"
    if pyodide is not None:
        announce(f"downloading {distribution.LOCK} of {pyodide}")
        distribution.write_lock_for_url(folder, pyodide)  # first, so that a wrong URL is reported at once
    python = prepare()
    wheel = build_wheel(output / "wheels", python if isolated else None, time)  # installs in every Pyodide
    lab_wheel = build_wheel(workplace / "wheels", python if isolated else None, time, "--tag", LAB_TAG)
    if pyodide is None:
        announce(f"fetching Pyodide {distribution.VERSION}")
        distribution.copy_release(folder, wheel, f"../wheels/{wheel.name}")
    shutil.copytree(HERE / "landing", output, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*", "__pycache__"))
    config = {
        "version": wheel.name.split("-")[1],
        "pyodide": pyodide or "pyodide/",
        "wheel": wheel.name,
        "revision": revision(),
    }
    (output / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    (workplace / "lite").mkdir()
    notebooks_app.build(output / "lite", workplace / "lite", python, wheel, lab_wheel, pyodide, time)
    build_reference(output / "reference", python, support, time)


def build_wheel(folder: Path, python: Path | None, time: str, *options: str) -> Path:
    """Builds a wheel for Pyodide. pip of `python` installs what the build needs; if `python` is None, this Python must
    have it."""
    command = [python or sys.executable, ROOT / "wasm" / "build.py", "--dist", folder, *options]
    command += [] if python else ["--no-build-isolation"]
    name = "building the lab's wheel" if options else "building the wheel"
    announce(name if options else f"{name}; compiling takes one to three minutes")
    output_of(name, *command, environment={**os.environ, "SOURCE_DATE_EPOCH": time})
    (wheel,) = folder.glob("*.whl")
    return wheel


def build_reference(folder: Path, python: Path, support: Path | None, time: str) -> None:
    """Builds the reference with the given support matrix, or with that of the last run of the tests."""
    options: list[str | Path] = [] if support is None else ["--support", support.resolve()]
    command = [python, HERE / "reference" / "render.py", "--out", folder, *options]
    run("building the reference", *command, environment={**os.environ, "SOURCE_DATE_EPOCH": time})


def check_size(output: Path) -> None:
    """Raises SiteError if the site is too large, and prints the sizes of its parts."""
    sizes = {part: sum(file.stat().st_size for file in _files(part)) for part in sorted(output.iterdir())}
    for path, size in sizes.items():
        print(f"{size / 1e6:8.1f} MB  {path.name}", flush=True)
    if sum(sizes.values()) > MAX_SITE_BYTES:
        limit, total = MAX_SITE_BYTES / (1 << 20), sum(sizes.values()) / (1 << 20)
        raise SiteError(f"the site: expected at most {limit:.1f} MiB, got {total:.1f}; leave out what no page needs")


def _files(part: Path) -> list[Path]:
    return [file for file in [part, *part.rglob("*")] if file.is_file()]


def epoch() -> str:
    """Returns the time that the site's files carry: SOURCE_DATE_EPOCH, or that of the commit, or DEFAULT_EPOCH."""
    return os.environ.get("SOURCE_DATE_EPOCH") or _git("log", "-1", "--format=%ct") or str(DEFAULT_EPOCH)


def revision() -> str:
    """Returns the checkout's revision, or "" in an unpacked archive."""
    return _git("rev-parse", "--short=12", "HEAD")


def _git(*arguments: str) -> str:
    try:
        return output_of("git", "git", *arguments, folder=ROOT).strip()
    except SiteError:  # not a checkout, or git is not installed
        return ""


def main() -> None:
    """Builds the site that the command line describes, or ends with a message that says why it could not be built."""
    parser = argparse.ArgumentParser(description="Builds the site into site/dist.")
    parser.add_argument("--dist", type=Path, default=DIST, help="folder of the site (default: site/dist)")
    parser.add_argument("--pyodide", metavar="URL", help="load Pyodide from this URL instead of copying it")
    parser.add_argument(
        "--support", type=Path, metavar="FILE", help="support matrix (default: build/reports/support.md)"
    )
    parser.add_argument(
        "--no-build-isolation", action="store_true", help="build the wheel with the packages of this Python"
    )
    arguments = parser.parse_args()
    try:
        dist = build(
            arguments.dist,
            pyodide=arguments.pyodide,
            support=arguments.support,
            isolated=not arguments.no_build_isolation,
        )
    except (SiteError, OSError) as error:  # OSError: a folder cannot be written, or the disk is full
        sys.exit(f"site/build.py: {error}")
    print(f"{dist}: serve it with python site/serve.py")


if __name__ == "__main__":
    main()
