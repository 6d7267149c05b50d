"""The page of the support matrix, which tests/support.py writes after a run of the tests."""

from __future__ import annotations

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
MEANING_OF_DTYPES = (
    "A tick says that results in the dtype were compared with the expected ones on each backend that ran the "
    "operation, and are right. Where backends differ, they are named: “CPU” says that the GPU leaves the dtype to the "
    "CPU. An empty cell says that the operation does not accept the dtype as it is."
)
OUTCOMES = SIGNS | {"cpu": "CPU", "not run": "not run"}


def page(contracts: Sequence[Contract], report: str | None) -> str:
    """Returns the page; `report` is the text of support.md, None if the tests have not written it."""
    here = {each.operation: f"[{each.operation}]({relative(PATH, path(each.operation))})" for each in contracts}
    blocks = ["# Support matrix"]
    if report is None:
        blocks.append(ABSENT)
    else:
        (backends, rows), (dtypes, rows_of_dtypes) = _tables(report)
        total = sum(signs.count("✓") for signs in rows.values())
        asked = sum(sign != "" for signs in rows.values() for sign in signs)
        blocks += [MEANING, f"{total:,} of the {asked:,} pairs of an operation and a backend that ran have a tick."]
        for columns, shown in ((backends, rows), (dtypes, rows_of_dtypes)):
            head = ["operation", *(LABELS.get(each, each) for each in columns)]
            blocks.append(table(head, [[here.get(name, code(name)), *map(_cell, cells)]
                                       for name, cells in shown.items()]))  # fmt: skip
        blocks[-1:-1] = ["## By dtype", MEANING_OF_DTYPES]
    fallbacks = [[here[each.operation], text(each.fallback)] for each in contracts if each.fallback]
    blocks += [
        "## Computed on the CPU",
        "For these operations on a GPU's tensors, the CPU reads the operands and copies the results back:",
        table(["operation", "reason"], fallbacks),
        "CUDA is planned: its kernels of elementwise operations compile, but tensors cannot be on it yet.",
    ]
    return "\n\n".join(blocks) + "\n"


def _tables(report: str) -> list[tuple[list[str], dict[str, list[str]]]]:
    """Returns the columns of each table, and the cells of each operation."""
    tables: list[tuple[list[str], dict[str, list[str]]]] = []
    for line in report.splitlines():
        name, *cells = [each.strip() for each in line.split("|")[1:-1]] or [""]
        if name == "operation":
            tables.append((cells, {}))
        elif name.strip("-"):
            tables[-1][1][name] = cells
    return tables


def _cell(text: str) -> str:
    """Returns a cell in HTML: a sign, or the outcome of each backend that differs."""
    pairs = [each.rpartition(": ") for each in text.split(", ")]
    if unknown := sorted({outcome for *_, outcome in pairs} - OUTCOMES.keys()):
        raise ValueError(f"support.md: expected {', '.join(OUTCOMES)}, got {unknown[0]}; run the tests again")
    return ", ".join(f"{LABELS.get(of, of)}{colon}{OUTCOMES[outcome]}" for of, colon, outcome in pairs)
