"""Tests that a page that does not boot is opened once more, and that this is recorded for the summary of run.py."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import support
from served import serving
from visit import Visit

if TYPE_CHECKING:
    import playwright.sync_api as playwright

HANGS = "() => new Promise(() => {})"
HANGS_ONCE = """async () => {
    if (sessionStorage.getItem("opened") === null) {
        sessionStorage.setItem("opened", "once");
        console.error("starting");
        await new Promise(() => {});
    }
}"""


def test_a_page_that_does_not_boot_is_opened_once_more(
    plain_browser: playwright.Browser,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from playwright.sync_api import TimeoutError

    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<!doctype html><title>A page</title><link rel=icon href=data:,>")
    monkeypatch.setattr(support, "REOPENED", tmp_path / "reopened.txt")
    with serving(tmp_path / "site") as address, closing(Visit(plain_browser.new_context(), address)) as visit:
        visit.boot("index.html", [(HANGS_ONCE, None)], seconds=2)
        (line,) = support.reopened()
        assert line.startswith("index.html: ") and "Timeout" in line
        assert visit.errors == [] and "error: starting" in capsys.readouterr().out
        with pytest.raises(TimeoutError):
            visit.boot("index.html", [(HANGS, None)], seconds=1)
        assert len(support.reopened()) == 2
