"""Sphinx's configuration of the reference. render.py runs Sphinx on the folder that sphinx_sources.py writes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # for highlighting.py

project = "Lanewise"
author = "The Lanewise authors"
version = release = (HERE.parents[1] / "lanewise" / "_version.py").read_text(encoding="utf-8").split('"')[1]
language = "en"

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns: list[str] = []
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4  # GitHub's anchors, so that links to a section work here and there
smartquotes = False
python_maximum_signature_line_length = 88
toc_object_entries = False

html_theme = "furo"
html_title = f"Lanewise {version}"
html_static_path = ["static"]
html_css_files = ["reference.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_use_index = False
html_domain_indices = False
pygments_style = "highlighting.Light"
pygments_dark_style = "highlighting.Dark"


def _colors(accent: str, ink: str, faint: str, line: str, raised: str, paper: str) -> dict[str, str]:
    """Returns furo's variables for a scheme with one accent and one ramp of neutrals, those of the landing page."""
    return {
        "color-brand-primary": accent,
        "color-brand-content": accent,
        "color-brand-visited": accent,
        "color-problematic": ink,
        "color-foreground-primary": ink,
        "color-foreground-secondary": faint,
        "color-foreground-muted": faint,
        "color-foreground-border": faint,
        "color-background-primary": paper,
        "color-background-secondary": raised,
        "color-background-hover": raised,
        "color-background-hover--transparent": "transparent",
        "color-background-border": line,
        "color-background-item": line,
        "color-sidebar-background": paper,
        "color-sidebar-link-text--top-level": ink,
        "color-sidebar-item-background--current": raised,
        "color-api-background": raised,
        "color-api-name": accent,
        "color-api-pre-name": faint,
        "color-highlight-on-target": raised,
        "color-highlighted-background": line,
        "color-inline-code-background": raised,
        "color-link-underline": line,
        "color-table-header-background": paper,
        "color-table-border": line,
        "font-stack": FONTS,
        "font-stack--headings": FONTS,
        "font-stack--monospace": "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace",
    }


FONTS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
html_theme_options = {
    "navigation_with_keys": False,
    "light_css_variables": _colors("#0b7a75", "#1f2328", "#59636e", "#d5dae0", "#f4f6f8", "#ffffff"),
    "dark_css_variables": _colors("#2dd4bf", "#f0f6fc", "#9ea7b1", "#30363d", "#161b22", "#0d1117"),
}


def setup(app: Any) -> None:
    """Registers _collapse_navigation before furo's handler, which has the priority 500."""
    app.connect("html-page-context", _collapse_navigation, priority=400)


def _collapse_navigation(app: Any, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Makes the navigation list only the operations of the page's own kind. With all of them, pages would be twice as
    large, and building them would take twice as long."""
    if toctree := context.get("toctree"):
        context["toctree"] = lambda **options: toctree(**options | {"collapse": True})
