"""Tests mistakes and surprises that new users are likely to meet first, such as masked arrays and misspelled names."""

from __future__ import annotations

import inspect
import re
import sys
import types

import numpy as np
import pytest

import lanewise as lw
from lanewise import array_interface, dispatch, methods, other_names
from lanewise.backends import registry
from lanewise.dtypes import ALL

MASKED = np.ma.array([1.0, 2.0], mask=[False, True])


@pytest.mark.parametrize(
    ("operation", "call"),
    [
        ("asarray", lambda: lw.asarray(MASKED)),
        ("asarray", lambda: lw.asarray(np.ma.masked)),
        ("from_dlpack", lambda: lw.from_dlpack(MASKED)),
        ("add", lambda: lw.add(lw.ones(2), MASKED)),
        ("add", lambda: lw.ones(2) + MASKED),
        ("sum", lambda: lw.sum(MASKED)),
        ("flip", lambda: lw.flip(MASKED)),
        ("concat", lambda: lw.concat([lw.ones(2), MASKED])),
    ],
)
def test_masked_arrays_are_refused_by_name(operation, call):
    expected = rf"^{operation}: .*got a numpy\.ma array, whose mask would be lost; call \.filled\(\) first$"
    with pytest.raises(lw.ArgumentTypeError, match=expected):
        call()
    assert lw.asarray(MASKED.filled(0)).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("mask", [np.ma.nomask, [False, False]])
def test_masked_arrays_without_masked_elements_are_read(mask):
    array = np.ma.array([1.0, 2.0], dtype=np.float32, mask=mask)
    for tensor in (lw.asarray(array), lw.from_dlpack(array), lw.add(array, 0.0), lw.flip(array)[::-1]):
        assert tensor.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lw.ones(2).to(lw.float64), r"to: expected a backend, got a dtype; use astype\(x, lw.float64\)"),
        (lambda: lw.round([1.25], 1), r"round: .* 'decimals'; write round\(x \* 10\) / 10"),
        (lambda: lw.round([1.25], decimals=1), r"round: .* 'decimals'; write round\(x \* 10\) / 10"),
        (
            lambda: round(lw.ones(1), 1),
            r"round: expected 0 digits, got 1; for 2 digits, write round\(x \* 100\) / 100",
        ),
        (lambda: lw.asarray(x for x in [1]), r"asarray: expected numbers, got a generator; use asarray\(list\(x\)\)"),
        (lambda: lw.asarray(object()), "asarray: expected numbers, got an object; give .*"),
        (lambda: lw.concat(5), "concat: expected a list or tuple of tensors, got an int; .*"),
        (
            lambda: lw.pad([1.0], 1, value=9),
            "pad: there is no parameter 'value'; it is called constant_values here, .*",
        ),
        (lambda: lw.flip([1.0], foo=9), r"flip: there is no parameter 'foo'; see help\(lw.flip\)"),
        (lambda: lw.asarray([object()]), "asarray: .*"),
    ],
)
def test_errors_say_what_to_do_in_one_part(call, message):
    with pytest.raises(lw.LanewiseError, match=f"^{message}$") as caught:
        call()
    assert caught.value.__context__ is None or caught.value.__suppress_context__


@pytest.mark.host
def test_a_library_that_does_not_open_is_not_recommended(monkeypatch):
    hosts = [info.name for info in lw.backends() if info.available and not info.name.is_gpu]
    if len(hosts) < 2:
        pytest.skip("this machine has one CPU backend only")

    def checked_path(name):
        if name == hosts[0]:
            raise lw.LibraryError("damaged")
        return path_of(name)

    path_of = registry.libraries.checked_path
    monkeypatch.setattr(registry.libraries, "checked_path", checked_path)
    monkeypatch.setattr(registry, "_opened", {})
    assert lw.best_available_backend() is hosts[1]
    assert lw.backends()[lw.backends().index(next(i for i in lw.backends() if i.name is hosts[0]))].reason == "damaged"


@pytest.mark.parametrize("name", ["hstack", "vstack", "dstack", "column_stack"])
def test_the_hints_for_numpys_stacks_are_right(name):
    hint = other_names.HINTS[name]
    cases = re.findall(r"((?:stack|concat)\([^)]*\)) for (1-D|2-D|3-D|others)", hint.replace("ones", ""))
    assert len(cases) == 2
    for call, dimensions in cases:
        for ndim in (2, 3) if dimensions == "others" else (int(dimensions[0]),):
            arrays = [np.arange(2**ndim, dtype=np.float32).reshape((2,) * ndim)] * 2
            made = eval(f"lw.{call}", {"lw": lw, "arrays": arrays})
            np.testing.assert_array_equal(np.asarray(made), getattr(np, name)(arrays), strict=True)


def test_in_webassembly_the_engine_lacks_instructions(monkeypatch):
    library = registry.libraries.find("scalar")._replace(cpu_features=("simd128", "relaxed_simd"))
    monkeypatch.setattr(registry.libraries, "find", lambda name: library)
    monkeypatch.setattr(registry, "_cpu_bits", lambda: 1 << 7)
    monkeypatch.setattr(sys, "platform", "emscripten")
    reason = registry.CpuLibrary(lw.Backend.SCALAR).missing()
    assert reason == "this WebAssembly engine lacks relaxed SIMD; it has SIMD128"


def python_operations():
    return [name for names in dispatch._PYTHON.values() for name in names]


@pytest.mark.parametrize("name", python_operations())
def test_functions_in_python_have_the_signature_of_their_contract(name):
    ours = inspect.signature(dispatch._python(name)).parameters.values()
    contracts = inspect.signature(getattr(lw, name)).parameters.values()
    assert [one.name for one in ours] == [one.name for one in contracts]
    for mine, theirs in zip(ours, contracts, strict=True):
        assert (mine.kind is mine.KEYWORD_ONLY) == (theirs.kind is theirs.KEYWORD_ONLY), mine.name
        assert mine.default == theirs.default, mine.name


class Interface:
    """An object with __array_interface__ and nothing else."""

    def __init__(self, **fields):
        self.__array_interface__ = {"version": 3} | fields


def exposed(array):
    made = Interface(**{key: value for key, value in array.__array_interface__.items() if key != "descr"})
    made.array = array  # keeps the memory alive
    return made


@pytest.mark.parametrize("dtype", [dtype.name for dtype in ALL if dtype.format])
def test_objects_with_an_array_interface_are_read(dtype):
    array = np.arange(24).astype(dtype).reshape(2, 3, 4)
    repeated = np.broadcast_to(array, (2, 2, 3, 4))
    alone = (array[:1], array[:1].T)
    for view in (array, array.T, array[::-1, :, ::-2], array[:, :0], array[1, 2, 3], repeated, *alone):
        made = lw.asarray(exposed(view))
        assert made.dtype == dtype
        np.testing.assert_array_equal(np.asarray(made), view)
    assert lw.asarray(exposed(array), lw.float32).dtype is lw.float32
    copied = lw.asarray(exposed(array))
    array[...] = 0
    assert copied.tolist()[1][0][0] == (True if dtype == "bool" else 12)


def test_pictures_are_read():
    image = pytest.importorskip("PIL.Image")
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    made = lw.asarray(image.fromarray(pixels))
    assert made.dtype is lw.uint8 and made.tolist() == pixels.tolist()
    assert lw.add(image.fromarray(pixels), 1.0).tolist() == (pixels + 1.0).tolist()
    assert lw.asarray(image.fromarray(pixels[..., 0] > 5)).tolist() == (pixels[..., 0] > 5).tolist()


GOOD = {"shape": (2,), "typestr": "<f4", "data": b"\0\0\x80?\0\0\0@"}


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        ({"shape": None}, lw.ArgumentError, "shape"),
        ({"shape": [2]}, lw.ArgumentError, "shape"),
        ({"shape": (-1,)}, lw.ArgumentError, "shape"),
        ({"shape": (True,)}, lw.ArgumentError, "shape"),
        ({"shape": (1,) * 9}, lw.ShapeError, r"at most 8 dimensions and fewer than 2\^31"),
        ({"shape": (2**16, 2**16)}, lw.ShapeError, "elements"),
        ({"shape": (2**40, 0)}, lw.ShapeError, "elements"),
        ({"shape": (2**31,)}, lw.ShapeError, "elements"),
        ({"shape": (2**31 - 1,)}, lw.ArgumentError, "bytes of data"),
        ({"typestr": "<f400000"}, lw.DTypeError, "typestr"),
        ({"typestr": "<f4000000"}, lw.ArgumentError, "typestr"),
        ({"strides": (2**31 - 4,)}, lw.ArgumentError, "bytes of data"),
        ({"strides": (2**31,)}, lw.ArgumentError, "strides"),
        ({"typestr": None}, lw.ArgumentError, "typestr"),
        ({"typestr": "f"}, lw.ArgumentError, "typestr"),
        ({"typestr": ">f4"}, lw.DTypeError, "little-endian"),
        ({"typestr": "|f4"}, lw.DTypeError, "typestr"),
        ({"typestr": "<c8"}, lw.DTypeError, "float32"),
        ({"typestr": "<c8"}, lw.DTypeError, "uint8"),
        ({"typestr": "|V4"}, lw.DTypeError, "typestr"),
        ({"strides": (4, 4)}, lw.ArgumentError, "strides"),
        ({"strides": (3,)}, lw.ArgumentError, "strides"),
        ({"strides": [4]}, lw.ArgumentError, "strides"),
        ({"strides": (2**40,)}, lw.ArgumentError, "strides"),
        ({"strides": (-4,)}, lw.ArgumentError, "an int offset of at least 4 .*got 0"),
        ({"data": (0, False)}, lw.ArgumentError, "address"),
        ({"data": (-8, False)}, lw.ArgumentError, "address"),
        ({"data": (2**63, False)}, lw.ArgumentError, "address"),
        ({"data": (1.5, False)}, lw.ArgumentError, "address"),
        ({"data": (8,)}, lw.ArgumentError, "address"),
        ({"data": (8, "no")}, lw.ArgumentError, "read-only"),
        ({"data": b"1234567"}, lw.ArgumentError, "at least 8 bytes of data .*got 7"),
        ({"data": b"12345678", "offset": 4}, lw.ArgumentError, "at least 12 bytes of data .*got 8"),
        ({"data": b"12345678", "offset": -4}, lw.ArgumentError, "offset .*got -4"),
        ({"data": "12345678"}, lw.ArgumentError, "buffer"),
        ({"data": None}, lw.ArgumentError, "buffer"),
        ({"mask": b"\1\0"}, lw.ArgumentTypeError, "mask"),
    ],
)
def test_an_odd_array_interface_is_refused(fields, error, words):
    assert lw.asarray(Interface(**GOOD)).tolist() == [1.0, 2.0]
    assert lw.asarray(Interface(**GOOD | {"data": b"1234" + GOOD["data"], "offset": 4})).tolist() == [1.0, 2.0]
    with pytest.raises(error, match=f"^asarray: expected .*{words}"):
        lw.asarray(Interface(**GOOD | fields))


def test_every_byte_but_zero_is_true():
    made = lw.asarray(Interface(shape=(256,), typestr="|b1", data=bytes(range(256))))
    assert made.tobytes() == b"\0" + b"\1" * 255


def test_an_array_interface_that_is_not_a_dict_or_may_not_be_copied():
    wrong = types.SimpleNamespace(__array_interface__=[1])
    with pytest.raises(lw.ArgumentError, match=r"^asarray: expected a dict in __array_interface__, got \[1\]$"):
        array_interface.read(wrong, None)
    with pytest.raises(lw.ArgumentError, match="copy=None or True"):
        lw.asarray(Interface(**GOOD), copy=False)


def test_a_misspelled_name_is_suggested():
    typos = {"softmaxx": "softmax", "sotfmax": "softmax", "reshpae": "reshape", "conv3d": "conv2d", "Tensr": "Tensor"}
    for wrong, right in typos.items():
        with pytest.raises(AttributeError, match=rf"has no attribute '{wrong}'; did you mean {right}\?$"):
            getattr(lw, wrong)
    assert not hasattr(lw, "__wrapped__")


@pytest.mark.parametrize("name", ["conv_transpose2d", "foobar", "sun", "ab", "raelly"])
def test_a_name_that_is_not_a_likely_typo_is_not_guessed(name):
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'$"):
        getattr(lw, name)


@pytest.mark.parametrize("name", methods.MISSING.split())
def test_missing_attributes_of_tensors_get_a_hint(name):
    x = lw.ones(2)
    with pytest.raises(AttributeError, match=f"^'lanewise.Tensor' object has no attribute '{name}'; .+"):
        getattr(x, name)
    assert not hasattr(lw.Tensor, name) and name not in dir(x) and "sum" in dir(x)


@pytest.mark.parametrize("name", [*other_names.HINTS, *other_names._NUMPY_ONLY.split()])
def test_hints_are_for_names_that_are_missing(name):
    assert name not in lw.__all__ and name not in other_names.FUNCTIONS
    hint = re.escape(other_names.HINTS.get(name, f"use numpy.{name} on x.numpy(), "))
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'; {hint}"):
        getattr(lw, name)


def test_dir_shows_the_public_names_only():
    assert dir(lw) == sorted(lw.__all__)
    assert not any(isinstance(getattr(lw, name), types.ModuleType) for name in dir(lw))


def test_backends_print_a_line_each():
    found = lw.backends()  # called only once: a second call may report other amounts of free memory
    lines = repr(found).splitlines()
    assert [re.split("[ :]", line)[1] for line in lines] == [info.name.value for info in found]
    for line, info in zip(lines, found, strict=True):
        assert line.startswith("✓" if info.available else "✗")
        assert (info.devices[0].name if info.available else info.reason) in line
    assert repr(found) == str(found)
