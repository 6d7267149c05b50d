"""A peer in a process of its own, for settings that a library reads once, when it is loaded: two of them cannot be
compared within one process. It is timed in turn with the others: a round asks it for so many calls, waits, and is told
how long they took, the way there and back left out.

    python -m tests.bench.peers.elsewhere numpy 1     answers on standard output; Elsewhere starts it
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
    """A peer under another name and other variables of the environment."""

    def __init__(
        self, name: str, peer: str, threads: int, environment: Mapping[str, str], operations: Sequence[str]
    ) -> None:
        """Only these operations: the others do not depend on what the variables say."""
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
        """The case goes there; its loop runs there."""
        if case.operation.name not in self._operations or not self._ask("take", case):
            return None
        return Batch(lambda count: self._ask("run", count), lambda at: self._ask("read", list(at)), timed=True)

    def numbers(self, result: Any, positions: Sequence[int]) -> list[float]:
        """A Batch reads for itself."""
        raise NotImplementedError

    def _ask(self, verb: str, value: object = None) -> Any:
        try:
            pickle.dump((verb, value), self._to)
            self._to.flush()
            failure, answer = pickle.load(self._from)
        except (EOFError, BrokenPipeError):
            raise RuntimeError("its process has ended") from None
        if failure:
            raise RuntimeError(failure)
        return answer


def _stop(process: subprocess.Popen[bytes]) -> None:
    """It ends when nobody can ask any more."""
    assert process.stdin and process.stdout
    with contextlib.suppress(BrokenPipeError):  # it has ended already
        process.stdin.close()
    process.wait()
    process.stdout.close()


class _Server:
    """The other end."""

    def __init__(self, peer: str, threads: int) -> None:
        self._peer = open_peer(peer, threads)
        self._call: Call | None = None
        self._loop: Callable[[int], object] | None = None

    def settings(self, _: object) -> str:
        return self._peer.settings

    def take(self, case: Case) -> bool:
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
    """Answers until there are no more requests."""
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
        except Exception as error:  # for the other process to raise
            answer = (f"{type(error).__name__}: {error}", None)
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer
        serve(sys.argv[1], int(sys.argv[2]), sys.stdin.buffer, answers)
