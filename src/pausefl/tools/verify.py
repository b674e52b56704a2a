"""Compares published results with their digests, and replays every published run without training.

``python -m pausefl.tools.verify`` (``make verify``) compares the digests of all published runs and studies
with those of the manifest. Then it runs the selection of each run alone, and compares selections, latencies,
leakage, rewards, pseudo-regret and ledger: all that does not depend on accuracies. Selectors that look at
updates or losses repeat the selections of the run, and so do annealers that select otherwise on a processor
with other instructions than the run's: a last digit of an energy decides whether a step is taken. No data are
read: users' shares have the right sizes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
import typer

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
from pausefl.settings import Experiment, ModelSettings, Scenario, load_scenario
from pausefl.settings.changes import differing
from pausefl.settings.scenario import as_of_today
from pausefl.training.layout import Layout
from pausefl.training.sizes import model_layout

#: Relative difference of floats that is rounding of another processor.
RTOL = 1e-9


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

    def differ(repeat: bool) -> str:
        alone = replayed(scenario, *key, line["n_rounds"], rounds, repeat)
        return difference(alone.rounds[columns], rounds[columns], RTOL) or difference(
            alone.ledger, ledger, RTOL
        )

    problem = differ(repeat=False)
    annealer = "selection.temperature_divisor" in SELECTORS[key[0]].requires
    if problem and annealer and line["hardware"].get("instructions") != hardware()["instructions"]:
        name = run_name(scenario.name, *key)
        tell(f"{name}: {problem}, on another processor than the run's; its selections are repeated")
        return differ(repeat=True)
    return problem


def replayed(
    scenario: Scenario, selector: str, seed: int, n_rounds: int, rounds: pd.DataFrame, repeat: bool = False
) -> Result:
    """What a run of at most ``n_rounds`` gives besides losses and accuracies.

    The published ``rounds`` say whether there is a pseudo-regret, and what is selected: by whoever looks at
    updates or losses, and by others to ``repeat`` it.

    Raises
    ------
    ConfigError
        If the sizes of users' data, or labels that decide on them, are not known without reading a file.
    """
    simulation = selection_only(scenario, selector, seed, bool(rounds["pseudo_regret"].notna().any()))
    simulation.horizon = scenario.training.horizon
    layout = _layout(scenario.model, scenario.data.source, scenario.data.n_features or 0)
    simulation.ledger, *_ = make_protection(scenario, selector, layout, simulation.streams)
    record = SELECTORS[selector]
    if repeat or record.needs_updates or record.needs_losses:
        simulation.select, simulation.n_observed = Repeated(rounds["selection"].tolist()), 0
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
