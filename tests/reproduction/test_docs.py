"""The examples of the documentation work as they are printed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from raw_data import write_images
from workspace import copy_folders

ROOT = Path(__file__).parents[2]
FOLDERS = ("", "docs", "results/published", "config", "data/raw", "benchmarks", "benchmarks/investigations")
PAGES = [page for folder in FOLDERS for page in sorted((ROOT / folder).glob("*.md"))]
TEXT = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
SECTIONS = re.findall(r"^## (.+)$", TEXT, re.MULTILINE)

#: Files, besides those of the tests, that the commands of a section must leave behind.
LEFT = {
    "Without an edit of the package": [
        "out/own/rounds.parquet",
        "results/runs/few_users/my_module.LeastUsed/seed-0/summary.json",
        "results/figures/few_users_accuracy.pdf",
    ],
    "A selector": ["out/least_used/rounds.parquet"],
    "A reward": ["out/quota/rounds.parquet"],
    "An accountant": ["out/counted/rounds.parquet"],
    "Other worlds": [f"out/{name}/rounds.parquet" for name in ("stragglers", "failing", "daily", "drift")],
    "A model": ["out/softmax/rounds.parquet"],
    "A data source": ["out/sensors/rounds.parquet"],
    "Data with users of their own": ["out/written/rounds.parquet"],
    "A scenario": ["out/line/rounds.parquet", "results/figures/pets_accuracy.pdf"],
    "A study": ["results/studies/evenness_demo/evenness.csv", "results/figures/evenness_demo.pdf"],
}

#: What the last command of a section says of the claim.
JUDGED = {"A claim": r"M1\s+undecided", "A kind of claim test": r"M2\s+supported"}


class Step(NamedTuple):
    """A block of code of a section, and what the words before it say of it."""

    action: str
    path: str
    line: str
    code: str


def steps(section: str) -> Iterator[Step]:
    """What a section asks for, in order. Every block of code must be a file, an insertion or commands."""
    body = TEXT.split(f"\n## {section}\n")[1].split("\n## ")[0]
    for block in re.finditer(r"^( *)```(?P<language>python|yaml|jinja|bash)\n", body, re.MULTILINE):
        indent, language = block.groups()
        code, _, _ = body[block.end() :].partition(f"\n{indent}```\n")
        words = body[: block.start()].rstrip().rpartition("\n\n")[2]
        code = re.sub(f"^{indent}", "", f"{code}\n", flags=re.MULTILINE)
        text = " ".join(words.split())
        if language == "bash":
            assert re.match(r"\d+\. Run[:;,]", text), text
            yield Step("run", "", "", code)
        elif file := re.match(r"\d+\. New file `([^`]+)`", text):
            yield Step("write", file[1], "", code)
        elif file := re.match(r"\d+\. At the end of `([^`]+)`", text):
            yield Step("append", file[1], "", code)
        else:
            place = re.match(r"\d+\. In `([^`]+)`, above `([^`]+)`", text)
            assert place, text
            yield Step("insert", place[1], place[2], code)


def insert(path: Path, line: str, code: str) -> None:
    """Put code above the one line that has a text in it, a class with empty lines between."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    (place,) = [i for i, old in enumerate(lines) if line in old]
    apart = "" if code[0].isspace() else "\n\n"
    path.write_text("".join([*lines[:place], code, apart, *lines[place:]]), encoding="utf-8")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The parts of the repository that the examples edit and use, and a few pictures."""
    copy_folders(("src", "config", "tests", "workflow", "docs"), tmp_path)
    for file in ("Snakefile", "pyproject.toml"):
        shutil.copy2(ROOT / file, tmp_path)
    for split, n in (("train", 40), ("test", 5)):
        for shade, name in ((0, "cat"), (100, "dog")):
            write_images(tmp_path / "photos/pets" / split / name, n, size=(30, 30), shade=shade)
    return tmp_path


def run(checkout: Path, commands: str) -> str:
    """Run shell commands as a user would with the environment active."""
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(checkout / "src"),
        "PYTEST_ADDOPTS": "-q -p no:xdist -p no:cacheprovider",
    }
    done = subprocess.run(
        ["bash", "-euc", commands], cwd=checkout, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("section", SECTIONS)
def test_the_examples_of_a_section_work(section: str, checkout: Path) -> None:
    commands = 0
    for step in steps(section):
        if step.action == "run":
            commands += 1
            output = run(checkout, step.code)
        elif step.action == "write":
            path = checkout / step.path
            assert not path.exists()
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.code, encoding="utf-8")
        elif step.action == "append":
            path = checkout / step.path
            path.write_text(f"{path.read_text(encoding='utf-8')}\n\n{step.code}", encoding="utf-8")
        else:
            insert(checkout / step.path, step.line, step.code)
    assert commands == 1
    for file in LEFT.get(section, []):
        assert (checkout / file).is_file()
    if section in JUDGED:
        assert re.search(JUDGED[section], output), output


def test_the_numbers_of_the_deviation_ledger() -> None:
    ledger = (ROOT / "docs" / "deviations.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", ledger, re.DOTALL | re.MULTILINE)
    expected = re.findall(r"# ([\d., ]+)$", code, re.MULTILINE)
    printed = run(ROOT, f"python - <<'EOF'\n{textwrap.dedent(code)}\nEOF").split()
    assert [f"{float(number):.3g}" for number in printed] == re.split(", ", ", ".join(expected))


@pytest.mark.parametrize("name", ["example", "decay", "paired", "published"])
def test_the_page_on_use_prints_what_its_examples_print(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "docs/use.md").read_text("utf-8")
    pattern = rf"<!-- {name} -->\n```python\n(.*?)^```\n\n```text\n(.*?)^```"
    ((code, printed),) = re.findall(pattern, text, re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(ROOT)
    exec(code, {})
    assert capsys.readouterr().out == printed


def anchors(page: Path) -> set[str]:
    """What links can lead to on a page, as GitHub names it."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", text):
        link = target[0] or target[1]
        if link.startswith(("http://", "https://")):
            continue
        file, _, anchor = link.partition("#")
        path = (page.parent / file).resolve() if file else page
        assert path.exists(), link
        if anchor:
            assert anchor in anchors(path), link
