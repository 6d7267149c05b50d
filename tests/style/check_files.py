"""Checks the size of sources and the guards of headers.

- A source has at most 500 lines, of at most 120 columns.
- No header has an include guard; a header that several files include has `#pragma once`."""

from __future__ import annotations

import re
from collections import Counter

LONGEST = 500  # lines
WIDEST = 120  # columns; checked here, too, because clang-format does not wrap comments
LIMITED = (".py", ".c", ".h", ".cu", ".cuh", ".wgsl", ".js", ".mjs")
GUARD = re.compile(r"^#ifndef (\w+_H_*)\n#define \1$", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#include "(?:[^"]*/)?([^"/]+)"', re.MULTILINE)


def complaints(sources: dict[str, str]) -> list[str]:
    """Returns what is wrong with the files, given their texts by name."""
    sources = {name: text for name, text in sources.items() if name.endswith(LIMITED)}
    headers = {name: text for name, text in sources.items() if name.endswith((".h", ".cuh"))}
    including = Counter(header for text in sources.values() for header in set(INCLUDE.findall(text)))
    long = [
        f"{name}: {text.count(chr(10))} lines; split it, {LONGEST} is the most"
        for name, text in sources.items()
        if text.count("\n") > LONGEST
    ]
    guarded = [
        f"{name}: has an include guard; use #pragma once" for name, text in headers.items() if GUARD.search(text)
    ]
    unmarked = [
        f"{name}: several files include it; add #pragma once"
        for name, text in headers.items()
        if including[name.rpartition("/")[2]] > 1 and "#pragma once" not in text
    ]
    wide = [
        f"{name}:{number}: {len(line)} columns; wrap it, {WIDEST} is the most"
        for name, text in sources.items()
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > WIDEST
    ]
    return long + guarded + unmarked + wide
