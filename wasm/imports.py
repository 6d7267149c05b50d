"""What the extension may import when it is a WebAssembly module. The linker is told to accept undefined
symbols (Python and the C library are in Pyodide's main module), so a function that no Pyodide has would
otherwise show only when somebody opens the wheel. tests/wasm checks the same imports, with their signatures,
against each Pyodide."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

__all__ = ["HOOKS", "LINKER", "foreign"]

PYABI = Path(__file__).resolve().parent.parent / "native" / "pyabi.h"

# What the dynamic linker gives to every side module.
LINKER = frozenset({"memory", "__indirect_function_table", "__memory_base", "__table_base", "__stack_pointer"})
# What it calls, beside the one symbol that a module is for.
HOOKS = frozenset({"__wasm_apply_data_relocs", "__wasm_call_ctors"})

# The functions of the C library that include/ declares, and a product of 128 bits, of the compiler's own library: emcc
# leaves that to the main module.
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
    """Those of the names that neither native/pyabi.h nor include/ declares."""
    python = set(re.findall(r"\b_?Py[A-Za-z]*_\w+", PYABI.read_text(encoding="utf-8")))
    return sorted(set(names) - C_LIBRARY - python)
