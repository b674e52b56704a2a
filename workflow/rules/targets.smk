# What can be asked for by name: the demo, a scenario, a figure, a study, the claims. `all` is in the root Snakefile.
FIGURE_OUTPUTS = {
    figure: figure_paths(name, kind)
    for name, scenario in SCENARIOS.items()
    for figure, kind in scenario.figures.items()
}

STUDY_OUTPUTS = (
    RUNS_OUTPUTS
    | {name: search_outputs(name) for studies in SEARCHES.values() for name in studies}
    | AUDIT_OUTPUTS
    | GENERALIZATION_OUTPUTS
)


if not CONFIG.published:

    rule demo:
        input:
            [scenario_outputs(name) for name in DEMO.scenarios],
            [claims_outputs(scale) for scale in scales(CLAIMS, DEMO.scenarios, ())],
            "results/report/demo.html",


for name in SCENARIOS:

    rule:
        name:
            name
        input:
            scenario_outputs(name),


for target, outputs in (FIGURE_OUTPUTS | STUDY_OUTPUTS).items():

    rule:
        name:
            target
        input:
            outputs,


# Figures of the papers of several parts, such as bsfl_fig5: a loss, and a regret.
for whole, parts in wholes(FIGURE_OUTPUTS | STUDY_OUTPUTS).items():

    rule:
        name:
            whole
        input:
            [(FIGURE_OUTPUTS | STUDY_OUTPUTS)[part] for part in parts],


rule claims:
    input:
        claims_asked_for,


# What a claim needs, for those who want to make nothing else.
for claim in CLAIMS:

    rule:
        name:
            f"claim_{claim.id}"
        input:
            lambda wildcards, claim=claim: claim_inputs(claim),


rule studies:
    input:
        list(STUDY_OUTPUTS.values()),


# A name that no rule above has is taken for a file in the working directory, and ends here.
rule no_such_target:
    input:
        refuse,
    output:
        "{name,[^/.]+}",
