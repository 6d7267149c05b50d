"""Runs lanewise.demo, which reads handwritten digits on every backend of this engine, and in NumPy if it is installed.
Returns its JSON report and its exit status."""

from __future__ import annotations

import contextlib
import io
import json
from typing import Any

from lanewise import demo


def report(*arguments: str) -> dict[str, Any]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        status = demo.main(["--json", *arguments])
    return {"status": status, **json.loads(printed.getvalue())}


report() if __name__ == "__main__" else None
