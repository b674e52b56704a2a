"""Captions of figures, tables, partitions and studies, as reStructuredText.

The words of each kind are in its record in `pausefl.registry`. This module fills in what depends on the
scenario or the study, and lists the deviations from the papers that apply.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any

from pausefl.errors import PauseflError, suggest
from pausefl.figures import papers
from pausefl.figures.notes import SHARED, scale_note
from pausefl.registry import (
    FIGURES,
    MECHANISMS,
    MODELS,
    SAMPLERS,
    SCHEDULES,
    SELECTORS,
    SOURCES,
    TABLES,
)
from pausefl.registry.figures import ARCHIVED, LOGGED, PARTITION, FigureRecord
from pausefl.settings import PrivacySettings, Scenario

#: Up to this many users have a line each; of more, quantiles are shown.
MOST_LINES = 40

#: Most words of a caption with its title; what else there is to say goes into the details.
MOST_WORDS = 60

#: What is protected where no mechanism says otherwise.
COORDINATE = "coordinate"

#: Deviations of a scenario or a reward alone.
_OF_NAMES = {"D10": {"mnist_large_iid_r1", "mnist_large_iid_r1_v1"}, "D30": {"bsfl"}}


def protected(scenario: Scenario) -> str:
    """What the epsilons of a scenario's runs are for: ``coordinate``, or ``update`` as a whole."""
    if scenario.privacy is None:
        return COORDINATE
    return MECHANISMS.find(scenario.privacy.mechanism).protects


def is_regression(scenario: Scenario) -> bool:
    """Whether a scenario predicts numbers, so that its runs have a loss but no accuracy."""
    return SOURCES.find(scenario.data.source).regression


def _iterates(selector: str) -> bool:
    return "selection.n_iterations" in SELECTORS[selector].requires


def _anneals(scenario: Scenario) -> bool:
    return any(SELECTORS[name].anneals for name in scenario.selectors)


def _private(scenario: Scenario) -> bool:
    return scenario.privacy is not None


def _named(deviation: str, scenario: Scenario) -> bool:
    return not _OF_NAMES[deviation].isdisjoint((scenario.name, scenario.reward.name))


#: Deviations that captions may list: their words, and to which scenarios they apply (to all by default).
DEVIATIONS: dict[str, tuple[str, Callable[[Scenario], bool] | None]] = {
    "D1": (
        "annealing accepts worse moves with probability exp((E(U) − E(V))/τ); the paper's sign is a misprint",
        _anneals,
    ),
    "D2": ("annealing keeps the best set seen, not the last one accepted", _anneals),
    "D3": ("every user's privacy reward starts at 1, as its definition says, not at 0", _private),
    "D4": ("the annealing temperature adds the small constant that the paper's formula omits", _anneals),
    "D5": (
        "only the order of growth can be compared with the theorem, whose constant differs between statement"
        " and proof",
        None,
    ),
    "D7": ("that the graphs are connected is counted here, not taken from BSFL's proof", None),
    "D8": (
        "budgets and leakage are per coordinate; d coordinates together have d times as much",
        lambda scenario: _private(scenario) and protected(scenario) == COORDINATE,
    ),
    "D9": (
        "batch normalisation layers are shared without clamp or noise, outside the budget",
        lambda scenario: (
            _private(scenario) and MODELS[scenario.model.name].shares_statistics(scenario.model.norm)
        ),
    ),
    "D10": (
        "the two versions of the paper differ in the MNIST budget; both are scenarios",
        lambda scenario: _private(scenario) and _named("D10", scenario),
    ),
    "D11": ("the genie chooses on the selector's own history", None),
    "D25": ("means and deviation of the latencies are those of the authors' code", None),
    "D30": ("BSFL does not give its constants; PAUSE's are used", lambda scenario: _named("D30", scenario)),
    "D31": ("while at least m users were never seen, annealers choose as the exact search does", None),
    "D35": ("neighbours are sampled uniformly without being listed", None),
    "D36": ("the exact search runs at every size, in large networks too", None),
    "D49": ("only selections of m users have a regret", None),
    "D67": (
        "local training computes its products in bfloat16, half of float32's width",
        lambda scenario: scenario.training.precision != "float32",
    ),
    "D68": (
        "the global model is not evaluated in every round",
        lambda scenario: scenario.training.evaluate_every > 1,
    ),
    "D77": (
        "the annealer that draws a neighbour by its gain is that of the authors' logs, not the paper's",
        lambda scenario: any(_iterates(name) and not SELECTORS[name].anneals for name in scenario.selectors),
    ),
    "D71": ("the text does not give K, m and the β of the papers' figure; these are ours", None),
}

#: What the leakage of a user is, by what is protected.
_LEAKAGE = {
    "coordinate": "the sum of ε over that user's participations, **per coordinate** of the update. By basic"
    " composition a whole update of d coordinates leaks up to d times as much.",
    "update": "the sum of ε over that user's participations, for the update **as a whole**.",
}

#: The largest that a bounded coordinate can be, by what is protected.
_SIGNAL = {
    "coordinate": "half the clamp width",
    "update": "the norm that updates are clipped to, all of it on that coordinate,",
}

#: Whose privacy-loss distributions the second account is made of, by what is protected.
_DISTRIBUTIONS = {
    "coordinate": "the Laplace noise on one coordinate",
    "update": "the worst mechanisms with these budgets",
}

_TIME = (
    "Time is simulated: a round costs the latency of its slowest participant. Where FedAvg lasts more than"
    " 1.5 times as long as all others, the axis is cut and the legend gives the end of its curve."
)

_ARCHIVED = (
    "Thin lines and circles are runs that the authors archived with their code, seed 0, smoothed like ours."
    " They are shown for selectors that ran here."
)

#: What circles are, by the column that a figure shows of the rounds of the authors' log.
_LOGGED = {
    "accuracy": (
        "Circles are rounds that were read off the authors' log of this figure, seed {seed}, of selectors"
        " that ran here: some dozens of a run, on the official test split. They are single rounds. Our curves"
        " are means of the last 10, which scatter less and come later where accuracy rises."
    ),
    "leakage_max": (
        "Circles are rounds that were read off the authors' log of this figure, seed {seed}, of selectors"
        " that ran here. The log tells how often the users of a round took part, not all users: a circle"
        " is what the most of them up to then comes to, and the largest leakage is **at least** that."
    ),
}

_FINAL = (
    "Final accuracy is the mean of the last 10 rounds, best accuracy the best trailing mean over 10 rounds,"
    " both on the test data. Time to target is the simulated time until that mean first reaches the target,"
    " 90 % of the best accuracy (mean over seeds) that a private selector has when the first of them ends,"
    " fixed users aside. A selector is “not reached” if one of its seeds ends before it."
)
_FINAL_LOSS = (
    "Final loss is the mean squared error on the test data, the mean of the last 10 rounds. A regression has"
    " no accuracy and no target."
)


_THEIR_ARCHIVE = (
    "Accuracies are means of 10 rounds: the authors' on their evaluation split, ours on the test split."
    " Times are simulated, until that mean first reaches a target (“never”: not by the end of the run) and"
    " until the last round that was archived. Leakage is the largest ε per coordinate of any user. There"
    " is no mean unless every seed has a value. The authors' runs have seed 0 and latencies of their own;"
    " those of annealing are of version 1."
)
_THEIR_LOG = (
    "The authors' numbers are from their log of these figures. Accuracies are on the test split: ours"
    " means of 10 rounds, theirs of those of the 10 that were read, at least one. The end is the last"
    " round of theirs, or of ours where that is before. Mean round: simulated seconds a round up to the"
    " end. Leakage is the largest ε per coordinate of any user, where the log tells it. Their runs have"
    " one seed and latencies of their own."
)


@dataclass(frozen=True)
class Caption:
    """A caption of a figure or a table, as reStructuredText.

    Attributes
    ----------
    title
        What is shown and of what.
    shown
        What is shown, in few words.
    details
        What else there is to say, with the deviations from the papers.
    """

    title: str
    shown: str
    details: str

    def text(self) -> str:
        """All of it, the title in bold."""
        return f"**{self.title}.** {self.shown}\n\n{self.details}"


def caption(kind: str, scenario: Scenario, seeds: Collection[int], origin: str) -> Caption:
    """Caption of a scenario's figure or table, or of its partition.

    Parameters
    ----------
    kind
        A name of `pausefl.registry.FIGURES` or ``TABLES``, or ``partition``.
    scenario
        The scenario whose runs are shown.
    seeds
        The seed of each run.
    origin
        Where the data came from.

    Raises
    ------
    PauseflError
        If the kind has no caption, there are no seeds or the origin is blank.
    """
    record = _record(kind)
    if not seeds:
        raise PauseflError(f"scenario '{scenario.name}': a caption needs at least one seed")
    if not origin.strip():
        raise PauseflError(f"scenario '{scenario.name}': the runs do not say where their data came from")
    of_runs = record is not PARTITION
    network, filled = scenario.network, values(scenario, seeds)
    users = f"{network.n_users} users"
    if of_runs:
        horizon = scenario.training.time_horizon_s
        rounds = f"of {scenario.training.n_rounds} rounds" if horizon is None else "round"
        users += f", {network.n_selected} selected in each {rounds}{_everyone(scenario)}"
        users += "" if horizon is None else f", until {horizon:g} simulated seconds are over"
    paragraphs = [
        f"*What is shown.* {_fill(record.details, **filled)}",
        _authors(kind, record, scenario),
        f"*Setting.* {users}; {_seeds(seeds)}. {escaped(scale_note(scenario, None if of_runs else SHARED))}",
        f"*Privacy.* {_privacy(scenario.privacy)}" if of_runs else "",
        f"*Data.* {escaped(origin)}.",
        f"*In the papers.* {paper_figures(scenario, kind)}.",
    ]
    return Caption(
        f"{escaped(scenario.title)}: {record.label}",
        _fill(record.caption, **filled),
        _page(paragraphs, scenario_deviations(kind, scenario)),
    )


def _authors(kind: str, record: FigureRecord, scenario: Scenario) -> str:
    """What a figure shows of the authors' runs, or why nothing; empty for what is of no figure of a paper."""
    from pausefl.results.archive import log_of, logged  # pandas, which a plan of jobs need not wait for

    column = record.of_authors
    if not column:
        return ""
    if scenario.name in ARCHIVED:
        return f"*Archived runs.* {_ARCHIVED}"
    if scenario.name in LOGGED:
        words = _LOGGED.get(column, _LOGGED["accuracy"])
        if all(run[column].isna().all() for run in logged(scenario).values()):
            words = "None: of this figure's log we have times and participations alone."
        return (
            "*As run.* The settings are those of the authors' log of this figure, not of the papers' text."
            "\n\n"
            f"*The authors' numbers.* {words.format(seed=log_of(scenario.name)['seed'])}"
        )
    own = [name for name, shown in scenario.figures.items() if shown == kind and papers.place_of(name)]
    if not own or scenario.scale not in ("paper", "reduced"):
        return ""
    other = [papers.as_run(name) for name in own if papers.reading(name) == papers.AS_WRITTEN]
    if not other:
        return "*The authors' numbers.* None: we know of no log of this figure."
    listed = " and ".join(f"``{name}``" for name in other)
    return f"*The authors' numbers.* None: their runs have other settings, and are in {listed}."


def scenario_deviations(kind: str, scenario: Scenario) -> list[str]:
    """Deviations that bear on a scenario's figure or table: ``D8: budgets and leakage …``."""
    return _applying(_record(kind).deviations, scenario)


def values(scenario: Scenario, seeds: Collection[int]) -> dict[str, Any]:
    """What stands in captions of figures and tables for names in braces.

    Parameters
    ----------
    scenario
        The scenario.
    seeds
        The seed of each run.

    Returns
    -------
    dict
        ``first`` seed; ``all_seeds``, their number in words; ``lines`` and ``time``, sentences on lines,
        bands and the axis of time; ``leakage``, ``signal``, ``distributions`` and ``protected``, by what the
        mechanism protects; ``users``, how users are shown; ``loss``; ``final``, what the summary's columns
        mean; ``theirs``, what the numbers of the authors' runs are.
    """
    what = protected(scenario)
    regression = is_regression(scenario)
    few = "A thin line is one user, the bold one the highest."
    many = "Bands: all users, and the 10 % to 90 % quantiles; thin line: median; bold: highest."
    return {
        "first": min(seeds),
        "all_seeds": _number(seeds),
        "lines": _lines(seeds),
        "time": _TIME,
        "leakage": _LEAKAGE[what],
        "signal": _SIGNAL[what],
        "distributions": _DISTRIBUTIONS[what],
        "protected": what,
        "users": few if scenario.network.n_users <= MOST_LINES else many,
        "loss": "Mean squared error on the test data" if regression else "Loss on the test data",
        "final": _FINAL_LOSS if regression else _FINAL,
        "theirs": _THEIR_LOG if scenario.name in LOGGED else _THEIR_ARCHIVE,
    }


def escaped(text: str) -> str:
    """A text in which reStructuredText finds no markup."""
    return re.sub(r"([\\*`|_])", r"\\\1", text)


class _Words(Formatter):
    """Fills in tuples as lists in words, and shares as per cent with format ``%``."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, tuple):
            return ", ".join(self.format_field(one, format_spec) for one in value)
        return f"{100 * value:g}" if format_spec == "%" else str(format(value, format_spec))


def _fill(text: str, **found: Any) -> str:
    return _Words().vformat(text, (), found).strip()


def _record(kind: str) -> FigureRecord:
    records = {**FIGURES, **TABLES, "partition": PARTITION}
    if kind not in records:
        raise PauseflError(f"no caption for '{kind}'. {suggest(kind, records)}")
    return records[kind]


def _page(paragraphs: Iterable[str], deviations: Iterable[str]) -> str:
    listed = "\n".join(f"- {deviation}" for deviation in deviations) or "- none that bears on this"
    head = "*Deviations from the papers*, explained in the deviation ledger of the documentation:"
    return "\n\n".join([*filter(None, paragraphs), head, listed]) + "\n"


def _applying(names: Iterable[str], scenario: Scenario | None) -> list[str]:
    """Words of those deviations that apply to a scenario; without one, of all."""
    found = []
    for name in names:
        words, applies = DEVIATIONS[name]
        if scenario is None or applies is None or applies(scenario):
            found.append(f"{name}: {words}")
    return found


def _everyone(scenario: Scenario) -> str:
    records = [SELECTORS[name] for name in scenario.selectors]
    others = ["FedAvg takes all users in every round"] if any(one.takes_everyone for one in records) else []
    others += ["FedCS as many as meet its deadline"] if any(one.own_number for one in records) else []
    return f" ({', '.join(others)})" if others else ""


def _lines(seeds: Collection[int]) -> str:
    """How several seeds are shown. Of a single one, the figure itself says that it is."""
    return f"Lines are means over {_number(seeds)}, bands their range." if len(set(seeds)) > 1 else ""


def _number(seeds: Iterable[int]) -> str:
    """The number of seeds in words; some selectors have fewer if one seed has fewer runs than another."""
    runs = Counter(seeds)
    number = "one seed" if len(runs) == 1 else f"{len(runs)} seeds"
    return f"up to {number}" if len(set(runs.values())) > 1 else number


def _seeds(seeds: Iterable[int]) -> str:
    unique = sorted(set(seeds))
    if len(unique) == 1:
        return f"seed {unique[0]} only, so no bands"
    return f"seeds {', '.join(map(str, unique))}; a curve ends where its first seed ends"


def _privacy(privacy: PrivacySettings | None) -> str:
    """Sentences on what a user may spend, and on what it buys."""
    if privacy is None:
        return "None: updates are neither clamped nor noised."
    settings = {**vars(privacy), "n_budgets": len(privacy.budgets or ())}
    captions = (
        MECHANISMS.find(privacy.mechanism).caption,
        SCHEDULES.find(privacy.schedule).caption,
        SAMPLERS.find(privacy.sampler).caption,
    )
    sentences = [text.format(**settings) for text in captions if text]
    if privacy.loss_share is not None:
        sentences.append(
            f"A share of {privacy.loss_share:g} of each budget pays for the training loss that users report"
            " to selectors that look at it."
        )
    return " ".join(
        [*sentences, "The guarantee is local: it holds for any two data sets that a user might have."]
    )


def paper_figures(scenario: Scenario, kind: str) -> str:
    """The papers' figures that this kind of figure reproduces, or "none".

    ``scenario.figures`` maps such names as ``pause_v2_fig8`` or ``bsfl_fig7_loss`` to kinds; these become
    "PAUSE v2, Fig. 8, as run" and "BSFL, Fig. 7", and ``reduced_bsfl_fig7_loss`` "BSFL, Fig. 7, reduced".
    Figures of the demonstrations and of users' own scenarios reproduce none, nor do those for a privacy
    reviewer, ``privacy_…``, of what goes beyond the papers, ``beyond_…``, or of their settings with group
    normalisation, ``group_…``.
    """
    places = [] if scenario.scale == "own" else _places(scenario.figures, kind)
    return "; ".join(places) or "none"


def _places(figures: Mapping[str, str], kind: str) -> list[str]:
    names = [papers.in_words(name) for name, shown in figures.items() if shown == kind]
    return [name for name in names if name]
