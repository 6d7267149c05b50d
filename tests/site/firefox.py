"""Opens pages in Firefox, which puppeteer-core drives: Playwright drives only a Firefox of its own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import engines
import environment
import node_packages
from support import absent

__all__ = ["visit"]

DRIVER = Path(__file__).with_suffix(".mjs")
LIMIT = 900  # seconds for a visit, on a busy machine
# Firefox 153 on a busy machine reports this at times, without a file or a line; no code of the page throws or rejects
# without a value. A page that does it twice fails.
NO_VALUE = "Error: uncaught exception: undefined"


def visit(address: str, calls: Sequence[tuple[str, object]]) -> list[Any]:
    """Opens a page, calls asynchronous functions in it, given as JavaScript with their argument, and returns their
    results. Asserts that the page wrote no errors to the console and asked no other server."""
    program = environment.program(environment.FIREFOX)
    if program is None:
        absent("Firefox is not installed", "firefox")
    command = [engines.node("newer-node"), DRIVER, node_packages.folder(), program, address]
    for _ in range(2):
        done = subprocess.run(
            command, input=json.dumps(calls), capture_output=True, text=True, timeout=LIMIT, check=False
        )
        assert done.returncode == 0, done.stderr[-4000:]
        outcome = json.loads(done.stdout)
        if outcome["errors"] != [NO_VALUE]:
            break
    assert outcome["errors"] == [] and outcome["foreign"] == [], outcome
    return list(outcome["values"])
