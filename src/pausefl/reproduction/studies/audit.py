"""How much the noise as implemented lets through: a lower bound on epsilon, beside the epsilon claimed.

Pure epsilon means P(E | one) <= e^eps P(E | other) for every event E, so any event bounds epsilon from below
(Jagielski et al. 2020, "Auditing differentially private machine learning"). The event is chosen on a part of
the trials and tested on the rest (Ding et al. 2018, "Detecting violations of differential privacy"), so all
bounds hold together by the union bound. Events are ends of the likelihood ratio of all values seen, and of
the difference and the sum of two of them, which are free of noise where it is reused.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.analysis.figures.panels import NOTE, Plotted, new_panels, shades
from pausefl.analysis.figures.style import legend_key
from pausefl.errors import PauseflError
from pausefl.plugins import build
from pausefl.privacy import MECHANISMS, SAMPLERS, Mechanism, Protection
from pausefl.reproduction.studies.base import AtLeastTwo, Floats, Note, Study, Tables
from pausefl.schema.types import Distinct, OneOf, Positive, Real, Seed, Whole
from pausefl.streams import Streams

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Bound of the audited mechanisms: the papers' Delta, and an L1 norm.
SENSITIVITY, CLIP_NORM = 0.012, 1.0

#: How large the updates are that must be clipped: so large that without clipping no noise hides them.
LARGE = 1e4

#: Coordinates of a wide update: more than the generator makes in one pass.
WIDE = 2048

#: Part of the trials that the event is chosen on.
CHOOSING = 0.25

#: Probabilities, of both data sets' trials together, beyond which events are tried.
_ENDS = 1 / (1 + np.exp(np.linspace(9, -9, 181)))

#: Dots of the observations of single coordinates, from large to small, as their bounds nearly coincide;
#: markers and shades of updates as a whole, from light to dark with the number of coordinates.
_SINGLE = [("o", "#0072B2", 7.0), ("s", "#8CCBF2", 4.6), ("D", "#0CA87C", 2.4), ("P", "#912B6B", 4.5)]
_UPDATES, _SHADES = ["v", "^", "<", ">"], ((0.78, 0.50, 0.05), (0.40, 0.12, 0.0))

#: Violations; what is claimed; colour, marker and place of the name, in points, of mechanisms in one panel.
_REFUTED = "#D00000"
_CROSS: dict[str, Any] = {"linestyle": "", "marker": "x", "color": _REFUTED}
_CROSS |= {"markersize": 9, "markeredgewidth": 1.5}
_DASHED: dict[str, Any] = {"linewidth": 0.7, "linestyle": (0, (4, 2))}
_LOOKS = {"coordinate": ("#D55E00", "o", (-6, 0)), "vector": ("#0072B2", "s", (0, 4))}


class Audit(Study):
    """Lower bounds on epsilon of the noise as implemented, beside what is claimed."""

    label = "what the noise lets through, beside what is claimed"
    judged = True

    mechanisms: Distinct[Annotated[str, OneOf(MECHANISMS)]]
    """Mechanisms to audit."""
    sampler: Annotated[str, OneOf(SAMPLERS)]
    """Where noise comes from; with `secure`, no two audits have the same numbers."""
    epsilons: Distinct[Positive]
    """Budgets of a participation to audit."""
    dimensions: Distinct[AtLeastTwo]
    """Whole updates of these numbers of coordinates are audited, besides single coordinates."""
    n_trials: Annotated[int, Whole(ge=100)]
    """Trials of each claim, for each of two data sets; a quarter of them choose what is tested."""
    confidence: Annotated[float, Real(gt=0, lt=1)]
    """Probability with which all bounds of the study hold together."""
    seed: Seed
    """Seed of the noise."""

    def parts(self) -> list[type]:
        """Classes of the mechanisms and the sampler."""
        return [*(MECHANISMS.find(name) for name in self.mechanisms), SAMPLERS.find(self.sampler)]

    def compute(self, note: Note) -> Tables:
        """Audit every claim.

        ``audit.csv``, one row for each ``mechanism``, ``epsilon`` and ``observation``: ``sampler``; what
        `audit` returns; ``ceiling``, the largest lower bound that the trials could have given; ``n_trials``
        for each of the two data sets; ``confidence`` with which all rows' bounds hold together; and
        ``violated``, whether the bound is above the claim.
        """
        seen = observations(self.dimensions)
        alpha = (1 - self.confidence) / (2 * len(self.mechanisms) * len(self.epsilons) * len(seen))
        rows: list[dict[str, object]] = []
        for name in self.mechanisms:
            mechanism = build(MECHANISMS.find(name), {"sensitivity": SENSITIVITY, "clip_norm": CLIP_NORM})
            sampler = build(SAMPLERS.find(self.sampler), {"streams": Streams(self.seed)})
            for epsilon in self.epsilons:
                note(f"{name}, epsilon {epsilon:g}")
                for observation in seen:
                    protection = Protection(mechanism, sampler, len(observation.releases[0].signs))
                    first = 2 * self.n_trials * len(rows)
                    row = audit(protection, observation, epsilon, self.n_trials, alpha, first)
                    rows.append({"mechanism": name, "sampler": self.sampler, **row})
        table = pd.DataFrame(rows)
        table["ceiling"] = ceiling(self.n_trials, alpha)
        table["n_trials"], table["confidence"] = self.n_trials, self.confidence
        table["violated"] = table["audited"] > table["claimed"]
        return {"audit.csv": table}

    def verdict(self, tables: Tables) -> str:
        """A line that every claim stands; `PauseflError` names each setting whose claim is refuted."""
        table = tables["audit.csv"]
        refuted = table[table["violated"]]
        if len(refuted):
            settings = [
                f"  {row['mechanism']} ({row['sampler']}), epsilon {row['epsilon']:g}, {row['observation']}:"
                f" {row['audited']:.3g} leak, {row['claimed']:.3g} are claimed"
                for row in refuted.to_dict("records")
            ]
            raise PauseflError("the privacy audit refutes a claim:\n" + "\n".join(settings))
        return f"None of {len(table)} claims is refuted."

    def plot(self, tables: Tables) -> Plotted:
        """Lower bounds against claims, a panel a mechanism, and those of whole updates against their size.

        The lower edge of the logarithmic panels is 0. A bound above its claim has a red cross.
        """
        table = tables["audit.csv"]
        looks, mechanisms = _looks(table), table["mechanism"].unique()
        figure, grid = new_panels((1, len(mechanisms) + 1), 3.1)
        *panels, last = grid[0]
        for axes, mechanism in zip(panels, mechanisms, strict=True):
            protected = MECHANISMS.find(mechanism).protects
            axes.set_title(f"“{mechanism}” protects each {protected}", weight="normal")
            _plot_claims(axes, table, mechanism, looks)
        panels[0].set_ylabel("ε audited (lower bound)")
        _plot_sizes(last, table)
        shown = [legend_key(**look) for look in looks.values()]
        labels = [name[0].upper() + name[1:] for name in looks]
        if table["violated"].any():
            shown.append(legend_key(**_CROSS))
            labels.append("VIOLATED: more than claimed")
        figure.legend(shown, labels, loc="outside lower center", ncols=3, handlelength=1.2)
        return Plotted(figure)


class Release(NamedTuple):
    """One update that leaves a user; ``user`` and ``round`` are added to the trial's."""

    #: (d,) direction of each coordinate for one of the two data sets, opposite for the other; 0 for values
    #: that the attacker knows.
    signs: NDArray[np.int8]
    #: Its budget, as a share of the epsilon that is audited.
    share: float = 1.0
    user: int = 0
    round: int = 0


class Observation(NamedTuple):
    """What the attacker sees in one trial, by its name in the table."""

    name: str
    #: In the order of their release, equally wide.
    releases: tuple[Release, ...]
    #: (p,) coordinates of each release that the tests look at.
    seen: NDArray[np.int64]

    @property
    def n_coordinates(self) -> int:
        """How many of the first update differ between the data sets."""
        return int(np.count_nonzero(self.releases[0].signs))

    def claimed(self, epsilon: float, mechanism: Mechanism) -> float:
        """What the releases leak together, by the mechanism's own composition over coordinates."""
        total = epsilon * sum(release.share for release in self.releases if release.signs.any())
        return mechanism.update_epsilon(total, self.n_coordinates)


def observations(dimensions: Sequence[int]) -> list[Observation]:
    """All observations, with whole updates of the given numbers of coordinates."""
    one, other, first = np.ones(1, np.int8), np.zeros(1, np.int8), np.arange(1)
    wide = np.zeros(WIDE, np.int8)
    wide[0] = 1
    powers_of_two = 1 << np.arange((WIDE - 1).bit_length())
    rounds = (Release(one), Release(-one, share=0.5, round=1))
    found = [
        Observation("one coordinate", (Release(one),), first),
        Observation(f"one coordinate of {WIDE:,}", (Release(wide),), np.append(0, powers_of_two)),
        Observation("one coordinate, two users", (Release(one), Release(other, user=1)), first),
        Observation("one coordinate, two rounds", rounds, first),
    ]
    for d in dimensions:  # signs are opposite wherever indices differ by one bit
        signs = np.array([1 - 2 * (i.bit_count() % 2) for i in range(d)], np.int8)
        found.append(Observation(f"update of {d} coordinates", (Release(signs),), np.arange(d)))
    return found


def clopper_pearson(hits: NDArray[np.int64], n: int, alpha: float) -> tuple[Floats, Floats]:
    """Clopper and Pearson's bounds on a probability of which ``hits`` of ``n`` trials are seen.

    Each of the two, the lower and the upper one, fails with probability ``alpha`` at most.
    """
    from scipy.special import betainccinv, betaincinv

    lower = np.where(hits > 0, betaincinv(np.maximum(hits, 1), n - hits + 1, alpha), 0.0)
    upper = np.where(hits < n, betainccinv(hits + 1, np.maximum(n - hits, 1), alpha), 1.0)
    return lower, upper


def epsilon_lower(hits: NDArray[np.int64], hits_other: NDArray[np.int64], n: int, alpha: float) -> Floats:
    """Lower bound on epsilon, 0 at least, from an event's hits in n trials each of two data sets."""
    at_least, at_most = clopper_pearson(hits, n, alpha)[0], clopper_pearson(hits_other, n, alpha)[1]
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(at_least / at_most), 0.0)


def ceiling(n_trials: int, alpha: float) -> float:
    """The largest bound that n_trials of each data set can give: every trial hits, and none of the other."""
    n = n_trials - int(CHOOSING * n_trials)
    return float(epsilon_lower(np.array(n), np.array(0), n, alpha))


def watch(
    protection: Protection, observation: Observation, epsilon: float, n_trials: int, first: int
) -> Floats:
    """Values (2, n_trials, releases, p) that are released for each of the two data sets.

    Trials are numbered from ``first`` on. Each has users and rounds of its own, so that noise that depends on
    one of the two alone still differs from trial to trial.
    """
    released = np.empty((2, n_trials, len(observation.releases), len(observation.seen)))
    for data, of_data in enumerate(released):
        large = np.float32(LARGE * (-1) ** data)
        updates = [large * release.signs.astype(np.float32) for release in observation.releases]
        for trial, of_trial in enumerate(of_data, start=first + data * n_trials):
            for of_release, update, one in zip(of_trial, updates, observation.releases, strict=True):
                budget, user, round = epsilon * one.share, 2 * trial + one.user, 2 * trial + 1 + one.round
                sent = update.copy()
                protection.release(sent, protection.noise(budget, user, round), budget, user, round)
                of_release[:] = sent[observation.seen]
    return released


def statistics(
    protection: Protection, observation: Observation, epsilon: float, released: Floats
) -> dict[str, Floats]:
    """The attacker's statistics (2, n_trials), by name, of what `watch` returns.

    Of one Laplace value y around c or -c at scale b, the log likelihood ratio is 2 sign(c) y / b, with y
    clamped to [-|c|, |c|]; those of independent values add up.
    """
    centres, scales = [], []
    for release in observation.releases:
        update = np.float32(LARGE) * release.signs.astype(np.float32)
        protection.mechanism.clip(update)
        centres.append(update[observation.seen].astype(np.float64))
        scales.append(protection.mechanism.scale(epsilon * release.share))
    centre, scale = np.array(centres), np.array(scales)[:, None]
    clamped = np.clip(released, -np.abs(centre), np.abs(centre))
    values = (released / scale).reshape(*released.shape[:2], -1)
    found = {"likelihood ratio": (2 * np.sign(centre) * clamped / scale).sum(axis=(2, 3))}
    for i in range(1, values.shape[2]):
        found[f"difference to {i}"] = values[..., 0] - values[..., i]
        found[f"sum with {i}"] = values[..., 0] + values[..., i]
    return found


class Event(NamedTuple):
    """The statistic, times ``sign``, is ``threshold`` or more.

    It is expected of the first data set where ``sign`` is 1, of the second where it is -1.
    """

    statistic: str
    sign: int
    threshold: float


def choose(found: dict[str, Floats], alpha: float) -> Event:
    """The event with the largest bound on these trials, of the statistics (2, n) given."""
    best, choice = -1.0, None
    for name, values in found.items():
        thresholds = np.append(np.quantile(values, _ENDS), 0.0)  # by symmetry, 0 parts what has no noise
        n = values.shape[1]
        for sign in (1, -1):
            at = sign * thresholds
            hits, hits_other = (n - np.searchsorted(np.sort(side), at) for side in sign * values[::sign])
            bounds = epsilon_lower(hits, hits_other, n, alpha)
            i = int(bounds.argmax())
            if bounds[i] > best:
                best, choice = float(bounds[i]), Event(name, sign, float(at[i]))
    assert choice is not None
    return choice


def audit(
    protection: Protection,
    observation: Observation,
    epsilon: float,
    n_trials: int,
    alpha: float,
    first: int = 0,
) -> dict[str, float | str]:
    """Audit of one claim, from n_trials of each of the two data sets, numbered from ``first`` on.

    ``protection`` is for updates as wide as the observation's, ``epsilon`` the budget of the first release.
    Either of the two rates is bounded wrongly with probability ``alpha``.

    ``observation``; ``n_coordinates``, how many of an update differ between the data sets; ``epsilon``,
    ``claimed`` and ``audited``, the lower bound; the ``statistic`` that gave it.
    """
    released = watch(protection, observation, epsilon, n_trials, first)
    found = statistics(protection, observation, epsilon, released)
    n_choosing = int(CHOOSING * n_trials)
    event = choose({name: values[:, :n_choosing] for name, values in found.items()}, alpha)
    rest = event.sign * found[event.statistic][:: event.sign, n_choosing:]
    hits, hits_other = (rest >= event.threshold).sum(axis=1)
    return {
        "observation": observation.name,
        "n_coordinates": observation.n_coordinates,
        "epsilon": epsilon,
        "claimed": observation.claimed(epsilon, protection.mechanism),
        "audited": float(epsilon_lower(hits, hits_other, n_trials - n_choosing, alpha)),
        "statistic": event.statistic,
    }


def _looks(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """How the dots of each observation are plotted."""
    firsts = table.drop_duplicates("observation").set_index("observation")["n_coordinates"]
    single, updates = firsts.index[firsts == 1], firsts[firsts > 1].sort_values().index
    dots = dict(zip(single, _SINGLE, strict=False))
    for marker, name, shade in zip(cycle(_UPDATES), updates, shades(*_SHADES, len(updates)), strict=False):
        dots[name] = marker, shade, 4.5
    return {
        name: {"linestyle": "", "marker": marker, "color": color, "markersize": size, "markeredgewidth": 0}
        for name, (marker, color, size) in dots.items()
    }


def _plot_claims(axes: Axes, table: pd.DataFrame, mechanism: str, looks: dict[str, dict[str, Any]]) -> None:
    """Bounds of one mechanism against its claims."""
    low, high, most = 0.6 * table["claimed"].min(), 1.5 * table["claimed"].max(), table["ceiling"].max()
    floor = low / 8
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(floor, 2 * most), xlabel="ε claimed")
    axes.plot([low, high], [low, high], color="black", linewidth=0.7)
    axes.fill_between([low, high], [low, high], 2 * high, color=_REFUTED, alpha=0.06, linewidth=0)
    axes.annotate("violated", (low, np.sqrt(low * most)), (6, 0), color=_REFUTED, **NOTE)
    axes.axhline(most, color="black", **_DASHED)
    axes.annotate("most that the trials can show", (low, most), (3, 2), **NOTE)
    ours = table[table["mechanism"] == mechanism].assign(height=np.maximum(table["audited"], floor))
    for name, look in looks.items():
        rows = ours[ours["observation"] == name]
        (dots,) = axes.plot(rows["claimed"], rows["height"], clip_on=False, zorder=3, **look)
        dots.set_in_layout(False)  # on the edge
    refuted = ours[ours["violated"]]
    axes.plot(refuted["claimed"], refuted["height"], zorder=4, **_CROSS)
    ticks = [tick for tick in (0.01, 0.1, 1, 10, 100) if 2 * floor < tick < 2 * most]
    axes.set_yticks([floor, *ticks], ["0", *[f"{tick:g}" for tick in ticks]])
    ticks = [tick for tick in (0.01, 0.1, 1, 10, 100) if low < tick < high]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


def _plot_sizes(axes: Axes, table: pd.DataFrame) -> None:
    """Bounds of whole updates against their number of coordinates, at the budget nearest to 1."""
    budgets = table["epsilon"].unique()
    epsilon = budgets[np.abs(np.log(budgets)).argmin()]
    of_updates = (table["n_coordinates"] > 1) | (table["observation"] == table["observation"].iloc[0])
    for mechanism, rows in table[of_updates & (table["epsilon"] == epsilon)].groupby("mechanism", sort=False):
        color, marker, place = _LOOKS[str(mechanism)]
        sizes = rows.sort_values("n_coordinates")
        axes.plot(sizes["n_coordinates"], sizes["claimed"], color=color, **_DASHED)
        look: dict[str, Any] = {"color": color, "marker": marker, "markersize": 4, "markeredgewidth": 0}
        axes.plot(sizes["n_coordinates"], sizes["audited"], linewidth=1.2, **look)
        end = (sizes["n_coordinates"].iloc[-1], sizes["claimed"].iloc[-1])
        axes.annotate(f"“{mechanism}”", end, place, color=color, ha="right", **NOTE)
    axes.set(xlabel="Coordinates of the update", ylabel="ε of the update", ylim=(0, None))
    axes.set_title(f"Budget ε = {epsilon:g}; dashed: claimed", weight="normal")
    axes.set_xticks(table.loc[of_updates, "n_coordinates"].unique())
