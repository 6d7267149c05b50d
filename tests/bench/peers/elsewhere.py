"""Runs a peer (another library) in a separate process, for settings that a library reads only when it is loaded.

In each round, the benchmark asks the separate process to make a number of calls. That process answers with the time
that the calls took, which does not include communication. The class Elsewhere starts that process:

    python -m tests.bench.peers.elsewhere numpy 1     reads requests on standard input, answers on standard output
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import subprocess
import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter_ns
from typing import Any, BinaryIO

from lanewise.timing import Contestant
from tests.bench.cases import Case
from tests.bench.peers import Batch, Call, open_peer


class Elsewhere:
    """A peer in a separate process, under another name and with additional environment variables."""

    def __init__(
        self, name: str, peer: str, threads: int, environment: Mapping[str, str], operations: Sequence[str]
    ) -> None:
        """Starts the process. The peer offers only `operations`: those that `environment` affects."""
        self.name = name
        self._operations = operations
        root = str(Path(__file__).resolve().parents[3])
        path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
        self._process = process = subprocess.Popen(
            [sys.executable, "-m", __name__, peer, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **environment, "PYTHONPATH": path},
        )
        assert process.stdin and process.stdout
        self._to, self._from = process.stdin, process.stdout
        weakref.finalize(self, _stop, process)
        self.settings = f"{name}: {self._ask('settings')}"

    def call(self, case: Case) -> Batch | None:
        """Sends the case to the process. Returns a Batch that runs it there, or None if the operation is missing."""
        if case.operation.name not in self._operations or not self._ask("load", case):
            return None
        return Batch(lambda count: self._ask("run", count), lambda at: self._ask("read", list(at)), timed=True)

    def numbers(self, result: Any, positions: Sequence[int]) -> list[float]:
        """Not used: call() returns a Batch, whose `read` returns the elements of its result."""
        raise NotImplementedError

    def _ask(self, verb: str, value: object = None) -> Any:
        try:
            pickle.dump((verb, value), self._to)
            self._to.flush()
            failure, answer = pickle.load(self._from)
        except (EOFError, BrokenPipeError):
            raise RuntimeError("the process of the peer has ended") from None
        if failure:
            raise RuntimeError(failure)
        return answer


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Closes the standard input of the process, which makes the process exit, and waits for the exit."""
    assert process.stdin and process.stdout
    with contextlib.suppress(BrokenPipeError):  # the process has already ended
        process.stdin.close()
    process.wait()
    process.stdout.close()


class _Server:
    """Answers requests. Runs in the separate process."""

    def __init__(self, peer: str, threads: int) -> None:
        self._peer = open_peer(peer, threads)
        self._call: Call | None = None
        self._loop: Callable[[int], object] | None = None

    def settings(self, _: object) -> str:
        return self._peer.settings

    def load(self, case: Case) -> bool:
        call = self._peer.call(case)
        self._call = call if isinstance(call, Call) else None
        if self._call:
            self._loop = self._contestant(self._call).loop(keep=False)
        return self._call is not None

    def run(self, count: int) -> int:
        assert self._loop
        start = perf_counter_ns()
        self._loop(count)
        return perf_counter_ns() - start

    def read(self, positions: Sequence[int]) -> list[float]:
        assert self._call
        return self._peer.numbers(self._contestant(self._call).run(), positions)

    def _contestant(self, call: Call) -> Contestant:
        return Contestant.calling(self._peer.name, call.function, *call.arguments, keywords=call.keywords)


def serve(peer: str, threads: int, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answers requests until `requests` is closed."""
    server = _Server(peer, threads)
    gc.disable()
    while True:
        try:
            verb, value = pickle.load(requests)
        except EOFError:
            return
        answer: tuple[str | None, Any]
        try:
            answer = (None, getattr(server, verb)(value))
        except Exception as error:  # raised again in the process that sent the request
            answer = (f"{type(error).__name__}: {error}", None)
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # libraries may print: redirect that to standard error
        serve(sys.argv[1], int(sys.argv[2]), sys.stdin.buffer, answers)
