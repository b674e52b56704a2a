"""Where the results are, as a workflow says at its end."""

from __future__ import annotations

from pausefl.workflow.ending import where


def test_a_few_files_are_named_the_report_first() -> None:
    files = [
        "results/figures/s/accuracy_vs_time.pdf",
        "results/figures/s/accuracy_vs_time.png",
        "results/tables/s/summary.md",
        "results/report/s.html",
        "results/runs/s/pause/seed-0/summary.json",
    ]
    assert where(files).splitlines() == [
        "Report:  results/report/s.html",
        "Figures: results/figures/s/accuracy_vs_time.pdf",
        "Tables:  results/tables/s/summary.md",
    ]
    assert where(["results/runs/s/pause/seed-0/summary.json"]) == ""


def test_many_files_are_counted_by_folder() -> None:
    files = [f"results/figures/{name}/{i}.pdf" for name in "ab" for i in range(3)]
    assert where(files) == "Figures: results/figures/a/ (3), results/figures/b/ (3)"
    files = [f"results/figures/{i}/a.pdf" for i in range(9)] + ["results/studies/c/c.pdf"]
    assert where(files) == "Figures: results/figures/ (9), results/studies/ (1)"
