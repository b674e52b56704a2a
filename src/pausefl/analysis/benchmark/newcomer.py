"""A selector against the published ones: train its jobs, pair them, and write the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from pausefl.analysis.benchmark.comparisons import published, rows_of
from pausefl.analysis.benchmark.page import write_page
from pausefl.analysis.benchmark.suite import find_suite
from pausefl.analysis.benchmark.training import train
from pausefl.data.raw_data import check_available
from pausefl.errors import PauseflError
from pausefl.files import check_writable
from pausefl.runs.collected import run_folder
from pausefl.runs.run_id import RunId
from pausefl.settings import RawData


def run_benchmark(
    selector: str,
    out: Path,
    name: str,
    worlds: Sequence[str],
    labels: Sequence[str],
    seeds: Sequence[int],
    raw: RawData,
    n_workers: int,
    device: str,
    note: Callable[[str], None],
) -> tuple[Path, int]:
    """Compare a selector with the published ones; the page, and how many jobs failed.

    Parameters
    ----------
    selector
        ``MODULE:CLASS`` of one's own, or the name of a registered one. A published one is compared as it is
        published, and trains nothing.
    out
        Folder of its runs (``runs/SCENARIO/SELECTOR/seed-SEED``), tables, pictures and page.
    name
        Name of the benchmark.
    worlds, labels, seeds
        Parts of it; empty for all.
    raw
        Where data are.
    n_workers, device, note
        As `pausefl.analysis.benchmark.training.train` has them.

    Raises
    ------
    PauseflError
        Before anything is trained: for an unknown benchmark, world, law of labels or seed; if the selector
        can run in no world, or nothing is published that it can be compared with; if there is no such device,
        data are missing, or ``out`` cannot be written. Afterwards: if all jobs failed.
    """
    suite = find_suite(name).part(worlds, labels, seeds)
    cells, left_out = suite.runnable(selector)
    rivals = published(suite)
    check_writable(out)
    for cell, why in left_out.items():
        note(f"Not run in {suite.cells[cell].name}: {why}")
    if selector in set(rivals["selector"]):
        note(f"'{selector}' is published; nothing is trained")
        rows, failed = rivals, []
    else:
        from pausefl.training.engine import choose_device  # it loads torch

        choose_device(device)
        check_available(suite.cells[cells[0]].data, raw)
        jobs = {
            RunId(suite.cells[cell].name, selector, seed): (cell, suite.cells[cell])
            for seed in suite.seeds
            for cell in cells
        }
        folder = out / "runs"
        failed = train(
            {run: scenario for run, (_, scenario) in jobs.items()}, folder, raw, n_workers, device, note
        )
        lost = {one.run for one in failed}
        finished = {
            (cell, run.selector, run.seed): run_folder(folder, run)
            for run, (cell, _) in jobs.items()
            if run not in lost
        }
        if not finished:
            raise PauseflError(f"all {len(jobs)} jobs failed, one of them: {failed[0].why}")
        rows = pd.concat([rows_of(finished, suite), rivals], ignore_index=True)
    write_page(rows, suite, selector, out, left_out, failed)
    return out / "index.html", len(failed)
