"""A data set from raw files: which are missing, downloading them, reading them.

A `Source` turns the files into examples in a fixed order with a fixed test split, which depend on the
settings alone, never on the seed of an experiment. `pausefl.data.partition` decides which examples train and
who holds them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pausefl.data.dataset import Dataset, check_examples
from pausefl.data.settings import DataSettings, RawData
from pausefl.data.sources import SOURCES
from pausefl.data.sources.base import Examples, Source
from pausefl.data.sources.torchvision_download import Official
from pausefl.errors import ConfigError, DataError
from pausefl.plugins import arguments, as_folder, build, naming

#: How the key of a data set writes a setting: a short name and a type, so that 1 and 1.0 give one key.
_KEY_PARTS: dict[str, tuple[str, type]] = {
    "n_examples": ("n", int),
    "n_features": ("p", int),
    "noise_std": ("noise", float),
    "image_size": ("size", int),
    "test_fraction": ("test", float),
}


#: Keys of texts that a key of a data set has a digest of, since they may have any characters.
_TEXTS = ("folder", "file", "label_column", "user_column")


def source_class(settings: DataSettings, raw: RawData) -> type[Source]:
    """Class of what the data are read from: the source, or the image folder that replaces its files.

    `ConfigError` if the source is unknown.
    """
    source = SOURCES.find(settings.source)
    return source.in_folder if source.in_folder and settings.source in raw.folders else source


def make_source(settings: DataSettings, raw: RawData) -> Source:
    """What the data are read from; `ConfigError` if the source is unknown."""
    return build(source_class(settings, raw), _values(settings, raw))


def _values(settings: DataSettings, raw: RawData) -> dict[str, Any]:
    """Values by key; the folder is the replacement where there is one."""
    return {**vars(settings), "folder": raw.folders.get(settings.source, settings.folder)}


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
    source = make_source(settings, raw)
    with naming(type(source), f"data source '{settings.source}'", "when it was read"):
        examples = Examples(*source.read(source.paths(raw.root)))
    dataset = Dataset(settings.source, **examples._asdict(), origin=source.describe())
    check_examples(f"data source '{settings.source}'", vars(dataset))
    return dataset


def raw_files(settings: DataSettings, raw: RawData) -> list[Path]:
    """Absolute paths of all raw files that the data set is made from; for images, their folder."""
    return make_source(settings, raw).paths(raw.root)


def missing_files(settings: DataSettings, raw: RawData) -> list[Path]:
    """Return those of `raw_files` that are not there."""
    return [path for path in raw_files(settings, raw) if not path.exists()]


def is_downloadable(settings: DataSettings, raw: RawData) -> bool:
    """Whether missing raw files may be downloaded, and can be."""
    return raw.download and issubclass(source_class(settings, raw), Official)


def fetch(settings: DataSettings, raw: RawData) -> None:
    """Download the raw files if some are missing and that is allowed; `prepare` reports what is left."""
    if is_downloadable(settings, raw) and missing_files(settings, raw):
        download(settings.source, raw.root)


def download(name: str, root: Path) -> None:
    """Download the official files of a source to ``root``, and verify the archives' checksums.

    By https, but for a class of torchvision that has other addresses.

    Raises
    ------
    DataError
        If there is nothing to download, ``root`` is outside of the working directory, or the download fails.
        The message lists the missing files and says what to do.
    """
    if not issubclass(source := SOURCES.find(name), Official):
        raise DataError(f"data source '{name}' has no files to download")
    settings, raw = DataSettings(source=name, n_validation=0), RawData(root=root, download=True, folders={})
    official = source()
    problem = official.find_problem(root) or official.download(root)
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
    source = make_source(settings, raw)
    source.training_size()
    if not (missing := missing_files(settings, raw)):
        source.check(source.paths(raw.root))
        return
    problem = ""
    if raw.download and isinstance(source, Official) and not (problem := source.find_problem(raw.root)):
        return
    raise DataError(_missing_message(settings, raw, missing, problem))


def check_in_folder(source: str, folder: str) -> None:
    """Raise `ConfigError` unless a folder of images, with a name, may replace the files of a source."""
    fitting = [name for name, one in SOURCES.items() if one.in_folder or "folder" in arguments(one)]
    if source not in fitting:
        raise ConfigError(
            f"data source '{source}' is not read from a folder of images; these are: {', '.join(fitting)}"
        )
    if not folder:
        raise ConfigError("the name of the folder of images is empty")


def training_size(settings: DataSettings, raw: RawData) -> int | None:
    """Size of the training split, or None if it is not known without reading a file.

    `DataError` if ``test_fraction`` leaves nothing for testing or for training.
    """
    return make_source(settings, raw).training_size()


def dataset_key(settings: DataSettings, raw: RawData) -> str:
    """Name the file stem of a prepared data set: readable, and distinct for whatever yields distinct data.

    The contents of raw files and ``raw.root`` are not part of it.
    """
    keys = set(arguments(source_class(settings, raw)))
    values = _values(settings, raw)
    texts = [str(values[key]) for key in _TEXTS if key in keys and values[key] is not None]
    name = as_folder(settings.source)
    parts = [name, "from", _slug(texts[0])] if texts else [name]
    for key in [*_KEY_PARTS, *sorted(keys - {*_KEY_PARTS, *_TEXTS})]:
        if key in keys and values[key] is not None:
            short, kind = _KEY_PARTS.get(key, (key, str))
            parts.append(f"{short}{kind(values[key])}")
    # Different texts can have the same slug.
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:8]
    return "-".join([*parts, digest] if texts else parts)


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")[-40:].strip("-") or "folder"


def _missing_message(settings: DataSettings, raw: RawData, missing: Iterable[Path], problem: str = "") -> str:
    """Say what is missing, where, and how to get it."""
    source, root, made_from = settings.source, raw.root.absolute(), source_class(settings, raw)
    listing = "".join(f"\n  {path}" for path in missing)
    lines = [f"data set '{source}' needs raw files that do not exist:{listing}", problem]
    near = []
    if root.is_dir():  # what a download that failed left begins with a dot
        inside = [path for path in root.iterdir() if path.is_dir() and not path.name.startswith(".")]
        near = [root.parent, *sorted(inside)]
    if other := next((one for one in near if not missing_files(settings, replace(raw, root=one))), None):
        lines.append(f"They are below {other}: set data_root to it.")
    if source in raw.folders:
        lines.append(f"Correct image_folders.{source}, a path below data_root = {root} or an absolute one.")
    elif key := next((key for key in ("folder", "file") if key in arguments(made_from)), ""):
        lines.append(
            f"Correct the scenario's data.{key}, a path below data_root = {root} or an absolute one."
        )
    elif issubclass(made_from, Official):
        lines += [] if raw.download else ["Downloading is off (download: false)."]
        lines.append(
            "Either set data_root to the folder that holds these files, or run with download: true on a"
            f" machine with internet access, or download them on such a machine and copy them to {root}."
        )
    else:
        lines.append(f"Set data_root to the folder that holds these files, or copy them to {root}.")
    return "\n".join(line for line in lines if line)
