"""A folder that nobody may write, and what a full disk leaves."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
from functools import partial
from pathlib import Path

import pytest
from workspace import TINY_STUDIES, Checkout

#: Where the results of rules are; the rest says how a step went.
RESULTS = [f"results/{name}" for name in ("collected", "tables", "figures", "studies", "claims", "report")]


def test_a_folder_that_nobody_may_write_is_refused_in_a_sentence(copy: Checkout) -> None:
    (copy.root / "results/figures/tiny_accuracy.pdf").unlink()
    for folder, more in ((copy.root / ".snakemake", ["--dry-run"]), (copy.root / "results", [])):
        folder.chmod(0o555)
        try:
            output = copy.snakemake("--cores", "1", *more, ok=False, before=lose_power)
        finally:
            folder.chmod(0o755)
        assert f"cannot write to output folder {folder.relative_to(copy.root)}: Permission denied" in output
        assert "Traceback" not in output
        assert "1 of " not in output  # no step is finished


def lose_power() -> None:
    """Let permissions hold for root too, in this process and those that it starts."""
    if os.geteuid() == 0:
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            if ctypes.CDLL(None).prctl(24, capability, 0, 0, 0):  # PR_CAPBSET_DROP
                raise OSError("cannot drop a capability")


def contents(checkout: Checkout) -> dict[Path, bytes]:
    """Files of results, by their path in the checkout; temporary ones, too."""
    files = [path for name in RESULTS for path in (checkout.root / name).rglob("*")]
    files += (checkout.root / "data/partitions").rglob("*.png")
    files = [path for path in files if path.is_file() and path.name != ".snakemake_timestamp"]
    return {path.relative_to(checkout.root): path.read_bytes() for path in files}


@pytest.mark.slow
def test_a_full_disk_leaves_no_part_that_counts_as_finished(copy: Checkout) -> None:
    kinds = ("regret", "generalization")
    copy.write_config(studies="config/studies.yaml")
    copy.write_studies({kind: TINY_STUDIES[kind] for kind in kinds})
    copy.snakemake("--cores", "2", "all")
    whole = contents(copy)
    suffixes = {path.suffix for path in whole}
    assert suffixes == {".parquet", ".jsonl", ".csv", ".md", ".json", ".png", ".pdf", ".tex", ".html"}
    sizes = sorted(map(len, whole.values()))
    for name in RESULTS:
        shutil.rmtree(copy.root / name, ignore_errors=True)
    for picture in (copy.root / "data/partitions").rglob("*.png"):
        picture.unlink()
    # No file can have more bytes: two sizes, the last of them enough for all files but the largest.
    made = []
    for limit in (sizes[len(sizes) // 2] - 1, sizes[-1] - 1):
        full = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        output = copy.snakemake("--cores", "2", "--keep-going", "all", ok=False, before=full)
        found = contents(copy)
        assert found.items() <= whole.items(), output
        made.append(len(found))
    assert made[0] < made[1]
    copy.snakemake("--cores", "2", "all")
    assert contents(copy) == whole
    assert copy.planned() == {}
