"""Markdown as safe HTML, with links from ids of deviations into the ledger."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape

#: An id of the deviation ledger.
DEVIATION = re.compile(r"D\d+")

_TAG_OR_ID = re.compile(r"<a\b[^>]*>.*?</a>|<[^>]*>|\b(D\d+)\b", re.DOTALL)


def markdown(text: str, heading: int = 3) -> Markup:
    """Markdown with tables as HTML, whose highest heading has the level ``heading``.

    HTML in it is escaped and pictures are links. Tables have a container to scroll in. A cell that holds only
    the id of a deviation gets that id. Links to other files of the documentation become plain text.
    """
    return Markup(_markdown().render(text, {"heading": heading - 1}))


@cache
def _markdown() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    parser.core.ruler.push("ids", _set_ids)
    parser.core.ruler.push("links", _drop_relative_links)
    parser.core.ruler.push("headings", _lower_headings)
    parser.add_render_rule("table_open", _table_open)
    parser.add_render_rule("table_close", _table_close)
    return parser


def _set_ids(state: Any) -> None:
    tokens: list[Token] = state.tokens
    for cell, content in pairwise(tokens):
        if cell.type == "td_open" and DEVIATION.fullmatch(content.content):
            cell.attrSet("id", content.content)


def _drop_relative_links(state: Any) -> None:
    for token in state.tokens:
        children: list[Token] = []
        dropped = 0
        for child in token.children or []:
            if child.type == "link_open" and not str(child.attrGet("href")).startswith(("https:", "#")):
                dropped += 1
            elif child.type == "link_close" and dropped:
                dropped -= 1
            else:
                children.append(child)
        if token.children is not None:
            token.children = children


def _lower_headings(state: Any) -> None:
    for token in state.tokens:
        if token.type.startswith("heading_"):
            token.tag = f"h{min(int(token.tag[1]) + state.env['heading'], 6)}"


def _table_open(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    return '<div class="wide" tabindex="0">' + renderer.renderToken(tokens, index, options, env)


def _table_close(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    return renderer.renderToken(tokens, index, options, env) + "</div>\n"


def link_deviations(html: Markup | str, known: Collection[str]) -> Markup:
    """Link the ids of deviations in a text to the ledger, which has the ``known`` ones.

    The text is escaped unless it is `Markup`. Its own links stay.
    """

    def link(match: re.Match[str]) -> str:
        name = match[1]
        return f'<a href="#{name}">{name}</a>' if name in known else match[0]

    return Markup(_TAG_OR_ID.sub(link, str(escape(html))))
