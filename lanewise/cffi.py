"""The raw kernels, for callers that pass their own pointers. Needs the cffi package.

    from lanewise.cffi import ffi, lib

    kernels = lib("avx2").lanewise_kernels.kernels
    layout = ffi.new("lw_layout *", {"ndim": 1, "shape": [n], "strides": [[4], [4], [4]]})
    context = ffi.new("lw_context *")  # no threads and no scratch memory: the kernel runs on the calling thread
    inputs = ffi.new("const void *[]", [ffi.cast("void *", x), ffi.cast("void *", y)])
    outputs = ffi.new("void *[]", [ffi.cast("void *", result)])
    status = kernels.add_float32(context, layout, inputs, outputs, ffi.NULL)

`ffi` declares the headers that the libraries were compiled with (lanewise/_lib/include). Their comments say what a
layout means and when a kernel needs scratch memory. Nothing here checks pointers, shapes or strides.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from lanewise.backends.backend import CPU_BACKENDS, Backend
from lanewise.backends.libraries import DIRECTORY, checked_path
from lanewise.backends.registry import CpuLibrary
from lanewise.errors import BackendUnavailableError, LibraryError, named

try:
    from cffi import FFI
except ImportError as error:
    raise ImportError("lanewise.cffi needs the cffi package: pip install lanewise[cffi]", name="cffi") from error

__all__ = ["ffi", "lib"]


def _declarations() -> str:
    """Returns the headers in the subset of C that cffi parses: no preprocessor lines except integer constants."""
    folder = DIRECTORY / "include"
    try:
        names = ("lanewise_facts.h", "lanewise.h", "lanewise_table.h")
        text = "\n".join((folder / name).read_text(encoding="utf-8") for name in names)
    except OSError as error:
        raise LibraryError(
            f"{error.filename}: cannot read the header ({error.strerror}); reinstall lanewise"
        ) from error
    text = re.sub(r"#ifdef __cplusplus.*?#endif", "", text, flags=re.DOTALL)
    text = re.sub(r"^#(?!define \w+ \d+\b).*$", "", text, flags=re.MULTILINE)  # keep constants, which are array sizes
    return text.replace("extern LW_EXPORT const", "extern")  # cffi refuses to read const variables of a library


ffi = FFI()
ffi.cdef(_declarations())


@functools.cache
@named("lib")
def lib(isa: str) -> Any:
    """Returns the library of a CPU backend, such as "avx2". Its symbol `lanewise_kernels` has the table of kernels.

    Raises BackendUnavailableError unless this build and this processor have it, LibraryError if the file is damaged.
    """
    if isa not in CPU_BACKENDS:
        raise BackendUnavailableError(f"expected a CPU backend such as 'avx2', got {isa!r}")
    missing = CpuLibrary(Backend(isa)).missing()
    if missing:
        raise BackendUnavailableError(f"{isa} is not available: {missing}")
    return ffi.dlopen(str(checked_path(isa)))
