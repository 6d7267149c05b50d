"""Tests the landing page in Chromium: a whole run of the benchmark, what it shares, and its faults."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import distribution
import pyodide_runner
import pytest
from accessibility import serious
from landing import LandingPage
from served import serving

from wasm import releases

WORKS = ("matmul-256", "matmul-512", "exp", "softmax", "digits")
CONTESTANTS = ("numpy", "simd128", "relaxed_simd", "wgpu")
SIZES = ({"width": 390, "height": 844}, {"width": 1280, "height": 800})
CLIPBOARD = ["clipboard-read", "clipboard-write"]
# The focused element: its id, label or text, and whether it is on the screen, within the page's width, with an outline
FOCUS = """() => {
    const element = document.activeElement;
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const inside = left >= 0 && right <= innerWidth && top < innerHeight && bottom > 0;
    const name = element.id || element.getAttribute("aria-label") || element.textContent.trim();
    return [element === document.body ? null : name, inside && getComputedStyle(element).outlineStyle !== "none"];
}"""
NO_SSE4 = "--no-enable-sse4-1"  # V8 has no SIMD on such a processor


def copied(visit, button):
    visit.page.click(button)
    visit.page.wait_for_function("document.querySelector('#copied').textContent.endsWith('copied.')")
    return visit.page.evaluate("navigator.clipboard.readText()")


@pytest.fixture(scope="module")
def benchmark(browser, address):
    """A page in which the benchmark has run to its end on every backend. Tests do not change it."""
    with closing(LandingPage(browser.new_context(permissions=CLIPBOARD), address)) as opened:
        opened.open()
        opened.finish()
        yield opened


@pytest.fixture
def visit(plain_browser, address):
    """A new page, in Chromium without WebGPU."""
    with closing(LandingPage(plain_browser.new_context(permissions=CLIPBOARD), address)) as opened:
        yield opened


@pytest.fixture(scope="module")
def report(benchmark):
    return json.loads(copied(benchmark, "#copy-json"))


@pytest.mark.parametrize("version", sorted(releases.DISTRIBUTIONS))
def test_the_wheel_that_the_page_shows_installs_in_every_pyodide(visit, version):
    visit.open()
    visit.page.wait_for_function("document.querySelector('#install-wheel').textContent.endsWith('.whl')")
    url = visit.page.inner_text("#install-wheel").removeprefix("%pip install ")
    pyodide, program = releases.fetch(version), Path(pyodide_runner.__file__).parent / "programs" / "install.py"
    packages = pyodide_runner.installer(pyodide)
    assert pyodide_runner.run(pyodide, program, packages=packages, environment={"SOURCE": url}) == [11.0, 22.0]


def test_every_work_is_measured_on_every_contestant(report):
    assert report["complete"] and report["missing"] == {}
    assert {work: set(outcomes) for work, outcomes in report["results"].items()} == {
        work: set(CONTESTANTS) for work in WORKS
    }
    assert all(each["nanoseconds"] > 0 for outcomes in report["results"].values() for each in outcomes.values())


def test_the_answers_agree(report):
    judged = {
        (work, contestant): outcome["agrees"]
        for work, outcomes in report["results"].items()
        for contestant, outcome in outcomes.items()
        if contestant != "numpy"
    }
    assert len(judged) == 15
    assert all(judged.values()), judged


def test_there_are_no_workers_without_isolation(benchmark, report):
    assert report["workers"] == 0
    assert benchmark.page.locator("g.workers").count() == 0
    assert "workers" not in benchmark.page.inner_text("#facts")


def test_workers_have_a_bar_on_an_isolated_page(plain_browser, site, address):
    """Only for matrix products, and also where a link shows the result."""
    with (
        serving(site, isolated=True) as isolated,
        closing(LandingPage(plain_browser.new_context(), isolated)) as page,
    ):
        page.open()
        assert page.page.locator("g.workers").count() == 0
        page.start()
        for work in WORKS[:2]:
            assert page.measured(work) == len(CONTESTANTS)  # workers, and no WebGPU
        name = f"{min(4, page.page.evaluate('navigator.hardwareConcurrency'))} workers"
        assert page.page.text_content("figure[data-work='matmul-512'] g.workers .name") == name
        assert f"{name[0]} of them share" in page.page.inner_text("#facts")
        assert page.page.locator("g.workers").count() == 2
        page.page.click("#run")
        assert "was stopped" in page.problem() and page.idle()
        fragment = page.page.evaluate("location.hash")
        results = page.page.evaluate(
            """async () => (await import("./results.mjs")).fromFragment(location.hash).results"""
        )
        assert [results[work]["workers"]["agrees"] for work in WORKS[:2]] == [True, True]
        assert page.errors == [] and page.foreign == []
        shown = page.page.text_content("#charts")
    with closing(LandingPage(plain_browser.new_context(), address)) as other:
        other.open(fragment)
        assert other.page.text_content("#charts") == shown
        other.open("?again")
        assert other.page.locator("g.workers").count() == 0


def test_simd_is_ahead_of_numpy(report):
    """By more than ten times; only the order is asserted."""
    outcomes = report["results"]["matmul-512"]
    assert outcomes["simd128"]["nanoseconds"] < outcomes["numpy"]["nanoseconds"]


def test_the_report_names_the_machine(benchmark, report):
    assert report["browser"].startswith("Chromium")
    assert report["logicalProcessors"] == benchmark.page.evaluate("navigator.hardwareConcurrency")
    assert report["adapter"]["software"] is True
    assert report["userAgent"] == benchmark.page.evaluate("navigator.userAgent")
    assert report["numpy"] and report["lanewise"] and report["pyodide"] == distribution.VERSION


def test_software_adapters_are_said_to_be_software(benchmark):
    assert "software adapter" in benchmark.page.inner_text("#facts")
    assert "WebGPU (CPU)" in benchmark.page.inner_text("figure[data-work='exp']")


def test_bars_are_in_proportion_to_speed(benchmark, report):
    """The fastest contestant's bar is the longest, and the other bars have their shares of it."""
    for work, outcomes in report["results"].items():
        widths = benchmark.page.eval_on_selector_all(
            f"figure[data-work='{work}'] .bar", "bars => bars.map((bar) => parseFloat(bar.style.width))"
        )
        times = [outcomes[contestant]["nanoseconds"] for contestant in CONTESTANTS]
        for width, time in zip(widths, times, strict=True):
            assert width == pytest.approx(max(2, max(widths) * min(times) / time), abs=0.2)


def test_ratios_compare_with_numpy(benchmark, report):
    outcomes = report["results"]["matmul-512"]
    shown = benchmark.page.locator("figure[data-work='matmul-512'] g.simd128 .ratio").text_content()
    expected = outcomes["numpy"]["nanoseconds"] / outcomes["simd128"]["nanoseconds"]
    assert float(shown.rstrip("\N{MULTIPLICATION SIGN}")) == pytest.approx(expected, rel=0.06)
    assert shown in benchmark.page.get_attribute("figure[data-work='matmul-512'] svg", "aria-label")


def test_nothing_leaves_the_origin(benchmark):
    assert benchmark.errors == []
    assert benchmark.foreign == []
    assert benchmark.idle()


def test_a_link_shows_the_result(benchmark, report, browser, address):
    link = copied(benchmark, "#copy-link")
    assert link == benchmark.page.url
    with closing(LandingPage(browser.new_context(permissions=CLIPBOARD), address)) as other:
        other.open(link.removeprefix(address))
        status = other.page.inner_text("#status")
        assert "A result from a link" in status and "stopped" not in status
        again = json.loads(copied(other, "#copy-json"))
        assert copied(other, "#copy-link") == link
        assert [other.page.text_content(f"figure[data-work='{work}']") for work in WORKS] == [
            benchmark.page.text_content(f"figure[data-work='{work}']") for work in WORKS
        ]
        assert other.errors == []
    assert again.keys() == report.keys() - {"userAgent"}
    for name in again.keys() - {"results"}:
        assert again[name] == report[name]
    for work, outcomes in report["results"].items():
        for contestant, outcome in outcomes.items():
            read = again["results"][work][contestant]
            assert read.pop("nanoseconds") == outcome.pop("nanoseconds")
            assert read == outcome


@pytest.mark.parametrize(
    "damage",
    [
        lambda link: link[:-40],
        lambda link: link.replace("=", "=A"),
        lambda link: link + "!",
        lambda link: link.swapcase().replace("#RESULT", "#result"),
    ],
)
def test_a_damaged_link_is_reported(benchmark, visit, damage):
    visit.open(damage(benchmark.page.evaluate("location.hash")))
    assert "This link is damaged" in visit.problem()
    assert visit.page.inner_text("#run") == "Run the benchmark"
    assert visit.errors == []


def test_a_damaged_link_replaces_a_result(benchmark, visit):
    visit.open(benchmark.page.evaluate("location.hash"))
    visit.page.evaluate("location.hash = location.hash.slice(0, -5)")
    assert "This link is damaged" in visit.problem()
    assert visit.page.inner_text("#status") == "Not measured yet."
    assert visit.page.inner_text("#run") == "Run the benchmark"
    assert visit.page.locator("g[data-state='measured']").count() == 0


def test_differing_answers_are_reported(visit):
    """The page trusts the worker's judgment, here that of a link which the page's own function writes."""
    visit.open()
    fragment = visit.page.evaluate(
        """async () => {
            const results = await import("./results.mjs");
            const report = results.newReport(navigator);
            report.lanewise = report.numpy = report.pyodide = "1";
            report.results.exp = { numpy: { nanoseconds: 2e6, error: 0.5, agrees: null },
                                   simd128: { nanoseconds: 1e6, error: 1.5, agrees: false },
                                   wgpu: { failure: "<b>lost</b>" } };
            return results.toFragment(report);
        }"""
    )
    visit.open(fragment)
    figure = visit.page.locator("figure[data-work='exp']")
    assert "The answers of SIMD128 differ" in figure.inner_text()
    assert "2.0\N{MULTIPLICATION SIGN}" in figure.inner_text() and "failed" in figure.inner_text()
    assert "failed: <b>lost</b>" in visit.page.locator("#numbers").text_content()


def test_accessibility(benchmark, browser, address):
    fragment = benchmark.page.evaluate("location.hash")
    found = {}
    for scheme in ("light", "dark"):
        for size in SIZES:
            for state in ("", fragment):
                options = {"color_scheme": scheme, "viewport": size, "reduced_motion": "reduce"}
                with closing(LandingPage(browser.new_context(**options), address)) as other:
                    other.open(state)
                    other.page.evaluate("document.querySelector('details').open = true")
                    found[scheme, size["width"], bool(state)] = serious(other.page)
    assert {view: problems for view, problems in found.items() if problems} == {}


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_is_wider_than_the_page(benchmark, browser, address, width):
    with closing(LandingPage(browser.new_context(viewport={"width": width, "height": 800}), address)) as other:
        for state in ("", benchmark.page.evaluate("location.hash")):
            other.open(state)
            assert other.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [320, 390])
def test_the_title_of_a_chart_and_its_unit_fit_into_a_line(browser, address, width):
    with closing(LandingPage(browser.new_context(viewport={"width": width, "height": 800}), address)) as other:
        other.open()
        lines = other.page.eval_on_selector_all(
            "figcaption strong",
            "(titles) => titles.map((each) => each.offsetHeight / parseFloat(getComputedStyle(each).lineHeight))",
        )
        assert len(lines) == len(WORKS) and max(lines) < 1.5


def test_the_keyboard_reaches_everything_on_a_narrow_page(benchmark, browser, address):
    """In the order of the page, with a visible focus. The table opens, and scrolls sideways."""
    context = browser.new_context(viewport={"width": 320, "height": 640}, reduced_motion="reduce")
    with closing(LandingPage(context, address)) as other:
        other.open(benchmark.page.evaluate("location.hash"))
        reached = []
        while True:
            other.page.keyboard.press("Tab")
            name, visible = other.page.evaluate(FOCUS)
            if name is None:
                break
            assert visible, name
            reached.append(name)
            if name == "All numbers":
                other.page.keyboard.press("Enter")
        assert reached == [
            "Skip to content",
            "Lanewise",
            "Notebooks",
            "Reference",
            "measure",
            "Open a notebook",
            "run",
            "copy-link",
            "copy-json",
            "All numbers",
            "Table of all numbers",
        ]
        other.page.focus(".scroll")
        other.page.keyboard.press("ArrowRight")
        other.page.wait_for_function("document.querySelector('.scroll').scrollLeft > 0")


def test_the_source_link_is_hidden_until_its_address_is_known(visit, site):
    visit.open()
    assert not visit.page.is_visible("#source")
    config = {**json.loads((site / "config.json").read_text()), "source": "https://example.org/source"}
    visit.context.route("**/config.json", lambda route: route.fulfill(json=config))
    visit.open("?again")
    visit.page.wait_for_selector("#source:not([hidden])")
    assert visit.page.get_attribute("#source", "href") == config["source"]


def test_without_javascript(plain_browser, address, site):
    with closing(LandingPage(plain_browser.new_context(java_script_enabled=False), address)) as other:
        other.page.goto(address)
        assert "needs JavaScript" in other.page.inner_text("noscript")
        assert not other.page.is_visible("#source")
        assert (site / other.page.get_attribute("noscript a", "href")).is_file()


@pytest.mark.parametrize(
    ("preference", "duration", "animation"), [("reduce", "0s", "none"), ("no-preference", "0.45s", "pulse")]
)
def test_reduced_motion(browser, address, preference, duration, animation):
    with closing(LandingPage(browser.new_context(reduced_motion=preference), address)) as other:
        other.open()
        assert other.page.evaluate("getComputedStyle(document.querySelector('.bar')).transitionDuration") == duration
        other.page.evaluate("document.querySelector('#steps li').setAttribute('aria-current', 'step')")
        dot = "getComputedStyle(document.querySelector('#steps li'), '::before').animationName"
        assert other.page.evaluate(dot) == animation


def test_the_keyboard_starts_and_stops_it(visit):
    visit.open()
    visit.page.focus("#run")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_function("document.querySelector('#run').textContent === 'Stop'")
    assert visit.page.evaluate("document.activeElement.id") == "run"
    visit.page.wait_for_selector("#steps li[aria-current]")
    visit.page.keyboard.press("Enter")
    assert "was stopped" in visit.problem() and "Nothing had been measured" in visit.problem()
    assert visit.page.inner_text("#run") == "Try again"
    assert visit.idle()


def test_without_webgpu(visit):
    """The page gives the reason, says what to do, and measures the rest. Stopping keeps what has been measured, and a
    reload of the page shows it as the result of a measurement that was stopped."""
    visit.open()
    visit.start()
    assert visit.measured() == 3
    facts = visit.page.inner_text("#facts")
    assert "WebGPU: not in this browser" in facts and "chrome://gpu" in facts and "Use a current Chromium" in facts
    assert "not available" in visit.page.text_content("figure[data-work='matmul-256'] g.wgpu")
    visit.page.click("#run")
    assert "was stopped" in visit.problem()
    assert visit.page.is_visible("#copy-link")
    bars = visit.page.locator("g[data-state='measured']").count()
    visit.page.reload()
    assert "The measurement was stopped before its end." in visit.page.inner_text("#status")
    assert visit.page.locator("g[data-state='measured']").count() == bars >= 3
    assert visit.page.is_visible("#copy-link")
    assert visit.errors == [] and visit.foreign == []


def test_a_new_run_clears_what_was_copied(benchmark, visit):
    visit.open(benchmark.page.evaluate("location.hash"))
    copied(visit, "#copy-link")
    visit.start()
    assert visit.page.text_content("#copied") == ""


def test_without_simd(driver, address):
    with closing(driver.launch([NO_SSE4])) as launched:
        visit = LandingPage(launched.browser.new_context(), address)
        visit.open()
        visit.start()
        assert "expected a WebAssembly engine with SIMD128" in visit.problem()
        assert visit.page.inner_text("#run") == "Try again" and visit.idle()


# What the page downloads, in this order, and what it says if that fails
DOWNLOADS = (
    ("**/config.json", "settings could not be loaded"),
    ("**/worker.mjs", "worker stopped"),
    ("**/pyodide.asm.wasm", "Loading Python failed"),
    ("**/numpy*.whl", "Loading NumPy failed"),
    ("**/lanewise*.whl", "Loading Lanewise failed"),
    ("**/bench.py", "failed"),
)


def test_a_failed_download(visit):
    """The page says what failed, without a connection and without the file. The next try gets further, and the last one
    succeeds."""
    visit.open()
    for pattern, said in DOWNLOADS:
        for fail in (lambda route: route.abort(), lambda route: route.fulfill(status=404, body="not found")):
            visit.context.route(pattern, fail)
            visit.start()
            assert said in visit.problem()
            assert "try again" in visit.page.inner_text("#problem")
            assert visit.page.inner_text("#run") == "Try again" and visit.idle()
            visit.context.unroute(pattern)
    visit.start()
    visit.page.wait_for_selector("g[data-state='measured']", state="attached")
    assert not visit.page.is_visible("#problem")


def worker(visit, source):
    visit.context.route("**/worker.mjs", lambda route: route.fulfill(content_type="text/javascript", body=source))


def test_a_worker_that_dies(visit):
    worker(
        visit, "postMessage({type: 'step', step: 'numpy'}); setTimeout(() => { throw new Error('out of memory'); });"
    )
    visit.open()
    visit.start()
    assert "worker stopped: Uncaught Error: out of memory" in visit.problem()
    assert visit.page.inner_text("#run") == "Try again"


def test_a_worker_that_falls_silent(visit):
    worker(visit, "postMessage({type: 'step', step: 'numpy'});")
    visit.page.clock.install()
    visit.open()
    visit.start()
    visit.page.wait_for_selector("#steps li[aria-current][data-step='numpy']")
    assert 0 < visit.page.evaluate("document.querySelector('#progress').value") < 0.1
    visit.page.clock.fast_forward(120_000)
    assert "has not answered for 90 seconds" in visit.problem()
    assert visit.page.inner_text("#run") == "Try again" and visit.idle()


def test_without_a_clipboard(benchmark, visit):
    """The page selects the text, so that the visitor can copy it."""
    visit.page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    visit.open(benchmark.page.evaluate("location.hash"))
    visit.page.click("#copy-link")
    visit.page.wait_for_selector("#manual:not([hidden])")
    assert visit.page.evaluate("document.activeElement.id") == "manual-text"
    assert visit.page.evaluate("getSelection().toString()") == benchmark.page.url
    assert "copied" not in visit.page.inner_text("#copied")
    visit.start()
    assert not visit.page.is_visible("#manual")


def test_leaving_the_page(visit):
    """The page ends the worker. If the browser shows the same page again, it says so; a new page can start again."""
    visit.open()
    visit.start()
    visit.page.wait_for_selector("#steps li[aria-current]")
    visit.page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
    assert "because you left the page" in visit.problem() and visit.idle()
    visit.start()
    visit.page.wait_for_selector("#steps li[aria-current]")
    visit.page.goto(visit.address + "icon.svg")
    assert visit.idle()
    visit.page.go_back()
    visit.page.wait_for_function(
        "['Run the benchmark', 'Try again'].includes(document.querySelector('#run').textContent)"
    )
    visit.start()
    visit.page.wait_for_function("document.querySelector('#run').textContent === 'Stop'")
