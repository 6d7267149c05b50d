"""The wheel for Pyodide: what its modules ask for is in every Pyodide, and it has the kernels it says it has."""

from __future__ import annotations

import hashlib
import json
import subprocess
import zipfile
from pathlib import Path

import pyodide_fixture
import pyodide_runner
import pytest
from engines import RELAXED_SINCE

from wasm import imports, module


@pytest.fixture(scope="session")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder / "lanewise"


def test_the_manifest_describes_the_libraries(unpacked: Path) -> None:
    manifest = json.loads((unpacked / "_lib" / "manifest.json").read_text())
    files = {name: entry["file"] for name, entry in manifest["libraries"].items()}
    assert files == {
        "scalar": "kernels_scalar.so",
        "simd128": "kernels_simd128.wasm",
        "relaxed_simd": "kernels_relaxed_simd.wasm",
    }
    for entry in manifest["libraries"].values():
        data = (unpacked / "_lib" / entry["file"]).read_bytes()
        assert (entry["size"], entry["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())


def test_kernels_import_nothing_and_export_their_table(unpacked: Path) -> None:
    libraries = [path for path in (unpacked / "_lib").iterdir() if path.name.startswith("kernels_")]
    assert len(libraries) == 3
    for path in libraries:
        found = module.read(path)
        assert {entry.name for entry in found.imports} <= imports.LINKER, path.name
        assert set(found.exports) - imports.HOOKS == {"lanewise_kernels"}, path.name


def test_every_pyodide_has_what_the_extension_imports(unpacked: Path, pyodide: Path) -> None:
    """By name and by signature: a call with another one is a trap."""
    main = module.read(pyodide / "pyodide.asm.wasm")
    wanted = [entry for entry in module.read(unpacked / "_ext.abi3.so").imports if entry.name not in imports.LINKER]
    assert {entry.module for entry in wanted} <= {"env", "GOT.mem", "GOT.func"}
    absent = {entry.name for entry in wanted if entry.name not in main.exports}
    assert not absent
    differing = {
        entry.name: (entry.signature, main.signatures.get(entry.name))
        for entry in wanted
        if entry.kind == "function" and entry.signature != main.signatures.get(entry.name)
    }
    assert not differing


def test_every_pyodide_has_what_may_be_imported(pyodide: Path) -> None:
    main = module.read(pyodide / "pyodide.asm.wasm")
    assert set(main.exports) >= imports.C_LIBRARY


def test_node_takes_the_modules_that_it_should(unpacked: Path, node: str) -> None:
    """Relaxed SIMD is refused by validation alone where the engine lacks it, without opening anything."""
    files = sorted(path for path in unpacked.rglob("*") if path.suffix in (".so", ".wasm"))
    script = """
        const { readFileSync } = require("node:fs");
        const valid = process.argv.slice(1).map((path) => WebAssembly.validate(readFileSync(path)));
        console.log(JSON.stringify(valid));
    """
    done = subprocess.run(
        [node, "-e", script, *map(str, files)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    valid = dict(zip((path.name for path in files), json.loads(done.stdout), strict=True))
    assert valid.pop("kernels_relaxed_simd.wasm") == (pyodide_runner.node_version(node)[0] >= RELAXED_SINCE)
    assert valid == {"_ext.abi3.so": True, "kernels_scalar.so": True, "kernels_simd128.wasm": True}


def test_micropip_installs_it_from_a_file(wheel: Path, pyodide: Path, node: str) -> None:
    version = pyodide.name.removeprefix("pyodide-")
    packages = [pyodide / each if each.endswith(".whl") else each for each in pyodide_fixture.installer(version)]
    program = Path(__file__).parent / "programs" / "install.py"
    mounts = {"/dist": wheel.parent}
    assert pyodide_runner.run(pyodide, program, packages=packages, mounts=mounts, node=node) == [11.0, 22.0]
