"""Every selector, and what the rest of the package must know of it."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Self
from zlib import crc32

from pausefl.registry.base import Record, Registry
from pausefl.registry.own import OwnPartError, check_keys, declared, words

#: A dash pattern as Matplotlib takes it: offset and lengths in line widths.
Line = Literal["-"] | tuple[float, tuple[float, ...]]

SOLID: Line = "-"
DASH: Line = (0, (4, 1.5))
SHORT_DASH: Line = (0, (2.2, 1))
LONG_DASH: Line = (0, (8, 2))
DOT: Line = (0, (1, 1))
DASH_DOT: Line = (0, (3.5, 2.2, 1.2, 2.2))
LONG_DASH_DOT: Line = (0, (9, 1.5, 1.5, 1.5))
DASH_DOT_DOT: Line = (0, (5, 1.2, 1.2, 1.2, 1.2, 1.2))


class Look(NamedTuple):
    """What people call a selector, and its line in figures.

    Hues follow Okabe and Ito's palette, with shades of one hue for related selectors, and a contrast of at
    least 3 on white. Markers differ, so that figures work in greyscale and for colour-blind readers.
    """

    label: str
    #: Hexadecimal RGB.
    color: str
    marker: str
    line: Line
    #: In points.
    width: float = 1.3
    #: Higher is on top, and earlier in legends.
    zorder: float = 2.5
    #: Place in legends, where it is not that of `zorder`.
    legend: float | None = None
    #: Whether the marker is an outline.
    hollow: bool = False


@dataclass(frozen=True)
class SelectorRecord(Record):
    """A selector's class and what the federated loop, checks and figures must know of it."""

    #: Settings that must be given, as dotted keys.
    requires: tuple[str, ...] = ()
    #: Whether all available users take part in every round.
    takes_everyone: bool = False
    #: Whether it selects the same users in every round, as long as they have budget.
    fixed_users: bool = False
    #: Whether the number of users it selects is its own and not ``n_selected``.
    own_number: bool = False
    #: Whether updates are clamped and noised; without, nothing bounds the leakage.
    private: bool = True
    #: Whether the choice depends on the scenario's reward. Without, what was trained under one reward is not
    #: trained again under another.
    uses_reward: bool = False
    #: Whether it searches by the papers' simulated annealing, in which all neighbours are equally likely.
    anneals: bool = False
    #: Whether an update counts 1/m for each time its user was sampled, as clustered sampling requires, not
    #: by its share of the selected data.
    uniform_weights: bool = False
    #: Whether it looks at the users' updates, or at their training losses, so that it needs training.
    needs_updates: bool = False
    needs_losses: bool = False
    #: Most sets of ``n_selected`` users that it can enumerate; None for a selector that enumerates none.
    most_selections: int | None = None
    #: Cost of a selection among K users that the papers state.
    stated_cost: str = field(default="", repr=False)
    #: Name and line in figures; None for those of `look_of`.
    look: Look | None = field(default=None, repr=False)


@dataclass(frozen=True)
class OwnSelectorRecord(SelectorRecord):
    """Record of a user's own selector, of which `load` returns what watches over it."""

    #: MODULE:NAME, as it was asked for; `code` is where the class is defined.
    place: str = field(default="", repr=False)

    def load(self) -> Any:
        """What builds the selector (`pausefl.selectors.own`)."""
        # By name, as selectors are above this layer.
        builder = importlib.import_module("pausefl.selectors.own").Builder
        return builder(super().load(), self.place, self)

    @classmethod
    def of(cls, place: str, part: Any, others: Mapping[str, SelectorRecord]) -> Self:
        """Record of a user's own selector; ``label`` and ``color`` may stand in place of a whole ``look``."""
        label, color = getattr(part, "label", words(part.__name__)), getattr(part, "color", None)
        if not isinstance(label, str) or not label.strip():
            raise OwnPartError(f"has label = {label!r}, which should be a text")
        if color is not None and not (isinstance(color, str) and re.fullmatch("#[0-9A-Fa-f]{6}", color)):
            raise OwnPartError(f"has color = {color!r}, which should be a text such as '#D55E00'")
        # By its name, so that it has one colour in all figures, unless that is taken.
        first = crc32(place.encode()) % len(_SPARE)
        lines = [*_SPARE[first:], *_SPARE[:first]]
        taken = {record.look[1:4] for record in others.values() if record.look}
        spare, marker, line = next((one for one in lines if one not in taken), lines[0])
        made = declared(SelectorRecord, part, place, look=Look(label, color or spare, marker, line))
        check_keys(made.requires)
        for name in others:
            if made.look and look_of(name).label.casefold() == made.look.label.casefold():
                raise OwnPartError(
                    f"has the label of '{name}', {made.look.label!r}: give it another, label = \"…\""
                )
        return cls(**vars(made), place=place)


_ANNEALING = ("selection.n_iterations", "selection.temperature_divisor")


def _annealer(name: str, look: Look, stated_cost: str = "") -> SelectorRecord:
    return SelectorRecord(
        f"pausefl.selectors.annealing:{name}",
        requires=_ANNEALING,
        uses_reward=True,
        anneals=True,
        stated_cost=stated_cost,
        look=look,
    )


#: Most selections that `pausefl.selectors.brute` enumerates.
MAX_SELECTIONS = 5_000_000

_LATENCY_MAX = ("network.round_latency_max",)
#: PAUSE v2, Proposition 1 and Table I, and v1: best, average and worst case.
_ANNEALING_COST = "O(K log K), O(K log K), O(K²)"

#: In the order of tables.
SELECTORS: Registry[SelectorRecord] = Registry(
    "selector",
    {
        "pause": SelectorRecord(
            "pausefl.selectors.exact:Pause",
            uses_reward=True,
            stated_cost="O(K log K)",
            look=Look("PAUSE", "#0072B2", "o", SOLID, width=1.8, zorder=4.0, legend=4.3),
        ),
        "pause_brute": SelectorRecord(
            "pausefl.selectors.brute:BrutePause",
            uses_reward=True,
            most_selections=MAX_SELECTIONS,
            stated_cost="O(e^K)",
            look=Look("PAUSE (enumeration)", "#00182B", "h", SHORT_DASH, zorder=4.1),
        ),
        # It follows PAUSE closely: light dashes on top of the solid line leave both visible.
        "sa_pause": _annealer(
            "SaPause", Look("SA-PAUSE", "#3A97DB", "s", DASH, width=1.5, zorder=4.2), _ANNEALING_COST
        ),
        "sa_pause_v1": _annealer(
            "SaPauseV1",
            Look("SA-PAUSE (v1)", "#004A94", "s", DASH_DOT_DOT, zorder=3.9, hollow=True),
            _ANNEALING_COST,
        ),
        "sa_pause_best_gain": SelectorRecord(
            "pausefl.selectors.best_gain:SaPauseBestGain",
            requires=_ANNEALING,
            uses_reward=True,
            look=Look("SA-PAUSE (best gain)", "#3A7BD5", "d", DASH_DOT_DOT, zorder=3.85),
        ),
        "sa_vanilla": _annealer(
            "SaVanilla",
            Look("PAUSE by plain SA", "#6C8EC4", "d", LONG_DASH, zorder=3.8, hollow=True),
            "O(K²)",
        ),
        "bsfl": SelectorRecord(
            "pausefl.selectors.exact:Bsfl",
            uses_reward=True,
            look=Look("BSFL", "#0CA87C", "X", SOLID, width=1.6, zorder=3.7, legend=3.76),
        ),
        "alsa": _annealer("Alsa", Look("ALSA", "#00664A", "D", DASH, zorder=3.75)),
        "sa_bsfl": _annealer(
            "SaBsfl", Look("BSFL by plain SA", "#5A9160", "D", DASH_DOT, zorder=3.6, hollow=True)
        ),
        "genie": SelectorRecord(
            "pausefl.selectors.exact:Genie",
            uses_reward=True,
            look=Look("Genie", "#000000", "o", SOLID, width=1.0, zorder=3.5, hollow=True),
        ),
        "random": SelectorRecord(
            "pausefl.selectors.baselines:Random", look=Look("Random", "#BD7C00", "^", SHORT_DASH, zorder=3.2)
        ),
        "random_by_size": SelectorRecord(
            "pausefl.selectors.baselines:RandomBySize",
            look=Look("Random by size", "#A38A2E", "^", DOT, width=1.5, zorder=3.1, hollow=True),
        ),
        "fedavg": SelectorRecord(
            "pausefl.selectors.baselines:Everyone",
            takes_everyone=True,
            look=Look("FedAvg with privacy", "#D55E00", "v", LONG_DASH, width=1.6, zorder=2.7),
        ),
        "fedavg_no_privacy": SelectorRecord(
            "pausefl.selectors.baselines:Everyone",
            takes_everyone=True,
            private=False,
            look=Look("FedAvg w/o privacy", "#7A2E00", "v", LONG_DASH_DOT, zorder=2.6, hollow=True),
        ),
        # Its leakage coincides with that of FedAvg, whose longer dashes show beneath it.
        "fastest": SelectorRecord(
            "pausefl.selectors.baselines:Fastest",
            fixed_users=True,
            look=Look("Fastest in expectation", "#8C8C8C", "*", DASH_DOT, zorder=2.8),
        ),
        "clustered_size": SelectorRecord(
            "pausefl.selectors.clustered:ClusteredBySize",
            uniform_weights=True,
            look=Look("Clustered (size)", "#912B6B", "P", DOT, width=1.5, zorder=3.4),
        ),
        "clustered_similarity": SelectorRecord(
            "pausefl.selectors.clustered:ClusteredBySimilarity",
            uniform_weights=True,
            needs_updates=True,
            look=Look("Clustered (similarity)", "#CC62A2", "P", LONG_DASH_DOT, zorder=3.3, hollow=True),
        ),
        "cs_ucb": SelectorRecord(
            "pausefl.selectors.cs_ucb:CsUcb",
            requires=_LATENCY_MAX,
            look=Look("CS-UCB", "#8A8A1C", "p", DASH_DOT_DOT, zorder=3.0),
        ),
        "cs_ucb_q": SelectorRecord(
            "pausefl.selectors.cs_ucb:CsUcbQ",
            requires=_LATENCY_MAX,
            look=Look("CS-UCB-Q", "#5C5C14", "p", LONG_DASH, zorder=2.9, hollow=True),
        ),
        "tifl": SelectorRecord(
            "pausefl.selectors.timed:Tifl",
            requires=("selection.n_tiers",),
            look=Look("TiFL", "#7B4FA3", "<", LONG_DASH_DOT, zorder=2.88),
        ),
        "fedcs": SelectorRecord(
            "pausefl.selectors.timed:FedCs",
            requires=("selection.deadline", "selection.n_candidates"),
            own_number=True,
            look=Look("FedCS", "#A678CC", "<", DOT, width=1.5, zorder=2.86, hollow=True),
        ),
        "power_of_choice": SelectorRecord(
            "pausefl.selectors.losses:PowerOfChoice",
            requires=("selection.n_candidates",),
            needs_losses=True,
            look=Look("Power-of-Choice", "#1B7F8C", ">", SHORT_DASH, zorder=2.84),
        ),
        "oort": SelectorRecord(
            "pausefl.selectors.losses:Oort",
            requires=("selection.pacer_step",),
            needs_losses=True,
            look=Look("Oort", "#D1495B", ">", DASH, zorder=2.82, hollow=True),
        ),
    },
    own=OwnSelectorRecord,
    kind="pausefl.selectors.base:Selector",
)

#: Colours, marker and dashes of selectors without a look of their own; nobody else has these dashes.
_SPARE: list[tuple[str, str, Line]] = [
    (color, "8", (0, (*[1.0, 1.0] * n_dots, 6.0, 1.5)))
    for n_dots in (3, 4)
    for color in ("#4B3A6B", "#B22222", "#2F7F7F", "#8A6D3B", "#C71585", "#6A8E23")
]


def look_of(selector: str) -> Look:
    """Look of a selector; `ConfigError` with the nearest name if it is not registered.

    One that has none is called after its name.
    """
    if look := SELECTORS.find(selector).look:
        return look
    return spare_look(selector, [name for name in SELECTORS if SELECTORS[name].look is None].index(selector))


def spare_look(selector: str, place: int) -> Look:
    """Look of a selector without one of its own, called after its name; ``place`` among such selectors."""
    return Look(selector.replace("_", " ").capitalize(), *_SPARE[place % len(_SPARE)])


def in_legend_order(selectors: Iterable[str]) -> list[str]:
    """Each selector once, in the fixed order of the legends; raises as `look_of`."""
    looks = {name: look_of(name) for name in sorted(set(selectors))}
    known = list(SELECTORS)
    return sorted(looks, key=lambda name: (-(looks[name].legend or looks[name].zorder), known.index(name)))


class _Labels(Mapping[str, str]):
    """Labels by name, of users' own selectors too."""

    def __getitem__(self, name: str) -> str:
        if name not in SELECTORS:
            raise KeyError(name)
        return look_of(name).label

    def __iter__(self) -> Iterator[str]:
        return iter(in_legend_order(SELECTORS))

    def __len__(self) -> int:
        return len(SELECTORS)


#: What people call each selector, in the order of legends.
LABELS: Mapping[str, str] = _Labels()


@contextmanager
def registered(records: Mapping[str, SelectorRecord]) -> Iterator[None]:
    """Have more selectors in the registry inside the block; their names are new."""
    SELECTORS.update(records)
    try:
        yield
    finally:
        for name in records:
            del SELECTORS[name]
