"""The workflow as a module of another."""

from __future__ import annotations

from pathlib import Path

from workspace import Checkout, make_checkout

CONSUMER = """
configfile: "config/config.yaml"


module pausefl:
    snakefile:
        "{snakefile}"
    config:
        config


use rule * from pausefl


rule own:
    input: "results/tables/demo_small", "mine"
    output: "own_page"
    shell: "touch {{output}}"
"""


def test_another_workflow_needs_nothing_but_a_configuration(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "pausefl")
    consumer = Checkout(tmp_path / "consumer")
    (consumer.root / "config").mkdir(parents=True)
    (consumer.root / "src").symlink_to(checkout.root / "src")
    text = (checkout.root / "config/demo.yaml").read_text("utf-8")
    (consumer.root / "config/config.yaml").write_text(text, "utf-8")
    snakefile = CONSUMER.format(snakefile="../pausefl/workflow/Snakefile")
    (consumer.root / "Snakefile").write_text(snakefile, "utf-8")
    (consumer.root / "mine").touch()  # files of its own are not taken for misspelt names
    output = consumer.snakemake("--dry-run", "--printshellcmds", "demo", "own_page")
    assert (output.count("rule job:"), output.count("rule report:")) == (16, 1)
    assert "touch own_page" in output
