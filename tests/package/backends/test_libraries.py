"""Tests that damaged or missing kernel libraries cause a warning or an error that names the file, and never a crash."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lanewise as lw
from lanewise.backends import libraries

DEFAULT = str(lw.init_backend("cpu"))
NEEDS_TWO = pytest.mark.skipif(DEFAULT == "scalar", reason="this machine has one CPU backend only")


@pytest.fixture
def package(tmp_path):
    """Returns a copy of the package, for the test to damage."""
    source = Path(lw.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__", "demo", "bench")
    shutil.copytree(source, tmp_path / "lanewise", ignore=ignored)
    return tmp_path / "lanewise"


def run(package: Path, code: str) -> subprocess.CompletedProcess[str]:
    kept = "LANEWISE_HIDE"
    environment = {
        name: value for name, value in os.environ.items() if name == kept or not name.startswith("LANEWISE_")
    }
    environment["PYTHONPATH"] = str(package.parent)
    environment.pop("PYTHONSAFEPATH", None)
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=package.parent, capture_output=True, text=True, check=False
    )


def library(package: Path, name: str) -> Path:
    manifest = json.loads((package / "_lib" / "manifest.json").read_text())
    return package / "_lib" / manifest["libraries"][name]["file"]


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:4096])


def corrupt(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_the_copy_works(package):
    done = run(package, "import lanewise as lw; print(lw.__file__, lw.ones(1).backend)")
    assert done.stdout.split() == [str(package / "__init__.py"), DEFAULT], done.stderr


@NEEDS_TWO
@pytest.mark.parametrize("damage", [truncate, corrupt, Path.unlink])
def test_a_damaged_default_library(package, damage):
    """A warning names the damaged file, and the next best backend is used. Selecting the damaged one fails."""
    path = library(package, DEFAULT)
    damage(path)
    code = f"""
import lanewise as lw
info = {{str(info.name): info for info in lw.backends()}}["{DEFAULT}"]
print(lw.ones(2).backend != "{DEFAULT}", info.available, info.reason)
lw.use_backend("{DEFAULT}")
"""
    done = run(package, code)
    assert done.stdout.startswith(f"True False {path}: ") and "reinstall lanewise" in done.stdout
    assert f"RuntimeWarning: lanewise: {path}: " in done.stderr
    assert done.stderr.strip().splitlines()[-1].startswith(f"lanewise.errors.LibraryError: {path}: ")


def test_no_library_that_opens(package):
    for name in json.loads((package / "_lib" / "manifest.json").read_text())["libraries"]:
        truncate(library(package, name))
    done = run(package, "import lanewise")
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1].startswith("lanewise.errors.LibraryError: ")


def test_scalar_is_the_default_if_no_other_library_opens(package):
    for name in json.loads((package / "_lib" / "manifest.json").read_text())["libraries"]:
        if name != "scalar":
            truncate(library(package, name))
    assert run(package, "import lanewise as lw; print(lw.ones(1).backend)").stdout.strip() == "scalar"


def test_a_checkout_that_is_not_built(package):
    for path in package.glob("_ext*"):
        path.unlink()
    last = run(package, "import lanewise").stderr.strip().splitlines()[-1]
    assert last.startswith(f"ImportError: lanewise: expected its compiled extension next to {package}")
    assert "run Python with -P or from another folder, or run python native/build.py" in last


def test_an_extension_that_does_not_load(package):
    next(package.glob("_ext*.so")).write_bytes(b"not a library")
    error = run(package, "import lanewise").stderr.strip()
    assert error.splitlines()[-1].startswith("ImportError: lanewise: cannot load its compiled extension (")
    assert "reinstall lanewise" in error and "During handling" not in error


@NEEDS_TWO
@pytest.mark.parametrize("damage", [truncate, corrupt, Path.unlink])
def test_a_damaged_library_fails_when_it_is_used(package, damage):
    path = library(package, "scalar")
    damage(path)
    code = """
import lanewise as lw
assert lw.ones(2).tolist() == [1.0, 1.0]
for call in (lw.use_backend, lw.init_backend, lw.ones(2).to):
    try:
        call("scalar")
    except lw.LibraryError as error:
        print(error)
"""
    done = run(package, code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(f"{path}: ") == 3 and done.stdout.count("reinstall lanewise") == 3


@pytest.mark.parametrize("damage", [truncate, corrupt, Path.unlink, lambda path: path.write_bytes(b"")])
def test_damaged_shaders_fail_when_webgpu_is_asked_for(package, damage):
    """They do not make a CPU program fail, and AUTO leaves WebGPU out."""
    path = library(package, "wgpu")
    damage(path)
    code = """
import lanewise as lw
print(lw.ones(2).tolist(), lw.init_backend("auto").is_gpu, [info.reason for info in lw.backends()][1])
lw.ones(2).to("wgpu")
"""
    done = run(package, code)
    assert done.stdout.startswith(f"[1.0, 1.0] False {path}: ") and "reinstall lanewise" in done.stdout, done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(
        "lanewise.errors.BackendUnavailableError: to: expected a backend of this machine, got wgpu: "
    )
    assert f"{path}: " in last and "reinstall lanewise" in last


@NEEDS_TWO
def test_a_library_in_place_of_another(package):
    """The manifest gives scalar another library's file and hash. Only the name in the loaded library reveals that."""
    path = package / "_lib" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["libraries"]["scalar"] = manifest["libraries"][DEFAULT]
    path.write_text(json.dumps(manifest))
    done = run(package, "import lanewise as lw; lw.init_backend('scalar')")
    assert f"expected kernels of scalar, got kernels of {DEFAULT}" in done.stderr
    assert "LibraryError" in done.stderr


def test_an_older_manifest(package):
    path = package / "_lib" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["signature"] = "0" * 16
    path.write_text(json.dumps(manifest))
    last = run(package, "import lanewise").stderr.strip().splitlines()[-1]
    assert last.startswith(f"lanewise.errors.LibraryError: {path}: ") and "signature 0000000000000000" in last


@pytest.mark.parametrize("text", [None, "", "[]", '{"abi": 1}', "\0"])
def test_no_manifest_or_a_damaged_one(package, text):
    path = package / "_lib" / "manifest.json"
    if text is None:
        path.unlink()
    else:
        path.write_text(text)
    last = run(package, "import lanewise").stderr.strip().splitlines()[-1]
    assert last.startswith(f"lanewise.errors.LibraryError: {path}: ")


def test_a_build_without_a_library(package):
    path = package / "_lib" / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["libraries"][DEFAULT]
    path.write_text(json.dumps(manifest))
    code = (
        f"import lanewise as lw; print(lw.ones(1).backend, [i.reason for i in lw.backends() if i.name == '{DEFAULT}'])"
    )
    done = run(package, code)
    assert done.stdout.split()[0] != DEFAULT and "has no" in done.stdout, done.stderr
    manifest["left_out"][DEFAULT] = "an old compiler"
    path.write_text(json.dumps(manifest))
    assert "library: an old compiler" in run(package, code).stdout


@NEEDS_TWO
def test_a_warning_points_to_the_users_import(package):
    truncate(library(package, DEFAULT))
    done = run(package, "import sys\nimport lanewise")
    assert done.returncode == 0 and done.stderr.startswith("<string>:2: RuntimeWarning: lanewise: "), done.stderr


CHANGES = {
    "the abi": (("abi",), lambda abi: abi + 1, "expected libraries of ABI "),
    "the signature": (("signature",), lambda text: f"{int(text, 16) ^ 1:016x}", "expected libraries of ABI "),
    "a larger size": (("libraries", "scalar", "size"), lambda size: size + 1, "bytes, got "),
    "a smaller size": (("libraries", "scalar", "size"), lambda size: size - 1, "bytes, got "),
    "the hash": (("libraries", "scalar", "sha256"), lambda text: text[::-1], "SHA-256 differs"),
    "a missing file": (("libraries", "scalar", "file"), lambda name: f"no {name}", "cannot read the file"),
    "a missing row": (("libraries",), lambda rows: {}, "this build of lanewise has no library for 'scalar'"),
}


@pytest.mark.parametrize("change", [None, *CHANGES])
def test_each_difference_from_the_manifest_has_its_error(package, monkeypatch, change):
    path = package / "_lib" / "manifest.json"
    manifest = json.loads(path.read_text())
    if change:
        (*names, last), replace, message = CHANGES[change]
        rows = manifest
        for name in names:
            rows = rows[name]
        rows[last] = replace(rows[last])
        path.write_text(json.dumps(manifest))
    monkeypatch.setattr(libraries, "DIRECTORY", path.parent)
    if change is None:
        assert libraries.checked_path("scalar") == library(package, "scalar")
        return
    with pytest.raises(lw.LibraryError, match=message):
        libraries.checked_path("scalar")
