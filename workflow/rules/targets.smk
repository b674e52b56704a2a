# What can be asked for by name: the demo, a scenario, a figure, a study, the claims. `all` is in ../Snakefile.
from pausefl.workflow import targets

# A rule without output is known by its name alone, so no wildcard can stand for these.
for target, files in targets.named(W).items():

    rule:
        name:
            target
        input:
            files,
        localrule: True
