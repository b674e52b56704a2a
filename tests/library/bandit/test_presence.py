"""Who can be asked by a trace: windows, repetition, waiting, and files that are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scenarios import changed

from pausefl.bandit.presence import Recorded
from pausefl.errors import ConfigError, DataError
from pausefl.federated.untrained import selection_only
from pausefl.provenance import job_code
from pausefl.settings import Scenario
from pausefl.streams import Streams

HEAD = "user,from_s,to_s\n"
EVERYONE = np.ones(4, np.bool_)


@pytest.fixture
def trace(tmp_path: Path) -> Any:
    """A law of four users from rows of a file."""

    def made(rows: str, name: str = "there.csv") -> Recorded:
        (tmp_path / name).write_text(HEAD + rows, "utf-8")
        return Recorded(4, str(tmp_path / name))

    return made


def there(law: Recorded, elapsed_s: float) -> list[int]:
    return np.flatnonzero(law.at(Streams(0), 1, elapsed_s)).tolist()


def test_a_user_is_there_from_the_first_second_up_to_the_last(trace: Any) -> None:
    law = trace("0,0,2\n1,1,3\n0,5,6\n1,2,4\n")  # user 1 by two rows that overlap
    found = {at: there(law, at) for at in (0, 0.999, 1, 1.999, 2, 3, 3.999, 4, 5, 5.999)}
    assert found == {
        0: [0], 0.999: [0], 1: [0, 1], 1.999: [0, 1], 2: [1], 3: [1], 3.999: [1], 4: [], 5: [0], 5.999: [0]
    }  # fmt: skip
    np.testing.assert_array_equal(law.sample(Streams(0), 7), [True, False, False, False])


def test_after_the_last_second_the_trace_starts_again(trace: Any) -> None:
    law = trace("0,0,2\n2,3,6\n")
    for at in np.arange(0, 6, 0.25):
        assert there(law, at) == there(law, at + 6) == there(law, at + 600)
    assert there(law, 6) == [0]


@pytest.mark.parametrize(
    ("elapsed_s", "users", "wait"),
    [
        (0.0, [0, 1, 2, 3], 0.0),
        (2.5, [0, 1, 2, 3], 0.5),
        (2.5, [0], 3.5),  # until the trace starts again
        (8.5, [0, 2], 0.5),
        (7.0, [2], 2.0),
        (1.0, [1, 3], 0.0),  # these are never there: time changes nothing
        (5.5, [2], 0.0),
    ],
)
def test_a_round_waits_until_somebody_who_may_be_asked_is_there(
    trace: Any, elapsed_s: float, users: list[int], wait: float
) -> None:
    law = trace("0,0,2\n2,3,6\n")
    assert law.wait(elapsed_s, np.isin(np.arange(4), users)) == wait


def test_after_a_wait_somebody_is_there_whatever_is_rounded(trace: Any) -> None:
    """Else a job would stand still: the next wait would be too short to change the time."""
    law, rng = trace("0,0.3,0.7\n1,1.1,1.9\n0,2.3,2.7\n"), np.random.default_rng(0)
    for elapsed_s in rng.uniform(0, 1e5, 3000).tolist():
        wait = law.wait(elapsed_s, EVERYONE)
        assert 0 <= wait < 0.5
        assert there(law, elapsed_s + wait)


def test_a_window_too_short_for_the_clock_is_passed_over(trace: Any) -> None:
    law = trace("0,1e-9,2e-9\n1,3,4\n")
    assert law.wait(4e7 + 2.0, EVERYONE) == pytest.approx(1.0)


def test_in_a_run_rounds_wait_for_whom_they_can_ask(demo: Scenario, tmp_path: Path) -> None:
    rows = "".join(
        f"{user},{begin},{begin + 1}\n" for begin, users in ((0, (0, 1)), (100, (4, 5, 6))) for user in users
    )
    (file := tmp_path / "there.csv").write_text(HEAD + rows, "utf-8")
    traced = changed(demo, network={"availability": "trace", "availability_file": str(file)})
    rounds = selection_only(traced, "random", 0).run(30).rounds
    start = rounds["elapsed_s"].to_numpy() - rounds["latency_s"].to_numpy()
    early = [users.tolist() for users in rounds["selection"]]
    first_late = next(i for i, users in enumerate(early) if users != [0, 1])
    assert all(users == [0, 1] for users in early[:first_late])
    assert early[first_late] == [4, 5, 6]
    assert start[first_late] < 1.9 < 100 < rounds["elapsed_s"][first_late]  # the wait counts as the round's
    assert {tuple(users) for users in early} == {(0, 1), (4, 5, 6)}
    assert rounds["elapsed_s"].iloc[-1] > 101  # and the trace came again


def test_when_those_who_are_there_have_no_budget_others_are_waited_for(
    demo: Scenario, tmp_path: Path
) -> None:
    (file := tmp_path / "there.csv").write_text(f"{HEAD}0,0,10\n1,0,10\n2,50,60\n", "utf-8")
    budget = {"schedule": "constant", "epsilon_each": 1.0, "epsilon_total": 2.0, "decay": None}
    few = changed(demo, network={"availability": "trace", "availability_file": str(file)}, privacy=budget)
    rounds = selection_only(few, "random", 0).run(6).rounds
    assert [users.tolist() for users in rounds["selection"]] == [[0, 1], [0, 1], [2], [2], [], []]
    assert 50 < rounds["elapsed_s"][2] < 52
    assert rounds["latency_s"].tolist()[-2:] == [0.0, 0.0]  # nobody will ever come


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("user,from_s\n0,1\n", "must have the columns user, from_s, to_s, and lacks to_s"),
        (HEAD, "has no rows, so nobody would ever be there"),
        (f"{HEAD}4,0,1\n", "there is no user 4 among 4 users"),
        (f"{HEAD}-1,0,1\n", "there is no user -1 among"),
        (f"{HEAD}0.5,0,1\n", r"there is no user 0\.5"),
        (f"{HEAD}0,2,2\n", "user 0 cannot be there from 2 s to 2 s"),
        (f"{HEAD}0,3,2\n", "user 0 cannot be there from 3 s to 2 s"),
        (f"{HEAD}0,-1,2\n", "user 0 cannot be there from -1 s"),
        (f"{HEAD}0,0,inf\n", "line 2: to_s is 'inf', not a finite number"),
        (f"{HEAD}0,0,1\n0,nan,1\n", "line 3: from_s is 'nan'"),
        (f"{HEAD}0,0,1e999\n", "line 2: to_s is '1e999'"),
        (f"{HEAD}0,0\n", "line 2: to_s is missing"),
        (f"{HEAD}0,0,5,3\n", "line 2 has more values than columns; decimals need a point"),
        (f"{HEAD}zero,0,1\n", "line 2: user is 'zero'"),
        (f"{HEAD}0,0,١\n", "line 2: to_s is '١'"),
        (b"user,from_s,to_s\n0,0,\xff\n", "is no CSV file in UTF-8"),
        (f'{HEAD}0,0,"{"1" * 200_000}"\n', "is no CSV file in UTF-8"),
    ],
)
def test_a_trace_that_is_none_is_named(demo: Scenario, tmp_path: Path, text: str | bytes, words: str) -> None:
    (file := tmp_path / "there.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError, match=words) as error:
        Recorded(4, str(file))
    assert str(file) in str(error.value)


@pytest.mark.parametrize(("name", "words"), [("nowhere.csv", "no such file"), ("", "is a folder")])
def test_a_trace_that_cannot_be_read_names_its_key(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(DataError, match=rf"network\.availability_file: .*{words}"):
        Recorded(4, str(tmp_path / name))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"availability": "trace"}, r"availability = 'trace' needs network\.availability_file"),
        ({"availability_file": "x.csv"}, "availability_file is for availability 'trace'"),
    ],
)
def test_a_trace_and_its_file_go_together(demo: Scenario, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        changed(demo, network=changes)


def test_the_file_counts_as_code_of_a_job(demo: Scenario, tmp_path: Path) -> None:
    def code(rows: str, folder: str, **more: Any) -> str:
        (tmp_path / folder).mkdir()
        (file := tmp_path / folder / "trace.csv").write_text(HEAD + rows, "utf-8")
        network = {"availability": "trace", "availability_file": str(file)} | more
        return job_code(changed(demo, network=network), "random")

    assert code("0,0,1\n", "a") == code("0,0,1\n", "b") != code("0,0,2\n", "c")
    # Also beside one of latencies that has the same name.
    (latencies := tmp_path / "trace.csv").write_text("user,round,seconds\n", "utf-8")
    law: dict[str, Any] = {"latency": "trace", "latency_file": str(latencies), "latency_std": None}
    law |= dict.fromkeys(("fast_latency_max", "slow_latency_min", "slow_latency_max"))
    assert code("0,0,1\n", "d", **law) != code("0,0,2\n", "e", **law)
