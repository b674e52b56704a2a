"""`make figures` ends in one line: PASS, or which verdict is another one than in the documentation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pausefl.reproduction import as_published
from pausefl.reproduction.claims.formats import to_json
from pausefl.reproduction.pages.published import Published

PAGE = """
| Claim | What the papers say | The paper's settings | The authors' settings |
| C1 | It is fast. | **supported** (2 hold, 0 fail, 0 open); 0.6 times | **mixed** (1 hold, 1 fail, 0 open) |
| C2 | It is good. | **not run** | – |
"""


def judged(**first: Any) -> dict[str, Any]:
    run = {"finding": "mixed", "count": "1 hold, 1 fail, 0 open"}
    one = {"id": "C1", "finding": "supported", "count": "2 hold, 0 fail, 0 open", "as_run": run} | first
    return {"claims": [one, {"id": "C2", "finding": "not run", "count": "", "as_run": None}]}


def printed(tmp_path: Path, claims: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    (tmp_path / "claims.json").write_text(json.dumps(claims), "utf-8")
    (tmp_path / "page.md").write_text(PAGE, "utf-8")
    with pytest.raises(SystemExit) as ended:
        as_published.main(tmp_path / "claims.json", tmp_path / "page.md")
    return int(str(ended.value.code)), capsys.readouterr().out


def test_the_same_verdicts_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = printed(tmp_path, judged(), capsys)
    assert (code, said) == (0, f"PASS: 3 of 3 verdicts as published ({tmp_path / 'page.md'})\n")


def test_another_finding_count_or_claim_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = printed(tmp_path, judged(count="1 hold, 0 fail, 1 open"), capsys)
    assert code == 1
    assert said.splitlines() == [
        "C1, the paper's settings: supported (1 hold, 0 fail, 1 open) here,"
        " supported (2 hold, 0 fail, 0 open) in the documentation",
        f"FAIL: 2 of 3 verdicts as published ({tmp_path / 'page.md'})",
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {
            "finding": "mixed",
            "count": "1 hold, 1 fail, 0 open",
            "as_run": {"finding": "supported", "count": "2 hold, 0 fail, 0 open"},
        },
        {"count": ""},
        {"as_run": None},
        {"id": "C9"},
    ],
)
def test_readings_that_are_swapped_and_what_lacks_do_not_pass(
    changes: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed(tmp_path, judged(**changes), capsys)[0] == 1


def test_no_verdicts_are_no_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(tmp_path, {"claims": []}, capsys)[0] == 1


def test_the_documentation_has_the_verdicts_of_the_published_runs(published: Published) -> None:
    there = as_published.published((published.root / "docs/verdicts.md").read_text("utf-8"))
    assert len(there) == len(published.judged)
    here = as_published.made(json.loads(to_json(published.judged, "paper", "code")))
    assert as_published.differing(here, there) == []
