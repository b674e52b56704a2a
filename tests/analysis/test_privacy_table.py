"""The table of what users have spent, from ledgers written by hand."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from pausefl.analysis.pld import epsilons
from pausefl.analysis.privacy_table import by_what_they_select, privacy_table, to_markdown
from pausefl.errors import PauseflError
from pausefl.privacy import CoordinateMechanism, Ledger, VectorMechanism
from pausefl.privacy.zcdp import epsilon_of, rho_of_updates
from pausefl.runs.run import Run
from pausefl.runs.run_id import RunId
from pausefl.selectors import LABELS, SELECTORS, selector_names
from pausefl.settings import PrivacySettings

ROOT = Path(__file__).parents[2]
COORDINATE = PrivacySettings(epsilon_total=10, decay=0.04, sensitivity=0.003)
VECTOR = PrivacySettings(epsilon_total=10, decay=0.04, mechanism="vector", clip_norm=0.5)


def spent(participations: list[int], privacy: PrivacySettings | None) -> Run:
    """The ledger of a run in which users took part as often as told; 100 protected values, 7 others."""
    schedule = mechanism = None
    if privacy is not None:
        schedule, mechanism = privacy.make_schedule(), privacy.make_mechanism()
    ledger = Ledger(len(participations), 100, 7, schedule, mechanism)
    ledger.restore(pd.Series(participations).to_numpy())
    return Run(pd.DataFrame(), ledger.table(), {}, Path("runs/a"))


@pytest.mark.parametrize("privacy", [COORDINATE, VECTOR])
def test_highest_and_median_user_of_every_run(privacy: PrivacySettings) -> None:
    runs = {
        RunId("s", "random", 1): spent([2, 2, 1, 0], privacy),
        RunId("s", "pause", 1): spent([4, 0, 3, 9], privacy),
        RunId("s", "pause", 0): spent([5, 3, 20], privacy),
        RunId("s", "fedavg_no_privacy", 0): spent([30, 30], None),
    }
    table = privacy_table(runs, privacy)
    assert table[["selector", "seed", "rank", "user", "participations"]].values.tolist() == [
        ["pause", 0, "highest", 2, 20],
        ["pause", 0, "median", 0, 5],
        ["pause", 1, "highest", 3, 9],
        ["pause", 1, "median", 0, 4],
        ["random", 1, "highest", 1, 2],
        ["random", 1, "median", 0, 2],
        ["fedavg_no_privacy", 0, "highest", 1, 30],
        ["fedavg_no_privacy", 0, "median", 1, 30],
    ]
    first = table.iloc[0]
    factor = 1 if privacy is VECTOR else 100
    assert first["epsilon_update"] == pytest.approx(factor * first["epsilon_coordinate"])
    by_zcdp = epsilon_of(rho_of_updates(privacy.make_schedule(), privacy.make_mechanism(), 20, 100))
    # Of updates protected as a whole, rho of 0.8 would be more than the sum, which stands.
    assert (float(by_zcdp) > first["epsilon_update"]) == (privacy is VECTOR)
    wanted = min(float(by_zcdp), first["epsilon_update"])
    assert first["epsilon_update_zcdp"] == pytest.approx(wanted)
    assert ("by zCDP" in to_markdown(table, LABELS)) == (privacy is COORDINATE)
    assert table["epsilon_update_zcdp"].iloc[-1] == math.inf
    assert first["values_unprotected"] == 140
    mechanism = VectorMechanism(0.5) if privacy is VECTOR else CoordinateMechanism(0.003)
    assert first["epsilon_pld"] == epsilons(privacy.make_schedule(), mechanism, [20])[20]
    assert (table["epsilon_pld"] <= table["epsilon_coordinate"]).all()
    assert table["epsilon_pld"].iloc[-1] == math.inf
    assert set(table["pld_of"]) == {"update" if privacy is VECTOR else "coordinate"}
    assert set(table["delta"]) == {1e-5}


def test_a_reported_loss_is_part_of_the_account_of_selectors_that_need_it() -> None:
    paid = COORDINATE.replace(loss_share=0.5, loss_bound=2.0)
    runs = {RunId("s", name, 0): spent([20, 20, 20], COORDINATE) for name in ("random", "oort")}
    for experiment, run in runs.items():  # as a job with a paid loss writes it
        share = paid.share_for_losses(SELECTORS[experiment.selector].releases_losses())
        ledger = Ledger(3, 100, 7, paid.make_schedule(), paid.make_mechanism(), share)
        ledger.restore(run.ledger["participations"].to_numpy())
        runs[experiment] = replace(run, ledger=ledger.table())
    table = privacy_table(runs, paid)
    found = table.groupby("selector")["epsilon_pld"].max()
    schedule, mechanism = paid.make_schedule(), paid.make_mechanism()
    by_zcdp = table.groupby("selector")["epsilon_update_zcdp"].max()
    for name, share in (("random", 0.0), ("oort", 0.5)):
        wanted = epsilon_of(rho_of_updates(schedule, mechanism, 20, 100, share))
        assert by_zcdp[name] == pytest.approx(float(wanted))
    assert found["random"] == epsilons(schedule, mechanism, [20])[20]
    assert found["oort"] == epsilons(schedule, mechanism, [20], loss_share=0.5)[20] != found["random"]


def test_a_ledger_that_cannot_be_used_is_named() -> None:
    run = spent([3], COORDINATE)
    for ledger, lacking in (
        (run.ledger.drop(columns="epsilon_update"), "epsilon_update"),
        (run.ledger[:0], "users"),
    ):
        with pytest.raises(PauseflError, match=f"the ledger of runs/a lacks {lacking}"):
            privacy_table({RunId("s", "pause", 0): replace(run, ledger=ledger)}, COORDINATE)


def test_selectors_for_which_the_accounts_at_a_delta_hold_are_those_of_the_page() -> None:
    """The page has what the facts of the selectors say."""
    page = (ROOT / "docs/privacy.md").read_text("utf-8")
    held, not_held = (
        re.findall(r"`(\w+)`", re.search(rf"^- \*\*{words}\*\*(.+?)\.$", page, re.M | re.S)[1])  # type: ignore[index]
        for words in ("They hold for", "They do not hold for")
    )
    assert (held, not_held) == by_what_they_select(selector_names())
    assert not_held == ["clustered_similarity", "power_of_choice", "pow_d", "oort"]


def test_the_note_names_the_selectors_for_which_only_sums_hold() -> None:
    runs = {RunId("s", name, 0): spent([2, 1], COORDINATE) for name in ("pause", "random", "oort")}
    table = privacy_table(runs, COORDINATE)
    assert table.groupby("selector")["participations_fixed"].all().to_dict() == {
        "pause": True,
        "random": True,
        "oort": False,
    }
    text = to_markdown(table, LABELS)
    assert "for PAUSE, Random. Only the sums hold for Oort." in text
    assert "for no selector here" in to_markdown(table[table["selector"] == "oort"], LABELS)
