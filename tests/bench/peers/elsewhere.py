"""Runs a contestant in a separate process, for settings that a library reads only when it is loaded.

In each round, the benchmark asks the separate process to make a number of calls. That process answers with the time
that the calls took, which does not include communication.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import weakref
from collections.abc import Mapping, Sequence
from importlib import import_module
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from time import perf_counter_ns
from typing import Any

import lanewise as lw
from lanewise.costs.timing import limit_blas_threads
from tests.bench import runner
from tests.bench.peers import PEERS, Batch, Peer, open_peer
from tests.cases.cases import Case

# OpenBLAS selects kernels by CPU model. On newer AMD processors it selects those for Haswell (AVX2), although
# these processors have AVX-512, and OpenBLAS's kernels for AVX-512 are twice as fast on them.
FOR_AVX512 = {"OPENBLAS_CORETYPE": "SkylakeX"}
PRODUCTS = ("matmul", "matvec", "vecmat", "linear", "dot", "norm_l2", "outer", "conv2d")  # computed by OpenBLAS


def numpy_for_avx512(threads: int) -> Peer:
    """Starts NumPy with OpenBLAS's kernels for AVX-512, even on processors for which OpenBLAS selects others."""
    return Elsewhere("numpy-skylakex", "numpy", threads, FOR_AVX512, PRODUCTS)


def numpy_without_avx512(threads: int) -> Peer:
    """Starts NumPy with the kernels that it and OpenBLAS have for AVX2, even on processors with AVX-512."""
    limit_blas_threads(threads)
    return Elsewhere("numpy-avx2", "numpy", threads, without_avx512())


def without_avx512() -> Mapping[str, str]:
    """Returns the variables with which NumPy and PyTorch, when they are loaded, choose their kernels for AVX2."""
    dispatched = import_module("numpy._core._multiarray_umath").__cpu_dispatch__
    features = " ".join(name for name in dispatched if name.startswith(("AVX512", "X86_V4")))
    of_torch = {"ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2"}
    return {"NPY_DISABLE_CPU_FEATURES": features, "OPENBLAS_CORETYPE": "Haswell", **of_torch}


class Elsewhere(Peer):
    """A peer, or one of Lanewise's backends, in a separate process, under another name and with other variables."""

    def __init__(
        self,
        name: str,
        contestant: str,
        threads: int,
        environment: Mapping[str, str],
        operations: Sequence[str] | None = None,
        how: str = "",
    ) -> None:
        """Starts the process. The peer offers only `operations`, unless that is None: those that `environment` affects.

        `contestant` names a peer, or a backend, on which runner.backend_ready makes the contestant in the way `how`.
        """
        self.name = name
        self._operations = operations
        self._how = how
        spawning = multiprocessing.get_context("spawn")
        self._pipe, theirs = spawning.Pipe()
        self._process = spawning.Process(target=_serve, args=(contestant, threads, theirs), daemon=True)
        before = dict(os.environ)
        os.environ.update(environment)
        try:
            self._process.start()
        finally:
            os.environ.clear()
            os.environ.update(before)
        theirs.close()
        weakref.finalize(self, _stop, self._process, self._pipe)
        self.settings = f"{name}: {self._ask('settings')}"

    def call(self, case: Case) -> Batch | None:
        """Sends the case to the process. Returns a Batch that runs it there, or None if the operation is missing."""
        if self._operations is not None and case.operation.name not in self._operations:
            return None
        if reason := self._ask("load", case, self._how):
            if reason == runner.NO_SUCH_OPERATION:
                return None
            raise RuntimeError(reason)
        return Batch(lambda count: self._ask("run", count), lambda at: self._ask("read", list(at)), timed=True)

    def _ask(self, verb: str, *values: object) -> Any:
        try:
            self._pipe.send((verb, values))
            failure, answer = self._pipe.recv()
        except (EOFError, OSError):
            raise RuntimeError("the process of the peer has ended") from None
        if failure:
            raise RuntimeError(failure)
        return answer


def _stop(process: BaseProcess, pipe: Connection) -> None:
    """Closes the pipe, which makes the process exit, and waits for the exit."""
    pipe.close()
    process.join()


def _serve(contestant: str, threads: int, pipe: Connection) -> None:
    """Answers requests until the pipe is closed. Runs in the separate process."""
    server = _Server(contestant, threads)
    gc.disable()
    with contextlib.suppress(EOFError):
        while True:
            verb, values = pipe.recv()
            try:
                pipe.send(("", getattr(server, verb)(*values)))
            except Exception as error:  # raised again in the process that sent the request
                pipe.send((f"{type(error).__name__}: {error}", None))


class _Server:
    def __init__(self, contestant: str, threads: int) -> None:
        self._backend = contestant
        self._peer = open_peer(contestant, threads) if contestant in PEERS else None
        if not self._peer:
            lw.set_num_threads(threads)

    def settings(self) -> str:
        return self._peer.settings if self._peer else self._backend

    def load(self, case: Case, how: str) -> str:
        """Makes the contestant. Returns why it cannot take part, or an empty string."""
        try:
            if self._peer:
                ready = runner.peer_ready(case, self._peer)
            else:
                ready = runner.backend_ready(case, self._backend, how)
        except runner.NotTimedError as reason:
            return str(reason)
        self.read, self._contestant = ready.read, ready.contestant
        self._loop = ready.contestant.loop(keep=ready.contestant.finish is not None)
        return ""

    def run(self, count: int) -> int:
        with self._contestant.context():
            start = perf_counter_ns()
            result = self._loop(count)
            if self._contestant.finish is not None:
                self._contestant.finish(result)
            return perf_counter_ns() - start
