"""Tests the peers (libraries that the benchmark compares with) that need more than a function: a separate process, or
an existing array to write into."""

import gc
import os

import pytest

import lanewise as lw
from lanewise.costs.timing import Contestant
from lanewise.errors import ArgumentError
from tests.bench import check, peers, runner
from tests.bench.peers import open_peer
from tests.cases.cases import build
from tests.cases.inputs import ITEM_BYTES
from tests.cases.operations import find

np = pytest.importorskip("numpy", reason="it is the peer")
from tests.bench.peers.elsewhere import Elsewhere  # noqa: E402

DOT = build(find("dot"), (1000,))


@pytest.fixture
def elsewhere(monkeypatch):
    monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)  # a user may have set it
    return Elsewhere("other", "numpy", 1, {"OPENBLAS_CORETYPE": "Haswell"}, ("dot", "norm_linf"))


def test_a_peer_in_another_process_has_its_own_environment_and_returns_results(elsewhere):
    assert "OpenBLAS for Haswell" in elsewhere.settings
    assert "OPENBLAS_CORETYPE" not in os.environ
    batch = elsewhere.call(DOT)
    assert batch.timed
    assert batch.run(3) > 0
    assert check.wrong(DOT, [("other", batch.read)]) == ({}, "NumPy in float64")


def test_a_peer_in_another_process_offers_only_its_operations(elsewhere):
    assert elsewhere.call(build(find("add"), (10,))) is None
    assert elsewhere.call(build(find("selu"), (10,))) is None


def test_errors_and_the_end_of_the_other_process_are_raised_here(elsewhere):
    batch = elsewhere.call(DOT)
    with pytest.raises(RuntimeError, match="IndexError"):
        batch.read([5])
    batch.run(1)  # the process still answers the next request
    process = elsewhere._process
    assert process.is_alive()
    process.kill()
    process.join()
    with pytest.raises(RuntimeError, match="the process of the peer has ended"):
        elsewhere.call(DOT)


def test_the_other_process_ends_with_its_peer_object(request):
    peer = Elsewhere("other", "numpy", 1, {}, ("dot",))
    process = peer._process
    del peer
    gc.collect()
    assert process.exitcode == 0


@pytest.mark.parametrize("name", ["add", "fma", "relu", "matmul", "exp"])
def test_numpy_out_writes_into_an_existing_result(name):
    case = build(find(name), (20,))
    peer = open_peer("numpy-out", 1)
    call = peer.call(case)
    contestant = Contestant.calling("numpy-out", call.function, *call.arguments, keywords=call.keywords)
    result = contestant.run()
    assert result is contestant.run() is call.keywords["out"]
    assert check.wrong(case, [("numpy-out", lambda at: peer.numbers(result, at))])[0] == {}

    assert all(peer.call(build(find(name), (20,))) is None for name in ("sum", "softmax", "sigmoid"))  # no ufuncs


def test_numpy_can_be_without_its_kernels_for_avx512():
    if "avx2" not in (info.name for info in lw.backends() if info.available):
        pytest.skip("the processor has no AVX2")
    peer = open_peer("numpy-avx2", 1)
    case = build(find("exp"), (100,), "float64")
    batch = peer.call(case)
    batch.run(1)
    assert check.wrong(case, [("numpy-avx2", batch.read)])[0] == {}
    assert "OpenBLAS for Haswell" in peer.settings


@pytest.mark.parametrize("dtype", ["float16", "uint8", "float64"])
def test_numpy_takes_part_in_the_dtypes_that_it_has(dtype):
    case = build(find("add"), (100,), dtype)
    peer = open_peer("numpy", 1)
    assert check.wrong(case, [("numpy", runner.peer_ready(case, peer).read)])[0] == {}
    assert peer.call(build(find("add"), (100,), "bfloat16")) is None


def test_pytorch_has_no_column_where_it_lacks_a_dtype():
    pytest.importorskip("torch", reason="it is the peer")
    peer = open_peer("torch", 1)
    for dtype in ITEM_BYTES:
        case = build(find("where"), (100,), dtype)
        assert check.wrong(case, [("torch", runner.peer_ready(case, peer).read)])[0] == {}
    with pytest.raises(runner.NotTimedError, match=runner.NO_SUCH_OPERATION):
        runner.peer_ready(build(find("minimum"), (100,), "uint32"), peer)


def test_kernels_that_the_processor_lacks_are_refused(monkeypatch):
    monkeypatch.setattr(peers.lw, "backends", list)
    assert "numpy-skylakex" not in peers.installed()
    with pytest.raises(ArgumentError, match="numpy-skylakex is for processors with AVX-512"):
        open_peer("numpy-skylakex", 1)


def test_pytorch_runs_in_inference_mode_until_the_peer_is_freed():
    torch = pytest.importorskip("torch", reason="it is the peer")
    peer = open_peer("torch", torch.get_num_threads())
    assert torch.is_inference_mode_enabled()
    del peer
    assert not torch.is_inference_mode_enabled()
