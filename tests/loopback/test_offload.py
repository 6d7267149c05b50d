"""Tests offload: after a calibration, AUTO moves calls on CPU tensors to the GPU that was measured."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import lanewise as lw
from lanewise import _ext
from lanewise.backends import registry, selection
from lanewise.backends.backend import Backend
from lanewise.costs import offload
from lanewise.costs.calibration import GPU_COSTS, Adapter, Calibration
from tests.loopback.conftest import PACKAGE, ROOT

HOST = selection.default_backend()
# On this GPU, copies take a nanosecond per byte, kernels and opening it no time.
COSTS = {HOST.value: 1.0, "launch": 1000.0, "transfer": 1.0, "gpu": 0.0, "opening": 0.0}


def follow(driver: str | None = None, **costs: float) -> None:
    """Calibrates with these costs, and COSTS."""
    selection.follow(Calibration(COSTS | costs, "2026-11-24", gpu=Adapter(Backend.WGPU, "loopback", driver)))


@pytest.fixture(autouse=True)
def calibration() -> Iterator[None]:
    """Calibrates with a GPU; afterwards, without it."""
    follow()
    yield
    selection.follow(None)


def matrices(rows: int = 600) -> tuple[lw.Tensor, lw.Tensor]:
    """Returns matrices of integers, whose product is exact in any order."""
    generator = np.random.default_rng(rows)
    return tuple(lw.asarray(generator.integers(-3, 4, (rows, rows)).astype(np.float32)) for _ in range(2))


def is_moved(function: Callable[[], Any]) -> bool:
    """Returns whether a call runs on the GPU, and brings the result back."""
    before = lw.memory_stats()["readbacks"]
    function()
    return lw.memory_stats()["readbacks"] > before


def test_a_long_call_moves_and_its_result_is_on_the_host() -> None:
    # 600^3 products at 0.0125 ns take 2.7 ms on one thread; the launch and copies of 3 * 600^2 * 4 bytes take 4.3 ms
    small = matrices()
    assert not is_moved(lambda: small[0] @ small[1])
    follow(transfer=0.001)
    a, b = matrices()
    expected = a.numpy() @ b.numpy()
    assert is_moved(lambda: a @ b)
    product = a @ b
    assert product.backend is HOST and product.device == "cpu" and not product.is_committed
    assert np.array_equal(product.numpy(), expected)
    assert np.shares_memory(np.asarray(product), np.asarray(product))  # as on the host, not a copy
    out = lw.zeros((600, 600))
    assert is_moved(lambda: lw.matmul(a, b, out=out)) and np.array_equal(out.numpy(), expected)
    assert is_moved(lambda: lw.matmul(a.numpy(), b.numpy()))  # arrays of NumPy, too
    assert is_moved(lambda: lw.matmul(a.T, b[::-1])), "strided"


CASES: dict[str, Callable[[], Any]] = {
    "matmul": lambda: lw.matmul(lw.ones((300, 300)), lw.ones((300, 300))),
    "operator": lambda: lw.ones((300, 300)) @ lw.ones((300, 300)),
    "method": lambda: lw.ones((300, 300)).matmul(lw.ones((300, 300))),
    "linear": lambda: lw.linear(lw.ones((300, 300)), lw.ones((300, 300)), lw.ones(300)),
    "conv2d": lambda: lw.conv2d(lw.ones((1, 16, 32, 32)), lw.ones((16, 16, 3, 3))),
    "attention": lambda: lw.scaled_dot_product_attention(*3 * (lw.ones((1, 256, 32)),)),
    "a list": lambda: lw.matmul([[1.0] * 300] * 300, lw.ones((300, 300))),
}


@pytest.mark.parametrize("name", CASES)
def test_what_computes_much_per_element_moves(name: str) -> None:
    follow(launch=0.0, transfer=1e-4)
    assert is_moved(CASES[name])
    follow(launch=0.0, transfer=1e-4, gpu=1.0)
    assert not is_moved(CASES[name])


STAY: dict[str, Callable[[], Any]] = {
    "an elementwise operation": lambda: lw.hypot(lw.ones(1 << 20), lw.ones(1 << 20)),
    "a row operation": lambda: lw.softmax(lw.ones((64, 1 << 12))),
    "a window without weights": lambda: lw.max_pool2d(lw.ones((1, 64, 64, 64)), 9),
    "eigenvalues": lambda: lw.eigvalsh(lw.ones((100, 100))),
    "int32": lambda: lw.matmul(*2 * (lw.ones((200, 200), dtype=lw.int32),)),
    "few elements": lambda: lw.matmul(*2 * (lw.ones((4, 4)),)),
    "placed on the CPU": lambda: lw.matmul(*2 * (lw.ones((200, 200)).to(HOST),)),
    'device="cpu"': lambda: lw.matmul(*2 * (lw.full((200, 200), 1.0, device="cpu"),)),
    'asarray(device="cpu")': lambda: lw.matmul(*2 * (lw.asarray(lw.ones((200, 200)), device="cpu"),)),
    'to_device("cpu")': lambda: lw.matmul(*2 * (lw.ones((200, 200)).to_device("cpu"),)),
    "inside use_backend": lambda: lw.use_backend("scalar")(lw.matmul)(*2 * (lw.ones((200, 200)),)),
}


@pytest.mark.parametrize("name", STAY)
def test_what_stays(name: str) -> None:
    follow(launch=100.0, transfer=1e-6)
    assert not is_moved(STAY[name])


def test_use_backend_auto_moves_calls() -> None:
    follow(transfer=0.001)
    a, b = matrices()
    with lw.use_backend("auto"):
        assert is_moved(lambda: a @ b)
        assert not (a @ b).is_committed


def test_what_switches_offload_off(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = matrices()
    follow(transfer=0.0)
    assert is_moved(lambda: a @ b)
    lw.set_backend_priority(["cpu"])
    assert not is_moved(lambda: a @ b)
    lw.set_backend_priority([HOST, "wgpu"])
    assert not is_moved(lambda: a @ b)
    lw.set_backend_priority(["wgpu", HOST])
    assert is_moved(lambda: a @ b)
    lw.set_backend_priority(["auto"])
    assert is_moved(lambda: a @ b)
    monkeypatch.setenv("LANEWISE_FORCE_CPU", "1")
    follow(transfer=0.0)
    assert not is_moved(lambda: a @ b)
    monkeypatch.delenv("LANEWISE_FORCE_CPU")
    lw.reset_calibration()
    assert not is_moved(lambda: a @ b)


@pytest.mark.parametrize("fault", ["at once", "late", "memory", "refusal", "write", "read"])
def test_after_a_failure_the_cpu_computes(fault: str) -> None:
    follow(transfer=0.0)
    a, b = matrices(500)
    expected = a.numpy() @ b.numpy()
    _ext.inject(fault, 0)
    assert np.array_equal((a @ b).numpy(), expected)
    _ext.inject("none", 0)
    # the next call may fit, and more memory may be free then
    assert is_moved(lambda: a @ b) == (fault in ("memory", "refusal"))


def test_after_a_loss_the_cpu_goes_on_until_a_reset() -> None:
    follow(transfer=0.0)
    a, b = matrices(500)
    expected = a.numpy() @ b.numpy()
    _ext.inject("loss", 0)
    assert np.array_equal((a @ b).numpy(), expected)
    assert not is_moved(lambda: a @ b)
    lw.reset("wgpu")
    assert is_moved(lambda: a @ b)


def test_wrong_arguments_raise_the_same_errors() -> None:
    follow(transfer=0.0)
    a, b = matrices(500)
    with pytest.raises(lw.ShapeError, match="matmul: expected a tensor of shape"):
        lw.matmul(a, b, out=lw.zeros((3, 3)))
    with pytest.raises(lw.ArgumentError, match="shares no memory"):
        lw.matmul(a, b, out=a)
    assert is_moved(lambda: a @ b)  # the GPU did not fail


def test_a_kernel_that_the_gpu_lacks() -> None:
    follow(transfer=0.0)
    a, b = matrices(500)
    _ext.without("matmul")
    assert not is_moved(lambda: a @ b)


def test_another_gpu_than_the_measured_one() -> None:
    follow(driver="of another day", transfer=0.0)
    a, b = matrices(500)
    with pytest.warns(RuntimeWarning, match=r"calls stay on the CPU, .* loopback, .* \[0\] loopback.*; measure again"):
        a @ b
    assert not is_moved(lambda: a @ b)  # and no second warning, which would be an error here


OPENING = """
import sys
sys.path[:0] = {paths!r}
from tests.loopback.provider import Loopback, register
register()
from tests.loopback.test_offload import follow, is_moved, registry
import lanewise as lw
{opened}
a, b = lw.ones((500, 500)), lw.ones((500, 500))
follow(transfer=0.0, launch=0.0, opening=3.5 * 500 ** 3 * 0.0125 / lw._ext.get_running_threads())
print([is_moved(lambda: a @ b) for _ in range(6)], (a @ b)[0, 0].item())
"""
OTHER = """
class Two(Loopback):
    lock = None
    def devices(self):
        return [*super().devices(), super().devices()[0]._replace(index=1, name="another")]
    def open(self, device):
        if device and device.index:
            lw._ext.open_webgpu("wgpu:1", self, 1, 1, 1, 1, False)
        else:
            super().open(device)
registry.register(lw.Backend.WGPU, Two())
lw.init_backend("wgpu:1")
"""


@pytest.mark.parametrize(
    ("opened", "not_moved"),
    [("", 3), (OTHER, 3), ("lw.init_backend('wgpu')", 0), (OTHER + "lw.init_backend('wgpu')", 0)],
    ids=["no device", "another device", "the device", "both devices"],
)
def test_the_gpu_is_opened_once_that_is_worth_its_time(opened: str, not_moved: int) -> None:
    code = OPENING.format(paths=[str(PACKAGE), str(ROOT)], opened=opened)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == (f"{[False] * not_moved + [True] * (6 - not_moved)} 500.0\n", "")


def test_the_summary_names_the_least_product(capsys: pytest.CaptureFixture[str]) -> None:
    follow(transfer=0.001)
    rows = offload.least_product()
    assert rows is not None
    for count in (rows - 1, rows):
        a = lw.ones((count, count))
        assert is_moved(lambda a=a: a @ a) == (count == rows)
    lw.print_backend_summary()
    expected = f"AUTO offloads calls to loopback if they are faster there: square matrix products from {rows} rows on"
    assert expected in capsys.readouterr().out.splitlines()
    follow(transfer=1e6)
    assert offload.least_product() is None
    assert offload.summary().endswith("but no product of square matrices")


def test_a_real_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    small = {"matmul": ((8, 8), (8, 8)), "conv2d": ((1, 1, 8, 8), (1, 1, 3, 3))}
    attention = {"scaled_dot_product_attention": ((1, 4, 4),) * 3}
    monkeypatch.setattr(offload, "SHAPES", small | attention)
    for name, value in {"REPEATS": 2, "SAMPLE_SECONDS": 1e-4, "WARM_SECONDS": 0.0, "COPIED_BYTES": 400}.items():
        monkeypatch.setattr(offload, name, value)
    with lw.use_backend("scalar"):
        found = offload.measured(HOST)
    assert found is not None
    adapter, costs = found
    assert adapter == ("wgpu", "loopback", None)
    assert tuple(costs) == GPU_COSTS and costs["launch"] > 0 and costs["gpu"] > 0 and costs["transfer"] >= 0
    with monkeypatch.context() as patch:
        patch.setattr(registry, "is_pending", lambda backend: backend is Backend.WGPU)
        assert offload.measured(HOST) is None  # a page that cannot wait for its GPU
    _ext.inject("loss", 0)
    assert offload.measured(HOST) is None
