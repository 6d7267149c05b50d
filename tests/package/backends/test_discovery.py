"""Tests what Lanewise reports about this machine: its backends, devices, memory and the summary."""

from __future__ import annotations

import copy
import io
import pickle
import platform
import re
import sys

import pytest

import lanewise as lw
from lanewise.backends import hardware


def test_every_backend_is_listed_with_devices_or_a_reason():
    found = lw.backends()
    assert [info.name for info in found] == [backend for backend in lw.Backend if backend is not lw.Backend.AUTO]
    for info in found:
        assert info.available == (info.reason is None) == bool(info.devices)
    assert found[-1].name is lw.Backend.SCALAR and found[-1].available


def test_the_cpu_as_a_device():
    device = lw.backends()[-1].devices[0]
    assert isinstance(device, lw.DeviceInfo)
    assert device.index == 0 and device.name and not device.software
    assert device.total_memory >= 0
    assert device.free_memory is None or 0 < device.free_memory <= device.total_memory


def test_the_summary(capsys):
    lw.print_backend_summary()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "=== Available Backends ==="
    heads = [line for line in lines if line[:1] in "✓✗" and line]
    infos = sorted(lw.backends(), key=lambda info: not info.available)  # what runs here comes first
    assert [(line[0], line.split()[1]) for line in heads] == [("✗✓"[each.available], each.name.name) for each in infos]
    assert lines[-4] == f"CPU threads: {lw.get_num_threads()}"
    assert lines[-3].startswith("Calibration: ")
    for info in lw.backends():
        assert not info.reason or f"    Error: {info.reason}" in lines
    for line in lines[1:-4]:
        expected = r"[✓✗] [A-Z0-9_]+ \((CPU|GPU)\)|    \[\d+\] .+|        offers buffers of .+|    Error: .+"
        assert re.fullmatch(expected, line), line
    assert lines[-1] == f"Recommended backend: {lw.best_available_backend().name}"


def test_the_summary_on_an_old_console(monkeypatch):
    console = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="strict")
    monkeypatch.setattr(sys, "stdout", console)
    lw.print_backend_summary()
    console.flush()
    assert b"+ SCALAR (CPU)" in console.buffer.getvalue()


def test_the_best_backend_is_available():
    best = lw.best_available_backend()
    assert next(info for info in lw.backends() if info.name is best).available


def test_the_machine():
    assert hardware.cpu_name()
    total, free = hardware.total_memory(), hardware.free_memory()
    assert total >= 0 and (free is None or free >= 0)


CPUINFO = "processor\t: 0\nvendor_id\t: any\nmodel name\t: A fast CPU\nflags\t\t: " + "sse2 " * 200
BOARD = "processor\t: 0\n" + "Features\t: neon\n" * 50
MEMINFO = "MemTotal:       1000 kB\nMemFree:  1 kB\nMemAvailable:    600 kB\n"


@pytest.fixture
def system(monkeypatch, tmp_path):
    """Returns a function that replaces files such as /proc/cpuinfo with the given texts; all others are missing."""

    def replace(**files):
        for name, text in files.items():
            (tmp_path / name.replace("_", ".", 1)).write_text(text)

    monkeypatch.setattr(hardware, "Path", lambda *parts: tmp_path / parts[-1].rpartition("/")[2])
    return replace


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /proc")
@pytest.mark.parametrize(
    ("text", "name"),
    [
        (CPUINFO, "A fast CPU"),
        (f"{BOARD}Hardware\t: BCM2835\n", "BCM2835"),
        (f"{BOARD}Hardware\t: BCM2835\nModel\t\t: Raspberry Pi\n", "Raspberry Pi"),
        (f"{BOARD}model name\t: ARMv7\nModel\t\t: Raspberry Pi\n", "ARMv7"),
        (BOARD, "a processor"),
    ],
)
def test_the_name_of_the_cpu(system, monkeypatch, text, name):
    monkeypatch.setattr(platform, "processor", lambda: "a processor")
    system(cpuinfo=text)
    assert hardware.cpu_name() == name
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "")
    assert hardware.cpu_name() == ("unknown CPU" if text is BOARD else name)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /proc")
@pytest.mark.parametrize(
    ("files", "total", "free"),
    [
        ({}, 0, None),
        ({"meminfo": MEMINFO}, 1000 * 1024, 600 * 1024),
        ({"meminfo": "MemFree: 1 kB\n", "memory_max": "5000"}, 0, None),
        ({"meminfo": MEMINFO, "memory_max": "max", "memory_current": "9"}, 1000 * 1024, 600 * 1024),
        ({"meminfo": MEMINFO, "memory_max": "5000", "memory_current": "1000"}, 5000, 4000),
        ({"meminfo": MEMINFO, "memory_max": "9000000", "memory_current": "1000"}, 1000 * 1024, 600 * 1024),
        ({"meminfo": MEMINFO, "memory_max": "5000"}, 5000, 600 * 1024),
        ({"meminfo": MEMINFO, "memory_max": "5000", "memory_current": "6000"}, 5000, 0),
        ({"memory_max": "5000", "memory_current": "4000", "memory_stat": "anon 7\ninactive_file 50\n"}, 0, 1050),
    ],
)
def test_the_memory_of_a_machine_and_of_a_container(system, files, total, free):
    system(**files)
    assert (hardware.total_memory(), hardware.free_memory()) == (total, free)


def test_devices_print_only_known_fields():
    assert str(lw.DeviceInfo(2, "GPU")) == "[2] GPU"
    assert str(lw.DeviceInfo(0, "CPU", 2**31, 2**30)) == "[0] CPU: 2.00 GB (1.00 GB free)"
    assert str(lw.DeviceInfo(1, "llvmpipe", api="vulkan", software=True)) == "[1] llvmpipe (vulkan, software)"
    assert str(lw.DeviceInfo(1, "Radeon", api="vulkan")) == "[1] Radeon (vulkan)"
    assert str(lw.DeviceInfo(1, "Radeon", limits={"maxBufferSize": 9}, features=("shader-f16",))) == "[1] Radeon"


def test_the_cpu_has_no_limits_and_features():
    device = lw.backends()[-1].devices[0]
    assert (device.limits, device.features) == ({}, ())


def test_devices_are_hashable_and_can_be_copied():
    device = lw.DeviceInfo(1, "Radeon", limits={"maxBufferSize": 2**30}, features=("shader-f16",))
    for twin in (copy.deepcopy(device), pickle.loads(pickle.dumps(device))):
        assert twin == device and len({twin, device}) == 1
    assert len({device, lw.DeviceInfo(2, "Radeon")}) == 2
