"""The command line. Commands import what they need, so that ``--help`` is fast."""

from __future__ import annotations

import errno
import math
import os
import re
import resource
import shlex
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from pausefl import __version__
from pausefl.errors import ConfigError, PauseflError, StoppedError, suggest, to_install
from pausefl.files import path_of
from pausefl.stderr import heard

if TYPE_CHECKING:
    from pausefl.federated.watcher import Watcher
    from pausefl.reproduction.targets.project import Project

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _shipped(text: str) -> Path:
    """A file, or that of its name which comes with pausefl."""
    from pausefl.settings import home

    return path if (path := Path(text)).exists() or not (home() / path).exists() else home() / path


CONFIG, PUBLISHED = Path("config/config.yaml"), Path("results/published")
#: Address space of a small job on two cores, in GB.
_JOB_MEMORY = 2.0
ConfigFile = Annotated[Path, typer.Option(parser=_shipped, metavar="FILE", help="Configuration file.")]
ClaimsFile = Annotated[Path, typer.Option(parser=_shipped, metavar="FILE", help="File of claims.")]


def _folder(text: str) -> Path:
    """A folder that a user names; an empty text would be the working directory."""
    if not text:
        raise typer.BadParameter("the name of the folder is empty")
    return Path(text)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pausefl {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Privacy-aware bandit user selection for federated learning."""


@app.command()
def run(
    scenario: Annotated[str, typer.Option(help="Name of a scenario file, without .yaml.")],
    selector: Annotated[
        str,
        typer.Option(help="Name of any selector that can run in the scenario, or MODULE:CLASS of your own."),
    ],
    out: Annotated[
        Path,
        typer.Option(parser=_folder, help="Output folder: rounds.parquet, ledger.parquet, summary.json."),
    ],
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of all random streams.")] = 0,
    rounds: Annotated[
        int | None, typer.Option(min=1, max=10**7, help="Most rounds. Default: those of the scenario.")
    ] = None,
    train: Annotated[bool, typer.Option(help="Train and evaluate, or only select.")] = True,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A setting of the scenario, e.g. network.n_users=20. As often as needed.",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="Configuration file that says where data and scenarios are. Options go before it."),
    ] = None,
    data_root: Annotated[
        Path | None, typer.Option(help="Folder of raw data sets. Default: data/raw.", show_default=False)
    ] = None,
    data_folder: Annotated[
        str | None,
        typer.Option(
            help="Folder below the data root with one folder of images a class; replaces official files."
        ),
    ] = None,
    data: Annotated[Path | None, typer.Option(help="Prepared data set (npz); replaces raw data.")] = None,
    download: Annotated[
        bool | None, typer.Option(help="Download missing raw data. Default: yes.", show_default=False)
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    threads: Annotated[int, typer.Option(min=1, max=1024, help="Number of threads.")] = 1,
    genie: Annotated[bool, typer.Option(help="Compute the pseudo-regret.")] = False,
    scenarios: Annotated[
        Path | None,
        typer.Option(
            parser=_folder,
            help="Folder of your scenario files. What is not there is looked for in config/scenarios.",
            show_default=False,
        ),
    ] = None,
    save_every: Annotated[
        float, typer.Option(min=0, max=1e9, help="Least seconds between two checkpoints. 0: every round.")
    ] = 120.0,
    restart: Annotated[bool, typer.Option(help="Ignore the checkpoint of an earlier run.")] = False,
    force: Annotated[bool, typer.Option(help="Run the job again if it is finished.")] = False,
) -> None:
    """Run one job: one scenario, one selector, one seed.

    A finished run is never overwritten by another job.

    SIGTERM and SIGINT stop it after the current round, with exit code 75. The same command resumes a stopped
    or killed job.
    """
    # With less, libraries crash or wait for ever, some of them after the last round.
    if (limit := _memory_limit()) < _JOB_MEMORY:
        raise ConfigError(f"a job needs {_JOB_MEMORY:g} GB of address space; ulimit -v allows {limit:.1f} GB")
    from pausefl.analysis.run_report import run_report
    from pausefl.data.raw_data import check_in_folder
    from pausefl.federated.checkpoint import STATE_FILE, Saving, is_finished
    from pausefl.federated.job import Job
    from pausefl.federated.run_job import data_of_job, run_job
    from pausefl.federated.runnable import check_runnable
    from pausefl.federated.watcher import Watcher
    from pausefl.files import check_writable, locked
    from pausefl.reproduction.config import load_places
    from pausefl.settings import SHIPPED, home, load_scenario, with_changes

    if data_folder is not None and data is not None:
        raise ConfigError("--data replaces raw data, so --data-folder has no use: give only one of them")
    raw, folder = load_places(config, data_root, download, scenarios)
    loaded = with_changes(load_scenario(scenario, folder, home() / SHIPPED), settings or [])
    check_runnable(loaded, [selector])
    if data_folder is not None:
        check_in_folder(loaded.data.source, data_folder)
        raw = replace(raw, folders={loaded.data.source: data_folder})
    if not (out / "summary.json").exists():
        check_writable(out)
    n_rounds = rounds or loaded.training.n_rounds
    job = Job(loaded, selector, seed, n_rounds, train, genie, device, threads)
    dataset, partition = data_of_job(job, raw, data)
    if is_finished(job, dataset, partition, out, force):
        # A job that was killed after its last file left its state and its lock; a disk may be read-only.
        with suppress(OSError), locked(out, typer.echo):
            (out / STATE_FILE).unlink(missing_ok=True)
        typer.echo("Already finished; nothing was run. To run it again: --force")
    else:
        watcher = Watcher(n_rounds, horizon=loaded.training.horizon)

        def started(rows: list[dict[str, object]]) -> None:
            if is_finished(job, dataset, partition, out, force):  # now that no other process writes there
                raise PauseflError(f"{out}: another process has just finished this job")
            watcher.note(rows)

        with _followed(watcher, f"{scenario} {selector} seed {seed}"):
            run_job(job, dataset, partition, out, watcher, Saving(save_every, restart), started)
    typer.echo(run_report(out))


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(parser=_folder, metavar="FOLDER", help="Folder for the project.")],
) -> None:
    """Begin a project of your own: a workflow, a scenario on the built-in digits, a selector and its test."""
    from pausefl.reproduction.starting import start_project

    for name in start_project(folder):
        typer.echo(folder / name)
    typer.echo(
        f"\ncd {shlex.quote(str(folder))} && snakemake --cores 2    # figure, table and report in results"
    )


@app.command()
def check(config: ConfigFile = CONFIG) -> None:
    """Check a configuration with its scenarios, studies, names and data, and list its jobs."""
    from pausefl.reproduction.targets.checks import check as check_all
    from pausefl.reproduction.targets.checks import check_data

    project = _project(config)
    check_all(project)
    downloads = check_data(project)
    jobs = [job for job in project.config.experiments if job.scenario in project.own]
    for (name, selector), n_seeds in Counter((job.scenario, job.selector) for job in jobs).items():
        typer.echo(f"{name:32} {selector:20} {n_seeds} seeds")
    for line in project.undrawn.values():
        typer.echo(line)
    if downloads:
        typer.echo(f"To be downloaded: {', '.join(downloads)}")
    studies = f" and {n} studies" if (n := len(project.studies)) else ""
    scenarios = f"{(n := len(project.own))} scenario{'s' * (n != 1)}"
    typer.echo(f"{len(jobs)} jobs in {scenarios}{studies}: all of them can run")


@app.command()
def plan(
    target: Annotated[
        str, typer.Argument(help="A scenario, figure, study or claim_ID. Default: all of the configuration.")
    ] = "all",
    config: ConfigFile = CONFIG,
    cores: Annotated[
        int | None, typer.Option(min=1, help="Number of cores. Default: all.", show_default=False)
    ] = None,
) -> None:
    """Estimate what is left to run: jobs, core-hours, time on some cores."""
    from pausefl.reproduction.targets.plan import to_text

    typer.echo(to_text(_project(config), target, cores or len(os.sched_getaffinity(0))))


@app.command("list")
def list_all(
    kind: Annotated[str | None, typer.Argument(help="selectors, scenarios, figures or studies.")] = None,
    config: ConfigFile = CONFIG,
) -> None:
    """List selectors, scenarios, figures and studies with what they are and cost."""
    from pausefl.reproduction.targets.catalogue import KINDS, to_text

    if kind is not None and kind not in KINDS:
        raise ConfigError(f"unknown list '{kind}'. {suggest(kind, KINDS)}")
    project = _project(config)
    typer.echo("\n\n".join(to_text(project, one) for one in ([kind] if kind else KINDS)))


def _project(config: Path) -> Project:
    """A configuration with all that it names, as the workflow reads it."""
    from pausefl.reproduction.targets.project import Project
    from pausefl.settings import home, read_yaml

    return Project.load(read_yaml(config), home(), str(config))


@app.command()
def claims(
    context: typer.Context,
    config: ConfigFile = CONFIG,
    results: Annotated[Path, typer.Option(help="Folder with collected runs and studies.")] = Path("results"),
    partial: Annotated[
        bool, typer.Option(help="Judge the results that exist, even if some are missing.")
    ] = False,
    published: Annotated[
        bool, typer.Option("--published", help="Judge the published results, in place of one's own.")
    ] = False,
    missing: Annotated[bool, typer.Option("--missing", help="List what is missing, with --partial.")] = False,
    file: ClaimsFile = Path("config/claims.yaml"),
) -> None:
    """Judge the papers' claims on finished runs and studies.

    Scenarios are those of the configuration's folder, then those of config/scenarios.
    """
    from pausefl.reproduction.claims.formats import to_text
    from pausefl.reproduction.claims.load import load_claims, scales, scenarios_as_run
    from pausefl.reproduction.claims.records import Records
    from pausefl.reproduction.claims.verdicts import judge_claims

    runs, tables = results / "collected", results / "studies"
    if published:
        sources = {f"--{key}": context.get_parameter_source(key) for key in ("config", "results")}
        if given := [key for key, source in sources.items() if source and source.name != "DEFAULT"]:
            raise ConfigError(f"--published judges the published results alone: leave out {', '.join(given)}")
        if not PUBLISHED.is_dir():
            raise PauseflError(
                f"the published runs are in {PUBLISHED} of a checkout of the project, and not here: give the"
                " command there"
            )
        config, runs, tables = Path("config/published.yaml"), PUBLISHED, PUBLISHED / "studies"
    elif not results.is_dir() and str(results) != "results":
        raise PauseflError(f"--results: there is no folder {results}")
    project = _project(config)
    claimed = load_claims(file, *project.folders)
    scenarios = {name: project.scenarios[name] for name in project.own}
    found = scales(claimed, scenarios, project.studies)
    if not found:
        raise ConfigError(f"no claim of {file} is tested on a scenario or study of {config}")
    experiments = [one for name in scenarios for one in project.experiments[name]]
    for scale in found:
        logs = scenarios_as_run(claimed, *project.folders)
        records = Records(scenarios, experiments, project.studies, runs, tables, logs)
        judged = to_text(judge_claims(claimed, records, scale, partial), scale)
        lacking = f"; {len(records.missing)} results missing (names: --missing)" if records.missing else ""
        if not records.n_runs and not published and PUBLISHED.is_dir():
            lacking += f". On the runs in {PUBLISHED}: --published"
        typer.echo(f"Judged on {runs} and {tables}: {records.n_runs} runs{lacking}")
        typer.echo(judged, nl=False)
        for name in sorted(records.missing) if missing else ():
            typer.echo(f"missing: {name}")


@app.command()
def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Folders of runs, e.g. results/runs/demo_small/pause/seed-0, results/published/…/seed-0."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            parser=_folder,
            help="Write means over seeds, too: .tex (LaTeX), .md or .csv.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Compare runs: settings that differ, results, gaps of selectors, of two the first round that differs."""
    from pausefl.analysis.compare import compare as compare_runs
    from pausefl.analysis.compare import table_suffix, write_means
    from pausefl.analysis.paired import side_by_side
    from pausefl.runs.collected import runs_in

    if out is not None:
        table_suffix(out)
    typer.echo(compare_runs(*runs))
    if gaps := side_by_side(run for folder in runs for run in runs_in(folder)):
        typer.echo(f"\n{gaps}")
    if out is not None:
        write_means(runs, out)
        typer.echo(f"\nMeans over seeds: {out}")


@app.command()
def plot(
    runs: Annotated[
        list[Path], typer.Argument(help="Folders of runs, e.g. results/runs/demo_small/pause/seed-0.")
    ],
    figure: Annotated[
        str | None,
        typer.Option(
            help="Kind of figure, e.g. accuracy_vs_time. Default: the first that the runs can have."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=_folder,
            help="File: .png, .pdf, .svg, or .csv and .tex for the numbers. Default: KIND.png.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Plot runs of any scenarios, selectors and seeds.

    Seeds of a selector in the same settings are a line with their range; what differs is in its name.
    """
    try:
        from pausefl.analysis.figures.any_runs import plot_to
    except ModuleNotFoundError as error:
        raise PauseflError(to_install("a figure", error, "workflow")) from None

    typer.echo(plot_to(runs, figure, out, default=True)[1])


@app.command()
def benchmark(
    selector: Annotated[
        str, typer.Argument(help="MODULE:CLASS of your selector, or the name of a registered one.")
    ],
    out: Annotated[Path, typer.Option(parser=_folder, help="Folder of runs, tables, pictures and the page.")],
    name: Annotated[
        str, typer.Option("--benchmark", help="mnist, or digits, which needs no download.")
    ] = "mnist",
    worlds: Annotated[
        str, typer.Option(help="Some worlds, separated by commas. Default: all.", show_default=False)
    ] = "",
    labels: Annotated[
        str, typer.Option(help="Some laws of labels, separated by commas. Default: all.", show_default=False)
    ] = "",
    seeds: Annotated[
        str, typer.Option(help="Some of the published seeds, as 10,11,12. Default: all.", show_default=False)
    ] = "",
    quick: Annotated[bool, typer.Option("--quick", help="Three seeds of i.i.d. labels.")] = False,
    cores: Annotated[
        int | None, typer.Option(min=1, help="Processes at a time. Default: all cores.", show_default=False)
    ] = None,
    data_root: Annotated[Path, typer.Option(help="Folder of raw data sets.")] = Path("data/raw"),
    download: Annotated[bool, typer.Option(help="Download missing raw data.")] = True,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "cpu",
) -> None:
    """Compare a selector with the published ones, in several worlds and under the same seeds.

    Only its own jobs are trained. The same command goes on after a stop, and trains nothing twice.
    """
    try:
        from pausefl.analysis.benchmark.newcomer import run_benchmark
    except ModuleNotFoundError as error:
        raise PauseflError(to_install("the benchmark", error, "workflow")) from None
    from pausefl.settings import RawData

    page, failed = run_benchmark(
        selector,
        out,
        name,
        [one.strip() for one in worlds.split(",") if one.strip()],
        [one.strip() for one in labels.split(",") if one.strip()] or (["iid"] if quick else []),
        _seeds(seeds, quick),
        RawData(data_root, download, {}),
        cores or len(os.sched_getaffinity(0)),
        device,
        lambda line: typer.echo(line, err=True),
    )
    typer.echo(f"Page, tables and pictures: {page}")
    if failed:
        raise PauseflError(f"failed jobs: {failed}; the page says which, and why")


def _seeds(text: str, quick: bool) -> list[int]:
    """The seeds of an option; the first three of the published ones for a quick look."""
    if not text:
        return [10, 11, 12] if quick else []
    if not re.fullmatch(r"[0-9]{1,19}(,[0-9]{1,19})*", text):
        raise ConfigError(f"--seeds {text!r} must be whole numbers separated by commas, as 10,11,12")
    return [int(one) for one in text.split(",")]


@contextmanager
def _followed(watcher: Watcher, label: str) -> Iterator[Watcher]:
    """Show how far a job is: a bar on a terminal, else a line every 30 s."""
    from pausefl.federated.watcher import told
    from pausefl.progress import bar

    if not sys.stderr.isatty():
        with told(watcher, lambda line: typer.echo(line, err=True)):
            yield watcher
        return
    from rich.console import Console

    typer.echo(label, err=True)
    with bar(Console(stderr=True), lambda: (watcher.share, watcher.brief())):
        yield watcher
    typer.echo(watcher.line(), err=True)


def main() -> None:
    """Entry point. Errors that a user can act on appear as one message, without a traceback."""
    # A command writes files, and figures need no window or notebook that the caller may have asked for.
    os.environ["MPLBACKEND"] = "agg"
    # Shells leave ~ as it is behind an option's name: --out=~/run.
    arguments = [re.sub(r"^(--[\w-]+=)?(~.*)", _with_home, one) for one in sys.argv[1:]]
    warnings.formatwarning = lambda message, *_, **__: f"Warning: {message}\n"
    with heard():
        try:
            app(arguments)
        except StoppedError as stopped:
            typer.echo(str(stopped), err=True)
            raise SystemExit(os.EX_TEMPFAIL) from None
        except PauseflError as error:
            _fail(str(error))
        except MemoryError:
            _fail("there is not enough memory for this")
        except (ImportError, OSError, RuntimeError, SystemError) as error:
            # Libraries that get no memory say many things.
            if _memory_limit() < math.inf and getattr(error, "errno", None) in (None, errno.ENOMEM):
                _fail(
                    f"probably too little memory; ulimit -v allows {_memory_limit():.1f} GB: {_short(error)}"
                )
            if not isinstance(error, OSError):
                raise
            _fail(_short(error))


def _with_home(found: re.Match[str]) -> str:
    """The value of an option, or an argument, with a home folder in place of ``~``."""
    return (found[1] or "") + str(path_of(found[2]))


def _short(error: Exception) -> str:
    """An error in one line, with the file that it is about."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return (str(error).splitlines() or [type(error).__name__])[0]


def _memory_limit() -> float:
    """Address space that this process may have, in GB."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return math.inf if limit == resource.RLIM_INFINITY else limit / 1e9


def _fail(message: str) -> NoReturn:
    typer.secho(f"Error: {message}", fg=typer.colors.RED, err=True)
    raise SystemExit(2) from None
