"""Builds the site's JupyterLite, whose lab has the notebooks of site/notebooks."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import shutil
from pathlib import Path
from typing import Any

from commands import SiteError, run

__all__ = ["build"]

DESCRIPTION = "Notebooks about Lanewise, array math for Python, which run in the browser."
HERE = Path(__file__).resolve().parent
SETTINGS = HERE / "lite"
KERNEL = "@jupyterlite/pyodide-kernel-extension:kernel"
# Pyodide's loader runs in a worker, in dist/lite/extensions/@jupyterlite/pyodide-kernel-extension/static/
WORKER_TO_DIST = "../" * 5
# Extensions of JupyterLab that dependencies of requirements.txt install and that the site does not use
UNUSED_EXTENSIONS = frozenset({"jupyterlab_pygments"})


def build(
    folder: Path, workplace: Path, python: Path, wheel: Path, lab_wheel: Path, pyodide: str | None, epoch: str
) -> None:
    """Builds JupyterLite.

    folder:    where it is written
    workplace: an empty folder for the sources
    python:    the Python of the site's environment
    wheel:     lanewise's wheel in the site, which the lab loads
    lab_wheel: the same wheel with one tag, which `%pip install` finds: the kernel accepts wheels of one tag only
    pyodide:   the URL of Pyodide's folder; None if the site has its own
    epoch:     the time that the files carry, as in SOURCE_DATE_EPOCH
    """
    for name in ("jupyter_lite_config.json", "overrides.json"):
        shutil.copyfile(SETTINGS / name, workplace / name)
    settings = json.loads((SETTINGS / "jupyter-lite.json").read_text())
    if pyodide is not None:
        point_kernel_to_url(settings["jupyter-config-data"]["litePluginSettings"][KERNEL], pyodide, wheel)
    (workplace / "jupyter-lite.json").write_text(json.dumps(settings))
    contents = workplace / "contents"
    shutil.copytree(HERE / "notebooks", contents, ignore=shutil.ignore_patterns(".*", "*.py"))
    wheels = [lab_wheel, *kernel_wheels(python)]
    _set_metadata(contents)
    for path in contents.rglob("*"):
        os.utime(path, (int(epoch), int(epoch)))
    run(
        "building the notebooks",
        *(python, "-m", "jupyterlite_core", "build", "--output-dir", folder, "--source-date-epoch", epoch),
        *(argument for path in wheels for argument in ("--piplite-wheels", str(path))),
        *(f"--LiteBuildConfig.federated_extensions={path}" for path in _extensions(python)),
        folder=workplace,
        environment={**os.environ, "SOURCE_DATE_EPOCH": epoch, "JUPYTER_NO_CONFIG": "1"},
    )
    _reset_upload_times(folder)
    _edit_lab_page(folder)


def point_kernel_to_url(settings: dict[str, Any], pyodide: str, wheel: Path) -> None:
    """Changes the kernel's settings so that Pyodide comes from a URL. Lanewise's wheel is not in its lock file, because
    Pyodide resolves all addresses of that file relative to itself; it is loaded by an address relative to the site."""
    settings["pyodideUrl"] = pyodide + "pyodide.js"
    options = settings["loadPyodideOptions"]
    options["lockFileURL"] = "../pyodide/pyodide-lock.json"
    options["packages"] = [
        f"{WORKER_TO_DIST}wheels/{wheel.name}" if name == "lanewise" else name for name in options["packages"]
    ]


def kernel_wheels(python: Path) -> list[Path]:
    """Returns the wheels of site/lite/wheels.txt, which the kernel can install. Downloads them once."""
    listed = SETTINGS / "wheels.txt"
    digest = hashlib.sha256(listed.read_bytes()).hexdigest()[:16]
    folder = HERE.parent / ".cache" / f"site-wheels-{digest}"
    if not (folder / ".complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        options = ("--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:")
        platform = ("--platform", "any", "--implementation", "py", "--abi", "none", "--python-version", "312")
        run(
            "downloading the wheels of site/lite/wheels.txt",
            *(python, "-m", "pip", "download", *options, *platform, "--dest", folder, "-r", listed),
        )
        (folder / ".complete").touch()
    return sorted(folder.glob("*.whl"))


def _extensions(python: Path) -> list[Path]:
    """Returns the folders of the JupyterLab extensions that the site uses."""
    shared = python.parent.parent / "share" / "jupyter" / "labextensions"
    found = [path.parent for pattern in ("*", "@*/*") for path in shared.glob(f"{pattern}/package.json")]
    used = sorted(path for path in found if path.name not in UNUSED_EXTENSIONS)
    if not any(path.name == "pyodide-kernel-extension" for path in used):
        found_names = ", ".join(path.name for path in used) or "none"
        raise SiteError(
            f"extensions of JupyterLab: expected pyodide-kernel-extension in {shared}, got {found_names}; "
            "delete .cache/site-venv and build again"
        )
    return used


def _set_metadata(contents: Path) -> None:
    """Gives the notebooks the metadata that the lab itself would write. With other metadata, a notebook would count as
    changed as soon as it is opened."""
    metadata = json.loads((SETTINGS / "notebook_metadata.json").read_text())
    for path in contents.glob("*.ipynb"):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        notebook["metadata"] = metadata
        path.write_text(json.dumps(notebook), encoding="utf-8")


def _reset_upload_times(folder: Path) -> None:
    """Replaces the upload times of wheels in the package index, which differ from one build to the next."""
    index = folder / "pypi" / "all.json"
    before = index.read_bytes()
    content: dict[str, Any] = json.loads(before)
    for package in content.values():
        for file in itertools.chain.from_iterable(package["releases"].values()):
            file["upload_time"] = file["upload_time_iso_8601"] = "1970-01-01T00:00:00Z"
    after = (json.dumps(content, indent=2, sort_keys=True) + "\n").encode()
    index.write_bytes(after)
    _replace_once(folder / "jupyter-lite.json", hashlib.sha256(before).hexdigest(), hashlib.sha256(after).hexdigest())


def _edit_lab_page(folder: Path) -> None:
    """Gives the lab's page this site's title, description and manifest, and adds what JupyterLite leaves out: a
    language, an icon (without it, browsers request /favicon.ico) and a script. Removes pages of apps that are not
    built."""
    page = folder / "lab" / "index.html"
    shutil.copyfile(SETTINGS / "wait_async.js", page.with_name("wait_async.js"))
    head = [
        "<title>Lanewise notebooks</title>",
        '<link rel="icon" href="favicon.ico">',
        '<script src="wait_async.js"></script>',
    ]
    _replace_once(page, "WASM powered Jupyter running in the browser.", DESCRIPTION)
    _replace_once(page, "<html>", '<html lang="en">')
    _replace_once(page, "<title>JupyterLite</title>", "".join(head))
    manifest = {"name": "Lanewise notebooks", "short_name": "Lanewise", "description": DESCRIPTION, "start_url": "lab/"}
    (folder / "manifest.webmanifest").write_text(json.dumps(manifest, indent=1) + "\n")
    shutil.rmtree(folder / "doc", ignore_errors=True)


def _replace_once(path: Path, before: str, after: str) -> None:
    """Replaces the only occurrence of a text in a file of JupyterLite."""
    text = path.read_text()
    if text.count(before) != 1:
        raise SiteError(
            f"JupyterLite's {path.name}: expected {before!r} once, got it {text.count(before)} times; "
            "change site/notebooks_app.py for this version of JupyterLite"
        )
    path.write_text(text.replace(before, after))
