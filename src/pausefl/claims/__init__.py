"""Whether the papers' claims hold in the runs that are there: how clearly, and from which runs.

`settings` reads the claims, `records` the runs and studies they are tested on. `kinds` has the tests on runs,
`laws` those on studies, `searches` those that need neither. `verdicts` puts them together, `page` writes them
down.
"""
