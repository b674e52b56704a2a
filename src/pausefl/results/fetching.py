"""Gets published runs, or other data, from a deposit: by its DOI, or by the address of its files.

A deposit is what ``make archive`` makes: files side by side, and `pausefl.files.SUMS` with their digests.
Needs pooch, of the extra ``workflow``.
"""

from __future__ import annotations

import re
import tempfile
import zipfile
from pathlib import Path

from pausefl.errors import ConfigError, DataError, PauseflError
from pausefl.files import SUMS, check_writable
from pausefl.results.published import (
    LINES,
    MANIFEST,
    TABLES,
    PublishedRuns,
    check_study,
    read_manifest,
    run_name,
)

#: How the archive of published runs is called in a deposit, after the project and its version.
PUBLISHED_ENDING = "-published.zip"
#: Where published runs belong in the folder that one works in.
PLACE = Path("results/published")

_LINE = re.compile(r"([0-9a-f]{64}) [ *](\S.*)")
_DOI = re.compile(r"(?:doi:|https?://(?:dx\.)?doi\.org/)?(10\.\d{4,}/\S+)", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://[^/]+/?\S*")


def fetch(source: str, to: Path) -> Path:
    """Download and unpack an archive of a deposit, all of it or nothing.

    Parameters
    ----------
    source
        A deposit, of which the published runs are fetched, or one zip archive in it: ``10.5281/zenodo.N``,
        ``https://HOST/FOLDER`` or ``https://HOST/FOLDER/NAME.zip``.
    to
        Published runs get to `PLACE` below this folder; what else an archive has is the whole folder.

    Returns
    -------
    Path
        The folder that was made.

    Raises
    ------
    ConfigError
        If the source is neither DOI nor address, or the folder is there already.
    DataError
        If a file cannot be fetched, or is not the one that its digest is of.
    PauseflError
        If pooch is not installed, or the folder cannot be made.
    """
    base, name = _parts(source)
    _check_absent(to / PLACE, name)
    near = next(folder for folder in (to / PLACE).absolute().parents if folder.is_dir())
    check_writable(near)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=near) as temporary:
        here = Path(temporary)
        digests = _read_sums(_download(f"{base}/{SUMS}", here / SUMS), base)
        name = name or next((one for one in digests if one.endswith(PUBLISHED_ENDING)), None)
        if name not in digests:
            raise DataError(f"{base}/{SUMS} has no digest of {name or f'any file …{PUBLISHED_ENDING}'}")
        archive = _download(f"{base}/{name}", here / "archive.zip", digests[name])
        try:
            with zipfile.ZipFile(archive) as opened:
                opened.extractall(here / "content")
        except zipfile.BadZipFile:
            raise DataError(f"{base}/{name} is no zip archive") from None
        content, target = here / "content", to
        if found := sorted(content.rglob(MANIFEST), key=lambda path: len(path.parts)):
            content, target = found[0].parent, to / PLACE
            _check(content, f"{base}/{name}")
        _check_absent(target, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        content.rename(target)
    return target


def _parts(source: str) -> tuple[str, str | None]:
    """A deposit as pooch addresses it, and the file that is named in it, if any."""
    source = source.partition("?")[0].rstrip("/")
    if doi := _DOI.fullmatch(source):
        source = f"doi:{doi[1]}"
    elif not _ADDRESS.fullmatch(source):
        raise ConfigError(
            f"'{source}' is neither the address of a deposit (https://…) nor a DOI (10.5281/zenodo.…)"
        )
    base, _, name = source.rpartition("/")
    if name.endswith(".zip"):
        return base, name
    if re.search(r"//zenodo\.org/records?/\d+$", source):  # the page of a record, below which its files are
        source += "/files"
    return source, None


def _check_absent(folder: Path, name: str | None) -> None:
    if folder.exists():
        what = name or "the published runs"
        raise ConfigError(f"{folder} is there already: say where else {what} should go, with --to")


def _download(address: str, path: Path, digest: str | None = None) -> Path:
    """A file that was downloaded whole; with a digest, the file that it is of."""
    try:
        import pooch
        import requests
    except ImportError:
        raise PauseflError("pausefl fetch needs pooch: pip install 'pausefl[workflow]'") from None
    pooch.get_logger().setLevel("ERROR")
    try:
        pooch.retrieve(address, digest, path.name, path.parent)
    except requests.RequestException as error:
        raise DataError(f"{address} cannot be fetched: {_reason(error)}") from None
    except ValueError as error:  # of the digest, or pooch's own of a DOI
        if digest:
            raise DataError(f"{address} is not the file that {SUMS} has the digest of") from None
        raise DataError(f"{address} cannot be fetched: {error}") from None
    return path


def _reason(error: Exception) -> str:
    import requests

    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answers {response.status_code} {response.reason}"
    if isinstance(error, requests.Timeout):
        return "the server does not answer"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "it ends too early"
    return "there is no connection to the server"


def _read_sums(path: Path, base: str) -> dict[str, str]:
    """Digests by name."""
    found = [_LINE.fullmatch(line) for line in path.read_text("utf-8", errors="replace").splitlines()]
    if not found or not all(found):
        raise DataError(f"{base}/{SUMS} is no list of SHA-256 digests")
    return {line[2]: line[1] for line in found if line}


def _check(published: Path, origin: str) -> None:
    """Raise `DataError` unless published runs and studies are those of their manifest."""
    name = MANIFEST
    try:
        digests = read_manifest(published)
        missing = set(digests["runs"]) | set(digests["studies"])
        for path in sorted(published.glob(f"*/{LINES}")):
            name, runs = path.parent.name, PublishedRuns(path.parent)
            for key in runs.lines:
                name = run_name(path.parent.name, *key)
                for table in TABLES:
                    runs.table(table, key)
                missing.discard(name)
        for folder in sorted(filter(Path.is_dir, published.glob("studies/*"))):
            name = folder.name
            check_study(folder)
            missing.discard(name)
    except PauseflError:
        raise DataError(f"{origin}: {name} is not as it was published") from None
    if missing:
        raise DataError(f"{origin} lacks {min(missing)}, which its {MANIFEST} has")
