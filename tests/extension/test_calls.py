"""Tests how calls are parsed: positional and keyword arguments, out=, and errors."""

from __future__ import annotations

import numpy as np
import pytest

import lanewise as lw

IMAGE = np.ones((1, 1, 4, 4), np.float32)


def test_out_receives_the_result():
    x, out = lw.asarray([1.0, 2.0]), lw.zeros((2,))
    assert lw.add(x, x, out=out) is out
    assert out.tolist() == [2, 4]
    assert lw.exp(x, out=x) is x


@pytest.mark.parametrize(
    ("out", "error", "match"),
    [
        (lambda: lw.zeros((3,)), lw.ShapeError, "shape"),
        (lambda: lw.zeros((2,), dtype=lw.int32), lw.DTypeError, "dtype"),
        (lambda: lw.zeros((4,))[::2], lw.ArgumentError, "contiguous"),
        (lambda: lw.broadcast_to(lw.zeros(()), (2,)), lw.ReadOnlyError, "read-only"),
        (lambda: np.zeros(2, np.float32), lw.ArgumentTypeError, "expected a tensor for out"),
        (lambda: 3, lw.ArgumentTypeError, "expected a tensor for out"),
    ],
)
def test_out_is_refused(out, error, match):
    with pytest.raises(error, match=match):
        lw.add(lw.ones((2,)), 1, out=out())


def test_out_that_overlaps_is_refused():
    base = lw.arange(8, dtype=lw.float32)
    with pytest.raises(lw.ArgumentError, match=r"shares no memory .* overlaps input 1"):
        lw.add(base[:4], 1, out=base[1:5])
    with pytest.raises(lw.ArgumentError, match="shares no memory with the inputs"):
        lw.sum(base.reshape(2, 4), axis=0, out=base[:4])
    square = lw.ones((4, 4))
    with pytest.raises(lw.ArgumentError, match="shares no memory with the inputs"):
        lw.matmul(square, square, out=square)
    assert base.tolist() == list(range(8))


def test_missing_surplus_unknown_and_repeated_arguments():
    with pytest.raises(TypeError, match="expected an argument for x2, got none"):
        lw.add(1)
    with pytest.raises(TypeError, match="expected at most 2 positional arguments, got 3"):
        lw.add(1, 2, 3)
    with pytest.raises(TypeError, match="no parameter 'where'"):
        lw.add(1, 2, where=3)
    with pytest.raises(TypeError, match="expected each argument once, got 'x1' twice"):
        lw.add(1, 2, x1=3)
    with pytest.raises(TypeError, match="expected an argument for x2, got none"):
        lw.ones((1,)).add()


def test_none_is_not_a_tensor():
    for call in (lambda: lw.sin(None), lambda: lw.add(1, None), lambda: lw.matmul(x1=None, x2=[1.0])):
        with pytest.raises(TypeError, match=r"^(sin|add|matmul): expected a tensor, .* for (x|x2|x1), got None"):
            call()
    assert lw.clip([1.0], None, 0.5).tolist() == [0.5]


def test_inputs_by_name():
    assert lw.subtract(x2=1, x1=3).tolist() == 2
    assert lw.ones((2,)).add(x2=2).tolist() == [3, 3]


def test_errors_name_the_first_input_of_a_wrong_dtype():
    """The error must name x2. The dtype of x1, bool, is accepted, although its code in C, 0, may look like "none"."""
    with pytest.raises(lw.DTypeError, match=r"^bitwise_and: expected bool or int32, got float32 for x2; convert it"):
        lw.bitwise_and([True], [1.5])


@pytest.mark.parametrize("axis", [2, -3, 5])
def test_axis_out_of_range(axis):
    with pytest.raises(lw.AxisError, match="expected an axis within 2 dimensions, got"):
        lw.sum(lw.ones((2, 3)), axis=axis)
    with pytest.raises(IndexError):
        lw.softmax(lw.ones((2, 3)), axis=axis)


def test_index_reductions_accept_one_axis():
    with pytest.raises(lw.ArgumentTypeError, match="expected an int or None for axis"):
        lw.argmax(lw.ones((2, 3)), axis=(0, 1))


def test_axis_named_twice():
    with pytest.raises(lw.AxisError, match="twice"):
        lw.sum(lw.ones((2, 3)), axis=(0, -2))


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


@pytest.mark.parametrize("function", [lw.max, lw.argmax])
def test_empty_axes_without_an_identity_are_refused(function):
    with pytest.raises(lw.ShapeError, match="expected an axis with at least one element"):
        function(lw.zeros((0,)))


def test_sums_of_empty_axes():
    assert lw.sum(lw.zeros((0,))).tolist() == 0
    assert lw.sum(lw.zeros((2, 0)), axis=1).tolist() == [0, 0]
    assert lw.sum(lw.zeros((0, 2)), axis=1).shape == (0,)
    assert not bool(lw.any(lw.zeros((0,))))


def test_choices():
    with pytest.raises(lw.ArgumentError, match="'none', 'tanh'"):
        lw.gelu(lw.ones((2,)), approximate="exact")
    with pytest.raises(TypeError):
        lw.leaky_relu(lw.ones((2,)), slope="steep")


def test_shapes_that_do_not_broadcast():
    with pytest.raises(lw.ShapeError, match=r"^add: expected shapes that broadcast, got \(2, 3\) and \(4,\)"):
        lw.add(lw.ones((2, 3)), lw.ones((4,)))


def test_shapes_that_do_not_align():
    with pytest.raises(
        lw.ShapeError, match=r"^matmul: expected x2 of shape \(4, n\), got x1 \(3, 4\) and x2 \(5, 6\)$"
    ):
        lw.matmul(lw.ones((3, 4)), lw.ones((5, 6)))
    with pytest.raises(lw.ShapeError, match="x1 with at least 1 dimension, got 0"):
        lw.matmul(lw.ones(()), lw.ones((5, 6)))
    with pytest.raises(
        lw.ShapeError,
        match=r"^matmul: expected batch dimensions .* that broadcast, got x1 \(2, 3, 4\) and x2 \(3, 4, 5\)$",
    ):
        lw.matmul(lw.ones((2, 3, 4)), lw.ones((3, 4, 5)))


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


def test_indices_that_are_refused():
    x = lw.ones((3, 4))
    with pytest.raises(lw.IndexOutOfRangeError, match=str(2**32)):
        lw.take(x, np.array([2**32]), axis=0)
    with pytest.raises(lw.DTypeError, match="int32"):
        lw.take(x, [0.5], axis=0)
    with pytest.raises(IndexError):
        x[3]
    with pytest.raises(IndexError):
        x[0, 0, 0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: lw.take(x, np.array([2**32])), lw.IndexOutOfRangeError, "take: .* extent 3, got 4294967296$"),
        (lambda x: x[9], lw.IndexOutOfRangeError, "getitem: .* axis 0 of extent 3, got 9$"),
        (lambda x: x[::0], lw.ArgumentError, "getitem: expected a slice of ints with a step other than 0"),
        (lambda x: x["a":], lw.ArgumentTypeError, "getitem: expected a slice of ints"),
        (
            lambda x: x[lw.arange(3) :],
            lw.ArgumentTypeError,
            r"index: expected a 0-dimensional int32 or int64 tensor, got int32 of shape \(3,\); select an element",
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


def test_windows_larger_than_the_image():
    with pytest.raises(lw.ShapeError, match=r"window of at most 4 rows \(the padded image has no more\), got 5"):
        lw.conv2d(lw.ones((1, 1, 4, 4)), lw.ones((1, 1, 5, 5)))
    with pytest.raises(lw.ArgumentError, match="groups"):
        lw.conv2d(lw.ones((1, 4, 4, 4)), lw.ones((1, 1, 3, 3)), groups=3)
    with pytest.raises(lw.ArgumentError, match="stride"):
        lw.conv2d(lw.ones((1, 1, 4, 4)), lw.ones((1, 1, 3, 3)), stride=0)
    with pytest.raises(lw.ShapeError, match="for 2 input channels in 1 groups"):
        lw.conv2d(lw.ones((1, 2, 4, 4)), lw.ones((1, 1, 3, 3)))
    with pytest.raises(lw.ArgumentError, match="padding"):
        lw.max_pool2d(lw.ones((1, 1, 4, 4)), kernel_size=2, padding=2)


def test_signatures_and_docstrings():
    import inspect

    assert str(inspect.signature(lw.sum)).startswith("(x, /, axis=None, *, keepdims=False")
    assert "softmax" in lw.softmax.__doc__.lower()
    assert "indices : int32 or int64 array" in lw.take.__doc__
    for function in (lw.conv2d, lw.max_pool2d, lw.avg_pool2d):
        assert "for one image" in function.__doc__


def test_methods_are_the_functions():
    x = lw.asarray([[3.0, 1.0], [2.0, 4.0]])
    assert x.sum(axis=0).tolist() == lw.sum(x, axis=0).tolist()
    assert x.relu().tolist() == lw.relu(x).tolist()
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
