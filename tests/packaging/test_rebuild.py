"""Tests what `python native/build.py` builds, rebuilds and refuses, in the miniature that conftest.py makes."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from native.binaries import read
from native.targets import host

LIBRARIES = {f"kernels_{isa.name}" for isa in host().isas}


def _built(output: str) -> set[str]:
    return {Path(name).stem for name in re.findall(r"^built (\S+)", output, flags=re.MULTILINE)} - {"_ext.abi3"}


def test_makes_only_what_changed(small: Path, build: Callable) -> None:
    first = build()
    assert first.returncode == 0, first.stderr
    generated = {"lanewise_dtypes", "lanewise_operations", "lanewise_shaders"}
    native = {path.stem for folder in ("memory", "pool", "system") for path in (small / "native" / folder).glob("*.c")}
    assert first.stdout.startswith("building kernels.o and ")  # before minutes of compiling
    assert _built(first.stdout) == LIBRARIES | native | generated | {"module", "kernels"}

    for path in small.rglob("*.[ch]"):
        path.touch()
    assert build().stdout == f"{host().name}: nothing changed\n"

    with (small / "core" / "kernel.h").open("a") as file:
        file.write("/* changed */\n")
    assert _built(build().stdout) >= {"kernels"}

    with (small / "native" / "extension" / "module.c").open("a") as file:
        file.write("/* changed */\n")
    assert _built(build().stdout) == {"module"}

    assert _built(build(CFLAGS="-fno-builtin").stdout) >= {"kernels"}


def test_repairs_what_was_deleted(small: Path, build: Callable) -> None:
    build()
    placed, made = sorted(LIBRARIES)[:2]
    (small / "lanewise" / "_lib" / f"{placed}.so").unlink()
    (small / "build" / host().name / f"{made}.so").unlink()
    (small / "lanewise" / "_lib" / "kernels_of_old.so").touch()
    assert _built(build().stdout) == {made}
    assert {path.stem for path in (small / "lanewise" / "_lib").glob("*.so")} == LIBRARIES


def test_the_manifest_lists_what_is_there(small: Path, build: Callable) -> None:
    facts = small / "contracts" / "facts.yaml"
    facts.write_text(re.sub(r"(abi_version:) \d+", r"\1 71", facts.read_text()))
    build()
    manifest = json.loads((small / "lanewise" / "_lib" / "manifest.json").read_text())
    assert (manifest["abi"], manifest["signature"]) == (71, f"{0x12AB:016x}")
    assert list(manifest["libraries"]) == [*(isa.name for isa in host().isas), "wgpu"]
    for row in manifest["libraries"].values():
        content = (small / "lanewise" / "_lib" / row["file"]).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (row["size"], row["sha256"])


def test_libraries_stand_alone(small: Path, build: Callable) -> None:
    build()
    for path in (small / "lanewise" / "_lib").glob("*.so"):
        symbols = read(path)
        assert (symbols.undefined, symbols.exported, symbols.needed) == ((), ("lanewise_kernels",), ())
    assert read(small / "lanewise" / "_ext.abi3.so").exported == ("PyInit__ext",)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("float elsewhere(float x); float f(float x) { return elsewhere(x); }", "calls elsewhere"),
        ('__attribute__((visibility("default"))) float f(float x) { return x; }', "exports"),
    ],
)
def test_a_library_that_does_not_stand_alone_is_refused(small: Path, build: Callable, code: str, message: str) -> None:
    with (small / "core" / "kernel.h").open("a") as file:
        file.write('__attribute__((visibility("default"))) ' + code if message == "calls elsewhere" else code)
    done = build()
    assert done.returncode != 0
    assert message in done.stderr
    assert "kernels_" in done.stderr
    assert not (small / "lanewise" / "_lib").exists()


@pytest.mark.parametrize("variable", ["CFLAGS", "CPPFLAGS", "LDFLAGS", "CC"])
@pytest.mark.parametrize("flag", ["-ffast-math", "-Ofast", "-funsafe-math-optimizations", "-ffp-contract=fast"])
def test_flags_that_change_arithmetic_are_refused(build: Callable, variable: str, flag: str) -> None:
    done = build(**{variable: f"cc {flag}" if variable == "CC" else f"-O2 {flag}"})
    assert done.returncode != 0
    assert f"{variable} contains {flag}" in done.stderr
    assert f"remove it from {variable}" in done.stderr


def test_another_compiler(small: Path, build: Callable, tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    # flags as a Linux distribution sets them; the build's own flags come later and take precedence
    flags = "-O2 -g -march=native -fstack-protector-strong -D_FORTIFY_SOURCE=2"
    done = build("--into", str(tmp_path / "out"), CC="gcc", CFLAGS=flags)
    assert done.returncode == 0, done.stderr
    assert {path.stem for path in (tmp_path / "out" / "lanewise" / "_lib").glob("*.so")} == LIBRARIES
    assert not (small / "lanewise" / "_lib").exists()


def test_a_compiler_that_is_not_there(build: Callable) -> None:
    done = build(CC="no-such-compiler")
    assert done.returncode != 0
    assert "CC: expected a C compiler, but no-such-compiler is not installed" in done.stderr


def test_an_error_in_the_code_shows_the_command_and_the_place(small: Path, build: Callable) -> None:
    (small / "native" / "extension" / "module.c").write_text("int broken(\n")
    done = build()
    assert done.returncode != 0
    assert "module.c:1" in done.stderr
    assert "ziglang cc" in done.stderr
