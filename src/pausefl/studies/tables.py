"""Tables of studies: their files, and means over seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from pausefl.errors import PauseflError
from pausefl.files import replacing
from pausefl.results.published import read_study


def read_tables(folder: Path, files: Iterable[str]) -> dict[str, pd.DataFrame]:
    """Tables by the names of their files without suffix; ``.parquet`` or ``.csv``, relative to a folder."""
    tables = {_name(file): read_study(folder, file) for file in files}
    if missing := [name for name, table in tables.items() if table is None]:
        raise PauseflError(f"{folder} has no {', '.join(missing)}")
    return {name: table for name, table in tables.items() if table is not None}


def write_tables(tables: Mapping[str, pd.DataFrame], folder: Path, files: Iterable[str]) -> None:
    """Write tables to files, as `read_tables` finds them; folders are made if need be."""
    for file in files:
        path, table = folder / file, tables[_name(file)]
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as (staged,):
            if path.suffix == ".parquet":
                table.to_parquet(staged, index=False)
            else:
                table.to_csv(staged, index=False)


def across_seeds(runs: pd.DataFrame) -> pd.DataFrame:
    """Means and sample standard deviations over seeds.

    Parameters
    ----------
    runs
        One row a run, with index ``seed`` and whatever else tells runs apart, such as ``selector``.

    Returns
    -------
    pandas.DataFrame
        The index without ``seed``, ``n_seeds`` and each column with ``_mean`` and ``_sd``; infinite values
        have no deviation.
    """
    apart = [name for name in runs.index.names if name != "seed"]
    seeds = runs.groupby(apart, sort=False)
    deviations = runs.where(np.isfinite(runs)).groupby(apart, sort=False).std()
    across = seeds.mean().add_suffix("_mean").join(deviations.add_suffix("_sd"))
    across = across[[f"{column}_{kind}" for column in runs for kind in ("mean", "sd")]]
    across.insert(0, "n_seeds", seeds.size())
    return across.reset_index()


def _name(file: str) -> str:
    return Path(file).with_suffix("").as_posix()
