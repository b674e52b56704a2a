# What can be asked for by name: the demo, a scenario, a figure, a study, the claims. `all` is in the root Snakefile.


rule demo:
    input:
        [scenario_outputs(name) for name in DEMO.scenarios],
        [claims_outputs(scale) for scale in scales(CLAIMS, DEMO.scenarios, ())],


for name, scenario in SCENARIOS.items():

    rule:
        name:
            name
        input:
            scenario_outputs(name),

    for figure, kind in scenario.figures.items():

        rule:
            name:
                figure
            input:
                figure_paths(name, kind),


STUDY_OUTPUTS = (
    RUNS_OUTPUTS
    | {name: search_outputs(name) for studies in SEARCHES.values() for name in studies}
    | AUDIT_OUTPUTS
)


rule claims:
    input:
        claims_asked_for,


rule studies:
    input:
        list(STUDY_OUTPUTS.values()),


for study, outputs in STUDY_OUTPUTS.items():

    rule:
        name:
            study
        input:
            outputs,


# A name that no rule above has is taken for a file in the working directory, and ends here.
rule no_such_target:
    input:
        refuse,
    output:
        "{name,[^/.]+}",
