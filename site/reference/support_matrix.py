"""The page of the support matrix, which tests/support.py writes after a run of the tests."""

from __future__ import annotations

import re
from collections.abc import Sequence

from generator.schema import Contract
from markup import code, relative, table, text
from operation_pages import LABELS, path

__all__ = ["page"]

PATH = "tables/support.md"
SIGNS = {
    "✓": '<span class="tick" role="img" aria-label="passed">✓</span>',
    "✗": '<span class="cross" role="img" aria-label="failed">✗</span>',
    "": "",
}
ABSENT = (
    "**This copy of the reference was made without results of the tests.** `python3 tests/run.py` runs all of them and "
    "writes the matrix; build the reference again afterwards."
)
MEANING = (
    "A tick says that every test of the operation on this backend passed, a cross that one failed. An empty cell says "
    "that no test ran, for example because the machine does not have the instruction set. The matrix is from one run "
    "of the tests, on one machine; nothing in it is taken from documentation."
)


def page(contracts: Sequence[Contract], report: str | None) -> str:
    """Returns the page; `report` is the text of support.md, None if the tests have not written it."""
    here = {each.operation: f"[{each.operation}]({relative(PATH, path(each.operation))})" for each in contracts}
    blocks = ["# Support matrix"]
    if report is None:
        blocks.append(ABSENT)
    else:
        backends, rows = _backends_and_signs(report)
        total = sum(signs.count("✓") for signs in rows.values())
        asked = sum(sign != "" for signs in rows.values() for sign in signs)
        blocks += [MEANING, f"{total:,} of the {asked:,} pairs of an operation and a backend that ran have a tick."]
        head = ["operation", *(LABELS.get(backend, backend) for backend in backends)]
        blocks.append(table(head, [[here.get(name, code(name)), *(SIGNS[sign] for sign in signs)]
                                   for name, signs in rows.items()]))  # fmt: skip
    fallbacks = [[here[each.operation], text(each.fallback)] for each in contracts if each.fallback]
    blocks += [
        "## Computed on the CPU",
        "For these operations on a GPU's tensors, the CPU reads the operands and copies the results back:",
        table(["operation", "reason"], fallbacks),
        "CUDA is planned: its kernels of elementwise operations compile, but tensors cannot be on it yet.",
    ]
    return "\n\n".join(blocks) + "\n"


def _backends_and_signs(report: str) -> tuple[list[str], dict[str, list[str]]]:
    """Returns the backends, and the signs of each operation."""
    lines = [line for line in report.splitlines() if line.startswith("|")]
    cells = [[each.strip() for each in re.split(r"\|", line)[1:-1]] for line in lines]
    head, _, *rows = cells
    unknown = {sign for _, *signs in rows for sign in signs} - set(SIGNS)
    if unknown:
        raise ValueError(
            f"support.md: expected the signs ✓ and ✗, got {', '.join(sorted(unknown))}; run the tests again"
        )
    return head[1:], {name: signs for name, *signs in rows}
