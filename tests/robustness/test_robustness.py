"""The trial: what it sees is what is expected, and the page in docs says so."""

from __future__ import annotations

from pathlib import Path

import pytest
import trial
from cases import Case, seen
from kills import Kill, Trial, kills

pytestmark = pytest.mark.slow

KINDS = list(dict.fromkeys(case.kind for case in trial.bad_inputs()))


@pytest.fixture(autouse=True)
def in_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(trial.ROOT)


@pytest.fixture(scope="module")
def killing() -> Trial:
    return Trial()


@pytest.mark.parametrize("kind", KINDS)
def test_bad_input_is_refused_with_a_message(kind: str) -> None:
    cases = [case for case in trial.bad_inputs() if case.kind == kind]
    problems = {case.what: what for case in cases if (what := seen(case)) != case.expected}
    assert not problems


@pytest.mark.parametrize("kill", list(kills()), ids=str)
def test_a_killed_job_gives_the_same_results(killing: Trial, kill: Kill) -> None:
    assert killing.seen(kill) == trial.EQUAL


def test_there_are_enough_of_both() -> None:
    assert len(trial.bad_inputs()) >= 300
    assert len(list(kills())) >= 50


def test_the_page_is_that_of_this_trial() -> None:
    found = [(case, case.expected) for case in trial.bad_inputs()]
    killed = [(kill, trial.EQUAL) for kill in kills()]
    assert trial.PAGE.read_text(encoding="utf-8") == trial.page(found, killed), (
        "run tests/robustness/trial.py"
    )


def test_what_is_wrong_is_seen(tmp_path: Path) -> None:
    """The trial itself: a crash, a hang, a refusal without the word, and one that advises to delete."""
    from pausefl.errors import PauseflError

    def refuse(text: str) -> None:
        raise PauseflError(text)

    def hang(folder: Path) -> None:
        while True:
            pass

    def case(action: object, words: tuple[str, ...] = (), seconds: float = 5.0) -> Case:
        return Case("kind", "what", action, words, seconds=seconds)  # type: ignore[arg-type]

    assert seen(case(lambda folder: None)) == "ran"
    assert seen(case(lambda folder: refuse("bad key"), ("key",))) == "refused"
    assert seen(case(lambda folder: 1 / 0)).startswith("traceback of ZeroDivisionError")
    assert seen(case(hang, seconds=0.02)) == "hangs"
    assert "does not say 'key'" in seen(case(lambda folder: refuse("bad"), ("key",)))
    assert "advises to delete" in seen(case(lambda folder: refuse("bad key; delete it"), ("key",)))
