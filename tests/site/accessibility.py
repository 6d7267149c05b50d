"""Asks axe-core what is wrong with a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import node_packages

if TYPE_CHECKING:
    import playwright.sync_api as playwright

__all__ = ["serious"]

RUN = "(within) => axe.run(within, { resultTypes: ['violations'] }).then(({ violations }) => violations)"


def serious(page: playwright.Page, within: str = "html") -> list[str]:
    """Returns the accessibility problems that axe-core calls serious or critical, with the elements that have them.

    `within` selects the part of the page to look at.
    """
    if page.evaluate("window.axe === undefined"):
        page.evaluate((node_packages.folder() / "axe-core" / "axe.min.js").read_text())
    violations = page.evaluate(RUN, within)
    return [
        f"{each['id']}: {node['html']}"
        for each in violations
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]
