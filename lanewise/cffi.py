"""The raw kernels, for callers that bring their own pointers. Needs the cffi package.

    from lanewise.cffi import ffi, lib

    kernels = lib("avx2").lanewise_kernels.kernels
    layout = ffi.new("lw_layout *", {"ndim": 1, "shape": [n], "strides": [[4], [4], [4]]})
    context = ffi.new("lw_context *")  # no threads, no memory: each kernel runs on the calling thread
    inputs = ffi.new("const void *[]", [ffi.cast("void *", x), ffi.cast("void *", y)])
    outputs = ffi.new("void *[]", [ffi.cast("void *", result)])
    status = kernels.add_float32(context, layout, inputs, outputs, ffi.NULL)

`ffi` is made from the headers that the libraries were compiled with (lanewise/_lib/include), so their comments are the
reference: what a layout means, and when a kernel needs memory. Nothing checks pointers, shapes or strides here.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from lanewise.backend import CPU_BACKENDS, Backend
from lanewise.errors import BackendUnavailableError, LibraryError
from lanewise.libraries import DIRECTORY, checked_path
from lanewise.registry import CpuLibrary

try:
    from cffi import FFI
except ImportError as error:
    raise ImportError("lanewise.cffi needs the cffi package: pip install lanewise[cffi]", name="cffi") from error

__all__ = ["ffi", "lib"]


def _declarations() -> str:
    """The headers as cffi reads them: without what the preprocessor would remove or expand."""
    folder = DIRECTORY / "include"
    try:
        text = "\n".join((folder / name).read_text(encoding="utf-8") for name in ("lanewise.h", "lanewise_table.h"))
    except OSError as error:
        raise LibraryError(f"{error.filename}: cannot be read: {error.strerror}; reinstall lanewise") from error
    text = re.sub(r"#ifdef __cplusplus.*?#endif", "", text, flags=re.DOTALL)
    text = re.sub(r"^#(?!define \w+ \d+\b).*$", "", text, flags=re.MULTILINE)  # numbers stay: they size arrays
    return text.replace("extern LW_EXPORT const", "extern")  # cffi takes a const for a number


ffi = FFI()
ffi.cdef(_declarations())


@functools.cache
def lib(isa: str) -> Any:
    """The library of an instruction set, by its backend's name in lower case, with the symbol `lanewise_kernels`.

    Raises BackendUnavailableError where this build or this processor lacks it, and LibraryError when the file is not
    what the build made."""
    if isa not in CPU_BACKENDS:
        raise BackendUnavailableError(f"lib: {isa!r} is no instruction set with a library of kernels, as 'avx2' is")
    missing = CpuLibrary(Backend(isa)).missing()
    if missing:
        raise BackendUnavailableError(f"lib: {missing}")
    return ffi.dlopen(str(checked_path(isa)))
