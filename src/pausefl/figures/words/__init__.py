"""Words of captions: Markdown with Jinja.

A text is a Jinja template of Markdown. Its first paragraph is what stands below the picture; the others are
details, folded in the report. Conventions:

- ``*Setting.*`` opens a paragraph; there is bold, code and ``- item``, no HTML, heading or nested list.
- A float is written shortly (``90.0`` as 90), a tuple with commas.
- ``{{ title|plain }}`` is for what a user wrote: Markdown finds no markup in it; ``{{ 0.1|percent }}`` is 10.
- ``{% include "_deviations.md.jinja" %}`` and other files of this folder are shared sentences.
- Conditions inside a paragraph stand on a line with words. Blank lines and spaces that they leave over go.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import jinja2

#: Most words below a picture.
MOST_WORDS = 50


@dataclass(frozen=True)
class Caption:
    """A caption of a figure or a table, as Markdown."""

    #: What is shown, in few words: at most `MOST_WORDS`.
    shown: str
    #: What else there is to say, with the deviations from the papers.
    details: str


def caption(text: str, **values: Any) -> Caption:
    """Caption with the words of a template; arguments and errors as for `render`."""
    shown, _, details = render(text, **values).partition("\n\n")
    return Caption(shown, details)


def render(text: str, **values: Any) -> str:
    """Markdown of a template, or of a file of this folder, ``*.md.jinja``, with values for its names.

    Raises
    ------
    jinja2.UndefinedError
        If a name in it has no value.
    """
    words = _environment()
    template = words.get_template(text) if text.endswith(".md.jinja") else words.from_string(text)
    lines = re.sub(r"[ \t]*\n[ \t]*", "\n", template.render(values).strip())
    return re.sub(r" {2,}", " ", re.sub(r"\n{3,}", "\n\n", lines))


def plain(text: str) -> str:
    """A text in which Markdown finds no markup."""
    return re.sub(r"([\\`*_\[\]<>&|])", r"\\\1", text)


@cache
def _environment() -> jinja2.Environment:
    words = jinja2.Environment(
        loader=jinja2.PackageLoader("pausefl.figures", "words"),
        undefined=jinja2.StrictUndefined,
        finalize=_shortly,
    )
    words.filters |= {"plain": plain, "percent": lambda share: 100 * share}
    return words


def _shortly(value: Any) -> Any:
    if isinstance(value, tuple):
        return ", ".join(str(_shortly(one)) for one in value)
    return f"{value:.10g}" if isinstance(value, float) else value
