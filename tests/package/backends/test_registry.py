"""Tests how backends are registered and opened, with fake GPUs, and which GPU "vulkan", "rocm" or "mps" selects."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import lanewise as lw
from lanewise.backends import registry, selection
from lanewise.backends.devices import DeviceInfo
from lanewise.backends.discovery import backend_summary


class Adapters:
    """A fake implementation of WebGPU, which offers the given adapters, or says for which reason it is missing."""

    def __init__(self, *devices: DeviceInfo, reason: str = "") -> None:
        self.found = devices
        self.reason = reason
        self.opened: list[DeviceInfo | None] = []
        self.refusing: set[str] = set()  # the names of devices that cannot be opened

    def missing(self):
        return self.reason

    def devices(self):
        return self.found

    def open(self, device):
        refused = self.found[device.index if device else 0]
        if refused.name in self.refusing:
            raise lw.DeviceError(f"error when opening {refused.name}: no queue is left")
        self.opened.append(device)


@pytest.fixture
def webgpu(monkeypatch):
    """Returns a function that registers a fake provider of WebGPU."""
    monkeypatch.setattr(registry, "_providers", dict(registry._providers))
    monkeypatch.setattr(registry, "_missing", {})
    monkeypatch.setattr(registry, "_refusals", {})
    opened = {backend: device for backend, device in registry._opened.items() if not backend.is_gpu}
    monkeypatch.setattr(registry, "_opened", opened)

    def join(*devices: DeviceInfo, reason: str = "") -> Adapters:
        provider = Adapters(*devices, reason=reason)
        registry.register(lw.Backend.WGPU, provider)
        return provider

    return join


RADEON = DeviceInfo(0, "AMD Radeon RX 7900", 24 * 2**30, api="vulkan")
APPLE = DeviceInfo(0, "Apple M2 Pro", 32 * 2**30, unified_memory=True, api="metal")
LAVAPIPE = DeviceInfo(1, "llvmpipe (LLVM 19)", api="vulkan", software=True)


@pytest.mark.parametrize(
    ("name", "device"), [("vulkan", RADEON), ("rocm", RADEON), ("gpu", RADEON), ("auto", RADEON), ("wgpu", None)]
)
def test_names_resolve_to_an_adapter(webgpu, name, device):
    provider = webgpu(LAVAPIPE, RADEON)
    assert lw.init_backend(name) is lw.Backend.WGPU
    assert provider.opened == [device]  # opening None selects the first adapter


def test_an_api_without_an_adapter_lists_the_adapters(webgpu):
    webgpu(APPLE)
    with pytest.raises(lw.BackendUnavailableError, match=r"dx12 .* none among Apple M2 Pro \(metal\)"):
        lw.init_backend("dx12")
    with pytest.raises(lw.BackendUnavailableError, match="amd adapter through vulkan"):
        lw.init_backend("rocm")
    assert lw.init_backend("mps") is lw.Backend.WGPU


@pytest.mark.host
def test_software_adapters_are_used_only_by_name(webgpu):
    webgpu(LAVAPIPE)
    assert not lw.best_available_backend().is_gpu
    assert not lw.init_backend("auto").is_gpu
    with pytest.raises(lw.BackendUnavailableError, match="there are only software adapters: llvmpipe"):
        lw.init_backend("gpu")
    assert lw.init_backend("wgpu") is lw.Backend.WGPU


def test_a_process_may_use_several_devices_of_a_backend(webgpu):
    provider = webgpu(RADEON, metal := DeviceInfo(1, "NVIDIA H200", api="metal"))
    lw.init_backend("vulkan")
    lw.init_backend("vulkan")
    lw.init_backend("wgpu")
    assert provider.opened == [RADEON]
    lw.init_backend("metal")
    assert provider.opened == [RADEON, metal]
    for name in ("wgpu", "metal", "wgpu:0", "wgpu:1"):
        lw.init_backend(name)
    assert len(provider.opened) == 2 and registry.open_numbers(lw.Backend.WGPU) == [0, 1]


def test_the_array_api_lists_each_device(webgpu):
    webgpu(RADEON, H200)
    info = lw.__array_namespace_info__()
    assert info.devices() == ["cpu", "wgpu", "wgpu:1"]
    assert info.default_dtypes(device="wgpu:1") == info.default_dtypes()


def test_a_process_uses_at_most_eight_adapters(webgpu):
    webgpu(*(DeviceInfo(number, f"GPU {number}") for number in range(9)))
    lw.init_backend("wgpu:7")
    with pytest.raises(lw.BackendUnavailableError, match="wgpu: expected one of the first 8 devices, got number 8"):
        lw.init_backend("wgpu:8")


H200 = DeviceInfo(1, "NVIDIA H200", api="vulkan")


def test_a_number_selects_an_adapter(webgpu):
    provider = webgpu(RADEON, H200)
    assert lw.init_backend("WGPU:1") is lw.Backend.WGPU
    lw.init_backend("webgpu:1")
    for name in ("vulkan", "gpu"):  # satisfied by the adapter in use
        lw.init_backend(name)
    assert provider.opened == [H200]
    with pytest.raises(lw.BackendError, match="expected a GPU backend that is open, got wgpu"):
        lw.reset("wgpu")
    lw.init_backend("wgpu")  # the first, whether or not another is in use
    lw.reset("wgpu:1")
    lw.reset("wgpu:0")
    assert provider.opened == [H200, None, H200, RADEON]


def test_the_memory_of_the_adapter_that_is_named_is_checked(webgpu):
    provider = webgpu(RADEON, large := H200._replace(total_memory=2 * RADEON.total_memory))
    needed = RADEON.total_memory + 1
    for name in ("wgpu", "vulkan", "wgpu:0"):
        with pytest.raises(lw.OutOfMemoryError, match=r"WebGPU has 24\.00 GB free"):
            lw.init_backend_with_memory_check(name, needed)
    assert not provider.opened
    assert lw.init_backend_with_memory_check("wgpu:1", needed) is lw.Backend.WGPU
    assert provider.opened == [large]


@pytest.mark.host
def test_auto_skips_an_adapter_that_refuses_to_open(webgpu):
    webgpu(RADEON).refusing.add(RADEON.name)
    assert not lw.init_backend("auto").is_gpu
    for name in ("gpu", "wgpu", "vulkan"):
        with pytest.raises(lw.DeviceError, match="opening AMD Radeon RX 7900: no queue is left"):
            lw.init_backend(name)


@pytest.mark.host
def test_auto_takes_the_next_adapter_if_one_refuses(webgpu):
    provider = webgpu(RADEON, H200)
    provider.refusing.add(RADEON.name)
    assert lw.init_backend("auto") is lw.Backend.WGPU
    assert provider.opened == [H200]


REFUSAL = f"error when opening {RADEON.name}: no queue is left"


def listed() -> lw.BackendInfo:
    return next(info for info in lw.backends() if info.name == "wgpu")


@pytest.mark.host
def test_an_adapter_that_refused_to_open_is_listed_as_missing(webgpu):
    provider = webgpu(RADEON)
    provider.refusing.add(RADEON.name)
    assert listed().available and lw.best_available_backend().is_gpu  # nothing is opened to find out
    with pytest.raises(lw.DeviceError):
        lw.init_backend("wgpu")
    assert (listed().available, listed().reason, listed().devices) == (False, REFUSAL, ())
    assert str(listed()) == f"✗ wgpu: {REFUSAL}"
    assert f"✗ WGPU (GPU)\n    Error: {REFUSAL}\n" in backend_summary()
    with pytest.raises(lw.DeviceError, match="no queue is left"):
        lw.reset("wgpu")
    assert not listed().available
    provider.refusing.clear()
    assert not lw.best_available_backend().is_gpu  # AUTO does not try again
    assert lw.reset("wgpu") is lw.Backend.WGPU
    assert listed().available and lw.best_available_backend().is_gpu
    assert provider.opened == [None]


@pytest.mark.host
def test_one_of_two_adapters_that_refused_to_open(webgpu):
    """Its line says so. The other one is software, so AUTO leaves it out."""
    provider = webgpu(RADEON, LAVAPIPE)
    provider.refusing.add(RADEON.name)
    assert not lw.init_backend("auto").is_gpu
    assert str(listed()) == f"✓ wgpu: {RADEON}: ✗ {REFUSAL}; {LAVAPIPE}"
    assert not lw.best_available_backend().is_gpu
    assert lw.init_backend("wgpu:1") is lw.Backend.WGPU
    provider.refusing.clear()
    lw.reset("wgpu:0")
    assert str(listed()) == f"✓ wgpu: {RADEON}; {LAVAPIPE}"
    provider.refusing.add(LAVAPIPE.name)
    with pytest.raises(lw.DeviceError, match="opening llvmpipe"):
        lw.reset("wgpu:1")
    assert listed().available and listed().devices[1].reason and not listed().devices[0].reason


def test_no_other_errors_count_as_refusals(webgpu, monkeypatch):
    def fail(device):
        raise lw.ArgumentError("LANEWISE_FUSE: expected 1 or 0")

    monkeypatch.setattr(webgpu(RADEON), "open", fail)
    with pytest.raises(lw.ArgumentError):
        lw.init_backend("wgpu")
    assert listed().available
    with pytest.raises(lw.BackendError, match="expected a GPU backend that is open, got wgpu"):
        lw.reset("wgpu")


def test_auto_alone_with_an_adapter_that_refused(webgpu):
    webgpu(RADEON).refusing.add(RADEON.name)
    with pytest.raises(lw.DeviceError, match="no queue is left"):
        lw.set_backend_priority(["wgpu"])
    with pytest.raises(lw.DeviceError, match="no queue is left"):
        lw.init_backend("wgpu")


def test_the_summary_tells_what_an_adapter_offers(webgpu):
    limits = {"maxBufferSize": 2**32, "maxStorageBufferBindingSize": 2**31}
    features = ("clip-distances", "shader-f16", "subgroups", "timestamp-query")
    webgpu(RADEON._replace(limits=limits, features=features), APPLE)
    lines = backend_summary().splitlines()
    position = lines.index(f"    {RADEON}")
    assert lines[position + 1 : position + 3] == [
        "        offers buffers of 2.00 GB, shader-f16, subgroups",
        f"    {APPLE}",
    ]


@pytest.mark.parametrize("name", ["wgpu:", "wgpu:-1", "wgpu:one", "wgpu:1:1", "wgpu:\u0661", "avx2:0", "cpu:0", ":1"])
def test_numbers_that_are_refused(webgpu, name):
    webgpu(RADEON, H200)
    with pytest.raises(lw.BackendError, match=r'expected a GPU backend and the number of a device, such as "wgpu:1"'):
        lw.init_backend(name)


def test_a_number_that_no_adapter_has_lists_the_adapters(webgpu):
    webgpu(RADEON, H200)
    with pytest.raises(
        lw.BackendUnavailableError,
        match=r"device 2 does not exist; the devices are \[0\] AMD Radeon.*\[1\] NVIDIA H200",
    ):
        lw.ones(2).to("wgpu:2")
    with pytest.raises(lw.ArgumentError, match="expected backends without a device number, got 'wgpu:1'"):
        lw.set_backend_priority(["wgpu:1"])


def test_errors_say_why_a_backend_is_missing(webgpu):
    webgpu(reason="the package wgpu is not installed")
    with pytest.raises(lw.BackendUnavailableError, match="got wgpu: the package wgpu is not installed"):
        lw.init_backend("wgpu")
    assert registry.devices(lw.Backend.WGPU) == ()
    with pytest.raises(lw.BackendUnavailableError, match="not installed"):
        registry.ensure_open(lw.Backend.WGPU)


def test_registering_after_opening_or_for_auto(webgpu):
    webgpu(RADEON)
    lw.init_backend("wgpu")
    with pytest.raises(lw.BackendError, match="already open"):
        webgpu(LAVAPIPE)
    with pytest.raises(lw.BackendError, match="got auto"):
        registry.register(lw.Backend.AUTO, Adapters())


def test_the_summary_has_the_form_of_the_specification(webgpu):
    webgpu(APPLE, DeviceInfo(1, "Big GPU", 80 * 2**30, 79 * 2**30, compute_capability="9.0"))
    lines = backend_summary().splitlines()
    start = lines.index("✓ WGPU (GPU)")
    assert lines[0] == "=== Available Backends ==="
    assert lines[start + 1] == "    [0] Apple M2 Pro: 32.00 GB (unified memory, metal)"
    assert lines[start + 2] == "    [1] Big GPU: 80.00 GB (79.00 GB free, compute capability 9.0)"
    assert lines[-2:] == ["", "Recommended backend: WGPU"]


@pytest.mark.host
def test_memory_decides_between_backends(webgpu):
    provider = webgpu(DeviceInfo(0, "Small GPU", 2**30, 2**20, api="vulkan"))
    assert not lw.init_backend_with_memory_check("auto", 2**21).is_gpu
    assert provider.opened == []
    with pytest.raises(lw.OutOfMemoryError, match=r"WebGPU has 0\.00 GB free"):
        lw.init_backend_with_memory_check("gpu", 2**21)
    assert lw.init_backend_with_memory_check("auto", 2**19) is lw.Backend.WGPU


def test_a_cpu_library_names_what_the_cpu_lacks(monkeypatch):
    library = registry.libraries.find("scalar")
    monkeypatch.setattr(registry.libraries, "find", lambda name: library._replace(cpu_features=("avx", "relaxed_simd")))
    monkeypatch.setattr(registry, "_cpu_bits", lambda: 1 << 1)
    monkeypatch.setattr(registry, "_hidden_bits", lambda: 0)
    assert registry.CpuLibrary(lw.Backend.SCALAR).missing() == (
        "this CPU, or its operating system, lacks relaxed SIMD; it has AVX"
    )
    monkeypatch.setattr(registry.libraries, "find", lambda name: None)
    assert "has no scalar library" in registry.CpuLibrary(lw.Backend.SCALAR).missing()


STEPS = """
import lanewise as lw
from lanewise import _ext
from lanewise.backends import registry
from lanewise.backends.devices import DeviceInfo

class Provider:
    def missing(self): return ""
    def devices(self): return (DeviceInfo(0, "a GPU", 2**30),)
    def open(self, device): pass

registry.register(lw.Backend.WGPU, Provider())
x = lw.ones(2)
images = lw.reshape(x, (1, 1, 2))
with lw.use_backend("wgpu"):
    for call in (
        lambda: x[[0]], lambda: lw.exp([1.0]), lambda: lw.concat([x, x]), lambda: lw.add(x, [1.0, 2.0]),
        lambda: lw.add(x, x), lambda: x.copy(), lambda: x.astype("int32"), lambda: lw.max_pool2d(images, 1),
    ):
        try:
            call()
        except lw.BackendUnavailableError as error:
            assert 'expected an open backend, got wgpu; open it with lw.init_backend("wgpu")' in str(error), error
        else:
            assert False, "expected an error"
assert lw.add(x, x).tolist() == [2.0, 2.0]
closed = "avx2" if x.backend == "neon" else "neon"
for name, expected in ((closed, f"backend: the kernel library of {closed} is not open"), (2, "backend: expected the")):
    try:
        _ext.push_backend(name)
    except lw.LanewiseError as error:
        assert str(error).startswith(expected), error
    else:
        assert False, "expected an error"
"""


def test_a_backend_that_is_not_open_is_not_called():
    """Each call raises an error; calling a backend that is not open would crash the process. STEPS run in a new
    process, because earlier tests may have opened the backend."""
    done = subprocess.run([sys.executable, "-c", STEPS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("base", ["", "scalar"])
def test_a_base_library_is_opened_first(monkeypatch, base):
    row = registry.libraries.find("scalar")._replace(base=base)
    opened = []
    monkeypatch.setattr(registry.libraries, "find", lambda name: row)
    monkeypatch.setattr(registry.libraries, "checked_path", lambda name: f"library of {name}")
    monkeypatch.setattr(registry, "ensure_open", opened.append)
    monkeypatch.setattr(registry, "_ext", SimpleNamespace(open_library=lambda *arguments: opened.append(arguments)))
    registry.CpuLibrary(lw.Backend.RELAXED_SIMD).open(None)
    first = [lw.Backend(base)] if base else []
    assert opened == [*first, ("library of relaxed_simd", "relaxed_simd", base or None)]


def test_a_new_provider_replaces_the_reason_of_an_earlier_one(webgpu):
    webgpu(reason="the driver is missing")
    assert registry.missing(lw.Backend.WGPU) == "the driver is missing"
    webgpu(RADEON)
    assert registry.missing(lw.Backend.WGPU) == ""


def test_feature_bits_are_those_of_the_header(monkeypatch):
    """With one LW_CPU_* bit set, only its feature is reported; none for CUDA's bit, as CUDA is no CPU feature."""
    header = (Path(lw.__file__).parent / "_lib" / "include" / "lanewise_facts.h").read_text(encoding="utf-8")
    bits = {name: 1 << int(bit) for name, bit in re.findall(r"\bLW_CPU_(\w+) = 1 << (\d+)", header)}
    found = {}
    monkeypatch.setattr(registry, "_hidden_bits", lambda: 0)
    for name, bit in bits.items():
        monkeypatch.setattr(registry, "_cpu_bits", lambda bit=bit: bit)
        found[name] = [label.upper().replace("-", "").replace(" ", "_") for label in registry.cpu_features()]
    assert found == {name: [name] if name != "CUDA" else [] for name in bits}
    assert len(found) == 10


def test_an_open_library_is_not_checked_again(monkeypatch):
    def damaged(name):
        raise lw.LibraryError(f"{name}: damaged")

    monkeypatch.setattr(registry.libraries, "checked_path", damaged)
    default = lw.ones(1).backend
    assert {info.name: info for info in lw.backends()}[default].available


@pytest.mark.parametrize("opening", [(), (lw.Backend.SCALAR,)])
@pytest.mark.host
def test_the_best_backend_is_the_first_that_opens_or_the_last(monkeypatch, opening):
    def ensure_open(backend, device=None):
        if backend not in opening:
            raise lw.LibraryError(f"{backend}: damaged")

    monkeypatch.setattr(registry, "ensure_open", ensure_open)
    assert lw.best_available_backend() is lw.Backend.SCALAR


def test_the_free_memory_of_the_device_that_would_open_counts(webgpu):
    webgpu(DeviceInfo(0, "Small GPU", 2**30, 2**20), DeviceInfo(1, "Large GPU", 2**30, 2**25))
    assert lw.init_backend_with_memory_check("gpu", 2**20) is lw.Backend.WGPU
    with pytest.raises(lw.OutOfMemoryError):
        lw.init_backend_with_memory_check("gpu", 2**20 + 1)


@pytest.mark.host
def test_a_priority_orders_the_backends_that_a_name_stands_for(webgpu):
    webgpu(RADEON)
    registry.register(lw.Backend.CUDA, Adapters(DeviceInfo(0, "NVIDIA H200")))
    default = lw.ones(1).backend
    try:
        assert lw.set_backend_priority(["wgpu", "cuda", "cpu"]) is lw.Backend.WGPU
        assert lw.init_backend("gpu") is lw.Backend.WGPU
        assert lw.ones(1).backend is default  # GPUs compute only with tensors that the user has placed on them
        lw.set_backend_priority(["wgpu"])
        lw.reset_calibration()
        assert selection.default_backend() is lw.Backend.WGPU
    finally:
        lw.set_backend_priority(["auto"])
