"""What a file of another program is, for a message: by its first bytes, and by what is in an archive."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Collection
from pathlib import Path

#: How files begin.
_BEGIN = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow or Feather file",
    b"FEA1": "an Arrow or Feather file",
    b"\xff\xff\xff\xff": "an Arrow stream",
    b"PK\x05\x06": "a ZIP archive with nothing in it",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a single NumPy array (npy)",
    b"MATLAB 5.0": "a MATLAB file",
    b"SQLite format 3": "an SQLite database",
    b"\x89PNG": "an image (PNG)",
    b"\xff\xd8\xff": "an image (JPEG)",
    b"GIF8": "an image (GIF)",
    b"\x1f\x8b": "compressed by gzip",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ": "compressed by xz",
    b"7z\xbc\xaf": "a 7z archive",
    b"\x28\xb5\x2f\xfd": "compressed by Zstandard",
    b"\x00\x00\x08\x03": "an IDX file, as of MNIST",
    b"\x00\x00\x08\x01": "an IDX file, as of MNIST",
    b"\x80\x02": "a pickle",
    b"\x80\x03": "a pickle",
    b"\x80\x04": "a pickle",
    b"\x80\x05": "a pickle",
}
#: Files in ZIP archives that say whose they are.
_INSIDE = {
    "data.pkl": "a file of PyTorch",
    "[Content_Types].xml": "a document of an office program",
    "config.json": "a model of Keras",
}
#: A file whose first bytes say nothing.
_UNKNOWN = "of a kind that is not known here"
#: Most names that a message lists.
_N_LISTED = 8


def what_it_is(path: Path, mark: str, names: Collection[str]) -> str:
    """What a file is, in words that follow its name; empty if it is of pausefl, or was before damage.

    Files of pausefl have an array ``mark``, and of the one that is expected most of the arrays ``names``.
    """
    with path.open("rb") as file:
        begin = file.read(512)
    if not begin:
        return "empty"
    for first, what in _BEGIN.items():
        if begin.startswith(first):
            return what
    if begin.startswith(b"PK\x03\x04") or zipfile.is_zipfile(path):  # which looks at its end
        return _archive(path, mark, names)
    if tarfile.is_tarfile(path):
        return "a tar archive"
    if begin[8:9] == b"{" and int.from_bytes(begin[:8], "little") < path.stat().st_size:
        return "a safetensors file"
    try:
        text = begin.decode("utf-8-sig").lstrip()
    except UnicodeDecodeError as error:
        if error.start < len(begin) - 3:  # no letter that the 512 bytes end in
            return _UNKNOWN
        text = begin[: error.start].decode("utf-8-sig").lstrip()
    if any(ord(letter) < 32 and letter not in "\t\r\n" for letter in text):
        return _UNKNOWN
    return "JSON" if text.startswith(("{", "[")) else "a text"


def _archive(path: Path, mark: str, expected: Collection[str]) -> str:
    """What a ZIP archive is; an npz file is one."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, NotImplementedError):
        return ""
    arrays = [name.removesuffix(".npy") for name in names if name.endswith(".npy")]
    marked = any(name.startswith(f"{mark}.npy") for name in names)  # or runs into the next, if damaged
    if marked or 2 * len({*expected} & {*arrays}) > len(expected):
        return ""
    if names and len(arrays) == len(names):
        keras = "Keras's " if {"x_train", "y_train", "x_test", "y_test"} <= {*arrays} else "another "
        more = f" and {len(arrays) - _N_LISTED} more" if len(arrays) > _N_LISTED else ""
        return f"{keras}npz file, with the arrays {', '.join(arrays[:_N_LISTED])}{more}"
    inside = {name.rpartition("/")[2] for name in names}
    return next((what for name, what in _INSIDE.items() if name in inside), "a ZIP archive")
