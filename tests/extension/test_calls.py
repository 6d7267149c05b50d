"""Tests how calls are parsed: positional and keyword arguments, and errors."""

from __future__ import annotations

import numpy as np
import pytest

import lanewise as lw

IMAGE = np.ones((1, 1, 4, 4), np.float32)


def test_none_is_not_a_tensor():
    for call in (lambda: lw.sin(None), lambda: lw.add(1, None), lambda: lw.matmul(x1=None, x2=[1.0])):
        with pytest.raises(TypeError, match=r"^(sin|add|matmul): expected a tensor, .* for (x|x2|x1), got None"):
            call()
    assert lw.clip([1.0], None, 0.5).tolist() == [0.5]


def test_inputs_by_name():
    assert lw.subtract(x2=1, x1=3).tolist() == 2
    assert lw.ones((2,)).add(x2=2).tolist() == [3, 3]


@pytest.mark.parametrize("axis", ["x", 1.5, True, np.True_, (0, True), lw.asarray(True), lw.asarray([0, 1])], ids=str)
def test_axis_of_another_type(axis):
    with pytest.raises((lw.ArgumentTypeError, lw.ArgumentError)):
        lw.sum(lw.ones((2, 3)), axis=axis)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: lw.sum(x, axis=True),
        lambda x: lw.softmax(x, axis=False),
        lambda x: lw.argmax(x, axis=True),
        lambda x: lw.take(x, [0], axis=True),
        lambda x: lw.sort(x, axis=True),
        lambda x: lw.expand_dims(x, axis=True),
        lambda x: lw.squeeze(x, axis=True),
        lambda x: lw.permute_dims(x, (True, False)),
        lambda x: lw.flip(x, axis=True),
        lambda x: lw.concat([x, x], axis=True),
        lambda x: lw.normalize(x, axis=True),
        lambda x: lw.reshape(x, (True, -1)),
        lambda x: lw.zeros(True),
        lambda x: lw.roll(x, True),
        lambda x: lw.tile(x, True),
        lambda x: lw.repeat(x, True),
        lambda x: lw.triu(x, k=True),
        lambda x: lw.topk(x, True),
        lambda x: lw.eye(2, k=True),
        lambda x: lw.rand(2, seed=True),
        lambda x: lw.max_pool2d(IMAGE, kernel_size=True),
        lambda x: lw.conv2d(IMAGE, IMAGE, groups=True),
    ],
)
def test_bools_are_not_ints(call):
    with pytest.raises(TypeError, match=r"^\w+: .*\bint(eger)?s?\b"):
        call(lw.ones((2, 3)))


def test_shapes_that_overflow():
    for shape in [(2**31, 2**31, 2**31), (2**63 - 1, 2), (2**63,), (2**100, 1)]:
        with pytest.raises(lw.ShapeError):
            lw.zeros(shape)
    with pytest.raises(MemoryError):
        lw.zeros((2**46,))
    assert lw.ones((3,)).tolist() == [1, 1, 1]
    with pytest.raises(lw.ShapeError):
        lw.broadcast_to(lw.ones((1,)), (2**40, 2**40))
    with pytest.raises(lw.ShapeError):
        lw.ones((4,)).reshape(2**40, 2**40)


def test_broadcast_results_too_large():
    x = lw.broadcast_to(lw.ones((1,)), (2**46,))  # 2^48 bytes: more than any process can address
    with pytest.raises(MemoryError):
        x + 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *(
            (
                lambda x, bad=bad: lw.take(x, [0, bad], axis=0),
                rf"take: .* indices within axis 0 of extent 3, got {bad}$",
            )
            for bad in (3, 9, -4, 2**20)
        ),
        (lambda x: lw.take(IMAGE, [9], axis=-1), "take: .* axis 3 of extent 4, got 9$"),
        (lambda x: lw.take(IMAGE, [16]), "take: .* the flattened tensor of extent 16, got 16$"),
        (lambda x: lw.take_along_axis(x, [-4]), "take_along_axis: .* axis 0 of extent 3, got -4$"),
        (lambda x: lw.embedding([9], [[1.0]]), "embedding: .* axis 0 of extent 1, got 9$"),
    ],
)
def test_indices_out_of_range(call, message):
    """The call is refused, and the index named, on a device, too."""
    x = lw.ones(3)
    with pytest.raises(lw.IndexOutOfRangeError, match=f"^{message}"):
        call(x).tolist()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: lw.add(1), lw.ArgumentTypeError, "add: expected an argument for x2, got none"),
        (lambda x: x.add(), lw.ArgumentTypeError, "add: expected an argument for x2, got none"),
        (lambda x: lw.add(1, 2, 3), lw.ArgumentTypeError, "add: expected at most 2 positional arguments, got 3"),
        (lambda x: lw.add(1, 2, where=3), lw.ArgumentTypeError, "add: there is no parameter 'where'"),
        (lambda x: lw.add(1, 2, x1=3), lw.ArgumentTypeError, "add: expected each argument once, got 'x1' twice"),
        (lambda x: lw.bitwise_and([True], [1.5]), lw.DTypeError, "bitwise_and: .*, got float32 for x2; convert it"),
        (lambda x: lw.sum(x, axis=1), lw.AxisError, "sum: expected an axis within 1 dimension, got 1$"),
        (lambda x: lw.softmax(x, axis=-2), lw.AxisError, "softmax: expected an axis within 1 dimension, got -2$"),
        (lambda x: lw.sum(IMAGE, axis=(0, -4)), lw.AxisError, "sum: .*twice"),
        (lambda x: lw.argmax(IMAGE, axis=(0, 1)), lw.ArgumentTypeError, "argmax: expected an int or None for axis"),
        (lambda x: lw.gelu(x, approximate="exact"), lw.ArgumentError, "gelu: .*'none', 'tanh'"),
        (lambda x: lw.leaky_relu(x, slope="steep"), lw.ArgumentTypeError, "leaky_relu: .*slope"),
        (lambda x: lw.add(x, lw.ones(4)), lw.ShapeError, r"add: .* that broadcast, got \(3,\) and \(4,\);"),
        (lambda x: lw.matmul(x, lw.ones((5, 6))), lw.ShapeError, r"matmul: .* x1 \(3,\) and x2 \(5, 6\)$"),
        (lambda x: lw.matmul(1.0, x), lw.ShapeError, "matmul: expected x1 with at least 1 dimension, got 0"),
        (
            lambda x: lw.matmul(lw.ones((2, 3, 4)), lw.ones((3, 4, 5))),
            lw.ShapeError,
            r"matmul: expected batch dimensions .* that broadcast, got x1 \(2, 3, 4\) and x2 \(3, 4, 5\)$",
        ),
        (lambda x: lw.take(x, np.array([2**32])), lw.IndexOutOfRangeError, "take: .* extent 3, got 4294967296$"),
        (lambda x: lw.take(x, [0.5]), lw.DTypeError, "take: expected indices of an integer dtype, got float32"),
        (lambda x: x[9], lw.IndexOutOfRangeError, "getitem: .* axis 0 of extent 3, got 9$"),
        (lambda x: x[::0], lw.ArgumentError, "getitem: expected a slice of ints with a step other than 0"),
        (lambda x: x["a":], lw.ArgumentTypeError, "getitem: expected a slice of ints"),
        (
            lambda x: x[lw.arange(3) :],
            lw.ArgumentTypeError,
            r"index: expected a 0-dimensional integer tensor, got int32 of shape \(3,\); select an element",
        ),
        (float, lw.ArgumentError, "float: .* select one with an index$"),
        (bool, lw.ArgumentError, r"bool: .* use any\(\), all\(\) or an index$"),
        (lambda x: f"{x:.2f}", lw.ArgumentError, r"format: expected one element for '.2f', got shape \(3,\)"),
        (lambda x: list(lw.sum(x)), lw.ArgumentTypeError, "iter: "),
        (lambda x: len(lw.sum(x)), lw.ArgumentTypeError, "len: "),
        (lambda x: lw.broadcast_to(x, (2**62, 3)), lw.ShapeError, r"broadcast_to: .*of fewer than 2\^63 elements"),
        (lw.matrix_transpose, lw.ShapeError, "matrix_transpose: "),
        (
            lambda x: lw.rope(lw.ones((2, 4)), axis=-1),
            lw.AxisError,
            "rope: expected axis to name any axis but the last.*, got -1",
        ),
        (lambda x: lw.rope(lw.ones((2, 2)), scaling="ntk"), lw.ShapeError, "rope: .* undefined; use scaling='linear'"),
        (
            lambda x: lw.conv2d(IMAGE, IMAGE, padding="same"),
            lw.ArgumentTypeError,
            "conv2d: expected an int or a pair of ints for padding, got 'same'",
        ),
        (
            lambda x: lw.max_pool2d(IMAGE, kernel_size=1, stride=1.5),
            lw.ArgumentTypeError,
            "max_pool2d: expected an int or a pair of ints for stride, got 1.5",
        ),
        (
            lambda x: lw.conv2d(IMAGE, lw.ones((1, 1, 5, 5))),
            lw.ShapeError,
            r"conv2d: expected .*window of at most 4 rows \(the padded image has no more\), got 5",
        ),
        (lambda x: lw.conv2d(IMAGE, IMAGE, groups=3), lw.ArgumentError, "conv2d: .*groups"),
        (lambda x: lw.conv2d(IMAGE, IMAGE, stride=0), lw.ArgumentError, "conv2d: .*stride"),
        (lambda x: lw.conv2d(lw.ones((1, 2, 4, 4)), IMAGE), lw.ShapeError, "conv2d: .* 2 input channels in 1 groups"),
        (lambda x: lw.max_pool2d(IMAGE, 2, padding=2), lw.ArgumentError, "max_pool2d: .*padding"),
        (lambda x: lw.rand(3, seed=2**63), lw.ArgumentError, "rand: expected seed from -2.63 to 2.63 - 1"),
        (lambda x: lw.set_printoptions(suppress=True), lw.ArgumentTypeError, "set_printoptions: .*'suppress'"),
        (lambda x: lw.asarray(np.ones(2, "c8")), lw.DTypeError, "asarray: expected real numbers, got complex ones"),
        (lambda x: x[0, 0], lw.IndexOutOfRangeError, r"getitem: expected at most 1 index for shape \(3,\), got 2$"),
        (lambda x: x[..., ...], lw.IndexOutOfRangeError, r"getitem: expected at most one Ellipsis \(...\), got 2$"),
        (
            lambda x: lw.zeros(2, 3),
            lw.ArgumentTypeError,
            r"zeros: expected the shape as one argument, got 2, 3; write zeros\(\(2, 3\)\)$",
        ),
        (lambda x: lw.rand(2, 3, 4), lw.ArgumentTypeError, r"rand: .*, got 2, 3, 4; write rand\(\(2, 3, 4\)\)$"),
        (lambda x: lw.empty(2, 3), lw.ArgumentTypeError, r"empty: .*, got 2, 3; write empty\(\(2, 3\)\)$"),
        (
            lambda x: lw.reshape(x, 3, 1),
            lw.ArgumentTypeError,
            r"reshape: expected the shape as one argument, got 3, 1; write reshape\(x, \(3, 1\)\)$",
        ),
        (lambda x: lw.permute_dims(x, 1, 0), lw.ArgumentTypeError, r"permute_dims: expected the axes .* \(1, 0\)\)$"),
        (
            lambda x: lw.stack([lw.zeros((1,) * 8)]),
            lw.ShapeError,
            "stack: expected a result of at most 8 dimensions, got more$",
        ),
        (lambda x: lw.zeros_like("a"), lw.ArgumentTypeError, "zeros_like: x: expected numbers, got a str"),
        (lambda x: lw.add(x, object()), lw.ArgumentTypeError, "add: x2: expected numbers, got an object"),
        (lambda x: lw.sum(x, axis=object()), lw.ArgumentTypeError, "sum: expected an int for axis, got an object$"),
        (
            lambda x: lw.concat(x, x, axis=0),
            lw.ArgumentTypeError,
            r"concat: expected a list of tensors, got a Tensor of shape \(3,\); write concat\(\[a, b\]\)$",
        ),
        (lambda x: lw.stack(x, x), lw.ArgumentTypeError, r"stack: .*; write stack\(\[a, b\]\)$"),
        (lambda x: lw.where(x > 0), lw.ArgumentTypeError, r"where: .* x1, got none; .* nonzero\(condition\)$"),
        (lambda x: lw.Tensor([1, 2]), lw.ArgumentTypeError, r"Tensor: .*; use asarray\(\[1, 2\]\)"),
        (
            lambda x: lw.leaky_relu(x, slope=x),
            lw.ArgumentTypeError,
            r"leaky_relu: expected a number for slope, got a Tensor of shape \(3,\)$",
        ),
        (lambda x: x.max(x), lw.ArgumentTypeError, r"max: expected an int for axis, got a Tensor of shape \(3,\)$"),
        (lambda x: lw.zeros(x.numpy()), lw.ArgumentTypeError, r"zeros: .*, got an ndarray of shape \(3,\)$"),
        (lambda x: lw.eye([0] * 99), lw.ArgumentTypeError, r"eye: .*, got \[0, 0, 0, 0, 0, 0, 0, 0, ...\]$"),
        (lambda x: lw.asarray(["a" * 999]), lw.ArgumentTypeError, r"asarray: .*, got 'a+\.\.\.a+'$"),
    ],
)
def test_errors_name_what_is_wrong(call, error, message):
    with pytest.raises(error, match=f"^{message}"):
        call(lw.ones(3))


def test_errors_while_a_flag_is_compared():
    class Raises:
        def __init__(self, error):
            self.error = error

        def __eq__(self, other):
            raise self.error

    with pytest.raises(lw.ArgumentTypeError, match="expected True or False for keepdims, got a Raises"):
        lw.sum(lw.ones(3), keepdims=Raises(ValueError()))
    with pytest.raises(KeyboardInterrupt):
        lw.sum(lw.ones(3), keepdims=Raises(KeyboardInterrupt()))


def test_signatures_and_docstrings():
    import inspect

    assert str(inspect.signature(lw.sum)).startswith("(x, /, axis=None, *, keepdims=False")
    assert str(inspect.signature(lw.triu)).startswith("(x, /, k=0")
    assert "softmax" in lw.softmax.__doc__.lower()
    assert "indices : integer array" in lw.take.__doc__
    for function in (lw.conv2d, lw.max_pool2d, lw.avg_pool2d):
        assert "for one image" in function.__doc__


def test_methods_take_shapes_and_axes_one_by_one():
    x = lw.asarray([[3.0, 1.0], [2.0, 4.0]])
    assert x.reshape(4).tolist() == x.reshape((4,)).tolist() == x.reshape(-1).tolist()
    assert x.reshape(2, -1).shape == (2, 2)
    assert x.permute_dims(1, 0).tolist() == x.T.tolist()


class Shortening:
    """An index whose conversion to an int clears the list that contains it."""

    def __init__(self, owner):
        self.owner = owner

    def __index__(self):
        self.owner.clear()
        return 0


@pytest.mark.parametrize("call", [lambda ints: lw.zeros(ints), lambda ints: lw.sum(lw.zeros((2, 2)), axis=ints)])
def test_a_list_of_ints_that_shrinks_while_it_is_read_is_refused(call):
    ints = []
    ints += [Shortening(ints), Shortening(ints)]
    with pytest.raises(IndexError):
        call(ints)
