"""Tests that all planned operations exist, and that names of other libraries lead to an equivalent or a hint."""

from pathlib import Path

import numpy as np
import pytest
import scipy.special
import yaml

import lanewise as lw
from lanewise import other_names
from lanewise.functions import operations

LIST = {
    "binary": """add subtract multiply divide floor_divide remainder pow minimum maximum copysign atan2 hypot logaddexp
        equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor logical_not
        bitwise_and bitwise_or bitwise_xor bitwise_invert bitwise_left_shift bitwise_right_shift where""",
    "ternary, parametrised": "fma lerp clip scale leaky_relu elu astype",
    "unary": """negative abs sqrt rsqrt reciprocal square exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan
        sinh cosh tanh asinh acosh atanh floor ceil round trunc fract sign erf signbit isnan isinf isfinite""",
    "activations": "relu sigmoid gelu silu swish softplus mish selu hardswish swiglu geglu",
    "reductions": """sum prod mean max min argmax argmin any all var std norm_l1 norm_l2 norm_linf sum_of_squares dot
        cumsum topk sort argsort cov corrcoef""",
    "row operations": "softmax log_softmax layer_norm rms_norm add_rms_norm normalize zscore minmax",
    "linear algebra": "matmul matvec vecmat outer linear eigh",
    "attention": "scaled_dot_product_attention attention_scores weighted_sum_rows rope embedding",
    "convolution": "conv2d max_pool2d avg_pool2d",
    "shape": """reshape permute_dims matrix_transpose squeeze expand_dims moveaxis broadcast_to pad concat stack split
        take take_along_axis flip roll tile repeat tril triu nonzero searchsorted""",
    "creation": "zeros ones full eye arange linspace rand randn asarray",
}
ROOT = Path(__file__).resolve().parents[2]
COMING_FROM = ROOT / "contracts" / "coming_from.yaml"


@pytest.mark.parametrize("name", [name for names in LIST.values() for name in names.split()])
def test_every_planned_operation_exists(name):
    assert callable(getattr(lw, name))
    assert getattr(lw, name).__doc__


def tables():
    return yaml.safe_load(COMING_FROM.read_text(encoding="utf-8"))


def test_the_tables_cover_these_libraries():
    assert list(tables()) == ["numpy", "torch", "trueno", "realizar", "torchless", "tensor_frame"]


# Values of the variables in COMING_FROM, which pairs expressions of other libraries with ours.
EXAMPLES = {
    "x": np.array([-1.5, 0.25, 2.5], np.float32),
    "u": np.array([-0.5, 0.1, 0.9], np.float32),
    "v": np.array([1.5, 2.0, 3.0], np.float32),
    "w": np.array([2.0, 1.0, 0.5], np.float32),
    "i": np.array([1, -2, 3], np.int32),
    "a": np.array([[1.0, 2.0, 0.5], [-1.0, 0.0, 3.0], [0.5, 0.25, -2.0]], np.float32),
    "b": np.array([[0.5, 1.0, -1.0], [2.0, 0.0, 1.0], [1.0, 3.0, 0.5]], np.float32),
    "s": np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 1.0]], np.float32),
    "images": np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4),
}
PLAIN = {"data": [[1.0, 2.0], [3.0, 4.0]], "axes": (1, 0), "rows": 2, "columns": 2, "eps": 1e-5, "array": EXAMPLES["a"]}


def evaluated(expressions, convert, **modules):
    """Evaluates expressions separated by commas and returns all their results in one flat list."""
    names = {name: convert(value.copy()) for name, value in EXAMPLES.items()}
    names |= {**PLAIN, **modules, "arrays": [names["a"], names["b"]], "out": convert(np.zeros(3, np.float32))}
    values = eval(f"({expressions},)", names)
    return [one for value in values for one in (value if isinstance(value, tuple) else (value,))]


def rows():
    for library, table in tables().items():
        for theirs, ours in table.items():
            row = {"ours": ours} if isinstance(ours, str) else ours
            assert set(row) <= {"ours", "note"}
            if "ours" in row:
                yield pytest.param(library, theirs, row["ours"], id=f"{library}: {theirs}")


@pytest.mark.parametrize(("library", "theirs", "ours"), list(rows()))
def test_every_expression_works(library, theirs, ours, capsys):
    """Our expression works, and gives the other library's result if that library is NumPy or PyTorch."""
    try:
        results = evaluated(ours, lw.asarray, lw=lw)
    except lw.BackendUnavailableError:
        assert "wgpu" in ours
        return
    finally:
        lw.set_backend_priority(["auto"])
    if library == "numpy":
        expected = evaluated(theirs, np.asarray, np=np, scipy=scipy)
    elif library == "torch":
        torch = pytest.importorskip("torch")
        expected = evaluated(theirs, torch.from_numpy, torch=torch)
    else:
        return
    for result, want in zip(results, expected, strict=True):
        np.testing.assert_allclose(np.asarray(result), np.asarray(want), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", other_names.FUNCTIONS)
def test_names_of_other_libraries_get_a_hint(name):
    ours = other_names.FUNCTIONS[name]
    assert ours in lw.__all__
    with pytest.raises(AttributeError, match=f"'lanewise' has no attribute '{name}'; it is called {ours} here"):
        getattr(lw, name)


def test_an_unknown_name():
    with pytest.raises(AttributeError, match=r"has no attribute 'nothing'$"):
        lw.nothing  # noqa: B018
    assert not hasattr(lw, "nothing")


@pytest.mark.parametrize("name", other_names.PARAMETERS)
def test_parameters_of_other_libraries_get_a_hint(name):
    """Operations refuse another library's name for a parameter; the error names ours if the operation has one."""
    candidates = other_names.PARAMETERS[name].split()
    found = set()
    for operation in operations.names():
        own = operations.arguments(operation)
        assert name not in own
        if called := [one for one in candidates if one in own]:
            found.update(called)
            with pytest.raises(lw.ArgumentTypeError) as caught:
                getattr(lw, operation)(**{name: 1})
            expected = f"{operation}: there is no parameter '{name}'; it is called {called[0]} here, see help("
            assert str(caught.value).startswith(expected)
    assert found == set(candidates)


def test_unknown_parameters():
    for operation in ("sum", "pad", "full"):
        with pytest.raises(lw.ArgumentTypeError, match=rf"^{operation}: there is no parameter 'nothing'; see help"):
            getattr(lw, operation)([1.0], nothing=1)
