"""Notes on the runs behind a figure or a table: their scale, and warnings.

Warnings are sentences in the list ``notes`` of the JSON beside a figure. The important ones are on the figure
too, in small type below the legend.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pausefl.runs.collected import run_folder
from pausefl.runs.run import Run
from pausefl.runs.run_id import RunId
from pausefl.selectors import LABELS, SELECTORS, in_legend_order
from pausefl.settings import Scenario
from pausefl.settings.dotted_keys import at

#: Most differences that a sentence tells.
_MOST_LISTED = 6

#: Digest of the data set of the published runs on CIFAR-10; what it costs is in ``docs/authors.md``.
_JPEG_COPIES = "e7b7aa205653fca00efa22f40462bf149b06501db2352230fb771c4fc6bc93c7"


@dataclass(frozen=True)
class Notes:
    """Warnings about the runs behind one figure or table."""

    #: On the figure itself.
    shown: list[str]
    #: In its JSON alone.
    json_only: list[str]

    def all(self) -> list[str]:
        """Every sentence, those that are shown first."""
        return [*self.shown, *self.json_only]


def scale_note(scenario: Scenario) -> str:
    """A sentence on the scale of a scenario's runs; empty for the papers' own settings."""
    if scenario.scale == "demo":
        return "Demo: small data that come with a library; no experiment of the papers."
    if scenario.scale == "own" and not scenario.changed:
        return "Own settings: no experiment of the papers."
    own = scenario.scale == "own"
    settings, parts = scenario.as_dict(), list[str]()
    for key, old in scenario.changed.items():
        new = at(settings, key)
        whose = "" if parts else "base: " if own else "papers: "
        parts.append(f"{key} = {_plain(new)} ({whose}{_plain(old)})")
    if len(parts) > _MOST_LISTED:
        parts[_MOST_LISTED:] = [f"and {len(parts) - _MOST_LISTED} more"]
    opening = "Own settings" if own else "Not the papers' settings"
    return f"{opening}: {', '.join(parts)}." if parts else ""


def _plain(value: Any) -> str:
    """A value of a setting in words."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain(one)}" for name, one in value.items() if one is not None)
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "none" if value is None else str(value)


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
    runs = sorted(summaries, key=lambda run: int(run["seed"]))
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for selector in in_legend_order(run["selector"] for run in runs):
        groups.setdefault(LABELS[selector], []).extend(run for run in runs if run["selector"] == selector)
    diverged = {
        label: "; ".join(
            f"seed {run['seed']} in round {run['diverged_round']}"
            for run in own
            if run["diverged_round"] is not None
        )
        for label, own in groups.items()
    }
    # Earlier runs, which do not say, reported no losses.
    unpaid = [name for name, own in groups.items() if any(run.get("losses") == "unaccounted" for run in own)]
    unlike = {label: _unlike(own) for label, own in groups.items()}
    warnings = {
        "Diverged": ", ".join(f"{label} ({rounds})" for label, rounds in diverged.items() if rounds),
        "Users report training losses without noise, outside the budget": ", ".join(unpaid),
    }
    json_only: list[str] = []  # curves say themselves how many seeds they have
    if otherwise := "; ".join(f"{label} in {found}" for label, found in unlike.items() if found):
        json_only.append(f"Seeds computed otherwise than others: {otherwise}.")
    most = max(map(len, groups.values()), default=0)
    if most == 1:
        json_only += seed_notes(run["seed"] for run in runs) or ["One seed of each selector."]
    for n in range(1, most):
        if few := [label for label, own in groups.items() if len(own) == n]:
            json_only.append(f"{'One seed' if n == 1 else f'{n} seeds'} only: {', '.join(few)}.")
    taken: dict[str, dict[str, None]] = {}
    for label, own in groups.items():
        for run in own:
            if "trained_by" in run:
                taken.setdefault(run["trained_by"]["scenario"], {})[label] = None
    json_only += [
        f"Loss and accuracy taken over from runs of {scenario}, which train the same, because these selectors"
        f" do not look at the reward: {', '.join(labels)}."
        for scenario, labels in taken.items()
    ]
    return Notes([f"{what}: {words}." for what, words in warnings.items() if words], json_only)


def notes_of(scenario: Scenario, runs: Iterable[Run]) -> Notes:
    """Warnings about runs of a scenario that are shown together."""
    runs = list(runs)
    notes = run_notes(run.summary for run in runs)
    notes.shown.extend(filter(None, [absent_note(scenario, {run.selector for run in runs})]))
    if any(run.summary.get("digests", {}).get("data set") == _JPEG_COPIES for run in runs):
        notes.shown.append(
            "JPEG copies of CIFAR-10: 1.0 to 2.6 points less accurate than the official images."
        )
    return notes


def origin(runs: Mapping[RunId, Run], folder: str) -> dict[str, Any]:
    """What runs that are shown together come from: their names, seeds, versions of libraries, and data."""
    summaries = [run.summary for run in runs.values()]

    def values(key: str) -> list[Any]:
        return sorted({summary[key] for summary in summaries})

    return {
        "runs": [str(run_folder(Path(folder), one)) for one in runs],
        "seeds": values("seed"),
        "versions": {
            name: sorted({summary["versions"][name] for summary in summaries})
            for name in summaries[0]["versions"]
        },
        "dataset_origins": values("dataset_origin"),
    }


def _unlike(own: Iterable[Mapping[str, Any]]) -> str:
    """In what seeds of one selector were computed otherwise than others, ``device (0, 2 | 1)``.

    These change last digits of numbers, and so whatever follows from them. Versions and hardware are those of
    the run that trained; what is not recorded does not count.
    """
    whats = ("version of PyTorch", "device", "number of threads", "processor")
    seeds: dict[str, dict[Any, list[str]]] = {what: {} for what in whats}
    for run in own:
        trained = run.get("trained_by", run)
        torch = trained.get("versions", {}).get("torch")
        processor = trained.get("hardware", {}).get("instructions")
        values = torch, run.get("device"), run.get("n_threads"), processor
        for what, value in zip(whats, values, strict=True):
            if value is not None:
                seeds[what].setdefault(value, []).append(str(run["seed"]))
    return ", ".join(
        f"{what} ({' | '.join(map(', '.join, found.values()))})"
        for what, found in seeds.items()
        if len(found) > 1
    )
