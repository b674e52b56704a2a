"""The Markdown table writer."""

from __future__ import annotations

from markdown_it import MarkdownIt

from pausefl.results.markdown import table, to_latex


def test_cells_stay_in_their_columns() -> None:
    html = MarkdownIt("commonmark").enable("table").render(table(["a", "b"], [["x|y", "two\nlines"]], "lr"))
    assert '<td style="text-align:left">x|y</td>' in html
    assert '<td style="text-align:right">two lines</td>' in html


def test_a_page_is_a_table_for_latex() -> None:
    page = "**Demo.**\n\n"
    page += "| Selector | Leakage (ε) | % |\n| :-- | --: | --: |\n| `a_b` | **1 ± 2** |  |\n\nA note."
    lines = to_latex(page).splitlines()
    assert lines[:2] == ["% Demo.", "% A note."]
    assert lines[2] == r"\begin{tabular}{lrr}"
    assert r"Selector & \begin{tabular}[b]{@{}r@{}}Leakage\\($\varepsilon$)\end{tabular} & \% \\" in lines
    assert r"\texttt{a\_b} & \textbf{1 $\pm$ 2} &  \\" in lines
