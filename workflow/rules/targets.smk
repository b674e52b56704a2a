# What can be asked for by name: everything, the demo, a scenario, a figure.


rule all:
    default_target: True
    input:
        [scenario_outputs(name) for name in CONFIG.scenarios],


rule demo:
    input:
        [scenario_outputs(name) for name in DEMO.scenarios],


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


localrules:
    all,
    demo,


# A name that no rule above has is taken for a file in the working directory, and ends here.
rule no_such_target:
    input:
        refuse,
    output:
        "{name,[^/.]+}",
