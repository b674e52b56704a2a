"""Hashes of the code that computed a study travel with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from manifest import renew_manifest

from pausefl.figures.notes import code_notes
from pausefl.results.published import CODE, study_codes, study_digest
from pausefl.results.verified import FILE
from pausefl.studies import load_studies

ROOT = Path(__file__).parents[3]
STUDY = load_studies(ROOT / "config/studies.yaml", ROOT / "config/scenarios")


def test_each_run_of_a_study_has_its_code_and_all_are_published_in_one_file(tmp_path: Path) -> None:
    study = STUDY["bsfl_fig5_regret"]
    first, second, *others = study.scenario.selectors
    (tmp_path / first).mkdir()
    for seed in study.seeds:
        (tmp_path / first / f"seed-{seed}.code").write_text("b\n" if seed else "a\n", "utf-8")
    found = study_codes(tmp_path, study.code_files())
    assert found == {first: ["a", "b"], second: [""]} | {other: [""] for other in others}
    (tmp_path / CODE).write_text(json.dumps(found), "utf-8")
    (tmp_path / first / "seed-0.code").unlink()
    assert study_codes(tmp_path, study.code_files()) == found


def test_a_study_as_a_whole_has_one_code(tmp_path: Path) -> None:
    study = STUDY["bsfl_fig4"]
    assert study_codes(tmp_path, study.code_files()) == {"": [""]}
    (tmp_path / "runs.code").write_text("a\n", "utf-8")
    assert study_codes(tmp_path, study.code_files()) == {"": ["a"]}


@pytest.mark.parametrize(
    ("made_with", "verified", "note"),
    [
        ("today", None, []),
        ("a", None, ["Computed by an earlier version of the code."]),
        ("", None, ["Which version of the code computed it is not recorded."]),
        ("a", {"made_with": ["a"], "equal": True}, []),
        ("b", {"made_with": ["a"], "equal": True}, ["Computed by an earlier version of the code."]),
        ("a", {"made_with": ["a"], "equal": False}, ["Computed by an earlier version of the code."]),
        ("", {"equal": True}, []),
        (
            "a",
            {"made_with": ["a"], "equal": True, "digest": "of another content"},
            ["Computed by an earlier version of the code."],
        ),
        (
            "a",
            {"made_with": ["a"], "equal": True, "code": "old"},
            ["Computed by an earlier version of the code."],
        ),
    ],
)
def test_a_study_of_old_code_is_noted_unless_it_was_found_equal(
    tmp_path: Path, made_with: str, verified: dict[str, object] | None, note: list[str]
) -> None:
    study = STUDY["bsfl_fig4"]
    today = study.code()
    if verified is not None:
        (tmp_path / "studies/bsfl_fig4").mkdir(parents=True)
        renew_manifest(tmp_path)
        digest = study_digest(tmp_path / "studies/bsfl_fig4")
        document = {"runs": {}, "studies": {"bsfl_fig4": {"code": today, "digest": digest} | verified}}
        (tmp_path / FILE).write_text(json.dumps(document), "utf-8")
    versions = study.current_codes("bsfl_fig4", tmp_path)
    codes = {"": [today if made_with == "today" else made_with]}
    assert code_notes(codes, versions) == note
