# What can be asked for by name: the demo, a scenario, a figure, a study, the claims. Some have a rule of their own.
for name, target in TARGETS.items():

    if name in ("all", "publish", "republish"):
        continue

    # A rule without output is known by its name alone, so no wildcard can stand for these.
    rule:
        name:
            name
        input:
            of_checkout(target.files),
        localrule: True

    # A docstring in a rule is a constant; `--list-target-rules` shows this one.
    getattr(rules, name).rule.docstring = target.title
