"""Emits the WGSL modules of kernels."""
