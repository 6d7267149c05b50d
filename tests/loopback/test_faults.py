"""Faults of a device: a failed launch spoils what depends on it and nothing else, and errors leave no memory behind.

PROGRAM is a short program, of which each launch fails once, in each way in which it can fail.
"""

from __future__ import annotations

import contextlib
import gc
import signal
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import lanewise as lw
from lanewise import _ext
from tests.loopback.comparison import READERS, array, assert_same_bits, on, parts

Values = dict[str, Any]
X = np.linspace(-2, 3, 25, dtype=np.float32).reshape(5, 5)
ASKED_FOR = "wgpu failed: the fault was asked for"


class Step(NamedTuple):
    """One line of the program."""

    result: str  # an input or an earlier result if the step changes it
    reads: tuple[str, ...]
    compute: Callable[[Values], Any]
    launches: tuple[str, ...]  # operations


def increment(values: Values) -> Any:
    values["counter"] += 1
    return values["counter"]


def assign(values: Values) -> Any:
    values["counter"][1:, ::2] = values["x"][1:, ::2]
    return values["counter"]


PROGRAM = (
    Step("doubled", ("x",), lambda v: v["x"] * 2, ("multiply",)),
    Step("transposed", ("doubled",), lambda v: v["doubled"].T[::-1], ()),
    Step("total", ("transposed",), lambda v: lw.sum(v["transposed"], axis=0), ("sum",)),
    Step("before", ("counter",), lambda v: v["counter"] - 3, ("subtract",)),
    Step("counter", ("counter",), increment, ("add",)),
    Step("counter", ("counter", "x"), assign, ("copy",)),
    Step("product", ("x", "counter"), lambda v: v["x"] @ v["counter"], ("matmul",)),
    Step("eigen", ("doubled",), lambda v: lw.eigh(v["doubled"]), ("eigh",)),
    Step("vectors", ("eigen",), lambda v: v["eigen"].eigenvectors[1:] + 0, ("add",)),
    Step("sorted", ("x",), lambda v: lw.sort(v["x"]), ("sort",)),
    Step("picked", ("sorted", "indices"), lambda v: lw.take(v["sorted"], v["indices"], axis=0), ("take",)),
    Step("rows", ("x",), lambda v: lw.softmax(v["x"]), ("softmax",)),
    Step("last", ("picked", "total"), lambda v: v["picked"] + v["total"], ("add",)),
)
LAUNCHED = [name for step in PROGRAM for name in step.launches]
EVERY_LAUNCH = pytest.mark.parametrize("failing", range(len(LAUNCHED)), ids=LAUNCHED)


def inputs(place: str) -> Values:
    return {
        "x": on(place, X),
        "counter": on(place, X.T),
        "indices": on(place, [4, 0, 2, 1, 3], np.int32),
    }


def run(values: Values) -> Values:
    """Runs the program up to its end, or to an error."""
    for step in PROGRAM:
        values[step.result] = step.compute(values)
    return values


EXPECTED = {name: [array(each) for each in parts(value)] for name, value in run(inputs("cpu")).items()}


def spoiled_by(failing: int) -> set[str]:
    """Returns the values that depend on a launch."""
    spoiled: set[str] = set()
    count = 0
    for step in PROGRAM:
        fails = count <= failing < count + len(step.launches)
        count += len(step.launches)
        if fails or spoiled.intersection(step.reads):
            spoiled.add(step.result)
    return spoiled


def assert_works() -> None:
    """Runs the whole program on the device."""
    for name, value in run(inputs("wgpu")).items():
        assert_same_bits(value, EXPECTED[name])


def assert_nothing_left() -> None:
    gc.collect()
    lw.empty_cache()
    assert _ext.live_blocks() == 0


def test_launches_of_the_program() -> None:
    values = inputs("wgpu")
    _ext.launches()
    run(values)
    assert [name for name, _ in _ext.launches()] == LAUNCHED
    assert spoiled_by(0) == {"doubled", "transposed", "total", "eigen", "vectors", "last"}


@EVERY_LAUNCH
@pytest.mark.parametrize("order", [1, -1], ids=["first value first", "last value first"])
def test_late_failure(failing: int, order: int) -> None:
    _ext.inject("late", failing)
    values = run(inputs("wgpu"))
    spoiled = spoiled_by(failing)
    for name, value in list(values.items())[::order]:
        for tensor, expected in zip(parts(value), EXPECTED[name], strict=True):
            if name in spoiled:
                for _ in range(2):  # the error stays
                    with pytest.raises(lw.DeviceError, match=ASKED_FOR):
                        tensor.tolist()
            else:
                assert_same_bits(tensor, expected)
    name = sorted(spoiled)[0]
    with pytest.raises(lw.DeviceError, match=ASKED_FOR):  # what is launched later depends on it, too
        (parts(values[name])[0] + 1).tolist()
    assert_works()


def test_late_failure_ends_with_the_tensors() -> None:
    """New tensors in the memory of those that a failure spoiled are read without an error."""
    _ext.inject("late", 0)
    spoiled = on("wgpu", X) * 2
    with pytest.raises(lw.DeviceError, match=ASKED_FOR):
        spoiled.tolist()
    del spoiled
    assert_nothing_left()
    assert_works()


def test_late_failure_before_one_at_once() -> None:
    """The second launch does not run. The first fails later, and reading what it was to write raises."""
    x = on("wgpu", X)
    _ext.inject("late", 0)
    y = x + 1
    _ext.inject("at once", 0)
    with pytest.raises(lw.DeviceError, match=ASKED_FOR):
        y += 1
    with pytest.raises(lw.DeviceError, match=ASKED_FOR):
        y.tolist()


@EVERY_LAUNCH
def test_failure_at_once(failing: int) -> None:
    values = inputs("wgpu")
    _ext.inject("at once", failing)
    with pytest.raises(lw.DeviceError, match=ASKED_FOR):
        run(values)
    results = [step.result for step in PROGRAM for _ in step.launches]
    assert "doubled" in values or failing == 0
    for name in values.keys() - {"counter"}:
        assert name not in results[failing:]
        assert_same_bits(values[name], EXPECTED[name])
    assert_works()


@pytest.mark.parametrize("failing", [3, 4], ids=["add", "copy"])
def test_a_change_that_fails_at_once_changes_nothing(failing: int) -> None:
    values = inputs("wgpu")
    _ext.inject("at once", failing)
    with pytest.raises(lw.DeviceError, match=ASKED_FOR):
        run(values)
    assert_same_bits(values["counter"], X.T if failing == 3 else X.T + 1)


def test_no_memory() -> None:
    """Each allocation of the program fails once."""
    failures = 0
    while True:
        lw.reset("wgpu")
        values: Values = {}
        _ext.inject("memory", failures)
        try:
            values = inputs("wgpu")
            run(values)
        except lw.OutOfMemoryError as error:
            assert "cannot allocate" in str(error)
            failures += 1
            assert_same_bits(lw.ones(3) + 1, np.full(3, 2, np.float32))
            with pytest.raises(lw.OutOfMemoryError):
                lw.zeros(10_000, device="wgpu")
        else:
            break
        finally:
            _ext.inject("none", 0)
        for name in values.keys() & {"x", "indices"}:
            assert_same_bits(values[name], EXPECTED[name])
        assert_works()
        del values
        assert_nothing_left()
    assert failures == lw.memory_stats("wgpu")["num_allocs"] - lw.memory_stats("wgpu")["num_cache_hits"] > 10


def test_no_memory_frees_the_cache() -> None:
    """An allocation that fails frees the cached blocks before it tries once more."""
    y = on("wgpu", X) + 1
    retries = lw.memory_stats("wgpu")["num_alloc_retries"]
    del y
    _ext.inject("memory", 0)
    with pytest.raises(lw.OutOfMemoryError):
        lw.zeros(5_000, device="wgpu")
    assert lw.memory_stats("wgpu")["cached_bytes"] == 0
    assert lw.memory_stats("wgpu")["num_alloc_retries"] == retries
    assert _ext.live_blocks() == 0


WRITES: dict[str, Callable[[lw.Tensor], Any]] = {
    "to": lambda x: lw.asarray(X).to("wgpu"),
    "an operand of NumPy": lambda x: x + X,
    "an operand on the CPU": lambda x: lw.asarray(X.T) @ x,
    "a list": lambda x: lw.add(x, [1.0, 2.0, 3.0, 4.0, 5.0]),
    "indices": lambda x: x[[0, 2]],
    "a copied block": lambda x: lw.concat([x, X]),
}


@pytest.mark.parametrize("name", WRITES)
def test_write_fails(name: str) -> None:
    x = on("wgpu", X)
    expected = array(WRITES[name](on("wgpu", X)))
    _ext.inject("write", 0)
    with pytest.raises(lw.DeviceError, match=ASKED_FOR):
        WRITES[name](x)
    assert_same_bits(x, X)
    assert_same_bits(WRITES[name](x), expected)


@pytest.mark.parametrize(("fault", "error"), [("read", lw.DeviceError), ("Ctrl-C", KeyboardInterrupt)])
@pytest.mark.parametrize("name", READERS)
def test_read_fails(name: str, fault: str, error: type[BaseException]) -> None:
    """The error reaches the user, although NumPy ignores errors of the buffer protocol and then calls __array__(). That
    call raises no error of another one."""
    x = on("wgpu", X)
    expected = READERS[name](x)
    _ext.inject(fault, 0)
    with pytest.raises(error, match=ASKED_FOR if fault == "read" else None):
        READERS[name](x)
    assert x.__array__().tolist() == X.tolist()
    assert READERS[name](x) == expected


class StopError(Exception):
    """What the handler of a signal may raise."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} and {second}")
        self.sum = first + second


def test_numpy_passes_on_what_a_signal_handler_raises() -> None:
    def stop(number: int, frame: Any) -> None:
        raise StopError(2, 3)

    x = on("wgpu", X)
    before = signal.signal(signal.SIGINT, stop)
    try:
        _ext.inject("Ctrl-C", 0)
        with pytest.raises(StopError, match="2 and 3") as raised:
            np.asarray(x)
    finally:
        signal.signal(signal.SIGINT, before)
    assert raised.value.sum == 5


# Fault -> the reason that a repr gives.
UNREADABLE = {
    "read": ASKED_FOR,
    "late": ASKED_FOR,
    "memory": "cannot allocate ",
    "loss": "wgpu was lost: the loss was asked for",
}


@pytest.mark.parametrize("fault", UNREADABLE)
@pytest.mark.parametrize("rows", [5, 2000])
def test_a_repr_never_raises(fault: str, rows: int) -> None:
    """Shape, dtype and backend replace the elements, with the reason. Of many elements, only the ends are read."""
    x = on("wgpu", np.ones((rows, 5), np.float32))
    _ext.inject(fault, 0)
    if fault in ("late", "loss"):
        with contextlib.suppress(lw.DeviceError):
            x = x + 1
    for show in (repr, str, "{}".format, lambda x: x._repr_mimebundle_()["text/plain"]):
        if fault == "read":
            _ext.inject(fault, 0)
        text = show(x)
        if fault == "memory" and rows == 5:  # is read without other memory of the device
            assert text.startswith(("[[", "Tensor([["))
            continue
        assert text.startswith(f"Tensor(shape=({rows}, 5), dtype=float32, backend=wgpu; {UNREADABLE[fault]}")
        assert text.endswith(")")
