"""Tests lanewise.cffi: the raw kernels, on memory that the caller allocates."""

from __future__ import annotations

import struct

import pytest

import lanewise as lw
from lanewise import _ext
from lanewise.cffi import ffi, lib
from lanewise.errors import BackendUnavailableError

ISAS = [info.name.value for info in lw.backends() if info.available and not info.name.is_gpu]
GUARD = b"\xa5" * 64


@pytest.fixture(params=ISAS)
def library(request: pytest.FixtureRequest) -> object:
    return lib(request.param).lanewise_kernels


def test_the_head_describes_the_library(library: ffi.CData) -> None:
    name = ffi.string(library.head.name).decode()
    assert library.head.abi_version == _ext.abi_version()
    assert lib(name).lanewise_kernels.head.signature == library.head.signature
    assert name in ISAS


@pytest.mark.parametrize("offset", [0, 1, 4, 7])
@pytest.mark.parametrize("count", [0, 1, 3, 16, 33, 1000])
def test_adds_at_any_address_and_writes_nothing_else(library: ffi.CData, count: int, offset: int) -> None:
    x = [float(i) for i in range(count)]
    bytes_in = bytearray(b"\0" * offset + struct.pack(f"{count}f", *x))
    bytes_out = bytearray(GUARD + b"\0" * (offset + 4 * count) + GUARD)
    source, target = ffi.from_buffer(bytes_in) + offset, ffi.from_buffer(bytes_out) + len(GUARD) + offset
    layout = ffi.new("lw_layout *", {"ndim": 1, "shape": [count], "strides": [[4], [4], [4]]})
    inputs, outputs = ffi.new("const void *[]", [source, source]), ffi.new("void *[]", [target])
    status = library.kernels.add_float32(ffi.new("lw_context *"), layout, inputs, outputs, ffi.NULL)
    assert status == 0
    result = struct.unpack_from(f"{count}f", bytes_out, len(GUARD) + offset)
    assert list(result) == [2 * value for value in x]
    assert bytes_out.startswith(GUARD) and bytes_out.endswith(GUARD)
    assert bytes_out[len(GUARD) : len(GUARD) + offset] == b"\0" * offset


def test_parameters_and_strides(library: ffi.CData) -> None:
    x = ffi.new("float[]", [-1.0, 9.0, -2.0, 9.0, 3.0, 9.0])
    out = ffi.new("float[]", 3)
    layout = ffi.new("lw_layout *", {"ndim": 1, "shape": [3], "strides": [[8], [4]]})
    parameters = ffi.new("lw_scalar[]", [{"f": 0.5}])
    inputs, outputs = ffi.new("const void *[]", [x]), ffi.new("void *[]", [out])
    library.kernels.leaky_relu_float32(ffi.new("lw_context *"), layout, inputs, outputs, parameters)
    assert list(out) == [-0.5, -1.0, 3.0]


def test_a_missing_library_is_an_error() -> None:
    absent = next(name for name in ("neon", "avx512", "simd128") if name not in ISAS)
    with pytest.raises(BackendUnavailableError):
        lib(absent)
    with pytest.raises(BackendUnavailableError, match="expected a CPU backend such as 'avx2', got 'wgpu'"):
        lib("wgpu")
