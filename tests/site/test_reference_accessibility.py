"""Tests the reference in Chromium with axe-core: a page of each kind in every view, and the articles of the others."""

from __future__ import annotations

import pytest
from accessibility import serious

SIZES = ({"width": 390, "height": 844}, {"width": 1280, "height": 800})
KINDS = (  # a page of each kind
    "index",
    "search",
    "operations/conv2d",  # its signature has a line for each argument
    "operations/kinds/reduction",
    "api/tensor",
    "api/printing",
    "tables/support",
    "docs/tuning",
    "docs/figures",
    "project/contributing",
)
# Replaces this page's article by that of another page, which takes less time than opening that page. Returns whether an
# element has a new form: tags and classes of it and what it is in, names of attributes, and whether it is empty.
SHOW_ARTICLE = """async (address) => {
    const text = await (await fetch(address)).text();
    const other = new DOMParser().parseFromString(text, "text/html");
    document.querySelector("article").replaceWith(other.querySelector("article"));
    const forms = (window.forms ??= new Set());
    const before = forms.size;
    for (const each of document.querySelectorAll("article *")) {
        const around = [each, each.parentElement, each.parentElement.parentElement];
        const classes = around.map(({ localName, className }) => `${localName} ${className}`);
        const own = [...each.getAttributeNames(), each.getAttribute("role"), each.textContent.trim() === ""];
        forms.add([...classes, ...own].join());
    }
    return forms.size > before;
}"""


@pytest.fixture(scope="module")
def view(browser):
    """Returns a function that returns a page with a color scheme and a size; tests share these pages."""
    opened = {}

    def page_of(scheme, size):
        if (scheme, size["width"]) not in opened:
            context = browser.new_context(color_scheme=scheme, viewport=size, reduced_motion="reduce")
            opened[scheme, size["width"]] = context.new_page()
        return opened[scheme, size["width"]]

    yield page_of
    for page in opened.values():
        page.context.close()


@pytest.mark.parametrize("name", KINDS)
def test_a_page_of_each_kind(name, address, view):
    found = {}
    for scheme in ("light", "dark"):
        for size in SIZES:
            page = view(scheme, size)
            assert page.goto(f"{address}reference/{name}.html").ok
            found[scheme, size["width"]] = serious(page)
    assert {where: problems for where, problems in found.items() if problems} == {}


def test_the_articles_of_all_pages(site, address, view):
    """What is around an article is the same on all pages. Articles whose elements all have the forms of those before
    are not looked at: most operations' pages."""
    page, found = view("light", SIZES[1]), {}
    names = [path.relative_to(site).as_posix() for path in sorted((site / "reference").rglob("*.html"))]
    assert len(names) > 200
    assert page.goto(f"{address}reference/index.html").ok
    for name in names:
        if page.evaluate(SHOW_ARTICLE, address + name):
            found[name] = serious(page, "article")
    assert len(found) > 20
    assert {name: problems for name, problems in found.items() if problems} == {}


def test_a_page_with_problems_is_found(view):
    page = view("light", SIZES[1])
    page.set_content("<html lang=en><title>Title</title><article><dl><dd>1</dd></dl></article><p role=heading>2</p>")
    assert [problem.partition(":")[0] for problem in serious(page)] == ["aria-required-attr", "definition-list"]
    assert [problem.partition(":")[0] for problem in serious(page, "article")] == ["definition-list"]
