"""Curves and bands of vector pictures, without the points that nobody would miss."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.backend_bases import GraphicsContextBase, RendererBase
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.path import Path as Curve
from matplotlib.patheffects import AbstractPathEffect
from matplotlib.transforms import IdentityTransform, Transform


class _Simplified(AbstractPathEffect):
    """Draws a curve or a band without the points that nobody would miss, even at high zoom.

    Matplotlib thins out lines only, never the outline of a band, and writes six decimals.
    """

    #: How far from the curve a point counts as on it, in 1/72 inch (others end up at most twice as far), and
    #: decimals of what is left.
    _TOLERANCE, _DECIMALS = 0.04, 2

    def draw_path(
        self,
        renderer: RendererBase,
        gc: GraphicsContextBase,
        tpath: Curve,
        affine: Transform,
        rgbFace: Any = None,
    ) -> None:
        curve = tpath.transformed(affine)
        if curve.codes is None or np.isin(curve.codes, (Curve.MOVETO, Curve.LINETO, Curve.CLOSEPOLY)).all():
            curve.simplify_threshold = self._TOLERANCE
            curve = curve.cleaned(simplify=True, remove_nans=True)
        thin = Curve(np.round(np.asarray(curve.vertices), self._DECIMALS), curve.codes)
        thin.should_simplify = False
        renderer.draw_path(gc, thin, IdentityTransform(), rgbFace)


def simplify_curves(figure: Figure) -> None:
    """From now on, draw curves and bands of a figure with `_Simplified`; markers stay as they are."""
    for artist in figure.findobj():
        if isinstance(artist, PolyCollection) or (
            isinstance(artist, Line2D) and artist.get_marker() in ("None", "none", "", " ", None)
        ):
            artist.set_path_effects([_Simplified()])
