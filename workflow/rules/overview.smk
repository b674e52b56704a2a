# The papers' figures of accuracy at a glance, and the questions that a reader asks first: what opens the report.
from pausefl.registry.figures import LOGGED
from pausefl.settings import load_scenario
from pausefl.workflow import paths

if paths.overview(W):

    rule write_overview:
        """six figures at a glance, and a reader's first questions"""
        input:
            **{name: of_checkout(files) for name, files in paths.overview_inputs(W).items()},
        output:
            pdf="results/figures/overview.pdf",
            png=report(
                "results/figures/overview.png",
                caption="../report/caption.rst",
                category="Overview",
                labels={"content": "figures at a glance"},
            ),
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
            logged={
                name: load_scenario(name, *W.folders).as_dict() for name in dict.fromkeys(LOGGED.values())
            },
            code=code_of("overview"),
        script:
            "../scripts/overview.py"
