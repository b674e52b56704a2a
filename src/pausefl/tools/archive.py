"""Makes a deposit for a DOI from the last commit: ``make archive``.

The folder has, side by side as in Zenodo: the software as Git has it, its wheel, the published runs, an
RO-Crate of all that is made from them, how to cite it, what Zenodo is told of it, and the digests of these
files. The same commit makes the same bytes with the same versions of Git, Python and its packages.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from pausefl.errors import PauseflError
from pausefl.files import SUMS, write_sums
from pausefl.results.fetching import PLACE, PUBLISHED_ENDING
from pausefl.settings import read_yaml

#: The configuration of the published runs.
_CONFIG = "config/published.yaml"


def write(root: Path, out: Path, cores: str = "all", config: str = _CONFIG) -> None:
    """Write the deposit of the last commit of ``root`` to a folder, in place of an earlier one.

    Raises
    ------
    PauseflError
        If there are changes that are not committed, the folder has something else, or a step fails.
    """
    if out.exists() and not (out / SUMS).is_file():
        raise PauseflError(f"{out} is there already, and is no deposit: name another folder with --out")
    if changed := _ran(["git", "status", "--porcelain", "--untracked-files=no"], root):
        raise PauseflError(f"commit or take back first: {', '.join(changed.split()[1::2])}")
    citation = read_yaml(root / "CITATION.cff")
    name = f"{citation['title'].partition(':')[0]}-{citation['version']}"
    # Archives have times of files: that of the commit, whatever the time zone.
    moment = {"SOURCE_DATE_EPOCH": _ran(["git", "show", "-s", "--format=%ct"], root).strip(), "TZ": "UTC"}
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".archive-", dir=out.parent) as temporary:
        made, source = Path(temporary, "made").absolute(), Path(temporary, name).absolute()
        made.mkdir()
        git = ["git", "-c", "tar.umask=0022", "archive", "--output"]
        software = made / f"{name}.tar.gz"
        _ran([*git, str(software), f"--prefix={name}/", "HEAD"], root, moment)
        _ran([*git, str(made / f"{name}{PUBLISHED_ENDING}"), "HEAD", str(PLACE)], root, moment)
        with tarfile.open(software) as opened:
            opened.extractall(temporary, filter="data")
        here = moment | {"PYTHONPATH": str(source / "src")}
        wheel = ["pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(made), "."]
        _ran([sys.executable, "-m", *wheel], source, here)
        crate = ["snakemake", "--quiet", "--cores", cores, "--configfile", config, "--", "crate"]
        _ran([sys.executable, "-m", *crate], source, here)
        shutil.copy(source / "results/crates/all.zip", made / f"{name}-crate.zip")
        shutil.copy(source / "CITATION.cff", made)
        told = json.dumps({"metadata": for_zenodo(citation)}, indent=2, ensure_ascii=False)
        (made / "zenodo.json").write_text(f"{told}\n", "utf-8")
        write_sums(made)
        shutil.rmtree(out, ignore_errors=True)
        made.rename(out)


def for_zenodo(citation: Mapping[str, Any]) -> dict[str, Any]:
    """What ``CITATION.cff`` says, in the terms of a deposit in Zenodo's interface."""
    return {
        "upload_type": "software",
        "title": citation["title"],
        "creators": [{"name": _name(one)} for one in citation["authors"]],
        "description": f"<p>{citation['abstract']}</p>",
        "version": citation["version"],
        "publication_date": str(citation["date-released"]),
        "access_right": "open",
        "license": citation["license"].lower(),
        "keywords": citation["keywords"],
        "language": "eng",
        "related_identifiers": [
            {"identifier": one["value"], "relation": "references", "resource_type": "publication-article"}
            for paper in citation["references"]
            for one in paper["identifiers"]
        ],
    }


def _name(author: Mapping[str, str]) -> str:
    """An organisation, or a person with the family name in front."""
    return author.get("name") or f"{author['family-names']}, {author['given-names']}"


def _ran(command: list[str], folder: Path, variables: Mapping[str, str] | None = None) -> str:
    """What a command prints; `PauseflError` with its complaint if it fails."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | (variables or {}),
        umask=0o022,  # a wheel has the modes of its files
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise PauseflError(f"`{' '.join(command)}` failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def main(
    out: Annotated[Path, typer.Option(help="Folder of the deposit; replaces an earlier one.")] = Path(
        "build/archive"
    ),
    cores: Annotated[str, typer.Option(help="Cores for figures and report.")] = "all",
    config: Annotated[str, typer.Option(help="Configuration of the published runs.")] = _CONFIG,
) -> None:
    """Write software, wheel, published runs, RO-Crate, metadata and digests of the last commit."""
    try:
        write(Path(), out, cores, config)
    except PauseflError as error:
        typer.secho(f"Error: {error}", fg=typer.colors.RED, err=True)
        raise SystemExit(1) from None
    for path in sorted(out.iterdir()):
        typer.echo(f"{path.stat().st_size / 1e6:8.1f} MB  {path}")


if __name__ == "__main__":
    typer.run(main)
