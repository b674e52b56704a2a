"""Computation of local training: one meaning, several backends."""
