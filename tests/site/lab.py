"""Drives JupyterLite: opens notebooks in the lab and runs them, in the browser's Pyodide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from visit import Visit

__all__ = ["NotebookError", "check", "open_lab", "open_notebook", "run_all", "run_cells", "run_notebook", "text"]

LAB = "lite/lab/index.html"
BOOT_SECONDS = 150  # a busy machine takes a minute to compile Pyodide and to import IPython
RUN_SECONDS = 600

RESTORED = """async () => {
    while (window.jupyterapp === undefined) {
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await window.jupyterapp.restored;
}"""
# Opens a notebook of the site or of the browser's storage. Waits for its kernel, and until the lab knows the kernel's
# name and language, which it writes to the notebook's metadata.
OPEN = """async (path) => {
    const { commands } = window.jupyterapp;
    const panel = await commands.execute("docmanager:open", { path, factory: "Notebook" });
    window.openedPanel = panel;
    await panel.context.ready;
    await panel.sessionContext.ready;
    const { kernel } = panel.sessionContext.session;
    await Promise.all([kernel.info, kernel.spec]);
}"""
IS_CHANGED = "() => window.openedPanel.context.model.dirty"
SAVE = """async ([path, sources]) => {
    const cells = sources.map((source, number) => (
        { cell_type: "code", id: `cell-${number}`, metadata: {}, outputs: [], execution_count: null, source }
    ));
    const kernelspec = { name: "python", display_name: "Python (Pyodide)", language: "python" };
    const content = { nbformat: 4, nbformat_minor: 5, metadata: { kernelspec }, cells };
    await window.jupyterapp.serviceManager.contents.save(path, { type: "notebook", format: "json", content });
}"""
# Runs all cells of the opened notebook, which must be in front: on a busy machine, the lab's launcher may open after
# it. The lab stops at the first cell with an error. Then waits until the kernel has nothing left to do.
RUN = """async () => {
    const { commands, shell } = window.jupyterapp;
    const panel = window.openedPanel;
    while (shell.currentWidget !== panel) {
        shell.activateById(panel.id);
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await commands.execute("notebook:run-all-cells");
    const { kernel } = panel.sessionContext.session;
    while (kernel.status !== "idle") {
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return panel.context.model.toJSON().cells;
}"""


class NotebookError(AssertionError):
    """A cell of a notebook raised an error, or was not run."""


def open_lab(visit: Visit) -> None:
    """Opens the lab and waits until it can be used."""
    visit.boot(LAB, [(RESTORED, None)], seconds=BOOT_SECONDS)


def open_notebook(visit: Visit, path: str) -> None:
    """Opens a notebook in the open lab and waits until its kernel is ready. If the kernel does not start, opens the lab
    once more."""
    visit.boot(LAB, [(RESTORED, None), (OPEN, path)], seconds=BOOT_SECONDS, is_open=True)


def run_all(visit: Visit, *, seconds: float = RUN_SECONDS) -> list[dict[str, Any]]:
    """Runs the open notebook from top to bottom and returns its cells with their outputs, as in its file. Raises
    NotebookError if a cell failed."""
    cells: list[dict[str, Any]] = visit.ask(RUN, seconds=seconds)
    check(cells)
    return cells


def check(cells: Sequence[dict[str, Any]]) -> None:
    """Raises NotebookError if a cell failed or was not run."""
    for number, cell in enumerate(cells):
        if cell["cell_type"] != "code":
            continue
        source = "".join(cell["source"])
        for output in cell["outputs"]:
            if output["output_type"] == "error":
                kind = output["ename"].removeprefix("<class '").removesuffix("'>")  # this kernel gives the class's repr
                raise NotebookError(f"cell {number} raised {kind}: {output['evalue']}\n{source}")
        if source.strip() and cell["execution_count"] is None:
            raise NotebookError(f"cell {number} was not run:\n{source}")


def run_notebook(visit: Visit, path: str, *, seconds: float = RUN_SECONDS) -> list[dict[str, Any]]:
    """Opens the lab and a notebook of the site, runs it from top to bottom, and returns its cells with their outputs.
    Raises NotebookError if a cell failed."""
    open_lab(visit)
    open_notebook(visit, path)
    return run_all(visit, seconds=seconds)


def run_cells(visit: Visit, path: str, sources: Sequence[str]) -> list[str]:
    """Runs a new notebook with these cells in the open lab, and returns the text of each cell's output."""
    visit.ask(SAVE, [path, list(sources)], seconds=60)
    open_notebook(visit, path)
    return [text(cell) for cell in run_all(visit)]


def text(cell: dict[str, Any]) -> str:
    """Returns what a cell printed, and its value as text."""
    parts = []
    for output in cell["outputs"]:
        found = output.get("text") or output.get("data", {}).get("text/plain", "")
        parts.append(found if isinstance(found, str) else "".join(found))
    return "".join(parts)
