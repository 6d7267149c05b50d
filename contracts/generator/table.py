"""Emits lanewise_table.h: the kernel table that every library exports, and the signature that the extension checks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from .schema import Contract, all_kernels


def emit(contracts: tuple[Contract, ...]) -> dict[str, str]:
    """Returns {file name: text} for lanewise_table.h."""
    kernels = all_kernels(contracts)
    fields = "\n".join(f"    lw_kernel *{kernel.name};" for kernel in kernels)
    text = f"""\
/* The kernel table, in the same order for every library. Generated from contracts/ by table.py. */
#pragma once

#include "lanewise.h"

#ifdef __cplusplus
extern "C" {{
#endif

#define LW_KERNEL_COUNT {len(kernels)}
#define LW_SIGNATURE UINT64_C({signature(contracts):#018x})

/* An entry is NULL if the library does not have the kernel. */
typedef struct lw_kernels {{
{fields}
}} lw_kernels;

typedef struct lw_library {{
    lw_library_head head;
    lw_kernels kernels;
}} lw_library;

#if defined(_WIN32)
#define LW_EXPORT __declspec(dllexport)
#else
#define LW_EXPORT __attribute__((visibility("default")))
#endif

extern LW_EXPORT const lw_library lanewise_kernels;

#ifdef __cplusplus
}}
#endif
"""
    return {"lanewise_table.h": text}


def signature(contracts: tuple[Contract, ...]) -> int:
    """Returns a hash of the table's kernels: their order, names, kinds, inputs, parameters and result dtypes."""
    digest = hashlib.sha256("\n".join(_described(contracts)).encode()).digest()
    return int.from_bytes(digest[:8], "big")


def _described(contracts: tuple[Contract, ...]) -> Iterator[str]:
    for contract in contracts:
        inputs = ",".join(each.dtype or "*" for each in contract.inputs)
        parameters = ",".join(f"{each.name}:{each.type}{each.choices}" for each in contract.kernel_parameters)
        for kernel in contract.kernels:
            yield f"{kernel.name} {contract.kind.name} ({inputs}) ({parameters}) {kernel.result}"
