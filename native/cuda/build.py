"""Builds the CUDA plugin, build/cuda/kernels_cuda.so: elementwise and cast kernels, compiled from core/ops by nvcc.

    python native/cuda/build.py                rebuilds what changed
    NVCC=/opt/cuda/bin/nvcc python ...         uses this nvcc instead of the one on the PATH

Not part of a wheel, because pip's build must not need NVIDIA's compiler. The library exports the same table as every
kernel library; entries of kinds other than elementwise and cast are NULL.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # for the imports of `native`, which is not installed

from native import binaries, build, steps  # noqa: E402
from native.errors import BuildError  # noqa: E402

__all__ = ["LIBRARY", "compile_library", "find_nvcc"]

LIBRARY = build.BUILD / "cuda" / "kernels_cuda.so"

# Machine code for Hopper, and PTX for other GPUs since Turing: the driver compiles PTX when it loads the library.
ARCHITECTURES = ("-gencode=arch=compute_90,code=sm_90", "-gencode=arch=compute_75,code=compute_75")
# For the same results as on the CPU: no fused multiply-add, correctly rounded division and square root, denormals kept.
EXACT = ("-fmad=false", "-prec-div=true", "-prec-sqrt=true", "-ftz=false")
OPTIMIZED = ("-O3",)


def find_nvcc() -> Path | None:
    """Returns the path of nvcc, or None if it is not on the PATH. Raises BuildError if NVCC names no program."""
    named = os.environ.get("NVCC")
    found = shutil.which(named or "nvcc")
    if named and not found:
        raise BuildError(f"NVCC: expected the path of nvcc, got {named!r}; fix or unset it")
    return Path(found) if found else None


def compile_library(library: Path = LIBRARY, optimization: Sequence[str] = OPTIMIZED) -> Path:
    """Compiles the library if it is out of date, with these flags of nvcc, and returns its path."""
    nvcc = find_nvcc()
    if nvcc is None:
        raise BuildError("nvcc is not on the PATH; install NVIDIA's CUDA toolkit, or set NVCC")
    build.generate()
    folder = Path(__file__).resolve().parent
    versions = library.with_name("exports.map")
    versions.parent.mkdir(parents=True, exist_ok=True)
    versions.write_text(f"{{ global: {binaries.TABLE}; local: *; }};\n", encoding="utf-8")
    include = (*build.KERNEL_INCLUDE, folder)
    headers = sorted({path for each in include for path in each.rglob("*") if path.suffix in (".h", ".cuh")})
    flags = [
        *("-std=c++17", "-DLW_ISA_CUDA", *optimization, *EXACT, *ARCHITECTURES, *(f"-I{each}" for each in include)),
        "-Xcompiler=-fPIC,-fvisibility=hidden",
    ]
    objects = [
        steps.Step(
            library.with_name(f"{source.stem}.o"),
            [str(nvcc), "-c", *flags, "-o", str(library.with_name(f"{source.stem}.o")), str(source)],
            (source, *headers),
            _version(nvcc),
        )
        for source in sorted(build.GENERATED.glob("cuda_kernels*.cu"))
    ]
    steps.run(objects)
    made = tuple(step.output for step in objects)
    link = [str(nvcc), "-shared", "-cudart=static", *ARCHITECTURES, "-Xlinker", f"--version-script={versions}"]
    command = [*link, "-o", str(library), *map(str, made)]
    steps.run([steps.Step(library, command, (*made, versions), _version(nvcc), _check)])
    return library


def _version(nvcc: Path) -> str:
    return subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout


def _check(path: Path) -> None:
    exported = binaries.read(path).exported
    if exported != (binaries.TABLE,):
        path.unlink()
        raise BuildError(
            f"{path.name}: expected to export only {binaries.TABLE}, got {', '.join(exported) or 'nothing'}"
        )


if __name__ == "__main__":
    try:
        print(compile_library())
    except BuildError as problem:
        sys.exit(str(problem))
