"""Tensors and kernels on a GPU through WebGPU.

    backend.py     which adapters there are, and opens one: what registry.py asks
    executor.py    launches a kernel of the table on buffers: what the dispatch and the extension call
    layouts.py     a kernel's layout and parameters as the 256 bytes that its shader reads
    buffers.py     pooled device memory
    shaders.py     the generated WGSL and what its first line says of it
    device.py      the thin interface to a device, and what it counts in
    desktop.py     that interface on wgpu-py; the browser's comes beside it

The shaders are in webgpu/ of the repository; the build puts the modules it makes of them in lanewise/_lib.
"""

from __future__ import annotations

from lanewise.webgpu.backend import devices, open

__all__ = ["devices", "open"]
