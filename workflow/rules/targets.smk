# What can be asked for by name: everything, the demo, a scenario, a figure.


def scenario_outputs(name):
    """Everything that a scenario ends in."""
    return [
        f"results/tables/{name}/summary.md",
        *[path for kind in CURVES for path in figure_paths(name, kind)],
        *[partition_path(name, seed, "png") for seed in SEEDS[name]],
    ]


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


def refuse(wildcards):
    """Say why a name that is no target cannot be asked for."""
    folder = Path(config["scenarios"])
    for name in scenario_names(folder):
        scenario = load_scenario(name, folder)
        if wildcards.name == name or wildcards.name in scenario.figures:
            missing = unavailable(scenario, scenario.selectors)
            why = f" Not available yet: {', '.join(missing)}." if missing else ""
            raise WorkflowError(
                f"'{wildcards.name}' needs scenario '{name}', which the configuration's table does not list.{why}"
            )
    targets = {rule.name for rule in workflow.rules if not rule.output}
    raise WorkflowError(f"unknown target '{wildcards.name}'. {suggest(wildcards.name, targets)}")


# A name that no rule above has is taken for a file in the working directory, and ends here.
rule no_such_target:
    output:
        "{name,[^/.]+}",
    input:
        refuse,
