"""Asks for WebGPU in an engine that may not have it. Returns the reasons or its results, results
of the CPU, and the summary."""

from __future__ import annotations

from typing import Any

import lanewise as lw
from lanewise.backends import discovery


def results() -> dict[str, Any]:
    (info,) = (each for each in lw.backends() if each.name == "wgpu")
    gpu, error = None, ""
    try:
        gpu = (lw.asarray([1.0, 2.0, 3.0]).to("wgpu") * 2).tolist()
    except lw.BackendUnavailableError as raised:
        error = str(raised)
    return {
        "reason": info.reason,
        "error": error,
        "gpu": gpu,
        "auto": lw.init_backend("auto").is_gpu,
        "cpu": (lw.ones(2) + 1).tolist(),
        "summary": discovery.backend_summary(),
    }


results() if __name__ == "__main__" else None
