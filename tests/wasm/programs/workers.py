"""Runs calls on the web workers of lw.init_threads(), and compares their bits with those of one thread. Returns what
happened: the calls that the workers ran, results that differ, warnings and errors."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from typing import Any

import js
from pyodide.code import run_js

import lanewise as lw
from lanewise import _ext
from lanewise.backends import workers

Call = Callable[[], lw.Tensor]

# Returns how many workers have been started and not terminated.
LIVE_WORKERS = run_js("""
    const live = new Set();
    globalThis.Worker = class extends Worker {
        constructor(...rest) {
            super(...rest);
            live.add(this);
        }
        terminate() {
            live.delete(this);
            super.terminate();
        }
    };
    () => live.size;
""")
WEAK_REFERENCE = run_js("(object) => new WeakRef(object)")
COLLECT_GARBAGE = run_js("() => globalThis.gc?.({ type: 'major', execution: 'async' })")  # Chromium with --expose-gc

ran: list[bool] = []  # whether the workers ran a call, for each that was passed to them
run = workers._run


def spy(call: int) -> bool:
    ran.append(run(call))
    return ran[-1]


async def start(count: int) -> None:
    await lw.init_threads(count)
    if count > 1:
        _ext.set_workers(spy, _ext.host_backend(), count)


def bits(tensor: lw.Tensor) -> bytes:
    return bytes(memoryview(tensor))


def numbers(*shape: int) -> lw.Tensor:
    return lw.randn(shape, seed=sum(shape))


def calls() -> dict[str, Call]:
    """Calls that are long enough for workers."""
    a, b = numbers(243, 251), numbers(251, 247)
    x, weight, bias = numbers(260, 300), numbers(310, 300), numbers(310)
    images, kernels = numbers(2, 24, 61, 59), numbers(32, 12, 3, 3)
    query, key, mask = numbers(2, 6, 131, 40), numbers(2, 2, 137, 40), numbers(131, 137)
    out = lw.zeros((243, 247))
    return {
        "odd sizes": lambda: a @ b,
        "out": lambda: lw.matmul(a, b, out=out),
        "transposed": lambda: numbers(251, 243).T @ numbers(247, 251).T,
        "strided": lambda: numbers(520, 530)[::-2, 3:523:2] @ numbers(2, 260, 259)[1, ::-1, :],
        "batched": lambda: numbers(3, 1, 130, 140) @ numbers(2, 140, 127),
        "few rows": lambda: numbers(20, 1500) @ numbers(1500, 1100),
        "few columns": lambda: numbers(3000, 640) @ numbers(640, 25),
        "k": lambda: numbers(40, 40000) @ numbers(40000, 40),
        "int32": lambda: lw.astype(numbers(300, 301) * 99, "int32") @ lw.astype(numbers(301, 299) * 99, "int32"),
        "bias and activation": lambda: lw.linear(x, weight, bias, activation="gelu"),
        "conv2d": lambda: lw.conv2d(images, kernels, numbers(32), padding=(1, 2), groups=2),
        "conv2d of one image": lambda: lw.conv2d(
            lw.permute_dims(numbers(59, 61, 33), (2, 1, 0)), numbers(24, 33, 3, 3), stride=(1, 2), dilation=2
        ),
        "attention": lambda: lw.scaled_dot_product_attention(query, query, query, is_causal=True),
        "attention with a mask": lambda: lw.scaled_dot_product_attention(query, key, key, mask > 0, enable_gqa=True),
        "attention with a mask of floats": lambda: lw.scaled_dot_product_attention(query, query, query, mask[:, :131]),
    }


def others() -> dict[str, Call]:
    """Calls that stay on the calling thread."""
    a, row = numbers(256, 256), numbers(4096)
    matrix = numbers(1700, 4096)

    def on_another_backend() -> lw.Tensor:
        with lw.use_backend("simd128"):
            return a @ a

    return {
        "short": lambda: a[:60, :60] @ a[:60, :60],
        "copies take longer": lambda: matrix @ row,
        "elementwise": lambda: lw.exp(matrix),
        "pooling": lambda: lw.max_pool2d(numbers(4, 64, 64, 64), 3),
        "another backend": on_another_backend,
    }


async def differences(count: int, expected: dict[str, bytes]) -> list[str]:
    """Runs all calls on `count` threads. Returns the names of those that differ, or ran where they should not. Adds the
    bits of calls that are not yet in `expected`."""
    await start(count)
    wrong = []
    for each, runs in ((calls(), [True] * (count > 1)), (others(), [])):
        for name, call in each.items():
            ran.clear()
            found = bits(call())
            if found != expected.setdefault(name, found) or ran != runs:
                wrong.append(f"{name}: {ran}")
    return wrong


def refusal(call: Callable[[], Any]) -> str:
    try:
        call()
    except lw.LanewiseError as error:
        return f"{type(error).__name__}: {error}"
    return "accepted"


async def results() -> dict[str, Any]:
    found: dict[str, Any] = {"different": {}}
    expected: dict[str, bytes] = {}  # by one thread, which is the first count
    for count in (1, 2, 3):
        found["different"][str(count)] = await differences(count, expected)
        found[f"{count} threads"] = lw.get_num_threads()
    found["kept"] = refusal(lambda: lw.set_num_threads(3))
    found["refused"] = refusal(lambda: lw.set_num_threads(2))
    found["bad"] = [refusal(lambda n=n: lw.init_threads(n)) for n in (0, -1, 65, 1 << 70, True, 2.0, None)]
    found["growth"] = await growth()
    found["too large"] = await too_large()
    found["interrupted"] = await interrupted()
    found["other task"] = [await other_task(is_late=late) for late in (False, True)]
    found["lost"] = [await lost(during_call=False), await lost(during_call=True)]
    found["ended"] = await ended()
    return found


async def growth() -> list[bool]:
    """Calls before each of which Pyodide's memory grows, and during which that of the workers grows."""
    squares = [numbers(size, size) for size in (300, 700, 1100)]
    lw.set_num_threads(1)
    expected = [bits(a @ a) for a in squares]
    await start(2)
    same, kept = [], []
    for a, product in zip(squares, expected, strict=True):
        kept.append(lw.zeros((50 << 18,)))
        ran.clear()
        same.append(bits(a @ a) == product and ran == [True])
    return same


async def too_large() -> list[Any]:
    """Calls for which the memory of the workers is too small: for the operands, then for a kernel's scratch."""
    a = numbers(1024, 1024)
    lw.set_num_threads(1)
    expected = bits(a @ a)
    before = workers.MAX_PAGES
    found: list[Any] = []
    for pages in (90, 33 + 3 * 64 + 2):
        workers.MAX_PAGES = pages
        await start(2)
        ran.clear()
        found.append([bits(a @ a) == expected, ran[:], lw.get_num_threads()])
    workers.MAX_PAGES = before
    return found


class Answers:
    """Stands in for pyodide_js in workers.py."""

    def __init__(self, check: Callable[[], None]) -> None:
        self.checkInterrupt = check


def raise_interrupt() -> None:
    raise KeyboardInterrupt


async def interrupted() -> list[Any]:
    a = numbers(1900, 1900)
    lw.set_num_threads(1)
    expected = bits(a[:400, :400] @ a[:400])
    await start(2)
    before, workers.pyodide_js = workers.pyodide_js, Answers(raise_interrupt)
    found: list[Any] = []
    try:
        a @ a @ a
        found.append("no interrupt")
    except KeyboardInterrupt:
        found.append("KeyboardInterrupt")
    finally:
        workers.pyodide_js = before
    found.append(bits(a[:400, :400] @ a[:400]) == expected)  # while the workers end their tasks
    await asyncio.sleep(0.5)
    ran.clear()
    found.append(bits(a[:400, :400] @ a[:400]) == expected and ran[:])
    return found


# Waits until DONE of workers.js is CALL: until the workers have nothing to do.
WAIT_FOR_WORKERS = run_js("""(memory) => {
    const control = new Int32Array(memory.buffer);
    const end = performance.now() + 10000;
    while (Atomics.load(control, 16) !== Atomics.load(control, 0) && performance.now() < end);
}""")


async def other_task(*, is_late: bool) -> bool:
    """A task that multiplies while Python is suspended in another call, which has ended by then if the task is late."""
    a, b = numbers(1200, 1200), numbers(300, 300)
    lw.set_num_threads(1)
    expected = [bits(a @ a), bits(b @ b)]
    await start(2)
    memory = workers._pool.memory

    async def other() -> bytes:
        if is_late:
            WAIT_FOR_WORKERS(memory)
        return bits(b @ b)

    task = asyncio.ensure_future(other())
    return [bits(a @ a), await task] == expected


# Makes RUN of workers.js count another worker for ever, as if that had ended during a task.
END_IN_A_TASK = run_js("""(memory) => {
    const control = new Int32Array(memory.buffer);
    for (;;) {
        const run = Atomics.load(control, 32);
        if (!(run & 128) && Atomics.compareExchange(control, 32, run, run + 1) === run) {
            return;
        }
    }
}""")


async def lost(*, during_call: bool) -> list[Any]:
    """Ends a worker. Returns whether the results are right, warnings, and the number of threads afterwards."""
    size = 1900 if during_call else 400  # long enough for a check for Ctrl-C
    a = numbers(size, size)
    lw.set_num_threads(1)
    expected = bits(a @ a)
    await start(2)
    pool, before = workers._pool, workers.pyodide_js
    if during_call:
        ends = iter([END_IN_A_TASK])
        workers.pyodide_js = Answers(lambda: next(ends, id)(pool.memory))
    else:
        pool.workers[0].terminate()
        await asyncio.sleep(3)  # Chromium lets a worker go on for 2 s
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        same = [bits(a @ a) == expected for _ in range(2)]
    workers.pyodide_js = before
    return [same, [f"{each.category.__name__}: {each.message}" for each in warned], lw.get_num_threads()]


async def ended() -> list[Any]:
    """Ends the workers. Returns the number of threads, the numbers of workers before and afterwards, and whether their
    memory was freed; None if the browser has no function that collects garbage."""
    a = numbers(400, 400)
    await start(3)
    a @ a
    memory = WEAK_REFERENCE(workers._pool.memory)
    live = [LIVE_WORKERS()]
    lw.set_num_threads(1)
    live.append(LIVE_WORKERS())
    is_freed = None
    for _ in range(20 if hasattr(js, "gc") else 0):  # the first one may find the memory on the stack
        await COLLECT_GARBAGE()
        is_freed = memory.deref() is None
        if is_freed:
            break
    return [lw.get_num_threads(), live, is_freed]


await results() if __name__ == "__main__" else None  # noqa: F704 (Pyodide runs programs with await at the top)
