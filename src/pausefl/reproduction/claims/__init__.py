"""Whether the papers' claims hold in finished runs and studies, and how clearly.

`load` reads ``config/claims.yaml``, `records` the runs and studies. A kind of test is a class of `on_runs` or
`on_studies`; it makes comparisons, which `statistics` decides. `verdicts` combines them, `words` and `page`
write them.
"""
