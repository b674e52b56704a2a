"""Tables of one's own: CSV, NPZ and Parquet give the same examples, and what is wrong is named."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from raw_data import raw, refusal, source

import pausefl
from pausefl.data.dataset import Dataset
from pausefl.data.raw_data import check_available, dataset_key, prepare
from pausefl.errors import PauseflError
from pausefl.settings import DataSettings

#: 24 rows of three clinics: of 12, 8 and 4.
ROWS = pd.DataFrame(
    {
        "age": np.arange(24) / 24,
        "dose": np.arange(24)[::-1],
        "outcome": ["well", "ill", "well"] * 8,
        "clinic": ["north"] * 12 + ["east"] * 8 + ["south"] * 4,
    }
)


def table(file: str = "visits.csv", **keys: object) -> DataSettings:
    given = {"label_column": "outcome", "user_column": "clinic", "test_fraction": 0.25}
    return source("table", file=file, **(given | keys))


def write(folder: Path, name: str, rows: pd.DataFrame) -> Path:
    """The rows as a file, of the kind that its name says."""
    path = folder / name
    if path.suffix == ".csv":
        rows.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        rows.to_parquet(path)
    else:
        np.savez(
            path,
            x=rows[["age", "dose"]].to_numpy(),
            outcome=rows["outcome"].to_numpy(np.str_),
            clinic=rows["clinic"].to_numpy(np.str_),
        )
    return path


@pytest.mark.parametrize("suffix", ["csv", "npz", "parquet"])
def test_rows_are_examples_and_keep_their_labels_and_users(suffix: str, tmp_path: Path) -> None:
    write(tmp_path, f"visits.{suffix}", ROWS)
    settings = table(f"visits.{suffix}")
    check_available(settings, raw(tmp_path))
    data = prepare(settings, raw(tmp_path))
    assert (data.train_x.dtype, data.n_classes) == (np.float32, 2)
    assert data.train_users is not None
    found = [*zip(data.train_x[:, 1], data.train_y, data.train_users, strict=True)]
    found += [(dose, label, None) for dose, label in zip(data.test_x[:, 1], data.test_y, strict=True)]
    assert sorted(dose for dose, _, _ in found) == [*range(24)]
    for dose, label, user in found:
        row = ROWS[ROWS["dose"] == dose].iloc[0]
        assert ["ill", "well"][label] == row["outcome"]
        assert user in (None, row["clinic"])


def test_an_index_that_pandas_wrote_is_no_feature(tmp_path: Path) -> None:
    ROWS.to_csv(tmp_path / "visits.csv")
    with pytest.raises(PauseflError, match=r"visits.csv: column 1 has no name. If it is the index"):
        prepare(table(), raw(tmp_path))


def test_a_quarter_of_each_user_is_for_testing_and_all_kinds_of_files_give_the_same(tmp_path: Path) -> None:
    made = list[Dataset]()
    for name in ("visits.csv", "visits.npz", "visits.parquet"):
        write(tmp_path, name, ROWS)
        made.append(prepare(table(name), raw(tmp_path)))
    assert made[0].train_users is not None
    assert Counter(made[0].train_users) == {"north": 9, "east": 6, "south": 3}
    for other in made[1:]:
        np.testing.assert_array_equal(made[0].train_x, other.train_x)
        np.testing.assert_array_equal(made[0].test_y, other.test_y)
        np.testing.assert_array_equal(made[0].train_users, other.train_users)


def test_users_may_be_numbers_which_are_in_their_order(tmp_path: Path) -> None:
    write(tmp_path, "visits.csv", ROWS.assign(clinic=[10] * 12 + [9] * 12))
    data = prepare(table(), raw(tmp_path))
    assert data.train_users is not None
    assert sorted(set(data.train_users)) == [9, 10]


def test_a_run_has_the_users_of_the_table(tmp_path: Path) -> None:
    write(tmp_path, "visits.csv", ROWS)
    keys = {"source": "table", "file": "visits.csv", "label_column": "outcome", "user_column": "clinic"}
    changes = {f"data.{key}": value for key, value in keys.items()}
    changes |= {"partition.users": "given", "network.n_users": 3, "network.n_selected": 1}
    scenario = pausefl.change(pausefl.load_scenario("demo_small"), changes)
    run = pausefl.run(scenario, "random", n_rounds=2, data_root=tmp_path)
    assert run.rounds["accuracy"].notna().all()
    with pytest.raises(PauseflError, match="n_users"):
        pausefl.run(
            pausefl.change(scenario, {"network.n_users": 4}), "random", n_rounds=2, data_root=tmp_path
        )


@pytest.mark.parametrize(
    ("rows", "keys", "words"),
    [
        (ROWS, {"label_column": "outcom"}, ("no column 'outcom' (data.label_column)", "'outcome'")),
        (ROWS, {"user_column": "ward"}, ("no column 'ward' (data.user_column)",)),
        (ROWS, {"label_column": "age", "user_column": None}, ("'age'", "not whole in row 2")),
        (ROWS, {"user_column": None}, ("column 'clinic' is not of numbers",)),
        (ROWS.assign(age=ROWS["age"].where(ROWS["dose"] != 20)), {}, ("'age'", "row 4")),
        (ROWS.assign(clinic=ROWS["clinic"].where(ROWS["dose"] != 20)), {}, ("'clinic'", "row 4")),
        (ROWS[["outcome", "clinic"]], {}, ("no column of features",)),
        (ROWS.iloc[:0], {}, ("no rows",)),
        (ROWS, {"test_fraction": 0.01}, ("test_fraction = 0.01 leaves no row for testing",)),
    ],
)
def test_what_is_wrong_is_named(
    rows: pd.DataFrame, keys: dict[str, object], words: tuple[str, ...], tmp_path: Path
) -> None:
    path = write(tmp_path, "visits.csv", rows)
    message = refusal(prepare, table(**keys), raw(tmp_path))
    assert message.startswith(f"{path}: ")
    assert [word for word in words if word not in message] == []


@pytest.mark.parametrize("name", ["visits.csv", "visits.npz", "visits.parquet"])
def test_a_damaged_file_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"\x00\xff\xfe" * 9)
    assert str(tmp_path / name) in refusal(prepare, table(name), raw(tmp_path))


def test_a_file_that_is_missing_or_of_another_kind_is_refused_before_a_job_starts(tmp_path: Path) -> None:
    assert "Correct the scenario's data.file" in refusal(check_available, table(), raw(tmp_path))
    (tmp_path / "visits.xlsx").touch()
    message = refusal(check_available, table("visits.xlsx"), raw(tmp_path))
    assert ".csv, .npz, .parquet" in message


def test_a_table_needs_its_keys_and_each_has_another_prepared_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"needs data\.label_column"):
        table(label_column=None)
    settings = table(), table(label_column="clinic", user_column="outcome"), table(user_column=None)
    keys = {dataset_key(one, raw(tmp_path)) for one in (*settings, table("a/b.csv"))}
    assert len(keys) == 4
    assert not any("/" in key for key in keys)
