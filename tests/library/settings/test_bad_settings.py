"""Whatever is wrong with a file of settings, the end is an error of the library that names the file."""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scenarios import SCENARIOS, configuration, row

from pausefl.errors import ConfigError, PauseflError
from pausefl.reproduction.claims.load import load_claims
from pausefl.reproduction.config import check_table, load_config
from pausefl.reproduction.studies import load_studies
from pausefl.schema.json_schema import described
from pausefl.settings import read_yaml
from pausefl.settings.scenario import Scenario

ROOT = Path(__file__).parents[3]

#: Wrong values for each type of a key.
WRONG: dict[str, list[Any]] = {
    "integer": ["abc", "", True, math.nan, math.inf, -1, 1.5, 10**18, [1], {"a": 1}],
    "number": ["abc", True, math.nan, math.inf, -math.inf, -1, 1e300, 10**400, [1.0], {"a": 1}],
    "string": [1, True, math.nan, "", ["abc"], {"a": 1}],
    "array": ["abc", 1, math.nan, [], [math.nan], [["a"]], {"a": 1}],
    "object": ["abc", 1, math.inf, ["a"]],
}
#: What may stand anywhere in a document, right or wrong.
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)
tried_often = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@cache
def scenario() -> dict[str, Any]:
    """The demo's scenario under another name."""
    return {**read_yaml(SCENARIOS / "demo_small.yaml"), "name": "mine", "figures": {}}


def load_scenario_text(folder: Path, content: bytes) -> None:
    """What every command does with a configuration of one row whose scenario has this text."""
    (folder / "scenarios").mkdir(exist_ok=True)
    (folder / "scenarios" / "mine.yaml").write_bytes(content)
    document = configuration(row("mine", "random"), scenarios=str(folder / "scenarios"))
    check_table(load_config(document, "config.yaml"))


def load_scenario_of(folder: Path, document: Any) -> None:
    load_scenario_text(folder, yaml.safe_dump(document, sort_keys=False).encode())


def load_with(name: str, read: Callable[[Path, Path], object]) -> Callable[[Path, Any], None]:
    def load(folder: Path, document: Any) -> None:
        path = folder / name
        path.write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")
        read(path, SCENARIOS)

    return load


def places(document: Any, *before: Any) -> Iterator[tuple[Any, ...]]:
    """The path of every value in a document."""
    items = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in items:
        yield (*before, key)
        if isinstance(value, dict | list):
            yield from places(value, *before, key)


def changed(document: Any, path: tuple[Any, ...], what: str, value: Any) -> Any:
    """A copy in which a value is replaced, left out, or under another key."""
    document = copy.deepcopy(document)
    parent = document
    for key in path[:-1]:
        parent = parent[key]
    if what == "replaced":
        parent[path[-1]] = value
    elif what == "left out":
        parent.pop(path[-1], None) if isinstance(parent, dict) else parent.pop(path[-1])
    elif isinstance(parent, dict):
        parent[f"{path[-1]}x"] = parent.pop(path[-1], None)
    else:
        parent.append(value)
    return document


DOCUMENTS: dict[str, tuple[Callable[[], Any], Callable[[Path, Any], None]]] = {
    "scenario": (scenario, load_scenario_of),
    "configuration": (
        lambda: read_yaml(ROOT / "config/demo.yaml"),
        load_with("config.yaml", lambda path, _: check_table(load_config(read_yaml(path), str(path)))),
    ),
    "studies": (
        lambda: {k: dict([*v.items()][:1]) for k, v in read_yaml(ROOT / "config/studies.yaml").items()},
        load_with("studies.yaml", load_studies),
    ),
    "claims": (
        lambda: {**(whole := read_yaml(ROOT / "config/claims.yaml")), "claims": whole["claims"][::4]},
        load_with("claims.yaml", load_claims),
    ),
}


@pytest.mark.parametrize("kind", DOCUMENTS)
@given(data=st.data())
@tried_often
def test_any_change_of_a_document_loads_or_is_refused(kind: str, tmp_path: Path, data: Any) -> None:
    original, load = DOCUMENTS[kind]
    document = original()
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from([*places(document)] or [("extra",)]))
        what = data.draw(st.sampled_from(["replaced", "left out", "misspelt"]))
        document = changed(document, path, what, data.draw(VALUES))
    try:
        load(tmp_path, document)
    except PauseflError as refused:
        assert 0 < len(str(refused)) < 3000  # noqa: PT017 - a refusal is one of two right ends
        assert "Traceback" not in str(refused)  # noqa: PT017


def typed_keys() -> list[tuple[tuple[str, ...], str]]:
    """Every key of a scenario with its type."""

    def of(schema: Any, *before: str) -> Iterator[tuple[tuple[str, ...], str]]:
        for key, sub in schema["properties"].items():
            if (*before, key) not in (("changed",), ("figures",)):
                yield (*before, key), "array" if key == "selectors" else sub["type"]
                yield from of(sub, *before, key) if "properties" in sub else ()

    return [*of(described(Scenario))]


@given(data=st.data())
@tried_often
def test_a_value_of_a_wrong_type_or_range_is_refused_and_its_section_named(tmp_path: Path, data: Any) -> None:
    path, kind = data.draw(st.sampled_from(typed_keys()))
    document = changed(scenario(), path, "replaced", data.draw(st.sampled_from(WRONG[kind])))
    with pytest.raises(ConfigError, match=path[0]):
        load_scenario_of(tmp_path, document)


@given(text=st.text(alphabet="ab:[]{}-&*!?#'\"\n\t \0é1.", max_size=40) | st.binary(max_size=40))
@example("a: &a [*a]\n")
@example("a: !!python/object/apply:os.getcwd []\n")
@example("a: " + "[" * 100 + "]" * 100)
@example("a: 0x" + "f" * 10000)
@example("a: !!binary '###'\n")
@example("? {a: b}\n: c\n")
@example("%YAML 9.9\n---\na: 1\n")
@example("a: 1\n---\nb: 2\n")
@tried_often
def test_a_text_that_is_no_scenario_is_refused_and_the_file_named(tmp_path: Path, text: str | bytes) -> None:
    with pytest.raises(PauseflError, match=r"mine\.yaml"):
        load_scenario_text(tmp_path, text if isinstance(text, bytes) else text.encode())


@pytest.mark.parametrize(
    "alter",
    [
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("title: ", "title: 🙂 äöü "),
        lambda text: text.replace("n_users: 12", "n_users: 12.0"),
        lambda text: text.replace("n_users: 12", "n_users: &n 12"),
    ],
)
def test_a_text_that_is_odd_and_right_loads(tmp_path: Path, alter: Callable[[str], str]) -> None:
    load_scenario_text(tmp_path, alter(yaml.safe_dump(scenario(), allow_unicode=True)).encode())


@pytest.mark.parametrize("name", ["config.yaml", "studies.yaml", "claims.yaml"])
@pytest.mark.parametrize("there", ["nothing", "folder", "pipe", "device", "loop", "bytes"])
def test_what_is_no_file_of_settings_is_refused_and_named(tmp_path: Path, name: str, there: str) -> None:
    path = tmp_path / name
    make: dict[str, Callable[[], object]] = {
        "nothing": lambda: None,
        "folder": path.mkdir,
        "pipe": lambda: os.mkfifo(path),
        "device": lambda: path.symlink_to("/dev/zero"),
        "loop": lambda: path.symlink_to(name),
        "bytes": lambda: path.write_bytes(bytes(range(256))),
    }
    make[there]()
    read = {"studies.yaml": load_studies, "claims.yaml": load_claims}.get(name, lambda at, _: read_yaml(at))
    with pytest.raises(PauseflError, match=name):
        read(path, SCENARIOS)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", "key 'a' is there twice: in line 1 and in line 3"),
        ("a:\n  - b: 1\n    b: 2\n", "key 'b' is there twice"),
        ("a: " + "9" * 5000, "not valid YAML"),
    ],
)
def test_what_no_file_of_settings_has(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        read_yaml(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert words in str(refused.value)


def test_merged_keys_may_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text("a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}\nc: [*a, *a]\n", encoding="utf-8")
    a = {"x": 1, "y": 2}
    assert read_yaml(path) == {"a": a, "b": {"x": 3, "y": 2}, "c": [a, a]}
