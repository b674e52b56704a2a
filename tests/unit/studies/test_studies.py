"""Files of studies: what is there is valid, and what is wrong is said."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from pausefl.errors import ConfigError
from pausefl.settings import load_scenario, scenario_names
from pausefl.studies import Studies, kinds, load_studies, study_of

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "config" / "scenarios"
FILE = ROOT / "config" / "studies.yaml"
DOCUMENT: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))


def test_the_studies_of_the_papers_are_there() -> None:
    studies = load_studies(FILE, FOLDER)
    assert {"bsfl_fig3", "bsfl_fig4", "bsfl_fig5_regret", "bsfl_fig8_regret"} <= set(studies)
    assert {"pause_v2_table1", "pause_v2_theorem3_small"} <= set(studies)
    shapes = {
        name: (runs.scenario.network.n_users, runs.scenario.network.n_selected, runs.n_rounds)
        for name, runs in studies.of_kind("regret").items()
    }
    assert set(shapes.values()) == {(20, 5, 100_000), (300, 15, 100_000)}
    assert all(runs.scenario.selection.exploitation == 1 for runs in studies.of_kind("regret").values())
    comparison = studies["bsfl_fig4"]
    assert (comparison.scenario.network.n_users, comparison.scenario.network.n_selected) == (500, 25)
    assert (studies["bsfl_fig3"].n_users, studies["bsfl_fig3"].n_selected) == (8, 4)
    runtime = studies["pause_v2_table1"]
    assert (min(runtime.n_users), max(runtime.n_users)) == (10, 1_000_000)


def test_names_of_studies_are_no_other_targets() -> None:
    targets = set(scenario_names(FOLDER)) | {"all", "demo", "studies"}
    for name in scenario_names(FOLDER):
        targets |= set(load_scenario(name, FOLDER).figures)
    assert targets.isdisjoint(list(load_studies(FILE, FOLDER)))


def test_a_study_keeps_its_scenario_but_for_the_changes() -> None:
    changed = load_studies(FILE, FOLDER).of_kind("regret")["pause_v2_theorem3_small"].scenario
    whole = load_scenario("mnist_small_authors", FOLDER)
    assert (changed.network.n_users, changed.network.round_latency_max) == (20, 1.2)
    assert changed.network.latency_std == whole.network.latency_std
    assert (changed.reward, changed.privacy, changed.partition) == (
        whole.reward,
        whole.privacy,
        whole.partition,
    )
    assert changed.selectors == ("pause", "sa_pause", "bsfl", "cs_ucb", "random")


def test_studies_are_in_the_order_of_their_file_and_know_their_kind() -> None:
    studies = load_studies(FILE, FOLDER)
    assert list(studies) == [name for of_kind in DOCUMENT.values() for name in of_kind]
    assert {name: study.kind for name, study in studies.items()} == {
        name: kind for kind, of_kind in DOCUMENT.items() for name in of_kind
    }
    assert set(DOCUMENT) == set(kinds())


@pytest.mark.parametrize("kind", kinds())
def test_a_study_is_made_again_from_its_settings(kind: str) -> None:
    for study in load_studies(FILE, FOLDER).of_kind(kind).values():
        again = study_of(kind, json.loads(json.dumps(study.settings())), study.title)
        assert again.settings() == study.settings()
        assert again.title == study.title


def test_reading_studies_loads_neither_plots_nor_compilers() -> None:
    code = (
        "import sys; from pathlib import Path; from pausefl.studies import load_studies;"
        "load_studies(Path('config/studies.yaml'), Path('config/scenarios'));"
        "print(*{'matplotlib', 'seaborn', 'numba', 'scipy', 'torch'} & sys.modules.keys())"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert loaded.stdout == "\n"


def test_published_studies_are_those_that_have_a_folder(tmp_path: Path) -> None:
    (tmp_path / "bsfl_fig4").mkdir()
    assert list(load_studies(FILE, FOLDER).published(tmp_path)) == ["bsfl_fig4"]


def test_no_file_is_no_studies() -> None:
    assert load_studies(None, FOLDER) == Studies()
    assert list(load_studies(None, FOLDER)) == []


REGRET, SELECTION = "regret.bsfl_fig5_regret", "selection.selection_cifar10_small_iid_r1"
GRAPHS = DOCUMENT["graphs"]["bsfl_fig3"]


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (f"{REGRET}.scenario", "bsfl_linear", ("'bsfl_linear'", "'bsfl_linear_iid'")),
        (f"{REGRET}.selectors", ["bslf"], ("selectors.0 = 'bslf'", "'bsfl'")),
        (f"{REGRET}.seeds", [], (f"{REGRET}.seeds = []",)),
        (f"{REGRET}.round", 3, (f"'{REGRET}.round'",)),
        (f"{REGRET}.changes", {"netwrok": {"n_users": 5}}, (f"{REGRET}.changes", "'netwrok'", "'network'")),
        (f"{REGRET}.changes", {"network": {"n_user": 5}}, ("'network.n_user'", "'n_users'")),
        (f"{REGRET}.changes", {}, ("'alsa'", "selection.n_iterations")),
        (
            "regret.pause_v2_theorem3_small.changes",
            {"network": {"n_users": 20}},
            ("'cs_ucb'", "network.round_latency_max"),
        ),
        ("comparison.bsfl_fig4.selectors", ["alsa", "bsfl"], ("'bsfl'", "anneal")),
        ("graphs.bsfl_fig3.n_selected", 8, ("n_selected = 8", "n_users = 8")),
        ("generalization.bsfl_fig2.n_selected", 21, ("n_selected = 21", "n_users = 20")),
        (f"{SELECTION}.selectors", ["clustered_similarity"], ("'clustered_similarity'", "training")),
        (f"{SELECTION}.selectors", ["fedavg_no_privacy"], ("selectors", "budget")),
        (
            "selection.selection_cifar10_small_iid_r2.scenario",
            "cifar10_small_iid_r1",
            ("'selection_cifar10_small_iid_r1'", "'cifar10_small_iid_r1'"),
        ),
        ("gaps", {}, ("'gaps'", "'graphs'")),
        ("graphs.bsfl_fig5_regret", GRAPHS, ("'bsfl_fig5_regret'", "twice")),
        ("graphs.Gap", GRAPHS, ("'Gap'",)),
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
