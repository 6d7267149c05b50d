"""Styles of code in the colors of conf.py: neutral, and one accent for keywords and strings."""

from __future__ import annotations

from typing import ClassVar

from pygments.style import Style
from pygments.token import Comment, Error, Generic, Keyword, Name, Number, Operator, String, Token, _TokenType

__all__ = ["Dark", "Light"]


def _styles_of_tokens(ink: str, quiet: str, accent: str) -> dict[_TokenType, str]:
    """Returns the style of each kind of token: `ink` for most code, `quiet` for comments, prompts and output, `accent`
    for keywords and strings."""
    return {
        Token: ink,
        Comment: quiet,
        Error: ink,
        Generic.Output: quiet,
        Generic.Prompt: quiet,
        Generic.Traceback: quiet,
        Keyword: accent,
        Keyword.Constant: ink,
        Name: ink,
        Number: ink,
        Operator: ink,
        Operator.Word: accent,
        String: accent,
    }


class Light(Style):  # type: ignore[misc]  # Pygments has no types
    """For light backgrounds."""

    background_color = "#f4f6f8"
    styles: ClassVar = _styles_of_tokens("#1f2328", "#59636e", "#0b7a75")


class Dark(Style):  # type: ignore[misc]
    """For dark backgrounds."""

    background_color = "#161b22"
    styles: ClassVar = _styles_of_tokens("#f0f6fc", "#9ea7b1", "#2dd4bf")
