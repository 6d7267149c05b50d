"""Builds Lanewise's binaries: the extension, one library of kernels per instruction set, and the manifest of checksums.

    python native/build.py                          rebuilds in place what changed, for an editable install
    python native/build.py --wheel aarch64-linux    makes a whole wheel for another platform in dist/
    CC=gcc python native/build.py --into DIR        puts a whole importable package into DIR

pip calls this through hatchling and hook.py. The build has four steps: contracts/generate.py writes build/generated;
steps.py runs the compiler that compiler.py chose, for one platform of targets.py; binaries.py checks each library; the
result, a mapping from paths in the package to files, is copied into a package or packed into a wheel.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for the imports of `native`, which is not installed

from native import binaries, compiler, steps  # noqa: E402
from native.compiler import Compiler  # noqa: E402
from native.errors import BuildError  # noqa: E402
from native.targets import TARGETS, Isa, Target, host  # noqa: E402
from wasm import optimize  # noqa: E402

if TYPE_CHECKING:
    from native.hook import LanewiseBuildHook

BUILD = ROOT / "build"
GENERATED = BUILD / "generated"
PACKAGE = ROOT / "lanewise"
KERNEL_INCLUDE = (ROOT / "core" / "include", ROOT / "core", GENERATED)
EXTENSION_INCLUDE = (*KERNEL_INCLUDE, ROOT / "native", ROOT / "native" / "extension")
WASM_INCLUDE = ROOT / "wasm" / "include"  # for zig, which has no C headers for WebAssembly; emcc has its own

# Maps paths in the package, relative to lanewise/, to files.
Files = dict[str, Path]


def get_build_hook() -> type[LanewiseBuildHook]:
    """Returns the build hook; hatchling calls this."""
    from native.hook import LanewiseBuildHook

    return LanewiseBuildHook


def generate() -> None:
    """Writes C, headers, stubs and shaders from the contracts; does not touch files that would not change."""
    generator = ROOT / "contracts" / "generate.py"
    command = [sys.executable, str(generator), "--out", str(GENERATED)]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=ROOT)
    if result.returncode:
        raise BuildError(f"contracts/generate.py failed:\n{result.stdout}{result.stderr}")


def lock(target: Target) -> IO[bytes]:
    """Waits until no other process builds for the platform, whose builds all write to the same files. Returns a file
    to close when the build's files are no longer needed."""
    return steps.lock(BUILD / f"{target.name}.lock")


def binaries_of(target: Target, using: Compiler, only: Sequence[str] = ()) -> Files:
    """Builds all files that the package needs besides Python files, for one platform, and returns them.

    `only` names the instruction sets to build, instead of those that are not `left_out`.
    """
    if not using.can_build(target):
        raise BuildError(f"CC names a compiler for {using.target.name}; unset it to build for {target.name}")
    names = [isa.name for isa in target.isas]
    if unknown := sorted(set(only) - set(names)):
        raise BuildError(f"--only: expected names among {', '.join(names)}, got {', '.join(unknown)}")
    generate()
    name = target.name if using.family == "zig" else f"{target.name}-{using.family}"
    folder = BUILD / "-".join(filter(None, (name, using.sanitizer, *only)))
    left_out = {
        isa.name: "the build left it out because of --only" if only else isa.left_out
        for isa in target.isas
        if (isa.name not in only if only else isa.left_out)
    }
    unsupported = f"{using.version.splitlines()[0]} does not support its instructions"
    for isa in target.isas:
        if isa.name not in left_out and not using.knows(target, isa, folder / "objects"):
            left_out[isa.name] = unsupported
            print(f"{target.name}: no library for {isa.name}: {unsupported}")
    isas = [isa for isa in target.isas if isa.name not in left_out]
    is_optimized = target.binary_format == "wasm" and using.family == "zig"
    linked = folder / "linked" if is_optimized else folder
    libraries = {isa.name: linked / target.library(isa) for isa in isas}
    extension = linked / target.extension
    objects = {isa.name: kernel_objects(target, using, isa, folder / "objects" / isa.name) for isa in isas}
    made = steps.run([*(step for each in objects.values() for step in each), *_objects(target, using, folder)])
    made += steps.run([*_kernels(target, using, libraries, objects), _extension(target, using, folder, extension)])
    if is_optimized:
        made += steps.run(_optimized(target, folder, libraries, extension))
        libraries = {name: folder / path.name for name, path in libraries.items()}
        extension = folder / extension.name
    if not made:
        print(f"{target.name}: nothing changed")
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps(_manifest(target, libraries, left_out), indent=2) + "\n", encoding="utf-8")
    files = {f"_lib/{path.name}": path for path in (*libraries.values(), manifest)}
    generated = GENERATED / "lanewise"
    files |= {path.relative_to(generated).as_posix(): path for path in _files(generated)}
    if target.binary_format == "wasm":  # a web page downloads the whole wheel, but uses no types and no headers
        files = {name: path for name, path in files.items() if path.suffix != ".pyi"}
    else:
        headers = (ROOT / "core/include/lanewise.h", *(GENERATED / f"lanewise_{name}.h" for name in ("facts", "table")))
        files |= {f"_lib/include/{path.name}": path for path in headers}
    return files | {target.extension: extension}


def place(files: Files, package: Path) -> None:
    """Copies the files that changed, atomically, because a running Python may have a library open. Deletes kernel
    libraries that are not among the files."""
    for name, source in files.items():
        destination = package / name
        if destination.exists() and destination.read_bytes() == source.read_bytes():
            continue
        destination.parent.mkdir(parents=True, exist_ok=True)
        fresh = destination.with_name(f".{destination.name}.{os.getpid()}")
        shutil.copyfile(source, fresh)
        os.replace(fresh, destination)
    for path in (package / "_lib").glob("kernels_*"):
        if f"_lib/{path.name}" not in files:
            path.unlink()


def wheel(target: Target, folder: Path = ROOT / "dist") -> Path:
    """Packs a complete wheel into a folder with hatchling and its hook, as pip does, and returns its path."""
    try:
        from hatchling.builders.wheel import WheelBuilder
    except ImportError:
        raise BuildError("hatchling, which packs wheels, is not installed; pip install hatchling") from None
    os.environ["LANEWISE_TARGET"] = target.name
    (path,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    return Path(path)


def kernel_sources() -> list[Path]:
    """Returns the C files of a kernel library: those of core/, and the generated ones."""
    return [*sorted((ROOT / "core").rglob("*.c")), *sorted(GENERATED.glob("kernels*.c"))]


def kernel_objects(
    target: Target, using: Compiler, isa: Isa, folder: Path, flags: Sequence[str] = ()
) -> list[steps.Step]:
    """Returns the steps that compile kernel_sources() for an instruction set."""
    headers = included(KERNEL_INCLUDE)
    made = []
    for source in kernel_sources():
        output = folder / f"{source.stem}.o"
        command = [*using.kernel_object(target, isa, source, KERNEL_INCLUDE, output), *flags]
        made.append(steps.Step(output, command, (source, *headers), using.version))
    return made


def _kernels(
    target: Target, using: Compiler, libraries: dict[str, Path], objects: dict[str, list[steps.Step]]
) -> list[steps.Step]:
    check = None if using.sanitizer else binaries.check_kernels  # sanitized libraries call the sanitizer's runtime
    made = []
    for isa in target.isas:
        if isa.name in libraries:
            parts = tuple(step.output for step in objects[isa.name])
            command = using.kernels(target, isa, parts, libraries[isa.name])
            made.append(steps.Step(libraries[isa.name], command, parts, using.version, check))
    return made


def sources(target: Target) -> list[Path]:
    """Returns the C files of the extension."""
    folders = ["extension", "memory", "system"] + (["pool"] if target.binary_format != "wasm" else [])  # no threads
    native = [path for folder in folders for path in sorted((ROOT / "native" / folder).rglob("*.c"))]
    return [*native, *(GENERATED / f"lanewise_{name}.c" for name in ("dtypes", "operations", "shaders"))]


def _objects(target: Target, using: Compiler, folder: Path) -> list[steps.Step]:
    include = EXTENSION_INCLUDE + ((WASM_INCLUDE,) if target.binary_format == "wasm" and using.family == "zig" else ())
    headers = included(include)
    made = []
    for source in sources(target):
        output = folder / "objects" / f"{source.stem}.o"
        command = using.object(target, source, include, output)
        made.append(steps.Step(output, command, (source, *headers), using.version))
    if target.binary_format == "pe":
        definition, output = folder / "objects" / "python3.def", folder / "objects" / "python3.lib"
        _write_python_definition(definition)
        command = using.import_library(target, definition, output)
        made.append(steps.Step(output, command, (definition,), using.version))
    return made


def _extension(target: Target, using: Compiler, folder: Path, output: Path) -> steps.Step:
    objects = [folder / "objects" / f"{source.stem}.o" for source in sources(target)]
    if target.binary_format == "pe":
        objects.append(folder / "objects" / "python3.lib")
    command = using.extension(target, objects, output)
    return steps.Step(output, command, tuple(objects), using.version, binaries.check_extension)


def _optimized(target: Target, folder: Path, libraries: dict[str, Path], extension: Path) -> list[steps.Step]:
    """Returns the steps that write a smaller version of each WebAssembly module into the folder."""
    program = optimize.fetch()
    modules = [(isa, libraries[isa.name], binaries.check_kernels) for isa in target.isas if isa.name in libraries]
    modules.append((target.isas[0], extension, binaries.check_extension))
    made = []
    for isa, module, check in modules:
        output = folder / module.name
        command = optimize.command(program, isa, module, output)
        made.append(steps.Step(output, command, (module,), optimize.TOOL, check))
    return made


def _write_python_definition(path: Path) -> None:
    """Writes the list of symbols from which python3.dll's import library is made: the names that pyabi.h declares."""
    text = (ROOT / "native" / "pyabi.h").read_text(encoding="utf-8")
    data = {name for line in re.findall(r"LW_PYDATA extern ([^;]*);", text) for name in re.findall(r"_?Py\w+", line)}
    functions = set(re.findall(r"\b(_?Py\w+)\(", text))
    lines = [f"    {name} DATA" for name in sorted(data)] + [f"    {name}" for name in sorted(functions - data)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["LIBRARY python3.dll", "EXPORTS", *lines, ""]), encoding="utf-8")


def _manifest(target: Target, libraries: dict[str, Path], left_out: dict[str, str]) -> dict[str, object]:
    """Returns the manifest: what lanewise/backends/libraries.py checks before it opens a library or reads the shaders,
    and for each library that was not built, the reason."""
    rows = {isa.name: (libraries[isa.name], isa.cpu_features, isa.base) for isa in target.isas if isa.name in libraries}
    rows["wgpu"] = (GENERATED / "lanewise" / "_lib" / "shaders.wgsl", (), "")
    entries = {}
    for name, (path, features, base) in rows.items():
        content = path.read_bytes()
        entries[name] = {
            "file": path.name,
            "size": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
            "cpu_features": features,
            "base": base,
        }
    abi = _literal(GENERATED / "lanewise_facts.h", "LW_ABI_VERSION")
    return {
        "abi": abi,
        "signature": f"{_literal(GENERATED / 'lanewise_table.h', 'LW_SIGNATURE'):016x}",
        "libraries": entries,
        "left_out": left_out,
    }


def _literal(header: Path, macro: str) -> int:
    """Returns the value of a macro that a header defines as a number."""
    match = re.search(rf"#define {macro}\s+\(?(?:UINT64_C\()?(0x[0-9a-fA-F]+|\d+)", header.read_text(encoding="utf-8"))
    if not match:
        raise BuildError(f"{header}: expected a definition of {macro}")
    return int(match[1], 0)


def included(include: tuple[Path, ...]) -> list[Path]:
    """Returns all headers that an #include could find, so that adding one rebuilds what might include it."""
    own = {path for folder in include if folder != GENERATED for path in _files(folder)}
    return sorted({path for path in own if path.suffix == ".h"} | set(GENERATED.glob("*.h")))


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def main() -> None:
    """Runs the command line."""
    parser = argparse.ArgumentParser(description="Builds Lanewise's binaries in place, or a wheel for a platform.")
    parser.add_argument("--wheel", choices=sorted(TARGETS), help="make a complete wheel for this platform")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="folder for the wheel (default: dist/)")
    parser.add_argument("--into", type=Path, metavar="DIR", help="write a complete importable package to DIR instead")
    parser.add_argument(
        "--sanitize", choices=sorted(compiler.SANITIZERS), help="build with a sanitizer (needs --into and CC)"
    )
    parser.add_argument(
        "--only", nargs="+", default=(), metavar="NAME", help="only these instruction sets (needs --into)"
    )
    arguments = parser.parse_args()
    if arguments.wheel:
        target = TARGETS[arguments.wheel]
        path = wheel(target, arguments.dist.resolve())
        print(f"{path}: built{'' if target == host() else ', not run'}")
        return
    using = compiler.choose(sanitizer=arguments.sanitize or "")
    if arguments.only and not arguments.into:
        raise BuildError(
            "--only would leave this package without its other libraries; choose another folder with --into"
        )
    if arguments.sanitize and (using.family == "zig" or not arguments.into):
        raise BuildError(
            "--sanitize: expected CC=gcc or CC=clang (zig has no sanitizer runtimes) and a folder given by --into, "
            f"got {using.family} and {arguments.into or 'no folder'}"
        )
    files = binaries_of(using.target, using, arguments.only)
    package = PACKAGE
    if arguments.into:
        package = arguments.into / "lanewise"
        own = [path for path in _files(PACKAGE) if path.suffix not in (".so", ".pyi", ".dylib", ".dll", ".pyd")]
        files = {path.relative_to(PACKAGE).as_posix(): path for path in own if "_lib" not in path.parts} | files
    place(files, package)


if __name__ == "__main__":
    try:
        main()
    except BuildError as error:
        sys.exit(f"native/build.py: {error}")
