"""Regret against rounds: on straight axes as in the papers, and on logarithmic ones to tell laws apart."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from pausefl.figures.panels import Plotted, bands_of, plot_bands, two_panels
from pausefl.figures.style import theme
from pausefl.registry.selectors import look_of
from pausefl.settings.studies import Runs
from pausefl.studies.growth import FIT_SPAN, MEAN, fits, growth, law_value

#: What the legend calls each law of growth.
_LAWS = {
    "constant": "constant",
    "logarithmic": r"$\ln t$",
    "root": r"$\sqrt{{t\,\ln t}}$",
    "linear": "$t$",
    "power": "$t^{{{b:.2f}}}$",
}


def plot(tables: Mapping[str, pd.DataFrame], study: Runs) -> Plotted:
    """Figure, ``regret`` of all runs, ``fits`` and ``growth`` of `pausefl.studies.regret.compute`."""
    runs = pd.concat(tables.values(), ignore_index=True)
    laws = fits(runs)
    figure = plot_regret(runs, laws, study.title)
    return Plotted(figure, {"regret": runs, "fits": laws, "growth": growth(runs)})


def plot_regret(runs: pd.DataFrame, laws: pd.DataFrame, title: str) -> Figure:
    """Regret of all selectors, and the preferred law of its mean over seeds.

    Parameters
    ----------
    runs, laws
        What `pausefl.studies.growth.fits` takes and returns.
    title
        Of the study.
    """
    bands = bands_of(runs, "regret")
    preferred = laws[laws["preferred"] & (laws["seed"] == MEAN)]
    of_mean = {name: law for name, *law in preferred[["selector", "law", "a", "b"]].to_numpy().tolist()}
    with theme():
        figure, straight, logarithmic = two_panels(title, "Round", ("Pseudo-regret", "Pseudo-regret"))
        plot_bands(straight, bands)
        straight.ticklabel_format(useMathText=True)
        lines = plot_bands(logarithmic, bands)
        logarithmic.set(xscale="log", yscale="log")
        logarithmic.minorticks_off()
        labels = []
        for selector, curve in bands.items():
            law, a, b = of_mean[selector]
            t = curve.x[curve.x >= curve.x[-1] / FIT_SPAN]
            guide = logarithmic.plot(t, law_value(law, a, b, t), color="black", linewidth=0.6, zorder=5)
            labels.append(f"{look_of(selector).label}: {_LAWS[law].format(b=b)}")
        figure.legend([*lines, *guide], [*labels, "Law fitted"], loc="outside lower center", ncols=3)
    return figure
