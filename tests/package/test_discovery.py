"""Tests what Lanewise reports about this machine: its backends, devices, memory and the summary."""

from __future__ import annotations

import io
import re
import sys

import lanewise as lw
from lanewise import hardware


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
    assert [line.split()[1] for line in heads] == [info.name.name for info in lw.backends()]
    assert lines[-4] == f"CPU threads: {lw.get_num_threads()}"
    assert lines[-3].startswith("Calibration: ")
    for info in lw.backends():
        assert not info.reason or f"    Error: {info.reason}" in lines
    for line in lines[1:-4]:
        assert re.fullmatch(r"[✓✗] [A-Z0-9_]+ \((CPU|GPU)\)|    \[\d+\] .+|    Error: .+", line), line
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


def test_devices_print_only_known_fields():
    assert str(lw.DeviceInfo(2, "GPU")) == "[2] GPU"
    assert str(lw.DeviceInfo(0, "CPU", 2**31, 2**30)) == "[0] CPU: 2.00 GB (1.00 GB free)"
    assert str(lw.DeviceInfo(1, "llvmpipe", api="vulkan", software=True)) == "[1] llvmpipe (vulkan, software)"
    assert str(lw.DeviceInfo(1, "Radeon", api="vulkan")) == "[1] Radeon (vulkan)"
