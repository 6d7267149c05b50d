"""Calls of every slot, method, attribute and function of the extension, and the arguments for them.

Operations get the arguments of small cases of the oracle (build/oracle), and the same arguments with one of them
replaced. METHODS and functions() list the arguments of other methods and functions, PARAMETERS lists the values of a
slot's parameters. A name without arguments here raises LookupError, so that no new slot or function goes untested.
"""

from __future__ import annotations

import array
import inspect
import json
import threading
import types
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes  # noqa: F401  registers bfloat16
import numpy as np
import oracle_file
from leak_meter import Call

import lanewise as lw
from lanewise import _ext
from lanewise.backends import libraries

__all__ = ["attribute_calls", "function_calls", "tensors"]

ORACLE = Path(__file__).parents[2] / "build" / "oracle"
LARGE = 40_000  # elements: enough that kernels release the GIL
OPERATIONS = {
    name: each
    for each in json.loads((libraries.DIRECTORY / "operations.json").read_text())["operations"]
    for name in (each["name"], *each["aliases"])
}


class Number:
    """Has only __index__, which raises if there is no value."""

    def __init__(self, value: int | None) -> None:
        self.value = value

    def __index__(self) -> int:
        if self.value is None:
            raise RuntimeError("no index")
        return self.value


class Exporter:
    """Has only the methods of DLPack; __dlpack__ raises if there is no array."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __dlpack__(self, **keywords: Any) -> Any:
        if self.values is None:
            raise RuntimeError("no capsule")
        return self.values.__dlpack__(**keywords)

    def __dlpack_device__(self) -> Any:
        return self.values.__dlpack_device__() if self.values is not None else (1, 0)


class Incomparable:
    """Raises when compared or hashed."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")

    __hash__ = None  # type: ignore[assignment]


def released() -> memoryview:
    view = memoryview(bytearray(8))
    view.release()
    return view


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else 1


def tensors() -> list[Any]:
    """Returns tensors of every dtype, of 0 to 2 dimensions, strided, read-only, large, and with NumPy's memory."""
    whole = lw.arange(9).reshape(3, 3)
    return [
        *(whole, whole[:, ::-2], whole[1:, 2], lw.zeros((0, 3)), lw.asarray([1.0, 0.0, 3.0])),
        *(lw.asarray([1, 0, 3], dtype=dtype) for dtype in ("bool", "int8", "int64", "uint32", "bfloat16", "float64")),
        *(lw.asarray(3), lw.asarray(2.5)),
        lw.broadcast_to(lw.ones(3), (2, 3)),
        lw.asarray(np.arange(3, dtype=np.float32)),
        lw.rand((400, 2), seed=1),  # Python caches ints up to 256: only a larger index can leak memory
        lw.rand((LARGE,), seed=1),
    ]


def values() -> list[Any]:
    """Returns operands and values to assign: most fit a tensor of 3 or LARGE elements, the last are refused."""
    three = np.arange(3, dtype=np.float32)
    return [
        *(2, 2.5, True, 2**40, 2**70, np.float32(1.5), np.int64(3), np.int8(3), np.bool_(True), three, three > 1),
        *(np.arange(3, dtype=np.uint8), np.arange(3), array.array("f", [1, 2, 3]), memoryview(three), [1, 2, 3]),
        *((1, 2.5, 3), [lw.asarray(1.5), 2, 3], range(3), lw.ones(3), lw.ones((3, 1)), lw.arange(3, dtype=lw.int64)),
        *(lw.arange(3)[::-1], lw.asarray(2), Exporter(three), np.ma.array(three), 3 + 0j, lw.rand((LARGE,), seed=2)),
        *(None, "text", b"bytes", object(), lw.ones(7), np.ones(5), np.ones(3, "c8"), np.ones(3, ">f4"), released()),
        *(np.zeros(3, "M8[s]"), np.array(["a"]), np.ma.array(three, mask=[1, 0, 0]), [[1], [2, 3]], ["a"], nested(9)),
        *(np.zeros((1,) * 9), [1, Number(None)], [1, Incomparable()], Exporter(None), Exporter(np.ones(2, "c8"))),
        [2**70],
    ]


def keys() -> list[Any]:
    """Returns keys: ints, slices, Ellipsis, None, arrays, masks and tuples of them, then those that are refused."""
    mask = np.array([True, False, True])
    return [
        *(0, -1, 300, np.int64(1), Number(1), slice(None), slice(0, 2), slice(None, None, -1), slice(Number(1), None)),
        *(..., None, (), (0, 0), (0, slice(None)), (slice(None), None), (..., 0), [0, 1], (2, 0), [[0], [2]], []),
        *(np.array([0, 2]), lw.asarray([1, 0]), lw.asarray([1, 0], dtype=lw.int64), np.uint8([0, 1]), lw.asarray(1)),
        *(mask, mask.tolist(), lw.asarray(mask), True, False, ([0, 1], [0, 1]), (slice(None), [0, 1]), ([0], ..., [1])),
        *(10**9, 2**70, (0, 99), (0, 0, 0), slice(None, None, 0), slice("a"), slice(Number(None)), (..., ...)),
        *((None,) * 9, (0,) * 20, [99], [0, 99], ([0, 1], [0, 1, 2]), np.array([0.5]), [True, False], "name", 1.5),
        *(object(), Number(None), [Number(None)], np.array([2**40]), ([0], [99]), np.zeros(3, "c8"), b"x", {0: 1}),
    ]


# Name of a slot's parameter -> a function that returns the values to pass for it.
PARAMETERS: dict[str, Any] = {
    "value": values,
    "key": keys,
    "flags": lambda: [0, 1, 0x18, 0x38, 0x58, 0x98, 0x1C, 0x11D],  # PyBUF_ flags: Python's Include/pybuffer.h
    "buffer": lambda: [memoryview(b"abcd"), b"abcd", None],  # for __release_buffer__, since Python 3.12
}


def slot_arguments(name: str) -> list[tuple[Any, ...]]:
    """Returns the arguments of each call of a slot, without self."""
    parameters = [each for each in inspect.signature(getattr(lw.Tensor, name)).parameters if each != "self"]
    if parameters == ["key", "value"]:
        some = [1, lw.ones(1), [1], [1, Number(None)]]
        chosen = [slice(None), [0], np.array([True, False, True])]
        return [*((key, value) for key in keys() for value in some), *((k, v) for k in chosen for v in values())]
    if parameters == ["value", "mod"]:
        return [*((each, None) for each in values()), (2, 3), (lw.ones(3), 5)]
    if name == "__contains__":
        return [(each,) for each in (*values(), *keys())]
    unknown = [each for each in parameters if each not in PARAMETERS]
    if unknown or len(parameters) > 1:
        raise LookupError(f"Tensor.{name}: add arguments for {', '.join(parameters)} to {__name__}.PARAMETERS")
    return [(each,) for each in PARAMETERS[parameters[0]]()] if parameters else [()]


KEYWORDS: dict[str, list[dict[str, Any]]] = {
    "__dlpack__": [
        *({}, {"max_version": (1, 0)}, {"max_version": (0, 8)}, {"max_version": None}, {"copy": True}),
        *({"copy": False}, {"copy": True, "max_version": (1, 0)}, {"dl_device": (1, 0)}, {"unknown": 1}),
        *({"stream": 1}, {"dl_device": (2, 0)}, {"dl_device": Incomparable()}, {"max_version": (Number(None),)}),
        *({"max_version": ("a",)}, {"max_version": ()}, {"max_version": 1}),
    ],
    "__array_namespace__": [{}, {"api_version": "2024.12"}, {"api_version": "1"}],
    "to_device": [{"stream": None}],
}
# Arguments of methods that are not operations, without self. A method whose signature has only self needs no entry.
METHODS: dict[str, list[tuple[Any, ...]]] = {
    **{name: [()] for name in ("_data_pointer", "__dlpack_device__", "__dlpack__", "__array_namespace__")},
    "_place_on": [("scalar",), ("nothing",), ("cuda",), (1,), (None,), ()],
    "_shares_storage": [(lw.ones(3),), (None,), ()],
    "__array__": [(), ("float64",), (None, True), ("float32", False), ("nothing",)],
    "__array_function__": [(np.sum, (), (lw.ones(3),), {}), (np.sum, (), (None,), {}), (None, None, None, None)],
    "__array_ufunc__": [
        *((np.add, "__call__", np.ones(3), lw.ones(3)), (np.add, "reduce", lw.ones(3)), (np.add, "nothing", 1)),
        *((np.divmod, "__call__", np.ones(3), lw.ones(3)), (np.add, "__call__", lw.ones(3), lw.ones(7))),
    ],
    "__deepcopy__": [({},)],
    "__format__": [("",), (".2f",), ("nothing",)],
    "__round__": [(), (None,), (1,)],
    **{name: [("scalar",), ("cpu",), ("nothing",), ("cuda",), (1,), ()] for name in ("to", "to_backend")},
    "to_device": [("cpu",), ("scalar",), ("nothing",), (1,), ()],
    "_repr_mimebundle_": [(), (1,)],
}


Example = tuple[list[Any], dict[str, Any]]  # inputs and parameters
X = np.array([[3, 1, 2], [0, 2, 1]], np.float32)
# Valid arguments of the operations whose contracts have no reference formula, so that the oracle has no cases for them.
EXAMPLES: dict[str, Example] = {
    "add_rms_norm": ([X, X, X[0]], {}),
    "asarray": ([X], {}),
    "eigh": ([np.array([[2, 1], [1, 3]], np.float32)], {}),
    "nonzero": ([X], {}),
    "split": ([X], {"indices_or_sections": 2}),
    "topk": ([X], {"k": 2}),
}


@cache
def examples(operation: str) -> list[Example]:
    """Returns the inputs and parameters of valid calls: for each dtype, those of the oracle's smallest case with a
    result of several elements."""
    if operation in EXAMPLES:
        return [EXAMPLES[operation]]
    path = ORACLE / f"{operation}.bin"
    if not path.exists():
        raise LookupError(f"{operation}: add arguments to {__name__}.EXAMPLES, or build the oracle")
    smallest: dict[str, oracle_file.Case] = {}

    def size(case: oracle_file.Case) -> int:
        return sum(each.size for each in case.inputs if each)

    for case in oracle_file.read(path).cases:
        known = smallest.get(case.computed_dtype)
        if case.reference.size > 1 and (known is None or size(case) < size(known)):
            smallest[case.computed_dtype] = case
    return [(_arrays(case), dict(case.keywords)) for case in smallest.values()]


def _arrays(case: oracle_file.Case) -> list[Any]:
    arrays = (each and np.frombuffer(each.data, each.dtype).reshape(each.shape) for each in case.inputs)
    return list(arrays)


def operation_calls(name: str, function: Any) -> Iterator[Call]:
    """Yields calls of an operation: on tensors and arrays, into `out`, and with wrong arguments. Methods get no
    arrays, because self is a tensor. Only the function gets calls with each argument replaced, because its methods
    and aliases use the same code."""
    described = OPERATIONS[name]
    is_sequence = bool(described["inputs"]) and described["inputs"][0]["sequence"]
    is_method = isinstance(function, types.MethodDescriptorType)
    for number, (arrays, keywords) in enumerate(examples(described["name"])):
        inputs: list[Any] = [None if each is None else lw.asarray(each) for each in arrays]
        if is_sequence:
            inputs, arrays = [inputs], [arrays]
        yield Call(name, function, inputs, keywords)
        if not is_method:
            yield Call(name, function, arrays, keywords)
        result = Call(name, function, inputs, keywords).run()
        if isinstance(result, lw.Tensor):
            for out in (lw.empty(result.shape, result.dtype), lw.zeros((2, 9, 2)), [1]):
                yield Call(name, function, inputs, {**keywords, "out": out})
        if number:
            continue
        yield Call(name, function, inputs[: int(is_method)])
        yield Call(name, function, [*inputs, *[1] * 9])
        yield Call(name, function, inputs, {**keywords, "nothing": 1})
        if not is_method and name == described["name"]:
            yield from _replacements(name, function, inputs, keywords)


def _replacements(name: str, function: Any, inputs: list[Any], keywords: dict[str, Any]) -> Iterator[Call]:
    """Yields calls with one argument replaced; most operations refuse these calls."""
    described = OPERATIONS[name]
    wrong = ["text", None, object(), lw.ones((7, 2, 3)), [[1], [2, 3]], [1, Number(None)], Exporter(None), released()]
    wrong += [np.ones(3, "c8"), np.arange(6, dtype=np.uint8).reshape(2, 3), 2, 2.5]
    for position, each in enumerate(inputs):
        for value in [*wrong, *([value] for value in wrong if isinstance(each, list))]:
            yield Call(name, function, [*inputs[:position], value, *inputs[position + 1 :]], keywords)
    for parameter in described["parameters"]:
        for value in ("text", None, object(), 1.5, 99, -99, 2**70, (0, 0), [Number(None)], Number(None), (1,) * 70):
            yield Call(name, function, inputs, {**keywords, parameter["name"]: value})


def _exported(**keywords: Any) -> Any:
    return lw.ones(3).__dlpack__(**keywords)


def _used_twice() -> None:
    capsule = _exported()
    _ext.from_dlpack_capsule(capsule)
    _ext.from_dlpack_capsule(capsule)


def functions() -> dict[str, list[Any]]:
    """Returns a list of calls for each function of the module that is not an operation. A call is given by its
    arguments, or by a Python function without parameters that makes it."""
    path = str(libraries.checked_path("scalar"))
    x, target = lw.asarray([3.0, 1.0, 2.0]), lw.zeros((3, 4))
    limit, threads, backend = _ext.memory_stats(None)[4], _ext.get_num_threads(), _ext.default_backend()

    def nested_backend() -> None:
        _ext.push_backend("scalar")
        _ext.pop_backend()

    def too_deep() -> None:
        depth = 0
        try:
            for depth in range(1000):  # noqa: B007
                _ext.push_backend(None)
        finally:
            for _ in range(depth):
                _ext.pop_backend()

    ways = [(dtype, copy) for dtype in (None, lw.float64, "int32", "nothing") for copy in (None, True, False)]
    return {
        "initialize": [(), (1, 2, 3, 4)],
        "open_library": [
            *((path, "scalar", None), ("/nothing", "scalar", None), (path, "nothing", None), (path, "sse2", None)),
            *((_ext.__file__, "scalar", None), (path, "scalar", "nothing"), (1, 2, 3), ()),
        ],
        **{name: [()] for name in ("default_backend", "cpu_features", "max_adapters", "abi_version", "tile_names")},
        **{name: [()] for name in ("signature", "empty_cache", "reset_peak_memory_stats", "memory_stats")},
        "set_default_backend": [(backend,), ("nothing",), (1,)],
        "open_webgpu": [
            *(("wgpu", None, 1, 1, 1, 1, 1), ("wgpu", object(), "text", 1, 1, 1, 1), ("cuda", object(), 1, 1, 1, 1, 1)),
            *(("wgpu:1", object(), 1, 2**70, 1, 1, 1), ("wgpu:8", object(), 1, 1, 1, 1, 1), (None, 1, 1, 1, 1, 1, 1)),
            *((object(), 1, 1, 1, 1, 1), ()),
        ],
        "synchronize": [("scalar",), ("nothing",), (1,)],
        "set_offload": [(False,), (x,)],
        "set_costs": [
            *(({},), ({"spinning": 2.0, "scalar": 3},), ({"nothing": 1.0},), ({"spinning": -1.0},), (1,)),
            *(({"spinning": "text"},), ({1: 1.0},), ({"\ud800": 1.0},), ({"launch": 10**400},), ({},)),
        ],
        "get_costs": [()],
        "expected_times": [("exp", x), ("exp", [1.0]), ("matmul", x, target), ("exp", x, x), ("zeros",), (1,), ()],
        "push_backend": [nested_backend, too_deep, ("nothing",), (1,)],
        "pop_backend": [()],
        "host_backend": [()],
        "set_strict_backends": [(False,)],
        "from_object": [*((value, *way) for value in (*values(), x) for way in ways), (), (1,)],
        "from_bytes": [
            *((bytes(12), "float32", (3,)), (bytes(12), "float32", 3), (x, "float32", (3,)), ()),
            *((bytes(12), "nothing", (3,)), (bytes(11), "int32", (3,)), ("text", "int32", (3,))),
            *((bytes(4), "int32", (-1,)), (bytes(4), "int32", (Number(None),))),
            *((bytes(4), "int32", (1,) * 70), (bytes(4), "int32", (2**62, 4))),
        ],
        "from_dlpack_capsule": [
            *(lambda: _ext.from_dlpack_capsule(_exported()), _used_twice, (1,), (None,)),
            lambda: _ext.from_dlpack_capsule(_exported(max_version=(1, 0))),
            *(lambda d=d: _ext.from_dlpack_capsule(np.ones(3, d).__dlpack__()) for d in ("f4", "u1", "c8", "c16")),
            lambda: _ext.from_dlpack_capsule(np.zeros((1,) * 9).__dlpack__()),
        ],
        "allocate": [
            *(((2, 3), "float32", ()), ((2, 3), "float32", [x, 1]), ((-1,), "float32", (x,)), ((2,), "nothing", ())),
            *(((2**62, 4), "int32", ()), ((2**50,), "bool", ()), ((2, 3), "float32", 1), ()),
        ],
        "create": [
            *(("full", (3,), "float32", (2.0,), "full"), ("arange", 3, "int32", (0, 1), "arange"), ()),
            *(("nothing", (3,), "int32", (1,), "x"), ("full", (3,), "int32", (1.5,), "full")),
            ("add", 1, "int32", (), ""),
            *(("full", (3,), "int32", (2**70,), "full"), ("full", (-3,), "int32", (1,), "full")),
            *(("full", "text", "int32", (1,), "full"), ("full", 3, "int32", ("text",), "full"), (1, 2, 3, 4, 5)),
        ],
        "set_default_dtype": [("float32",), ("int32",), ("nothing",), (None,)],
        "put": [
            *((target, lw.asarray([0, 2]), lw.ones((2, 4)), 0), (target, lw.asarray([0]), 2.5, 1)),
            *((target, lw.asarray([1]), target[:1], 0), (target, np.array([1]), np.ones(4, np.uint8), 0)),
            *((target, lw.asarray([9]), 1, 0), (target, lw.asarray([0]), lw.ones(7), 0), (target, lw.ones(1), 1, 0)),
            *((target, [0], 1, 0), (target, lw.asarray([0]), "text", 0), (target, lw.asarray([0]), 1, 9), (1, 2, 3, 4)),
            *((lw.broadcast_to(x, (2, 3)), lw.asarray([0]), 1, 0), (target, np.array([2**40]), 1, 0), ()),
        ],
        "mask_indices": [(x > 1,), (lw.zeros((2, 3), dtype="bool"),), (x,), (None,)],
        "argsort_first": [
            *((x, 2, 0, True), (x, 2, 9, True), (x, "text", 0, True), (x, 2, 0, np.ones(2)), (1, 2, 3, 4), ()),
        ],
        "number_of": [
            *(("clip", "min", 2.0), ("leaky_relu", "negative_slope", 2), ("nothing", "min", 2.0), ()),
            *(("leaky_relu", "nothing", 2), ("leaky_relu", "negative_slope", "text"), (1, 2, 3)),
            ("leaky_relu", "negative_slope", Number(None)),
        ],
        "shifted": [(lw.asarray([1, 2]), 0), (x, 0), (lw.asarray([1, 2]), 3), (lw.asarray([1, 2]), "text"), (1, 0), ()],
        "set_cache_limit": [(limit,), ("text",), (2**70,)],
        "set_chain_bytes": [(1 << 18,), ("text",), (2**70,)],
        "set_num_threads": [(threads,), (0,), ("text",), (2**70,)],
        "get_num_threads": [()],
        "get_running_threads": [()],
        "set_main_thread": [(threading.main_thread().ident,), ("text",), (2**70,)],
        "set_spin": [(50,), (-1,), ("text",), (2**70,)],
        "Tensor": [(), ([1, 2],)],
    }


def function_calls(name: str) -> list[Call]:
    """Returns calls of a function of the module."""
    function = getattr(_ext, name)
    if name in OPERATIONS:
        return list(operation_calls(name, function))
    if name not in (known := functions()):
        raise LookupError(f"_ext.{name}: add arguments to {__name__}.functions")
    return [
        Call(name, each) if isinstance(each, types.FunctionType) else Call(name, function, each) for each in known[name]
    ]


def _on_tensors(name: str, function: Any, arguments: Sequence[tuple[Any, ...]]) -> Iterator[Call]:
    """Yields calls of a method: on the first tensor, one for each of `arguments`; on the others, for the first four."""
    for number, x in enumerate(tensors()):
        for each in arguments[: 4 if number else None]:
            for keywords in KEYWORDS.get(name, [{}]):
                yield Call(name, function, (x, *each), keywords)


def _awaited(function: Any) -> Any:
    """Returns a function that runs a coroutine, which has nothing to wait for, and returns its result."""

    def call(*arguments: Any) -> Any:
        try:
            function(*arguments).send(None)
        except StopIteration as finished:
            return finished.value
        raise AssertionError(f"{function.__name__} waits on the CPU")

    return call


def attribute_calls(owner: type, name: str) -> list[Call]:
    """Returns calls that use an attribute of a type: a slot or method is called, any other is read, set and deleted."""
    if owner is not lw.Tensor:
        raise LookupError(f"{owner.__name__}: add a function like tensors() for this type to {__name__}")
    found = inspect.getattr_static(owner, name)
    if isinstance(found, types.WrapperDescriptorType):
        return list(_on_tensors(name, getattr(owner, name), slot_arguments(name)))
    if name in OPERATIONS and isinstance(found, types.MethodDescriptorType):
        return list(operation_calls(name, found))
    if isinstance(found, types.MethodDescriptorType | types.FunctionType):
        if name not in METHODS and not _takes_only_self(found):
            raise LookupError(f"Tensor.{name}: add arguments to {__name__}.METHODS")
        function = _awaited(found) if inspect.iscoroutinefunction(found) else found
        return list(_on_tensors(name, function, METHODS.get(name, [()])))
    if name == "__new__":
        return [
            Call("Tensor()", owner),
            Call("Tensor(1)", owner, (1,)),
            Call("Tensor.__new__", owner.__new__, (owner,)),
        ]
    return [
        *_on_tensors(name, lambda x: getattr(x, name), [()]),
        *_on_tensors(name, lambda x: setattr(x, name, 1), [()]),
        *_on_tensors(name, lambda x: delattr(x, name), [()]),
    ]


def _takes_only_self(function: Any) -> bool:
    try:
        return len(inspect.signature(function).parameters) == 1
    except ValueError:  # the function has no signature
        return False
