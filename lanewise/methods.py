"""What Tensor has beside its operations and its C attributes: placement, copying, pickling, printing, NumPy.

The extension sets these on the type when the package is imported (`_ext.initialize`).
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from lanewise import _ext, placement, printing, selection
from lanewise._ext import Tensor
from lanewise.backend import Backend
from lanewise.dtypes import DType
from lanewise.errors import ArgumentError

if TYPE_CHECKING:
    import numpy

__all__ = ["METHODS"]


def backend(self: Tensor) -> Backend:
    """The backend that computes with this tensor."""
    return Backend(self._backend_name)


def backend_type(self: Tensor) -> Backend:
    """The backend that computes with this tensor; the attribute `backend` as a method."""
    return Backend(self._backend_name)


def device(self: Tensor) -> str:
    """Whose memory holds the elements: "cpu", or the name of a GPU backend."""
    return placement.device_of(self)


def to(self: Tensor, backend: Backend | str, /) -> Tensor:
    """This tensor placed on a backend. Among CPU backends no element is copied.

    >>> import lanewise as lw
    >>> lw.ones(2).to("scalar")
    Tensor([1., 1.], backend=scalar)
    """
    return placement.move(self, selection.open_backend(backend, "to"))


def to_backend(self: Tensor, backend: Backend | str, /) -> Tensor:
    """This tensor placed on a backend; another name for `to`."""
    return placement.move(self, selection.open_backend(backend, "to_backend"))


def to_device(self: Tensor, device: Backend | str, /, *, stream: None = None) -> Tensor:
    """This tensor in the memory of a device, as the array API asks for it; "cpu" or the name of a backend.

    >>> import lanewise as lw
    >>> lw.ones(2).to_device("cpu").device
    'cpu'
    """
    if stream is not None:
        raise ArgumentError(f"to_device: stream {stream!r} was given; Lanewise orders its work itself, leave it out")
    return placement.placed(self, device, "to_device")


def array_namespace(self: Tensor, /, *, api_version: str | None = None) -> ModuleType:
    """The module whose functions take this tensor: lanewise."""
    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
        raise ArgumentError(f"__array_namespace__: version {api_version!r} of the array API; 2024.12 is offered")
    return sys.modules["lanewise"]


def numpy_array(self: Tensor, /) -> numpy.ndarray[Any, Any]:
    """A NumPy array, on the same memory where it is the host's.

    >>> import lanewise as lw
    >>> lw.arange(3).numpy()
    array([0, 1, 2], dtype=int32)
    """
    import numpy

    return numpy.asarray(self)


def array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray[Any, Any]:
    """What NumPy calls where it does not use the buffer protocol."""
    import numpy

    shared = numpy.asarray(memoryview(self))
    if dtype is None or shared.dtype == dtype:
        return shared.copy() if copy else shared
    if copy is False:
        raise ArgumentError(f"__array__: copy=False was given, but {self.dtype} has to be converted to {dtype}")
    return shared.astype(dtype)


def array_interface(self: Tensor) -> dict[str, Any]:
    """The memory as NumPy's array interface describes it."""
    return {
        "version": 3,
        "shape": self.shape,
        "typestr": ("|" if self.itemsize == 1 else "<") + f"{self.dtype.kind}{self.itemsize}",
        "data": (self._data_pointer(), self.readonly),
        "strides": self.strides,
    }


def shallow_copy(self: Tensor) -> Tensor:
    """copy.copy(tensor): memory of its own, as NumPy does it."""
    return self.copy()


def deep_copy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """copy.deepcopy(tensor)."""
    return self.copy()


def reduce(self: Tensor) -> tuple[Any, ...]:
    """Pickles hold bytes, dtype and shape. They say nothing of backends: another machine may have others."""
    return _from_pickle, (self.tobytes(), self.dtype, self.shape)


def _from_pickle(data: bytes, dtype: DType, shape: tuple[int, ...]) -> Tensor:
    return _ext.from_bytes(data, dtype, shape)


METHODS: Final[dict[str, Any]] = {
    "__array__": array,
    "__array_interface__": property(array_interface),
    "__array_namespace__": array_namespace,
    "__array_priority__": 1000,  # above NumPy's own: ndarray + tensor is a tensor
    "__copy__": shallow_copy,
    "__deepcopy__": deep_copy,
    "__reduce__": reduce,
    "__repr__": printing.tensor_repr,
    "__str__": printing.tensor_str,
    "backend": property(backend),
    "backend_type": backend_type,
    "device": property(device),
    "numpy": numpy_array,
    "to": to,
    "to_backend": to_backend,
    "to_device": to_device,
}
