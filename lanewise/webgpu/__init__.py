"""Runs kernels on a GPU through WebGPU. Tensors do not use it in this version.

    backend.py     lists adapters and opens one
    executor.py    launches kernels on buffers: implements lanewise.devices.Executor
    layouts.py     encodes a kernel's layout and parameters as the 256 bytes that its shader reads
    buffers.py     pools device memory
    shaders.py     reads the generated WGSL and its metadata
    device.py      the interface to a device that the files above use
    desktop.py     implements that interface on wgpu-py, for the desktop

The sources of the shaders are in webgpu/ of the repository; the build puts the generated modules in lanewise/_lib.
"""

from __future__ import annotations

from lanewise.webgpu.backend import devices, open

__all__ = ["devices", "open"]
