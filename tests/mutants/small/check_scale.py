"""Tests code/scale.wgsl on a WebGPU device; it must fail for mutants of that file."""

from array import array
from pathlib import Path

from wgpu.utils.compute import compute_with_buffers

x = array("f", [1.0, -2.0, 2.0, 0.5, 7.0, 0.0, -1.0, -1.0, -2.0, -2.0, 5.0, 6.0, 7.0, 8.0, 9.0])
shader = Path("code/scale.wgsl").read_text(encoding="utf-8")
found = compute_with_buffers({0: x}, {1: (6, "f")}, shader, n=3)[1].tolist()
sums = [-0.5 * 1.5 + 3 * 0.25, -6 * 1.5 + 5 * 0.25, 0.0]
assert found == [0.5, 0.5, -1.0, *sums], found
