"""What pip's build reaches: hatchling calls initialize() before it packs a wheel or sets up an editable install."""

from __future__ import annotations

import os
import sys
import sysconfig
from functools import cached_property
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

from native import build, compiler
from native.errors import BuildError
from native.targets import TARGETS, Target
from wasm import compress

__all__ = ["LanewiseBuildHook"]

# What a page would download and never run: kernels through cffi, the benchmark, and what launches shaders, as long as
# webgpu/backend.py says that WebGPU comes to browsers later.
NOT_IN_BROWSERS = (
    "lanewise/bench.py",
    "lanewise/cffi.py",
    *(f"lanewise/webgpu/{name}.py" for name in ("buffers", "desktop", "device", "executor", "layouts", "shaders")),
)


class LanewiseBuildHook(BuildHookInterface[Any]):
    """Adds the binaries to the wheel, or puts them beside the Python files of an editable install."""

    @cached_property
    def _compiler(self) -> compiler.Compiler:
        """Chosen once: the choice starts it, to ask what it is."""
        return compiler.choose()

    @cached_property
    def _target(self) -> Target:
        """The platform that LANEWISE_TARGET names, else the compiler's own."""
        name = os.environ.get("LANEWISE_TARGET")
        if name and name not in TARGETS:
            raise BuildError(f"LANEWISE_TARGET is {name!r}; known are {', '.join(TARGETS)}")
        return TARGETS[name] if name else self._compiler.target

    def dependencies(self) -> list[str]:
        """What pip must fetch beside build-system.requires."""
        return [compress.DEPENDENCY] if self._target.binary_format == "wasm" else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        _refuse_interpreters()
        using, target = self._compiler, self._target
        files = build.binaries_of(target, using)
        here = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        # wasm/build.py --tag chooses one tag; `pyodide build` replaces all of them by that of its own Pyodide
        platform = os.environ.get("LANEWISE_WHEEL_PLATFORM") or (target.wheel_platform if using.portable else here)
        build_data["tag"] = f"{target.python_tag}-abi3-{platform}"
        build_data["pure_python"] = False
        if target.binary_format == "wasm":
            # read when the files are gathered, which is after this
            config = self.build_config.target_config
            config["exclude"] = [*config.get("exclude", ()), *NOT_IN_BROWSERS]
        if version == "editable":
            build.place(files, build.PACKAGE)
        else:
            build_data["force_include"].update({str(path): f"lanewise/{name}" for name, path in files.items()})

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """A page downloads the browser's wheel before its first operation: every byte counts."""
        if version != "editable" and self._target.binary_format == "wasm":
            compress.compress(Path(artifact_path))


def _refuse_interpreters() -> None:
    """The one binary is for CPython with its global lock: others would build for minutes and then fail to load it."""
    if sys.implementation.name != "cpython":
        raise BuildError(f"Lanewise needs CPython; this is {sys.implementation.name}")
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise BuildError("Lanewise does not support free-threaded Python yet; use the ordinary build of this version")
