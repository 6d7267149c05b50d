"""Runs the first notebook of site/notebooks in JupyterLite in Firefox."""

from __future__ import annotations

import firefox
import lab


def test_the_first_notebook_runs(address: str) -> None:
    calls = [(lab.RESTORED, None), (lab.OPEN, "01-first-steps.ipynb"), (lab.RUN, None)]
    cells = firefox.visit(address + "lite/lab/index.html", calls)[-1]
    lab.check(cells)
