# What can be asked for by name besides rules: the demo, studies, each scenario, figure, study and claim.
rule demo:
    """everything on an embedded data set, in minutes"""
    input:
        files_of("demo"),
    localrule: True


rule studies:
    """all studies without training"""
    input:
        files_of("studies"),
    localrule: True


rule benchmark:
    """selectors side by side, beyond the papers"""
    input:
        files_of("benchmark"),
    localrule: True


# Aliases: `snakemake pause_v2_fig8` makes results/figures/pause_v2_fig8.pdf.
for name in targets.aliases(W):

    rule:
        name:
            name
        input:
            files_of(name),
        localrule: True


rule unknown:
    """fails for any other name, and says which is nearest"""
    input:
        lambda w: files_of(w.name),
    output:
        touch("{name}"),
    # What is there is somebody's input.
    wildcard_constraints:
        name=rf"(?!({one_of(filter(str.isidentifier, os.listdir()))})$)\w+",
