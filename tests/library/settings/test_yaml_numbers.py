"""Numbers that YAML 1.1 and a person read differently are refused wherever settings are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scenarios import SCENARIOS

from pausefl.errors import ConfigError
from pausefl.reproduction.claims.load import load_claims
from pausefl.reproduction.config import load_config
from pausefl.reproduction.studies import load_studies
from pausefl.schema.yaml import parse_value, read_yaml, typed
from pausefl.settings import Scenario, load_scenario, scenario_names, with_changes


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("020", "020 would be 16 in YAML 1.1: write 20, or 16, or put it into quotes"),
        ("-017", "-017 would be -15 in YAML 1.1: write -17, or -15"),
        ("+010", r"\+010 would be 8 in YAML 1.1: write 10, or 8"),
        ("007", "007 would be 7 in YAML 1.1: write 7, or put"),
        ("08", "08 would be the text '08' in YAML 1.1: write 8, or put it into quotes"),
        ("-019", "-019 would be the text '-019' in YAML 1.1: write -19, or put"),
        ("1:30", "1:30 would be 90 in YAML 1.1: write 90"),
        ("190:20:30", "190:20:30 would be 685230"),
        ("1:30.5", r"1:30\.5 would be 90\.5"),
        ("1_0", "1_0 would be 10 in YAML 1.1: write 10"),
        ("10_00", "10_00 would be 1000"),
        ("1_0.5", r"1_0\.5 would be 10\.5"),
        ("[3, 020]", "020 would be 16"),
        ("{a: {b: 1_0}}", "1_0 would be 10"),
        ("{020: x}", "020 would be 16"),
    ],
)
def test_such_a_number_is_refused_with_what_to_write(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=rf"^here: line 1: {words}"):
        parse_value(text, "here")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("20", 20), ("0", 0), ("-3", -3), ("+3", 3), ("0x1F", 31), ("1_000", 1000), ("12_345_678", 12345678),
        ("1_000.5", 1000.5), ("0.5", 0.5), ("010.5", 10.5), (".5", 0.5), ("1e-5", 1e-5), ("1.5e3", 1500.0),
        ("-.5", -0.5), ("+.5", 0.5), (".5e3", 500.0), ("08.5", 8.5), ("'08'", "08"),
        ("2024-01-01", "2024-01-01"), ("2024-01-01 10:00:00", "2024-01-01 10:00:00"),
        ("2024-99-99", "2024-99-99"),
        ("'020'", "020"), ('"1:30"', "1:30"), ("a1:30", "a1:30"), (".inf", float("inf")), ("020x", "020x"),
    ],
)  # fmt: skip
def test_other_numbers_and_texts_are_read_as_before(text: str, value: Any) -> None:
    found = parse_value(text, "here")
    assert (found, type(found)) == (value, type(value))


def test_the_line_is_named_in_files_of_every_kind(demo: Scenario, tmp_path: Path) -> None:
    lines = "name: mine\nbase: demo_small\ntitle: Mine\nfigures: {}\nnetwork:\n  n_users: 020\n"
    (tmp_path / "mine.yaml").write_text(lines, "utf-8")
    with pytest.raises(ConfigError, match=r"mine\.yaml: line 6: 020 would be 16"):
        load_scenario("mine", tmp_path, SCENARIOS)
    for read in (
        read_yaml,
        lambda path: load_studies(path, SCENARIOS),
        lambda path: load_claims(path, SCENARIOS),
        lambda path: load_config(read_yaml(path), str(path)),
    ):
        (file := tmp_path / "file.yaml").write_text("a:\n  - 1:30\n", "utf-8")
        with pytest.raises(ConfigError, match=r"file\.yaml: line 2: 1:30 would be 90"):
            read(file)
    with pytest.raises(ConfigError, match=r"--set 'network\.n_users=020': line 1: 020 would be 16"):
        with_changes(demo, ["network.n_users=020"])
    with pytest.raises(ConfigError, match="1_0 would be 10"):
        with_changes(demo, ["training.n_rounds=1_0"])


def test_what_macos_writes_beside_files_is_no_scenario(tmp_path: Path) -> None:
    for name in ("mine.yaml", "._mine.yaml", ".hidden.yaml"):
        (tmp_path / name).write_text("name: mine\nbase: demo_small\ntitle: Mine\nfigures: {}\n", "utf-8")
    assert scenario_names(tmp_path) == ["mine"]


def test_numbers_of_the_workflows_command_line_stay_texts() -> None:
    """Where a number is expected, these are refused with the key."""
    assert typed({"seeds": ["3", "010", "1:30"]}) == {"seeds": [3, "010", "1:30"]}
