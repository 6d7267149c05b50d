"""Tests that kernels give the same bits if their work is split into tasks that run in reverse order, and that they
return LW_INTERRUPTED if the callback that runs the tasks stops at one of them."""

import struct

import numpy as np
import pytest
import raw
from generator.draw import draw
from judge import bits

ATTENTION = {"is_causal": False, "scale": None, "enable_gqa": False, "window": None, "offset": 0}
# Large calls for each kind of operation. Each call is a pair: the shapes of inputs by name, which serve all operations
# of the kind, and the settings from which the layout is made. An input whose shape is None is absent; an input that is
# not listed has the shape in the settings.
LARGE = {
    "elementwise": [({}, {"shape": (300_001,)})],
    "reduction": [({}, {"shape": (3, 200_003), "axis": axis, "keepdims": True}) for axis in (0, 1)],
    "index_reduction": [({}, {"shape": (3, 200_003), "axis": axis, "keepdims": True}) for axis in (0, 1)],
    "rows": [({"weight": None, "bias": None}, {"shape": (501, 600), "axis": axis}) for axis in (0, 1)],
    "attention": [({"query": (3, 100, 64), "key": (3, 300, 64), "value": (3, 300, 48)}, ATTENTION)],
    "rotation": [({"x": (3, 1000, 64)}, {"shape": (3, 1000, 64), "axis": -2})],
    "eigen": [({"x": (9, 40, 40)}, {"shape": (9, 40)}), ({"x": (300, 300)}, {"shape": (300,)})],
    "sort": [
        ({}, {"shape": shape, "axis": axis}) for shape, axis in (((501, 600), 0), ((501, 600), 1), ((2, 99_999), 1))
    ],
    "matrix": [({"x1": (2, 300, 200), "x2": (200, 150), "x": (300, 200), "weight": (150, 200), "bias": (150,)}, {})],
}
MANY = 1000  # tasks: steps of a large matrix are divided only if a task should do less than a step
RESULTS = {"scaled_dot_product_attention": (3, 100, 48), "matmul": (2, 300, 150), "linear": (300, 150)}


def shape_of_result(contract, settings):
    shape = settings.get("shape", RESULTS.get(contract.operation, ()))
    if "keepdims" in settings:
        return tuple(1 if axis == settings["axis"] else extent for axis, extent in enumerate(shape))
    return shape


@pytest.mark.contracts(lambda contract: contract.kind.name in LARGE and contract.returns == "Tensor")
def test_tasks_in_any_order(contract, host):
    dtype = contract.computed[-1]
    for shapes, settings in LARGE[contract.kind.name]:
        inputs = []
        for each in contract.inputs:
            shape = shapes.get(each.name, settings.get("shape"))
            inputs.append(None if shape is None else raw.copy_of(draw(contract, each.name, dtype, shape, "tasks")))
        out = raw.place(shape_of_result(contract, settings), contract.result(dtype))
        places = [each.place if each else None for each in inputs]
        made = raw.layouts.call(contract, settings, places, out.place)
        scalars = struct.pack(f"<{len(made.scalars)}q", *made.scalars) + raw.default_scalars(contract)

        def run(context, layout=made.layout, scalars=scalars, inputs=inputs, out=out):
            out.array[...] = 0
            return raw.call(host.value, contract.kernel(dtype), layout, scalars, inputs, out, context)

        assert run(raw.Context()) == raw.OK
        expected = bits(out.array).copy()
        tasks = MANY if settings.get("shape") == (300,) else 7
        context = raw.Context(tasks=tasks)
        assert run(context) == raw.OK
        assert context.tasks > 1
        assert np.array_equal(bits(out.array), expected)
        assert (out.surroundings() == raw.POISON).all()
        assert run(raw.Context(tasks=tasks, interrupt_at=context.tasks - 1)) == raw.INTERRUPTED


@pytest.mark.parametrize("count", [3_000, 1 << 18], ids=["first", "all"])
@pytest.mark.contracts(lambda contract: contract.kind.name == "sort")
def test_control_c_stops_a_sort_of_one_long_row(contract, host, count):
    """A sort can be stopped before any of its tasks. Until half of them have run, no part of the result is written."""
    dtype, length = contract.computed[-1], 1 << 18
    x = raw.copy_of(draw(contract, "x", dtype, (length,), "long"))
    out = raw.place((length,), contract.result(dtype))
    made = raw.layouts.call(contract, {"shape": (length,), "axis": 0}, [x.place], out.place)
    # 1 selects descending order: sorted bools then begin with True, so that a write to `out`, which is all False
    # before a call, can be seen
    scalars = struct.pack("<2q", count, 1)

    def run(context):
        out.array[...] = 0
        return raw.call(host.value, contract.kernel(dtype), made.layout, scalars, [x], out, context)

    whole = raw.Context(tasks=7)
    assert run(whole) == raw.OK
    assert out.array.any()
    assert whole.tasks >= length / (1 << 16)
    for stop in range(whole.tasks // 2):
        context = raw.Context(tasks=7, interrupt_at=stop)
        assert run(context) == raw.INTERRUPTED
        assert context.tasks == stop
        assert not out.array.any()
