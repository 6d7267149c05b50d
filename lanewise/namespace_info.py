"""The array API standard's inspection API: what `lanewise.__array_namespace_info__()` returns."""

from __future__ import annotations

from lanewise import dtypes
from lanewise._facts import GPU_COMPUTED, MAX_NDIM
from lanewise.backends import registry
from lanewise.backends.backend import GPU_BACKENDS, place_of
from lanewise.dtypes import DType
from lanewise.errors import ArgumentError, describe, named
from lanewise.typeinfo import isdtype

__all__ = ["NamespaceInfo"]


class NamespaceInfo:
    """What this library supports, in the terms of the array API.

    >>> import lanewise as lw
    >>> lw.__array_namespace_info__().default_dtypes()["real floating"]
    lanewise.float32
    """

    def capabilities(self) -> dict[str, bool | int | None]:
        """Returns whether boolean indexing and data-dependent shapes are supported, and the largest possible ndim."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": MAX_NDIM}

    def default_device(self) -> str:
        """Returns the device of new tensors."""
        return "cpu"

    def devices(self) -> list[str]:
        """Returns the devices of this machine that can store tensors."""
        found = [place_of(backend, device.index) for backend in GPU_BACKENDS for device in registry.devices(backend)]
        return ["cpu", *found]

    def default_dtypes(self, *, device: str | None = None) -> dict[str, DType]:
        """Returns the dtypes that results have by default, for each kind. There are no complex numbers."""
        self._check(device)
        return {"real floating": dtypes.as_dtype(float), "integral": dtypes.as_dtype(int), "indexing": dtypes.int32}

    def dtypes(self, *, device: str | None = None, kind: str | tuple[str, ...] | None = None) -> dict[str, DType]:
        """Returns the standard's dtypes that a device computes, by name; with `kind`, only those of that kind."""
        self._check(device)
        standard = [each for each in dtypes.ALL if not dtypes.is_half(each)]
        computed = [each for each in standard if device in (None, "cpu") or each.name in GPU_COMPUTED]
        return {dtype.name: dtype for dtype in computed if kind is None or isdtype(dtype, kind)}

    @named("__array_namespace_info__")
    def _check(self, device: str | None) -> None:
        if device is not None and device not in self.devices():
            raise ArgumentError(f"expected a device in {self.devices()}, got {describe(device)}")
