# What can be asked for by name besides rules: the demo, studies, each scenario, figure, study and claim.
rule demo:
    """everything on an embedded data set, in minutes"""
    input:
        made("demo"),
    localrule: True


rule studies:
    """all studies without training"""
    input:
        made("studies"),
    localrule: True


rule benchmark:
    """selectors side by side, beyond the papers"""
    input:
        made("benchmark"),
    localrule: True


# Aliases: `snakemake pause_v2_fig8` makes results/figures/pause_v2_fig8.pdf.
for name in targets.aliases(W):

    rule:
        name:
            name
        input:
            made(name),
        localrule: True


rule unknown:
    """any other name: says which is nearest"""
    input:
        lambda w: made(w.name),
    output:
        touch("{name}"),
    wildcard_constraints:
        name=r"\w+",
