"""The published runs of a repository, and what they say: the ground of the documentation."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import pandas as pd

from pausefl.reproduction.claims import headlines
from pausefl.reproduction.claims.load import load_claims, load_headlines, scenarios_as_run
from pausefl.reproduction.claims.records import Records
from pausefl.reproduction.claims.verdicts import judge_claims
from pausefl.reproduction.config import load_config
from pausefl.reproduction.report import charts
from pausefl.reproduction.studies import load_studies
from pausefl.reproduction.targets.project import Project
from pausefl.runs.collected import collected_in, read_collected
from pausefl.runs.reading import read_table
from pausefl.runs.run import Rounds, Run, rounds_of
from pausefl.settings import read_yaml


class Published:
    """Published runs, the claims judged on them.

    ``config`` has the runs that count, ``folder`` their files. ``judged`` has the claims, judged on the runs
    at the papers' scale in both readings, in order.
    """

    def __init__(self, root: Path = Path()) -> None:
        self.root, self.folder, self.scenarios = root, root / "results/published", root / "config/scenarios"
        document = read_yaml(root / "config/published.yaml")
        self.config = load_config(document | {"scenarios": str(root / document["scenarios"])}, "published")
        self.studies = load_studies(root / "config/studies.yaml", self.scenarios)
        self.claims = load_claims(root / "config/claims.yaml", self.scenarios)
        self.records = Records(
            self.config.scenarios,
            self.config.experiments,
            self.studies,
            self.folder,
            self.folder / "studies",
            logs=scenarios_as_run(self.claims, self.scenarios),
        )
        self.judged = judge_claims(self.claims, self.records, "paper", partial=True)

    @cached_property
    def project(self) -> Project:
        """All that ``config/config.yaml`` lists, published or not."""
        return Project.load(read_yaml(self.root / "config/config.yaml"), self.root)

    def runs(self, scenario: str) -> list[Run]:
        """The runs of a scenario that count; `PauseflError` if there are none."""
        wanted = [one for one in self.config.experiments if one.scenario == scenario]
        return list(read_collected(self.folder / scenario, wanted).values())

    def all_runs(self, scenario: str) -> list[Run]:
        """All published runs of a scenario, also of one that no page counts."""
        found = collected_in(self.folder / scenario)
        return [found.run(key) for key in found.summaries] if found else []

    def study(self, name: str, file: str) -> pd.DataFrame:
        """A table of a study."""
        return read_table(self.folder / "studies" / name / file)

    @cached_property
    def rounds(self) -> dict[str, Rounds]:
        """Rounds of the scenarios that the overview shows, of those that ran."""
        ran = [name for name in charts.scenarios() if name in self.config.scenarios]
        return {name: rounds_of(self.runs(name)) for name in ran}

    @cached_property
    def headlines(self) -> str:
        """The comparisons that open the pages, as a table."""
        asked = load_headlines(self.root / "config/claims.yaml")
        return headlines.to_markdown(headlines.answers(asked, self.judged))
