"""Where data sets come from: official files, image folders, this package, or fixed random numbers.

The record of a source (`pausefl.registry.SOURCES`) names its raw files and its reader. A reader turns
the files into examples in a fixed order with a fixed test split, which depend on the settings alone, never on
the seed of an experiment. `pausefl.data.partition` decides which examples train and who holds them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pausefl.data.dataset import Dataset
from pausefl.data.sources.common import Examples, check_test_size, test_size
from pausefl.data.sources.official import download_files, find_problem
from pausefl.errors import ConfigError, DataError
from pausefl.registry.base import Record
from pausefl.registry.own import as_folder
from pausefl.registry.sources import SOURCES, SourceRecord
from pausefl.settings import DataSettings, RawData

#: How the key of a data set writes a setting: a short name and a type, so that 1 and 1.0 give one key.
_KEY_PARTS: dict[str, tuple[str, type]] = {
    "n_examples": ("n", int),
    "n_features": ("p", int),
    "noise_std": ("noise", float),
    "image_size": ("size", int),
    "test_fraction": ("test", float),
}


def find_record(settings: DataSettings, raw: RawData) -> SourceRecord:
    """Return the record of what the data are read from: the source, or the image folder that replaces it.

    Its ``code`` is the reader, which the hash of a job starts from.

    Raises
    ------
    ConfigError
        If the source is unknown.
    """
    record = SOURCES.find(settings.source)
    return record.in_folder if record.in_folder and settings.source in raw.folders else record


def prepare(settings: DataSettings, raw: RawData) -> Dataset:
    """Read the data set that a scenario asks for from raw files that are there.

    Parameters
    ----------
    settings
        Which source; ``n_train`` and ``n_validation`` play no part here.
    raw
        Where raw files are; nothing is downloaded.

    Raises
    ------
    DataError
        If raw data are missing, truncated, corrupt or contradict the settings.
    ConfigError
        If the source is unknown.
    """
    if missing := missing_files(settings, raw):
        raise DataError(_missing_message(settings, raw, missing))
    return Dataset(settings.source, *read_examples(settings, raw), origin=describe_origin(settings, raw))


def read_examples(settings: DataSettings, raw: RawData) -> Examples:
    """Run the reader of a data set; everything that numbers depend on starts here."""
    examples: Examples = find_record(settings, raw).load()(settings, raw_files(settings, raw))
    return examples


def raw_files(settings: DataSettings, raw: RawData) -> list[Path]:
    """Return the absolute paths of all raw files that the data set is made from; for images, their folder."""
    values = _values(settings, raw)
    return [raw.root.absolute() / name.format(**values) for name in find_record(settings, raw).files]


def missing_files(settings: DataSettings, raw: RawData) -> list[Path]:
    """Return those of `raw_files` that are not there."""
    return [path for path in raw_files(settings, raw) if not path.exists()]


def fetch(settings: DataSettings, raw: RawData) -> None:
    """Download the raw files if some are missing and that is allowed; `prepare` reports what is left."""
    if raw.download and find_record(settings, raw).torchvision and missing_files(settings, raw):
        download(settings.source, raw.root)


def download(source: str, root: Path) -> None:
    """Download the official files of a source to ``root``, over https, and verify the archives' checksums.

    Raises
    ------
    DataError
        If there is nothing to download, ``root`` is outside of the working directory, or the download fails.
        The message lists the missing files and says what to do.
    """
    if not SOURCES.find(source).torchvision:
        raise DataError(f"data source '{source}' has no files to download")
    settings, raw = DataSettings(source=source, n_validation=0), RawData(root=root, download=True, folders={})
    problem = find_problem(source, root) or download_files(source, root)
    if missing := missing_files(settings, raw):
        raise DataError(_missing_message(settings, raw, missing, problem))


def check_available(settings: DataSettings, raw: RawData) -> None:
    """Raise before any job starts if the data set cannot be made, as far as that shows without reading it.

    Raises
    ------
    DataError
        If files are missing and may not or cannot be downloaded, or ``test_fraction`` is missing or wrong.
    ConfigError
        If the source is unknown.
    """
    record = find_record(settings, raw)
    training_size(settings, raw)
    if missing := missing_files(settings, raw):
        can_download = bool(raw.download and record.torchvision)
        problem = find_problem(settings.source, raw.root) if can_download else ""
        if problem or not can_download:
            raise DataError(_missing_message(settings, raw, missing, problem))
    elif record.check:
        Record(record.check).load()(settings, raw_files(settings, raw))


def check_in_folder(source: str, folder: str) -> None:
    """Raise `ConfigError` unless a folder of images, with a name, may replace the files of a source."""
    fitting = [name for name, record in SOURCES.items() if record.in_folder or "folder" in record.requires]
    if source not in fitting:
        raise ConfigError(
            f"data source '{source}' is not read from a folder of images; these are: {', '.join(fitting)}"
        )
    if not folder:
        raise ConfigError("the name of the folder of images is empty")


def describe_origin(settings: DataSettings, raw: RawData) -> str:
    """Say what exactly a data set is made from, for a caption."""
    record = find_record(settings, raw)
    size = settings.image_size if "image_size" in record.optional else None
    resized = f", resized to {size} x {size}" if size else ""
    return record.origin.format(**_values(settings, raw)) + resized


def training_size(settings: DataSettings, raw: RawData) -> int | None:
    """Return the size of the training split, or None if it is not known without reading a file.

    Raises
    ------
    DataError
        If ``test_fraction`` leaves nothing for testing or for training.
    """
    record = find_record(settings, raw)
    n_examples = settings.n_examples if "n_examples" in record.requires else record.n_examples
    if not n_examples:
        return record.n_train or None
    check_test_size(settings, n_examples)
    return n_examples - test_size(settings, n_examples)


def dataset_key(settings: DataSettings, raw: RawData) -> str:
    """Name the file stem of a prepared data set: readable, and distinct for whatever yields distinct data.

    The contents of raw files and ``raw.root`` are not part of it.
    """
    record, values = find_record(settings, raw), _values(settings, raw)
    keys = {*record.requires, *record.optional}
    folder = values["folder"] if "folder" in keys else None
    source = as_folder(settings.source)
    parts = [source] if folder is None else [source, "from", _slug(folder)]
    for key in [*_KEY_PARTS, *sorted(keys - {*_KEY_PARTS, "folder"})]:
        if key in keys and values[key] is not None:
            short, kind = _KEY_PARTS.get(key, (key, str))
            parts.append(f"{short}{kind(values[key])}")
    # Different folders can have the same slug.
    return "-".join(parts if folder is None else [*parts, hashlib.sha256(folder.encode()).hexdigest()[:8]])


def _values(settings: DataSettings, raw: RawData) -> dict[str, Any]:
    """Return the settings that a record refers to; the folder is the replacement where there is one."""
    return {**vars(settings), "folder": raw.folders.get(settings.source, settings.folder)}


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")[-40:].strip("-") or "folder"


def _missing_message(settings: DataSettings, raw: RawData, missing: Iterable[Path], problem: str = "") -> str:
    """Say what is missing, where, and how to get it."""
    source, root, record = settings.source, raw.root.absolute(), find_record(settings, raw)
    listing = "".join(f"\n  {path}" for path in missing)
    lines = [f"data set '{source}' needs raw files that do not exist:{listing}", problem]
    if source in raw.folders:
        lines.append(f"Correct image_folders.{source}, a path below data_root = {root} or an absolute one.")
    elif "folder" in record.requires:
        lines.append(
            f"Correct the scenario's data.folder, a path below data_root = {root} or an absolute one."
        )
    elif record.torchvision:
        lines += [] if raw.download else ["Downloading is off (download: false)."]
        lines.append(
            "Either set data_root to the folder that holds these files, or run with download: true on a"
            f" machine with internet access, or download them on such a machine and copy them to {root}."
        )
    else:
        lines.append(f"Set data_root to the folder that holds these files, or copy them to {root}.")
    return "\n".join(line for line in lines if line)
