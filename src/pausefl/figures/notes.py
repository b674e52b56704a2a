"""Notes on the runs behind a figure or a table: their scale, and warnings.

Warnings are sentences in the list ``notes`` of the JSON beside a figure. The important ones are on the figure
too, in small type below the legend.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pausefl.registry.selectors import LABELS, SELECTORS, in_legend_order
from pausefl.settings import Scenario

#: Sections of a scenario that its partitions depend on.
SHARED = ("data", "partition", "network")

#: What a scenario has, and what its base or the paper has in brackets; the first says what they are.
_DIFFERING = {
    "training.n_rounds": "{new} rounds ({old})",
    "training.max_batches": "at most {new} mini-batches ({old})",
    "training.n_epochs": "{new} local epochs ({old})",
    "training.batch_size": "mini-batches of {new} ({old})",
    "training.evaluate_every": "evaluation {new} ({old})",
    "training.evaluate_all_until": "evaluation of each round up to round {new} ({old})",
    "training.time_horizon_s": "runs of {new} simulated s ({old})",
    "network.n_users": "{new} users ({old})",
    "network.n_selected": "{new} users a round ({old})",
    "selection.n_iterations": "{new} iterations of annealing ({old})",
    "selection.n_tiers": "{new} tiers ({old})",
    "selection.deadline": "a deadline of {new} s ({old})",
    "selection.n_candidates": "{new} candidates a round ({old})",
    "selection.pacer_step": "a pacer's step of {new} s ({old})",
    "data.n_train": "{new} training examples ({old})",
    "model.norm": "{new} normalisation ({old})",
    "privacy.epsilon_total": "a budget of {new} ({old})",
    "privacy.loss_share": "a share of {new} of the budget for reported losses ({old})",
    "privacy.loss_bound": "losses up to {new} reported ({old})",
}

_DEMO = "Demo: small data that come with a library; no experiment of the papers."
_OWN = "Own settings: no experiment of the papers."

#: By scale: what opens the sentence, and whose the values in brackets are.
_OPENING = {
    "own": ("Own settings", "base"),
    "paper": ("Not the papers' settings", "papers"),
}

#: Most differences that a sentence tells.
_MOST_LISTED = 6


@dataclass(frozen=True)
class Notes:
    """Warnings about the runs behind one figure or table."""

    #: On the figure itself.
    shown: list[str]
    #: In its JSON alone.
    quiet: list[str]

    def all(self) -> list[str]:
        """Every sentence, those that are shown first."""
        return [*self.shown, *self.quiet]


def scale_note(scenario: Scenario, sections: Collection[str] | None = None) -> str:
    """A sentence on the scale of a scenario's runs; empty for the papers' own settings.

    Of a scenario that differs from another, ``sections`` are those that matter; all by default.
    """
    if scenario.scale == "demo":
        return _DEMO
    if scenario.scale == "own" and not scenario.changed:
        return _OWN
    settings, (opening, whose) = scenario.as_dict(), _OPENING[scenario.scale]
    parts: list[str] = []
    for key, old in scenario.changed.items():
        if sections is None or key.split(".")[0] in sections:
            words = _DIFFERING.get(key, f"{' '.join(key.replace('_', ' ').split('.'))} {{new}} ({{old}})")
            new = reduce(lambda values, part: values and values[part], key.split("."), settings)
            before = _plain(key, old)
            parts.append(words.format(new=_plain(key, new), old=before if parts else f"{whose}: {before}"))
    if len(parts) > _MOST_LISTED:
        parts[_MOST_LISTED:] = [f"and {len(parts) - _MOST_LISTED} more"]
    return f"{opening}: {', '.join(parts)}." if parts else ""


def _plain(key: str, value: Any) -> str:
    """A value of a setting in words."""
    if key == "training.evaluate_every":
        return "after every round" if value == 1 else f"after every {value}{_ordinal(value)} round"
    if value is None:
        return "all" if key == "data.n_train" else "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain('', one)}" for name, one in value.items() if one is not None)
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _ordinal(n: int) -> str:
    """The letters that follow an ordinal number."""
    return "th" if 10 < n % 100 < 20 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")


def absent_note(scenario: Scenario, selectors: Collection[str]) -> str:
    """A sentence that names the selectors of a paper's scenario without a run; empty if there are none.

    Enumeration is left out: it selects as exact search does.
    """
    wanted = scenario.selectors if scenario.scale == "paper" else ()
    absent = [name for name in wanted if name not in selectors and SELECTORS[name].most_selections is None]
    return f"Not run: {', '.join(LABELS[name] for name in absent)}." if absent else ""


def seed_notes(seeds: Iterable[int]) -> list[str]:
    """A sentence if there is one seed only, and so no band."""
    unique = sorted(set(seeds))
    return [f"One seed only ({unique[0]})."] if len(unique) == 1 else []


def run_notes(summaries: Iterable[Mapping[str, Any]]) -> Notes:
    """Warnings about runs that are shown together."""
    summaries = list(summaries)
    order = in_legend_order(run["selector"] for run in summaries)
    runs = sorted(summaries, key=lambda run: (order.index(run["selector"]), run["seed"]))
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for run in runs:
        groups.setdefault(LABELS[run["selector"]], []).append(run)
    shown: list[str] = []
    quiet: list[str] = []  # curves say themselves how many seeds they have
    most = max(map(len, groups.values()), default=0)
    if most == 1:
        quiet += seed_notes(run["seed"] for run in runs) or ["One seed of each selector."]
    for n in range(1, most):
        if few := [label for label, own in groups.items() if len(own) == n]:
            quiet.append(f"{'One seed' if n == 1 else f'{n} seeds'} only: {', '.join(few)}.")
    diverged = {
        label: "; ".join(
            f"seed {run['seed']} in round {run['diverged_round']}"
            for run in own
            if run["diverged_round"] is not None
        )
        for label, own in groups.items()
    }
    if any(diverged.values()):
        words = ", ".join(f"{label} ({rounds})" for label, rounds in diverged.items() if rounds)
        shown.append(f"Diverged: {words}.")
    # Earlier runs, which do not say, reported no losses.
    if telling := [label for label, own in groups.items() if any(map(_unpaid_losses, own))]:
        words = ", ".join(telling)
        shown.append(f"Users report training losses without noise, outside the budget: {words}.")
    unlike = {label: _unlike(own) for label, own in groups.items()}
    if any(unlike.values()):
        words = "; ".join(f"{label} in {', '.join(found)}" for label, found in unlike.items() if found)
        shown.append(f"Seeds computed otherwise than others: {words}.")
    taken: dict[str, dict[str, None]] = {}
    for run in runs:
        if "trained_by" in run:
            taken.setdefault(run["trained_by"]["scenario"], {})[LABELS[run["selector"]]] = None
    quiet += [
        f"Loss and accuracy taken over from runs of {scenario}, which train the same, because these selectors"
        f" do not look at the reward: {', '.join(labels)}."
        for scenario, labels in taken.items()
    ]
    return Notes(shown, quiet)


def _unpaid_losses(run: Mapping[str, Any]) -> bool:
    return run.get("losses") == "unaccounted"


def _unlike(own: Iterable[Mapping[str, Any]]) -> list[str]:
    """In what seeds of one selector were computed otherwise than others, where it is recorded.

    These change last digits of numbers, and so whatever follows from them. Versions and hardware are those of
    the run that trained.
    """
    machines = [
        {
            "seed": run["seed"],
            "version of PyTorch": run.get("trained_by", run).get("versions", {}).get("torch"),
            "device": run.get("device"),
            "number of threads": run.get("n_threads"),
            "processor": run.get("trained_by", run).get("hardware", {}).get("instructions"),
        }
        for run in own
    ]
    found = {
        what: _apart([machine for machine in machines if machine[what] is not None], what)
        for what in machines[0]
        if what != "seed"
    }
    return [f"{what} ({seeds})" for what, seeds in found.items() if "|" in seeds]


def _apart(own: Iterable[Mapping[str, Any]], key: str) -> str:
    """Seeds of one selector, those of one value side by side: ``0, 2 | 1``."""
    found: dict[Any, list[str]] = {}
    for run in own:
        found.setdefault(run[key], []).append(str(run["seed"]))
    return " | ".join(", ".join(seeds) for seeds in found.values())


def with_notes(markdown: str, notes: Iterable[str]) -> str:
    """A page of Markdown with notes in bold at its top; blank ones are left out."""
    return "".join(f"**{note}**\n\n" for note in notes if note) + markdown
