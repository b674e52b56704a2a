"""Markdown as safe HTML, with links from ids of deviations into the ledger."""

from __future__ import annotations

import re
from collections.abc import Collection

from markdown_it import MarkdownIt
from markupsafe import Markup, escape

_PARSER = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")

_TAG_OR_ID = re.compile(r"<a\b[^>]*>.*?</a>|<[^>]*>|\b(D\d+)\b", re.DOTALL)


def markdown(text: str, heading: int = 3) -> Markup:
    """Markdown with tables as HTML, whose highest heading has the level ``heading``.

    HTML in it is escaped and pictures are links. Tables have a container to scroll in. A cell that holds only
    the id of a deviation gets that id. Links to other files of the documentation become plain text.
    """
    html = _PARSER.render(text)
    html = re.sub(r'<a href="(?!https:|#)[^"]*">(.*?)</a>', r"\1", html, flags=re.DOTALL)
    html = re.sub(r"(</?h)(\d)>", lambda tag: f"{tag[1]}{min(int(tag[2]) + heading - 1, 6)}>", html)
    html = re.sub(r"<td([^>]*)>(D\d+)</td>", r'<td\1 id="\2">\2</td>', html)
    html = html.replace("<table>", '<div class="wide" tabindex="0"><table>')
    return Markup(html.replace("</table>", "</table>\n</div>"))


def link_deviations(html: Markup | str, known: Collection[str]) -> Markup:
    """Link the ids of deviations in a text to the ledger, which has the ``known`` ones.

    The text is escaped unless it is `Markup`. Its own links stay.
    """

    def link(match: re.Match[str]) -> str:
        name = match[1]
        return f'<a href="#{name}">{name}</a>' if name in known else match[0]

    return Markup(_TAG_OR_ID.sub(link, str(escape(html))))
