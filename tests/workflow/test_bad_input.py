"""A mistake is a message before any job starts; what the messages say of a key is tested with the library."""

from __future__ import annotations

import shutil
from pathlib import Path

from workspace import Checkout


def refusal(checkout: Checkout, *arguments: str) -> str:
    """What a run prints that must fail before it starts a job."""
    output = checkout.snakemake("--cores", "1", *arguments, ok=False)
    assert "Traceback (most" not in output
    assert not list(checkout.root.glob("results/logs/job*"))
    assert not list(checkout.root.glob("data/prepared/*.npz"))
    return output


def test_a_misspelt_name(checkout: Checkout) -> None:
    output = refusal(checkout, "tiny_acuracy")
    assert "unknown target 'tiny_acuracy', or not part of this configuration." in output
    assert "Did you mean 'tiny_accuracy'?" in output


def use_mnist(checkout: Checkout) -> Path:
    """Make the tiny scenario one of MNIST; returns where its raw files belong."""
    checkout.write_scenario(data={"source": "mnist", "test_fraction": None})
    return checkout.root / "data/raw/MNIST/raw"


def test_missing_data_are_named_with_a_remedy(checkout: Checkout) -> None:
    folder = use_mnist(checkout)
    output = refusal(checkout)
    assert f"{folder}/train-images-idx3-ubyte" in output
    assert "set data_root" in output


def test_data_are_never_downloaded_beside_others(checkout: Checkout) -> None:
    folder = use_mnist(checkout)
    checkout.write_config(download=True)
    folder.mkdir(parents=True)
    (folder / "train-images-idx3-ubyte").write_bytes(b"1234")
    assert "data/raw/MNIST lacks files: move it elsewhere" in refusal(checkout, "tiny")
    assert len(list(folder.iterdir())) == 1


def test_the_partition_of_other_settings_is_refused(copy: Checkout) -> None:
    (mine,) = copy.root.glob("data/partitions/digits-*/*-K4-*/seed-0.npz")
    # The other is made by the workflow, too, and put in its place.
    other = mine.with_name("seed-1.npz")
    shutil.rmtree(copy.root / "results")
    shutil.copy(other, mine)
    output = copy.snakemake("--cores", "1", "tiny", ok=False)
    name = mine.relative_to(copy.root / "data/partitions").parent
    assert f"seed-0.npz: is partition {name}/seed-1, and {name}/seed-0 is needed; " in output
    assert not list(copy.root.glob("results/runs/tiny/*/seed-0/summary.json"))


def test_numbers_of_the_command_line_are_numbers(checkout: Checkout) -> None:
    row = "experiments=[{scenario: tiny, selectors: [pause], seeds: [7, 8]}]"
    assert checkout.planned("--config", row, "--", "tiny")["job"] == 2
    output = refusal(checkout, "--config", row.replace("8", "x"), "--", "tiny")
    assert "experiments.0.seeds.1 = 'x' must be a valid integer" in output
