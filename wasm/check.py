"""What a side module may import and must export, checked before it ships. The linker is told to accept undefined
symbols of the extension (Python and the C library are in Pyodide's main module), so a misspelt name would
otherwise show only when somebody loads the wheel. tests/wasm checks the same imports, with their signatures, against
what each Pyodide exports."""

from __future__ import annotations

import re
from pathlib import Path

import module

PYABI = Path(__file__).parent.parent / "native" / "pyabi.h"

# What the dynamic linker gives to every side module.
LINKER = frozenset({"memory", "__indirect_function_table", "__memory_base", "__table_base", "__stack_pointer"})

# What the dynamic linker itself calls, beside the one symbol that a module is for.
HOOKS = frozenset({"__wasm_apply_data_relocs", "__wasm_call_ctors"})

# The C library's functions that the extension may use: those of wasm/include.
C_LIBRARY = frozenset(
    {
        *("malloc", "calloc", "realloc", "free", "getenv", "strtod", "strtoll"),
        *("memcpy", "memmove", "memset", "memcmp"),
        *("strlen", "strcmp", "strncmp", "strchr", "strrchr", "strstr"),
        *("snprintf", "vsnprintf", "clock_gettime"),
        *("dlopen", "dlsym", "dlclose", "dlerror"),
    }
)

# Chromium compiles at most this much synchronously on a page's main thread.
LARGEST = 8 << 20


class ModuleRefused(RuntimeError):
    """A built module imports or exports something else than it should."""


def check_kernels(path: Path) -> None:
    """A library of kernels imports nothing of the host and exports its table."""
    _check(path, allowed=LINKER, exported="lanewise_kernels")


def check_extension(path: Path) -> None:
    """The extension imports Python's stable ABI and a little of the C library, and exports its init function."""
    _check(path, allowed=LINKER | C_LIBRARY | python_names(), exported="PyInit__ext")


def python_names() -> frozenset[str]:
    """The names of the stable ABI that the extension declares."""
    return frozenset(re.findall(r"\b_?Py[A-Za-z]*_\w+", PYABI.read_text(encoding="utf-8")))


def _check(path: Path, *, allowed: frozenset[str], exported: str) -> None:
    found = module.read(path)
    foreign = sorted({entry.name for entry in found.imports} - allowed)
    if foreign:
        raise ModuleRefused(
            f"{path.name} imports {', '.join(foreign)}: either use something else, or declare it in "
            f"native/pyabi.h (Python) or wasm/include and wasm/check.py (C library)"
        )
    symbols = set(found.exports) - HOOKS
    if symbols != {exported}:
        raise ModuleRefused(f"{path.name} exports {sorted(symbols)}, not {exported} alone")
    if found.needed:
        raise ModuleRefused(f"{path.name} needs other libraries: {found.needed}")
    if path.stat().st_size > LARGEST:
        raise ModuleRefused(f"{path.name} has {path.stat().st_size} bytes; browsers open {LARGEST} at most")
