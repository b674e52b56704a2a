"""Finished runs: reading, collecting and publishing them.

A job leaves ``rounds.parquet``, ``ledger.parquet`` and ``summary.json`` in a folder of its own. The runs of
a scenario, collected or published, are three files in one folder: ``rounds.parquet`` and ``ledger.parquet``
with the rows of all runs one below the other and ``selector`` and ``seed`` in front, and ``runs.jsonl`` with
the summary of a run in each line. Runs are sorted by selector and seed, so the same runs make the same bytes.
"""
