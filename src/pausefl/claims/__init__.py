"""Whether the papers' claims hold in finished runs and studies, and how clearly.

`load` reads ``config/claims.yaml``, `records` the runs and studies. Kinds of tests are in `on_runs`,
`on_studies` and `on_instances`. `verdicts` combines their comparisons, `page` writes them.
"""
