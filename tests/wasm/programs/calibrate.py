"""Runs lw.calibrate() in Pyodide, which has no permanent folder for the result."""

from __future__ import annotations

from typing import Any

import lanewise as lw
from lanewise.costs import tuning


def results() -> dict[str, Any]:
    """Returns the measurements, the backend that AUTO then chooses, and the state after reset_calibration()."""
    tuning.REPEATS = 3  # fewer than usual, because no test compares the figures
    found = lw.calibrate()
    kept = lw.get_calibration() is found
    used = lw.ones(1).backend.value
    lw.reset_calibration()
    return {
        "order": [backend.value for backend in found.order],
        "costs": dict(found.costs),
        "path": found.path,
        "kept": kept,
        "used": used,
        "forgotten": lw.get_calibration() is None,
        "default": lw.ones(1).backend.value,
    }


results() if __name__ == "__main__" else None
