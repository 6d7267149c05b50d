"""Tests wheels: their tags and contents, and that pip builds and installs one on a machine that has only Python."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from native import release
from native.errors import BuildError
from native.targets import TARGETS, host

ROOT = Path(__file__).parents[2]
X86 = ("scalar", "sse2", "avx", "avx2", "avx512")
CONTENTS = {
    "x86_64-linux": ("lanewise/_ext.abi3.so", ".so", X86),
    "aarch64-linux": ("lanewise/_ext.abi3.so", ".so", ("scalar", "neon")),
    "x86_64-macos": ("lanewise/_ext.abi3.so", ".dylib", X86),
    "aarch64-macos": ("lanewise/_ext.abi3.so", ".dylib", ("scalar", "neon")),
    "x86_64-windows": ("lanewise/_ext.pyd", ".dll", X86),
}
MAGIC = {".so": b"\x7fELF", ".dylib": b"\xcf\xfa\xed\xfe", ".dll": b"MZ"}


def zig() -> str:
    return subprocess.check_output([sys.executable, "-m", "ziglang", "version"], text=True).strip()


@pytest.mark.parametrize("name", sorted(CONTENTS))
def test_a_wheel_for_each_platform(small: Path, build: Callable, name: str) -> None:
    done = build("--wheel", name)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(": built\n" if TARGETS[name] == host() else ": built, not run\n")
    (path,) = (small / "dist").glob("*.whl")
    assert path.name.endswith(f"-cp311-abi3-{TARGETS[name].wheel_platform}.whl")
    extension, suffix, isas = CONTENTS[name]
    with zipfile.ZipFile(path) as wheel:
        names = set(wheel.namelist())
        assert {f"lanewise/_lib/kernels_{isa}{suffix}" for isa in isas} == {n for n in names if "/kernels_" in n}
        assert {extension, "lanewise/_lib/manifest.json", "lanewise/_lib/include/lanewise_table.h"} <= names
        (bill,) = (json.loads(wheel.read(n)) for n in names if n.endswith(".dist-info/sboms/lanewise.cdx.json"))
        assert bill["metadata"]["tools"]["components"] == [{"type": "application", "name": "zig", "version": zig()}]
        assert {wheel.read(f"lanewise/_lib/kernels_{isa}{suffix}")[: len(MAGIC[suffix])] for isa in isas} == {
            MAGIC[suffix]
        }


# Builds a platform's binaries in this checkout, not in a copy, so that only changes since the last run are compiled.
# Takes turns with other builds of the platform, as native/hook.py does.
COMPILE = """
import sys
import support
from native import build, compiler
from native.targets import TARGETS
target, using = TARGETS[sys.argv[1]], compiler.choose()
if sys.argv[2]:
    target, using = support.compiled_quickly(target, using, sys.argv[2])
with build.lock(target):
    print(*build.binaries_of(target, using, sys.argv[3:]), sep="\\n")
"""


def _compile(folder: Path, name: str, level: str = "", *isas: str) -> list[str]:
    """Returns what COMPILE prints: the steps of the build, then the files of the package. Runs it in `folder`, outside
    the checkout, because the fixture `build` does so, too: where zig's own files are below the current folder, zig
    compiles its C libraries again, which takes a minute for Windows."""
    command = [sys.executable, "-c", COMPILE, name, level, *isas]
    environment = {key: value for key, value in os.environ.items() if key not in ("CC", "CFLAGS", "LDFLAGS")}
    environment["PYTHONPATH"] = os.pathsep.join(map(str, (ROOT, ROOT / "tests")))
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("name", "level", "isas"),
    [
        ("aarch64-linux", "", ()),  # as native/test_neon.py builds it
        # Other tests optimize the same kernels for Linux; here, headers, symbols and linkers differ.
        ("aarch64-macos", "-O0", ("neon",)),
        ("x86_64-windows", "-O0", ("avx2",)),
    ],
)
def test_the_whole_of_lanewise_compiles_for_other_platforms(
    tmp_path: Path, name: str, level: str, isas: tuple[str, ...]
) -> None:
    said = _compile(tmp_path, name, level, *isas)
    assert "warning" not in " ".join(said)
    target = TARGETS[name]
    expected = {f"_lib/{target.library(isa)}" for isa in target.isas if not isas or isa.name in isas}
    assert {target.extension, *expected} <= set(said)


def test_a_wheel_of_another_compiler_is_for_this_system_alone(small: Path, build: Callable) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    done = build("--wheel", host().name, CC="gcc")
    assert done.returncode == 0, done.stderr
    (path,) = (small / "dist").glob("*.whl")
    assert "manylinux" not in path.name
    assert "cp311-abi3-linux_" in path.name
    other = build("--wheel", "aarch64-macos", CC="gcc")
    assert f"CC names a compiler for {host().name}; unset it to build for aarch64-macos" in other.stderr


def test_emcc_compiles_for_pyodide_alone(build: Callable, tmp_path: Path) -> None:
    """The build recognizes emcc by its --version, because `pyodide build` calls it cc."""
    emcc = tmp_path / "cc"
    emcc.write_text("#!/bin/sh\necho 'emcc (Emscripten gcc/clang-like replacement) 3.1.6 ()'\n")
    emcc.chmod(0o755)
    done = build("--wheel", "x86_64-linux", CC=str(emcc))
    assert done.returncode != 0
    assert "CC names a compiler for wasm32-pyodide; unset it to build for x86_64-linux" in done.stderr


def test_the_archive_builds_and_runs_where_there_is_only_python(sources: Path, tmp_path: Path) -> None:
    """Installs the unpacked source archive with no compiler on the path, and runs the demo. One file is compiled, once,
    and the extension is linked: the rest are copies from this checkout, which the build uses only if they come from the
    sources of the archive, with all headers."""
    _compile(tmp_path, host().name)
    made, copied = (root / "build" / host().name for root in (ROOT, sources))
    shutil.copytree(made, copied, ignore=shutil.ignore_patterns("loopback.*"))  # which tests/loopback may be writing
    for path in (copied / "objects" / "module.o", copied / host().extension):
        path.unlink()
    folder = tmp_path / "venv"
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    names = ("HOME", "LANG", "PIP_CERT", "PIP_INDEX_URL", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "SYSTEMROOT")
    names += ("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "PIP_CONFIG_FILE", "PIP_EXTRA_INDEX_URL")
    environment = {name: os.environ[name] for name in names if name in os.environ} | {"PATH": str(programs)}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [str(programs / "python"), *words]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done

    log = run("-m", "pip", "install", "--verbose", "--disable-pip-version-check", str(sources)).stderr
    assert re.findall(r"^\s*built (\S+)", log, re.MULTILINE) == ["module.o", host().extension]
    said = run("-m", "lanewise", "demo").stdout
    assert "All" in said and "predictions agree" in said
    tags = next(folder.rglob("lanewise-*.dist-info/WHEEL")).read_text()
    assert all(f"Tag: cp311-abi3-{platform}" in tags for platform in host().wheel_platform.split("."))
    assert run("-c", "import sys, lanewise; print('numpy' in sys.modules)").stdout == "False\n"


def test_one_binary_for_every_python(tmp_path: Path) -> None:
    """The extension of this checkout works in every Python from 3.11 on that is installed next to the running one."""
    program = "import lanewise as lw; print(float((lw.asarray([1.0, 2.0]) + 1).sum()))"
    pythons = sorted(Path(sys.base_prefix).parent.glob("*/bin/python3.1[1-9]"))
    if not pythons:
        pytest.skip("no other Python is installed next to this one")
    for python in pythons:
        environment = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
        done = subprocess.run(
            [python, "-P", "-c", program], env=environment, capture_output=True, text=True, cwd=tmp_path
        )
        assert (done.stdout, done.stderr) == ("5.0\n", ""), python


@pytest.mark.parametrize(
    "name",
    [
        "lanewise-0.1.0-cp312-abi3-pyodide_2024_0_wasm32.whl",
        "lanewise-0.1.0-cp312-abi3-pyemscripten_2024_0_wasm32.pyodide_2025_0_wasm32.whl",
        "lanewise-0.1.0-cp312-abi3-pyemscripten_2024_wasm32.whl",
        "lanewise-0.1.0-cp311-abi3-linux_x86_64.whl",
        "lanewise-cp311-abi3-win_amd64.whl",
        "lanewise.tar.gz",
    ],
)
def test_pypi_would_refuse_these_names(name: str) -> None:
    with pytest.raises(BuildError, match=f"^{re.escape(name)}: "):
        release.check_names([name])


def test_pypi_takes_the_names_of_the_wheels() -> None:
    tags = [target.wheel_platform for target in TARGETS.values() if target.binary_format != "wasm"]
    tags.append(".".join(tag for tag in TARGETS["wasm32-pyodide"].wheel_platform.split(".") if "emscripten" in tag))
    release.check_names([*(f"lanewise-0.1.0-cp311-abi3-{tag}.whl" for tag in tags), "lanewise-0.1.0.tar.gz"])
