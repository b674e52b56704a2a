"""A finished reproduction as one archive, an RO-Crate: workflow, configuration and results.

Raw data are not in it; it names what was read, with digests.
"""

from __future__ import annotations

import hashlib
import json
import mimetypes
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml
from rocrate.rocrate import ROCrate

from pausefl import __version__
from pausefl.files import SUMS, replacing, write_sums
from pausefl.results.published import LINES
from pausefl.settings import read_yaml

#: The profile's version of RO-Crate.
_VERSION = "1.1"
#: The workflow's files besides ``workflow/Snakefile``, and what they are.
_WORKFLOW = {
    "Snakefile": "The entry point of Snakemake",
    "workflow/rules": "The rules of the workflow",
    "workflow/scripts": "What its rules run",
    "workflow/report": "Caption of Snakemake's own report",
    "src": "The Python package that computes all results",
    "config": "Scenarios, studies and claims, and every key of the configuration",
    "profiles": "How Snakemake runs the workflow on one machine and on Slurm",
    "docs": "The documentation",
    "README.md": "How to run the workflow",
    "CHANGELOG.md": "What changed from version to version",
    "CITATION.cff": "How to cite the software and the papers",
    "codemeta.json": "The software's metadata",
    "LICENSE": "The licence",
    "Makefile": "How the environment is installed",
    "Dockerfile": "The environment as a container",
    "pyproject.toml": "Dependencies, as ranges",
    "constraints.txt": "Dependencies, as exact versions",
    "requirements.lock": "Dependencies, as exact versions with digests",
    "requirements-torch.lock": "torch and what it needs for CUDA, as exact versions with digests",
    "environment.yml": "The environment, for conda and mamba",
}
_PUBLISHED = "The published federated jobs of a scenario: rounds, ledgers or summaries"
#: What results are, by their folder below ``results``.
_RESULTS = {
    "code.json": "The parts of the code that made published federated jobs",
    "manifest.json": "The digests of all published federated jobs and studies",
    "runs": "A federated job: rounds, ledger or summary with settings, code, versions and machine",
    "tables": "A table over the runs of a scenario",
    "figures": "A figure, or the JSON file with its runs, settings and warnings",
    "studies": "A study: its numbers, figure or verdict",
    "claims": "Verdicts on the papers' claims",
    "report": "The report: verdicts, figures, tables and what they come from",
}
_TYPES = {
    ".parquet": "application/vnd.apache.parquet",
    ".jsonl": "application/jsonl",
    ".md": "text/markdown",
    ".yaml": "application/yaml",
}
#: What the crate follows besides, and the profile of the workflow's own description.
_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
_BIOSCHEMAS = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
#: Where the configuration is in the crate.
_CONFIGURATION = "configuration.yaml"


def write_crate(out: Path, root: Path, configuration: Mapping[str, Any], results: Mapping[str, Path]) -> None:
    """Write the crate of some results, by their paths in it, as a zip archive.

    The folder of the workflow, ``root``, has ``CITATION.cff``, which names authors, licence and papers. The
    date is that of the newest result. If the variable ``SOURCE_DATE_EPOCH`` gives another, in seconds since
    1970, the same files make the same bytes.

    Raises
    ------
    ConfigError
        If there is no ``CITATION.cff``, or it is no YAML.
    """
    citation = read_yaml(root / "CITATION.cff")
    crate = ROCrate(version=_VERSION)
    # The context of version 1.1 is older than this term.
    crate.metadata.extra_terms["sha256"] = "https://schema.org/sha256"
    newest = max(path.stat().st_mtime for path in results.values())
    ended = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", newest)), UTC)
    crate.datePublished = ended
    crate.name = citation["title"]
    crate.description = (
        "A workflow that reproduces experiments on user selection in federated learning, its configuration,"
        " and all that it made of this: runs, tables, figures, verdicts on the papers' claims, and a report."
    )
    crate.keywords = citation["keywords"]
    license = citation["license"]
    crate.license = _entity(
        crate,
        f"https://spdx.org/licenses/{license}",
        "CreativeWork",
        name=license,
        description=f"SPDX licence {license}",
    )
    authors: Any = [_author(crate, one) for one in citation["authors"]]
    authors = authors if len(authors) > 1 else authors[0]
    crate.creator = crate.root_dataset["author"] = authors
    crate.root_dataset["conformsTo"] = [
        _entity(crate, where, "CreativeWork", name=name, version=where.rpartition("/")[2])
        for where, name in _PROFILES.items()
    ]
    crate.root_dataset["citation"] = [_paper(crate, one) for one in citation["references"]]
    with tempfile.TemporaryDirectory() as folder:
        stage, whole = Path(folder, "stage"), Path(folder, "crate")
        _copy(root, stage)
        workflow = crate.add_workflow(
            stage / "workflow/Snakefile",
            "workflow/Snakefile",
            main=True,
            lang="snakemake",
            lang_version=version("snakemake"),
            properties={
                "name": citation["title"],
                "version": __version__,
                "license": crate.license,
                "creator": authors,
                "conformsTo": {"@id": _BIOSCHEMAS},
                "encodingFormat": "text/plain",
            },
        )
        for path, what in _WORKFLOW.items():
            _add(crate, stage / path, path, what)
        if readme := crate.get("README.md"):
            readme["about"] = crate.root_dataset
        (stage / _CONFIGURATION).write_text(yaml.safe_dump(dict(configuration), sort_keys=False), "utf-8")
        used = _add(
            crate, stage / _CONFIGURATION, _CONFIGURATION, "The configuration, as the workflow read it"
        )
        for own in _elsewhere(root, configuration):
            _add(crate, own, f"own/{own.name}", "Scenarios or studies that the configuration names")
        made = [_add(crate, path, name, _what(Path(name))) for name, path in results.items()]
        crate.root_dataset["mentions"] = crate.add_action(
            workflow,
            "#reproduction",
            object=[used, *_read(crate, results.values())],
            result=made,
            properties={
                "name": "The reproduction",
                "description": "Snakemake ran the workflow with this configuration to its end.",
                "endTime": ended.isoformat(timespec="seconds"),
                "actionStatus": "http://schema.org/CompletedActionStatus",
            },
        )
        (stage / SUMS).touch()
        crate.add_file(
            stage / SUMS, SUMS, properties={"name": SUMS, "description": "SHA-256 of all other files"}
        )
        crate.write(whole)
        write_sums(whole)
        with replacing(out) as (staged,):
            _zip(whole, staged, ended)


def _zip(folder: Path, out: Path, when: datetime) -> None:
    """Write the files of a folder as an archive that depends on nothing but their names and contents."""
    with zipfile.ZipFile(out, "w") as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), when.timetuple()[:6])
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)


def _copy(root: Path, stage: Path) -> None:
    """Copy the workflow's files without what Python leaves among them."""
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for path in ("workflow/Snakefile", *_WORKFLOW):
        source, target = root / path, stage / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=ignore)
        elif source.is_file():
            shutil.copy(source, target)


def _add(crate: ROCrate, source: Path, path: str, what: str) -> Any:
    """Add a file or folder under a path; nothing if there is none."""
    if source.is_dir():
        return crate.add_dataset(source, f"{path}/", properties={"name": path, "description": what})
    if not source.is_file():
        return None
    kind = _TYPES.get(source.suffix) or mimetypes.guess_type(source.name)[0] or "text/plain"
    content = source.read_bytes()
    facts = {"contentSize": str(len(content)), "sha256": hashlib.sha256(content).hexdigest()}
    properties = {"name": path, "description": what, "encodingFormat": kind}
    return crate.add_file(source, path, properties=properties | facts)


def _what(path: Path) -> str:
    """Description of a result."""
    if path.parts[0] != "results":
        return "A partition of a data set"
    published = path.parts[1] == "published"
    return _RESULTS.get(path.parts[1 + published], _PUBLISHED if published else "A result")


def _elsewhere(root: Path, configuration: Mapping[str, Any]) -> list[Path]:
    """The user's own scenarios and studies, which are not among those of the workflow."""
    named = [Path(configuration[key]) for key in ("scenarios", "studies") if configuration.get(key)]
    shipped = (root / "config").resolve()
    return [path for path in named if path.exists() and not path.resolve().is_relative_to(shipped)]


def _entity(crate: ROCrate, identifier: str, kind: str, **properties: Any) -> Any:
    """A thing that is no file of the crate."""
    return crate.add_jsonld({"@id": identifier, "@type": kind, **properties})


def _named(crate: ROCrate, kind: str, name: str, **properties: Any) -> Any:
    """A thing without an address, which gets its id by its name."""
    return _entity(crate, f"#{'-'.join(name.lower().split())}", kind, name=name, **properties)


def _author(crate: ROCrate, author: Mapping[str, Any]) -> Any:
    """An author of ``CITATION.cff``: a person, or else an organisation."""
    if "name" in author:
        return _named(crate, "Organization", author["name"])
    return _named(crate, "Person", f"{author['given-names']} {author['family-names']}")


def _paper(crate: ROCrate, reference: Mapping[str, Any]) -> Any:
    """A paper of ``CITATION.cff``, under its address at arXiv."""
    (arxiv,) = [one["value"] for one in reference["identifiers"] if one["value"].startswith("arXiv:")]
    return _entity(
        crate,
        f"https://arxiv.org/abs/{arxiv.removeprefix('arXiv:')}",
        "ScholarlyArticle",
        name=reference["title"],
        author=[f"{one['given-names']} {one['family-names']}" for one in reference["authors"]],
        datePublished=str(reference["year"]),
    )


def _read(crate: ROCrate, results: Iterable[Path]) -> list[Any]:
    """The data sets that the runs read, by their digests."""
    lines = [line for path in results if path.name == LINES for line in path.read_text("utf-8").splitlines()]
    texts = [path.read_text("utf-8") for path in results if path.name == "summary.json"]
    digests: dict[str, str] = {}
    for summary in map(json.loads, (*lines, *texts)):
        digest = summary.get("digests", {}).get("data set", "")  # runs of earlier versions have none
        digests[summary["dataset_origin"]] = digest or digests.get(summary["dataset_origin"], "")
    return [
        _named(crate, "PropertyValue", f"Data set: {origin}", value=digest, description="Not in the crate")
        for origin, digest in sorted(digests.items())
    ]
