"""What a deposit has is fetched whole and as it was put there, or not at all."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from manifest import renew_manifest
from server import serving

from pausefl.cli import main
from pausefl.files import SUMS, write_sums
from pausefl.library import change, load_scenario, read_run, run
from pausefl.results.fetching import fetch
from pausefl.results.publishing import publish_runs
from pausefl.settings import Experiment

pytest.importorskip("pooch")

RUNS = "pausefl-0-published.zip"
DATA = "images.zip"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two published runs."""
    folder = tmp_path_factory.mktemp("all") / "published"
    folder.mkdir()
    scenario = change(load_scenario("demo_small"), {"training.n_rounds": 3})
    runs = {}
    for seed in (0, 1):
        one = run(scenario, "random", seed, train=False)
        one.save(place := folder.parent / f"runs/demo_small/random/seed-{seed}")
        runs[Experiment("demo_small", "random", seed)] = place
    publish_runs(runs, folder)
    return folder


@pytest.fixture
def deposit(published: Path, tmp_path: Path) -> Path:
    """Published runs, other data, and their digests."""
    folder = tmp_path / "deposit"
    folder.mkdir()
    pack(folder / RUNS, published, "results/published")
    with zipfile.ZipFile(folder / DATA, "w") as archive:
        archive.writestr("train/cat/0000.jpg", "a cat")
    write_sums(folder)
    return folder


@pytest.fixture
def address(deposit: Path) -> Iterator[str]:
    """Where a server on this machine has the deposit."""
    with serving(deposit) as address:
        yield address


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that one works in."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def pack(path: Path, folder: Path, prefix: str) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, f"{prefix}/{file.relative_to(folder)}")


#: What `pausefl fetch` with some arguments prints, to either stream, and its exit code.
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["pausefl", "fetch", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), *capsys.readouterr()

    return call


@pytest.mark.parametrize("which", ["", "/", f"/{RUNS}", f"/{RUNS}?download=1"])
def test_published_runs_are_where_readers_look_for_them(
    address: str, which: str, work: Path, published: Path
) -> None:
    folder = fetch(f"{address}{which}", Path())
    assert folder == Path("results/published")
    for path in published.rglob("*.*"):
        assert (folder / path.relative_to(published)).read_bytes() == path.read_bytes()
    name = "demo_small/random/seed-1"
    assert read_run(folder / name).rounds.equals(read_run(published / name).rounds)
    assert [path.name for path in work.iterdir()] == ["results"]
    assert [path.name for path in (work / "results").iterdir()] == ["published"]


def test_other_data_become_a_folder(address: str, command: Command) -> None:
    said = command(f"{address}/{DATA}", "--to", "raw/cifar10")
    assert said == (0, "Fetched, and equal to its digests: raw/cifar10\n", "")
    assert Path("raw/cifar10/train/cat/0000.jpg").read_text("utf-8") == "a cat"


def _truncate(deposit: Path) -> None:
    (deposit / f"{RUNS}.half").touch()


def _cut(deposit: Path) -> None:
    (deposit / RUNS).write_bytes((deposit / RUNS).read_bytes()[:-100])


def _swap(deposit: Path) -> None:
    (deposit / RUNS).write_bytes((deposit / DATA).read_bytes())


def _remove(deposit: Path) -> None:
    (deposit / RUNS).unlink()


def _remove_sums(deposit: Path) -> None:
    (deposit / SUMS).unlink()


def _spoil_sums(deposit: Path) -> None:
    (deposit / SUMS).write_text("<html>Not here</html>\n", "utf-8")


def _leave_out(deposit: Path) -> None:
    (deposit / SUMS).write_text((deposit / SUMS).read_text("utf-8").splitlines(keepends=True)[0], "utf-8")


def _no_zip(deposit: Path) -> None:
    (deposit / RUNS).write_text("no archive", "utf-8")
    write_sums(deposit)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_truncate, f"/{RUNS} cannot be fetched: it ends too early"),
        (_cut, f"/{RUNS} is not the file that SHA256SUMS has the digest of"),
        (_swap, f"/{RUNS} is not the file that SHA256SUMS has the digest of"),
        (_remove, f"/{RUNS} cannot be fetched: the server answers 404 File not found"),
        (_remove_sums, "/SHA256SUMS cannot be fetched: the server answers 404 File not found"),
        (_spoil_sums, "/SHA256SUMS is no list of SHA-256 digests"),
        (_leave_out, "/SHA256SUMS has no digest of any file …-published.zip"),
        (_no_zip, f"/{RUNS} is no zip archive"),
    ],
)
def test_what_is_not_whole_or_not_the_file_is_refused(
    damage: Callable[[Path], None], said: str, deposit: Path, address: str, work: Path, command: Command
) -> None:
    damage(deposit)
    assert command(address) == (2, "", f"Error: {address}{said}\n")
    assert not list(work.iterdir())


@pytest.mark.parametrize("kind", ["row", "run", "manifest"])
def test_runs_that_are_not_those_of_their_manifest_are_refused(
    kind: str, deposit: Path, address: str, work: Path, tmp_path: Path, command: Command
) -> None:
    with zipfile.ZipFile(deposit / RUNS) as archive:
        archive.extractall(tmp_path / "content")
    content = tmp_path / "content/results/published"
    lines = content / "demo_small/runs.jsonl"
    first, second = lines.read_text("utf-8").splitlines(keepends=True)
    if kind == "row":
        digest = json.loads(second)["published"]["rounds.parquet"]
        lines.write_text(first + second.replace(digest, hashlib.sha256(b"").hexdigest()), "utf-8")
        renew_manifest(content)
        said = f"{address}/{RUNS}: demo_small/random/seed-1 is not as it was published"
    elif kind == "run":
        lines.write_text(first, "utf-8")
        said = f"{address}/{RUNS}: demo_small/random/seed-0 is not as it was published"
    else:
        manifest = json.loads((content / "manifest.json").read_text("utf-8"))
        manifest["studies"]["lost"] = ""
        (content / "manifest.json").write_text(json.dumps(manifest), "utf-8")
        said = f"{address}/{RUNS} lacks lost, which its manifest.json has"
    pack(deposit / RUNS, content, "results/published")
    write_sums(deposit)
    assert command(address) == (2, "", f"Error: {said}\n")
    assert not list(work.iterdir())


def test_what_is_there_stays(address: str, work: Path, command: Command) -> None:
    mine = work / "results/published/mine"
    mine.mkdir(parents=True)
    there = "Error: {} is there already: say where else {} should go, with --to\n"
    assert command(address) == (2, "", there.format("results/published", "the published runs"))
    mine.rename(work / "mine")
    mine.parent.rmdir()
    assert command(f"{address}/{DATA}") == (2, "", there.format(".", DATA))
    assert sorted(path.name for path in work.iterdir()) == ["mine", "results"]


def test_a_server_that_is_not_there(work: Path, command: Command) -> None:
    with serving(work) as address:
        pass
    error = f"Error: {address}/{SUMS} cannot be fetched: there is no connection to the server\n"
    assert command(address, "--to", "new/folder") == (2, "", error)
    assert not list(work.iterdir())


@pytest.mark.parametrize("source", ["", "results/published", "ftp://host/folder", "10.5281"])
def test_neither_address_nor_doi(source: str, command: Command) -> None:
    code, _, error = command(source)
    assert code == 2
    assert error.startswith(f"Error: '{source}' is neither the address of a deposit (https://…) nor a DOI")


@pytest.mark.parametrize("prefix", ["", "doi:", "https://doi.org/"])
def test_a_doi_is_looked_up(prefix: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The repository behind the DOI is a stand-in: it says where a file is, as Zenodo's interface does."""
    from pooch import downloaders

    class Repository:
        def download_url(self, name: str) -> str:
            return f"{address}/{name}"

    asked = []
    monkeypatch.setattr(downloaders, "doi_to_repository", lambda doi, **_: asked.append(doi) or Repository())
    assert fetch(f"{prefix}10.5281/zenodo.123", Path()) == Path("results/published")
    assert set(asked) == {"10.5281/zenodo.123"}
