r"""The authors' logs of their figures and our runs, at the same rounds.

We copied the authors' logs in stretches of some rounds on end. Where accuracy goes up and down from round to
round, the mean of a few rounds is not the mean of all rounds near them. So this compares, of each stretch,
the rounds that we evaluated: in theirs and in ours. It prints three tables, and needs no data:

    python benchmarks/investigations/same_rounds.py
    python benchmarks/investigations/same_rounds.py cifar10_large_noniid_r1_as_run    # each stretch

The third table is of mini-batches of another size, with which the authors trained PAUSE besides.
`batches_of_32.csv` has the accuracies of our run with them:

    pausefl run --scenario cifar10_small_iid_r1_as_run --selector pause --set training.batch_size=32 \
        --out results/mine/batches_of_32
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pandas as pd

from pausefl.analysis import formats, markdown
from pausefl.reproduction.accuracy_gap import RISEN
from pausefl.reproduction.authors_archive import LOGGED, read_off
from pausefl.runs.collected import runs_in
from pausefl.runs.run import joined, rounds_of
from pausefl.selectors import LABELS
from pausefl.settings import load_scenario

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "results" / "published"
MORE = f"Ours less theirs after round {RISEN} (points)"
#: After this round accuracy hardly rises.
LATE = 200
#: Where accuracy goes up and down most: a scenario, and the rounds in which each user takes part once.
RIPPLED, CYCLE = "cifar10_large_noniid_r1_as_run", 20
#: Where a log has a run with other mini-batches besides: a scenario, our name of that run, and their size.
REPEATED, OTHER, OTHER_SIZE = "cifar10_small_iid_r1_as_run", "pause (batches of 32)", 32
#: Places in a cycle that are shown.
PLACES = (18, 19, 20, 1, 2, 3, 9, 10, 11, 12)


@cache
def runs(name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """``selector``, ``round`` and ``accuracy`` in [0, 1]: of the authors' log what was read, and ours."""
    theirs = [log.assign(selector=selector) for selector, log in read_off(name).items()]
    there = (PUBLISHED / name).is_dir()
    ours = joined(rounds_of(runs_in(PUBLISHED / name)).items()) if there else theirs[0].head(0)
    of = pd.concat(theirs, ignore_index=True), ours
    return of[0].dropna(subset="accuracy"), of[1].dropna(subset="accuracy")


def stretches(name: str) -> pd.DataFrame:
    """Each stretch of which we evaluated a round, of selectors with two seeds or more.

    Columns: ``selector``, ``first`` and ``last`` round, mean accuracy in [0, 1] of the ``authors`` and of
    ours (``mean``, ``low`` and ``high`` of seeds), ``n_seeds``, and whether theirs lies ``inside`` our range.
    """
    theirs, ours = runs(name)
    rows = []
    for selector, log in theirs.groupby("selector", sort=False):
        for _, stretch in log.groupby((log["round"].diff() != 1).cumsum()):
            first, last = stretch["round"].min(), stretch["round"].max()
            near = ours[(ours["selector"] == selector) & ours["round"].between(first, last)]
            if near.empty or near["seed"].nunique() < 2:
                continue
            authors = stretch.loc[stretch["round"].isin(near["round"]), "accuracy"].mean()
            seeds = near.groupby("seed")["accuracy"].mean()
            inside = seeds.min() <= authors <= seeds.max()
            found = (authors, seeds.mean(), seeds.min(), seeds.max(), len(seeds), inside)
            rows.append((selector, first, last, *found))
    columns = ["selector", "first", "last", "authors", "mean", "low", "high", "n_seeds", "inside"]
    return pd.DataFrame(rows, columns=columns)


def counts() -> Iterator[list[str]]:
    """Of each scenario: stretches inside our range, and those that one more seed of ours would have there.

    And what ours have more than theirs after round `RISEN`, in points, a mean of stretches; and how far a
    stretch is apart.
    """
    for name in LOGGED:
        found = stretches(name)
        expected = ((found["n_seeds"] - 1) / (found["n_seeds"] + 1)).sum()
        if len(found):
            late = found[found["first"] > RISEN]
            more = 100 * (late["mean"] - late["authors"])
            numbers = [formats.number(more.mean(), "+.1f"), formats.number(more.abs().mean(), ".1f")]
            yield [f"`{name}`", f"{found['inside'].sum()} of {len(found)}", f"{expected:.0f}", *numbers]


def ripple() -> Iterator[list[str]]:
    """Mean accuracy after `LATE` by the place of a round in its cycle."""
    late = (of[of["round"] > LATE] for of in runs(RIPPLED))
    theirs, ours = (
        of.groupby(["selector", (of["round"] - 1) % CYCLE + 1])["accuracy"].mean() * 100 for of in late
    )
    for selector in ("sa_pause_best_gain", "pause", "clustered_size"):
        for label, whose, of in ((LABELS[selector], "authors", theirs), ("", "ours", ours)):
            means = [formats.number(of[selector].get(place, float("nan")), ".1f") for place in PLACES]
            yield [label, whose, *means]


def batches() -> pd.DataFrame:
    """Mean accuracy of PAUSE by stretch of rounds, in [0, 1], at the rounds that all four runs have.

    Columns: ``authors`` and ``ours`` with the mini-batches of the scenario, and the same with `OTHER_SIZE`.
    """
    theirs, ours = (
        of[of["selector"] == "pause"].groupby("round")["accuracy"].mean() for of in runs(REPEATED)
    )
    read = pd.read_csv(ROOT / "src/pausefl/reproduction/authors_archive/figures.csv")
    others = read[(read["scenario"] == REPEATED) & (read["selector"] == OTHER)].set_index("round")
    own = pd.read_csv(ROOT / "benchmarks/investigations" / "batches_of_32.csv", index_col="round")["accuracy"]
    table = pd.concat(
        [theirs, ours, others["accuracy_percent"] / 100, own], axis=1, join="inner"
    ).sort_index()
    table.columns = pd.Index(["authors", "ours", f"authors_{OTHER_SIZE}", f"ours_{OTHER_SIZE}"])
    rounds = table.index.to_series()
    stretch = rounds.groupby((rounds.diff() > 3).cumsum()).transform(lambda of: f"{of.min()} to {of.max()}")
    return table.groupby(stretch, sort=False).mean()


def tables() -> list[str]:
    """What `counts`, `ripple` and `batches` find, in Markdown."""
    sized = batches() * 100
    usual = load_scenario(REPEATED, ROOT / "config" / "scenarios").training.batch_size
    rows = [
        [str(size), whose, *(f"{accuracy:.1f}" for accuracy in sized[column])]
        for size, whose, column in zip(
            [usual, "", OTHER_SIZE, ""], ["authors", "ours"] * 2, sized, strict=True
        )
    ]
    return [
        markdown.table(
            ["Scenario", "Stretches inside our range", "Expected", MORE, "Without sign"], counts(), "lr"
        ),
        markdown.table(["Selector", "Run", *map(str, PLACES)], ripple(), "llr"),
        markdown.table(["Mini-batch", "Run", *(f"Rounds {of}" for of in sized.index)], rows, "rlr"),
    ]


def main() -> None:
    """Print the tables, or each stretch of one scenario."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scenario", nargs="?", choices=[*LOGGED])
    name = parser.parse_args().scenario
    if not name:
        print("\n".join(tables()))
    elif (found := stretches(name)).empty:
        parser.error(
            f"{PUBLISHED / name} has no two seeds of a selector at rounds that were read off its log"
        )
    else:
        print(found.round(4).to_string(index=False))


if __name__ == "__main__":
    main()
