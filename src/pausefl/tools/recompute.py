"""Computes published results again, and records which are the same bit for bit.

``python -m pausefl.tools.recompute`` computes one run of each scenario, selector and code that made runs, and
a part of each study, and writes ``verified.json`` beside the published results (`pausefl.results.verified`).
A result is found again only with the data, the libraries and a processor like those that it was made with.
One that was trained on a GPU is compared where there is one.
``--draw N`` compares N runs drawn at random from all seeds, whether compared before or not, and records
nothing; how many rounds of long runs is drawn, too.
"""

from __future__ import annotations

import datetime
import io
import json
import math
import multiprocessing
import os
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import torch
import typer

from pausefl.data.dataset import load_dataset
from pausefl.data.partition import make_partition
from pausefl.data.sources import dataset_key, prepare
from pausefl.errors import PauseflError
from pausefl.federated.job import Job
from pausefl.federated.run import run_job
from pausefl.files import write_text
from pausefl.provenance import hardware, job_code
from pausefl.results.differences import difference
from pausefl.results.published import (
    LINES,
    TABLES,
    PublishedRuns,
    RunFiles,
    check_study,
    read_manifest,
    read_study,
    run_folder,
    study_codes,
)
from pausefl.results.runs import has_settings
from pausefl.results.verified import FILE, digest_of, still_verified
from pausefl.settings import Experiment, RawData, Scenario, load_scenario
from pausefl.streams import Streams
from pausefl.studies import Studies, Study, load_studies

#: A run that took longer than this is computed again for `PREFIX` rounds only; if it was drawn, for any
#: number of rounds from `PREFIX` to those that take as long.
LONGEST_S = 120.0
PREFIX = 2
#: What is computed again of a study: its first seed, and no more rounds or instances than this.
_SHORTENED = {"n_rounds": 300, "n_instances": 20}
#: Columns that say which part of a study a row belongs to.
_PARTS = (
    *("selector", "seed", "instance", "temperature_divisor", "round"),
    *("mechanism", "sampler", "epsilon", "observation"),
)
#: Columns that a run has only in rounds after which it was evaluated; a prefix ends with an evaluation.
_EVALUATED = ["accuracy", "loss"]

Entry = dict[str, Any]


@dataclass(frozen=True)
class _Task:
    """One comparison to make: its place in the file, today's code, what compares, and its arguments."""

    section: str
    name: str
    code: str
    work: Callable[..., Entry]
    arguments: tuple[Any, ...]


def recompute(
    published: Path,
    scenarios: Path,
    studies: Path,
    raw: RawData,
    only: str = "",
    draw: int = 0,
    n_processes: int = 2,
    tell: Callable[[str], None] = print,
) -> bool:
    """Compute published results again and record which are the same; what is recorded already is left out.

    Returns whether all that was compared is equal. With ``only``, that is what has this in its name. With
    ``draw``, so many of all runs are drawn and compared instead, and nothing is recorded. Each of the
    processes has one thread. ``tell`` is called with a line on each comparison.

    Raises
    ------
    PauseflError
        If nothing has ``only`` in its name, or data are missing.
    """
    with tempfile.TemporaryDirectory() as prepared:
        tasks = list(_run_tasks(published, scenarios, raw, Path(prepared), bool(draw)))
        if not draw:
            tasks += _study_tasks(published, load_studies(studies, scenarios))
        chosen = [task for task in tasks if only in task.name]
        if only and not chosen:
            raise PauseflError(f"nothing that was published has '{only}' in its name")
        if draw:
            drawn = random.SystemRandom().sample(chosen, min(draw, len(chosen)))
            tell(f"{len(drawn)} of {len(chosen)} runs")
            compared = list(_compared(drawn, raw, Path(prepared), n_processes, tell))
            return all(entry["equal"] is not False for _, entry in compared)
        there = {(task.section, task.name) for task in tasks}
        found = {
            section: {name: entry for name, entry in entries.items() if (section, name) in there}
            for section, entries in still_verified(published).items()
        }
        due = [task for task in chosen if found[task.section].get(task.name, {}).get("code") != task.code]
        tell(f"{len(chosen)} comparisons, {len(chosen) - len(due)} made already under this code")
        digests = read_manifest(published)
        for task, entry in _compared(due, raw, Path(prepared), n_processes, tell):
            if task.section == "runs" and entry["equal"] is None:
                continue  # another machine can
            entry["digest"] = digest_of(digests, task.section, task.name, entry)
            entry |= {"processor": hardware()["processor"], "date": str(datetime.date.today())}
            found[task.section][task.name] = entry
            ordered = {section: dict(sorted(entries.items())) for section, entries in found.items()}
            write_text(published / FILE, json.dumps(ordered, indent=1) + "\n")
    made = [(task, found[task.section][task.name]) for task in chosen if task.name in found[task.section]]
    for task, entry in made:
        if task.section == "studies" and not entry["equal"] and entry.get("made_with") != [task.code]:
            tell(f"studies/{task.name}: not computed by today's code, nor found equal under it")
    return all(entry["equal"] is not False for _, entry in made)


def _run_tasks(
    published: Path, scenarios: Path, raw: RawData, prepared: Path, every_seed: bool
) -> Iterator[_Task]:
    """One run of each scenario, selector and code that made it: the quickest of its seeds; or every run."""
    for path in sorted(published.glob(f"*/{LINES}")):
        runs, scenario = PublishedRuns(path.parent), load_scenario(path.parent.name, scenarios)
        in_folder = scenario.data.source in raw.folders
        dataset = prepared / f"{dataset_key(scenario.data, raw)}.npz"
        quickest: dict[tuple[str, str, str], tuple[float, Path]] = {}
        for selector, seed in sorted(runs.lines):
            summary = runs.summary((selector, seed))
            for table in TABLES:  # what was compared before must still be there
                runs.table(table, (selector, seed))
            folder = run_folder(published, Experiment(scenario.name, selector, seed))
            key = selector, folder.name if every_seed else summary["code_hash"], summary["device"]
            timed = _seconds(summary), folder
            quickest[key] = min(timed, quickest.get(key, timed))
        for (selector, name, device), (_, folder) in quickest.items():
            code = job_code(scenario, selector, device, in_folder=in_folder)
            arguments = (scenario, selector, folder, dataset, code, every_seed)
            yield _Task("runs", f"{scenario.name}/{selector}/{name}", code, _run_again, arguments)


def _seconds(summary: Mapping[str, Any]) -> float:
    """Seconds that a run took, with the training that it took over."""
    parts = (summary, summary.get("trained_by"))
    return math.fsum(float(part["timings_s"]["total"]) for part in parts if part is not None)


def _run_again(
    scenario: Scenario, selector: str, folder: Path, dataset: Path, code: str, drawn: bool
) -> Entry:
    """Compute the first rounds of a published run, or all, and compare them."""
    files = RunFiles.of(folder)
    made = files.summary()
    n_rounds, seed, device = (made[key] for key in ("n_rounds", "seed", "device"))
    about = {"seed": seed, "made_with": made["code_hash"], "code": code}
    if device == "cuda" and not torch.cuda.is_available():
        return about | _not_compared("it was trained on a GPU, and here is none")
    if (seconds := _seconds(made)) > LONGEST_S:
        within = max(PREFIX, int(n_rounds * LONGEST_S / seconds))
        n_rounds = random.SystemRandom().randint(PREFIX, within) if drawn else PREFIX
    data, network = load_dataset(dataset), scenario.network
    partition = make_partition(
        data.train_y, scenario.data, scenario.partition, network.n_users, Streams(seed)
    )
    with tempfile.TemporaryDirectory() as out:
        run_job(Job(scenario, selector, seed, n_rounds, device=device), data, partition, Path(out))
        rounds, ledger = (RunFiles(Path(out)).table(name) for name in TABLES)
    theirs, their_ledger = (files.table(name) for name in TABLES)
    problem = difference(*prefixes(rounds, theirs))
    if not problem and len(rounds) == len(theirs):
        problem = difference(ledger, their_ledger)
    if not has_settings(folder, scenario):
        problem = "settings differ"
    elif data.origin != made["dataset_origin"]:
        problem = f"data differ: {data.origin}"
    compared = f"{len(rounds)} of {len(theirs)} rounds"
    return about | _outcome(compared, problem)


def prefixes(again: pd.DataFrame, published: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows computed again, and as many of those published; of fewer rounds the evaluations that both have."""
    rows = published.iloc[: len(again)].reset_index(drop=True)
    if len(again) < len(published):
        for column in again.columns.intersection(_EVALUATED):
            both = again[column].notna() & rows[column].notna()
            again, rows = (table.assign(**{column: table[column].where(both)}) for table in (again, rows))
    return again, rows


def _study_tasks(published: Path, studies: Studies) -> Iterator[_Task]:
    """Every published study; run by run where each selector has files of its own."""
    for name, study in studies.items():
        folder = published / "studies" / name
        if not folder.is_dir():
            continue
        check_study(folder)
        for selector, code in study.codes().items():
            part = f"{name}/{selector}" if selector else name
            yield _Task("studies", part, code, _study_again, (study, selector, folder, code))


def _study_again(study: Study, selector: str, folder: Path, code: str) -> Entry:
    """Compute a part of a published study and compare it."""
    about = {"made_with": study_codes(folder, study.code_files())[selector], "code": code}
    if study.exclusive or study.trained:
        return about | _not_compared("it measures time" if study.exclusive else "it collects runs")
    plain = study.settings()
    changes: dict[str, Any] = {
        name: min(plain[name], limit) for name, limit in _SHORTENED.items() if name in plain
    }
    if "seeds" in plain:
        changes["seeds"] = plain["seeds"][:1]
    compared, problem, shortened = [], "", study.only(selector).replace(**changes)
    for name, again in shortened.compute(lambda line: None).items():
        files = shortened.files(shortened.data)
        file = next(file for file in files if Path(file).with_suffix("") == Path(name))
        published = read_study(folder, file)
        if published is None:
            raise PauseflError(f"{folder} has no {file}")
        if file.endswith(".csv"):
            again = pd.read_csv(io.StringIO(again.to_csv(index=False)))
        keys = [column for column in _PARTS if column in again.columns]
        if "n_instances" in changes and "instance" not in keys:
            continue  # of all instances together
        ours, theirs = again.set_index(keys), published.set_index(keys)
        common = ours.index.intersection(theirs.index)
        found = difference(ours.loc[common].reset_index(), theirs.loc[common].reset_index())
        compared.append(f"{name}: {len(common)} of {len(theirs)} rows")
        problem = problem or (f"{name}: {found}" if found else "")
    problem = problem or ("" if compared else "nothing could be compared")
    return about | _outcome("; ".join(compared), problem)


def _outcome(compared: str, problem: str) -> Entry:
    return {"compared": compared, "equal": not problem, "difference": problem}


def _not_compared(reason: str) -> Entry:
    return {"compared": f"nothing: {reason}", "equal": None, "difference": ""}


def _compared(
    tasks: Sequence[_Task], raw: RawData, prepared: Path, n_processes: int, tell: Callable[[str], None]
) -> Iterator[tuple[_Task, Entry]]:
    """Prepare the data of tasks and do them; each is reported when done."""
    data = {dataset_key(s.data, raw): s.data for t in tasks if isinstance(s := t.arguments[0], Scenario)}
    for key, settings in data.items():
        prepare(settings, raw).save(prepared / f"{key}.npz")
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    with ProcessPoolExecutor(n_processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        entries = pool.map(_do, tasks) if n_processes > 1 else map(_do, tasks)
        for task, entry in zip(tasks, entries, strict=True):
            outcome = {True: "equal", False: "DIFFERENT", None: "not compared"}[entry["equal"]]
            details = " ".join(filter(None, [entry["compared"], entry["difference"]]))
            tell(f"{task.section}/{task.name}: {outcome}, {details}")
            yield task, entry


def _do(task: _Task) -> Entry:
    """What a task finds; an error is a difference."""
    try:
        return task.work(*task.arguments)
    except PauseflError as error:
        return {"code": task.code} | _outcome("nothing", str(error))


def main(
    published: Path = Path("results/published"),
    scenarios: Path = Path("config/scenarios"),
    studies: Path = Path("config/studies.yaml"),
    data_root: Path = Path("data/raw"),
    data_folder: Annotated[
        list[str] | None, typer.Option(help="SOURCE=FOLDER: images in place of official files.")
    ] = None,
    only: Annotated[str, typer.Option(help="Part of the names of what is compared.")] = "",
    draw: Annotated[int, typer.Option(min=0, help="Runs to draw and compare instead; records nothing.")] = 0,
    processes: Annotated[int, typer.Option(min=1, help="Processes, of one thread each.")] = 2,
) -> None:
    """Compute published results again, and record in verified.json which are the same bit for bit."""
    folders = dict(item.split("=", 1) for item in data_folder or [])
    raw = RawData(root=data_root, download=False, folders=folders)
    try:
        equal = recompute(published, scenarios, studies, raw, only, draw, processes, typer.echo)
    except PauseflError as error:
        typer.secho(f"Error: {error}", fg=typer.colors.RED, err=True)
        raise SystemExit(2) from None
    raise SystemExit(0 if equal else 1)


if __name__ == "__main__":
    typer.run(main)
