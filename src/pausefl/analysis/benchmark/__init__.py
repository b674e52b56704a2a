"""The selection benchmark: selectors in several worlds, under the same seeds.

`pausefl.analysis.benchmark.suite` says what is run, `training` runs a newcomer's jobs, `comparisons` has the
statistics, `figures` the pictures, and `page` puts all of it into one folder.
"""
