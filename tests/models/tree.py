"""The order in which reductions join elements, from the comments of core/reduce/reduce_block.h and
core/reduce/reduce.c.

1. The elements of an output, in logical order, are cut into blocks of 4096.
2. A block has 64 partial results. Partial p joins elements p, p + 64, p + 128 ... to the identity, in this order.
3. Partials are joined by halving: p with p + 32, then with p + 16, 8, 4, 2, 1.
4. Neighboring blocks are joined in pairs, then neighboring results of these, and so on. A last one without a neighbor
   moves up unchanged. Threads reduce chunks of 16 blocks, which are subtrees, so the order stays the same.

In the parameter `rows`, each row has the elements of one output. A `join` is a function of two arrays, such as np.add.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

BLOCK = 4096
PARTIALS = 64
CHUNK = 16 * BLOCK

Array = np.ndarray[Any, Any]
Result = TypeVar("Result")


def reduce_block(block: Array, identity: float, join: Callable[[Array, Array], Array]) -> Array:
    """Returns the result of each row of a block, which has at most BLOCK columns."""
    partials = np.full((len(block), PARTIALS), identity, block.dtype)
    for start in range(0, block.shape[1], PARTIALS):
        group = block[:, start : start + PARTIALS]
        count = group.shape[1]
        partials[:, :count] = join(partials[:, :count], group)
    while partials.shape[1] > 1:
        half = partials.shape[1] // 2
        partials = join(partials[:, :half], partials[:, half:])
    return partials[:, 0]


def join_blocks(results: Sequence[Result], join: Callable[[Result, Result], Result]) -> Result:
    """Joins the results of neighboring blocks in pairs until one result is left."""
    while len(results) > 1:
        pairs = zip(results[::2], results[1::2], strict=False)
        unpaired = results[len(results) // 2 * 2 :]
        results = [*(join(left, right) for left, right in pairs), *unpaired]
    return results[0]


def blocks(rows: Array) -> list[Array]:
    """Cuts rows into blocks; rows without elements become one empty block."""
    return [rows[:, start : start + BLOCK] for start in range(0, max(rows.shape[1], 1), BLOCK)]


def reduce(rows: Array, identity: float, join: Callable[[Array, Array], Array]) -> Array:
    """Returns the result of each row, where the same function joins elements and results of blocks."""
    return join_blocks([reduce_block(block, identity, join) for block in blocks(rows)], join)
