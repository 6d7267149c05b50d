"""The build hook: hatchling calls initialize() before it packs a wheel or sets up an editable install."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

from native import build, compiler, sbom
from native.errors import BuildError
from native.targets import TARGETS, Target
from wasm import compress, optimize
from wasm.comments import javascript_without_comments, without_comments

__all__ = ["LanewiseBuildHook"]

# Files that no web page uses: the benchmark, kernels through cffi, the source of the demo's digits, which is among the
# licenses too, PyTorch in the demo, the marker for type checkers, what calibrate() measures for threads, WebGPU
# through the package wgpu, and what only Windows needs.
NOT_IN_BROWSERS = (
    "lanewise/bench.py",
    "lanewise/cffi.py",
    "lanewise/demo/NOTICE",
    "lanewise/demo/torch_peer.py",
    "lanewise/py.typed",
    "lanewise/costs/thread_cost.py",
    "lanewise/webgpu/desktop.py",
    "lanewise/backends/windows.py",
)


class LanewiseBuildHook(BuildHookInterface[Any]):
    """Adds the binaries to the wheel, or copies them into the package of an editable install."""

    @cached_property
    def _compiler(self) -> compiler.Compiler:
        """The compiler. Cached, because choosing a compiler runs it, to ask for its version."""
        return compiler.choose()

    @cached_property
    def _target(self) -> Target:
        """The platform that LANEWISE_TARGET names, or the compiler's default."""
        name = os.environ.get("LANEWISE_TARGET")
        if name and name not in TARGETS:
            raise BuildError(f"LANEWISE_TARGET: expected one of {', '.join(TARGETS)}, got {name!r}")
        return TARGETS[name] if name else self._compiler.target

    def dependencies(self) -> list[str]:
        """Returns the build dependencies that pip installs in addition to build-system.requires."""
        if self._target.binary_format != "wasm":
            return []
        return [compress.DEPENDENCY, *([optimize.DEPENDENCY] if self._compiler.family == "zig" else [])]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        _refuse_interpreters()
        using, target = self._compiler, self._target
        self._lock = build.lock(target)  # until the wheel is complete: hatchling packs files of build/
        # wasm/build.py --only sets this variable to the names of instruction sets.
        files = build.binaries_of(target, using, os.environ.get("LANEWISE_ONLY", "").split())
        here = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        # wasm/build.py --tag sets this variable to a single tag. `pyodide build` replaces all tags of the wheel
        # by the tag of its own Pyodide version.
        platform = os.environ.get("LANEWISE_WHEEL_PLATFORM") or (target.wheel_platform if using.portable else here)
        build_data["tag"] = f"{target.python_tag}-abi3-{platform}"
        build_data["pure_python"] = False
        if target.binary_format == "wasm":
            # Exclude all of these files: _sources_for_browsers() makes copies to pack instead. hatchling reads
            # `exclude` only after this hook, when it collects files, so the change takes effect.
            config = self.build_config.target_config
            left_out = {*config.get("exclude", ()), *NOT_IN_BROWSERS}
            config["exclude"] = [*left_out, "lanewise/**/*.py", "lanewise/**/*.js"]
            files = files | _sources_for_browsers(left_out)
        if version == "editable":
            build.place(files, build.PACKAGE)
        else:
            build_data["force_include"].update({str(path): f"lanewise/{name}" for name, path in files.items()})
            bill = sbom.write(build.BUILD / "sbom" / target.name, self.metadata.version, target, using)
            build_data["sbom_files"].append(str(bill))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Compresses the browser's wheel better than hatchling does, because web pages wait for its download."""
        if version != "editable" and self._target.binary_format == "wasm":
            compress.compress(Path(artifact_path), build.BUILD / "compressed")
        self._lock.close()


def _sources_for_browsers(left_out: Collection[str]) -> build.Files:
    """Writes the Python and JavaScript files that a web page uses, without what only developers read, and returns
    them."""
    files: build.Files = {}
    for path in sorted([*build.PACKAGE.rglob("*.py"), *build.PACKAGE.rglob("*.js")]):
        name = path.relative_to(build.PACKAGE)
        if f"lanewise/{name.as_posix()}" not in left_out:
            copy = build.BUILD / "browser" / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text(encoding="utf-8")
            if path.suffix == ".js":
                text = javascript_without_comments(text)
            else:
                text = without_comments(text, keep_first=name == Path("__init__.py"))
            copy.write_text(text, encoding="utf-8")
            files[name.as_posix()] = copy
    return files


def _refuse_interpreters() -> None:
    """Raises BuildError unless this Python is CPython with the GIL: no other Python can load the extension."""
    if sys.implementation.name != "cpython":
        raise BuildError(f"expected CPython, got {sys.implementation.name}; build with CPython")
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise BuildError("expected a Python with the GIL, got a free-threaded one; use the standard build")
