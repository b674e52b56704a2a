"""The Markdown table writer."""

from __future__ import annotations

from markdown_it import MarkdownIt

from pausefl.results.markdown import table


def test_cells_stay_in_their_columns() -> None:
    html = MarkdownIt("commonmark").enable("table").render(table(["a", "b"], [["x|y", "two\nlines"]], "lr"))
    assert '<td style="text-align:left">x|y</td>' in html
    assert '<td style="text-align:right">two lines</td>' in html
