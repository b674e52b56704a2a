"""Runs and tables in the form in which they are published: the same values, in files as small as can be."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pausefl.registry import STUDIES
from pausefl.settings.studies import Studies

#: zstd's level; decompression takes as long at any.
_LEVEL = 19


def publish(source: Path, target: Path) -> None:
    """Copy a file; a Parquet file is written anew, with the same values.

    Floats are split into streams of their first, second, … bytes and integers into their differences, which
    zstd can compress; columns of few values have a dictionary.

    Parameters
    ----------
    source
        A table (``.parquet``, ``.csv``) or a summary (``.json``).
    target
        Where to; its folder is made if need be.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.suffix != ".parquet":
        shutil.copyfile(source, target)
        return
    # Pandas' description of its index is left out: there is none but the numbers of the rows.
    table = pq.read_table(source).replace_schema_metadata(None)
    encodings = {path: encoding for name in table.column_names for path, encoding in _encoding(table, name)}
    pq.write_table(
        table,
        target,
        compression="zstd",
        compression_level=_LEVEL,
        use_dictionary=[name for name in table.column_names if name not in encodings],
        column_encoding=encodings,
        write_statistics=False,
        store_schema=False,
    )


def those_published(studies: Studies, folder: Path) -> Studies:
    """The studies that have a folder in ``folder``, and those that are computed in no time.

    All configurations share one file of studies, so it may list more than were published.
    """
    kept = {
        kind: {
            name: study
            for name, study in of_kind.items()
            if STUDIES[kind].instant or (folder / name).is_dir()
        }
        for kind, of_kind in studies
    }
    return Studies(**kept)


def _encoding(table: pa.Table, name: str) -> Iterator[tuple[str, str]]:
    """Path and encoding of a column that no dictionary of its values makes smaller."""
    kind = table.schema.field(name).type
    if pa.types.is_list(kind):
        yield f"{name}.list.element", "DELTA_BINARY_PACKED"
    elif pc.count_distinct(table[name]).as_py() > table.num_rows / 2:
        if pa.types.is_floating(kind):
            yield name, "BYTE_STREAM_SPLIT"
        elif pa.types.is_integer(kind):
            yield name, "DELTA_BINARY_PACKED"
