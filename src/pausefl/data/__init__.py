"""Data sets and their partition among users."""
