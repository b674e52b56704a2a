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
from pausefl.files import replacing, write_text
from pausefl.results.differences import difference
from pausefl.results.published import (
    FILES,
    MANIFEST,
    TABLES,
    Key,
    PublishedRuns,
    RunFiles,
    digest_of,
    named,
    read_manifest,
    run_name,
    study_digest,
    study_file,
)
from pausefl.results.runs import read_runs
from pausefl.settings import Experiment
from pausefl.settings.changes import differing
from pausefl.settings.scenario import as_of_today

#: zstd's level; decompression takes as long at any.
_LEVEL = 19
#: Bytes of a page: a column has one, as zstd compresses page by page.
_PAGE = 2**26
#: How pyarrow's option for dictionaries is called here, among the other encodings.
_DICTIONARY = "dictionary"

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
    tables = {key: {name: there.table(name, key) for name in TABLES} for key in known}
    lines = dict(known)
    done: dict[str, list[Key]] = {"added": [], "replaced": [], "refused": []}
    for run, path in runs.items():
        key, summary = (run.selector, run.seed), summaries[run]
        own = {name: RunFiles(path).table(name) for name in TABLES}
        line = to_line(summary, own)
        if line == known.get(key) or (key in known and not replace and _same(line, known[key])):
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
                _write_rows({key: tables[key][name] for key in sorted(lines)}, path)
            staged[-1].write_text("".join(f"{line}\n" for _, line in sorted(lines.items())), "utf-8")
            # Lines need their digests.
            names = {run_name(scenario, *key): digest_of(json.loads(lines[key])) for key in changed}
            _add_digests(published, "runs", names)
    counts = [f"{len(keys)} {verb} ({named(keys)})" for verb, keys in done.items() if keys]
    if left := len(runs) - len(changed):
        counts.append(f"{left} there already")
    return [f"{scenario}: {', '.join(counts)}"]


def to_line(summary: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]) -> str:
    """The line of a run with this ``summary.json`` and these `TABLES`, without its end."""
    published = {name: digests.of_table(table) for name, table in tables.items()}
    published["summary"] = digest_of(summary)
    line = {"selector": summary["selector"], "seed": summary["seed"], **summary}
    return json.dumps(line | {"published": published}, separators=(",", ":"))


def _same(line: str, other: str) -> bool:
    """Whether two lines are of runs with the same settings and numbers."""
    ours, theirs = json.loads(line), json.loads(other)
    settings = (as_of_today(one["scenario"]) for one in (ours, theirs))
    return not differing(*settings) and all(ours["published"][n] == theirs["published"][n] for n in TABLES)


def _write_rows(tables: Mapping[Key, pd.DataFrame], target: Path) -> None:
    """Write a table of several runs one below the other."""
    frames = [table.assign(selector=selector, seed=seed) for (selector, seed), table in tables.items()]
    table = pd.concat(frames, ignore_index=True)
    columns = ["selector", "seed", *table.columns.drop(["selector", "seed"])]
    write_table(pa.Table.from_pandas(table[columns], preserve_index=False), target)


def _add_digests(published: Path, section: str, entries: Mapping[str, str]) -> None:
    there = read_manifest(published) if (published / MANIFEST).exists() else {"runs": {}, "studies": {}}
    _write_sorted(published / MANIFEST, there | {section: there[section] | dict(entries)})


def _write_sorted(path: Path, found: Mapping[str, Any]) -> None:
    write_text(path, json.dumps(found, indent=1, sort_keys=True) + "\n")


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
                write_table(_joined(own), staged)
            else:
                shutil.copyfile(own[0], staged)
    if changed or replace:
        _add_digests(target.parents[1], "studies", {target.name: study_digest(target)})
    written = ", ".join(path.name for path in changed)
    return [f"study {target.name}: {f'wrote {written}' if written else 'there already'}"]


def _joined(paths: Iterable[Path]) -> pa.Table:
    """The rows of tables, by selector and seed of their names; without pandas' description of its types."""
    ordered = sorted(paths, key=lambda path: (path.parent, [int(n) for n in re.findall(r"\d+", path.stem)]))
    return pa.concat_tables(pq.read_table(path).replace_schema_metadata(None) for path in ordered)


def _differ(sources: Iterable[Path], path: Path) -> bool:
    """Whether a published table has other values than the files that it is made of."""
    if path.suffix != ".parquet":
        return any(one.read_bytes() != path.read_bytes() for one in sources)
    return bool(difference(_joined(sources).to_pandas(), _joined([path]).to_pandas()))


def write_table(table: pa.Table, target: Path) -> None:
    """Write a Parquet file with the same values, each column in the encoding that zstd can compress best."""
    # Pandas' description of its index is left out: there is none but the numbers of the rows.
    table = table.replace_schema_metadata(None).combine_chunks()
    found = [_smallest(table.select([name])) for name in table.column_names]
    _write(table, target, dict(found))


def _smallest(column: pa.Table) -> tuple[str, str]:
    """Path of a column, and the encoding that makes it smallest."""
    (field,) = column.schema
    kind, path = field.type, field.name
    if pa.types.is_list(kind):
        kind, path = kind.value_type, f"{path}.list.element"
    encodings = ["PLAIN", _DICTIONARY]
    if pa.types.is_integer(kind):
        encodings += ["BYTE_STREAM_SPLIT", "DELTA_BINARY_PACKED"]
    elif pa.types.is_floating(kind):
        encodings += ["BYTE_STREAM_SPLIT"]

    def size(encoding: str) -> int:
        written = pa.BufferOutputStream()
        _write(column, written, {path: encoding})
        return int(written.tell())

    return path, min(encodings, key=size)


def _write(table: pa.Table, target: Any, encodings: Mapping[str, str]) -> None:
    pq.write_table(
        table,
        target,
        compression="zstd",
        compression_level=_LEVEL,
        use_dictionary=[path for path, encoding in encodings.items() if encoding == _DICTIONARY],
        column_encoding={path: one for path, one in encodings.items() if one != _DICTIONARY},
        write_statistics=False,
        store_schema=False,
        data_page_size=_PAGE,
    )
