"""Lanewise: array math with the same operations and the same answers on x86, on ARM and in a browser.

>>> import lanewise as lw
>>> x = lw.asarray([[1.0, 2.0], [3.0, 4.0]])
>>> lw.sum(x @ x, axis=0)
Tensor([22., 32.])

Operations are functions of the extension lanewise._ext; those written in Python go through lanewise.dispatch.
help(lw.add) shows the text of an operation's contract. This file imports or defines all other public names, gives the
extension its Python callbacks, and applies the settings: CPU backend (calibrate(), LANEWISE_BACKEND,
LANEWISE_FORCE_CPU), number of threads (LANEWISE_NUM_THREADS), how long they spin (LANEWISE_SPIN_US) and size of the
memory cache (LANEWISE_CACHE_LIMIT).
"""

import math as _math
from typing import TYPE_CHECKING as _TYPE_CHECKING

try:
    from lanewise import _ext
except ImportError as error:
    raise ImportError(
        f"lanewise: expected its compiled extension next to {__file__}, got a source checkout; run Python with -P or "
        "from another folder, or run python native/build.py"
        if error.name == "lanewise"
        else f"lanewise: cannot load its compiled extension ({error}); reinstall lanewise, or in a checkout run "
        "python native/build.py"
    ) from None
from lanewise import dispatch as _dispatch
from lanewise import dtypes as _dtypes
from lanewise import errors as _errors
from lanewise import methods as _methods
from lanewise._ext import *  # noqa: F403 (the operations: _ext.__all__)
from lanewise._ext import Tensor
from lanewise._version import __version__
from lanewise.backends import memory as _memory
from lanewise.backends import selection as _selection
from lanewise.backends.backend import Backend
from lanewise.backends.devices import DeviceInfo
from lanewise.backends.discovery import BackendInfo, backends, best_available_backend, print_backend_summary
from lanewise.backends.memory import (
    MemoryEstimate,
    empty_cache,
    estimate_inference_memory,
    init_backend_with_memory_check,
    memory_stats,
    reset_peak_memory_stats,
    set_cache_limit,
)
from lanewise.backends.selection import (
    init_backend,
    reset,
    set_backend_priority,
    strict_backends,
    synchronize,
    use_backend,
)
from lanewise.backends.threads import get_num_threads, init_threads, set_num_threads
from lanewise.costs import offload as _offload
from lanewise.costs.calibration import Calibration
from lanewise.costs.tuning import calibrate, get_calibration, reset_calibration
from lanewise.dtypes import (
    DType,
    bfloat16,
    bool,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)  # fmt: skip
from lanewise.errors import (
    ArgumentError,
    ArgumentTypeError,
    AxisError,
    BackendError,
    BackendUnavailableError,
    DeviceError,
    DTypeError,
    IndexOutOfRangeError,
    LanewiseError,
    LibraryError,
    OutOfMemoryError,
    RangeError,
    ReadOnlyError,
    ShapeError,
)
from lanewise.functions import creation as _creation
from lanewise.functions import indexing as _indexing
from lanewise.functions.creation import empty, empty_like, from_dlpack, full_like, ones_like, zeros_like
from lanewise.namespace_info import NamespaceInfo as _NamespaceInfo
from lanewise.printing import get_printoptions, printoptions, set_printoptions
from lanewise.typeinfo import can_cast, finfo, iinfo, isdtype, result_type, set_default_dtype

__all__ = [
    "Tensor",
    # dtypes
    "DType", "bfloat16", "bool", "can_cast", "finfo", "float16", "float32", "float64", "iinfo", "int8", "int16",
    "int32", "int64", "isdtype", "result_type", "set_default_dtype", "uint8", "uint16", "uint32", "uint64",
    # creation functions that are not operations
    "empty", "empty_like", "from_dlpack", "full_like", "ones_like", "zeros_like",
    # constants
    "e", "inf", "nan", "newaxis", "pi",
    # backends
    "Backend", "BackendInfo", "Calibration", "DeviceInfo", "MemoryEstimate", "backends", "best_available_backend",
    "calibrate", "estimate_inference_memory", "get_calibration", "init_backend", "init_backend_with_memory_check",
    "print_backend_summary", "reset", "reset_calibration", "set_backend_priority", "strict_backends", "synchronize",
    "use_backend",
    # memory
    "empty_cache", "memory_stats", "reset_peak_memory_stats", "set_cache_limit",
    # threads
    "get_num_threads", "init_threads", "set_num_threads",
    # printing
    "get_printoptions", "printoptions", "set_printoptions",
    # errors
    "ArgumentError", "ArgumentTypeError", "AxisError", "BackendError", "BackendUnavailableError", "DTypeError",
    "DeviceError", "IndexOutOfRangeError", "LanewiseError", "LibraryError", "OutOfMemoryError", "RangeError",
    "ReadOnlyError", "ShapeError", "__array_namespace_info__", "__version__",
]  # fmt: skip
__all__ += _ext.__all__
__all__ += [name for name in _dtypes.BY_NAME if name not in __all__]  # dtypes that only contracts/facts.yaml lists
globals().update(_dtypes.BY_NAME)

pi = _math.pi
e = _math.e
inf = _math.inf
nan = _math.nan
newaxis = None


def __array_namespace_info__() -> _NamespaceInfo:  # noqa: N807 (the array API's name)
    """Returns what this library supports, in the terms of the array API standard."""
    return _NamespaceInfo()


if not _TYPE_CHECKING:  # otherwise a type checker would accept any name

    def __getattr__(name: str) -> None:
        from lanewise.other_names import suggestion

        raise AttributeError(f"module 'lanewise' has no attribute {name!r}{suggestion(name, __all__)}", name=name)

    def __dir__() -> list[str]:
        return sorted(__all__)


_ext.initialize(
    _errors,
    _dtypes.ALL,
    {
        "cache_limit": _memory.default_cache_limit,
        "compare": _dispatch.compare,
        "dispatch": _dispatch.dispatch,
        "dtype_code": _dtypes.code_of,
        "getitem": _indexing.getitem,
        "open_measured": _offload.open_measured,
        "refuse_keyword": _dispatch.refuse_keyword,
        "reserve_random": _creation.reserve_random,
        "setitem": _indexing.setitem,
        "several": _dispatch.several,
        "tensor_of": _creation.tensor_of,
        "unread": _methods.unread,
    },
    _methods.METHODS,
)
_selection.initialize(_memory.initialize)
