"""Computes on WebGPU in code that the browser can suspend, as a notebook cell is, without any `await`. Returns what
test_webgpu.py compares. Must be the first program that uses WebGPU in its page."""

from __future__ import annotations

import sys
from typing import Any

import lanewise as lw

OPERATIONS = 10_000
MODULES = tuple(f"lanewise.webgpu.{name}" for name in ("browser", "chains", "provider", "shaders"))


def heap_bytes() -> int:
    import pyodide_js  # type: ignore[import-not-found]  # exists only in Pyodide

    return int(pyodide_js._module.HEAPU8.byteLength)


def on_gpu(values: Any) -> lw.Tensor:
    return lw.asarray(values).to("wgpu")


def basics() -> dict[str, Any]:
    x = on_gpu([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    return {
        "add": (x + x).tolist(),
        "with a number": (2.0 * x - 1.0).tolist(),
        "int32": (on_gpu([1, -2, 3]) * 1000).tolist(),
        "int64": lw.asarray([1, -(2**40)], dtype=lw.int64).to("wgpu").copy().tolist(),
        "comparison": (x > 2.5).tolist(),
        "bool view": (x > 2.5).reshape((6,))[1:4].tolist(),
        "transpose": x.T.tolist(),
        "sum": lw.sum(x, axis=0).tolist(),
        "mean": float(lw.mean(x)),
        "argmax": lw.argmax(x, axis=1).tolist(),
        "matmul": (x @ x.T).tolist(),
        "softmax": lw.sum(lw.softmax(x, axis=-1), axis=-1).tolist(),
        "empty": lw.zeros((0, 3)).to("wgpu").tolist(),
        "item": x[1, 2].item(),
        "repr": repr(x[0]),
        "device": x.device,
        "back": str(x.to("cpu").device),
    }


def assignment() -> list[Any]:
    x = on_gpu([0.0] * 6).reshape((2, 3))
    x[0] = 1.0
    x[:, 2] = on_gpu([7.0, 8.0])
    x[1, :2] = lw.asarray([5.0, 6.0])
    x += 1
    return x.tolist()


def random_bits() -> dict[str, bool]:
    """Whether random numbers have the same bits as on the CPU."""
    same = {}
    for name, make in {
        "rand": lambda: lw.rand((1000,), seed=3),
        "randn": lambda: lw.randn((1000,), seed=4),
    }.items():
        with lw.use_backend("cpu"):
            expected = make().tobytes()
        with lw.use_backend("wgpu"):
            made = make()
            assert made.device == "wgpu"
        same[name] = made.tobytes() == expected
    return same


def chain() -> dict[str, Any]:
    """Counts what a chain of operations costs that is read once."""
    x = on_gpu([1.0] * 1000)
    before = lw.memory_stats("wgpu")
    for _ in range(50):
        x = x * 0.5 + 1.0
    total = float(lw.sum(x))
    after = lw.memory_stats("wgpu")
    counts = {name: after[name] - before[name] for name in ("uploads", "readbacks", "dispatches", "submissions")}
    return {"total": total, **counts}


def fused() -> dict[str, Any]:
    """Counts what 15 elementwise operations and a sum cost, once their kernel has been compiled in the background."""
    x = on_gpu([1.0] * 1000)
    for attempt in range(1000):
        before = lw.memory_stats("wgpu")
        y = x
        for _ in range(5):
            y = lw.relu(y * 0.5 + 1.0)
        total = float(lw.sum(y))
        after = lw.memory_stats("wgpu")
        names = ("readbacks", "dispatches", "submissions", "num_allocs")
        if attempt and after["chains_run"] > before["chains_run"]:
            return {"total": total, **{name: after[name] - before[name] for name in names}}
    return {}


def tiles() -> dict[str, bool]:
    """Whether products, a convolution and attention that GPUs compute in tiles are those of the CPU."""

    def whole(*shape: int) -> lw.Tensor:
        size = 1
        for extent in shape:
            size *= extent
        return lw.reshape(lw.asarray([float(i % 7 - 3) for i in range(size)]), shape)

    def same(function: Any, *operands: lw.Tensor) -> bool:
        placed = [each.to("wgpu") for each in operands]
        return bool(function(*placed).tolist() == function(*operands).tolist())

    a, b, image, weight = whole(68, 20), whole(20, 132), whole(1, 4, 9, 9), whole(16, 4, 3, 3)
    query = lw.zeros((2, 70, 8))  # equal weights: means of 64 small numbers are exact
    return {
        "matmul": same(lw.matmul, a, b),
        "transposed": same(lambda x, y: x.mT @ y.mT, b, a),
        "few rows": same(lw.matmul, a[:2], b),
        "conv2d": same(lambda x, y: lw.conv2d(x, y, padding=1), image, weight),
        "attention": same(lambda q, v: lw.scaled_dot_product_attention(q, q[:, :64], v), query, whole(2, 64, 8)),
    }


def growth() -> list[list[int]]:
    """Returns the sizes of memory and the number of buffers, after a tenth of the operations and after all."""
    from lanewise.webgpu import provider

    x = lw.ones((64, 64)).to("wgpu")
    sizes = []
    for i in range(1, OPERATIONS + 1):
        x = x * 0.5 if i % 2 else x + 1.0
        if i % 100 == 0:
            float(lw.sum(x))
        if i in (OPERATIONS // 10, OPERATIONS):
            page = provider._players[0]._page
            reserved = lw.memory_stats("wgpu")["reserved_bytes"]
            sizes.append([heap_bytes(), reserved, page.buffers.size, page.bindGroups.size, page.checks.size])
    return sizes


def large() -> float:
    """Uploads and sums a tensor whose buffer is created with a check."""
    x = lw.ones((1 << 23,)).to("wgpu")
    return float(lw.sum(x))


def results() -> dict[str, Any]:
    loaded = [name for name in MODULES if name in sys.modules]
    (info,) = (each for each in lw.backends() if each.name == "wgpu")
    return {
        "loaded by import": loaded,
        "info": str(info),
        "limits": info.devices[0].limits,
        "features": info.devices[0].features,
        "auto": lw.init_backend("auto").value,
        "basics": basics(),
        "assignment": assignment(),
        "random": random_bits(),
        "chain": chain(),
        "fused": fused(),
        "tiles": tiles(),
        "growth": growth(),
        "large": large(),
    }


results() if __name__ == "__main__" else None
