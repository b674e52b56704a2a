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


def test_damaged_prepared_data_name_the_file(copy: Checkout) -> None:
    for folder in ("data/partitions", "results"):
        shutil.rmtree(copy.root / folder)
    prepared = copy.root / "data/prepared/digits-test0.2.npz"
    content = prepared.read_bytes()
    prepared.write_bytes(content[: len(content) // 2])
    output = copy.snakemake("--cores", "1", ok=False)
    assert "digits-test0.2.npz" in output
    assert not list((copy.root / "results").glob("runs/*/*/*/summary.json"))
