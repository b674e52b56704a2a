"""Files: can they be read and written, does nobody else write, and all of a file or nothing."""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pausefl.errors import PauseflError

#: Held by the process that writes to a folder.
_LOCK = "job.lock"


def path_of(text: str | os.PathLike[str]) -> Path:
    """A path that a user gives, where ``~`` is a home folder, as in a shell."""
    return Path(os.path.expanduser(text))


def check_readable(path: Path, error: type[PauseflError] = PauseflError) -> None:
    """Raise ``error`` unless a path is a file that can be read: not a folder, a pipe or a device."""
    if problem := _why_unreadable(path):
        raise error(f"{path}: {problem}")


def _why_unreadable(path: Path) -> str:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return "no such file"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    except ValueError as error:  # of a name with a null byte
        return f"cannot be read ({error})"
    if stat.S_ISDIR(mode):
        return "is a folder, expected a file"
    if not stat.S_ISREG(mode):
        return "is a pipe, a device or a socket, expected a file"
    return "" if os.access(path, os.R_OK) else "no permission to read it"


def remedy(path: Path) -> str:
    """Advice on getting a damaged result or prepared file again, for the end of a message."""
    if "published" in path.parts:
        return f"; get it again: git restore {path}"
    return f"; if the workflow made it, make it again: snakemake --cores 1 --force {path}"


def check_writable(folder: Path) -> None:
    """Make a folder and try to write to it; `PauseflError` says why that fails."""
    try:
        str(folder).encode()
    except UnicodeEncodeError:  # Parquet files there could not be read
        raise PauseflError(f"output folder {str(folder)!a}: its name must be UTF-8") from None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise PauseflError(f"cannot write to output folder {folder}: {error.strerror}") from None


@contextmanager
def replacing(*paths: Path) -> Iterator[tuple[Path, ...]]:
    """Yield a path to write to for each file of one folder; moves them to ``paths`` in turn if nothing fails.

    Whatever fails, the temporary files are gone. Only a process that is killed leaves them, for the next one
    that writes the same files to overwrite; so there must be one at a time (`locked`).
    """
    staged = tuple(path.with_name(f".{path.name}.tmp") for path in paths)
    try:
        yield staged
        for temporary in staged:  # on the disk, before an old file gives way
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
        for temporary, path in zip(staged, paths, strict=True):
            os.replace(temporary, path)
    except OSError as error:  # as of a full disk, which names no file, or a temporary one
        places = dict(zip(map(str, staged), map(str, paths), strict=True))
        if error.errno is not None and (error.filename is None or str(error.filename) in places):
            error.filename = places.get(str(error.filename), str(paths[-1]))
        raise
    finally:
        for temporary in staged:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield a folder to write to, and put it in the place of ``path`` if nothing fails."""
    staged = path.with_name(f".{path.name}.tmp")
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(parents=True)
    try:
        yield staged
        shutil.rmtree(path, ignore_errors=True)
        os.replace(staged, path)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Write a file in UTF-8, all of it or nothing."""
    with replacing(path) as (staged,):
        staged.write_text(text, "utf-8")


@contextmanager
def locked(folder: Path, note: Callable[[str], None]) -> Iterator[None]:
    """Keep other processes from writing to a folder; `PauseflError` if one already does.

    The lock goes with the process that holds it, however that ends. Where the file system has no locks, which
    some network file systems do not, ``note`` is called and nothing is locked.
    """
    path = folder / _LOCK
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(lock, 200).decode(errors="replace") or "another process"
            os.close(lock)
            raise PauseflError(
                f"{holder} is running a job in {folder}: wait for it, or use another folder"
            ) from None
        except OSError as error:
            note(f"cannot lock {folder} ({error.strerror}): see to it that no other job writes there")
            break
        if _is(lock, path):
            with suppress(OSError):  # only for the message above
                os.truncate(lock, 0)
                os.write(lock, f"process {os.getpid()} on {socket.gethostname()}".encode())
            break
        os.close(lock)  # of a holder that has just removed it
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(lock)


def _is(opened: int, path: Path) -> bool:
    """Whether an open file is still the one at a path."""
    try:
        return os.path.samestat(os.fstat(opened), path.stat())
    except FileNotFoundError:
        return False
