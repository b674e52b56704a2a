"""Files of studies: what is there is valid, and what is wrong is said."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from pausefl.errors import ConfigError, PauseflError
from pausefl.reproduction.studies import load_studies, study_of
from pausefl.reproduction.studies.base import read_tables, write_tables
from pausefl.settings import load_scenario

ROOT = Path(__file__).parents[3]
FOLDER, FILE = ROOT / "config/scenarios", ROOT / "config/studies.yaml"
DOCUMENT: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
STUDIES = load_studies(FILE, FOLDER)


def test_a_study_keeps_its_scenario_but_for_the_changes() -> None:
    changed = STUDIES["pause_v2_theorem3_small"].in_scenario
    whole = load_scenario("mnist_small_authors", FOLDER)
    assert changed is not None
    assert changed.network == whole.network.replace(n_users=20, round_latency_max=1.2)
    assert (changed.reward, changed.privacy) == (whole.reward, whole.privacy)
    assert changed.selectors == ("pause", "sa_pause", "bsfl", "cs_ucb", "random")


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_is_made_again_from_its_settings(name: str) -> None:
    study = STUDIES[name]
    again = study_of(study.kind, json.loads(json.dumps(study.settings())))
    assert again.settings() == study.settings()
    jobs = [[(one.job_settings(), keys) for one, keys in made.runs] for made in (study, again)]
    assert jobs[0] == jobs[1]


def test_tables_are_read_as_they_were_written(tmp_path: Path) -> None:
    tables = {"a.csv": pd.DataFrame({"x": [1, 2]}), "b.parquet": pd.DataFrame({"y": [0.1], "z": ["usual"]})}
    write_tables(tables, tmp_path)
    for name in (".snakemake_timestamp", "._a.csv"):  # as macOS writes on others' disks
        (tmp_path / name).write_bytes(b"\0\5\x16\7")
    found = read_tables(tmp_path)
    assert found.keys() == tables.keys()
    for name, table in tables.items():
        pd.testing.assert_frame_equal(found[name], table)
    (tmp_path / "b.parquet").write_bytes(b"PAR1")
    with pytest.raises(PauseflError, match=r"b\.parquet"):
        read_tables(tmp_path)


REGRET, SELECTION = "regret.bsfl_fig5_regret", "selection.selection_cifar10_small_iid_r1"
GRAPHS = DOCUMENT["graphs"]["bsfl_fig3"]


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (f"{REGRET}.scenario", "bsfl_linear", ("'bsfl_linear'", "'bsfl_linear_iid'")),
        (f"{REGRET}.selectors", ["bslf"], ("selectors.0 = 'bslf'", "'bsfl'")),
        (f"{REGRET}.changes", {"netwrok": {"n_users": 5}}, (f"{REGRET}.changes", "'netwrok'", "'network'")),
        ("comparison.bsfl_fig4.selectors", ["alsa", "bsfl"], ("'bsfl'", "anneal")),
        ("graphs.bsfl_fig3.n_selected", 8, ("n_selected = 8", "n_users = 8")),
        ("changes.mnist_knobs.variants", {"no_p": {"reward.gama": 0}}, ("'reward.gama'", "variants.no_p")),
        (f"{SELECTION}.selectors", ["clustered_similarity"], ("'clustered_similarity'", "training")),
        (f"{SELECTION}.selectors", ["fedavg_no_privacy"], ("selectors", "budget")),
        ("graphs.bsfl_fig5_regret", GRAPHS, ("'bsfl_fig5_regret'", "twice")),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(
    tmp_path: Path, path: str, value: Any, words: tuple[str, ...]
) -> None:
    document = copy.deepcopy(DOCUMENT)
    *sections, key = path.split(".")
    place = document
    for section in sections:
        place = place[section]
    place[key] = value
    file = tmp_path / "studies.yaml"
    file.write_text(yaml.safe_dump(document), encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        load_studies(file, FOLDER)
    assert [word for word in words if word not in str(error.value)] == []
