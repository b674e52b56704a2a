"""Words of captions: Markdown with Jinja."""

from __future__ import annotations

import jinja2
import pytest

from pausefl.figures.captions import caption_from, plain, render
from pausefl.report.text import markdown


def test_values_are_written_shortly_and_what_conditions_leave_over_goes() -> None:
    text = (
        "To {{ time }} s{% if more %}, on{% endif %}  of {{ names }}.\n\n{% if more %}\nNo.\n{% endif %}\n\n"
    )
    text += "{{ share|percent }} %"
    values = {"time": 90.0, "more": False, "names": ("a", 2.50), "share": 0.1}
    assert render(text, **values) == "To 90 s of a, 2.5.\n\n10 %"


def test_a_name_without_a_value_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError, match="titel"):
        render("{{ titel }}")


def test_the_first_paragraph_is_what_is_shown() -> None:
    one = caption_from(
        "What\nis shown.\n\n*Setting.* {{ n }} users.\n\n{% include 'deviations' %}",
        n=3,
        deviations=["D1: a", "D2: b"],
    )
    assert one.shown == "What\nis shown."
    html = markdown(one.details)
    assert "<p><em>Setting.</em> 3 users.</p>" in html
    assert "<li>D1: a</li>\n<li>D2: b</li>" in html
    assert "none that bears" in render('{% include "deviations" %}', deviations=[])


def test_what_a_user_wrote_has_no_markup() -> None:
    title = r"a *b* _c_ `d` [e](f) <g> & \h | 1"
    assert (
        markdown(plain(title)).strip()
        == f"<p>{title.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;')}</p>"
    )
