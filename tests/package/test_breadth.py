"""Every operation of the list is there, by name, and the names that others have for them lead to something."""

import re
from pathlib import Path

import pytest
import yaml

import lanewise as lw
from lanewise import operations

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
def test_there_is(name):
    assert callable(getattr(lw, name))
    assert getattr(lw, name).__doc__


def test_the_readme_lists_every_operation_once():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = text[text.index("## The operations") : text.index("## The folders")]
    rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
    listed = re.findall(r"`(\w+)`", "\n".join(rows))
    assert sorted(listed) == sorted(operations.names())


def tables():
    return yaml.safe_load(COMING_FROM.read_text(encoding="utf-8"))


def test_the_libraries_that_people_come_from():
    assert list(tables()) == ["numpy", "trueno", "realizar", "torchless", "tensor_frame"]


@pytest.mark.parametrize("library", list(tables()))
def test_every_name_leads_somewhere(library):
    for theirs, ours in tables()[library].items():
        for name in re.findall(r"\blw\.((?:\w+\.)*\w+)", ours):
            owner = lw
            for part in name.split("."):
                owner = getattr(owner, part, None)
                assert owner is not None, (theirs, ours)
        for name in re.findall(r"\b[abvx]\.(\w+)", ours):
            assert hasattr(lw.Tensor, name), (theirs, ours)
