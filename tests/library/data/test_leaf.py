"""LEAF's JSON: numbers with classes, texts with the next character, and files that are not in its form."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from raw_data import raw, refusal, source

from pausefl.data.raw_data import check_available, make_source, prepare
from pausefl.settings import DataSettings

NUMBERS, TEXTS = (source(name, folder="mine") for name in ("leaf", "leaf_text"))

#: x and y of each user; w1 has no training example, w3 none for testing.
TRAIN = {
    "w2": ([[0.0, 0.5], [1, 0.25]], [4, 0]),
    "w0": ([[0.5, 0.75]], [1]),
    "w1": ([], []),
    "w3": ([[0.125, 1]], [2]),
}
TEST = {"w2": ([[1, 1]], [1]), "w1": ([[0, 0]], [0])}
SAID = {"ANNE": (["to be", "o be "], [" ", "o"]), "BOB": (["é to "], ["b"])}
SAID_LATER = {"ANNE": (["r not"], ["!"])}


def form(data: dict[str, Any]) -> dict[str, Any]:
    """LEAF's form of x and y by user."""
    return {
        "users": list(data),
        "num_samples": [len(y) for _, y in data.values()],
        "hierarchies": [],
        "user_data": {user: {"x": x, "y": y} for user, (x, y) in data.items()},
    }


def write(root: Path, train: dict[str, Any], test: dict[str, Any], split: int = 1) -> Path:
    """Write train/a.json, with ``split`` of the users, train/b.json with the others, and test/a.json."""
    first = {user: train[user] for user in [*train][:split]}
    rest = {user: train[user] for user in [*train][split:]}
    for name, data in (("train/a", first), ("train/b", rest), ("test/a", test)):
        path = root / f"mine/{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(form(data)), encoding="utf-8")
    return root / "mine/train/a.json"


def test_numbers_and_classes(tmp_path: Path) -> None:
    write(tmp_path, TRAIN, TEST)
    check_available(NUMBERS, raw(tmp_path))
    data = prepare(NUMBERS, raw(tmp_path))
    assert data.n_classes == 5
    assert (data.train_x.dtype, data.n_symbols) == (np.float32, 0)
    assert data.train_users is not None
    found = sorted(zip(data.train_users, data.train_x.tolist(), data.train_y, strict=True))
    assert found == [
        ("w0", [0.5, 0.75], 1),
        ("w2", [0.0, 0.5], 4),
        ("w2", [1.0, 0.25], 0),
        ("w3", [0.125, 1.0], 2),
    ]
    assert data.test_x.tolist() == [[1, 1], [0, 0]]
    assert data.test_y.tolist() == [1, 0]
    assert make_source(NUMBERS, raw(tmp_path)).describe() == "LEAF's mine, features"


def test_texts_and_the_next_character(tmp_path: Path) -> None:
    write(tmp_path, SAID, SAID_LATER)
    data = prepare(TEXTS, raw(tmp_path))
    alphabet = sorted(set(" !bentoré"))
    assert data.n_classes == data.n_symbols == len(alphabet)
    assert data.train_users is not None
    texts = ["".join(alphabet[i] for i in row) for row in data.train_x]
    after = [alphabet[i] for i in data.train_y]
    assert sorted(zip(data.train_users, texts, after, strict=True)) == [
        ("ANNE", "o be ", "o"),
        ("ANNE", "to be", " "),
        ("BOB", "é to ", "b"),
    ]
    assert "".join(alphabet[i] for i in [*data.test_x[0], *data.test_y]) == "r not!"


def changed(**changes: Any) -> Callable[[dict[str, Any]], object]:
    """Change keys of a file; None removes one."""

    def change(content: dict[str, Any]) -> None:
        for key, value in changes.items():
            content[key] = value
            if value is None:
                del content[key]

    return change


def user(**changes: Any) -> Callable[[dict[str, Any]], object]:
    """Change x or y of the first user."""
    return lambda content: content["user_data"][content["users"][0]].update(changes)


WRONG = [
    (NUMBERS, changed(users=None, num_samples=None), "not in LEAF's form: it lacks 'users', 'num_samples'"),
    (NUMBERS, changed(users="w2"), "'users' and 'num_samples' must be lists"),
    (NUMBERS, changed(num_samples=[]), "'users' must be different ones, each with a number"),
    (NUMBERS, changed(users=["w9"]), "user 'w2' is in only one of 'users' and 'user_data'"),
    (NUMBERS, changed(num_samples=[3]), "user 'w2' needs lists x and y of num_samples = 3 values"),
    (NUMBERS, changed(user_data={"w2": 7}), "user 'w2' needs lists x and y of num_samples = 2 values"),
    (NUMBERS, user(y=[4]), "needs lists x and y of num_samples = 2 values"),
    (NUMBERS, user(y=[4, -1]), "user 'w2': y[1] = -1 is not a class, a whole number from 0 to 999999"),
    (NUMBERS, user(y=[0.5, 1]), "y[0] = 0.5 is not a class"),
    (NUMBERS, user(y=[10**400, 1]), "is not a class"),
    (NUMBERS, user(y=[True, 1]), "y[0] = True is not a class"),
    (NUMBERS, user(x=[[0, 1], [0]]), "user 'w2': x[1] = [0] is not of length 2"),
    (NUMBERS, user(x=[[], []]), "x[0] = [] is not of length 1"),
    (NUMBERS, user(x=[[0, 1], 3]), "x[1] = 3 is not a list of numbers"),
    (NUMBERS, user(x=["a text", "a text"]), "x[0] = 'a text' is not a list of numbers"),
    (NUMBERS, user(x=[[0, 1], [0, None]]), "x[1] has None, which is not a finite number"),
    (NUMBERS, user(x=[[0, 1], [0, "1"]]), "x[1] has '1', which is not a finite number"),
    (NUMBERS, user(x=[[0, 1], [0, [1]]]), "x[1] has [1], which is not a finite number"),
    (NUMBERS, user(x=[[0, 1], [0, float("nan")]]), "x[1] has nan, which is not a finite number"),
    (NUMBERS, user(x=[[0, 1], [0, 10**400]]), "which is not a finite number"),
    (TEXTS, user(x=["to be", "o be"]), "user 'ANNE': x[1] = 'o be' is not of length 5"),
    (TEXTS, user(x=[[1, 2, 3, 4, 5]] * 2), "x[0] = [1, 2, 3, 4, 5] is not a text"),
    (TEXTS, user(y=["or", "b"]), "y[0] = 'or' is not one character"),
    (TEXTS, user(y=[3, "b"]), "y[0] = 3 is not one character"),
]


@pytest.mark.parametrize(("settings", "change", "message"), WRONG, ids=[message for *_, message in WRONG])
def test_what_is_not_in_leafs_form_is_refused_in_one_sentence(
    settings: DataSettings, change: Callable[[dict[str, Any]], object], message: str, tmp_path: Path
) -> None:
    path = write(tmp_path, *((TRAIN, TEST) if settings is NUMBERS else (SAID, SAID_LATER)))
    content = json.loads(path.read_text("utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    text = refusal(prepare, settings, raw(tmp_path))
    assert text.startswith(f"{path}: ")
    assert message in text
    assert "\n" not in text


def test_a_file_that_is_no_json_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, TRAIN, TEST)
    for content in (b"[" * 100_000, b'{"users": [', b"\xff", b"3"):
        path.write_bytes(content)
        assert refusal(prepare, NUMBERS, raw(tmp_path)).startswith(f"{path}: ")


def test_a_user_of_two_files_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, TRAIN, TEST)
    (path.parent / "c.json").write_bytes(path.read_bytes())
    text = refusal(prepare, NUMBERS, raw(tmp_path))
    assert f"{path.parent}/c.json: user 'w2' is in a.json, too" in text


def test_test_examples_of_another_length_are_refused(tmp_path: Path) -> None:
    write(tmp_path, TRAIN, {"w2": ([[1, 1, 1]], [1])})
    text = refusal(prepare, NUMBERS, raw(tmp_path))
    assert f"{tmp_path}/mine/test/a.json: user 'w2': x[0] = [1, 1, 1] is not of length 2" in text


def test_folders_without_files_or_examples_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, TRAIN, {"w2": ([], [])})
    assert f"{tmp_path}/mine/test: no user in it has an example" in refusal(prepare, NUMBERS, raw(tmp_path))
    for one in path.parent.iterdir():
        one.unlink()
    for action in (check_available, prepare):
        assert f"{path.parent}: no .json file in it" in refusal(action, NUMBERS, raw(tmp_path))
    path.parent.rmdir()
    text = refusal(prepare, NUMBERS, raw(tmp_path))
    assert f"\n  {path.parent}" in text
    assert "Correct the scenario's data.folder" in text
    path.parent.touch()
    assert f"{path.parent}: not a folder" in refusal(check_available, NUMBERS, raw(tmp_path))
