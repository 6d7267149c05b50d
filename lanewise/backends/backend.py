"""The backends by name: the enum, their order, and the names that other libraries use for them.

Only the error messages of this module depend on the machine. registry.py says which backends are available,
selection.py chooses one, and discovery.py reports both to the user.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from enum import StrEnum
from typing import Any, Final, NamedTuple

from lanewise.dtypes import DType
from lanewise.errors import ArgumentTypeError, BackendError, describe

__all__ = [
    "CPU_BACKENDS", "GPU_BACKENDS", "PRIORITY", "Backend", "Request", "backend_of", "hooks", "parse_backend",
    "place_of",
]  # fmt: skip


class Backend(StrEnum):
    """An instruction set or GPU API that runs the operations. Members equal their names: `Backend.AVX2 == "avx2"`.

    AUTO stands for the best backend of this machine. The others are in the order in which AUTO prefers them, unless
    lw.calibrate() has measured a different order.

    >>> import lanewise as lw
    >>> lw.Backend("sse2")
    <Backend.SSE2: 'sse2'>
    """

    AUTO = "auto"
    CUDA = "cuda"
    WGPU = "wgpu"
    AVX512 = "avx512"
    AVX2 = "avx2"
    AVX = "avx"
    SSE2 = "sse2"
    NEON = "neon"
    RELAXED_SIMD = "relaxed_simd"
    SIMD128 = "simd128"
    SCALAR = "scalar"

    @property
    def is_gpu(self) -> bool:
        """Whether the backend stores tensors in GPU memory."""
        return self in GPU_BACKENDS

    @property
    def label(self) -> str:
        """The name for use in sentences, such as "AVX-512" for AVX512."""
        return _LABELS.get(self, self.name)

    def __await__(self) -> Generator[Any, None, Backend]:
        """Ends what init_backend() or reset() could not do without waiting for a browser; elsewhere returns at once."""
        backend: Backend = yield from hooks["finish"](self).__await__()
        return backend

    @classmethod
    def _missing_(cls, value: object) -> Backend | None:
        """Accepts other spellings, such as Backend("AVX-512")."""
        return _EXACT.get(_normalize_spelling(value)) if isinstance(value, str) else None


# Functions of modules that import this one: registry.named_in_errors() and selection.finish(), by name.
hooks: Final[dict[str, Callable[..., Any]]] = {}

PRIORITY: Final = tuple(backend for backend in Backend if backend is not Backend.AUTO)
GPU_BACKENDS: Final = (Backend.CUDA, Backend.WGPU)
CPU_BACKENDS: Final = tuple(backend for backend in PRIORITY if backend not in GPU_BACKENDS)

_LABELS: Final = {
    Backend.AVX512: "AVX-512", Backend.WGPU: "WebGPU", Backend.RELAXED_SIMD: "relaxed SIMD", Backend.SCALAR: "scalar",
}  # fmt: skip

_EXACT: Final[dict[str, Backend]] = {
    **{backend.value: backend for backend in Backend},
    "avx_512": Backend.AVX512,
    "avx512f": Backend.AVX512,
    "avx2_fma": Backend.AVX2,
    "sse": Backend.SSE2,
    "webgpu": Backend.WGPU,
    "nvidia": Backend.CUDA,
    "wasm_simd": Backend.SIMD128,
    "relaxedsimd": Backend.RELAXED_SIMD,
}

# Names that stand for several backends, best first.
_GROUPS: Final[dict[str, tuple[Backend, ...]]] = {
    "auto": PRIORITY,
    "cpu": CPU_BACKENDS,
    "simd": tuple(backend for backend in CPU_BACKENDS if backend is not Backend.SCALAR),
    "wasm": (Backend.RELAXED_SIMD, Backend.SIMD128),
    "gpu": GPU_BACKENDS,
}

# Names of backends in other libraries, each with the graphics API by which WebGPU reaches the same hardware.
_THROUGH_WEBGPU: Final[dict[str, str]] = {
    "vulkan": "vulkan", "metal": "metal", "mps": "metal", "dx12": "dx12", "d3d12": "dx12", "directml": "dx12",
    "dml": "dx12", "rocm": "vulkan", "hip": "vulkan", "opencl": "vulkan", "opengl": "opengl", "gl": "opengl",
}  # fmt: skip
# The vendor whose adapter a name requires, for the names above that require one.
_VENDOR: Final[dict[str, str]] = {"rocm": "amd", "hip": "amd"}


class Request(NamedTuple):
    """The backends that a name stands for, best first, and for some names the kind of WebGPU adapter to use."""

    name: str
    candidates: tuple[Backend, ...]
    api: str = ""  # graphics API of the adapter; "" matches any
    vendor: str = ""
    number: int | None = None  # number of the device, as in "wgpu:1"


def parse_backend(name: Backend | str) -> Request:
    """Returns the backends that a name from the user stands for. Case does not matter; "-", "+" and " " count as "_".

    >>> parse_backend("AVX-512").candidates
    (<Backend.AVX512: 'avx512'>,)
    >>> parse_backend("metal").api
    'metal'

    Raises BackendError, which lists this machine's backends, for an unknown name.
    """
    if not isinstance(name, str):
        raise ArgumentTypeError(f"expected a backend, got {_refusal(name)}")
    key = _normalize_spelling(name)
    family, colon, digits = key.partition(":")
    if colon:
        backend = _EXACT.get(family)
        if backend not in GPU_BACKENDS or not (digits.isascii() and digits.isdecimal() and len(digits) < 10):
            raise BackendError(
                f'expected a GPU backend and the number of a device, such as "wgpu:1", got {name!r}; '
                "lw.backends() lists the devices"
            )
        return Request(key, (backend,), number=int(digits))
    if key in _GROUPS:
        return Request(key, _GROUPS[key])
    if key in _EXACT:
        return Request(key, (_EXACT[key],))
    if key in _THROUGH_WEBGPU:
        return Request(key, (Backend.WGPU,), _THROUGH_WEBGPU[key], _VENDOR.get(key, ""))
    raise BackendError(f"expected a backend, got {name!r}; give one of {_names()}")


def place_of(backend: Backend, number: int) -> str:
    """Returns the extension's name of a backend's device with this number.

    >>> place_of(Backend.WGPU, 0), place_of(Backend.WGPU, 1)
    ('wgpu', 'wgpu:1')
    """
    return f"{backend}:{number}" if number else backend.value


def backend_of(place: str) -> Backend:
    """Returns the backend of a device that place_of() has named."""
    return Backend(place.partition(":")[0])


def _normalize_spelling(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace("+", "_").replace(" ", "_")


def _refusal(value: object) -> str:
    if isinstance(value, DType):
        return f"a dtype; use astype(x, lw.{value.name})"
    return f"{describe(value)}; give one of {_names()}"


def _names() -> str:
    """Returns the names to list in an error: auto and the backends of this machine."""
    return ", ".join(["auto", *(backend.value for backend in hooks["named_in_errors"]())])
