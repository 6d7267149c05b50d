"""Runs the landing page's benchmark in Firefox."""

from __future__ import annotations

import firefox
import pytest

RUN = """async () => {
    const find = (selector) => document.querySelector(selector);
    const until = async (condition) => {
        while (!condition()) {
            await new Promise((resolve) => setTimeout(resolve, 200));
        }
    };
    await until(() => !find("#run").disabled);
    find("#run").click();
    await until(() => /^(Done|Stopped)/.test(find("#status").textContent));
    const { fromFragment, isResult } = await import(new URL("results.mjs", document.baseURI).href);
    return {
        status: find("#status").textContent,
        problem: find("#problem").innerText,
        report: isResult(location.hash) ? fromFragment(location.hash) : null,
        bars: document.querySelectorAll("g[data-state='measured']").length,
    };
}"""


@pytest.fixture(scope="module")
def outcome(address):
    (found,) = firefox.visit(address, [(RUN, None)])
    return found


def test_the_benchmark_completes(outcome):
    assert outcome["status"].startswith("Done"), outcome
    report = outcome["report"]
    assert report["complete"] and report["browser"].startswith("Firefox")
    assert not report["missing"].keys() & {"simd128", "relaxed_simd"}
    assert outcome["bars"] == 5 * (4 - len(report["missing"]))


def test_the_answers_agree(outcome):
    for work, outcomes in outcome["report"]["results"].items():
        judgments = {contestant: each.get("agrees") for contestant, each in outcomes.items()}
        assert judgments.pop("numpy") is None
        assert judgments and all(agrees is True for agrees in judgments.values()), (work, outcomes)


def test_simd_is_ahead_of_numpy(outcome):
    outcomes = outcome["report"]["results"]["matmul-512"]
    assert outcomes["simd128"]["nanoseconds"] < outcomes["numpy"]["nanoseconds"]
