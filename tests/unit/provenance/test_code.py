"""The hash of the code changes with what can change a result, and with nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import pausefl
from pausefl.provenance import code_hash, hardware, peak_memory_bytes, versions

Edit = Callable[[str], str]
#: Of a job of `pause`.
JOB = code_hash("pausefl.federated.job", selectors=["pause"])


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package that may be edited."""
    return Path(
        shutil.copytree(
            Path(pausefl.__file__).parent, tmp_path / "pausefl", ignore=shutil.ignore_patterns("__pycache__")
        )
    )


def hash_of(package: Path, module: str = "pausefl.federated.job", selector: str = "pause") -> str:
    code = (
        "import pausefl.provenance.code as p;"
        f"assert p.__file__ == {str(package / 'provenance.py')!r}, p.__file__;"
        f"print(p.code_hash({module!r}, selectors=[{selector!r}]))"
    )
    environment = os.environ | {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def edit(package: Path, module: str, old: str, new: str) -> None:
    path = package / module
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_a_copy_of_the_package_has_the_hash_of_the_original(package: Path) -> None:
    assert hash_of(package) == JOB


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("job.py", '"trained": job.train', '"trained": not job.train'),
        ("privacy/mechanisms.py", "self.width / 2", "self.width / 3"),
        ("privacy/__init__.py", "__all__ =", "__all_names__ ="),
        ("selectors/exact.py", "gain_own >= gain_other", "gain_own > gain_other"),
        ("selectors/search.py", "len(unseen) >= m", "len(unseen) > m"),
        ("registry.py", '"exact", "Pause")', '"exact", "Pause", private=False)'),
        ("training/kernels.py", "delta[r, label] -= 1", "delta[r, label] -= 2"),
        ("data/partition.py", "QUALITY_RANGE = (0.2, 1.0)", "QUALITY_RANGE = (0.3, 1.0)"),
        ("streams.py", "SeedSequence(self.seed", "SeedSequence(self.seed + 1"),
    ],
)
def test_an_edit_of_any_module_a_job_imports_changes_its_hash(
    package: Path, module: str, old: str, new: str
) -> None:
    edit(package, module, old, new)
    assert hash_of(package) != JOB


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        pytest.param("job.py", '"""Run one job', '"""Do one job', id="docstring of a function"),
        pytest.param("rewards.py", '"""R1: the', '"""R1: a', id="docstring of a class"),
        pytest.param("streams.py", '"""Named random', '"""All random', id="docstring of a module"),
        pytest.param("streams.py", "import zlib", "# why\nimport zlib  # here", id="comment"),
        pytest.param("streams.py", "import zlib", "\n\nimport zlib", id="blank lines"),
        pytest.param("job.py", '{"rounds.parquet"', "{'rounds.parquet'", id="quotes"),
        pytest.param(
            "selectors/exact.py",
            "exploitation: float) -> None:\n        super()",
            'exploitation: float) -> None:\n        """Keep both."""\n        super()',
            id="docstring where there was none",
        ),
    ],
)
def test_comments_docstrings_and_layout_do_not_count(package: Path, module: str, old: str, new: str) -> None:
    edit(package, module, old, new)
    assert hash_of(package) == JOB


@pytest.mark.parametrize("module", ["figures/curves.py", "figures/style.py", "tables.py", "cli.py"])
def test_what_a_job_does_not_import_does_not_count(package: Path, module: str) -> None:
    path = package / module
    path.write_text(path.read_text(encoding="utf-8") + "\nEDITED = True\n", encoding="utf-8")
    assert hash_of(package) == JOB
    name = "pausefl." + module.removesuffix(".py").replace("/", ".")
    assert hash_of(package, name) != code_hash(name, selectors=["pause"])


def test_a_module_imported_by_name_from_its_package_counts(package: Path) -> None:
    edit(package, "streams.py", "import zlib", "import zlib\n\nfrom pausefl.figures import style as style")
    before = hash_of(package)
    path = package / "figures" / "style.py"
    path.write_text(path.read_text(encoding="utf-8") + "\nEDITED = True\n", encoding="utf-8")
    assert hash_of(package) != before != JOB


def test_several_modules_have_one_hash_whatever_their_order() -> None:
    both = code_hash("pausefl.streams", "pausefl.training.models")
    assert both == code_hash("pausefl.training.models", "pausefl.streams")
    assert both not in (code_hash("pausefl.streams"), code_hash("pausefl.training.models"))


def test_a_hash_is_sixteen_hexadecimal_digits() -> None:
    assert len(code_hash("pausefl.streams")) == 16
    assert int(code_hash("pausefl.streams"), 16) >= 0
    assert code_hash("pausefl.streams") != code_hash("pausefl.bandit.latency")


def test_versions_name_everything_a_job_computes_with() -> None:
    found = versions()
    assert set(found) == {"python", "pausefl", "torch", "numpy", "pandas", "pyarrow", "numba"}
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert all(found.values())


def test_hardware_and_memory_are_told() -> None:
    assert set(hardware()) == {"machine", "processor", "cores", "system"}
    assert hardware()["cores"] == os.cpu_count()
    assert 10**6 < peak_memory_bytes() < 10**13


NEW_SELECTOR = """SELECTORS = {
    "newest": SelectorInfo("newest", "Newest"),
"""


def test_another_selector_changes_the_hash_of_no_other_job(package: Path) -> None:
    (package / "selectors" / "newest.py").write_text("class Newest: ...\n", encoding="utf-8")
    edit(package, "registry.py", "SELECTORS = {\n", NEW_SELECTOR)
    assert hash_of(package) == JOB
    assert hash_of(package, selector="newest") != JOB


def test_an_edit_of_one_family_of_selectors_reruns_its_jobs_alone(package: Path) -> None:
    before = hash_of(package, selector="sa_pause")
    edit(package, "selectors/annealing.py", "_OMEGA = 1e-9", "_OMEGA = 1e-8")
    assert hash_of(package) == JOB
    assert hash_of(package, selector="sa_pause") != before
