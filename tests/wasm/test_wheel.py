"""Tests the wheels for Pyodide, compiled by zig and by emcc: every Pyodide has what their modules import, and each
wheel has the kernel libraries that its manifest lists."""

from __future__ import annotations

import ast
import hashlib
import io
import json
import re
import subprocess
import tokenize
import zipfile
from collections.abc import Iterator
from pathlib import Path

import auditwheel_emscripten
import pyodide_runner
import pytest
from engines import RELAXED_SINCE

from native.hook import NOT_IN_BROWSERS
from wasm import build, imports, module

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def unpacked(any_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(any_wheel) as archive:
        archive.extractall(folder)
    return folder / "lanewise"


@pytest.fixture(scope="session")
def libraries(any_wheel: Path) -> dict[str, str]:
    """The file name of each kernel library, by instruction set. Omits relaxed SIMD if the compiler does not support
    it."""
    names = {"simd128", "relaxed_simd"} - set(build.left_out(any_wheel))
    return {name: f"kernels_{name}.wasm" for name in names}


def test_zig_makes_every_library_but_that_which_no_browser_needs(wheel: Path) -> None:
    assert list(build.left_out(wheel)) == ["scalar"]


def test_modules_that_no_page_runs_are_left_out(unpacked: Path) -> None:
    assert (unpacked / "costs" / "timing.py").exists() and (unpacked / "demo" / "data").exists()
    for pattern in NOT_IN_BROWSERS:
        assert (ROOT / pattern).exists() and not (unpacked.parent / pattern).exists()


def test_python_lacks_only_comments_and_private_docstrings(unpacked: Path) -> None:
    paths = sorted(unpacked.rglob("*.py"))
    assert any("#" in (ROOT / "lanewise" / path.relative_to(unpacked)).read_text() for path in paths)
    for path in paths:
        text, source = path.read_text(), (ROOT / "lanewise" / path.relative_to(unpacked)).read_text()
        tree, expected = ast.parse(text), ast.parse(source)
        for (name, node), (_, original) in zip(definitions(tree), definitions(expected), strict=True):
            is_private = any(part.startswith("_") and not part.endswith("__") for part in name) or not name
            if is_private and path != unpacked / "__init__.py" and ast.get_docstring(original):
                assert ast.get_docstring(node) == "", (path, name)
                node.body[0] = original.body[0]
        dumps = [ast.dump(each, include_attributes=True) for each in (tree, expected)]
        begins = [re.sub(r"end_(lineno|col_offset)=\d+", "", each) for each in dumps]  # a docstring may end a body
        assert begins[0] == begins[1], path
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        assert not [token for token in tokens if token.type == tokenize.COMMENT], path


@pytest.mark.parametrize("name", ["webgpu/player.js", "backends/workers.js"])
def test_javascript_lacks_only_comments_and_indentation(unpacked: Path, name: str) -> None:
    lines = (unpacked / name).read_text().splitlines()
    source = (ROOT / "lanewise" / name).read_text().splitlines()
    assert not any("//" in line for line in lines)
    for line, original in zip(lines, source, strict=True):
        assert line == original.partition("//")[0].strip()


Definition = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def definitions(node: Definition, name: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Definition]]:
    """Yields a module and what it defines, each with the names of what contains it and its own."""
    yield name, node
    for child in node.body:
        if isinstance(child, Definition):
            yield from definitions(child, (*name, child.name))


def test_the_manifest_describes_the_libraries(unpacked: Path, libraries: dict[str, str]) -> None:
    manifest = json.loads((unpacked / "_lib" / "manifest.json").read_text())
    files = {name: entry["file"] for name, entry in manifest["libraries"].items()}
    assert files == libraries | {"wgpu": "shaders.wgsl"}
    for entry in manifest["libraries"].values():
        data = (unpacked / "_lib" / entry["file"]).read_bytes()
        assert (entry["size"], entry["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())


def test_kernels_import_nothing_and_export_their_table(unpacked: Path, libraries: dict[str, str]) -> None:
    there = [path for path in (unpacked / "_lib").iterdir() if path.name.startswith("kernels_")]
    assert {path.name for path in there} == set(libraries.values())
    for path in there:
        found = module.read(path)
        assert {entry.name for entry in found.imports} <= imports.LINKER, path.name
        assert set(found.exports) - imports.HOOKS == {"lanewise_kernels"}, path.name


def test_every_pyodide_has_what_the_extension_imports(unpacked: Path, pyodide: Path) -> None:
    """Compares signatures as well as names, because a call to an import with a different signature traps."""
    main = module.read(pyodide / "pyodide.asm.wasm")
    needed = [entry for entry in module.read(unpacked / "_ext.abi3.so").imports if entry.name not in imports.LINKER]
    assert {entry.module for entry in needed} <= {"env", "GOT.mem", "GOT.func"}
    absent = {entry.name for entry in needed if entry.name not in main.exports}
    assert not absent
    differing = {
        entry.name: (entry.signature, main.signatures.get(entry.name))
        for entry in needed
        if entry.kind == "function" and entry.signature != main.signatures.get(entry.name)
    }
    assert not differing


def test_every_pyodide_has_what_may_be_imported(pyodide: Path) -> None:
    main = module.read(pyodide / "pyodide.asm.wasm")
    assert set(main.exports) >= imports.C_LIBRARY


def test_node_accepts_the_modules_that_it_can_run(unpacked: Path, libraries: dict[str, str], node: str) -> None:
    """An engine without relaxed SIMD rejects the relaxed SIMD library when validating it, and accepts all others."""
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
    expected = dict.fromkeys(["_ext.abi3.so", *libraries.values()], True)
    if "relaxed_simd" in libraries:
        expected[libraries["relaxed_simd"]] = pyodide_runner.node_version(node)[0] >= RELAXED_SINCE
    assert valid == expected


def test_a_wheel_of_another_platform_is_refused_by_name(wheel: Path, with_micropip: pyodide_runner.Session) -> None:
    program = Path(__file__).parent / "programs" / "refused.py"
    messages = with_micropip.run(program, mounts={"/dist": wheel.parent})
    said = {
        "cp312-abi3-pyodide_2031_0_wasm32": "2031_0",
        "cp312-abi3-emscripten_3_1_45_wasm32": "3.1.45",
        "cp311-abi3-manylinux2014_x86_64": "manylinux2014",
    }
    wrong = {tags: message for tags, message in messages.items() if said[tags] not in message or "Error" not in message}
    assert len(messages) == len(said)
    assert not wrong


def test_auditwheel_finds_nothing_missing(unpacked: Path, libraries: dict[str, str]) -> None:
    """Checks the unpacked folder, because auditwheel reads only one of a wheel's tags, and may not know that tag."""
    needed = auditwheel_emscripten.show(unpacked.parent)
    modules = (f"_lib/{name}" for name in libraries.values())
    assert needed == {f"lanewise/{name}": [] for name in ("_ext.abi3.so", *modules)}


def test_tags_are_sorted_and_the_same_in_name_and_metadata(any_wheel: Path, unpacked: Path) -> None:
    build.inspect(any_wheel)
    python, abi, platforms = any_wheel.stem.split("-")[2:]
    (metadata,) = unpacked.parent.glob("*.dist-info/WHEEL")
    written = [line.partition(": ")[2] for line in metadata.read_text().splitlines() if line.startswith("Tag: ")]
    assert platforms.split(".") == sorted(platforms.split("."))
    assert sorted(written) == [f"{python}-{abi}-{platform}" for platform in platforms.split(".")]


def test_stubs_and_headers_are_left_out(unpacked: Path) -> None:
    assert not [path.name for path in unpacked.rglob("*") if path.suffix in (".pyi", ".h", ".c")]


def test_shaders_and_their_player_are_there(unpacked: Path) -> None:
    assert (unpacked / "_lib" / "shaders.wgsl").exists() and (unpacked / "webgpu" / "player.js").exists()


def test_a_wheel_too_large_for_a_page_is_refused(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "LARGEST_WHEEL", wheel.stat().st_size - 1)
    with pytest.raises(build.WheelError, match=r"leave out what no browser needs"):
        build.inspect(wheel)


def test_an_unknown_tag_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(build.WheelError, match=r"--tag: expected one of .*pyodide_2024_0.*, got 'pyodide_2031_0'"):
        build.build(tmp_path, tag="pyodide_2031_0")
