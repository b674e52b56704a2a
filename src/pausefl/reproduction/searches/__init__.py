"""Annealing as the papers have it: neighbours that are listed, and graphs of swaps."""
