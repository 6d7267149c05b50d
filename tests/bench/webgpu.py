"""The group `webgpu` of the benchmark command: times each operation that has a shader, on the GPU and on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import lanewise as lw
from lanewise.errors import ArgumentError
from lanewise.webgpu import shaders
from tests.bench import operations, suite
from tests.bench.settings import Settings

GPU = "wgpu"
SIZES = ("64K", "4M")  # elements: launching takes most of the time at the first, computing at the second
EDGES = ("256", "1024")  # numbers of rows of square matrices


def with_shader() -> list[str]:
    """Returns the operations that have a kernel in WGSL."""
    kernels = shaders.kernel_names()
    return [name for name, operation in operations.load().items() if set(operation.kernels.values()) & kernels]


def run(names: Sequence[str], settings: Settings) -> int:
    """Measures the named operations, or all that have a shader. Raises ArgumentError if there is no GPU."""
    (info,) = [info for info in lw.backends() if info.name == GPU]
    if not info.available:
        raise ArgumentError(f"bench: webgpu: {info.reason}")
    settings = replace(settings, backends=settings.backends or [GPU, str(lw.ones((1,)).backend)])
    chosen = [operations.find(name).name for name in names] or with_shader()
    matrices = [name for name in chosen if operations.find(name).kind in ("matrix", "composed")]
    others = [name for name in chosen if name not in matrices]
    status = 0
    for group, sizes in ((others, SIZES), (matrices, EDGES)):
        if group:
            status |= suite.run(group, replace(settings, sizes=settings.sizes or sizes))
    return status
