"""Asks for WebGPU in an engine that does not have it. Returns the reasons, and results of the CPU."""

from __future__ import annotations

from typing import Any

import lanewise as lw


def results() -> dict[str, Any]:
    (info,) = (each for each in lw.backends() if each.name == "wgpu")
    try:
        lw.ones(3).to("wgpu")
        error = ""
    except lw.BackendUnavailableError as raised:
        error = str(raised)
    return {
        "reason": info.reason,
        "error": error,
        "auto": lw.init_backend("auto").is_gpu,
        "cpu": (lw.ones(2) + 1).tolist(),
    }


results() if __name__ == "__main__" else None
