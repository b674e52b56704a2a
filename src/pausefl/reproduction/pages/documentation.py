"""The findings on the published runs, written into the documentation.

``python -m pausefl.reproduction.pages.documentation`` writes ``docs/findings.md``, ``docs/details.md``,
``docs/benchmark.md``, ``docs/authors.md`` and ``results/published/benchmark.md`` from their templates, the
findings in brief into ``README.md``, pictures into ``docs/images``, the verdicts into ``docs/verdicts.md``,
what they rest on into ``results/published/verdicts.md``, the reviewers' table into ``docs/artifact.md``, what
was run into ``docs/costs.md``, and the authors' runs beside ours into ``results/published/authors.md``.
Times are estimates of `pausefl.reproduction.targets.plan`.
"""

from __future__ import annotations

import math
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from pausefl import columns
from pausefl.analysis import markdown
from pausefl.analysis.figures.style import save
from pausefl.analysis.statistics import HOLDS
from pausefl.columns import Column
from pausefl.reproduction import authors_archive
from pausefl.reproduction.authors_archive import ARCHIVED, LOGGED
from pausefl.reproduction.claims.formats import (
    checks_to_markdown,
    claims_to_markdown,
    grounds_to_markdown,
    side_by_side,
    summary_line,
)
from pausefl.reproduction.claims.load import Claim, places
from pausefl.reproduction.claims.verdicts import Verdict
from pausefl.reproduction.claims.words import describe, with_count
from pausefl.reproduction.figures import overview, papers, story
from pausefl.reproduction.figures.papers import SETTINGS
from pausefl.reproduction.pages.numbers import LONG_RUNS
from pausefl.reproduction.pages.numbers import filled as with_numbers
from pausefl.reproduction.pages.published import Published
from pausefl.reproduction.targets.plan import job_estimate, shipped_rates, with_trainers
from pausefl.reproduction.targets.project import Project
from pausefl.runs.run import rounds_of
from pausefl.selectors import LABELS
from pausefl.settings import Scenario, load_scenario


def claims_table(published: Published) -> str:
    """The reviewers' table: one row a claim, with the cost of checking it."""
    head = ("Claim", "Command", "Core-hours", "Tests", *map(str.capitalize, SETTINGS.values()))
    rows = (
        (
            claim.id,
            *_cost(claim, published.project),
            _badge(written),
            _badge(run) if run else "–",
        )
        for claim, written, run in side_by_side(published.judged)
    )
    return markdown.table(head, rows, "llrlll")


def _badge(verdict: Verdict) -> str:
    """A finding with its count."""
    return with_count(verdict.finding, describe(verdict)["count"])


def verdicts(published: Published) -> dict[str, str]:
    """The parts of the page of verdicts, by name."""
    text = f"**{summary_line(published.judged)}.**\n\n{claims_to_markdown(published.judged)}"
    return {"paper": text, "checks": checks_to_markdown(published.project.checks)}


def not_run(published: Published) -> str:
    """The scenarios of claims with runs that were not made, and what these would cost."""
    rows = []
    of_claims = {claim.id: places([claim], "paper")[0] for claim in published.claims}
    for name in published.project.own:
        claims = [claim for claim, named in of_claims.items() if name in named]
        jobs, hours = _left(published, name)
        if claims and jobs:
            rows.append((f"`{name}`", ", ".join(claims), str(jobs), f"{hours:.1f}"))
    return markdown.table(("Scenario", "Claims", "Jobs", "Core-hours"), rows, "llrr")


def _left(published: Published, *names: str) -> tuple[int, float]:
    """Number of jobs of some scenarios that were not made, and their core-hours."""
    made, plan = set(published.config.experiments), published.project
    jobs = [job for name in names for job in plan.experiments[name] if job not in made]
    seconds = [job_estimate(plan, job) for job in jobs]
    return len(seconds), sum(seconds) / 3600


def _cost(claim: Claim, project: Project) -> tuple[str, str, str]:
    """Command, core-hours and kinds of tests of a claim."""
    scenarios, studies = places([claim], "paper")
    jobs = [one for name in project.own if name in scenarios for one in project.experiments[name]]
    seconds = [job_estimate(project, job) for job in with_trainers(project, jobs)]
    seconds += [project.studies[name].seconds(shipped_rates()) for name in studies]
    hours = math.fsum(seconds) / 3600
    return (
        f"`make claim ID={claim.id}`",
        "see [costs](costs.md)" if math.isnan(hours) else f"{hours:.1f}" if hours >= 0.05 else "< 0.1",
        ", ".join(dict.fromkeys(test.kind for test in claim.tests)),
    )


def runs_table(published: Published) -> str:
    """The published runs of each scenario that ``config/config.yaml`` has, and what the others would cost."""
    full = published.project

    def left(*names: str) -> str:
        jobs, hours = _left(published, *names)
        return f"{jobs} jobs, {hours:.1f} h" if jobs else "–"

    rows = []
    for name in full.own:
        seeds = Counter(one.selector for one in published.config.experiments if one.scenario == name)
        alike = sorted(Counter(seeds.values()).items(), reverse=True)
        rows.append(
            (
                f"[`{name}`](../config/scenarios/{name}.yaml)",
                ", ".join(f"{n_selectors} × {n_seeds}" for n_seeds, n_selectors in alike) or "–",
                left(name),
            )
        )
    rows.append(("all", "", left(*full.own)))
    head = ("Scenario", "Published: selectors × seeds", "To be run: core-hours")
    return markdown.table(head, rows, "lll")


def beside_authors(published: Published, names: Iterable[str]) -> str:
    """The authors' runs of some scenarios beside the published ones."""
    return "\n".join(_beside(published, name) for name in names)


def _beside(published: Published, name: str) -> str:
    scenario = load_scenario(name, published.scenarios)
    ran = name in published.config.scenarios
    rounds = rounds_of(published.runs(name)) if ran else {}
    table = authors_archive.beside_ours(rounds, scenario)
    assert scenario.privacy is not None
    network = f"{scenario.network.n_selected} of {scenario.network.n_users} users a round"
    words = f"{network}, budget ε = {scenario.privacy.epsilon_total:g} per coordinate."
    if name in LOGGED:
        log = authors_archive.log_of(name)
        words = (
            f"{papers.of_scenario(scenario.figures)}: [`{name}`](../../config/scenarios/{name}.yaml). {words}"
            f" Log: `{log['folder']}`, seed {log['seed']}."
        )
        if not table["quantity"].isin(["accuracy", "accuracy_end"]).any():
            known = any(run["accuracy"].notna().any() for run in authors_archive.read_off(name).values())
            words += (
                " Of its accuracies we have those of single rounds ([below](#at-the-same-rounds))."
                if known
                else " Of its accuracies we have none."
            )
    return f"### {scenario.title}\n\n{words}\n\n{authors_archive.to_markdown(table, LABELS)}"


def pictures(published: Published) -> dict[str, bytes]:
    """The pictures of pages that no figure of the workflow is, by the name of their file, as PNG."""
    rounds, scenario = published.rounds, load_scenario(story.SCENARIO, published.scenarios)
    runs, seed = published.all_runs(story.SCENARIO), 10
    curves = {SETTINGS[read]: published.study(name, "curves.parquet") for read, name in LONG_RUNS.items()}
    figures = {
        "opening": story.opening(rounds_of(runs), scenario.training.horizon),
        "timeline": story.timeline(runs, scenario, seed),
        "who": story.who(runs, scenario, seed),
        "faster": story.forest(_faster(published)),
        "long_runs": story.long_runs(curves),
        "overview": overview.plot({name: rounds[name] for name in overview.scenarios(rounds)}),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, figure in figures.items():
            save(figure, Path(folder, name), {})
        return {f"{name}.png": Path(folder, f"{name}.png").read_bytes() for name in figures}


def _faster(published: Published) -> dict[str, list[story.Gap]]:
    """The comparisons of C3a, whether PAUSE is faster, by the name of their settings."""
    scenarios, found = published.project.scenarios, dict[str, list[story.Gap]]()
    for verdict in published.judged:
        for one in verdict.comparisons if verdict.claim.id == "C3a" else ():
            if one.made and not one.repeats:
                name = f"{_first_figure(scenarios[one.where])}, {one.who.partition(' against ')[2].lower()}"
                gap = story.Gap(name, one.gap, one.low, one.high, one.bound, one.outcome == HOLDS)
                found.setdefault(SETTINGS[verdict.reading], []).append(gap)
    return found


def _first_figure(scenario: Scenario) -> str:
    """The first figure of the papers that a scenario makes: ``Fig. 8``, of version 1 ``v1 Fig. 6``."""
    of = papers.of_scenario(scenario.figures)
    first = re.search(r"v([12]), Figs?\. (\d+)", of)
    return f"{'v1 ' * (first[1] == '1')}Fig. {first[2]}" if first else scenario.name


def columns_table(record: Mapping[str, Column]) -> str:
    """The columns of a table that a run leaves."""
    rows = [
        [f"`{name}`", one.type, one.unit + " (trained runs)" * one.trained, one.meaning]
        for name, one in record.items()
    ]
    return markdown.table(["Column", "Type", "Unit", "Meaning"], rows)


def filled(path: Path, texts: Mapping[str, str]) -> str:
    """The text of a page, with each text between the marks of its name."""
    page = path.read_text("utf-8")
    for name, text in texts.items():
        begin = f"<!-- {name}: made by python -m pausefl.reproduction.pages.documentation -->"
        end = f"<!-- end of {name} -->"
        before, rest = page.split(begin)
        page = f"{before}{begin}\n{text}{end}{rest.split(end)[1]}"
    return page


def pages(published: Published, numbers: Mapping[str, str]) -> dict[Path, str]:
    """Text of each generated page of the repository, by path; ``numbers`` are those that pages name."""
    root, templates = published.root, published.root / "docs/templates"

    def page(name: str, **words: str) -> str:
        """A template with numbers and words in its places."""
        return with_numbers((templates / f"{name}.md").read_text("utf-8"), {**numbers, **words})

    above = page("summary", up="../")
    tables = {
        "docs/artifact.md": {"claims": claims_table(published)},
        "README.md": {"findings": page("summary", up="")},
        "docs/verdicts.md": verdicts(published),
        "results/published/verdicts.md": {
            "grounds": grounds_to_markdown(published.judged),
            "not-run": not_run(published),
        },
        "docs/files.md": {"rounds": columns_table(columns.ROUNDS), "ledger": columns_table(columns.LEDGER)},
        "docs/costs.md": {"runs": runs_table(published)},
        "results/published/authors.md": {
            "logs": beside_authors(published, LOGGED),
            "archived": beside_authors(published, ARCHIVED),
        },
    }
    texts = {Path(path): filled(root / path, texts) for path, texts in tables.items()}
    names = "findings", "details", "benchmark", "authors"
    whole = {Path(f"docs/{name}.md"): page(name, summary=above) for name in names}
    whole[Path("results/published/benchmark.md")] = page("published/benchmark")
    return texts | whole


def main() -> None:
    """Write the pages, with the numbers of ``results/numbers.csv``."""
    published = Published()
    table = pd.read_csv("results/numbers.csv", dtype=str, keep_default_na=False)
    numbers = dict(zip(table["name"], table["value"], strict=True))
    for path, text in pages(published, numbers).items():
        path.write_text(text, encoding="utf-8")
    for name, picture in pictures(published).items():
        Path("docs/images", name).write_bytes(picture)


if __name__ == "__main__":
    main()
