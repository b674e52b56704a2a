"""The command line: one job (``run``), a configuration (``check``, ``plan``), verdicts (``claims``).

``explain`` and ``compare`` lead from results back to what they come from.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from pausefl.errors import PauseflError, StoppedError

app = typer.Typer(
    help="Privacy-aware bandit user selection for federated learning.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.command()
def run(
    scenario: Annotated[str, typer.Option(help="Name of a scenario: a file of the scenario folder.")],
    selector: Annotated[str, typer.Option(help="Name of a selector that applies to the scenario.")],
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random streams.")],
    out: Annotated[Path, typer.Option(help="Folder for rounds.parquet, ledger.parquet and summary.json.")],
    rounds: Annotated[int | None, typer.Option(min=1, help="Rounds; the scenario's by default.")] = None,
    train: Annotated[bool, typer.Option(help="Train and evaluate, or run the selection alone.")] = True,
    data_root: Annotated[Path, typer.Option(help="Folder of the raw data sets.")] = Path("data/raw"),
    data_folder: Annotated[
        str | None,
        typer.Option(help="Folder of class folders under the data root, in place of official files."),
    ] = None,
    data: Annotated[Path | None, typer.Option(help="Prepared data set (npz), in place of raw data.")] = None,
    download: Annotated[bool, typer.Option(help="Download raw data that are not there.")] = True,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    threads: Annotated[int, typer.Option(min=1, help="Threads of the arithmetic.")] = 1,
    genie: Annotated[bool, typer.Option(help="Compute the pseudo-regret against the genie.")] = False,
    scenarios: Annotated[Path, typer.Option(help="Folder of scenario files.")] = Path("config/scenarios"),
    save_every: Annotated[
        float, typer.Option(min=0, help="Least seconds between two saves of the job's state; 0: every round.")
    ] = 120.0,
    restart: Annotated[bool, typer.Option(help="Start anew, whatever state an earlier run left.")] = False,
) -> None:
    """Run one federated job: one scenario, one selector, one seed.

    The same command goes on with a job that was stopped or killed. SIGTERM and SIGINT stop it after the round
    in progress, with exit code 75.
    """
    from pausefl.data.dataset import load_dataset
    from pausefl.data.partition import make_partition
    from pausefl.data.sources import fetch, prepare
    from pausefl.federated.checkpoint import Saving
    from pausefl.federated.job import Job, run_job
    from pausefl.federated.runnable import check_runnable
    from pausefl.files import check_writable
    from pausefl.settings import RawData, load_scenario
    from pausefl.streams import Streams

    loaded = load_scenario(scenario, scenarios)
    check_runnable(loaded, [selector])
    check_writable(out)
    folders = {loaded.data.source: data_folder} if data_folder is not None else {}
    raw = RawData(data_root, download, folders)
    if data is None:
        fetch(loaded.data, raw)
    dataset = load_dataset(data) if data is not None else prepare(loaded.data, raw)
    partition = make_partition(
        dataset.train_y, loaded.data, loaded.partition, loaded.network.n_users, Streams(seed)
    )
    n_rounds = rounds or loaded.training.n_rounds
    job = Job(loaded, selector, seed, n_rounds, train, genie, device, threads)
    with _progress(f"{scenario} {selector} seed {seed}", n_rounds) as on_round:
        run_job(job, dataset, partition, out, on_round, Saving(save_every, restart))
    typer.echo(f"Wrote {out}/rounds.parquet, ledger.parquet and summary.json")


@app.command()
def check(
    config: Annotated[Path, typer.Option(help="Configuration file.")] = Path("config/config.yaml"),
) -> None:
    """Check a configuration and its scenarios, and list the experiment table."""
    from pausefl.federated.runnable import check_table
    from pausefl.settings import load_config, read_yaml

    loaded = load_config(read_yaml(config), str(config))
    check_table(loaded)
    jobs = Counter((row.scenario, row.selector) for row in loaded.experiments)
    for (name, selector), n_seeds in jobs.items():
        typer.echo(f"{name:32} {selector:20} {n_seeds} seeds")
    typer.echo(f"{len(loaded.experiments)} jobs in {len(loaded.scenarios)} scenarios: all of them can run")


@app.command()
def plan(
    config: Annotated[Path, typer.Option(help="Configuration file.")] = Path("config/config.yaml"),
) -> None:
    """List the jobs of a configuration with the core-hours and disk that they will take; runs nothing."""
    from pausefl.settings import load_config, read_yaml
    from pausefl.workflow.plan import shipped_rates, to_text

    typer.echo(to_text(load_config(read_yaml(config), str(config)), shipped_rates()))


@app.command()
def claims(
    config: Annotated[Path, typer.Option(help="Configuration file.")] = Path("config/config.yaml"),
    results: Annotated[Path, typer.Option(help="Folder with runs and studies.")] = Path("results"),
    partial: Annotated[bool, typer.Option(help="Judge what is there; missing runs are no error.")] = False,
    file: Annotated[Path, typer.Option(help="File of the claims.")] = Path("config/claims.yaml"),
) -> None:
    """Say of every claim of the papers whether the runs that are there reproduce it."""
    from pausefl.claims.page import to_text
    from pausefl.claims.records import Records
    from pausefl.claims.verdicts import evaluate
    from pausefl.errors import ConfigError
    from pausefl.settings import load_config, read_yaml
    from pausefl.settings.claims import load_claims, scales
    from pausefl.settings.studies import load_studies

    document = read_yaml(config)
    loaded = load_config(document, str(config))
    folder = Path(document["scenarios"])
    claimed, studies = load_claims(file, folder), load_studies(loaded.studies, folder)
    found = scales(claimed, loaded.scenarios, studies.names())
    if not found:
        raise ConfigError(f"no claim of {file} is tested on what {config} lists")
    for scale in found:
        records = Records(loaded.scenarios, loaded.experiments, studies, results)
        typer.echo(to_text(evaluate(claimed, records, scale, partial), scale), nl=False)
        for name in sorted(records.missing):
            typer.echo(f"missing: {name}")


@app.command()
def explain(
    figure: Annotated[str, typer.Argument(help="Name of a figure or study, e.g. pause_v2_fig8.")],
    config: Annotated[Path, typer.Option(help="Configuration file.")] = Path("config/config.yaml"),
    results: Annotated[Path, typer.Option(help="Folder of results.")] = Path("results"),
    studies: Annotated[Path, typer.Option(help="File of studies.")] = Path("config/studies.yaml"),
    captions: Annotated[Path, typer.Option(help="Folder of captions.")] = Path("workflow/report"),
) -> None:
    """Say where a figure comes from: table rows, runs, seeds, code, settings, warnings, deviations."""
    from pausefl.report import lineage
    from pausefl.settings import load_config, read_yaml

    document = read_yaml(config)
    loaded = load_config(document, str(config))
    project = lineage.Project(loaded, Path(document["scenarios"]), studies, results, captions)
    typer.echo(lineage.explain(figure, project))


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(help="Folder of a run, e.g. results/runs/SCENARIO/pause/seed-0.")],
    second: Annotated[Path, typer.Argument(help="Folder of another.")],
) -> None:
    """Lay two runs side by side: settings that differ, results, first round in which they differ."""
    from pausefl.results.compare import compare as compare_runs

    typer.echo(compare_runs(first, second))


@contextmanager
def _progress(label: str, n_rounds: int) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with t after each round; draws a bar where a person is watching."""
    if not sys.stderr.isatty():
        yield lambda t: None
        return
    with typer.progressbar(length=n_rounds, label=label, file=sys.stderr) as bar:
        yield lambda t: bar.update(t - bar.pos)


def main() -> None:
    """Entry point: errors a user can act on are shown as one message, without a traceback."""
    try:
        app()
    except StoppedError as stopped:
        typer.echo(str(stopped), err=True)
        raise SystemExit(os.EX_TEMPFAIL) from None
    except PauseflError as error:
        typer.secho(f"Error: {error}", fg=typer.colors.RED, err=True)
        raise SystemExit(2) from None
