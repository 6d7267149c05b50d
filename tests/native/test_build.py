"""Tests what native/build.py, compiler.py and targets.py decide before they compile anything: which libraries and files
belong to a package, which flags a compiler gets, and what is refused. No compiler runs."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from native import build, compiler, targets
from native.compiler import Compiler
from native.errors import BuildError
from native.targets import TARGETS, Target

ZIG = Compiler(("zig", "cc"), "zig", "0.0")
GCC = Compiler(("gcc",), "gcc", "gcc 1")
CLANG = Compiler(("clang",), "clang", "clang 1")
EMCC = Compiler(("emcc",), "emcc", "emcc 1\nCopyright")
LINUX, WINDOWS, PYODIDE = (TARGETS[name] for name in ("x86_64-linux", "x86_64-windows", "wasm32-pyodide"))


@pytest.fixture
def generated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Fakes the output of contracts/generate.py, and build steps: instead of running a command, a step writes its
    output as a small file, unless that exists."""
    folder = tmp_path / "generated"
    (folder / "lanewise" / "_lib").mkdir(parents=True)
    (folder / "lanewise_facts.h").write_text("#define LW_ABI_VERSION 3\n")
    (folder / "lanewise_table.h").write_text("#define LW_SIGNATURE UINT64_C(0x12ab)\n")
    for name in ("_ext.pyi", "_lib/shaders.wgsl", "_lib/operations.json"):
        (folder / "lanewise" / name).touch()

    def run(steps: Iterable[build.steps.Step]) -> list[Path]:
        due = [step.output for step in steps if not step.output.exists()]
        for path in due:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(path.name)
        return due

    monkeypatch.setattr(build, "BUILD", tmp_path)
    monkeypatch.setattr(build, "GENERATED", folder)
    monkeypatch.setattr(build, "generate", lambda: None)
    monkeypatch.setattr(build.steps, "run", run)
    return folder


@pytest.mark.parametrize(("target", "has_types"), [(LINUX, True), (PYODIDE, False)])
def test_a_browsers_package_has_neither_types_nor_headers(generated: Path, target: Target, has_types: bool) -> None:
    files = build.binaries_of(target, ZIG)
    assert {"_ext.abi3.so", "_lib/manifest.json", "_lib/operations.json", "_lib/shaders.wgsl"} <= files.keys()
    assert {f"_lib/{target.library(isa)}" for isa in target.isas if not isa.left_out} <= files.keys()
    for name in ("_ext.pyi", "_lib/include/lanewise.h", "_lib/include/lanewise_facts.h"):
        assert (name in files) is has_types, name


def test_only_a_build_that_made_nothing_says_so(generated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = "x86_64-linux: nothing changed\n"
    build.binaries_of(LINUX, ZIG)
    assert capsys.readouterr().out == ""
    build.binaries_of(LINUX, ZIG)
    assert capsys.readouterr().out == said
    next(generated.parent.rglob("kernels_avx.so")).unlink()
    build.binaries_of(LINUX, ZIG)
    assert capsys.readouterr().out == ""


def test_instructions_that_the_compiler_lacks_are_left_out_with_a_reason(
    generated: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Compiler, "knows", lambda self, target, isa, folder: isa.name != "relaxed_simd")
    files = build.binaries_of(PYODIDE, EMCC)
    manifest = json.loads(files["_lib/manifest.json"].read_text())
    reason = "emcc 1 does not support its instructions"
    assert manifest["left_out"] == {"scalar": PYODIDE.isas[0].left_out, "relaxed_simd": reason}
    assert f"wasm32-pyodide: no library for relaxed_simd: {reason}\n" in capsys.readouterr().out
    assert list(manifest["libraries"]) == ["simd128", "wgpu"]
    assert "_lib/kernels_relaxed_simd.wasm" not in files
    # --only adds what builds leave out by default, and the compiler is not asked about what it leaves out
    manifest = json.loads(build.binaries_of(PYODIDE, EMCC, ["scalar"])["_lib/manifest.json"].read_text())
    assert list(manifest["libraries"]) == ["scalar", "wgpu"]
    assert set(manifest["left_out"].values()) == {"the build left it out because of --only"}
    assert "relaxed_simd" not in capsys.readouterr().out


def test_an_unknown_library_is_refused() -> None:
    with pytest.raises(BuildError, match=r"^--only: expected names among scalar, simd128, relaxed_simd, got mmx$"):
        build.binaries_of(PYODIDE, EMCC, ["scalar", "mmx"])


@pytest.mark.parametrize(("using", "target"), [(GCC, PYODIDE), (EMCC, LINUX)])
def test_a_compiler_for_another_platform_is_refused(using: Compiler, target: Target) -> None:
    with pytest.raises(BuildError, match=f"^CC names a compiler for {using.target.name}; unset it .* {target.name}$"):
        build.binaries_of(target, using)


@pytest.mark.parametrize("status", [0, 3])
def test_an_error_of_the_generator_is_shown(status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "contracts").mkdir()
    program = f"import sys; print('started'); print('no kind', file=sys.stderr); sys.exit({status})"
    (tmp_path / "contracts" / "generate.py").write_text(program)
    monkeypatch.setattr(build, "ROOT", tmp_path)
    if status == 0:
        build.generate()
        return
    with pytest.raises(BuildError, match=r"^contracts/generate\.py failed:\nstarted\nno kind\n$"):
        build.generate()


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("#define LW_ABI_VERSION 7", 7),
        ("#define LW_ABI_VERSION (0x1F)", 31),
        ("#define LW_ABI_VERSION UINT64_C(0x2)", 2),
        ("#define LW_ABI_VERSION other", None),
        ("#define LW_ABI 7", None),
    ],
)
def test_a_number_in_a_header(line: str, value: int | None, tmp_path: Path) -> None:
    header = tmp_path / "head.h"
    header.write_text(f"#pragma once\n{line}\n")
    if value is None:
        with pytest.raises(BuildError, match=r"head\.h: expected a definition of LW_ABI_VERSION$"):
            build._literal(header, "LW_ABI_VERSION")
    else:
        assert build._literal(header, "LW_ABI_VERSION") == value


COMMANDS = {
    "in place": (GCC, [], ""),
    "another folder": (GCC, ["--into", "there"], ""),
    "fewer libraries": (GCC, ["--into", "there", "--only", "scalar"], ""),
    "fewer libraries in place": (GCC, ["--only", "scalar"], "--only would leave this package without"),
    "a sanitizer": (GCC, ["--sanitize", "thread", "--into", "there"], ""),
    "a sanitizer in place": (GCC, ["--sanitize", "thread"], "--sanitize: .* got gcc and no folder$"),
    "a sanitizer of zig": (ZIG, ["--sanitize", "thread", "--into", "there"], "--sanitize: .* got zig and there$"),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_the_command_line(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    using, words, error = COMMANDS[case]
    placed: list[Path] = []
    sanitizers: list[str] = []
    monkeypatch.setattr(sys, "argv", ["build.py", *words])
    monkeypatch.setattr(compiler, "choose", lambda sanitizer: sanitizers.append(sanitizer) or using)
    monkeypatch.setattr(build, "binaries_of", lambda target, using, only: {})
    monkeypatch.setattr(build, "place", lambda files, package: placed.append(package))
    if error:
        with pytest.raises(BuildError, match=error):
            build.main()
    else:
        build.main()
    expected = Path("there", "lanewise") if "--into" in words else build.PACKAGE
    assert placed == ([] if error else [expected])
    assert sanitizers == ["thread" if "--sanitize" in words else ""]


def test_another_folder_gets_the_python_files_but_no_old_binaries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, made, there = tmp_path / "lanewise", tmp_path / "made", tmp_path / "there"
    old = ["_ext.abi3.so", "_ext.pyi", "_lib/manifest.json", "_lib/kernels_avx.so"]
    for name in ("__init__.py", "demo/page.html", "__pycache__/x.pyc", *old):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).touch()
    made.write_text("new")
    monkeypatch.setattr(build, "PACKAGE", package)
    monkeypatch.setattr(build, "binaries_of", lambda target, using, only: {"_ext.abi3.so": made})
    monkeypatch.setattr(compiler, "choose", lambda sanitizer: GCC)
    monkeypatch.setattr(sys, "argv", ["build.py", "--into", str(there)])
    build.main()
    placed = {path.relative_to(there).as_posix(): path.read_text() for path in there.rglob("*") if path.is_file()}
    assert placed == {"lanewise/__init__.py": "", "lanewise/demo/page.html": "", "lanewise/_ext.abi3.so": "new"}


def test_only_files_that_changed_are_replaced(tmp_path: Path) -> None:
    """Unchanged files stay in place, because a running Python process may have loaded them. The build
    deletes only the kernel libraries that it has stopped building."""
    made, package = tmp_path / "made", tmp_path / "lanewise"
    made.mkdir()
    (package / "_lib").mkdir(parents=True)
    for name in ("same", "changed", "kernels_new.so"):
        (made / name).write_text(f"{name}, new")
    for name, text in {"same": "same, new", "changed": "old", "_lib/kernels_old.so": "", "_lib/notes": ""}.items():
        (package / name).write_text(text)
    before = (package / "same").stat()
    files = {"same": made / "same", "changed": made / "changed", "_lib/kernels_new.so": made / "kernels_new.so"}
    build.place(files | {"new/folder/same": made / "same"}, package)
    after = (package / "same").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert {
        path.relative_to(package).as_posix(): path.read_text() for path in package.rglob("*") if path.is_file()
    } == {
        "same": "same, new",
        "changed": "changed, new",
        "_lib/kernels_new.so": "kernels_new.so, new",
        "_lib/notes": "",
        "new/folder/same": "same, new",
    }


@pytest.mark.parametrize(
    ("using", "target", "own_headers", "imports"),
    [
        (ZIG, LINUX, False, False),
        (ZIG, WINDOWS, False, True),
        (ZIG, PYODIDE, True, False),
        (EMCC, PYODIDE, False, False),
    ],
)
def test_headers_and_imports_of_the_extension(
    using: Compiler, target: Target, own_headers: bool, imports: bool, generated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """zig has no C headers for WebAssembly, and linking for Windows needs an import library of Python's functions."""
    ran: list[build.steps.Step] = []
    fake = build.steps.run
    monkeypatch.setattr(build.steps, "run", lambda steps: fake(ran.append(step) or step for step in steps))
    monkeypatch.setattr(Compiler, "knows", lambda self, target, isa, folder: True)
    build.binaries_of(target, using)
    made = {step.output.name: step for step in ran}
    assert (f"-I{build.WASM_INCLUDE}" in made["cpu.o"].command) is own_headers
    assert (build.WASM_INCLUDE / "string.h" in made["cpu.o"].inputs) is own_headers
    assert ("python3.lib" in made) is imports
    assert (made["cpu.o"].output.with_name("python3.lib") in made[target.extension].inputs) is imports


@pytest.mark.parametrize(
    ("using", "target", "flag", "present"),
    [
        (ZIG, WINDOWS, "-lcompiler_rt", True),
        (ZIG, WINDOWS, "-Wl,--no-entry", True),
        (ZIG, LINUX, "-lcompiler_rt", False),
        (ZIG, LINUX, "-shared", True),
        (GCC, LINUX, "-shared", True),
        (EMCC, PYODIDE, "-sSIDE_MODULE=2", True),
        (EMCC, PYODIDE, "-sEXPORTED_FUNCTIONS=_lanewise_kernels", True),
        (EMCC, PYODIDE, "-shared", False),
        (ZIG, PYODIDE, "-shared", True),
        (ZIG, PYODIDE, "-sSIDE_MODULE=2", False),
    ],
)
def test_flags_that_link_a_kernel_library(using: Compiler, target: Target, flag: str, present: bool) -> None:
    command = using.kernels(target, target.isas[0], [Path("kernels.o")], Path("kernels.so"))
    assert (flag in command) is present
    assert command[-2:] == ["-o", "kernels.so"]


@pytest.mark.parametrize(
    ("using", "target", "flag", "present"),
    [
        (GCC, LINUX, "-Wno-psabi", True),
        (CLANG, LINUX, "-Wno-psabi", False),
        (ZIG, PYODIDE, "-falign-loops=32", False),
        (ZIG, LINUX, "-falign-loops=32", True),
    ],
)
def test_flags_that_compile_kernels(using: Compiler, target: Target, flag: str, present: bool) -> None:
    command = using.kernel_object(target, target.isas[0], Path("kernels.c"), [], Path("kernels.o"))
    assert (flag in command) is present


@pytest.mark.parametrize("target", TARGETS.values(), ids=lambda target: target.name)
def test_zig_compiles_the_extension_for_the_least_capable_processor(target: Target) -> None:
    for command in (
        ZIG.object(target, Path("module.c"), [], Path("module.o")),
        ZIG.extension(target, [Path("module.o")], Path("_ext.so")),
    ):
        assert [word for word in command if word.startswith("-mcpu=")] == [f"-mcpu={target.isas[0].zig_cpu}"]
        assert command[command.index("-target") + 1] == target.zig_triple


@pytest.mark.parametrize(("using", "present"), [(ZIG, True), (EMCC, False)])
def test_libraries_of_the_extension_for_webassembly(using: Compiler, present: bool) -> None:
    """zig is told which libraries to link and which symbols to import; emcc decides both itself."""
    command = using.extension(PYODIDE, [Path("module.o")], Path("_ext.so"))
    for flag in ("-nostdlib", "-Wl,--import-symbols", "-lcompiler_rt"):
        assert (flag in command) is present, flag


@pytest.mark.parametrize(("target", "present"), [(LINUX, True), (WINDOWS, False), (PYODIDE, True)])
def test_code_is_independent_of_its_position_except_on_windows(target: Target, present: bool) -> None:
    assert ("-fPIC" in ZIG.object(target, Path("module.c"), [], Path("module.o"))) is present


@pytest.mark.parametrize("status", [0, 1])
def test_a_compiler_knows_the_instructions_whose_probe_it_compiles(status: int, tmp_path: Path) -> None:
    command = (sys.executable, "-c", f"raise SystemExit({status})")
    probed = next(isa for isa in PYODIDE.isas if isa.probe)
    assert Compiler(command, "emcc", "").knows(PYODIDE, probed, tmp_path / "objects") is (status == 0)
    assert (tmp_path / "objects" / f"probe_{probed.name}.c").read_text() == probed.probe


def test_without_a_probe_or_with_zig_all_instructions_are_known(tmp_path: Path) -> None:
    command = (sys.executable, "-c", "raise SystemExit(1)")
    for family in ("zig", "emcc"):
        for isa in PYODIDE.isas:
            if family == "zig" or not isa.probe:
                assert Compiler(command, family, "").knows(PYODIDE, isa, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("using", "target", "optimized"),
    [(ZIG, LINUX, True), (GCC, LINUX, False), (CLANG, LINUX, False), (ZIG, TARGETS["x86_64-macos"], False)],
)
def test_zig_optimizes_the_extension_at_link_time(using: Compiler, target: Target, optimized: bool) -> None:
    """Other compilers may lack a linker that optimizes. For Mach-O, zig uses a linker of its own, which does not."""
    for command in (
        using.object(target, Path("module.c"), [], Path("module.o")),
        using.extension(target, [Path("module.o")], Path("_ext.so")),
    ):
        assert ("-flto" in command) is optimized


@pytest.mark.parametrize(
    ("banner", "family"),
    [
        ("gcc (Debian 12.2.0-14) 12.2.0", "gcc"),
        ("Debian clang version 14.0.6", "clang"),
        ("emcc (Emscripten gcc/clang-like replacement) 3.1.6 ()", "emcc"),
    ],
)
def test_a_compiler_is_recognized_by_what_it_prints(banner: str, family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(compiler, "_banner", lambda command: asked.append(tuple(command)) or banner)
    for name, value in {"CC": "ccache cc", "CPPFLAGS": "-DA", "CFLAGS": "-O1 -g", "LDFLAGS": "-Wl,-z,now"}.items():
        monkeypatch.setenv(name, value)
    chosen = compiler.choose()
    assert chosen == Compiler(("ccache", "cc"), family, banner, ("-DA", "-O1", "-g"), ("-Wl,-z,now",))
    assert asked == [("ccache", "cc", "--version")]


@pytest.mark.parametrize(
    ("cc", "text"),
    [
        ("no-such-compiler", "CC: expected a C compiler, but no-such-compiler is not installed; fix or unset CC"),
        (
            f"{shlex.quote(sys.executable)} -c 'raise SystemExit(\"broken\")'",
            "but `.* --version` failed: broken; fix or unset CC",
        ),
    ],
)
def test_a_compiler_that_does_not_run(cc: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", cc)
    with pytest.raises(BuildError, match=text):
        compiler.choose()


@pytest.mark.parametrize("installed", [True, False])
def test_without_cc_zig_compiles(installed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler.importlib.util, "find_spec", lambda name: object() if installed else None)
    monkeypatch.setattr(compiler, "_banner", lambda command: " ".join(command[1:]))
    if installed:
        chosen = compiler.choose()
        assert (chosen.family, chosen.version) == ("zig", "-m ziglang version")
        assert chosen.command == (sys.executable, "-m", "ziglang", "cc")
        return
    with pytest.raises(BuildError, match="expected a C compiler, found none; pip install ziglang"):
        compiler.choose()


@pytest.mark.parametrize(
    ("machine", "system", "soabi", "expected"),
    [
        ("x86_64", "Linux", "cpython-311-x86_64-linux-gnu", "x86_64-linux"),
        ("aarch64", "Linux", None, "aarch64-linux"),
        ("arm64", "Darwin", "cpython-311-darwin", "aarch64-macos"),
        ("AMD64", "Windows", "", "x86_64-windows"),
        ("x86_64", "Linux", "cpython-311-x86_64-linux-musl", "x86_64 Linux with musl"),
        ("arm64", "Windows", "", "arm64 Windows"),
        ("riscv64", "Linux", "cpython-311-riscv64-linux-gnu", "riscv64 Linux"),
    ],
)
def test_the_platform_of_this_python(
    machine: str, system: str, soabi: str | None, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets.platform, "machine", lambda: machine)
    monkeypatch.setattr(targets.platform, "system", lambda: system)
    monkeypatch.setattr(targets.sysconfig, "get_config_var", lambda name: soabi)
    if expected in TARGETS:
        assert targets.host() is TARGETS[expected]
    else:
        with pytest.raises(BuildError, match=f"got {expected}; add a row to native/targets.py$"):
            targets.host()
