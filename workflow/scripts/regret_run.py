"""Play one selector against the genie."""

from common import logged
from pausefl.settings import scenario_from_dict
from pausefl.studies.regret import run

selector, seed, params = snakemake.wildcards.selector, int(snakemake.wildcards.seed), snakemake.params
with logged(snakemake.log[0]):
    # Like a job, a run is not told what only tables and figures read.
    presentation = {"title": snakemake.wildcards.study, "selectors": [selector], "figures": {}}
    scenario = scenario_from_dict({**params.settings, **presentation})
    table = run(scenario, selector, seed, params.n_rounds)
    table.insert(0, "selector", selector)
    table.insert(1, "seed", seed)
    table.to_parquet(snakemake.output[0], index=False)
