"""The Markdown table writer."""

from __future__ import annotations

from markdown_it import MarkdownIt

from pausefl.results.markdown import latex_table, table, to_latex


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


def test_signs_and_powers_are_formulas_for_latex() -> None:
    lines = latex_table(["`a_b`", "x"], [["50 % & {x}_y^~\\\\", "−1.5 · 10⁻¹⁷ ± ∞"]], "lr").splitlines()
    assert lines[2] == r"\texttt{a\_b} & x \\"
    assert lines[4].startswith(r"50 \% \& \{x\}\_y\textasciicircum{}\textasciitilde{}\textbackslash{}")
    assert lines[4].endswith(r" & $-$1.5 $\cdot$ 10$^{-17}$ $\pm$ $\infty$ \\")


def test_a_table_of_many_rows_goes_over_pages_with_its_titles() -> None:
    lines = latex_table(["worst_class_accuracy_mean"], [["1"]] * 46, "r").splitlines()
    assert lines[0] == r"\begin{longtable}{r}"
    assert lines[2] == r"\begin{tabular}[b]{@{}r@{}}worst\_\\class\_\\accuracy\_\\mean\end{tabular} \\"
    assert lines[3:7] == [r"\midrule", r"\endhead", r"\bottomrule", r"\endfoot"]
    assert lines[7:] == [r"1 \\"] * 46 + [r"\end{longtable}"]
    assert latex_table(["x"], [["1"]] * 45, "r").startswith(r"\begin{tabular}")
