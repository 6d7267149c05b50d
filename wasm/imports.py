"""Lists what the extension, a WebAssembly module, may import. The linker accepts undefined symbols, because Python and
the C library are in Pyodide's main module. Without a check in the build, a function that Pyodide lacks would be
noticed only when somebody imports the package. tests/wasm checks the imports and their signatures for each Pyodide."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

__all__ = ["HOOKS", "LINKER", "foreign"]

PYABI = Path(__file__).resolve().parent.parent / "native" / "pyabi.h"

# Imports that the dynamic linker provides to every side module.
LINKER = frozenset({"memory", "__indirect_function_table", "__memory_base", "__table_base", "__stack_pointer"})
# Exports that the dynamic linker calls. A module may have them besides PyInit__ext or lanewise_kernels.
HOOKS = frozenset({"__wasm_apply_data_relocs", "__wasm_call_ctors"})

# The C functions that the extension may import: those that wasm/include/ declares, and __multi3 (a 128-bit product).
# __multi3 belongs to the compiler's runtime, but emcc expects the main module to provide it.
C_LIBRARY = frozenset(
    {
        *("malloc", "calloc", "realloc", "free", "getenv", "strtod", "strtoll"),
        *("memcpy", "memmove", "memset", "memcmp"),
        *("strlen", "strcmp", "strncmp", "strchr", "strrchr", "strstr"),
        *("snprintf", "vsnprintf", "dlopen", "dlsym", "dlclose", "dlerror"),
        "__multi3",
    }
)


def foreign(names: Iterable[str]) -> list[str]:
    """Returns the names that are neither in native/pyabi.h nor in C_LIBRARY."""
    python = set(re.findall(r"\b_?Py[A-Za-z]*_\w+", PYABI.read_text(encoding="utf-8")))
    return sorted(set(names) - C_LIBRARY - python)
