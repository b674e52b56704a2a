"""What a hostile file, name or setting cannot do. Each test tries it."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pausefl.data.dataset import load_dataset
from pausefl.data.raw_data import prepare, raw_files
from pausefl.errors import ConfigError, DataError
from pausefl.reproduction.config import load_config
from pausefl.reproduction.studies import load_studies
from pausefl.settings import DataSettings, RawData, load_scenario, read_yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "config" / "scenarios"


class Bomb:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str, ...]]:
        return os.mkdir, (str(self.path),)


# --- pickles ----------------------------------------------------------------------------------------


def test_a_batch_of_cifar10_with_another_checksum_is_not_unpickled(tmp_path: Path) -> None:
    settings = DataSettings(source="cifar10", n_validation=0)
    raw = RawData(root=tmp_path, download=False, folders={})
    for path in raw_files(settings, raw):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(pickle.dumps(Bomb(tmp_path / "exploded")))
    with pytest.raises(DataError, match="MD5"):
        prepare(settings, raw)
    assert not (tmp_path / "exploded").exists()


def test_a_data_set_with_python_objects_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "mnist.npz"
    np.savez(path, kind="dataset", train_x=np.array([Bomb(tmp_path / "exploded")], dtype=object))
    with pytest.raises(DataError, match="corrupt"):
        load_dataset(path)
    assert not (tmp_path / "exploded").exists()


def test_the_state_of_a_job_with_python_objects_is_not_read(
    command: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    np.savez(tmp_path / "state.npz", about=np.array([Bomb(tmp_path / "exploded")], dtype=object))
    job = ("--scenario", "demo_small", "--selector", "random", "--rounds", 1)
    code, _, said = command("run", *job, "--out", tmp_path)
    assert code == 0
    assert "state.npz is truncated or corrupt" in said
    assert not (tmp_path / "exploded").exists()


def test_a_yaml_file_makes_no_python_objects(tmp_path: Path) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text(f"name: !!python/object/apply:os.mkdir ['{tmp_path / 'exploded'}']\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="could not determine a constructor"):
        read_yaml(path)
    assert not (tmp_path / "exploded").exists()


# --- paths ------------------------------------------------------------------------------------------

ESCAPES = ["../../outside", "/tmp/outside", "a/../../b", "..", "$(touch x)", "a;b", "a b", "`id`"]


@pytest.mark.parametrize("name", ESCAPES)
def test_names_of_scenarios_studies_and_figures_lead_nowhere(tmp_path: Path, name: str) -> None:
    """Names become folders and files; whatever is not a plain name is refused before anything is written."""
    document = read_yaml(ROOT / "config" / "demo.yaml") | {"scenarios": str(FOLDER)}
    rows = [{"scenario": name, "selectors": ["pause"], "seeds": [0]}]
    with pytest.raises(ConfigError):
        load_config(document | {"experiments": rows})
    folder = tmp_path / "one" / "two" / "scenarios"
    folder.mkdir(parents=True)
    shipped = (FOLDER / "demo_small.yaml").read_text(encoding="utf-8")
    (folder / "demo_small.yaml").write_text(shipped, encoding="utf-8")
    there = (folder / f"{name}.yaml").resolve()
    if there.is_relative_to(tmp_path):
        there.write_text(shipped, encoding="utf-8")
    with pytest.raises(ConfigError):
        load_scenario(name, folder)
    (folder / "demo_small.yaml").write_text(f"{shipped}  '{name}': accuracy_vs_time\n", encoding="utf-8")
    with pytest.raises(ConfigError):
        load_scenario("demo_small", folder)
    studies = tmp_path / "studies.yaml"
    study = "{title: t, n_users: 8, n_selected: 4, n_instances: 1}"
    studies.write_text(f"graphs:\n  '{name}': {study}\n", encoding="utf-8")
    with pytest.raises(ConfigError):
        load_studies(studies, FOLDER)
