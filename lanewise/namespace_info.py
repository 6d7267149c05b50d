"""What `lanewise.__array_namespace_info__()` returns: the array API standard's inspection of this library."""

from __future__ import annotations

from lanewise import dtypes, registry
from lanewise.backend import GPU_BACKENDS
from lanewise.dtypes import DType
from lanewise.errors import ArgumentError
from lanewise.typeinfo import isdtype

__all__ = ["NamespaceInfo"]


class NamespaceInfo:
    """What this library can do, in the array API's terms.

    >>> import lanewise as lw
    >>> lw.__array_namespace_info__().default_dtypes()["real floating"]
    lanewise.float32
    """

    def capabilities(self) -> dict[str, bool | int | None]:
        """Masks can index; results may have shapes that depend on data; eight dimensions at most."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 8}

    def default_device(self) -> str:
        """Where new tensors are."""
        return "cpu"

    def devices(self) -> list[str]:
        """Whose memory can hold tensors on this machine."""
        return ["cpu", *(backend.value for backend in GPU_BACKENDS if not registry.missing(backend))]

    def default_dtypes(self, *, device: str | None = None) -> dict[str, DType]:
        """The dtypes of results where none is given. There are no complex numbers."""
        self._check(device)
        return {"real floating": dtypes.float32, "integral": dtypes.int32, "indexing": dtypes.int32}

    def dtypes(self, *, device: str | None = None, kind: str | tuple[str, ...] | None = None) -> dict[str, DType]:
        """The dtypes that every operation computes with, or those of a kind, by name.

        int64, float16 and float64 can be held and converted, but few operations have kernels for them.
        """
        self._check(device)
        computed = (dtypes.bool, dtypes.int32, dtypes.float32)
        return {dtype.name: dtype for dtype in computed if kind is None or isdtype(dtype, kind)}

    def _check(self, device: str | None) -> None:
        if device is not None and device not in self.devices():
            raise ArgumentError(f"__array_namespace_info__: there is no device {device!r}; {self.devices()} are")
