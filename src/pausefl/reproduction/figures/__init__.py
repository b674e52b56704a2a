"""Figures of the papers: their places, captions, deviations, and the authors' runs beside ours."""
