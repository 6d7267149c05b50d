"""Tests what a notebook shows of tensors, of lw.backends() and of errors."""

from __future__ import annotations

import re
from html import escape
from html.parser import HTMLParser

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import lanewise as lw
from lanewise.backends import registry
from lanewise.backends.devices import DeviceInfo

START = '<pre style="margin:0;white-space:pre;overflow-x:auto" tabindex="0">'  # rows scroll and do not wrap


@pytest.fixture(scope="module")
def shell():
    """IPython without its history file."""
    settings = {"HistoryManager": {"enabled": False}, "InteractiveShell": {"colors": "nocolor"}}
    yield InteractiveShell.instance(config=Config(settings))
    InteractiveShell.clear_instance()


class Tags(HTMLParser):
    """Checks that tags are closed in order, and collects tags, attributes and text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open, self.names, self.attributes, self.text = [], set(), set(), ""
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


TENSORS = {
    "a scalar": lambda: lw.asarray(2.5),
    "a vector": lambda: lw.asarray([1.0, 2.0, 3.5]),
    "no elements": lambda: lw.zeros((0, 3)),
    "another dtype": lambda: lw.asarray([[True, False]]),
    "many elements": lambda: lw.arange(6000).reshape(20, 3, 100),
    "a large view": lambda: lw.arange(6000).reshape(20, 3, 100)[::-2].mT,
    "a million elements": lambda: lw.zeros((1000, 1000)),
}


@pytest.mark.parametrize("make", TENSORS.values(), ids=TENSORS)
def test_tensors(make):
    x = make()
    facts = f"shape {x.shape}, {x.dtype}, {x.backend}"
    html = x._repr_html_()
    assert html == f"{START}{escape(str(x))}</pre><small>{facts}</small>"
    assert x._repr_mimebundle_() == {"text/plain": repr(x), "text/html": html}
    assert len(html) < 4000
    assert Tags(html).text == f"{x}{facts}"


@pytest.mark.parametrize("make", TENSORS.values(), ids=TENSORS)
def test_displaying_a_tensor_reads_it_once(make, shell):
    x = make()
    expected = repr(x)
    before = lw.memory_stats()
    bundle, _ = shell.display_formatter.format(x)
    after = lw.memory_stats()
    assert after["readbacks"] - before["readbacks"] == int(x.backend.is_gpu and x.size > 0)
    assert after["uploads"] == before["uploads"]
    assert (bundle["text/plain"], bundle["text/html"]) == (expected, x._repr_html_())


def test_the_elements_of_lost_tensors_are_replaced_by_the_reason(monkeypatch):
    error = lw.DeviceError("the <GPU> was lost; call lw.reset()", operation="tolist")
    monkeypatch.setattr("lanewise.printing._values", lambda tensor: error)
    x = lw.ones((2, 3))
    text = f"Tensor(shape=(2, 3), dtype=float32, backend={x.backend}; the <GPU> was lost; call lw.reset())"
    bundle = x._repr_mimebundle_()
    assert bundle["text/plain"] == repr(x) == str(x) == text
    assert bundle["text/html"] == f"{START}{escape(text)}</pre><small>shape (2, 3), float32, {x.backend}</small>"
    assert Tags(bundle["text/html"]).names == {"pre", "small"}


def test_backends():
    found = lw.backends()
    assert isinstance(found, list) and found == list(found)
    page = Tags(found._repr_html_())
    assert page.names == {"table", "tr", "td", "b"} and page.attributes == {"style"}
    rows = re.findall(r"<tr>(.*?)</tr>", found._repr_html_())
    assert len(rows) == len(found)
    for row, info in zip(rows, found, strict=True):
        mark, name, details = re.findall(r"<td[^>]*>(.*?)</td>", row)
        assert (mark, name) == ("✓" if info.available else "✗", f"<b>{info.name}</b>")
        assert details == ("<br>".join(escape(str(device)) for device in info.devices) or escape(info.reason))


def test_backends_are_escaped(monkeypatch):
    monkeypatch.setattr(registry, "missing", lambda backend: "<script>" if backend != "scalar" else "")
    monkeypatch.setattr(registry, "devices", lambda backend: (DeviceInfo(0, "<i>"), DeviceInfo(1, "&")))
    html = lw.backends()._repr_html_()
    assert Tags(html).names == {"table", "tr", "td", "b", "br"}
    assert "&lt;script&gt;" in html and "&lt;i&gt;" in html and "&amp;" in html


CALLS = {
    "in C": ("lw.matmul(lw.ones(3), lw.ones(4))", "ShapeError: matmul: expected x2 of shape (3,), "),
    "in Python": ("lw.concat([lw.ones(3), lw.ones((2, 2))])", "ShapeError: concat: "),
    "a method": ("lw.ones(3).to('cudda')", "BackendError: to: expected a backend, got 'cudda'; "),
    "in a function": ("(lambda: lw.ones(3).to_device('cpu', stream=1))()", "ArgumentError: to_device: expected no "),
}


@pytest.mark.parametrize(("call", "message"), CALLS.values(), ids=CALLS)
def test_errors_show_the_call_and_the_message(shell, capsys, call, message):
    assert shell.run_cell(f"import lanewise as lw\n{call}").error_in_exec
    text = capsys.readouterr().out
    assert call in text and text.splitlines()[-1].startswith(message)
    assert "lanewise/" not in text  # no frames of the package
    assert len(text.splitlines()) < 15


def test_errors_that_calls_of_lanewise_meet_elsewhere_keep_their_frames(shell, capsys):
    cell = """
import lanewise as lw
class Broken:
    def __array__(self, *arguments, **keywords):
        raise lw.ShapeError("broken here")
lw.asarray(Broken())
"""
    error = shell.run_cell(cell).error_in_exec
    assert isinstance(error, lw.ShapeError)
    text = capsys.readouterr().out
    assert 'raise lw.ShapeError("broken here")' in text and "lw.asarray(Broken())" in text
