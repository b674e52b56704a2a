"""Notes on the runs behind a figure or a table: their scale, and warnings.

Warnings are sentences in the list ``notes`` of the JSON beside a figure. The important ones are on the figure
too, in small type below the legend.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import itemgetter
from pathlib import Path
from typing import Any

from pausefl.registry import SELECTORS
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
    "training.precision": "arithmetic in {new} ({old})",
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
    "reduced": ("Reduced", "full scale"),
    "own": ("Own settings", "base"),
    "paper": ("Not the papers' settings", "papers"),
}

#: Most differences that a sentence tells.
_MOST_TOLD = 6


@dataclass(frozen=True)
class Notes:
    """Warnings about the runs behind one figure or table.

    Attributes
    ----------
    shown
        Sentences on the figure itself.
    quiet
        Sentences that only its JSON has.
    """

    shown: list[str]
    quiet: list[str]

    def all(self) -> list[str]:
        """Every sentence, those that are shown first."""
        return [*self.shown, *self.quiet]


class SidecarNotes(str):
    """Path of a figure's JSON; its notes are known only once the figure is plotted."""

    def read(self) -> list[str]:
        """The notes; none while there is no such file."""
        path = Path(self)
        return list(json.loads(path.read_text("utf-8"))["notes"]) if path.is_file() else []


def scale_note(scenario: Scenario, sections: Collection[str] | None = None) -> str:
    """A sentence on the scale of a scenario's runs; empty for the papers' own settings.

    Parameters
    ----------
    scenario
        Whose runs are shown.
    sections
        Of a scenario that differs from another, the sections that matter; all by default.
    """
    if scenario.scale == "demo":
        return _DEMO
    if scenario.scale == "own" and not scenario.changed:
        return _OWN
    settings, (opening, whose) = scenario.as_dict(), _OPENING[scenario.scale]
    parts: list[str] = []
    for key, old in (scenario.reduced or scenario.changed).items():
        if sections is None or key.split(".")[0] in sections:
            words = _DIFFERING.get(key, f"{' '.join(key.replace('_', ' ').split('.'))} {{new}} ({{old}})")
            new = reduce(lambda values, part: values and values[part], key.split("."), settings)
            before = _plain(key, old)
            parts.append(words.format(new=_plain(key, new), old=before if parts else f"{whose}: {before}"))
    if len(parts) > _MOST_TOLD:
        parts[_MOST_TOLD:] = [f"and {len(parts) - _MOST_TOLD} more"]
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


def absent_note(scenario: Scenario, selectors: Collection[str], labels: Mapping[str, str]) -> str:
    """A sentence that names the selectors of a paper's scenario without a run; empty if there are none.

    Enumeration is left out: it selects as exact search does.
    """
    wanted = scenario.selectors if scenario.scale in ("paper", "reduced") else ()
    absent = [
        labels[name] for name in wanted if name not in selectors and SELECTORS[name].most_selections is None
    ]
    return f"Not run: {', '.join(absent)}." if absent else ""


def seed_notes(seeds: Iterable[int]) -> list[str]:
    """A sentence if there is one seed only, and so no band."""
    unique = sorted(set(seeds))
    return [f"One seed only ({unique[0]})."] if len(unique) == 1 else []


def code_notes(made_with: Mapping[str, Iterable[str]], versions: Mapping[str, Collection[str]]) -> list[str]:
    """A warning if a study was computed by other code than today's, which the figure does not show.

    Parameters
    ----------
    made_with
        What `pausefl.results.published.study_codes` returns.
    versions
        What `pausefl.studies.base.Study.current_codes` returns.
    """
    old = {code for selector, codes in made_with.items() for code in codes if code not in versions[selector]}
    if old == {""}:
        return ["Which version of the code computed it is not recorded."]
    return ["Computed by an earlier version of the code."] if old else []


def run_notes(
    summaries: Iterable[Mapping[str, Any]], versions: Mapping[str, Collection[str]], labels: Mapping[str, str]
) -> Notes:
    """Warnings about runs that are shown together.

    Each selector's code has hashes of its own. Runs are of different versions if seeds of one selector have
    different hashes that do not all count as today's, or if only some selectors have such a hash.

    Parameters
    ----------
    summaries
        The ``summary.json`` of each run.
    versions
        Hashes of a job's code that count as today's, by selector (`pausefl.results.verified.current_codes`).
    labels
        What to call each selector.
    """
    runs = sorted(summaries, key=lambda run: (list(labels).index(run["selector"]), run["seed"]))
    by_selector: dict[str, list[Mapping[str, Any]]] = {}
    for run in runs:
        by_selector.setdefault(run["selector"], []).append(run)
    shown, quiet = [], []
    seeds = {name: [run["seed"] for run in group] for name, group in by_selector.items()}
    most = max(map(len, seeds.values()), default=0)
    if most == 1:
        shown += seed_notes(seed for own in seeds.values() for seed in own) or ["One seed of each selector."]
    for n in range(1, most):
        if few := [labels[name] for name in seeds if len(seeds[name]) == n]:
            shown.append(f"{'One seed' if n == 1 else f'{n} seeds'} only: {', '.join(few)}.")
    diverged = [
        f"{labels[name]} ({'; '.join(rounds)})"
        for name, group in by_selector.items()
        if (rounds := [_divergence(run) for run in group if run["diverged_round"] is not None])
    ]
    if diverged:
        shown.append(f"Diverged: {', '.join(diverged)}.")
    if told := [name for name, group in by_selector.items() if any(map(_unpaid_losses, group))]:
        names = ", ".join(labels[name] for name in told)
        shown.append(f"Users report training losses without noise, outside the budget: {names}.")
    old = [run for run in runs if run["code_hash"] not in versions[run["selector"]]]
    split = [
        name
        for name, group in by_selector.items()
        if len({run["code_hash"] for run in group}) > 1 and any(run in old for run in group)
    ]
    if split or 0 < len(old) < len(runs):
        parts = [
            f"seeds of {labels[name]} differ ({_apart(by_selector[name], itemgetter('code_hash'))})"
            for name in split
        ]
        whole = [name for name in by_selector if name not in split and by_selector[name][0] in old]
        parts += [f"earlier: {', '.join(labels[name] for name in whole)}"] if whole else []
        shown.append(f"Runs of different versions of the code: {'; '.join(parts)}.")
    elif old:
        quiet.append("Made by an earlier version of the code.")
    if otherwise := [
        f"{labels[name]} in {', '.join(found)}"
        for name, group in by_selector.items()
        if (found := _unlike(group))
    ]:
        shown.append(f"Seeds computed otherwise than others: {'; '.join(otherwise)}.")
    quiet += _taken_over(by_selector, labels)
    return Notes(shown, quiet)


def _taken_over(
    by_selector: Mapping[str, Iterable[Mapping[str, Any]]], labels: Mapping[str, str]
) -> Iterator[str]:
    """A sentence for each scenario whose training runs have taken over."""
    names: dict[str, dict[str, None]] = {}
    for selector, group in by_selector.items():
        for run in group:
            if "trained_by" in run:
                names.setdefault(run["trained_by"]["scenario"], {})[labels[selector]] = None
    for scenario, found in names.items():
        yield (
            f"Loss and accuracy taken over from runs of {scenario}, which train the same, because these"
            f" selectors do not look at the reward: {', '.join(found)}."
        )


def _divergence(run: Mapping[str, Any]) -> str:
    return f"seed {run['seed']} in round {run['diverged_round']}"


def _unpaid_losses(run: Mapping[str, Any]) -> bool:
    """Whether losses left users outside the budget; earlier runs, which do not say, reported none."""
    return run.get("losses") == "unaccounted"


def _unlike(group: Iterable[Mapping[str, Any]]) -> list[str]:
    """In what seeds of one selector were computed otherwise than others, where it is recorded."""
    found = []
    for what, value in _MACHINE.items():
        known = [run for run in group if value(run) is not None]
        if "|" in (seeds := _apart(known, value)):
            found.append(f"{what} ({seeds})")
    return found


def _trained(run: Mapping[str, Any], part: str, key: str) -> Any:
    """A value of the versions or the hardware with which a run, or the one that it took over, was trained."""
    return run.get("trained_by", run).get(part, {}).get(key)


#: What changes last digits of numbers, and so whatever follows from them.
_MACHINE: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "version of PyTorch": lambda run: _trained(run, "versions", "torch"),
    "device": lambda run: run.get("device"),
    "number of threads": lambda run: run.get("n_threads"),
    "processor": lambda run: _trained(run, "hardware", "instructions"),
}


def _apart(group: Iterable[Mapping[str, Any]], value: Callable[[Mapping[str, Any]], Any]) -> str:
    """Seeds of one selector, those of one value side by side."""
    found: dict[Any, list[str]] = {}
    for run in group:
        found.setdefault(value(run), []).append(str(run["seed"]))
    return " | ".join(", ".join(seeds) for seeds in found.values())


def with_notes(markdown: str, notes: Iterable[str]) -> str:
    """A page of Markdown with notes in bold at its top; blank ones are left out."""
    return "".join(f"**{note}**\n\n" for note in notes if note) + markdown
