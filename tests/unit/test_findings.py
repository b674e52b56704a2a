"""Every number of the page of findings is that of the published runs, or of a page that is tested itself.

A table is checked by its head, a sentence by its template. The last test finds numbers without a check.
"""

from __future__ import annotations

import json
import math
import re
import runpy
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

import pausefl
from pausefl.claims.comparisons import Comparison
from pausefl.data.dataset import Dataset
from pausefl.federated.untrained import selection_only
from pausefl.registry.selectors import LABELS
from pausefl.results.archive import beside_ours
from pausefl.results.intervals import wilson
from pausefl.results.outcomes import outcomes
from pausefl.results.published import published_in, run_folder
from pausefl.results.runs import collect
from pausefl.settings import Experiment, Scenario, load_scenario
from pausefl.studies import trained_knobs
from pausefl.tools.documentation import PublishedVerdicts
from pausefl.training.sizes import model_layout

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "results/published"
STUDIES = PUBLISHED / "studies"
PAGE = (ROOT / "docs/findings.md").read_text("utf-8")
#: The page without tables and pictures, on one line.
PROSE = " ".join(" ".join(line for line in PAGE.splitlines() if not line.startswith(("|", "!["))).split())

NUMBER = r"[−+]?\d+(?:,\d{3})*(?:\.\d+)?"


def value(text: str) -> float:
    """A number as the page writes it."""
    return float(text.replace("−", "-").replace(",", ""))


def said(text: str, number: float) -> bool:
    """Whether a text is a number, rounded to its digits."""
    return abs(value(text) - number) <= 0.5001 * 10.0 ** -len(text.partition(".")[2])


def tables() -> dict[str, list[list[str]]]:
    """The rows of each table of the page, by its first head and the second."""
    found = {}
    for table in re.findall(r"(?:^\|.*\n)+", PAGE, re.MULTILINE):
        head, _, *rows = [
            [cell.strip() for cell in line.strip("|\n ").split("|")] for line in table.splitlines()
        ]
        found[head[0]] = rows
    return found


TABLES = tables()


# --- tables of comparisons ---------------------------------------------------------------------------

MNIST, MNIST_R2 = "mnist_large_iid_r1", "mnist_large_iid_r2"
SMALL, SMALL_R2, UNEQUAL = "cifar10_small_iid_r1", "cifar10_small_iid_r2", "cifar10_small_noniid_r1"
LARGE = "cifar10_large_noniid_r1"
OVER = "accuracy over the common time: sa_pause against pause"
END = "accuracy at the earlier end: pause against"
TARGET, LEAKAGE = "time to the target: pause against", "leakage at the earlier end: pause against"
FIT = "fit of a logarithm to regret, error against the best other law:"
RACE = "races won by ALSA"

#: Claim, place and question of each row of the tables that have intervals, by the table's first head.
COMPARED: dict[str, dict[str, tuple[str, str, str]]] = {
    "time to the target, PAUSE against": {
        "random, MNIST, 300 users": ("C3", MNIST, f"{TARGET} random"),
        "clustered by similarity, MNIST, 300 users": ("C3", MNIST, f"{TARGET} clustered_similarity"),
        "random, CIFAR-10, 30 users": ("C3", SMALL, f"{TARGET} random"),
        "clustered by size, CIFAR-10, 30 users, non-i.i.d.": ("C3", UNEQUAL, f"{TARGET} clustered_size"),
        "clustered by size, CIFAR-10, 300 users, non-i.i.d.": ("C3", LARGE, f"{TARGET} clustered_size"),
    },
    "accuracy over the common time, SA-PAUSE less PAUSE": {
        "MNIST, 300 users": ("C5a", MNIST, OVER),
        "CIFAR-10, 30 users": ("C5a", SMALL, OVER),
        "CIFAR-10, 300 users, non-i.i.d.": ("C5a", LARGE, OVER),
    },
    "leakage, PAUSE against": {
        "random, equally many rounds, CIFAR-10, 30 users": (
            "C6",
            SMALL,
            "leakage over equally many rounds: pause against random",
        ),
        "random, equal time, MNIST, at PAUSE's end": ("C14", MNIST, f"{LEAKAGE} random"),
        "clustered by size, equal time, MNIST, at PAUSE's end": ("C14", MNIST, f"{LEAKAGE} clustered_size"),
    },
    "accuracy, PAUSE less FedAvg without privacy": {
        "MNIST, 300 users (Fig. 8)": ("C15", MNIST, f"{END} fedavg_no_privacy"),
        "CIFAR-10, 30 users (Fig. 2)": ("C15", SMALL, f"{END} fedavg_no_privacy"),
        "CIFAR-10, 30 users, R2 (Fig. 3)": ("C15", SMALL_R2, f"{END} fedavg_no_privacy"),
        "CIFAR-10, 30 users, non-i.i.d. (Fig. 6)": ("C15", UNEQUAL, f"{END} fedavg_no_privacy"),
        "CIFAR-10, 300 users, non-i.i.d. (Fig. 10)": ("C15", LARGE, f"{END} fedavg_no_privacy"),
    },
    "claim": {
        "BSFL's final regret against random selection's (C20)": (
            "C20",
            "bsfl_fig5_regret",
            "final regret: bsfl against random",
        ),
        "a logarithm's error in the fit to PAUSE's regret, against the best other law's, 20 users (C9)": (
            "C9",
            "pause_v2_theorem3_small",
            f"{FIT} pause",
        ),
        "the same for BSFL's regret (C9)": ("C9", "bsfl_fig5_regret", f"{FIT} bsfl"),
        "BSFL's loss against random selection's, equal users, regression (C13a)": (
            "C13",
            "bsfl_linear_iid",
            "loss over the common time: bsfl against random",
        ),
        "BSFL's accuracy less random selection's, Fashion-MNIST, i.i.d. (C13a)": (
            "C13",
            "bsfl_fashion_iid",
            "accuracy over the common time: bsfl against random",
        ),
        "BSFL's final loss against CS-UCB-Q's, Fashion-MNIST, unequal users (C13b)": (
            "C13",
            "bsfl_fashion_noniid",
            "loss at the earlier end: bsfl against cs_ucb_q",
        ),
        "share of races that ALSA wins in equal time, drawn instances, the theorem's temperature (C11)": (
            "C11",
            "bsfl_races",
            RACE,
        ),
    },
}


def named(claim: str, place: str, question: str) -> tuple[str, str, str]:
    """A comparison's key, with selectors by their labels; the parts of C13 count as one claim."""
    labelled = re.sub(r"\b[a-z_]+\b", lambda word: LABELS.get(word[0], word[0]), question)
    return re.sub(r"(?<=C13).*", "", claim), place, labelled


def races() -> Comparison:
    """Races of drawn instances that ALSA wins in equal time: by the best vertex, at κ = 1, with all moves."""
    shares = pd.read_csv(STUDIES / "bsfl_races/shares.csv")
    reading = {
        "source": "drawn",
        "temperature_divisor": 1,
        "moves": "all",
        "budget": "neighbours",
        "energy": "best",
    }
    own = shares[np.logical_and.reduce([shares[column] == at for column, at in reading.items()])]
    n_won, n = int(own["n_won"].sum()), int(own["n_instances"].sum())
    low, high = wilson(n_won, n)
    return Comparison("share", "bsfl_races", RACE, "", "", gap=n_won / n, low=low, high=high)


@pytest.fixture(scope="module")
def comparisons() -> dict[tuple[str, str, str], Comparison]:
    """The comparisons of the published runs, as `named`."""
    found = {
        named(one.claim.id, each.where, each.question): each
        for one in PublishedVerdicts(ROOT).judged["paper"]
        for each in one.comparisons
    }
    return found | {named("C11", "bsfl_races", RACE): races()}


@pytest.mark.parametrize("head", COMPARED)
def test_intervals_are_those_of_the_verdicts(
    head: str, comparisons: dict[tuple[str, str, str], Comparison]
) -> None:
    rows = TABLES[head]
    assert [row[0] for row in rows] == list(COMPARED[head])
    for label, measured, interval, *more in rows:
        found = comparisons[named(*COMPARED[head][label])]
        assert said(measured.split()[0], found.gap), label
        if interval == "–":
            assert math.isnan(found.low)
        else:
            low, high = interval.split(" to ")
            assert said(low, found.low), label
            assert said(high, found.high), label
        if more:
            assert int(more[0]) == len(found.seeds), label


def logs() -> Iterator[tuple[str, float]]:
    """PAUSE less FedAvg without privacy at the end of the authors' runs, in points, by scenario."""
    for name in (MNIST, SMALL, SMALL_R2, UNEQUAL, LARGE):
        theirs = beside_ours(pd.DataFrame(), scenario(f"{name}_as_run")).query("quantity == 'accuracy_end'")
        ends = theirs.set_index("selector")["authors"]
        yield name, 100 * (ends["pause"] - ends["fedavg_no_privacy"])


def test_what_privacy_costs_in_the_authors_logs() -> None:
    rows = TABLES["accuracy, PAUSE less FedAvg without privacy"]
    for row, (_, points) in zip(rows, logs(), strict=True):
        assert said(row[-1], points), row


def test_what_ends_the_lead_is_that_of_the_study() -> None:
    compared = trained_knobs.compare(pd.read_parquet(STUDIES / "mnist_knobs/curves.parquet"))
    compared = compared.set_index(["knob", "value"])
    wanted = {
        "as written": ("usual", "usual", "difference_over_time"),
        "without the privacy and the generalisation term": ("variants", "neither", "difference_over_time"),
        "ε̄ = 1,000 in place of 10": ("privacy.epsilon_total", "1000", "difference_over_time"),
        "ε̄ = 3": ("privacy.epsilon_total", "3", "difference_over_time"),
        "η = 0.16 in place of 0.04, at PAUSE's end": ("privacy.decay", "0.16", "difference"),
        "1,000 rounds": ("training.n_rounds", "1000", "difference_over_time"),
    }
    rows = TABLES["accuracy, PAUSE less random selection, over the common time"]
    assert [row[0] for row in rows] == list(wanted)
    for label, measured, interval in rows:
        knob, setting, column = wanted[label]
        found = compared.loc[knob, setting]
        assert int(found["n_seeds"]) == 5
        for text, name in zip(
            [measured, *interval.split(" to ")], [column, f"{column}_low", f"{column}_high"], strict=True
        ):
            assert said(text, 100 * found[name]), label
    usual = scenario(MNIST).privacy
    assert (usual.epsilon_total, usual.decay) == (10, 0.04)


# --- other tables ------------------------------------------------------------------------------------


def scenario(name: str) -> Scenario:
    return load_scenario(name, ROOT / "config/scenarios")


@cache
def runs(name: str, selector: str) -> list[dict[str, Any]]:
    """Outcomes of the published runs, in the order of the seeds."""
    seeds = sorted(seed for key, seed in published_in(PUBLISHED / name).lines if key == selector)
    jobs = [Experiment(name, selector, seed) for seed in seeds]
    return [*outcomes(collect({job: run_folder(PUBLISHED, job) for job in jobs})).values()]


@cache
def rows_of_the_ledger() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tables of the deviation ledger: mean rounds of the authors' logs and ours; what settings change."""
    page = (ROOT / "docs/deviations.md").read_text("utf-8")
    found = []
    for first in ("scenario | selector", "scenario | settings"):
        (table,) = re.findall(rf"^\| {re.escape(first)} .*\n\|.*\n((?:\|.*\n)+)", page, re.MULTILINE)
        cells = [[cell.strip(" `") for cell in line.strip("|").split(" | ")] for line in table.splitlines()]
        found.append(pd.DataFrame(cells))
    rounds, changes = found
    return rounds, changes


def logged_ratios(users: str) -> list[float]:
    """SA-PAUSE's mean round over PAUSE's in the authors' logs."""
    rounds, _ = rows_of_the_ledger()
    found = []
    for name, own in rounds[~rounds[0].str.contains("dirichlet")].groupby(0):
        of = dict(zip(own[1], own[2], strict=True))
        annealed = [of[name] for name in ("sa_pause_v1", "sa_pause_best_gain") if name in of]
        if f"_{users}_" in str(name) and "pause" in of:
            found.append(float(annealed[0]) / float(of["pause"]))
    return found


def changed(settings: str, column: int, name: str = "") -> list[str]:
    """A column of what settings change; column 0 is the ratio of SA-PAUSE's round and PAUSE's."""
    _, changes = rows_of_the_ledger()
    own = changes[(changes[1] == settings) & changes[0].str.contains(name)]
    return [*own[2 + column]]


def ranged(numbers: list[Any]) -> str:
    numbers = sorted(float(number) for number in numbers)
    return f"{numbers[0]:.2f} to {numbers[-1]:.2f}"


def within() -> tuple[int, int]:
    """How many runs of the logs have a mean round within 3 % of ours, of how many."""
    rounds, _ = rows_of_the_ledger()
    ratios = rounds[~rounds[0].str.contains("dirichlet") & (rounds[5] != "–")][5].astype(float)
    return int((abs(ratios - 1) <= 0.03).sum()), len(ratios)


def seconds_clipped() -> list[str]:
    """Mean time to the target of the scenario's three selectors, clipped as a whole."""
    name = f"{MNIST}_update_sum"
    jobs = [Experiment(name, *key) for key in published_in(PUBLISHED / name).lines]
    found = outcomes(collect({job: run_folder(PUBLISHED, job) for job in jobs}))
    return [
        f"{np.mean([found[job]['seconds_to_target'] for job in jobs if job.selector == selector]):.0f}"
        for selector in ("pause", "random")
    ]


def outside() -> list[str]:
    """By how many per cent our rounds are shorter than those of the one run that is not within 3 %."""
    rounds, _ = rows_of_the_ledger()
    ratios = rounds[~rounds[0].str.contains("dirichlet") & (rounds[5] != "–")].set_index([0, 1])[5]
    (run,) = (key for key, ratio in ratios.items() if abs(float(ratio) - 1) > 0.03)
    assert run == (f"{MNIST}_as_run", "sa_pause_best_gain")
    return [f"{100 * (1 - float(ratios[run])):.1f}"]


@cache
def agreement() -> dict[str, list[int]]:
    """Of a data set: numbers inside our range, all, and those expected of one more seed of ours."""
    page = (ROOT / "docs/authors.md").read_text("utf-8").split("\n## The archived runs\n")[1]
    found: dict[str, list[int]] = {}
    for section in page.split("\n### ")[1:]:
        (counts,) = re.findall(
            r"(\d+) of (\d+) do; if their run were one more of our n seeds, (\d+) would", section
        )
        total = found.setdefault(re.split(r"[ ,]", section)[0], [0, 0, 0])
        total[:] = [a + int(b) for a, b in zip(total, counts, strict=True)]
    return found


def check_agreement(rows: list[list[str]]) -> None:
    rounds, *others = rows
    close, logged = within()
    assert rounds[:2] == [f"mean round of {logged} runs, settings of their logs", f"{close} of {logged}"]
    found = [agreement()[data] for data in ("MNIST", "CIFAR-10")]
    found += [at_the_same_rounds(data) for data in ("mnist_large", "cifar10_large", "cifar10_small")]
    for row, (inside, marked, expected) in zip(others, found, strict=True):
        assert row[1:] == [f"{inside} of {marked}", f"{expected}"]


def at_the_same_rounds(names: str) -> list[int]:
    """Stretches of rounds inside our range, all, and those expected, as `agreement`, of some logs.

    Runs on sizes that are not those of the log do not count.
    """
    page = (ROOT / "docs/authors.md").read_text("utf-8")
    rows = re.findall(rf"^\| `{names}\w*_as_run` \| (\d+) of (\d+) \| (\d+) \|$", page, re.MULTILINE)
    return [sum(map(int, column)) for column in zip(*rows, strict=True)]


def ends_of_the_log(selector: str) -> list[str]:
    """Final accuracy in per cent in the authors' log of Fig. 6, and of our two seeds."""
    name = f"{UNEQUAL}_as_run"
    theirs = beside_ours(pd.DataFrame(), scenario(name)).query("quantity == 'accuracy_end'")
    first, second = (run["final_accuracy"] for run in runs(name, selector))
    ends = theirs.set_index("selector")["authors"][selector], first, second
    return [f"{100 * accuracy:.1f}" for accuracy in ends]


def fallen_on_other_sizes() -> list[str]:
    """Best and final accuracy in per cent of the run of three in which one user decides."""
    name = f"{UNEQUAL}_as_run_dirichlet"
    _, _, worst = sorted(runs(name, "pause"), key=lambda run: run["final_accuracy"], reverse=True)
    return [f"{100 * worst[accuracy]:.0f}" for accuracy in ("best_accuracy", "final_accuracy")]


def check_mean_rounds(rows: list[list[str]]) -> None:
    sizes = ("small", "large")
    assert [row[1:] for row in rows] == [
        [ranged(changed("as written", 0, f"_{size}_")) for size in sizes],
        [ranged(changed("as run", 0, f"_{size}_")) for size in sizes],
        [ranged(logged_ratios(size)) for size in sizes],
    ]


def images(channels: int, side: int) -> Dataset:
    """One image for training and one for testing."""
    x, y = np.zeros((1, channels, side, side), np.uint8), np.zeros(1, np.int64)
    return Dataset("images", x, y, x, y, 10, "zeros")


def check_privacy(rows: list[list[str]]) -> None:
    for row, name in zip(rows, (MNIST, SMALL, "cifar10_large_noniid_r1_cnn5"), strict=True):
        one = scenario(name)
        layout = model_layout(one.model, images(1, 28) if name == MNIST else images(3, 32))
        n_bare, budget = layout.n_values - layout.n_protected, one.privacy.epsilon_total
        whole = "infinite" if n_bare else f"{budget * layout.n_protected:,.0f}"
        assert row[1:] == [f"{budget:g}", f"{layout.n_protected:,}", f"{n_bare:,}", whole]


def check_noise(rows: list[list[str]]) -> None:
    """Rows of runs by noise: how many, and how far they end below their best accuracy."""
    aggregate_noise = runpy.run_path(str(ROOT / "analyses/aggregate_noise.py"))
    found = []
    for name in (SMALL, UNEQUAL, LARGE, "cifar10_small_authors"):
        found += (of_scenario := list(aggregate_noise["runs"](name)))
        for run in of_scenario:
            folder = PUBLISHED / name / run.selector / f"seed-{run.seed}"
            ledger = pausefl.read_run(folder).ledger.set_index("user")
            assert run.participations == ledger.loc[run.user, "participations"]
        if name == UNEQUAL:
            check_one_user([run for run in of_scenario if run.selector == "pause"])
    numbers = [[float(number) for number in re.findall(r"[\d.]+", " ".join(row))] for row in rows]
    assert sum(n for _, _, n, _, _ in numbers) == len(found)
    for least, most, n, *lost in numbers:
        of_row = [100 * (run.best - run.final) for run in found if least <= run.noise < most]
        assert [len(of_row), min(of_row), max(of_row)] == pytest.approx([n, *lost], abs=0.0501)


def check_one_user(found: list[Any]) -> None:
    worst = min(found, key=lambda run: run.final)
    shares = (worst.best, worst.final, worst.of_data, worst.of_noise)
    assert len(found) == 3
    assert ONE_USER.format(*(f"{100 * share:.0f}" for share in shares)) in PROSE


def check_clipped(rows: list[list[str]]) -> None:
    for row, name in zip(rows, (MNIST, f"{MNIST}_update_sum"), strict=True):
        for text, selector in zip(row[1:], ("pause", "sa_pause", "random"), strict=True):
            assert said(text, 100 * final(name, selector)), row


def check_changes(rows: list[list[str]]) -> None:
    figures = ((0, MNIST), (1, MNIST), (1, LARGE), (1, SMALL), (3, UNEQUAL))
    for row, (column, name) in zip(rows, figures, strict=True):
        settings = ("as written", "as run")
        assert row[1:] == [changed(each, column, f"{name}_as_run")[0] for each in settings], row


def check_seeds(rows: list[list[str]]) -> None:
    """Numbers of seeds at the papers' scale, as the published configuration lists them."""
    listed = yaml.safe_load((ROOT / "config/published.yaml").read_text("utf-8"))["experiments"]
    seeds: dict[tuple[str, str], set[int]] = {}
    for entry in listed:
        for selector in entry.get("selectors") or scenario(entry["scenario"]).selectors:
            seeds.setdefault((entry["scenario"], selector), set()).update(entry["seeds"])
    few = ("fedavg", "fedavg_no_privacy", "fastest")

    def counts(of: Callable[[str, str], bool]) -> str:
        found = {len(own) for key, own in seeds.items() if of(*key)}
        return f"{min(found)} to {max(found)}" if len(found) > 1 else str(*found)

    studies = yaml.safe_load((ROOT / "config/studies.yaml").read_text("utf-8"))
    own = [one for kind, named in studies.items() if kind != "benchmark" for one in named.values()]
    studied = {len(one["seeds"]) for one in own if "seeds" in one}
    several = ("pause", "sa_pause", "random", "clustered_size", "clustered_similarity")
    written = (SMALL, SMALL_R2, UNEQUAL, LARGE, "cifar10_large_noniid_r2")
    assert [row[1] for row in rows] == [
        counts(lambda name, _: name.startswith(("mnist", "bsfl_linear")) and not name.endswith("_as_run")),
        counts(lambda name, selector: name in written and selector in several),
        counts(
            lambda name, selector: (
                name.startswith(("cifar10", "bsfl_cifar10"))
                and (selector in few or "cnn5" in name or "bsfl" in name)
            )
        ),
        counts(lambda name, _: name.startswith("bsfl_fashion")),
        str(*studied),
    ]


CHECKS: dict[str, Callable[[list[list[str]]], None]] = {
    "what the authors archived": check_agreement,
    "mean round, SA-PAUSE : PAUSE": check_mean_rounds,
    "network, scenario": check_privacy,
    "noise of a round": check_noise,
    "MNIST, accuracy after 300 rounds": check_clipped,
    "five seeds, 300 rounds": check_changes,
    "data": check_seeds,
}


@pytest.mark.parametrize("head", CHECKS)
def test_a_table_is_that_of_the_runs(head: str) -> None:
    CHECKS[head](TABLES[head])


# --- sentences ---------------------------------------------------------------------------------------


def final(name: str, selector: str) -> float:
    return float(np.mean([one["final_accuracy"] for one in runs(name, selector)]))


def less_accurate() -> list[str]:
    """FedAvg without privacy behind the authors', after 50 and 100 rounds; all selectors are behind."""
    table = (ROOT / "docs/authors.md").read_text("utf-8").split("\n### CIFAR-10")[-1]
    row = r"^\|[^|]*\| (?:authors|our mean|ours)[^|]*\| ([\d.]+)[^|]*\| ([\d.]+)"
    rows = re.findall(row, table, re.MULTILINE)
    less = [
        [float(there) - float(here) for there, here in zip(authors, ours, strict=True)]
        for authors, ours in zip(rows[::2], rows[1::2], strict=True)
    ]
    assert len(less) == 6
    assert all(number > 0 for row in less for number in row)
    return [f"{number:.1f}" for number in less[4]]


def second_encoding() -> list[str]:
    """Of FedAvg without privacy, by `analyses/jpeg_copies.py`; its first curve is of the published run."""
    table = pd.read_csv(ROOT / "analyses/jpeg_copies.csv", index_col="round")
    run = pausefl.read_run(PUBLISHED / "cifar10_small_authors/fedavg_no_privacy/seed-0").rounds
    np.testing.assert_allclose(table["once"], run["accuracy"].head(100))
    lost = 100 * (table["once"] - table["twice"])
    return [f"{lost.loc[first:last].mean():.1f}" for first, last in ((41, 50), (91, 100))]


def cost_of_privacy() -> list[str]:
    rows = TABLES["accuracy, PAUSE less FedAvg without privacy"][1:]
    ours, theirs = ([-value(row[column]) for row in rows] for column in (1, 4))
    return [f"{number:.0f}" for number in (min(ours), max(ours), min(theirs), max(theirs))]


def times_to_the_target() -> list[str]:
    times = [value(row[1]) for row in TABLES["time to the target, PAUSE against"]]
    return [f"{min(times):.1f}", f"{max(times):.1f}"]


def slow_users() -> list[str]:
    knobs = pd.read_parquet(STUDIES / "knobs_small/knobs.parquet")
    own = knobs[(knobs["knob"] == "usual") & (knobs["selector"] == "pause")]
    return [f"{100 * own['slow_share'].mean():.0f}"]


def search_ms() -> list[str]:
    """Ours, with all bookkeeping, under R2."""
    seconds = [
        pausefl.read_run(PUBLISHED / MNIST_R2 / name / f"seed-{seed}").summary["timings_s"]["selection"]
        for name, seed in published_in(PUBLISHED / MNIST_R2).lines
        if name == "pause"
    ]
    return [f"{math.ceil(1000 * np.mean(seconds) / 300)}"]


def ends_of_long_runs() -> list[str]:
    curves = pd.read_parquet(STUDIES / "mnist_knobs/curves.parquet")
    own = curves[(curves["knob"] == "training.n_rounds") & (curves["round"] == 900)]
    pause, other = (own[own["selector"] == name]["accuracy"].mean() for name in ("pause", "random"))
    assert pause < 0.12
    return [f"{100 * other:.0f}"]


def group_norm() -> list[str]:
    names = ("reduced_cifar10_small_iid_r1", "reduced_cifar10_small_iid_r1_group")
    return [f"{100 * final(name, 'pause'):.1f}" for name in names]


def leakage_in_equal_time() -> list[str]:
    """Against random selection's, as written and as run, by the README's table of questions."""
    (row,) = re.findall(r"Does PAUSE leak less.*", (ROOT / "README.md").read_text("utf-8"))
    return re.findall(r"\| ([\d.]+) times", row)


def comparisons_of_time() -> list[str]:
    """How many comparisons of C3 hold and are open, as written and as run."""
    page = (ROOT / "docs/verdicts.md").read_text("utf-8").split("\n## The papers' scale\n")[1]
    votes = r"^\| C3 \| as {} \|.*?\| (\d+) hold, 0 fail, (\d+) open{}"
    (written, *_) = re.findall(votes.format("written", ""), page, re.MULTILINE)
    more = r" \|.*\| 1 cannot be told from the limit: v1 Fig\. 8 \|"
    (run,) = re.findall(votes.format("run", more), page, re.MULTILINE)
    return [*written, *run]


def collapse() -> list[str]:
    """Best accuracy of FedAvg with privacy in per cent, as written and as run."""
    found = [runs(name, "fedavg") for name in (SMALL, f"{SMALL}_as_run")]
    assert list(map(len, found)) == [1, 2]
    assert all(run["final_accuracy"] < 0.2 for each in found for run in each)
    return [f"{100 * np.mean([run['best_accuracy'] for run in each]):.0f}" for each in found]


def on_a_gpu() -> list[str]:
    """How many published runs were trained on one, and of how many."""
    lines = [line for path in PUBLISHED.glob("*/runs.jsonl") for line in path.read_text("utf-8").splitlines()]
    return [str(sum(json.loads(line)["device"] == "cuda" for line in lines)), str(len(lines))]


def budget_of_the_update() -> list[str]:
    return [f"{scenario(f'{MNIST}_update_sum').privacy.epsilon_total:,.0f}"]


def least_of_the_update() -> list[str]:
    name = f"{MNIST}_update"
    assert max(final(name, selector) for selector in ("pause", "sa_pause", "random")) < 0.2
    return [f"{scenario(name).privacy.epsilon_total:g}"]


#: Sentences of the page, and what computes their numbers.
SENTENCES: dict[str, Callable[[], list[str]]] = {
    "the mean round of {} of 28 runs is within 3 % of theirs": lambda: [str(within()[0])],
    "reaches the target accuracy in {} times the time of random selection": lambda: [
        TABLES["time to the target, PAUSE against"][0][1]
    ],
    "Algorithm 3 makes rounds {} times as long as PAUSE's": lambda: [
        f"{value(changed('as written', 0, 'mnist_large')[0]):.1f}"
    ],
    "is SA-PAUSE's of Fig. 8, where our rounds are {} % shorter": outside,
    "Algorithm 3 with the weights of the logs makes rounds {} to {} times as long as PAUSE's": lambda: ranged(
        changed("α, β, γ, ζ as run", 0, "_large_")
    ).split(" to "),
    "of the authors' later logs, {} to {} times": lambda: ranged(changed("as run", 0, "_large_")).split(
        " to "
    ),
    "PAUSE ends {} to {} points behind FedAvg without privacy (one seed), in the authors' runs {} to"
    " {}.": cost_of_privacy,
    "FedAvg without privacy is {} points behind theirs after 50 rounds, and {} after 100.": less_accurate,
    "costs {} points in rounds 41 to 50 and {} points in rounds 91 to 100": second_encoding,
    "it needs {} to {} times the time of random and of clustered sampling": times_to_the_target,
    "the slower half makes up {} % of the participations": slow_users,
    "ours takes less than {} ms a round": search_ms,
    "Little on MNIST; {} to {} points on CIFAR-10": lambda: cost_of_privacy()[:2],
    "without privacy ends near {} %": lambda: [f"{100 * final(MNIST, 'fedavg_no_privacy'):.0f}"],
    "PAUSE's accuracy falls from {} to {} % (reduced, one seed)": group_norm,
    "With the settings of the authors' log it leaks {} times as much at its end, and {} times [over the"
    " common time": lambda: [
        leakage_in_equal_time()[1],
        changed("as run", 1, f"{MNIST}_as_run")[0],
    ],
    "As written {} hold, none fails and {} are open, SA-PAUSE's among them; as run {} hold, none fails, {} is"
    " open, SA-PAUSE's in Fig. 8 of PAUSE v1.": comparisons_of_time,
    "PAUSE is at chance by round 900, where random selection has {} %": ends_of_long_runs,
    "it reaches {} % as written and {} % as run, and ends at chance": collapse,
    "with one to five seeds, and {} of {} runs were trained on a GPU": on_a_gpu,
    "for the whole update it means a budget of ε̄ = {}": budget_of_the_update,
    "With ε̄ = {} for the update no selector learns": least_of_the_update,
    "In Fig. 10 SA-PAUSE falls by {} points [once in each 20 rounds": lambda: re.findall(
        "SA-PAUSE falls by (.*) points in", (ROOT / "docs/authors.md").read_text("utf-8")
    ),
    "ours are lower wherever theirs lie outside our range, by {} to {} points": lambda: re.search(
        r"others ours\s+are\s+lower, by (\S+) to (\S+) points", (ROOT / "docs/authors.md").read_text("utf-8")
    ).groups(),
    "falls to chance, and ends at {} % in their run and at {} and {} % in ours": lambda: ends_of_the_log(
        "clustered_size"
    ),
    "PAUSE ends at {} % in their run and at {} and {} % in ours": lambda: ends_of_the_log("pause"),
    "With their settings and numbers of our own it falls from {} to {} % in one of": fallen_on_other_sizes,
    "PAUSE then reaches the target in {} s, random selection in {} s": seconds_clipped,
    "mean round on MNIST takes {} s in place of {} s": lambda: [
        f"{np.mean([one['mean_round_s'] for one in runs(name, 'pause')]):.3f}" for name in (MNIST_R2, MNIST)
    ],
}

#: Sentences with tests of their own.
ONE_USER = (
    "PAUSE falls from {} to {} % in one of three seeds. In this seed one user with {} % of the data adds {} %"
    " of the noise."
)
SPREAD = "latencies spread {} times as much as in random selection"
OFTEN = "seed one user has taken part {} times or more, with random selection nobody more than {} times"

#: Numbers that are settings, names, or what the papers say.
SETTINGS = (
    r"\bC\d+[a-c]?\b",
    r"\bD\d+\b",
    r"\bR[12]\b",
    r"CIFAR-10|PAUSE v[12]|Algorithm 3|tests? [12]\b",
    r"Figs?\. [\d, ]+(?:and \d+)?",
    r"\b(?:15 of )?\d+ users|\b5 of 30 users",
    r"\b[\d,]+ rounds|round [\d,]+",
    r"90 % of the best|98\.3 %|within 3 points|outside 3 %",
    r"^# Findings|\b[1-7]\. (?=\*\*)",
)


def test_verdicts_are_those_of_their_page() -> None:
    found = re.findall(r"(C\d+[a-c]?) is (\w+) (?:in both readings|as written, (\w+) as run)", PROSE)
    found += [
        (claim, verdict, "–") for claim, verdict in re.findall(r"(C\d+[a-c]?) is (\w+)(?=, C|[.)])", PROSE)
    ]
    found += [(claim, "contradicted", "–") for claim in ("C11", "C13b")]
    assert "C11 and C13b are contradicted" in PROSE
    assert len(found) >= 17
    verdicts = (ROOT / "docs/verdicts.md").read_text("utf-8")
    for claim, written, run in found:
        told = re.search(rf"^\| {claim} \|.*?\| \*\*(\w+)\*\*.*?\| (?:\*\*)?(\w+|–)", verdicts, re.MULTILINE)
        assert told, claim
        assert told.groups() == (written, run or written), claim


@pytest.mark.parametrize("template", SENTENCES)
def test_a_sentence_has_the_numbers_of_the_runs(template: str) -> None:
    told = template.format(*SENTENCES[template]())
    assert told in PROSE, told


def test_the_spread_of_latencies_is_that_of_the_verdicts(
    comparisons: dict[tuple[str, str, str], Comparison],
) -> None:
    found = comparisons[named("C16", MNIST, "spread of expected latency in a round: pause against random")]
    assert SPREAD.format(f"{found.gap:.2f}") in PROSE


@pytest.mark.slow
def test_participations_in_long_runs() -> None:
    """1,000 rounds on MNIST, simulated without training."""
    most: dict[str, list[int]] = {"pause": [], "random": []}
    for selector, of_seeds in most.items():
        for seed in range(5):
            simulation = selection_only(scenario(MNIST), selector, seed)
            simulation.run(1000)
            of_seeds.append(int(simulation.ledger.participations.max()))
    assert OFTEN.format(min(most["pause"]), max(most["random"])) in PROSE


def test_cs_ucb_leaks_a_third_less() -> None:
    runs = pd.read_csv(STUDIES / "benchmark_mnist_iid/runs.csv").groupby("selector").mean(numeric_only=True)
    assert 0.6 < runs["leakage_max"]["cs_ucb"] / runs["leakage_max"]["pause"] < 0.7
    assert -0.02 < runs["accuracy"]["cs_ucb"] - runs["accuracy"]["pause"] < 0


def test_no_number_is_without_a_check() -> None:
    assert set(TABLES) == set(COMPARED) | set(CHECKS) | {
        "accuracy, PAUSE less random selection, over the common time"
    }
    text = re.sub(r"`[^`]*`|\]\([^)]*\)", "", PROSE)
    for template in (*SENTENCES, ONE_USER, SPREAD, OFTEN):
        pattern = re.escape(re.sub(r"`[^`]*`", "", template)).replace(r"\{\}", NUMBER)
        assert re.search(pattern, text), template
        text = re.sub(pattern, "", text)
    for pattern in SETTINGS:
        text = re.sub(pattern, "", text)
    left = re.findall(r".{40}\d.{20}", text)
    assert not left, left


def test_every_claim_is_in_a_section() -> None:
    claims = yaml.safe_load((ROOT / "config/claims.yaml").read_text("utf-8"))
    for claim in claims["claims"]:
        # A claim in parts is in the section of one of them.
        assert re.search(rf"\b{claim['id']}\b|\b{claim['id'][:-1]}\b", PAGE), claim["id"]


def test_findings_of_the_readme_are_those_of_the_page() -> None:
    def listed(text: str) -> list[str]:
        found = re.findall(r"^\d\. (\*\*.*(?:\n   .*)*)", text, re.MULTILINE)
        return [" ".join(item.split()) for item in found]

    ours = listed(PAGE)
    assert len(ours) == 7
    assert listed((ROOT / "README.md").read_text("utf-8")) == ours
