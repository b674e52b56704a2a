"""Compares published results with their digests, and replays every published run without training.

``python -m pausefl.tools.verify`` (``make verify``) compares the digests of all published runs and studies
with those of the manifest. Then it runs the selection of each run alone, and compares selections, latencies,
leakage, rewards, pseudo-regret and ledger: all that does not depend on accuracies. Selectors that look at
updates or losses repeat the selections of the run. Of an annealer the last digit of an energy decides whether
a step is taken; on a processor with other instructions than the run's it may therefore select otherwise in a
few rounds. No data are read: users' shares have the right sizes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray

from pausefl.bandit.history import History
from pausefl.data.dataset import Dataset
from pausefl.errors import PauseflError
from pausefl.federated.earlier import Repeated
from pausefl.federated.simulation import Result, make_protection
from pausefl.federated.untrained import selection_only
from pausefl.provenance.machine import hardware
from pausefl.registry import SELECTORS, SOURCES
from pausefl.results.differences import difference
from pausefl.results.published import (
    LINES,
    MANIFEST,
    TABLES,
    Key,
    PublishedRuns,
    check_study,
    read_manifest,
    run_folder,
    run_name,
)
from pausefl.results.runs import ROUND_COLUMNS, read_run
from pausefl.selectors import Selector
from pausefl.settings import Experiment, ModelSettings, Scenario, load_scenario
from pausefl.settings.changes import differing
from pausefl.settings.scenario import as_of_today
from pausefl.training.layout import Layout
from pausefl.training.sizes import model_layout

#: Relative difference of floats that is rounding of another processor.
RTOL = 1e-9
#: Share of a run's rounds in which an annealer may select otherwise on another processor (measured: 0.03).
OTHERWISE = 0.05


def problems(published: Path, scenarios: Path, tell: Callable[[str], None] = print) -> Iterator[str]:
    """Yield a line for each published run or study that is not as it was published, or not as replayed.

    ``tell`` gets how many runs each scenario has. `PauseflError` if the manifest is missing or damaged.
    """
    digests = read_manifest(published)
    runs, studies = set(digests["runs"]), set(digests["studies"])
    for path in sorted(published.glob(f"*/{LINES}")):
        try:
            there, scenario = PublishedRuns(path.parent), load_scenario(path.parent.name, scenarios)
            tell(f"{scenario.name}: {len(there.lines)} runs")
        except PauseflError as error:
            yield str(error)
            continue
        for key in there.lines:
            name = run_name(scenario.name, *key)
            runs.discard(name)
            for check in (_read, partial(_replayed, tell=tell)):
                try:
                    problem = check(there, key, scenario)
                except (PauseflError, LookupError, TypeError, ValueError) as error:
                    problem = str(error)
                if problem:
                    yield f"{name}: {problem}"
    for folder in sorted(filter(Path.is_dir, published.glob("studies/*"))):
        studies.discard(folder.name)
        try:
            check_study(folder)
        except PauseflError as error:
            yield f"study {folder.name}: {error}"
    yield from (f"{name}: in {MANIFEST}, and not published" for name in sorted(runs | studies))


def _read(runs: PublishedRuns, key: Key, scenario: Scenario) -> str:
    read_run(run_folder(runs.folder.parent, Experiment(scenario.name, *key)))
    return ""


def _replayed(runs: PublishedRuns, key: Key, scenario: Scenario, tell: Callable[[str], None]) -> str:
    """How a run, whether its digests are right or not, differs from its replay.

    ``tell`` gets how an annealer selects otherwise on this processor.
    """
    line = json.loads(runs.lines[key])
    if differing(as_of_today(line["scenario"]), scenario.job_settings()):
        return "settings differ from the scenario's of today, so it was not replayed"
    rounds, ledger = (runs.rows(name, key) for name in TABLES)
    columns = list(ROUND_COLUMNS)

    def differ(otherwise: list[int] | None = None) -> str:
        alone = replayed(scenario, *key, line["n_rounds"], rounds, otherwise)
        return difference(alone.rounds[columns], rounds[columns], RTOL) or difference(
            alone.ledger, ledger, RTOL
        )

    problem = differ()
    annealer = "selection.temperature_divisor" in SELECTORS[key[0]].requires
    if not (problem and annealer) or line["hardware"].get("instructions") == hardware()["instructions"]:
        return problem
    otherwise: list[int] = []
    problem_besides = differ(otherwise)
    n, name = len(otherwise), run_name(scenario.name, *key)
    if not 0 < n <= OTHERWISE * len(rounds):
        return problem
    tell(f"{name}: by a last digit, this processor would select otherwise in {n} of {len(rounds)} rounds")
    return problem_besides


class _Followed(Repeated):
    """Selects as a finished run did; ``otherwise`` gets the rounds in which ``own`` would not have."""

    def __init__(self, own: Selector, selections: list[NDArray[np.int64]], otherwise: list[int]) -> None:
        super().__init__(selections)
        self.own, self.otherwise = own, otherwise

    def __call__(self, history: History, rng: np.random.Generator) -> NDArray[np.int64]:
        """The users of that round."""
        users = super().__call__(history, rng)
        if set(users.tolist()) != set(self.own(history, rng).tolist()):
            self.otherwise.append(history.round)
        return users


def replayed(
    scenario: Scenario,
    selector: str,
    seed: int,
    n_rounds: int,
    rounds: pd.DataFrame,
    otherwise: list[int] | None = None,
) -> Result:
    """What a run of at most ``n_rounds`` gives besides losses and accuracies.

    The published ``rounds`` say whether there is a pseudo-regret, and what whoever looks at updates or losses
    selects. With a list ``otherwise`` any selector follows them, and the list gets the rounds in which it
    would select other users.

    Raises
    ------
    ConfigError
        If the sizes of users' data, or labels that decide on them, are not known without reading a file.
    """
    simulation = selection_only(scenario, selector, seed, bool(rounds["pseudo_regret"].notna().any()))
    simulation.horizon = scenario.training.horizon
    layout = _layout(scenario.model, scenario.data.source, scenario.data.n_features or 0)
    simulation.ledger, *_ = make_protection(scenario, selector, layout, simulation.streams)
    record, selections = SELECTORS[selector], rounds["selection"].tolist()
    if record.needs_updates or record.needs_losses:
        simulation.select, simulation.n_observed = Repeated(selections), 0
    elif otherwise is not None:
        simulation.select = _Followed(simulation.select, selections, otherwise)
    return simulation.run(n_rounds)


@cache
def _layout(model: ModelSettings, source: str, n_features: int) -> Layout:
    """Layout of a model on data of a source: images of ten classes, or features."""
    record = SOURCES[source]
    x = np.empty((0, *(record.image_shape or (n_features,))), np.uint8)
    return model_layout(model, Dataset(source, x, x, x, x, 0 if record.regression else 10, ""))


def main(published: Path = Path("results/published"), scenarios: Path = Path("config/scenarios")) -> None:
    """Compare digests of all published results with the manifest, and replay every run without training."""
    try:
        found = list(problems(published, scenarios, typer.echo))
    except PauseflError as error:
        found = [f"Error: {error}"]
    for line in found:
        typer.secho(line, fg=typer.colors.RED, err=True)
    raise SystemExit(1 if found else 0)


if __name__ == "__main__":
    typer.run(main)
