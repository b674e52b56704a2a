"""The examples of the documentation work as they are printed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from pausefl.settings import load_scenario

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")


def blocks(section: str) -> list[str]:
    """Code of a section, in order."""
    body = TEXT.split(f"\n## {section}\n")[1].split("\n## ")[0]
    found = re.findall(r"^( *)```(?:python|yaml|bash)\n(.*?)^ *```$", body, re.DOTALL | re.MULTILINE)
    return [re.sub(f"^{indent}", "", code, flags=re.MULTILINE) for indent, code in found]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The parts of the repository that the examples edit."""
    for folder in ("src", "config", "tests/unit"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def insert(path: Path, before: str, text: str) -> None:
    old = path.read_text(encoding="utf-8")
    assert before in old
    path.write_text(old.replace(before, text + before, 1), encoding="utf-8")


def run(checkout: Path, *command: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
    done = subprocess.run(
        [sys.executable, *command], cwd=checkout, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_example_selector_passes_every_test_and_runs(checkout: Path) -> None:
    module, line, style, name, test, _ = blocks("A selector")
    package = checkout / "src" / "pausefl"
    (package / "selectors" / "rotation.py").write_text(module, encoding="utf-8")
    insert(package / "registry.py", '    "random":', line)
    insert(package / "figures" / "style.py", '    "fastest":', style)
    insert(checkout / "config" / "scenarios" / "demo_small.yaml", "  - random\n", name)
    tests = checkout / "tests" / "unit" / "selectors"
    (tests / "test_rotation.py").write_text(test, encoding="utf-8")
    suites = ("test_rotation.py", "test_conformance.py", "../figures/test_style.py")
    chosen = ("-k", "least_used or rotation or style")
    out = run(checkout, "-m", "pytest", "-q", "-p", "no:xdist", *chosen, *(str(tests / s) for s in suites))
    assert int(re.findall(r"(\d+) passed", out)[0]) > 10
    command = ("--scenario", "demo_small", "--selector", "least_used", "--seed", "0", "--rounds", "8")
    main = "from pausefl.cli import main; main()"
    run(checkout, "-c", main, "run", *command, "--no-train", "--out", str(checkout / "out"))
    assert (checkout / "out" / "rounds.parquet").is_file()


def test_the_example_variant_is_the_example_scenario_with_half_the_budget(tmp_path: Path) -> None:
    scenario, *_ = blocks("A scenario on your own images")
    (lines,) = blocks("A variant of a scenario")
    (tmp_path / "pets.yaml").write_text(scenario, encoding="utf-8")
    (tmp_path / "pets_more_private.yaml").write_text(lines, encoding="utf-8")
    pets, variant = (load_scenario(name, tmp_path) for name in ("pets", "pets_more_private"))
    assert pets.privacy is not None
    halved = pets.privacy.replace(epsilon_total=pets.privacy.epsilon_total / 2)
    own = {"name": variant.name, "title": variant.title, "figures": variant.figures}
    assert variant == pets.replace(privacy=halved, **own)


def test_the_example_reward_is_searched_exactly(checkout: Path) -> None:
    (code,) = blocks("A reward")
    cls, line = code.split('\n    "quota"')
    rewards = checkout / "src" / "pausefl" / "rewards.py"
    insert(rewards, "REWARDS: dict", cls + "\n\n")
    text = rewards.read_text(encoding="utf-8")
    rewards.write_text(text.replace('"r2": Over', f'"quota"{line.strip()} "r2": Over'), encoding="utf-8")
    check = """
        from itertools import combinations
        import numpy as np
        from pausefl.settings import RewardSettings
        from pausefl.bandit.history import History
        from pausefl.bandit.rewards import REWARDS, confidence_bound
        from pausefl.selectors.exact import Pause

        rng = np.random.default_rng(0)
        reward = REWARDS["quota"].build(RewardSettings("quota", 100.0, 2.0, 5.0))
        for _ in range(50):
            history = History.empty(rng.integers(50, 90, 9), 4, 0.05, cluster=np.arange(9) % 3)
            history.round, history.participations = 20, rng.integers(1, 9, 9)
            history.mean_speed, history.privacy = rng.uniform(0, 1, 9), rng.uniform(0, 1, 9)
            bound = confidence_bound(history, 1.0)
            worth = {
                s: bound[list(s)].min() + reward.scores(history)[list(s)].sum()
                for s in combinations(range(9), 4)
                if np.bincount(np.array(s) % 3).max() <= 2
            }
            assert tuple(Pause(reward, 1.0)(history, rng)) == max(worth, key=worth.get)
    """
    run(checkout, "-c", textwrap.dedent(check))
