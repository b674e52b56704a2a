# What can be asked for by name: the demo, a scenario, a figure, a study, the claims. `all` is in ../Snakefile.
from pausefl.workflow import targets

TITLES = targets.titles(W)

# A rule without output is known by its name alone, so no wildcard can stand for these.
for target, files in targets.named(W).items():

    rule:
        name:
            target
        input:
            lambda wildcards, files=files: files,
        localrule: True

    # A docstring in a rule is a constant; `--list-target-rules` shows this one.
    getattr(rules, target).rule.docstring = TITLES[target]
