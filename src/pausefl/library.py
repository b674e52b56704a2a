"""The library's interface: a scenario, a change of it, a run with any selector, its numbers as data frames.

`pausefl` exports the public names; docs/use.md has an example. A run does what ``pausefl run`` does, and
of a selector by name it has the same numbers, bit for bit.
"""

from __future__ import annotations

import inspect
import multiprocessing
import os
import re
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from pausefl import settings
from pausefl.bandit.history import History
from pausefl.errors import ConfigError, StoppedError
from pausefl.federated.checkpoint import Saving
from pausefl.federated.job import Job
from pausefl.federated.run_job import data_of_job, run_job
from pausefl.federated.runnable import check_runnable
from pausefl.federated.watcher import Watcher
from pausefl.files import path_of
from pausefl.runs import collected
from pausefl.runs.collected import Given
from pausefl.runs.run import Run as Run
from pausefl.runs.run import joined, with_all_columns
from pausefl.runs.run_id import RunId
from pausefl.selectors import SELECTORS
from pausefl.selectors.base import Selector
from pausefl.selectors.making import class_of, name_of
from pausefl.settings import RawData, Scenario
from pausefl.settings.dotted_keys import with_values
from pausefl.training.settings import MOST_ROUNDS

#: A selector as `run` takes it. A function is what `Selector.__call__` is, without ``self``.
AnySelector = str | Selector | type[Selector] | Callable[[History, np.random.Generator], ArrayLike]


def _shipped() -> Path:
    """Folder of the scenarios that come with pausefl."""
    return settings.home() / settings.SHIPPED


def scenario_names() -> list[str]:
    """Names of the scenarios that come with pausefl, sorted."""
    return settings.scenario_names(_shipped())


def load_scenario(source: str | os.PathLike[str]) -> Scenario:
    """Load a scenario.

    Parameters
    ----------
    source
        Name of a scenario that comes with pausefl, or path of a file ``NAME.yaml``.

    Returns
    -------
    Scenario
        Frozen and checked; ``scenario.network.n_users`` is the key ``network.n_users`` of config/README.md.

    Raises
    ------
    PauseflError
        If there is none, naming the nearest one, or if anything in it is wrong, naming the key.
    """
    path = path_of(source)
    if path.suffix not in (".yaml", ".yml"):
        return settings.load_scenario(str(source), _shipped())
    if path.suffix != ".yaml" or not path.is_file():
        raise ConfigError(f"there is no scenario file {path}, with a name that ends in .yaml")
    return settings.load_scenario(path.stem, path.parent, _shipped())


def change(scenario: Scenario, values: Mapping[str, Any]) -> Scenario:
    """A scenario with other values of some settings; the given one stays as it is.

    Parameters
    ----------
    scenario
        From `load_scenario`.
    values
        By dotted key, ``{"network.n_users": 20}``. All are put in before anything is checked.

    Raises
    ------
    PauseflError
        If a key is unknown, naming the nearest one, or a value is wrong or contradicts another.
    """
    _check_scenario(scenario)
    if not isinstance(values, Mapping) or not all(isinstance(key, str) for key in values):
        raise ConfigError(
            f"values = {values!r:.80} must be a mapping of dotted keys, as {{'network.n_users': 20}}"
        )
    return with_values(scenario, values, "change")


def _check_scenario(scenario: object) -> None:
    if not isinstance(scenario, Scenario):
        raise ConfigError(f"scenario = {scenario!r:.80} must be what pausefl.load_scenario returns")


def run(
    scenario: Scenario,
    selector: AnySelector,
    seed: int = 0,
    *,
    n_rounds: int | None = None,
    train: bool = True,
    genie: bool = False,
    name: str | None = None,
    device: str = "auto",
    n_threads: int = 1,
    data_root: str | os.PathLike[str] = "data/raw",
    download: bool = True,
    on_round: Callable[[int], None] = lambda t: None,
    on_row: Callable[[Mapping[str, Any]], None] = lambda row: None,
    progress: bool = True,
) -> Run:
    """Run one selector in a scenario.

    Several runs at once need several processes, not threads.

    Parameters
    ----------
    scenario
        From `load_scenario`, maybe after `change`.
    selector
        A name; or a selector of your own, which needs none: a subclass of `Selector`
        (built for the scenario), an object of one (copied), or a function of a `History` and a random stream
        that returns the ids of ``history.n_selected`` of the ``history.candidates()``.
    seed
        Of all random streams; selectors of one seed see the same partition, latencies and noise.
    n_rounds
        Most rounds; None for those of the scenario.
    train
        Whether to train; otherwise the selection runs alone, with the same selections and leakage.
    genie
        Whether to compute ``pseudo_regret``.
    name
        What a selector of your own is called; None for the name of its class or function. It keys the
        selector's random stream.
    device
        ``auto``, ``cpu`` or ``cuda``.
    n_threads
        Threads of the arithmetic; results depend on them in the last digits.
    data_root, download
        Folder of raw data sets, and whether missing ones are downloaded.
    on_round
        Called with t after each round.
    on_row
        Called after each round with its row of `Run.rounds`, for programs that show runs (docs/use.md).
        ``accuracy`` and ``loss`` are NaN in rounds without evaluation, and not there without training.
    progress
        Whether a terminal shows a bar while it runs; there is none elsewhere.

    Raises
    ------
    PauseflError
        If the scenario cannot run with the selector, data are missing or wrong, or a selector of your own
        returns something else than distinct ids of available users.
    KeyboardInterrupt
        After Ctrl-C, when the round in progress is finished. The run is lost; ``pausefl run`` resumes.
    """
    _check_scenario(scenario)
    rounds = scenario.training.n_rounds if n_rounds is None else n_rounds
    for key, value, least in (("seed", seed, 0), ("n_rounds", rounds, 1), ("n_threads", n_threads, 1)):
        if not isinstance(value, int | np.integer) or not least <= value < 2**63:
            raise ConfigError(f"{key} = {value!r} must be an integer of at least {least}")
    if rounds > MOST_ROUNDS:
        raise ConfigError(f"n_rounds = {rounds} must be at most {MOST_ROUNDS}")
    if isinstance(selector, str):
        if name is not None:
            raise ConfigError(f"name is for selectors of your own; '{selector}' is registered under its name")
        job_name, given = selector, {}
    else:
        given = _named(selector, name)
        job_name = next(iter(given))
    source = _source(selector)  # that of now: its file may be edited while it runs
    job = Job(scenario, job_name, int(seed), int(rounds), train, genie, device, int(n_threads))
    with tempfile.TemporaryDirectory() as folder, SELECTORS.including(given):
        check_runnable(scenario, [job_name])
        dataset, partition = data_of_job(job, RawData(Path(data_root), download, {}))
        watcher = Watcher(job.n_rounds, horizon=scenario.training.horizon)
        rows: Sequence[Mapping[str, Any]] = ()

        def started(given: Sequence[Mapping[str, Any]]) -> None:
            nonlocal rows
            rows = given  # the job adds one a round
            watcher.note(given)

        try:
            with _followed(watcher, f"{scenario.name} {job_name} seed {job.seed}", progress):

                def after_round(t: int) -> None:
                    watcher(t)
                    on_round(t)
                    on_row(dict(rows[-1]))

                saving = Saving(interval=float("inf"))
                run_job(job, dataset, partition, Path(folder), after_round, saving, started)
        except StoppedError as stopped:
            raise KeyboardInterrupt(str(stopped).partition(";")[0]) from None
        finished = replace(read_run(folder), folder=None)
    if given:
        # The hash follows the package's code; of code elsewhere there is the source, where Python has it.
        finished.summary.update(code_hash=None, selector_source=source)
    return finished


@contextmanager
def _followed(watcher: Watcher, label: str, wanted: bool) -> Iterator[None]:
    """Show on a terminal how far a job is; of several processes, only the first one does."""
    if not wanted or multiprocessing.parent_process() is not None:
        yield
        return
    from rich.console import Console

    from pausefl.progress import bar

    console = Console(stderr=True)
    shown = bar(console, lambda: (watcher.share, f"{watcher.brief()}\n{label}"))
    with shown if console.is_terminal and not console.is_jupyter else nullcontext():
        yield


def read_run(folder: str | os.PathLike[str]) -> Run:
    """Read a finished run: of ``pausefl run``, of the workflow (``results/runs``), or of `Run.save`.

    Parameters
    ----------
    folder
        Of the run. A collected or published run is named ``results/published/SCENARIO/SELECTOR/seed-SEED``.

    Raises
    ------
    PauseflError
        If a file is missing or damaged, or the files are not of one run.
    """
    return collected.read_run(path_of(folder))


def collect(runs: Given) -> pd.DataFrame:
    """The rounds of several runs, one below the other.

    Parameters
    ----------
    runs
        A run or several: each from `run` or `read_run`, or the folder of one, or that of a scenario's
        collected runs.

    Returns
    -------
    pandas.DataFrame
        The columns ``scenario``, ``selector`` and ``seed``, then those of `Run.rounds`; NaN where a quantity
        was not computed.
    """
    given = collected.as_runs(runs)
    return joined(
        (RunId(one.scenario, one.selector, one.seed), with_all_columns(one.rounds)) for one in given
    )


def _named(selector: object, name: str | None) -> dict[str, type[Selector]]:
    """A class that stands for a selector that is handed over, by its name."""
    default = name_of(selector)
    name = default if name is None else name
    if not re.fullmatch(r"\w{1,200}", name):
        raise ConfigError(f"name = {name!r}: a selector needs a name of letters, digits and underscores")
    if name in SELECTORS:
        raise ConfigError(f"'{name}' is the name of a registered selector; choose another")
    return {name: class_of(selector, name)}


def _source(selector: Any) -> str | None:
    """Source of the class or function of a selector; None where Python does not have it alone."""
    if getattr(selector, "__name__", "") == "<lambda>":  # it would be the lines of the call
        return None
    try:
        source = inspect.getsource(type(selector) if isinstance(selector, Selector) else selector)
        return textwrap.dedent(source)
    except (OSError, TypeError):
        return None
