"""Whether a folder already holds a finished run: that of a job, or of another, which stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.errors import ConfigError, PauseflError
from pausefl.federated.job import Job, data_digests
from pausefl.files import check_readable
from pausefl.provenance import job_code, versions
from pausefl.settings.changes import flattened
from pausefl.settings.scenario import as_of_today

#: Most differences that a message lists.
_N_TOLD = 4


def is_finished(job: Job, dataset: Dataset, partition: Partition, out: Path, repeat: bool = False) -> bool:
    """Whether ``out`` holds the finished run of a job, so that nothing is left to run.

    Parameters
    ----------
    job, dataset, partition
        What to run, on which data.
    out
        Folder of the results.
    repeat
        Whether to run the job again although it is finished; never in place of another.

    Raises
    ------
    PauseflError
        If there is a run that cannot be read, unless ``repeat``.
    ConfigError
        If ``out`` holds the run of another job, or of the same with other code, versions or machine settings
        that is not to be repeated. The message lists what differs.
    """
    path = out / "summary.json"
    if not path.exists():
        return False
    check_readable(path)
    check_readable(out / "rounds.parquet")
    try:
        summary = json.loads(path.read_text("utf-8"))
        genie = pc.count(pq.read_table(out / "rounds.parquet", columns=["pseudo_regret"])["pseudo_regret"])
        there = _plain({key: summary[key] for key in ("selector", "seed", "n_rounds", "trained")})
        there |= flattened({"scenario": as_of_today(summary["scenario"])}) | {"genie": bool(genie.as_py())}
        origin, data = summary["dataset_origin"], dict(summary.get("digests", {}))
        how = _plain({key: summary[key] for key in ("device", "n_threads", "versions")})
        code = summary["code_hash"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        if repeat:
            return False
        raise PauseflError(
            f"{out} holds a run that cannot be read ({type(error).__name__}: {error}). To run this job in its"
            " place: --force"
        ) from None
    asked = _plain(
        {
            "scenario": job.scenario.job_settings(),
            "selector": job.selector,
            "seed": job.seed,
            "n_rounds": job.n_rounds,
            "trained": job.train,
            "genie": job.genie,
        }
    )
    if not data:  # a run of an earlier version
        there["data"], asked["data"] = origin, dataset.origin
    others = [
        f"another {what} (of {origin}; asked for: of {dataset.origin})"
        for what, digest in data_digests(dataset, partition).items()
        if data.get(what, digest) != digest
    ]
    if differing := ", ".join(filter(None, [_differences(there, asked), *others])):
        raise ConfigError(
            f"{out} holds the finished run of another job: {differing}. It is not overwritten: use another"
            " folder"
        )
    if repeat:
        return False
    device = None
    if job.train:
        from pausefl.training.engine import choose_device

        device = str(choose_device(job.device))
    today = _plain({"device": device, "n_threads": job.n_threads, "versions": versions()})
    differing = _differences(how, today)
    codes = [
        job_code(job.scenario, job.selector, device or "cpu", genie=job.genie, in_folder=in_folder)
        for in_folder in (False, True)
    ]
    if code not in codes:
        differing = ", ".join(filter(None, ["code", differing]))
    if differing:
        raise ConfigError(f"{out} holds this job, finished with other {differing}. To run it again: --force")
    return True


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Values by dotted key, as JSON has them."""
    return flattened(json.loads(json.dumps(values)))


def _differences(there: dict[str, Any], asked: dict[str, Any]) -> str:
    """What differs, in words."""
    keys = [key for key in dict.fromkeys([*there, *asked]) if there.get(key) != asked.get(key)]
    parts = [f"{key} = {there.get(key)} (asked for: {asked.get(key)})" for key in keys[:_N_TOLD]]
    if len(keys) > _N_TOLD:
        parts.append(f"and {len(keys) - _N_TOLD} more")
    return ", ".join(parts)
