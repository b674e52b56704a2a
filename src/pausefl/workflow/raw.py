"""Raw files of data sets, as inputs and outputs of rules."""

from __future__ import annotations

from pathlib import Path

from pausefl.data.sources import check_available, find_record, missing_files, raw_files
from pausefl.settings import DataSettings
from pausefl.workflow.experiments import Experiments


def inputs(table: Experiments, dataset: str) -> list[str]:
    """Raw files, or the image folder, that a data set is made from.

    Raises
    ------
    DataError
        If they are not there and cannot be downloaded; the message lists what is missing.
    """
    settings = table.datasets[dataset]
    if not _downloadable(table, settings):
        check_available(settings, table.config.raw)
    return _files(table, settings)


def downloads(table: Experiments) -> dict[str, list[str]]:
    """Files to download, by source: all files of a source of which one is missing."""
    wanted = [settings for settings in table.datasets.values() if _downloadable(table, settings)]
    return {settings.source: _files(table, settings) for settings in wanted}


def _downloadable(table: Experiments, settings: DataSettings) -> bool:
    """Whether a file of a data set is missing and may be downloaded."""
    raw = table.config.raw
    can = raw.download and bool(find_record(settings, raw).torchvision)
    return can and bool(missing_files(settings, raw))


def _files(table: Experiments, settings: DataSettings) -> list[str]:
    """Raw files; relative to the working directory if the data root is."""
    raw: list[Path] = raw_files(settings, table.config.raw)
    root = table.config.raw.root
    return [str(root / path.relative_to(root.absolute())) for path in raw]
