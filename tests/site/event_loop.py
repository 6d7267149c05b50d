"""Calls functions that start an event loop of their own, even if an event loop of Playwright is running."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

__all__ = ["call_in_thread"]

P = ParamSpec("P")
R = TypeVar("R")


def call_in_thread(function: Callable[P, R], *arguments: P.args, **keywords: P.kwargs) -> R:
    """Calls a function in another thread and returns its result. Playwright keeps an event loop running in the tests'
    own thread, where asyncio.run() fails."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(function, *arguments, **keywords).result()
