"""A job's run under another reward, from a finished run that trained the same.

A selector that does not look at the reward selects the same users whatever it is. So models are the same to
the bit; only rewards and, with overlaps that cost time, latencies differ.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.errors import ConfigError, PauseflError
from pausefl.federated.checkpoint import STATE_FILE, Checkpoint, Saving, differences, identity_of_run, listed
from pausefl.federated.job import Job, identity_of, summary_of
from pausefl.federated.runnable import NOT_TRAINED, not_within
from pausefl.federated.simulation import Simulation
from pausefl.federated.untrained import Repeated
from pausefl.files import check_writable, locked
from pausefl.provenance import job_code
from pausefl.runs.run import read_folder, write_files
from pausefl.selectors import SELECTORS
from pausefl.settings.scenario import scenario_of_run
from pausefl.streams import Streams
from pausefl.training.sizes import model_layout

#: Columns of ``rounds.parquet`` that no reward changes: those of the selection, and those of training.
_SELECTED, _TRAINED = ["selection", "leakage_max", "leakage_mean"], ["train_loss", "accuracy", "loss"]


def with_reused_training(job: Job, dataset: Dataset, partition: Partition, trained: Path, out: Path) -> bool:
    """Write the files of a job to ``out``, with loss and accuracy of the finished run in ``trained``.

    Returns False, and writes nothing, if the job has to train: it ends earlier than the run, which was not
    evaluated then or had updates refused. A run that is damaged, trained anything else, or selected other
    users raises `PauseflError`.
    """
    check_writable(out)
    run = read_folder(trained)
    there, summary, rounds = identity_of_run(run), run.summary, run.rounds
    identity = identity_of(job, dataset, partition, summary["device"])
    checkpoint = Checkpoint(out / STATE_FILE, identity, Saving())
    code = job_code(scenario_of_run(there), there["selector"], genie=there["genie"])
    free = [*(f"scenario.{key}" for key in NOT_TRAINED), "genie", "n_threads", "versions"]
    differing = differences(there, identity | {"code": code})
    differing = {key: words for key, words in differing.items() if not_within(key, free)}
    if (facts := SELECTORS[job.selector]).uses_reward:
        differing["selector"] = f"selector '{job.selector}' looks at the reward"
    if differing:
        raise ConfigError(f"{trained} trained something else than this job would: {listed(differing)}")

    layout = model_layout(job.scenario.model, dataset)
    simulation = Simulation(job.scenario, job.selector, Streams(job.seed), partition, layout, None, job.genie)
    if facts.looks_at():
        simulation.select = Repeated(rounds["selection"].tolist())
    result = simulation.run(len(rounds))
    pairs = zip(result.rounds[_SELECTED].to_numpy(), rounds[_SELECTED].to_numpy(), strict=False)
    same = [all(map(np.array_equal, ours, theirs)) for ours, theirs in pairs]
    same.append(simulation.ended(job.n_rounds))  # else the run has too few rounds
    if not all(same):
        raise PauseflError(f"{trained} does not select as this job does: see round {same.index(False) + 1}")

    n = len(result.rounds)
    whole, refused, diverged = n == len(rounds), summary["refused_updates"], summary["diverged_round"]
    if not whole and (np.isnan(rounds["loss"].iloc[n - 1]) or refused["n"]):
        return False
    result.rounds[_TRAINED] = rounds[_TRAINED].iloc[:n]
    name, digest = summary["scenario"]["name"], summary["digests"]["rounds.parquet"]
    origin = {"scenario": name, "code_hash": summary["code_hash"], "rounds.parquet": digest}
    origin |= {key: summary[key] for key in ("versions", "hardware", "timings_s")}
    ours = summary_of(job, dataset, partition, identity, result, checkpoint.course(result.seconds)) | {
        "n_threads": summary["n_threads"],
        "diverged_round": diverged if (diverged or n) <= n else None,
        "refused_updates": refused,
        "class_accuracy": summary["class_accuracy"] if whole else None,  # known of the last model alone
        "trained_by": origin,
    }
    with locked(out, checkpoint.saving.note):
        write_files(result.rounds, result.ledger, ours, out)
        checkpoint.remove()
    return True
