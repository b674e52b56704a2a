# The papers' figures of accuracy at a glance, and the questions that a reader asks first: what opens the report.
from pausefl.workflow import code, paths

if paths.overview(W):

    rule write_overview:
        """six figures at a glance, and a reader's first questions"""
        input:
            **paths.overview_inputs(W),
        output:
            pdf="results/figures/overview.pdf",
            png=report(
                "results/figures/overview.png",
                caption="../report/caption.rst",
                category="Overview",
                labels={"content": "figures at a glance"},
            ),
            svg="results/figures/overview.svg",
            sidecar="results/figures/overview.json",
            csv="results/tables/questions.csv",
            text=report(
                "results/tables/questions.md",
                caption="../report/caption.rst",
                category="Overview",
                labels={"content": "questions and answers"},
            ),
        log:
            "results/logs/overview.log",
        benchmark:
            "results/benchmarks/overview.tsv"
        params:
            folders=[str(folder) for folder in W.folders],
            code=code.overview(),
            script=code.script(workflow.source_path("../scripts/overview.py")),
        script:
            "../scripts/overview.py"
