"""Whether the papers' claims hold in finished runs and studies, and how clearly.

`load` reads ``config/claims.yaml``, `records` the runs and studies. Kinds of tests are in `on_runs`
and `on_studies`. `verdicts` combines their comparisons, `page` writes them.
"""
