"""Whether the papers' claims hold in finished runs and studies, and how clearly.

`pausefl.settings.claims` reads the claims, `records` the runs and studies. Tests are in `kinds` (on runs),
`laws` (on studies) and `searches` (on random instances). `verdicts` combines them, `page` writes them.
"""
