"""Tensors and kernels on a GPU through WebGPU.

    backend.py     lists adapters and opens one, for registry.py
    executor.py    launches kernels on buffers, for the dispatch and the extension
    layouts.py     encodes layout and parameters as the 256 bytes that a shader reads
    buffers.py     pools device memory
    shaders.py     reads the generated WGSL and its metadata
    device.py      the interface to a device that the files above use
    desktop.py     that interface on wgpu-py, for the desktop

The sources of the shaders are in webgpu/ of the repository; the build puts the generated modules in lanewise/_lib.
"""

from __future__ import annotations

from lanewise.webgpu.backend import devices, open

__all__ = ["devices", "open"]
