"""What several settings do together: all combinations of their levels, under the same seeds.

Streams depend on the seed alone, so runs with two levels of a factor are paired by seed and by the levels of
all other factors. The effect of a level is the mean of its gaps to the base level over these combinations;
the seeds give its interval.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import pandas as pd
from pydantic import model_validator

from pausefl.analysis import markdown
from pausefl.analysis.figures.panels import Plotted, new_panels, shades
from pausefl.analysis.figures.style import legend_key
from pausefl.analysis.formats import interval, number
from pausefl.analysis.intervals import across_seeds
from pausefl.analysis.measures import measure
from pausefl.analysis.statistics import LEVEL, gaps, holm_adjusted, judge
from pausefl.errors import ConfigError
from pausefl.reproduction.studies.base import Note, Runs, SeededStudy, Tables
from pausefl.runs.collected import read_run
from pausefl.runs.run_id import RunId
from pausefl.schema.base import Settings
from pausefl.schema.types import Name, Text
from pausefl.settings import Scenario
from pausefl.settings.dotted_keys import with_values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The key of a level that names a selector, not a setting.
_SELECTOR = "selector"


class Measured(NamedTuple):
    """A measure of a run, for tables and axes."""

    title: str
    #: Factor and format of values for people.
    factor: float
    form: str
    #: Whether levels are compared by ratios, not differences.
    ratio: bool


#: What is compared.
MEASURES = {
    "n_rounds": Measured("Rounds", 1, ".0f", True),
    "mean_round_s": Measured("Mean round (s)", 1, ".2f", True),
    "unevenness": Measured("Participations,\nlargest over mean", 1, ".2f", True),
    "spent_max": Measured("Largest budget\nspent (ε)", 1, ".2f", True),
    "accuracy": Measured("Accuracy (%)", 100, ".1f", False),
}


class Factor(Settings):
    """Settings that change together, and their levels."""

    title: Text
    """What tables and axes call it."""
    levels: dict[str, dict[str, Any]]
    """Levels by what they are called: dotted keys of the scenario and their values, and `selector`."""
    base: Text
    """The level that the others are compared with."""

    @model_validator(mode="after")
    def _has_base(self) -> Self:
        if self.base not in self.levels:
            raise ValueError(f"base: '{self.base}' is not among levels: {', '.join(self.levels)}")
        if len(self.levels) < 2:
            raise ValueError("levels: at least two are needed")
        return self


class Factorial(SeededStudy):
    """What settings do in all combinations of their levels, with training."""

    label = "settings in all combinations"
    beyond = True

    factors: dict[Name, Factor]
    """Factors by name. In the figure the first is the abscissa, the second has colours, the third markers,
    and the fourth panels side by side."""

    @property
    def trained(self) -> bool:
        """Whether it collects `runs`."""
        return True

    @property
    def time_s(self) -> float:
        """Simulated seconds of each run."""
        return self.scenario.training.horizon

    @cached_property
    def cells(self) -> dict[tuple[str, ...], tuple[Scenario, str]]:
        """The scenario and the selector of each combination of levels."""
        combinations = {}
        for levels in product(*(factor.levels for factor in self.factors.values())):
            keys: dict[str, Any] = {}
            for factor, level in zip(self.factors.values(), levels, strict=True):
                keys |= factor.levels[level]
            selector = keys.pop(_SELECTOR, self.selectors[0])
            if selector not in self.selectors:
                raise ConfigError(f"factors: selector '{selector}' must be among selectors")
            scenario = with_values(self.scenario, keys, "factors") if keys else self.scenario
            combinations[levels] = self._named(scenario, levels), selector
        return combinations

    def _named(self, scenario: Scenario, levels: tuple[str, ...]) -> Scenario:
        """A changed scenario under the name that its jobs have."""
        words = [f"{name}_{level}" for name, level in zip(self.factors, levels, strict=True)]
        short = re.sub(r"[^a-z0-9]+", "_", "_".join(words).lower()).strip("_")
        title = f"{self.scenario.title}; {', '.join(words).replace('_', ' ')}"
        return scenario.replace(name=f"{self.scenario.name}_{short}", title=title, scale="own", figures={})

    @model_validator(mode="after")
    def _factors_are_valid(self) -> Self:
        if not 1 <= len(self.factors) <= 4:
            raise ValueError("factors: one to four can be shown")
        try:
            names = [scenario.name for scenario, _ in self.cells.values()]
        except ConfigError as error:
            raise ValueError(str(error)) from None
        if len({*names}) < len(names):
            raise ValueError("factors: two levels have names that differ in signs alone")
        return self

    @cached_property
    def runs(self) -> list[Runs]:
        """The jobs of each combination."""
        return [
            (scenario, [(selector, seed) for seed in self.seeds])
            for scenario, selector in self.cells.values()
        ]

    def compute(self, note: Note, folders: Mapping[RunId, Path]) -> Tables:
        """``runs.csv``, one row a run: a level for each factor, ``seed`` and the `MEASURES`."""
        rows = []
        for levels, (scenario, selector) in self.cells.items():
            note(", ".join(levels))
            key = dict(zip(self.factors, levels, strict=True))
            schedule = scenario.privacy.make_account() if scenario.privacy is not None else None
            for seed in self.seeds:
                rounds = read_run(folders[RunId(scenario.name, selector, seed)]).rounds
                found = measure(rounds, self.time_s, scenario.network.n_users, schedule)
                rows.append(key | {"seed": seed} | {name: found[name] for name in MEASURES})
        return {"runs.csv": pd.DataFrame(rows)}

    def plot(self, tables: Tables) -> Plotted:
        """The mean of each combination by each measure; ``cells``, these means, and ``effects``."""
        runs = self.with_levels(tables["runs.csv"])
        cells = across_seeds(runs.set_index([*self.factors, "seed"])[list(MEASURES)])
        return Plotted(self._draw(runs), {"cells.csv": cells, "effects.csv": self.effects(runs)})

    def with_levels(self, runs: pd.DataFrame) -> pd.DataFrame:
        """Rows with levels as they are called: a table that was read has numbers for some."""
        called = {
            name: {_plain(level): level for level in factor.levels} for name, factor in self.factors.items()
        }
        return runs.assign(
            **{name: runs[name].map(lambda value, of=of: of[_plain(value)]) for name, of in called.items()}
        )

    def effects(self, runs: pd.DataFrame) -> pd.DataFrame:
        """Each level of each factor against its base, over all combinations of the other factors.

        One row for each ``factor``, ``level`` and ``measure``: ``base``, ``gap``, a ratio of geometric means
        or a difference of means, ``low`` and ``high`` of its 95 % interval over seeds, ``p``, and ``p_holm``,
        corrected for all rows by Holm's procedure.
        """
        runs, rows = self.with_levels(runs), []
        for (name, factor), (measured, of) in product(self.factors.items(), MEASURES.items()):
            others = [other for other in self.factors if other != name] + ["seed"]
            by_level = runs.set_index([*others, name])[measured].unstack(name)
            for level in factor.levels:
                if level == factor.base:
                    continue
                bounds = gaps(by_level[level], by_level[factor.base], of.ratio)[:, 0]
                by_seed = pd.Series(bounds, by_level.index).groupby("seed").mean()
                decision = judge(by_seed.to_numpy(), -math.inf, 0.0)
                shown = np.array([decision.gap.mean, decision.gap.low, decision.gap.high])
                gap = dict(zip(("gap", "low", "high"), np.exp(shown) if of.ratio else shown, strict=True))
                key = {"factor": name, "level": level, "base": factor.base, "measure": measured}
                rows.append(key | gap | {"p": decision.p})
        table = pd.DataFrame(rows)
        return table.assign(p_holm=holm_adjusted(table["p"]))

    def to_markdown(self, runs: pd.DataFrame) -> str:
        """Table of the effects for people: a row a level, a column a measure."""
        effects, records = self.effects(runs), []
        for (name, level), own in effects.groupby(["factor", "level"], sort=False):
            factor = self.factors[str(name)]
            cells = {"Factor": factor.title, "Level": f"{level} for {factor.base}"}
            for row in own.to_dict("records"):
                of = MEASURES[row["measure"]]
                form, unit = (".2f", 1.0) if of.ratio else ("+.1f", of.factor)
                gap = number(unit * row["gap"], form)
                gap = f"**{gap}**" if row["p_holm"] < LEVEL else gap
                words = re.sub(r" \(.*\)$", "", of.title.replace("\n", " "))
                title = f"{words} ({'ratio' if of.ratio else 'points'})"
                cells[title] = f"{gap} ({interval(unit * row['low'], unit * row['high'], form)})"
            records.append(cells)
        note = (
            "Means over all combinations of the other factors; 95 % intervals over seeds, paired. **Bold**: p"
            f" < 0.05 after Holm's correction for all {len(effects)} effects."
        )
        return markdown.of_records(records, note)

    def _draw(self, runs: pd.DataFrame) -> Any:
        """Means over seeds: a row of panels a measure."""
        names = list(self.factors) + [""] * (4 - len(self.factors))
        levels = [list(self.factors[name].levels) if name else [""] for name in names]
        figure, grid = new_panels((len(MEASURES), len(levels[3])), 1.35 * len(MEASURES) + 0.7, sharey="row")
        # The abscissa is in the order of levels, at equal distances.
        for (i, (measured, of)), (j, column) in product(enumerate(MEASURES.items()), enumerate(levels[3])):
            axes, own = grid[i, j], runs[runs[names[3]] == column] if names[3] else runs
            self._draw_panel(axes, own, measured, of, names, levels)
            if not i and names[3]:
                words = f"{self.factors[names[3]].title}: {column}"
                axes.set_title(words, loc="left", fontsize="small")
            if not j:
                axes.set_ylabel(of.title, fontsize="small")
            if i == len(MEASURES) - 1:
                axes.set_xlabel(self.factors[names[0]].title, fontsize="small")
        keys = []
        if names[1]:
            colors = _colors(len(levels[1]))
            keys = [legend_key(level, color=c) for level, c in zip(levels[1], colors, strict=True)]
            keys = [legend_key(f"{self.factors[names[1]].title}:", linestyle=""), *keys]
        if names[2]:
            keys.append(legend_key(f"{self.factors[names[2]].title}:", linestyle=""))
            keys += [legend_key(level, **_MARKS[k], color="0.3") for k, level in enumerate(levels[2])]
        if keys:
            figure.legend(handles=keys, loc="outside lower center", ncols=len(keys), handlelength=1.4)
        return figure

    def _draw_panel(
        self,
        axes: Axes,
        runs: pd.DataFrame,
        measured: str,
        of: Measured,
        names: list[str],
        levels: list[list[str]],
    ) -> None:
        colors = _colors(len(levels[1]))
        for (k, second), (mark, third) in product(enumerate(levels[1]), enumerate(levels[2])):
            own = runs
            for name, level in ((names[1], second), (names[2], third)):
                own = own[own[name] == level] if name else own
            by_level = own.groupby(names[0])[measured]
            mean, error = (of.factor * by_level.agg(what).reindex(levels[0]) for what in ("mean", "sem"))
            x = np.arange(len(levels[0])) + 0.06 * (k - (len(levels[1]) - 1) / 2)
            axes.errorbar(
                x, mean, error, color=colors[k], linewidth=1, elinewidth=0.7, markersize=3.5, **_MARKS[mark]
            )
        axes.set_xticks(range(len(levels[0])), levels[0])
        axes.margins(x=0.12)


#: Lines and markers of the third factor's levels.
_MARKS: tuple[dict[str, Any], ...] = (
    {"marker": "o", "linestyle": "-"},
    {"marker": "s", "linestyle": "--", "markerfacecolor": "white"},
    {"marker": "^", "linestyle": ":"},
    {"marker": "D", "linestyle": "-.", "markerfacecolor": "white"},
)


def _colors(n: int) -> list[str]:
    """Colours of the second factor's levels, from light to dark."""
    return ["#1F3B73"] if n == 1 else shades((0.62, 0.76, 0.92), (0.07, 0.17, 0.40), n)


def _plain(level: Any) -> str:
    """A level, without what differs between a number as text and as read: ``5`` of ``5.0``."""
    try:
        return f"{float(level):g}"
    except ValueError:
        return str(level)
