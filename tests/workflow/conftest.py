"""Checkouts for the workflow's tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from workspace import TINY_CLAIMS, TINY_STUDIES, Checkout, make_tiny_checkout, shared


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A fresh checkout with the tiny configuration; nothing has run in it."""
    return make_tiny_checkout(tmp_path / "checkout")


@pytest.fixture
def copy(finished: Checkout, tmp_path: Path) -> Checkout:
    """A copy of the finished checkout that a test may change."""
    return finished.copy(tmp_path / "copy")


@pytest.fixture(scope="session")
def everything(finished: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """The finished checkout, with studies of each kind, judged and published; not to be changed."""

    def make(folder: Path) -> None:
        checkout = finished.copy(folder)
        checkout.write_config(studies="config/studies.yaml")
        checkout.write_studies(TINY_STUDIES)
        checkout.write_claims(TINY_CLAIMS)
        reports = [f"results/report/{name}.html" for name in ("tiny", "tiny_regret")]
        checkout.snakemake("--cores", "2", "all", "publish", *reports)

    return shared(tmp_path_factory, "everything", make)
