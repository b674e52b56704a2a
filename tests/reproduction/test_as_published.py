"""`make figures` ends in one line: PASS, or which verdict is another one than in the documentation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pausefl.reproduction.as_published import differing, main

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
        main(tmp_path / "claims.json", tmp_path / "page.md")
    return int(str(ended.value.code)), capsys.readouterr().out


def test_the_same_verdicts_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = printed(tmp_path, judged(), capsys)
    assert (code, said) == (0, f"PASS: 3 of 3 verdicts as published ({tmp_path / 'page.md'})\n")


def test_another_finding_count_or_claim_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = printed(tmp_path, judged(count="1 hold, 0 fail, 1 open"), capsys)
    assert code == 1
    assert said.splitlines() == [
        "C1, the paper's settings: supported (1 hold, 0 fail, 1 open) is not what is published",
        f"FAIL: 2 of 3 verdicts as published ({tmp_path / 'page.md'})",
    ]
    assert [complaint for _, complaint in differing(judged(id="C9"), PAGE) if complaint] != []


def test_the_documentation_has_the_verdicts_of_the_published_runs(published: Any) -> None:
    from pausefl.reproduction.claims.formats import to_json

    made = json.loads(to_json(published.judged, "paper", "code"))
    page = (published.root / "docs/verdicts.md").read_text("utf-8")
    complaints = [complaint for _, complaint in differing(made, page) if complaint]
    assert complaints == []
