"""User selectors: which users take part in a round, given what was observed so far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pausefl.plugins import OwnPartError, Plugins, words
from pausefl.selectors.base import Selector
from pausefl.selectors.baselines import Everyone, EveryoneInTheClear, Fastest, Random, RandomBySize
from pausefl.selectors.best_gain import SaPauseBestGain
from pausefl.selectors.brute import BrutePause
from pausefl.selectors.by_losses import Oort, PowD, PowerOfChoice
from pausefl.selectors.clustered import ClusteredBySimilarity, ClusteredBySize
from pausefl.selectors.cs_ucb import CsUcb, CsUcbQ
from pausefl.selectors.look import Look, own_look, spare_look
from pausefl.selectors.pause import Bsfl, Genie, Pause
from pausefl.selectors.sa_pause import Alsa, SaBsfl, SaPause, SaPauseV1, SaVanilla
from pausefl.selectors.settings import unknown_argument
from pausefl.selectors.sweep import Sweep
from pausefl.selectors.timed import FedCs, Tifl

__all__ = [
    "LABELS",
    "SELECTORS",
    "Look",
    "Selector",
    "in_legend_order",
    "look_of",
    "selector_names",
    "spare_look",
]


class _Selectors(Plugins[Selector]):
    """Selectors by name; a user's own may have no label of another."""

    def _own(self, place: str) -> type[Selector]:
        part = super()._own(place)
        if why := unknown_argument(part):
            raise OwnPartError(why)
        label = _own_label(part)
        if same := next((name for name in self if look_of(name).label.casefold() == label.casefold()), None):
            raise OwnPartError(f"has the label of '{same}', {label!r}: give it another, label = \"…\"")
        return part


#: In the order of tables.
SELECTORS = _Selectors(
    "selector",
    Selector,  # type: ignore[type-abstract]
    {
        "pause": Pause,
        "pause_brute": BrutePause,
        "sa_pause": SaPause,
        "sa_pause_v1": SaPauseV1,
        "sa_pause_best_gain": SaPauseBestGain,
        "sa_vanilla": SaVanilla,
        "bsfl": Bsfl,
        "alsa": Alsa,
        "sa_bsfl": SaBsfl,
        "genie": Genie,
        "random": Random,
        "random_by_size": RandomBySize,
        "fedavg": Everyone,
        "fedavg_no_privacy": EveryoneInTheClear,
        "fastest": Fastest,
        "clustered_size": ClusteredBySize,
        "clustered_similarity": ClusteredBySimilarity,
        "cs_ucb": CsUcb,
        "cs_ucb_q": CsUcbQ,
        "sweep": Sweep,
        "tifl": Tifl,
        "fedcs": FedCs,
        "power_of_choice": PowerOfChoice,
        "pow_d": PowD,
        "oort": Oort,
    },
)


def selector_names() -> list[str]:
    """Names of all selectors that come with pausefl, in the order of tables."""
    return list(SELECTORS)


def look_of(name: str) -> Look:
    """Look of a selector; `ConfigError` with the nearest name if there is none.

    One without a look of its own, which may have inherited another's, gets a spare one.
    """
    part, taken = SELECTORS.find(name), set()
    for other in SELECTORS:
        if other == name:
            break
        taken.add(SELECTORS[other].look)
    if part.look is not None and part.look not in taken:
        return part.look
    label = _own_label(part) if ":" in name else name.replace("_", " ").capitalize()
    return own_look(name, label, part.color, {look[1:4] for look in taken if look is not None})


def in_legend_order(names: Iterable[str]) -> list[str]:
    """Each selector once, in the fixed order of the legends; raises as `look_of`."""
    looks = {name: look_of(name) for name in sorted(set(names))}
    known = list(SELECTORS)
    return sorted(looks, key=lambda name: (-(looks[name].legend or looks[name].zorder), known.index(name)))


def _own_label(part: type[Selector]) -> str:
    return part.label or words(part.__name__)


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
