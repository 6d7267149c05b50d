"""Tests the choice of a backend: at import, for a block, for the process, for a tensor."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

import lanewise as lw
from lanewise.backends import registry

AVAILABLE = [info.name for info in lw.backends() if info.available]
DEFAULT = lw.ones(1).backend
HOSTS = [backend for backend in AVAILABLE if not backend.is_gpu]
MISSING = [info.name for info in lw.backends() if not info.available]


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs code in a new process; of the LANEWISE_ variables, it inherits only those in `kept`."""
    kept = ("LANEWISE_CACHE_DIR", "LANEWISE_HIDE")  # the cache folder of the tests has no calibration
    clean = {name: value for name, value in os.environ.items() if name in kept or not name.startswith("LANEWISE_")}
    return subprocess.run(
        [sys.executable, "-c", code], env=clean | environment, capture_output=True, text=True, check=False
    )


SHOW = "import lanewise as lw; print(lw.ones(2).backend)"


def test_the_best_cpu_backend_is_the_default():
    assert python(SHOW).stdout.strip() == HOSTS[0]
    assert python(SHOW, LANEWISE_BACKEND="auto").stdout.strip() == HOSTS[0]
    assert python(SHOW, LANEWISE_BACKEND="CPU").stdout.strip() == HOSTS[0]


@pytest.mark.parametrize("backend", HOSTS)
def test_the_environment_names_a_backend(backend):
    assert python(SHOW, LANEWISE_BACKEND=backend.value.upper()).stdout.strip() == backend


@pytest.mark.parametrize("backend", MISSING)
def test_the_environment_names_a_backend_this_machine_lacks(backend):
    done = python(SHOW, LANEWISE_BACKEND=backend.value)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("lanewise.errors.BackendUnavailableError: LANEWISE_BACKEND: ")
    assert f"expected a backend of this machine, got {backend.value}: " in last and "; give one of auto, " in last
    assert HOSTS[0].value in last


def test_the_environment_names_an_unknown_backend():
    done = python(SHOW, LANEWISE_BACKEND="tpu")
    assert "LANEWISE_BACKEND: expected a backend, got 'tpu'; give one of auto, " in done.stderr


def test_an_import_that_failed_can_be_repeated():
    code = f"""
import os
for name in ("tpu", "tpu", "scalar"):
    os.environ["LANEWISE_BACKEND"] = name
    try:
        {SHOW}
    except RuntimeError as error:
        print(error)
"""
    *errors, shown = python(code).stdout.splitlines()
    assert len(errors) == 2 and all("expected a backend, got 'tpu'" in error for error in errors)
    assert shown == "scalar"


@pytest.mark.skipif(lw.Backend.WGPU not in AVAILABLE, reason="no WebGPU adapter")
def test_the_environment_names_a_gpu():
    """A CPU backend is open, too, for what GPUs leave to the CPU."""
    code = "import lanewise as lw; x = lw.asarray([3.0, 1.0]); print(x.to('cpu').backend, lw.sort(x).tolist())"
    assert python(code, LANEWISE_BACKEND="wgpu").stdout == f"{HOSTS[0]} [1.0, 3.0]\n"


def test_force_cpu():
    code = "import lanewise as lw; print([(i.name.value, i.reason) for i in lw.backends()][:2])"
    done = python(code, LANEWISE_FORCE_CPU="1")
    assert done.stdout.count("LANEWISE_FORCE_CPU keeps GPUs out") == 2
    assert "LANEWISE_FORCE_CPU keeps" not in python(code, LANEWISE_FORCE_CPU="0").stdout


@pytest.mark.skipif(len(HOSTS) == 1, reason="this machine has no instruction set to hide")
def test_hidden_instruction_sets():
    code = """
import lanewise as lw
from lanewise.backends import registry
reasons = {info.name.value: info.reason for info in lw.backends()}
print(*registry.cpu_features(), lw.ones(2).backend, sep="\\n")
print(*(f"{name}: {reason}" for name, reason in reasons.items()), sep="\\n")
lw.init_backend("scalar")
try:
    lw.init_backend(%r)
except lw.BackendUnavailableError as error:
    print(error)
"""
    best = HOSTS[0].value
    done = python(code % best, LANEWISE_HIDE=f" {best.upper()} ,")
    features, _, rest = done.stdout.partition(f"\n{HOSTS[1].value}\n")
    assert rest.count("hidden by LANEWISE_HIDE: ") >= 2, done
    assert f"expected a backend of this machine, got {best}: hidden by LANEWISE_HIDE: " in rest
    assert best not in features.lower().replace("-", "").split("\n")


def test_hiding_an_instruction_set_hides_those_that_need_it():
    names = "info.name.value for info in lw.backends() if info.available and info.type == 'CPU'"
    code = f"import lanewise as lw; print(*({names}))"
    assert python(code, LANEWISE_HIDE="sse2,neon,simd128").stdout.strip() == "scalar"


@pytest.mark.skipif(len(HOSTS) == 1, reason="only scalar runs on this machine")
def test_without_avx_the_default_is_the_backend_before_scalar():
    assert python(SHOW, LANEWISE_HIDE="avx").stdout.strip() == HOSTS[-2]


def test_an_unknown_hidden_name_lists_the_known_ones():
    done = python(SHOW, LANEWISE_HIDE="avx2,avx513")
    assert "ArgumentError: LANEWISE_HIDE: expected names from sse2, avx, avx2, " in done.stderr
    assert done.stderr.strip().endswith("got avx513")


@pytest.mark.parametrize("backend", HOSTS)
def test_a_block_runs_on_a_backend(backend):
    with lw.use_backend(backend) as chosen:
        assert chosen is backend
        made = lw.ones(4) + 1
    assert made.backend is backend and made.tolist() == [2.0] * 4
    assert lw.ones(4).backend is DEFAULT


def test_blocks_nest_and_leave_after_errors():
    first, last = HOSTS[0], HOSTS[-1]
    with lw.use_backend(first):
        with pytest.raises(ZeroDivisionError), lw.use_backend(last):
            assert lw.ones(1).backend is last
            raise ZeroDivisionError
        assert lw.ones(1).backend is first
        with lw.use_backend("auto"):
            assert lw.ones(1).backend is DEFAULT


def test_a_function_runs_on_a_backend():
    @lw.use_backend("scalar")
    def double(x):
        """Twice as much."""
        return x + x, lw.ones(1).backend

    for _ in range(2):
        result, backend = double(lw.asarray([1, 2]))
        assert result.tolist() == [2, 4] and backend is lw.Backend.SCALAR
    assert double.__doc__ == "Twice as much."


def test_a_block_holds_for_its_thread():
    seen = []
    with lw.use_backend("scalar"):
        thread = threading.Thread(target=lambda: seen.append(lw.ones(1).backend))
        thread.start()
        thread.join()
    assert seen == [DEFAULT]


@pytest.mark.parametrize("backend", MISSING)
def test_missing_backends_say_why(backend):
    for call in (lw.use_backend, lw.init_backend, lw.ones(1).to):
        with pytest.raises(lw.BackendUnavailableError, match=f"got {backend.value}: .*; give one of auto, "):
            call(backend)


def test_priority():
    try:
        assert lw.set_backend_priority(["neon", "scalar"]) in (lw.Backend.NEON, lw.Backend.SCALAR)
        assert lw.set_backend_priority([lw.Backend.SCALAR]) is lw.Backend.SCALAR
        assert lw.ones(1).backend is lw.Backend.SCALAR
        assert lw.init_backend() is lw.Backend.SCALAR and lw.best_available_backend() is lw.Backend.SCALAR
        assert lw.set_backend_priority(["wgpu", "cpu"]) in AVAILABLE
    finally:
        lw.set_backend_priority(["auto"])
    assert lw.ones(1).backend is HOSTS[0]


def test_impossible_priorities_change_nothing():
    for wrong, name in (("scalar", "scalar"), (None, "auto"), (3, "auto"), (b"cpu", "auto"), ({"scalar"}, "auto")):
        with pytest.raises(
            lw.ArgumentTypeError, match=rf'expected a list of names in order, got .*; write \["{name}"\]'
        ):
            lw.set_backend_priority(wrong)
    with pytest.raises(lw.ArgumentError, match="empty"):
        lw.set_backend_priority([])
    with pytest.raises(lw.BackendError, match="got 'tpu'"):
        lw.set_backend_priority(["scalar", "tpu"])
    if MISSING:
        with pytest.raises(lw.BackendUnavailableError):
            lw.set_backend_priority([MISSING[0]])
    assert lw.ones(1).backend is DEFAULT


def test_a_priority_whose_backend_does_not_open_changes_nothing(monkeypatch):
    def refuse(backend, device=None):
        raise lw.BackendError("damaged", operation=backend)

    with monkeypatch.context() as patch, pytest.raises(lw.BackendError, match=r"^scalar: damaged"):
        patch.setattr(registry, "ensure_open", refuse)
        lw.set_backend_priority(["scalar"])
    assert lw.ones(1).backend is DEFAULT


def test_results_follow_the_tensors_that_were_placed():
    placed, free = lw.ones(3).to("scalar"), lw.ones(3)
    assert placed.is_committed and not free.is_committed
    for result in (placed + free, free + placed, placed + 1, lw.exp(placed), placed.reshape(3, 1), placed[1:]):
        assert result.backend is lw.Backend.SCALAR and result.is_committed
    assert (free + free).backend is DEFAULT


def test_tensors_on_different_backends_meet_on_the_lower_one():
    if len(HOSTS) < 2:
        pytest.skip("this machine has one CPU backend only")
    high, low = lw.ones(3).to(HOSTS[0]), lw.ones(3).to(HOSTS[-1])
    for result in (high + low, low + high, lw.where(lw.asarray(True), high, low), lw.concat([high, low])):
        assert result.backend is HOSTS[-1]
    with lw.use_backend(HOSTS[0]):
        assert (low + 1).backend is HOSTS[-1]


def test_strict_backends():
    if len(HOSTS) < 2:
        pytest.skip("this machine has one CPU backend only")
    high, low = lw.ones(3).to(HOSTS[0]), lw.ones(3).to(HOSTS[-1])
    with lw.strict_backends():
        for call in (lambda: high + low, lambda: lw.add(high, low), lambda: lw.concat([high, low])):
            with pytest.raises(lw.BackendError, match=f"{HOSTS[-1]}.*to\\(\\)|{HOSTS[0]}.*to\\(\\)"):
                call()
        assert (high + lw.ones(3)).backend is HOSTS[0]
        with lw.strict_backends(False):
            assert (high + low).backend is HOSTS[-1]
    assert (high + low).backend is HOSTS[-1]
    lw.strict_backends()
    try:
        with pytest.raises(lw.BackendError):
            high + low
    finally:
        lw.strict_backends(False)


DEVICE_IS_NAMED = {
    "init_backend": lw.init_backend,
    "init_backend_with_memory_check": lw.init_backend_with_memory_check,
    "use_backend": lw.use_backend,
    "reset": lw.reset,
    "synchronize": lw.synchronize,
    "memory_stats": lw.memory_stats,
    "to": lambda name: lw.ones(2).to(name),
    "to_device": lambda name: lw.ones(2).to_device(name),
    "zeros": lambda name: lw.zeros(2, device=name),
    "asarray": lambda name: lw.asarray([1.0], device=name),
    "ones_like": lambda name: lw.ones_like([1.0], device=name),
    "from_dlpack": lambda name: lw.from_dlpack(lw.ones(2).to("scalar"), device=name),
}


@pytest.mark.parametrize("function", DEVICE_IS_NAMED)
@pytest.mark.parametrize("name", ["wgpu:9", "wgpu:-1", "wgpu:x", "wgpu:", "cuda:1", "tpu", 3, b"wgpu"])
def test_errors_about_a_device_name_the_function(function, name):
    with pytest.raises(lw.LanewiseError) as caught:
        DEVICE_IS_NAMED[function](name)
    kind = lw.BackendError if isinstance(name, str) else lw.ArgumentTypeError
    assert isinstance(caught.value, kind) and caught.value.operation == function
    assert f"got {name if name in ('wgpu:9', 'cuda:1') else repr(name)}" in str(caught.value)


@pytest.mark.parametrize("backend", HOSTS)
def test_every_cpu_backend_gives_the_same_bits(backend):
    x = lw.rand((37, 53), seed=5)
    assert lw.sum(x.to(backend)).tolist() == lw.sum(x).tolist()
    assert (x.to(backend) * 3 - 1).tobytes() == (x * 3 - 1).tobytes()
