"""Tensors on a GPU through WebGPU. registry.py opens the backend; then the extension records launches and hands them
to a player (native/extension/webgpu/recorder.c).

    provider.py    says whether this machine has WebGPU, and opens a device
    desktop.py     adapters of the package wgpu, and the player on one of them
    browser.py     the adapter of a web page, and the player on it; player.js is its part in JavaScript
    shaders.py     reads the generated WGSL and its metadata
    chains.py      makes the WGSL of a chain of elementwise kernels
    compiling.py   which kernels a driver can compile, and the log message while it compiles

The sources of the shaders are in webgpu/ of the repository; the build puts the generated modules in lanewise/_lib.
"""
