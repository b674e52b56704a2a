"""What an edit of code reruns: what imports it, and nothing else."""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import pausefl
from pausefl.provenance import code, code_hash, job_code
from pausefl.settings import Scenario, load_scenario

ROOT = Path(__file__).parents[3]
PACKAGE = Path(pausefl.__file__).parent
STYLE = "pausefl.analysis.figures.style"

Edit = Callable[[str, str, str], None]


@pytest.fixture
def edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Edit:
    """Edits a file of a copy of the package, which is hashed in its place."""
    copy = tmp_path / "pausefl"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("config", "docs", "__pycache__"))
    monkeypatch.setattr(code, "_ROOT", tmp_path)

    def change(file: str, old: str, new: str) -> None:
        text = (copy / file).read_text("utf-8")
        assert old in text
        (copy / file).write_text(text.replace(old, new, 1), "utf-8")
        forget()

    def forget() -> None:
        for cached in (code._hash_of, code._file, code._read):
            cached.cache_clear()

    forget()
    yield change
    forget()


@pytest.fixture
def scenario() -> Scenario:
    return load_scenario("demo_small", ROOT / "config/scenarios")


def jobs(scenario: Scenario) -> dict[str, str]:
    names = ("pause", "sa_pause", "random", "cs_ucb")
    return {name: job_code(scenario, name) for name in names}


def changed(scenario: Scenario, edit: Edit, *how: str) -> set[str]:
    """Selectors whose jobs an edit reruns."""
    before = jobs(scenario)
    edit(*how)
    return {name for name, digits in jobs(scenario).items() if digits != before[name]}


ALL = ["streams.py", "federated/simulation.py", "privacy/ledger.py"]
#: Decide no number of a job.
NONE = [
    "errors.py",
    "settings/load.py",
    "analysis/figures/style.py",
    "selectors/__init__.py",
    "data/settings.py",
]


@pytest.mark.parametrize("file", ALL + NONE)
def test_of_what_all_jobs_do_all_are_rerun(scenario: Scenario, edit: Edit, file: str) -> None:
    imports = "from __future__ import annotations\n"
    expected = jobs(scenario).keys() if file in ALL else set()
    assert changed(scenario, edit, file, imports, f"{imports}X = 1\n") == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""', '"""Words. '),
        ("import numpy as np", "# A comment.\nimport numpy as np"),
        ("import numpy as np", "import numpy as np\nif TYPE_CHECKING:\n    import pausefl.cli"),
    ],
)
def test_comments_docstrings_and_annotations_rerun_nothing(
    scenario: Scenario, edit: Edit, old: str, new: str
) -> None:
    assert changed(scenario, edit, "streams.py", old, new) == set()


def test_facts_count_but_not_looks(scenario: Scenario, edit: Edit) -> None:
    rule = "class CsUcb(Selector):", "class CsUcb(Selector):\n    private = False\n"
    assert changed(scenario, edit, "selectors/cs_ucb.py", 'Look("CS-UCB", ', 'Look("Other", ') == set()
    assert changed(scenario, edit, "selectors/cs_ucb.py", *rule) == {"cs_ucb"}
    variable = "    reward = 1.0 -", "    origin = 1.0\n    reward = origin -"  # a name of a look
    edit("selectors/cs_ucb.py", *variable)
    assert changed(scenario, edit, "selectors/cs_ucb.py", "origin = 1.0", "origin = 2.0") == {"cs_ucb"}


def test_files_beside_a_module_count_with_it(edit: Edit) -> None:
    before = code_hash(STYLE), code_hash("pausefl.streams")
    edit("analysis/figures/pausefl.mplstyle", "pdf.fonttype", "# A comment\npdf.fonttype")
    assert code_hash(STYLE) != before[0]
    assert code_hash("pausefl.streams") == before[1]


def test_what_lies_beside_the_package_does_not_count(scenario: Scenario, edit: Edit, tmp_path: Path) -> None:
    before = jobs(scenario)
    (tmp_path / "numpy.py").write_text("X = 1\n", "utf-8")
    edit("streams.py", '"""', '"""Words. ')
    assert jobs(scenario) == before


def test_a_script_counts_with_what_it_imports_wherever_it_stands(tmp_path: Path, edit: Edit) -> None:
    scripts = [tmp_path / name / "script.py" for name in ("here", "there")]
    for script in scripts:
        script.parent.mkdir()
        script.write_text('"""Plot."""\nfrom pausefl.analysis.figures.style import save\n', "utf-8")
    before = code_hash(scripts[0])
    assert code_hash(scripts[1]) == before
    imports = "from __future__ import annotations"
    edit("analysis/figures/style.py", imports, f"{imports}\nX = 1")
    assert code_hash(scripts[1]) != before


def test_a_file_of_latencies_counts(scenario: Scenario, edit: Edit, tmp_path: Path) -> None:
    file = tmp_path / "latencies.csv"
    file.write_text("user,mean,std\n0,0.5,0.1\n", "utf-8")
    network = scenario.network.model_copy(update={"latency": "measured", "latency_file": str(file)})
    measured = scenario.model_copy(update={"network": network})
    before = job_code(measured, "random")
    file.write_text("user,mean,std\n0,0.6,0.1\n", "utf-8")
    edit("streams.py", '"""', '"""Words. ')
    assert job_code(measured, "random") != before


def test_of_a_users_modules_those_count_that_it_imports(
    tmp_path: Path, edit: Edit, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "mine_of_hash.py").write_text("import helper_of_hash\n\n\nclass Mine:\n    pass\n", "utf-8")
    (own / "helper_of_hash.py").write_text("X = 1\n", "utf-8")
    monkeypatch.syspath_prepend(own)
    part = importlib.import_module("mine_of_hash").Mine
    before = code_hash("pausefl.streams", parts=[part])
    (own / "numpy.py").write_text("X = 1\n", "utf-8")  # pausefl imports this name, and not from here
    edit("streams.py", '"""', '"""Words. ')
    assert code_hash("pausefl.streams", parts=[part]) == before
    (own / "helper_of_hash.py").write_text("X = 2\n", "utf-8")
    edit("streams.py", '"""', '"""Words. ')
    assert code_hash("pausefl.streams", parts=[part]) != before


def test_an_editors_files_do_not_count(scenario: Scenario, edit: Edit, tmp_path: Path) -> None:
    before = jobs(scenario)
    for name in (".streams.py.swp", "streams.py~"):
        (tmp_path / "pausefl" / name).write_text("X", "utf-8")
    edit("streams.py", '"""', '"""Words. ')
    assert jobs(scenario) == before


def test_all_versions_of_python_give_the_same_hash(tmp_path: Path) -> None:
    """The digits are those of Python 3.11, 3.12 and 3.13; `ast.unparse` writes two texts of it, and fails."""
    script = tmp_path / "script.py"
    quotes = "f'{x!r:>{y}} \"{z[\"\u00e9\U0001fae9\"]}\" {1e-9}' '\\n'"
    script.write_text(f"async def f(*x: int, y=None, **z: str):\n    return {quotes}, ...\n", "utf-8")
    assert code_hash(script) == "dea772f65f88a794"
