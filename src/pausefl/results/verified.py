"""Published results that were computed again, and found the same bit for bit, under later code.

``python -m pausefl.results.verified`` computes again one run of each scenario, selector and code that made
runs, and a part of each study. It writes ``verified.json`` beside the published results. What it found equal
under today's code is as good as made by it (`current_codes`), as long as it has the digest that it had then.
A result is found again only with the data, the libraries and a processor like those that it was made with.
``--draw N`` compares N runs drawn at random from all seeds, whether compared before or not, and records
nothing; how many rounds of long runs is drawn, too.
"""

from __future__ import annotations

import datetime
import json
import math
import multiprocessing
import os
import random
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd
import typer

from pausefl.errors import PauseflError
from pausefl.files import replacing
from pausefl.provenance import hardware, job_code
from pausefl.registry import SOURCES
from pausefl.results import manifest
from pausefl.results.published import LINES, TABLES, PublishedRuns, RunFiles, read_study, run_folder
from pausefl.results.reading import read_json, read_table, study_codes
from pausefl.results.runs import has_settings
from pausefl.settings import Experiment, RawData, Scenario, load_scenario

if TYPE_CHECKING:
    from pausefl.studies import Studies

#: Name of the file with what was found.
FILE = "verified.json"
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
_EVALUATED = ("accuracy", "loss")


def current_codes(scenario: Scenario, selectors: Iterable[str], published: Path) -> dict[str, list[str]]:
    """Hashes of a job's code whose runs count as made by today's code, by selector.

    That is today's code on any device and kind of raw files, and the code of published runs that were found
    equal under it.

    Parameters
    ----------
    scenario, selectors
        Whose runs.
    published
        Folder of published results.
    """
    known = _certified(published)["runs"]
    folders = (False, True) if SOURCES.find(scenario.data.source).in_folder is not None else (False,)
    found = {}
    for selector in selectors:
        codes = [
            job_code(scenario, selector, device, in_folder=in_folder)
            for device in ("cpu", "cuda")
            for in_folder in folders
        ]
        equal = [
            entry["made_with"]
            for name, entry in known.items()
            if name.startswith(f"{scenario.name}/{selector}/") and entry["equal"] and entry["code"] in codes
        ]
        found[selector] = list(dict.fromkeys(codes + equal))
    return found


def current_study_codes(name: str, today: Mapping[str, str], published: Path) -> dict[str, list[str]]:
    """As `current_codes`, of a study: by selector where each run is a job of its own, else under "".

    An empty text is among them where what computed the published study is not recorded, and the study was
    found equal under today's code.

    Parameters
    ----------
    name
        Of the study.
    today
        Hashes of today's code (`pausefl.studies.base.Study.codes`).
    published
        Folder of published results.
    """
    known = _certified(published)["studies"]
    found = {}
    for selector, code in today.items():
        entry = known.get("/".join(filter(None, (name, selector))), {})
        equal = entry.get("made_with", [""]) if entry.get("equal") and entry["code"] == code else []
        found[selector] = list(dict.fromkeys([str(code), *equal]))
    return found


def _seconds(summary: Mapping[str, Any]) -> float:
    """Seconds that a run took, with the training that it took over."""
    parts = (summary, summary.get("trained_by"))
    return math.fsum(float(part["timings_s"]["total"]) for part in parts if part is not None)


def difference(again: pd.DataFrame, published: pd.DataFrame, rtol: float = 0.0) -> str:
    """The first column and row in which rows computed again differ from those published; empty if none does.

    The first column names the rows. With fewer rounds than were published, evaluations are compared where
    both have one. Floats are equal within the relative difference ``rtol``.
    """
    rows = published.iloc[: len(again)]
    if list(again.columns) != list(published.columns) or len(rows) < len(again):
        return "other columns or rows"
    for column in again.columns:
        ours, theirs = again[column].to_numpy(), rows[column].to_numpy()
        if ours.dtype.kind == "f":
            same = np.isclose(ours, theirs, rtol=rtol, atol=0.0, equal_nan=True)
            if len(again) < len(published) and column in _EVALUATED:
                same |= np.isnan(ours) | np.isnan(theirs)
        else:
            same = np.fromiter(map(np.array_equal, ours, theirs), bool, len(ours))
        if not same.all():
            name = again.columns[0]
            return f"column {column} differs in {name} {again[name].iloc[np.argmin(same)]}"
    return ""


def _run_again(
    scenario: Scenario, selector: str, folder: Path, dataset: Path, in_folder: bool, drawn: bool
) -> dict[str, Any]:
    """Compute the first rounds of a published run, or all, and compare them."""
    from pausefl.data.dataset import load_dataset
    from pausefl.data.partition import make_partition
    from pausefl.federated.job import Job
    from pausefl.federated.run import run_job
    from pausefl.streams import Streams

    files = RunFiles.of(folder)
    made = files.summary()
    n_rounds = made["n_rounds"]
    if (seconds := _seconds(made)) > LONGEST_S:
        within = max(PREFIX, int(n_rounds * LONGEST_S / seconds))
        n_rounds = random.SystemRandom().randint(PREFIX, within) if drawn else PREFIX
    data = load_dataset(dataset)
    streams = Streams(made["seed"])
    partition = make_partition(
        data.train_y, scenario.data, scenario.partition, scenario.network.n_users, streams
    )
    published = {name: files.table(name) for name in TABLES}
    with tempfile.TemporaryDirectory() as out:
        run_job(Job(scenario, selector, made["seed"], n_rounds, device="cpu"), data, partition, Path(out))
        again = {name: RunFiles(Path(out)).table(name) for name in TABLES}
    rounds, ledger = TABLES
    problem = difference(again[rounds], published[rounds])
    if not problem and len(again[rounds]) == len(published[rounds]):
        problem = difference(again[ledger], published[ledger])
    if not has_settings(folder, scenario):
        problem = "settings differ"
    elif data.origin != made["dataset_origin"]:
        problem = f"data differ: {data.origin}"
    return {
        "seed": made["seed"],
        "made_with": made["code_hash"],
        "code": job_code(scenario, selector, in_folder=in_folder),
        "compared": f"{len(again[rounds])} of {len(published[rounds])} rounds",
        **_outcome(problem),
    }


def _study_again(study: Any, folder: Path) -> dict[str, Any]:
    """Compute a part of a published study and compare it."""
    today, made_with = study.codes(), study_codes(folder, study.code_files())
    ((selector, code),) = today.items()
    about = {"made_with": made_with[selector], "code": code}
    if study.exclusive or study.trained:
        reason = "it measures time" if study.exclusive else "it collects runs"
        return {**about, "compared": f"nothing: {reason}", "equal": None, "difference": ""}
    plain = study.settings()
    changes: dict[str, Any] = {
        name: min(plain[name], limit) for name, limit in _SHORTENED.items() if name in plain
    }
    if "seeds" in plain:
        changes["seeds"] = plain["seeds"][:1]
    compared, problem, shortened = [], "", study.replace(**changes)
    for name, again in shortened.compute(lambda line: None).items():
        files = shortened.files(shortened.data)
        file = next(file for file in files if Path(file).with_suffix("") == Path(name))
        published = read_study(folder, file)
        if published is None:
            raise PauseflError(f"{folder} has no {file}")
        if file.endswith(".csv"):
            again = _through_csv(again)
        keys = [column for column in _PARTS if column in again.columns]
        if "n_instances" in changes and "instance" not in keys:
            continue  # of all instances together
        ours, theirs = again.set_index(keys), published.set_index(keys)
        common = ours.index.intersection(theirs.index)
        found = difference(ours.loc[common].reset_index(), theirs.loc[common].reset_index())
        compared.append(f"{name}: {len(common)} of {len(theirs)} rows")
        problem = problem or (f"{name}: {found}" if found else "")
    problem = problem or ("" if compared else "nothing could be compared")
    return {**about, "compared": "; ".join(compared), **_outcome(problem)}


def _through_csv(table: pd.DataFrame) -> pd.DataFrame:
    """A table as it is after it was written and read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        table.to_csv(path, index=False)
        return read_table(path)


def _outcome(problem: str) -> dict[str, Any]:
    return {"equal": not problem, "difference": problem}


@dataclass(frozen=True)
class _Task:
    """One comparison to make.

    Attributes
    ----------
    section, name
        Its place in the file.
    code
        Today's hash of the code.
    work
        What compares, and its arguments.
    """

    section: str
    name: str
    code: str
    work: tuple[Callable[..., dict[str, Any]], tuple[Any, ...]]


def _run_tasks(
    published: Path, scenarios: Path, raw: RawData, prepared: Path, every_seed: bool = False
) -> Iterator[_Task]:
    """One run of each scenario, selector and code that made it: the quickest of its seeds; or every run."""
    from pausefl.data.sources import dataset_key

    for path in sorted(published.glob(f"*/{LINES}")):
        runs = PublishedRuns(path.parent)
        scenario = load_scenario(path.parent.name, scenarios)
        in_folder = scenario.data.source in raw.folders
        dataset = prepared / f"{dataset_key(scenario.data, raw)}.npz"
        quickest: dict[tuple[str, str], tuple[float, Path]] = {}
        for selector, seed in sorted(runs.lines):
            summary = runs.summary((selector, seed))
            for name in TABLES:  # what was compared before must still be there
                runs.table(name, (selector, seed))
            folder = run_folder(published, Experiment(scenario.name, selector, seed))
            timed, name = (_seconds(summary), folder), folder.name if every_seed else summary["code_hash"]
            quickest[selector, name] = min(timed, quickest.get((selector, name), timed))
        for (selector, name), (_, folder) in quickest.items():
            code = job_code(scenario, selector, in_folder=in_folder)
            work = (_run_again, (scenario, selector, folder, dataset, in_folder, every_seed))
            yield _Task("runs", f"{scenario.name}/{selector}/{name}", code, work)


def _study_tasks(published: Path, studies: Studies) -> Iterator[_Task]:
    """Every published study; run by run where each selector has files of its own."""
    for name, study in studies.items():
        folder = published / "studies" / name
        if not folder.is_dir():
            continue
        manifest.check_study(folder)
        for selector, code in study.codes().items():
            part = f"{name}/{selector}" if selector else name
            yield _Task("studies", part, code, (_study_again, (study.only(selector), folder)))


def _certified(published: Path) -> dict[str, dict[str, Any]]:
    """What was found so far of results that are still as they were then."""
    if not (published / FILE).is_file():
        return {"runs": {}, "studies": {}}
    digests, found = manifest.read(published), read_json(published / FILE)
    return {
        section: {
            name: entry
            for name, entry in entries.items()
            if (digest := entry.get("digest")) and digest == _digest(digests, section, name, entry)
        }
        for section, entries in found.items()
    }


def _digest(digests: manifest.Digests, section: str, name: str, entry: Mapping[str, Any]) -> str | None:
    """Of the run, or the study, that an entry is about; None if it is about none that is published."""
    if section == "runs":
        return digests[section].get(f"{name.rpartition('/')[0]}/seed-{entry.get('seed')}")
    return digests[section].get(name.partition("/")[0])


def _write(file: Path, found: Mapping[str, Mapping[str, Any]]) -> None:
    ordered = {section: dict(sorted(entries.items())) for section, entries in found.items()}
    with replacing(file) as (temporary,):
        temporary.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")


def _named(tasks: Iterable[_Task], only: str) -> list[_Task]:
    """Those with ``only`` in their name; `PauseflError` if there are none."""
    named = [task for task in tasks if only in task.name]
    if only and not named:
        raise PauseflError(f"nothing that was published has '{only}' in its name")
    return named


def _compared(
    tasks: Sequence[_Task], raw: RawData, prepared: Path, n_processes: int, tell: Callable[[str], None]
) -> Iterator[tuple[_Task, dict[str, Any]]]:
    """Prepare the data of tasks and do them; each is told as it is done."""
    from pausefl.data.sources import dataset_key, prepare

    data = {dataset_key(s.data, raw): s.data for t in tasks if isinstance(s := t.work[1][0], Scenario)}
    for key, settings in data.items():
        prepare(settings, raw).save(prepared / f"{key}.npz")
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    for task, entry in _results(tasks, n_processes):
        outcome = {True: "equal", False: "DIFFERENT", None: "not compared"}[entry["equal"]]
        details = " ".join(filter(None, [entry["compared"], entry["difference"]]))
        tell(f"{task.section}/{task.name}: {outcome}, {details}")
        yield task, entry


def _results(tasks: Iterable[_Task], n_processes: int) -> Iterator[tuple[_Task, dict[str, Any]]]:
    """Tasks and what came out of them, as they are done; one process is this one."""
    if n_processes == 1:
        for task in tasks:
            yield task, _done(task)
        return
    with ProcessPoolExecutor(n_processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        running = {pool.submit(_done, task): task for task in tasks}
        for done in as_completed(running):
            yield running[done], done.result()


def _done(task: _Task) -> dict[str, Any]:
    """Do a task; an error is a difference."""
    work, arguments = task.work
    try:
        return work(*arguments)
    except PauseflError as error:
        return {"code": task.code, "compared": "nothing", **_outcome(str(error))}


def verify(
    published: Path,
    scenarios: Path,
    studies: Path,
    raw: RawData,
    only: str = "",
    n_processes: int = 2,
    tell: Callable[[str], None] = print,
) -> bool:
    """Compute published results again and record which are the same; what is recorded already is left out.

    Parameters
    ----------
    published
        Folder of published results.
    scenarios, studies
        Folder of scenario files, and the file of studies.
    raw
        Where raw data are.
    only
        Part of the names of what is compared; everything by default.
    n_processes
        Processes, of one thread each.
    tell
        Is told a line on each comparison.

    Returns
    -------
    bool
        Whether all that was compared is equal.

    Raises
    ------
    PauseflError
        If nothing has ``only`` in its name, or data are missing.
    """
    from pausefl.studies import load_studies

    found, digests = _certified(published), manifest.read(published)
    with tempfile.TemporaryDirectory() as prepared:
        tasks = [
            *_run_tasks(published, scenarios, raw, Path(prepared)),
            *_study_tasks(published, load_studies(studies, scenarios)),
        ]
        for section, entries in found.items():
            there = {task.name for task in tasks if task.section == section}
            found[section] = {name: entry for name, entry in entries.items() if name in there}
        tasks = _named(tasks, only)
        due = [task for task in tasks if found[task.section].get(task.name, {}).get("code") != task.code]
        tell(f"{len(tasks)} comparisons, {len(tasks) - len(due)} made already under this code")
        for task, entry in _compared(due, raw, Path(prepared), n_processes, tell):
            entry |= {"digest": _digest(digests, task.section, task.name, entry)}
            entry |= {"processor": hardware()["processor"], "date": str(datetime.date.today())}
            found[task.section][task.name] = entry
            _write(published / FILE, found)
        for task in tasks:
            entry = found[task.section][task.name]
            if task.section == "studies" and not entry["equal"] and entry.get("made_with") != [task.code]:
                tell(f"studies/{task.name}: not computed by today's code, nor found equal under it")
    return all(found[task.section][task.name]["equal"] is not False for task in tasks)


def spot_check(
    published: Path,
    scenarios: Path,
    raw: RawData,
    n_runs: int,
    only: str = "",
    n_processes: int = 2,
    tell: Callable[[str], None] = print,
) -> bool:
    """Compute published runs drawn at random again, and compare them; all else as in `verify`."""
    with tempfile.TemporaryDirectory() as prepared:
        runs = _run_tasks(published, scenarios, raw, Path(prepared), every_seed=True)
        tasks = _named(runs, only)
        drawn = random.SystemRandom().sample(tasks, min(n_runs, len(tasks)))
        tell(f"{len(drawn)} of {len(tasks)} runs")
        compared = list(_compared(drawn, raw, Path(prepared), n_processes, tell))
    return all(entry["equal"] for _, entry in compared)


def main(
    published: Annotated[Path, typer.Option(help="Folder of published results.")] = Path("results/published"),
    scenarios: Annotated[Path, typer.Option(help="Folder of scenario files.")] = Path("config/scenarios"),
    studies: Annotated[Path, typer.Option(help="File of studies.")] = Path("config/studies.yaml"),
    data_root: Annotated[Path, typer.Option(help="Folder of the raw data sets.")] = Path("data/raw"),
    data_folder: Annotated[
        list[str] | None,
        typer.Option(
            help="SOURCE=FOLDER: a folder of images in place of official files, e.g. cifar10=cifar10."
        ),
    ] = None,
    only: Annotated[str, typer.Option(help="Part of the names of what is compared.")] = "",
    draw: Annotated[
        int, typer.Option(min=0, help="Compare this many runs drawn at random instead, and record nothing.")
    ] = 0,
    processes: Annotated[int, typer.Option(min=1, help="Processes, of one thread each.")] = 2,
) -> None:
    """Compute published results again, and record in verified.json which are the same bit for bit."""
    folders = dict(item.split("=", 1) for item in data_folder or [])
    raw = RawData(root=data_root, download=False, folders=folders)
    try:
        if draw:
            equal = spot_check(published, scenarios, raw, draw, only, processes, typer.echo)
        else:
            equal = verify(published, scenarios, studies, raw, only, processes, typer.echo)
    except PauseflError as error:
        typer.secho(f"Error: {error}", fg=typer.colors.RED, err=True)
        raise SystemExit(2) from None
    raise SystemExit(0 if equal else 1)


if __name__ == "__main__":
    typer.run(main)
