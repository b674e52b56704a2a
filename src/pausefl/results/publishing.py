"""Publishes finished runs and studies: writes the files that `pausefl.results.published` reads.

The same runs make the same bytes, in whatever order they are published.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from pausefl import digests
from pausefl.errors import PauseflError
from pausefl.files import replacing
from pausefl.results.differences import difference
from pausefl.results.published import (
    FILES,
    TABLES,
    Key,
    PublishedRuns,
    RunFiles,
    named,
    run_folder,
    study_file,
)
from pausefl.results.runs import read_runs
from pausefl.settings import Experiment
from pausefl.settings.changes import differing
from pausefl.settings.scenario import as_of_today

#: Said of what is published already with other content.
_REFUSED = "nothing was published. To replace what is there: snakemake republish, with the same options"


def publish_runs(runs: Mapping[Experiment, Path], published: Path, replace: bool = False) -> list[str]:
    """Add finished runs of one scenario to its published ones; a line on what was added, replaced and left.

    Published runs of the same selector and seed stay if they have the same settings and numbers, whatever
    else differs, such as times and code. Others are refused, unless they are to ``replace`` what is there.

    Raises
    ------
    PauseflError
        If a run cannot be used, is refused, or what is published is damaged.
    """
    _, summaries = read_runs(runs)
    scenario = next(iter(runs)).scenario
    folder = published / scenario
    there = PublishedRuns(folder)
    known = there.lines if any((folder / name).exists() for name in FILES) else {}
    # Nothing is written beside damaged runs.
    if known:
        read_runs({run: run_folder(published, run) for run in (Experiment(scenario, *key) for key in known)})
    lines, tables = dict(known), {key: {name: there.table(name, key) for name in TABLES} for key in known}
    done: dict[str, list[Key]] = {"added": [], "replaced": [], "refused": []}
    for run, path in runs.items():
        key = (run.selector, run.seed)
        own = {name: RunFiles(path).table(name) for name in TABLES}
        written = {**summaries[run].get("digests", {}), **{n: digests.of_table(own[n]) for n in TABLES}}
        line = {"selector": run.selector, "seed": run.seed, **summaries[run], "digests": written}
        if key in known and (line == known[key] or (not replace and _same(line, known[key]))):
            continue
        done["added" if key not in known else "replaced" if replace else "refused"].append(key)
        lines[key], tables[key] = line, own
    if refused := done.pop("refused"):
        raise PauseflError(
            f"scenario '{scenario}': published already with other settings or numbers: {named(refused)};"
            f" {_REFUSED}"
        )
    if changed := [key for keys in done.values() for key in keys]:
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(*(folder / name for name in FILES)) as staged:
            for name, path in zip(TABLES, staged, strict=False):
                write_table(_joined({key: tables[key][name] for key in sorted(lines)}), path)
            text = "".join(f"{json.dumps(lines[key], separators=(',', ':'))}\n" for key in sorted(lines))
            staged[-1].write_text(text, "utf-8")
    counts = [f"{len(keys)} {verb} ({named(keys)})" for verb, keys in done.items() if keys]
    if left := len(runs) - len(changed):
        counts.append(f"{left} there already")
    return [f"{scenario}: {', '.join(counts)}"]


def _same(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
    """Whether two lines are of runs with the same settings and numbers."""
    settings = (as_of_today(one["scenario"]) for one in (ours, theirs))
    return not differing(*settings) and all(ours["digests"][n] == theirs["digests"][n] for n in TABLES)


def _joined(tables: Mapping[Key, pd.DataFrame]) -> pa.Table:
    """A table of several runs one below the other."""
    frames = [table.assign(selector=selector, seed=seed) for (selector, seed), table in tables.items()]
    table = pd.concat(frames, ignore_index=True)
    columns = ["selector", "seed", *table.columns.drop(["selector", "seed"])]
    return pa.Table.from_pandas(table[columns], preserve_index=False)


def publish_study(source: Path, files: Iterable[str], target: Path, replace: bool = False) -> list[str]:
    """Publish the tables of a study; a line on what was written.

    Files of one selector and seed get into one. What is published in ``target`` with other values is refused,
    unless it is to be replaced.
    """
    parts: dict[Path, list[Path]] = {}
    for name in files:
        parts.setdefault(study_file(target, name), []).append(source / name)
    changed = {path: own for path, own in parts.items() if not path.is_file() or _differ(own, path)}
    if (other := [path.name for path in changed if path.is_file()]) and not replace:
        raise PauseflError(
            f"study '{target.name}': published already with other values: {', '.join(other)}; {_REFUSED}"
        )
    target.mkdir(parents=True, exist_ok=True)
    for path, own in changed.items():
        with replacing(path) as (staged,):
            if path.suffix == ".parquet":
                write_table(_of_study(own), staged)
            else:
                shutil.copyfile(own[0], staged)
    written = ", ".join(path.name for path in changed)
    return [f"study {target.name}: {f'wrote {written}' if written else 'there already'}"]


def _of_study(paths: Iterable[Path]) -> pa.Table:
    """The rows of tables, by selector and seed of their names; without pandas' description of its types."""
    ordered = sorted(paths, key=lambda path: (path.parent, [int(n) for n in re.findall(r"\d+", path.stem)]))
    return pa.concat_tables(pq.read_table(path).replace_schema_metadata(None) for path in ordered)


def _differ(sources: Iterable[Path], path: Path) -> bool:
    """Whether a published table has other values than the files that it is made of."""
    if path.suffix != ".parquet":
        return any(one.read_bytes() != path.read_bytes() for one in sources)
    return bool(difference(_of_study(sources).to_pandas(), _of_study([path]).to_pandas()))


def write_table(table: pa.Table, target: Path) -> None:
    """Write a Parquet file as small as Git wants it: zstd at its best, and floats byte by byte."""
    floats = [field.name for field in table.schema if pa.types.is_floating(field.type)]
    pq.write_table(
        # Pandas' description of its index is left out: there is none but the numbers of the rows.
        table.replace_schema_metadata(None),
        target,
        compression="zstd",
        compression_level=19,
        use_dictionary=[field.name for field in table.schema if field.name not in floats],
        use_byte_stream_split=floats,
        write_statistics=False,
        store_schema=False,
    )
