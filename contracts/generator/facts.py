"""The facts of contracts/facts.yaml, which every emitter shares. Emits lanewise_facts.h for kernels and whoever calls
them, lanewise_dtypes.c for the extension, and _facts.py for the package."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .fields import Fields, read_yaml

FILE = Path(__file__).resolve().parents[1] / "facts.yaml"


@dataclass(frozen=True, kw_only=True)
class Class:
    """A class of dtypes."""

    name: str
    kind: str  # NumPy's letter for it
    letters: str  # the letters of the buffer protocol for numbers of the class
    dlpack: int  # DLPack's type code


@dataclass(frozen=True, kw_only=True)
class DType:
    """A dtype."""

    name: str
    group: Class
    bits: int
    format: str = ""  # its letter in the buffer protocol and in the module struct; empty if these lack it
    dlpack: int = 0  # DLPack's type code, if it is not that of the class
    fraction: int = 0  # of floats: how many bits of the fraction are stored
    computed: str = ""  # the dtype that its elements are computed in, if it is another one
    signless: str = ""  # of unsigned dtypes: the dtype whose kernels serve them where these do not depend on the sign
    no_webgpu: str = ""  # why WebGPU does not compute it, so that the CPU does

    @property
    def element(self) -> str:
        """The C type of an element in memory."""
        if self.group.name == "floating" and self.bits > 16:
            return "float" if self.bits == 32 else "double"
        return f"{'int' if self.group.name == 'signed' else 'uint'}{self.bits}_t"

    @property
    def bounds(self) -> tuple[int, int]:
        """The lowest and the highest integer of an integer dtype."""
        lowest = -(2 ** (self.bits - 1)) if self.group.name == "signed" else 0
        return lowest, lowest + 2**self.bits - 1

    @property
    def elements(self) -> str:
        """The dtype of the translation unit that has its kernels: the one that it is computed in."""
        return self.computed or self.name


@dataclass(frozen=True)
class Facts:
    """The facts of facts.yaml."""

    abi: Mapping[str, int]
    features: tuple[str, ...]
    classes: Mapping[str, Class]
    dtypes: Mapping[str, DType]

    def named(self, *classes: str) -> tuple[str, ...]:
        """Returns the names of the dtypes of some classes, in the order of their codes."""
        return tuple(each.name for each in self.dtypes.values() if each.group.name in classes)

    def promoted(self, a: DType, b: DType) -> DType | None:
        """Returns the dtype to which two dtypes promote, None if there is none.

        Source: the array API standard, "Type promotion rules". It leaves open what is promoted here as in PyTorch: bool
        and any dtype give that dtype, an integer and a float that float, and two floats of one size the next larger.
        """
        order = list(self.classes)
        small, large = sorted((a, b), key=lambda each: (order.index(each.group.name), each.bits))
        if small.name == large.name or small.group.name == "bool":
            return large
        if small.group == large.group:
            return large if small.bits < large.bits else self._first(large.group, large.bits + 1)
        if large.group.name == "floating":
            return large
        signed, unsigned = small, large
        return signed if signed.bits > unsigned.bits else self._first(signed.group, unsigned.bits + 1)

    def _first(self, group: Class, bits: int) -> DType | None:
        """Returns the smallest dtype of a class with at least `bits`."""
        suitable = [each for each in self.dtypes.values() if each.group == group and each.bits >= bits]
        return min(suitable, key=lambda each: each.bits, default=None)


def load(path: Path) -> Facts:
    """Returns the facts in a file."""
    fields = Fields(read_yaml(path), f"contracts/{path.name}")
    classes = {name: each.record(Class, name=name) for name, each in fields.sections("classes")}
    dtypes = {}
    for name, each in fields.sections("dtypes"):
        group = classes[each.choice("class", tuple(classes))]
        dtypes[name] = each.record(DType, name=name, group=group)
    abi = {str(name): int(value) for name, value in fields.mapping("abi").items()}
    facts = Facts(abi, fields.names("features"), classes, dtypes)
    fields.finish()
    return facts


FACTS = load(FILE)


def emit() -> dict[str, str]:
    """Returns the text of each file by name."""
    return {"lanewise_facts.h": _header(), "lanewise_dtypes.c": _source(), "lanewise/_facts.py": _module()}


def _codes() -> list[list[int]]:
    """Returns, for two dtypes by their codes, the code of the dtype to which they promote, -1 if there is none."""
    every = list(FACTS.dtypes.values())
    return [[every.index(each) if (each := FACTS.promoted(a, b)) else -1 for b in every] for a in every]


def _enumerators(prefix: str, names: Iterable[str]) -> str:
    return "\n".join(f"    LW_{prefix}{name.upper()}," for name in names)


def _header() -> str:
    abi = "\n".join(f"#define LW_{name.upper()} {each}" for name, each in FACTS.abi.items())
    features = "\n".join(f"    LW_CPU_{name.upper()} = 1 << {bit}," for bit, name in enumerate(FACTS.features))
    return f"""\
/* The sizes of the ABI, dtypes and what libraries need. Generated from contracts/facts.yaml by facts.py. */
#pragma once

{abi}

typedef enum lw_dtype {{
{_enumerators("", FACTS.dtypes)}
    LW_DTYPE_COUNT
}} lw_dtype;

typedef enum lw_class {{
    LW_CLASS_NONE,
{_enumerators("CLASS_", FACTS.classes)}
    LW_CLASS_COUNT
}} lw_class;

/* What a library needs: CPU features, or a CUDA device. The host can read this before it runs any of the library's
 * code. */
enum {{
{features}
}};
"""


def _source() -> str:
    every = FACTS.dtypes.values()
    letters = "\n".join(
        f"    ['{letter}'] = LW_CLASS_{each.name.upper()},"
        for each in FACTS.classes.values()
        for letter in each.letters
    )
    rows = "\n".join(
        f'    {{"{each.name}", "{each.format}", LW_CLASS_{each.group.name.upper()}, {each.bits // 8}, '
        f"{each.dlpack or each.group.dlpack}, {each.fraction}, LW_{each.elements.upper()}}},"
        for each in every
    )
    sizes = "\n".join(
        f"    [LW_CLASS_{each.group.name.upper()}][{each.bits // 8}] = LW_{each.name.upper()} + 1,"
        for each in every
        if each.format
    )
    promotions = "\n".join(f"    {{{', '.join(map(str, row))}}}," for row in _codes())
    *others, last = FACTS.dtypes
    return f"""\
/* Facts about dtypes. Generated from contracts/facts.yaml by facts.py. */
#include "tensor/dtype.h"

const uint8_t lw_letter_classes[256] = {{
{letters}
}};

const int8_t lw_sized_dtypes[LW_CLASS_COUNT][LW_MAX_ITEM_SIZE + 1] = {{
{sizes}
}};

const char lw_dtype_list[] = "{", ".join(others)} or {last}";

const lw_dtype_facts lw_dtypes[LW_DTYPE_COUNT] = {{
{rows}
}};

const int8_t lw_promotions[LW_DTYPE_COUNT][LW_DTYPE_COUNT] = {{
{promotions}
}};
"""


def _module() -> str:
    rows = "\n".join(
        f'    ("{each.name}", {each.bits // 8}, "{each.group.kind}", "{each.format}", {each.fraction}),'
        for each in FACTS.dtypes.values()
    )
    promotions = "\n".join(f"    ({', '.join(map(str, row))})," for row in _codes())
    on_gpu = tuple(each.name for each in FACTS.dtypes.values() if not FACTS.dtypes[each.elements].no_webgpu)
    return f"""\
\"\"\"The largest number of dimensions, CPU features, and dtypes. Generated from contracts/facts.yaml by facts.py.\"\"\"

from __future__ import annotations

from typing import Final

MAX_NDIM: Final = {FACTS.abi["max_ndim"]}

# in the order of their bits, lanewise_facts.h
FEATURES: Final = {FACTS.features}

# by code: name, size of an element in bytes, NumPy's letter for the kind, format, bits of a float's fraction
DTYPES: Final = (
{rows}
)

# the dtypes that GPUs compute; CPUs compute all
GPU_COMPUTED: Final = {on_gpu}

# for two codes, that of the dtype to which they promote, -1 if there is none
PROMOTIONS: Final = (
{promotions}
)
"""
