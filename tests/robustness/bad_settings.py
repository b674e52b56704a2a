"""Bad settings: values, structure, YAML, files of configurations, scenarios, studies and claims."""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from cases import RAN, Case

from pausefl.claims.load import load_claims
from pausefl.federated.runnable import check_table
from pausefl.settings import load_config, read_yaml
from pausefl.settings.scenario import Scenario
from pausefl.settings.schema import described
from pausefl.studies import load_studies

ROOT = Path(__file__).parents[2]
SCENARIOS = ROOT / "config" / "scenarios"
HUGE = 10**18

#: Wrong values for each type of a key; what is allowed of them is left out below.
_WRONG: dict[str, list[Any]] = {
    "integer": ["abc", "", True, math.nan, math.inf, -1, 1.5, HUGE, [1], {"a": 1}],
    "number": ["abc", "1e-3", True, math.nan, math.inf, -math.inf, -1, 1e300, 10**400, [1.0], {"a": 1}],
    "string": [1, True, math.nan, "", ["abc"], {"a": 1}],
    "array": ["abc", 1, math.nan, [], [math.nan], [["a"]], {"a": 1}],
    "object": ["abc", 1, math.inf, ["a"]],
}

Document = dict[str, Any]


def shown(value: object) -> str:
    """A value in a few characters."""
    text = "10^400" if value == 10**400 else repr(value)
    return text if len(text) < 25 else f"{text[:22]}..."


def scenario_files(folder: Path, document: Mapping[str, Any], text: str | None = None) -> Path:
    """Write a scenario and a configuration that runs it; returns the latter."""
    (folder / "scenarios").mkdir(exist_ok=True)
    content = yaml.safe_dump(dict(document), sort_keys=False) if text is None else text
    (folder / "scenarios" / "mine.yaml").write_text(content, encoding="utf-8")
    return config_file(folder, base_config(folder))


def base_config(folder: Path) -> Document:
    """A configuration of one row."""
    return {
        "data_root": "data/raw",
        "download": False,
        "image_folders": {},
        "scenarios": str(folder / "scenarios"),
        "studies": None,
        "experiments": [{"scenario": "mine", "selectors": ["random"], "seeds": [0]}],
    }


def config_file(folder: Path, document: Mapping[str, Any] | str) -> Path:
    path = folder / "config.yaml"
    text = document if isinstance(document, str) else yaml.safe_dump(dict(document), sort_keys=False)
    path.write_text(text, encoding="utf-8")
    return path


def load(config: Path) -> None:
    """What every command does with a configuration."""
    check_table(load_config(read_yaml(config), str(config)))


def mine() -> Document:
    """The demo's scenario under another name."""
    return {**read_yaml(SCENARIOS / "demo_small.yaml"), "name": "mine", "figures": {}}


def put(document: Document, path: str, value: Any) -> Document:
    """A copy with one value replaced; ``a.b``, ``a.0.b``."""
    changed = copy.deepcopy(document)
    *parents, key = path.split(".")
    place: Any = changed
    for part in parents:
        place = place[int(part) if isinstance(place, list) else part]
    place[int(key) if isinstance(place, list) else key] = value
    return changed


# --- values of a scenario ----------------------------------------------------------------------------


def values_of_scenarios() -> Iterator[Case]:
    """Every key of a scenario with every value that is wrong for its type."""
    for path, schema in _keys(described(Scenario)):
        kind = "array" if path == "selectors" else schema["type"]
        for value in _WRONG[kind]:
            if not _allowed(path, schema, value):
                yield _value(path, value)


def _keys(schema: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    for key, sub in schema["properties"].items():
        if key in ("reduced", "changed"):  # written by the program
            continue
        yield f"{prefix}{key}", sub
        if "properties" in sub:
            yield from _keys(sub, f"{prefix}{key}.")


def _allowed(path: str, schema: Mapping[str, Any], value: object) -> bool:
    """Whether a value of the lists is right for a key."""
    return path == "figures" and value in ({"a": 1},)


def _value(path: str, value: Any) -> Case:
    def action(folder: Path) -> None:
        load(scenario_files(folder, put(mine(), path, value)))

    return Case("Values of a scenario", f"{path}: {shown(value)}", action, (path.split(".")[0],))


# --- structure ---------------------------------------------------------------------------------------


def structure_of_scenarios() -> Iterator[Case]:
    """Missing, unknown and contradicting keys."""
    kind = "Keys of a scenario: missing, unknown, contradicting"
    document = mine()
    for key, value in document.items():
        if key in ("privacy", "scale"):
            continue
        yield _changed(kind, f"without {key}", {key: None}, (key,), drop=True)
        yield _changed(kind, f"{key} misspelt", {f"{key}x": value}, (f"{key}x",))
    for section in ("data", "network", "reward", "privacy", "model", "training"):
        yield _changed(kind, f"unknown key {section}.extra", {f"{section}.extra": 1}, ("extra",))
    contradicting: dict[str, tuple[Document, tuple[str, ...]]] = {
        "more selected users than users": ({"network.n_selected": 13}, ("n_selected",)),
        "falling latencies": ({"network.fast_latency_max": 5.0}, ("fast_latency_max",)),
        "no privacy, budget infinite": ({"privacy.epsilon_total": math.inf}, ("privacy: null",)),
        "no privacy, budget not a number": ({"privacy.epsilon_total": math.nan}, ("privacy: null",)),
        "Dirichlet sizes without concentration": ({"partition.sizes": "dirichlet"}, ("size_concentration",)),
        "dominant labels without share": ({"partition.labels": "dominant"}, ("dominant_share",)),
        "reward r2 without clusters": ({"reward.name": "r2"}, ("n_clusters",)),
        "more clusters than users": ({"reward.n_clusters": 100}, ("n_clusters",)),
        "vector mechanism without norm": ({"privacy.mechanism": "vector"}, ("clip_norm",)),
        "listed schedule without budgets": ({"privacy.schedule": "listed"}, ("budgets",)),
        "uniform schedule without participations": ({"privacy.schedule": "uniform"}, ("n_participations",)),
        "tiers of fewer users than selected": ({"selection.n_tiers": 5}, ("n_tiers",)),
        "a weight too few for the tiers": (
            {"selection.n_tiers": 2, "selection.tier_weights": [1.0]},
            ("tier_weights",),
        ),
        "fewer candidates than selected": ({"selection.n_candidates": 2}, ("n_candidates",)),
        "a share for losses without a bound": ({"privacy.loss_share": 0.1}, ("loss_bound",)),
        "an annealer without iterations": ({"selection.n_iterations": None}, ("n_iterations",)),
        "regression with classes": ({"data.source": "synthetic_regression"}, ("n_examples",)),
        "more users than examples": ({"data.n_train": 5}, ("n_train",)),
        "no test split": ({"data.test_fraction": None}, ("test_fraction",)),
        "a norm that the model lacks": ({"model.norm": "batch"}, ("norm",)),
        "a selector twice": ({"selectors": ["pause", "pause"]}, ("twice",)),
        "a figure of no kind": ({"figures": {"f": "pie"}}, ("pie",)),
        "a figure's name with a slash": ({"figures": {"../f": "accuracy_vs_time"}}, ("../f",)),
        "another name than the file's": ({"name": "other"}, ("other",)),
        "a base that does not exist": ({"base": "nowhere"}, ("nowhere",)),
        "a base that is itself": ({"base": "mine"}, ("base",)),
        "reduced without a base": ({"scale": "reduced"}, ("reduced",)),
        "more data than memory": ({"data.n_examples": 10**8, "data.n_features": 10**6}, ("n_examples",)),
        "a key that is a number": ({"7": 1}, ("7",)),
    }
    for what, (changes, words) in contradicting.items():
        yield _changed(kind, what, changes, words)


def _changed(
    kind: str, what: str, changes: Mapping[str, Any], words: tuple[str, ...], drop: bool = False
) -> Case:
    def action(folder: Path) -> None:
        document = mine()
        for key, value in changes.items():
            if drop:
                del document[key]
            else:
                document = put(document, key, value)
        load(scenario_files(folder, document))

    return Case(kind, what, action, words)


# --- YAML --------------------------------------------------------------------------------------------


def yaml_texts() -> Iterator[Case]:
    """Texts that are no YAML, or no settings."""
    valid = yaml.safe_dump(mine(), sort_keys=False)
    texts: dict[str, str | bytes] = {
        "an empty file": "",
        "only a comment": "# nothing\n",
        "only null": "null\n",
        "a list": "- a\n- b\n",
        "a single word": "hello\n",
        "two documents": "a: 1\n---\nb: 2\n",
        "a tab as indentation": "a:\n\tb: 1\n",
        "a quote that does not end": "a: 'b\n",
        "a bracket that does not close": "a: [1, 2\n",
        "a bracket that was not opened": "a: 1]\n]",
        "a colon too many": "a: b: c\n",
        "a key twice": valid + "name: mine\n",
        "a section twice": valid + "data: {source: digits}\n",
        "a key twice in a section": valid.replace("network:\n", "network:\n  n_users: 12\n"),
        "a key twice in braces": valid.replace("  name: fc\n", "  name: fc\n") + "x: {a: 1, a: 2}\n",
        "an alias without anchor": "a: *b\n",
        "an alias in itself": "a: &a [*a]\n",
        "a mapping in itself": "a: &a {b: *a}\n",
        "100 open brackets": "a: " + "[" * 100 + "]" * 100,
        "a thousand lists in a line": "- " * 1000 + "a\n",
        "a Python object": "a: !!python/object/apply:os.getcwd []\n",
        "an unknown tag": "a: !mine b\n",
        "a date that does not exist": "a: 2024-99-99\n",
        "a number of 5,000 digits": "a: " + "9" * 5000 + "\n",
        "a hexadecimal number of 10,000 digits": valid.replace("n_users: 12", "n_users: 0x" + "f" * 10000),
        "text under the tag of integers": "a: !!int abc\n",
        "broken base64": "a: !!binary '###'\n",
        "a list as a key": "? [a, b]\n: c\n",
        "a mapping as a key": "? {a: b}\n: c\n",
        "a merge with a number": "a: {<<: 1}\n",
        "YAML of version 9": "%YAML 9.9\n---\na: 1\n",
        "a null character": "a: b\0c\n",
        "a control character": "a: b\x07c\n",
        "UTF-16": valid.encode("utf-16"),
        "Latin-1": "title: caf\xe9\n".encode("latin-1"),
        "a picture": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(100),
        "compressed": b"\x1f\x8b\x08\0" + bytes(range(256)),
        "JSON that is cut": '{"name": "mine", "data": {"source": ',
    }
    for what, text in texts.items():
        yield _text(what, text)
    odd = {
        "a byte order mark": "\ufeff" + valid,
        "Windows line ends": valid.replace("\n", "\r\n"),
        "JSON": yaml.safe_dump(mine(), default_flow_style=True, width=10**6),
        "an anchor and an alias": valid.replace("n_users: 12", "n_users: &n 12") + "",
        "umlauts and emoji in a title": valid.replace("title: ", "title: 🙂 äöü "),
        "a whole number with a point": valid.replace("n_users: 12", "n_users: 12.0"),
    }
    for what, text in odd.items():
        yield _text(what, text, RAN)


def _text(what: str, text: str | bytes, expected: str = "refused") -> Case:
    def action(folder: Path) -> None:
        (folder / "scenarios").mkdir()
        content = text if isinstance(text, bytes) else text.encode()
        (folder / "scenarios" / "mine.yaml").write_bytes(content)
        load(config_file(folder, base_config(folder)))

    words = ("mine.yaml",) if expected != RAN else ()
    return Case("YAML", what, action, words, expected, seconds=1.0)


# --- files -------------------------------------------------------------------------------------------

#: What stands where a file of settings should be.
_IN_PLACE: dict[str, Callable[[Path], object]] = {
    "nothing": lambda path: None,
    "a folder": lambda path: path.mkdir(),
    "a pipe": lambda path: os.mkfifo(path),
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "bytes that are no text": lambda path: path.write_bytes(bytes(range(256))),
    "an empty file": lambda path: path.write_bytes(b""),
}


def files_of_settings() -> Iterator[Case]:
    """Something else in place of each file."""
    readers: dict[str, Callable[[Path], object]] = {
        "config.yaml": load,
        "studies.yaml": lambda path: load_studies(path, SCENARIOS),
        "claims.yaml": lambda path: load_claims(path, SCENARIOS),
        "mine.yaml": lambda path: load(_config_beside(path)),
    }
    for name, read in readers.items():
        for what, make in _IN_PLACE.items():
            words = ("mine" if name == "mine.yaml" else name,)
            yield Case("Files of settings", f"{what} in place of {name}", _placed(name, make, read), words)
    yield Case(
        "Files of settings", "a name of 300 letters", lambda folder: load(folder / ("x" * 300)), ("xxx",)
    )
    yield Case("Files of settings", "a name with a null character", lambda folder: load(folder / "a\0b"))


def _placed(
    name: str, make: Callable[[Path], object], read: Callable[[Path], object]
) -> Callable[[Path], None]:
    def action(folder: Path) -> None:
        (folder / "scenarios").mkdir()
        (folder / "scenarios" / "other.yaml").write_text("a: 1\n")
        path = folder / "scenarios" / name if name == "mine.yaml" else folder / name
        make(path)
        read(path)

    return action


def _config_beside(path: Path) -> Path:
    folder = path.parents[1]
    return config_file(folder, base_config(folder))


# --- configurations, studies, claims -----------------------------------------------------------------


def configurations() -> Iterator[Case]:
    """Keys of a configuration and of its rows."""
    kind = "Configurations"
    row = {"scenario": "mine", "selectors": ["random"], "seeds": [0]}
    wrong: dict[str, list[Any]] = {
        "data_root": [1, None, "", ["a"]],
        "download": ["maybe", 1, None],
        "image_folders": [["a"], {"digits": "x"}, {"mnist": 1}, None],
        "scenarios": [1, "", None, "/nowhere", "/dev/null"],
        "studies": [1, ["a"]],
        "runs": ["some", 1],
        "experiments": [[], {}, "all", [1], [[]], [{}], [row, row]],
    }
    for key, values in wrong.items():
        for value in values:
            yield _config(
                kind, f"{key}: {shown(value)}", {key: value}, ("config.yaml",) if key != "scenarios" else ()
            )
    rows: dict[str, list[Any]] = {
        "scenario": [1, None, "", "min", "../mine", "mine.yaml"],
        "selectors": ["random", [], ["randm"], ["random", "random"], [1], [None]],
        "seeds": [0, [], [-1], [0.5], ["a"], [0, 0], [math.nan], [math.inf], [2**63], [True], None],
        "extra": [1],
    }
    for key, values in rows.items():
        for value in values:
            yield _config(
                kind, f"a row with {key}: {shown(value)}", {"experiments": [{**row, key: value}]}, ()
            )


def _config(kind: str, what: str, changes: Mapping[str, Any], words: tuple[str, ...]) -> Case:
    def action(folder: Path) -> None:
        scenario_files(folder, mine())
        load(config_file(folder, {**base_config(folder), **changes}))

    return Case(kind, what, action, words)


def studies_and_claims() -> Iterator[Case]:
    """One key at a time of the first studies and claims of the shipped files."""
    for name, read in (
        ("studies.yaml", lambda path: load_studies(path, SCENARIOS)),
        ("claims.yaml", lambda path: load_claims(path, SCENARIOS)),
    ):
        document = read_yaml(ROOT / "config" / name)
        first = _firsts(document)
        for path in first:
            for value in (math.nan, {"a": {"b": 1}}):
                yield _document(name, read, f"{path}: {shown(value)}", put(document, path, value))
        for path in dict.fromkeys(".".join(path.split(".")[:-1]) for path in first):
            if path and not path.split(".")[-1].isdigit() and "changes" not in path:
                yield _document(name, read, f"unknown key in {path}", _with_extra(document, path))


def _firsts(document: Any) -> list[str]:
    """Paths of the values of the first entry of each kind."""
    if "claims" in document:
        claims = document["claims"]
        kinds = {test["kind"]: (i, j) for i, c in enumerate(claims) for j, test in enumerate(c["tests"])}
        paths = [f"claims.0.{key}" for key in claims[0] if key != "tests"]
        return paths + [
            f"claims.{i}.tests.{j}.{key}" for i, j in kinds.values() for key in claims[i]["tests"][j]
        ]
    return [
        f"{kind}.{next(iter(studies))}.{key}"
        for kind, studies in document.items()
        for key in next(iter(studies.values()))
    ]


def _with_extra(document: Document, path: str) -> Document:
    place: Any = document
    for part in path.split("."):
        place = place[int(part) if isinstance(place, list) else part]
    return put(document, f"{path}.extra_key", 1) if isinstance(place, dict) else put(document, path, 1)


def _document(name: str, read: Callable[[Path], object], what: str, document: Document) -> Case:
    def action(folder: Path) -> None:
        path = folder / name
        path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
        read(path)

    return Case(name.removesuffix(".yaml").capitalize(), what, action, (name,))


def all_cases() -> Iterator[Case]:
    """Every case of this file."""
    yield from values_of_scenarios()
    yield from structure_of_scenarios()
    yield from yaml_texts()
    yield from files_of_settings()
    yield from configurations()
    yield from studies_and_claims()
