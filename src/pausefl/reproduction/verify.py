"""Replays every published run without training, or trains named ones again.

``python -m pausefl.reproduction.verify`` (``make verify``) reads all published runs, runs the selection of
each alone, and compares selections, latencies, leakage, rewards, pseudo-regret and ledger: all that does not
depend on accuracies. Selectors that look at updates or losses repeat the selections of the run. Of annealers
the last digit of an energy decides whether a step is taken; on a processor with other instructions than the
run's it may therefore select otherwise in a few rounds. Sizes of users' shares are computed; where only the
data say them, the data are read if they are there, and else what depends on sizes is not compared.

``--train SCENARIO/SELECTOR/seed-N`` trains a published run again instead, and compares it bit for bit. With
other versions of the libraries, or on another kind of processor, last digits may differ: it says by how much.
"""

from __future__ import annotations

import math
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray

from pausefl.analysis.differences import difference, first_differences
from pausefl.bandit.history import History
from pausefl.columns import ALONE, TRAINED
from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition, make_partition
from pausefl.data.raw_data import missing_files, prepare
from pausefl.data.sources import SOURCES
from pausefl.errors import ConfigError, PauseflError
from pausefl.federated.job import Job
from pausefl.federated.run_job import data_of_job, run_job
from pausefl.federated.simulation import Result, make_protection
from pausefl.federated.untrained import Repeated, partition_without_data, selection_only
from pausefl.files import path_of
from pausefl.plugins import arguments
from pausefl.provenance import hardware, versions
from pausefl.runs.collected import FILES, Collected, Key, read_run
from pausefl.runs.run import Run, read_folder
from pausefl.selectors import SELECTORS, Selector
from pausefl.settings import ModelSettings, RawData, Scenario, load_scenario
from pausefl.settings.dotted_keys import differing
from pausefl.settings.scenario import as_of_today
from pausefl.streams import Streams
from pausefl.training.layout import Layout
from pausefl.training.sizes import model_layout

#: Relative difference of floats that is rounding of another processor.
RTOL = 1e-9
#: Share of a run's rounds in which an annealer may select otherwise on another processor (measured: 0.03).
OTHERWISE = 0.05
#: Columns of rounds that depend on the sizes of users' shares of the data, once it is known who is selected.
BY_SIZE = ("reward", "pseudo_regret")


def problems(
    published: Path, scenarios: Path, raw: RawData, tell: Callable[[str], None] = print
) -> Iterator[str]:
    """Yield a line for each published run that is damaged, or not as replayed.

    ``tell`` gets how many runs each scenario has, and whether something of them is not compared, since the
    sizes of users' shares are known from the data alone and these are not in ``raw``. `PauseflError` if there
    are no runs.
    """
    folders = sorted({path.parent for name in FILES for path in published.glob(f"*/{name}")})
    if not folders:
        raise PauseflError(f"there are no runs in {published}")
    for folder in folders:
        try:
            runs, scenario = Collected(folder), load_scenario(folder.name, scenarios)
            partition_of = _partitions(scenario, runs, raw)
            unknown = "; their selections and rewards are not replayed: sizes of shares need the data"
            tell(f"{scenario.name}: {len(runs.summaries)} runs{unknown * (partition_of is None)}")
        except PauseflError as error:
            yield str(error)
            continue
        for key in runs.summaries:
            try:
                partition = partition_of(key[1]) if partition_of else None
                problem = _replayed(runs, key, scenario, partition, tell)
            except (PauseflError, LookupError, TypeError, ValueError) as error:
                problem = str(error)
            if problem:
                yield f"{_named(scenario.name, key)}: {problem}"


def _named(scenario: str, key: Key) -> str:
    return f"{scenario}/{key[0]}/seed-{key[1]}"


def _partitions(scenario: Scenario, runs: Collected, raw: RawData) -> Callable[[int], Partition] | None:
    """How the partition of a seed is made, with the sizes that users' shares have.

    None if only the data say these, and what the runs were trained on is not in ``raw``.
    """
    try:
        partition_without_data(scenario, 0)
    except ConfigError:
        if missing_files(scenario.data, raw):
            return None
        data, n_users = prepare(scenario.data, raw), scenario.network.n_users
        if any(summary.get("dataset_origin") != data.origin for summary in runs.summaries.values()):
            return None
        return lambda seed: make_partition(
            data.train_y, scenario.data, scenario.partition, n_users, Streams(seed), data.train_users
        )
    return lambda seed: partition_without_data(scenario, seed)


def _replayed(
    runs: Collected, key: Key, scenario: Scenario, partition: Partition | None, tell: Callable[[str], None]
) -> str:
    """How a run differs from its replay; without a ``partition``, in what sizes of shares do not change.

    ``tell`` gets how an annealer selects otherwise on this processor.
    """
    run = runs.run(key)
    if differing(as_of_today(run.summary), scenario.job_settings(run.selector)):
        return "settings differ from the scenario's of today, so it was not replayed"
    columns = [name for name in ALONE if name in run.rounds and not (partition is None and name in BY_SIZE)]

    def differ(otherwise: list[int] | None = None) -> str:
        alone = replayed(scenario, partition, run, otherwise)
        return difference(alone.rounds[columns], run.rounds[columns], RTOL) or difference(
            alone.ledger, run.ledger, RTOL
        )

    problem = differ()
    annealer = "temperature_divisor" in arguments(SELECTORS[key[0]])
    alike = run.summary["hardware"].get("instructions") == hardware()["instructions"]
    if not problem or not annealer or alike:
        return problem
    otherwise: list[int] = []
    problem_besides = differ(otherwise)
    n, n_rounds, name = len(otherwise), len(run.rounds), _named(scenario.name, key)
    if not 0 < n <= OTHERWISE * n_rounds:
        return problem
    tell(f"{name}: by a last digit, this processor would select otherwise in {n} of {n_rounds} rounds")
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
    partition: Partition | None,
    run: Run,
    otherwise: list[int] | None = None,
) -> Result:
    """What a run gives besides losses and accuracies.

    Its rounds say whether there is a pseudo-regret, and what whoever looks at updates or losses selects. With
    a list ``otherwise`` any selector follows them, and the list gets the rounds in which it would select
    other users. Without a ``partition``, so that sizes are not known, all follow them, and rewards are none.
    """
    selector, seed, rounds = run.summary["selector"], run.summary["seed"], run.rounds
    genie = bool(rounds["pseudo_regret"].notna().any())
    n_users = scenario.network.n_users
    one_each = Partition(tuple(np.arange(n_users)[:, None]), np.ones(n_users), np.empty(0, np.int64))
    simulation = selection_only(scenario, selector, seed, genie, partition or one_each)
    simulation.horizon = scenario.training.horizon
    layout = _layout(scenario.model, scenario.data.source, scenario.data.n_features or 1)
    simulation.ledger, *_ = make_protection(scenario, selector, layout, simulation.streams)
    selections = rounds["selection"].tolist()
    if partition is None or SELECTORS[selector].looks_at():
        simulation.select = Repeated(selections)
    elif otherwise is not None:
        simulation.select = _Followed(simulation.select, selections, otherwise)
    return simulation.run(run.summary["n_rounds"])


@cache
def _layout(model: ModelSettings, source: str, n_features: int) -> Layout:
    """Layout of a model on data of a source: images of ten classes, features, or symbols."""
    facts = SOURCES[source]
    x = np.empty((0, *(facts.image_shape or (n_features,))), np.uint8)
    n_classes = 0 if facts.regression else facts.n_symbols or 10
    return model_layout(model, Dataset(source, x, x, x, x, n_classes, "", n_symbols=facts.n_symbols))


def trained_again(run: Path, scenarios: Path, raw: RawData, n_rounds: int | None = None) -> str:
    """How rounds and ledger of a run differ if it is trained again; empty if they are equal bit for bit.

    Parameters
    ----------
    run
        Folder of a finished run, or the name of a published one.
    scenarios
        Where its scenario is.
    raw
        Raw data, as the run read them.
    n_rounds
        Train no more than this many rounds, and compare these; the ledger is that of the last.

    Raises
    ------
    PauseflError
        If there is no such run, its scenario has other settings today, or data or device are missing.
    """
    published = read_run(run)
    summary, rounds = published.summary, published.rounds
    scenario = load_scenario(summary["scenario"]["name"], scenarios)
    if differing(as_of_today(summary), scenario.job_settings(summary["selector"])):
        raise PauseflError(f"{run}: scenario '{scenario.name}' has other settings today")
    wanted = min(n_rounds or summary["n_rounds"], summary["n_rounds"])
    genie = bool(rounds["pseudo_regret"].notna().any())
    device = summary["device"] or "cpu"
    job = Job(scenario, summary["selector"], summary["seed"], wanted, summary["trained"], genie, device)
    data, partition = data_of_job(job, raw)
    if data.origin != summary["dataset_origin"]:
        raise PauseflError(f"{run} was trained on {summary['dataset_origin']}, and here is {data.origin}")
    with tempfile.TemporaryDirectory() as folder:
        run_job(job, data, partition, Path(folder))
        again = read_folder(Path(folder))
    same = rounds.iloc[: len(again.rounds)].reset_index(drop=True)
    if len(same) < len(rounds):  # of fewer rounds the last is evaluated, whatever its number
        left = [name for name in TRAINED if name in same and math.isnan(same[name].iloc[-1])]
        again.rounds.loc[same.index[-1], left] = math.nan
    found = [_apart(again.rounds, same)]
    if len(again.rounds) == len(rounds):
        found.append(_apart(again.ledger, published.ledger))
    if not any(found):
        return ""
    trained = summary.get("trained_by", summary)
    there = f"{trained['hardware']['processor']}, PyTorch {trained['versions']['torch']}"
    here = f"{hardware()['processor']}, PyTorch {versions()['torch']}"
    return f"{'; '.join(filter(None, found))} (trained on {there}; here {here})"


def _apart(new: pd.DataFrame, old: pd.DataFrame) -> str:
    """Columns that differ: in which row first, and numbers by how much at most; where both have one."""
    if len(new) != len(old):
        return f"{len(new)} rows, were {len(old)}"
    found = []
    for column, row in first_differences(old, new).items():
        text, a, b = f"{column} from {new.columns[0]} {new.iloc[row, 0]!s} on", new[column], old[column]
        if a.dtype.kind == b.dtype.kind == "f":
            both = a.notna() & b.notna()
            if (apart := (a - b)[both].abs().max()) > 0:
                text += f", by at most {apart:.3g}"
        found.append(text)
    return "; ".join(found)


def main(
    published: Path = Path("results/published"),
    scenarios: Path = Path("config/scenarios"),
    train: Annotated[
        list[str] | None,
        typer.Option(metavar="RUN", help="Train a run again, SCENARIO/SELECTOR/seed-N, and replay none."),
    ] = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="Train its first rounds only.")] = None,
    data_root: Annotated[Path, typer.Option(help="Folder of raw data sets.")] = Path("data/raw"),
    data_folder: Annotated[
        list[str] | None, typer.Option(help="SOURCE=FOLDER: images in place of official files.")
    ] = None,
) -> None:
    """Replay every published run without training, or train named ones again."""
    complaints: list[str] = []
    published, scenarios = path_of(published), path_of(scenarios)
    try:
        folders = dict(item.split("=", 1) for item in data_folder or [])
        raw = RawData(root=data_root, download=False, folders=folders)
        for name in train or ():
            differ = trained_again(published / name, scenarios, raw, rounds)
            typer.echo(f"{name}: {f'differs: {differ}' if differ else 'equal'}")
            complaints += [name] * bool(differ)
        if not train:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of labels that run out; each run said it
                complaints = list(problems(published, scenarios, raw, typer.echo))
            typer.secho("\n".join(complaints), fg=typer.colors.RED, err=True, nl=bool(complaints))
            if not complaints:
                typer.echo("PASS: all runs are as published and as replayed.")
    except PauseflError as error:
        complaints.append(typer.style(f"Error: {error}", fg=typer.colors.RED))
        typer.echo(complaints[-1], err=True)
    raise SystemExit(1 if complaints else 0)


if __name__ == "__main__":
    typer.run(main)
