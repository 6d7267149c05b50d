"""Measures the cells of a surface in a page in Chromium: `python -m tests.bench surface --browser`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tests.bench.browser import chromium_page, command
from tests.bench.settings import Settings
from tests.bench.surface import cells
from tests.bench.surface.judge import Outcome
from tests.bench.surface.measure import Place, failed

PEERS = ("numpy", "scipy")


@contextmanager
def opened(seed: int, kinds: Sequence[str], settings: Settings) -> Iterator[Place]:
    """Opens the page. A cell that ends it, because it traps or exhausts the memory, fails; then the page is loaded
    again."""
    chromium_page.require()
    served = command.served(settings, set(PEERS))
    with chromium_page.opened(served.folders) as page:

        def start() -> str:
            page.load()
            about = command.start(page, served, PEERS, 1)
            return f"one thread: lanewise {about['lanewise']} on {about['default']}; {'; '.join(about['python'])}"

        def measure(number: int) -> Outcome:
            try:
                return Outcome(**page.ask("cell", {"seed": seed, "number": number, "kinds": kinds}))
            except chromium_page.PageError as error:
                start()
                return failed(cells.cell(seed, number, kinds, cells.IN_PAGE), error)

        yield Place("browser", "--browser", command.heading(start(), "medians"), measure)
