"""A selector, a reward, a model and a data source of one's own, MODULE:NAME, outside the package."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import own_parts
import pytest
from scenarios import configuration, row
from typer.testing import CliRunner

import pausefl
from pausefl.cli import app
from pausefl.errors import ConfigError, PauseflError
from pausefl.federated.runnable import can_reuse_training
from pausefl.provenance import code, job_code
from pausefl.reproduction.config import load_config
from pausefl.selectors import SELECTORS

MODULE = '''
import math

import numpy as np
from pausefl import Model, Selector, Source
from pausefl.bandit.latency import LatencyLaw
from pausefl.bandit.presence import Availability, Failures
from pausefl.bandit.rewards import AverageReward
from pausefl.data.sources.base import Examples
from pausefl.privacy import Accountant, Mechanism, Schedule
from torch import nn

from beside import broken, order


class LeastUsed(Selector):
    """The m users that took part least often."""

    def __call__(self, history, rng):
        users = rng.permutation(history.candidates())
        return np.sort(users[order(history.participations[users])[: history.n_selected]])


class LowestIds(Selector):
    def __call__(self, history, rng):
        return history.candidates()[: history.n_selected]


class Unfinished(Selector):
    pass


class SpeedAndPrivacy(AverageReward):
    def scores(self, history):
        return self.gamma * history.privacy / history.n_selected


class Slow(SpeedAndPrivacy):
    def delay(self, history, selection):
        return 0.5


class Short(AverageReward):
    def scores(self, history):
        return super().scores(history)[:3]


class Narrow(Model):
    @staticmethod
    def build(input_shape, n_outputs, norm):
        return nn.Sequential(nn.Flatten(), nn.Linear(math.prod(input_shape), n_outputs - 1))


class Misfit(Model):
    @staticmethod
    def build(input_shape, n_outputs, norm):
        return nn.Sequential(nn.Flatten(), nn.Linear(7, n_outputs))


class Nothing(Source):
    origin, images = "nothing", False

    def read(self, files):
        return None


class Doubles(Nothing):
    def read(self, files):
        x, y = np.zeros((60, 2)), np.zeros(60, int)
        return Examples(x, y, x, y, 2)


class Unlabelled(Nothing):
    def read(self, files):
        x, y = np.zeros((60, 2), np.float32), np.zeros(6, int)
        return Examples(x, y, x, y, 2)


class Tiny(Model):
    @staticmethod
    def build(input_shape, n_outputs, norm):
        return nn.Sequential(nn.Flatten(), nn.Linear(math.prod(input_shape), n_outputs))


class Points(Source):
    origin, images = "two clouds", False

    def read(self, files):
        x, y = np.random.default_rng(0).normal(size=(80, 2)).astype(np.float32), np.arange(80) % 2
        return Examples(x[:60], y[:60], x[60:], y[60:], 2)


class Letters(Source):
    """Windows of five letters of six; the next one is the last one's successor."""

    origin, images, tokens = "an alphabet", False, True

    def read(self, files):
        x = np.random.default_rng(0).integers(0, 6, (480, 5)).astype(np.uint8)
        y = (x[:, -1].astype(int) + 1) % 6
        return Examples(x[:360], y[:360], x[360:], y[360:], 6, n_symbols=6)


class Unlettered(Letters):
    tokens = False


class Lookup(Model):
    """A row of outputs for the last token."""

    tokens = True

    @staticmethod
    def build(input_shape, n_outputs, norm):
        length, n_symbols = input_shape
        return nn.Sequential(nn.Embedding(n_symbols, 4), nn.Flatten(), nn.Linear(4 * length, n_outputs))


class Halving(Schedule):
    """Half of what is left, each time."""

    endless = True

    def __init__(self, epsilon_total, decays=2.0):
        self.epsilon_total, self.base = epsilon_total, decays

    def epsilon(self, participation):
        return self.epsilon_total * self.base ** -np.asarray(participation, float)

    def spent(self, participations):
        return self.epsilon_total * (1 - self.base ** -np.asarray(participations, float))


class Squares(Accountant):
    """Squares of budgets add up to that of the total, in steps of ``delta``."""

    def __init__(self, delta):
        self.step = delta

    def cost(self, epsilon):
        return np.ceil(epsilon**2 / self.step) * self.step

    def budget(self, epsilon):
        return epsilon**2

    def epsilon(self, price):
        return np.sqrt(price)


class Quiet(Mechanism):
    protects, sensitivity = "update", 1.0

    def clip(self, update):
        update[:] = 0

    def update_epsilon(self, epsilon, n):
        return epsilon


class Stepwise(Halving):
    def __init__(self, epsilon_total, step):
        super().__init__(epsilon_total)


class Evenly(Schedule):
    """A tenth of ``decay``, ten times."""

    endless = False

    def __init__(self, decay):
        self.epsilon_total, self.each = decay, decay / 10

    def epsilon(self, participation):
        return np.where(np.asarray(participation) <= 10, self.each, 0.0)

    def spent(self, participations):
        return self.each * np.minimum(participations, 10)


class Steady(LatencyLaw):
    def __init__(self, n_users):
        self.n_users = n_users

    def sample(self, streams, round):
        return np.full(self.n_users, 0.3)

    def means(self):
        return np.full(self.n_users, 0.3)


class Everyone(Availability):
    def sample(self, streams, round):
        return np.ones(12, bool)


class Nights(Everyone):
    def __init__(self, day_rounds):
        pass


class Patient(Everyone):
    def __init__(self, round_latency_max):
        pass


class Nobody(Failures):
    def __init__(self, failure_rate):
        pass

    def sample(self, streams, round):
        return np.zeros(12, bool)


class AtNight(Nobody):
    def __init__(self, n_users, day_rounds):
        pass


class WrongKey(LowestIds):
    def __init__(self, n_candidate):
        pass


class Raises(LeastUsed):
    def __call__(self, history, rng):
        return super().__call__(history, rng) if history.round < 3 else broken([1])


class Unbuilt(LeastUsed):
    def __init__(self):
        raise ValueError("no such luck")
'''
BESIDE = """
import numpy as np


def order(values):
    return np.argsort(values, kind="stable")


def broken(users):
    return users["nothing"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder with a module, of which nothing is left afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "mine.py").write_text(MODULE, "utf-8")
    (tmp_path / "beside.py").write_text(BESIDE, "utf-8")
    (tmp_path / "broken.py").write_text("import math\n\nmath.none\n", "utf-8")
    importlib.invalidate_caches()
    yield tmp_path
    for name in ("mine", "beside", "broken"):
        sys.modules.pop(name, None)
    own_parts.forget()


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["run", "--scenario", "demo_small", "--rounds", "3", *arguments])
    assert done.exit_code == 0, done.output or done.exception
    return done.output


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent:LeastUsed", r"cannot be imported: there is no module 'absent' in .* or on PYTHONPATH$"),
        ("broken:LeastUsed", r"cannot be imported: .*broken\.py, line 3: AttributeError: "),
        ("mine:LeastUse", r"is not there: .*mine\.py has no 'LeastUse'\. Did you mean 'LeastUsed'\?"),
        ("mine:Tiny", r"in .*mine\.py is no class derived from pausefl\.Selector$"),
        ("mine:Unfinished", r"lacks __call__, which a class derived from pausefl\.Selector must have$"),
        ("mine:WrongKey", r"is made from 'n_candidate', which is no key.* Did you mean 'n_candidates'\?$"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        SELECTORS.find(name)
    assert str(caught.value).startswith(f"selector '{name}' ")
    assert name not in SELECTORS
    assert name not in list(SELECTORS)


@pytest.mark.usefixtures("folder")
def test_another_law_of_the_budget_is_one_class() -> None:
    """Shares of 1/2, 1/4, 1/8, …; what else it takes is no key of the settings, for it or for other laws."""
    law = {"privacy.schedule": "mine:Halving", "privacy.decay": None}
    scenario = pausefl.change(pausefl.load_scenario("demo_small"), law)
    run = pausefl.run(scenario, "random", n_rounds=6, train=False)
    total, taken = scenario.privacy.epsilon_total, run.ledger["participations"]  # type: ignore[union-attr]
    assert run.ledger["epsilon_coordinate"].tolist() == pytest.approx(list(total * (1 - 0.5**taken)))
    assert pausefl.change(scenario, {"privacy.schedule": "geometric", "privacy.decay": 0.1}).privacy
    with pytest.raises(
        ConfigError, match=r"decay is for schedule 'geometric', and privacy\.schedule is 'mine:H"
    ):
        pausefl.change(scenario, {"privacy.decay": 0.1})
    with pytest.raises(
        ConfigError, match=r"schedule = 'mine:Stepwise' is made from 'step', which is no key of"
    ):
        pausefl.change(scenario, {"privacy.schedule": "mine:Stepwise"})


@pytest.mark.usefixtures("folder")
def test_another_accountant_is_one_class() -> None:
    own = {"privacy.accountant": "mine:Squares", "privacy.delta": 0.5, "privacy.epsilon_total": 2.0}
    own |= {"privacy.schedule": "constant", "privacy.decay": None, "privacy.epsilon_each": 1.1}
    scenario = pausefl.change(pausefl.load_scenario("demo_small"), own)
    run = pausefl.run(scenario, "fedavg", n_rounds=4, train=False, progress=False)
    # 1.1^2 counts as 1.5, and 4 is the budget.
    assert run.ledger["participations"].tolist() == [2] * 12
    assert run.rounds["leakage_max"].tolist() == pytest.approx([1.5**0.5, 3**0.5, 3**0.5, 3**0.5])
    assert job_code(scenario, "fedavg") != job_code(pausefl.load_scenario("demo_small"), "fedavg")
    schedule = scenario.privacy.make_schedule()  # type: ignore[union-attr]
    for accountant in ("mine:Squares", type(scenario.privacy.make_accountant())(0.5)):  # type: ignore[union-attr]
        picker = pausefl.Picker("fedavg", {"a": 3}, 1, 0.05, 2.0, schedule, accountant=accountant)
        asked = [picker.select(["a"]) for _ in range(5)]
        # A picker that is given a name has delta = 1e-5: 1.21001 three times.
        assert asked == [["a"]] * (3 if isinstance(accountant, str) else 2) + [[]] * (
            2 if isinstance(accountant, str) else 3
        )
    with pytest.raises(ConfigError, match=r"needs privacy\.delta"):
        pausefl.change(scenario, {"privacy.delta": None})


@pytest.mark.usefixtures("folder")
def test_a_mechanism_that_does_not_say_what_it_costs_can_only_be_summed() -> None:
    own = {"privacy.mechanism": "mine:Quiet", "privacy.sensitivity": None}
    scenario = pausefl.change(pausefl.load_scenario("demo_small"), own)
    with pytest.raises(
        ConfigError, match=r"accountant = 'zcdp' does not know .* mechanism 'mine:Quiet' costs"
    ):
        pausefl.change(scenario, {"privacy.accountant": "zcdp", "privacy.delta": 1e-5})


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("model", ["token_mlp", "token_lstm", "mine:Lookup"])
def test_a_source_of_token_ids_trains_the_models_that_take_them(model: str) -> None:
    own = {"data.source": "mine:Letters", "data.test_fraction": None, "model.name": model, "privacy": None}
    scenario = pausefl.change(pausefl.load_scenario("demo_small"), own)
    run = pausefl.run(scenario, "random", n_rounds=40, device="cpu", progress=False)
    assert run.rounds["accuracy"].iloc[-1] > 0.5  # chance is a sixth
    for changes, message in (
        ({"model.name": "fc"}, "model 'fc' takes numbers, and the data set has token ids"),
        (
            {"data.source": "mine:Points"},
            f"model '{model}' needs token ids, which the data set does not have",
        ),
        ({"data.source": "mine:Unlettered"}, "needs token ids"),
    ):
        with pytest.raises(ConfigError, match=message):
            pausefl.run(pausefl.change(scenario, changes), "random", n_rounds=1, device="cpu")


#: Keys of the demo's law of latencies.
MEANS = ("fast_latency_max", "slow_latency_min", "slow_latency_max", "latency_std")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "changes",
    [
        {"latency": "mine:Steady", **dict.fromkeys(MEANS)},
        {"availability": "mine:Everyone"},
        {"availability": "mine:Nights", "day_rounds": 10},
        {"failures": "mine:Nobody", "failure_rate": 0.1, "round_latency_max": 5.0},
        {"failures": "mine:AtNight", "day_rounds": 10, "round_latency_max": 5.0},
        {"privacy.schedule": "mine:Evenly"},
    ],
)
def test_a_law_takes_what_it_likes_of_the_keys_that_a_section_always_has(changes: dict[str, object]) -> None:
    values = {key if "." in key else f"network.{key}": value for key, value in changes.items()}
    scenario = pausefl.change(pausefl.load_scenario("demo_small"), values)
    run = pausefl.run(scenario, "random", n_rounds=3, train=False, progress=False)
    assert list(map(len, run.rounds["selection"])) == [3, 3, 3]


@pytest.mark.usefixtures("folder")
def test_what_a_law_of_ones_own_takes_stays_for_others_what_it_was() -> None:
    demo = pausefl.load_scenario("demo_small")
    for law in ("mine:Patient", "always"):
        values = {"network.availability": law, "network.round_latency_max": 5.0}
        assert pausefl.change(demo, values).network.round_latency_max == 5.0
    with pytest.raises(ConfigError, match=r"day_rounds is for availability 'daily', and network\.availab"):
        pausefl.change(demo, {"network.availability": "mine:Everyone", "network.day_rounds": 10})


@pytest.mark.usefixtures("folder")
def test_a_configuration_says_which_key_names_it() -> None:
    document = configuration(row("demo_small", "pause", "mine:LeastUse"))
    with pytest.raises(ConfigError, match=r"^own\.yaml: experiments\.0\.selectors\.1 = 'mine:LeastUse'"):
        load_config(document, "own.yaml")


@pytest.mark.usefixtures("folder")
def test_the_command_runs_all_three_and_the_library_has_the_same_numbers() -> None:
    own = ["--set", "model.name=mine:Tiny", "--set", "data.source=mine:Points"]
    own += ["--set", "data.test_fraction=null"]
    run("--selector", "mine:LeastUsed", "--device", "cpu", "--out", "out", *own)
    theirs = pausefl.read_run("out")
    assert theirs.selector == "mine:LeastUsed"
    values = {"model.name": "mine:Tiny", "data.source": "mine:Points", "data.test_fraction": None}
    scenario = pausefl.change(pausefl.load_scenario("demo_small"), values)
    ours = pausefl.run(scenario, "mine:LeastUsed", n_rounds=3, device="cpu")
    assert ours.rounds.equals(theirs.rounds)
    assert ours.rounds["accuracy"].notna().all()


@pytest.mark.usefixtures("folder")
def test_a_selector_may_lie_in_a_package(folder: Path) -> None:
    (folder / "mypkg").mkdir()
    (folder / "mypkg/__init__.py").write_text("", "utf-8")
    (folder / "mypkg/sel.py").write_text(
        "from mine import LowestIds as Base\n\n\nclass Mine(Base):\n    pass\n"
    )
    run("--selector", "mypkg.sel:Mine", "--no-train", "--out", "out/mypkg.sel.Mine/seed-0")
    theirs = pausefl.read_run(folder / "out/mypkg.sel.Mine/seed-0")
    assert theirs.selector == "mypkg.sel:Mine"
    ours = pausefl.run(pausefl.load_scenario("demo_small"), "mine:LowestIds", n_rounds=3, train=False)
    assert [one.tolist() for one in theirs.rounds["selection"]] == [
        one.tolist() for one in ours.rounds["selection"]
    ]
    for name in ("mypkg.sel", "mypkg"):
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("folder")
def test_a_reward_of_ones_own_decides_what_selectors_choose() -> None:
    """R1 without a weight on generalisation is the reward above: the same rounds."""
    run("--selector", "pause", "--no-train", "--set", "reward.name=mine:SpeedAndPrivacy", "--out", "own")
    run("--selector", "pause", "--no-train", "--set", "reward.alpha=0", "--out", "same")
    run("--selector", "pause", "--no-train", "--out", "other")
    own, same, other = (pausefl.read_run(folder) for folder in ("own", "same", "other"))
    assert own.rounds.equals(same.rounds)
    assert not own.rounds.equals(other.rounds)
    assert own.summary["scenario"]["reward"]["name"] == "mine:SpeedAndPrivacy"
    assert own.summary["code_hash"] != same.summary["code_hash"] == other.summary["code_hash"]


@pytest.mark.usefixtures("folder")
def test_a_reward_of_ones_own_may_take_time() -> None:
    scenarios = [
        pausefl.change(
            pausefl.load_scenario("demo_small"), {"reward.name": name, "training.time_horizon_s": 2}
        )
        for name in ("mine:Slow", "mine:SpeedAndPrivacy", "r1")
    ]
    slow, same = (
        pausefl.run(one, "pause", n_rounds=1, train=False, progress=False).rounds for one in scenarios[:2]
    )
    np.testing.assert_allclose(slow["latency_s"], same["latency_s"] + 0.5)
    assert can_reuse_training(scenarios[0], scenarios[2])
    assert not can_reuse_training(scenarios[2], scenarios[0])  # its rounds last longer


def test_an_edit_of_ones_own_module_makes_other_code_of_what_uses_it_alone(folder: Path) -> None:
    scenario = pausefl.load_scenario("demo_small")

    def codes() -> list[str]:
        for cached in (code._hash_of, code._file, code._read):
            cached.cache_clear()
        return [job_code(scenario, name) for name in ("mine:LeastUsed", "random")]

    before = codes()
    (folder / "beside.py").write_text(f"# A comment.\n{BESIDE}", "utf-8")
    assert codes() == before
    (folder / "beside.py").write_text(BESIDE.replace("stable", "mergesort"), "utf-8")
    own, shipped = codes()
    assert own != before[0]
    assert shipped == before[1]


def test_the_contract_of_selectors_in_a_test_file_of_ones_own(folder: Path) -> None:
    lines = ["from pausefl.testing import SelectorContract"]
    for name in ("LeastUsed", "LowestIds", "Unbuilt", "LeastUse"):
        lines += [f"class Test{name}(SelectorContract):", f'    selector = "mine:{name}"']
    (folder / "test_mine.py").write_text("\n".join(lines), "utf-8")

    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "--continue-on-collection-errors"]
    found = subprocess.run(command, capture_output=True, text=True).stdout
    assert "11 failed, 16 passed, 1 error" in found  # the first keeps all rules, the second breaks two
    assert "alike, they are selected [400 400 400   0   0" in found
    assert re.search(r"ids must not break ties\nE +assert False\nE .*array\(\[\[", found)  # it shows values
    assert re.search(r"mine\.py, line \d+: ValueError: no such luck", found)  # the user's line
    assert "mine.py has no 'LeastUse'. Did you mean 'LeastUsed'?" in found


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("name", "message", "line"),
    [
        ("Raises", r"failed in round 3, when it selected: beside\.py, line \d+: TypeError: ", "broken("),
        ("Unbuilt", r"failed when it was built: mine\.py, line \d+: ValueError: no such luck", "raise Value"),
    ],
)
def test_what_a_selector_raises_names_it_the_round_and_the_line(name: str, message: str, line: str) -> None:
    command = ["run", "--scenario", "demo_small", "--no-train", "--selector", f"mine:{name}", "--out", "out"]
    done = CliRunner().invoke(app, [*command, "--save-every", "0"])
    assert isinstance(done.exception, ConfigError), done.exception
    first, _, trace = str(done.exception).partition("\n")
    assert re.match(f"selector 'mine:{name}' {message}", first), first
    assert line in trace
    assert "pausefl" not in trace  # the traceback begins with the user's code


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("reward.name=mine:Short", "reward 'mine:Short' failed in round 1: IndexError: "),
        (
            "model.name=mine:Narrow",
            r"model 'mine:Narrow' returned outputs of shape \(2, 9\) for two examples, not",
        ),
        (
            "model.name=mine:Misfit",
            "model 'mine:Misfit' failed when it was built and tried: Runtime",
        ),
        ("data.source=mine:Nothing", "data source 'mine:Nothing' failed when it was read: TypeError: "),
        (
            "data.source=mine:Doubles",
            r"train_x is float64 of shape \(60, 2\): images .* float32 of",
        ),
        ("data.source=mine:Unlabelled", "data source 'mine:Unlabelled': .* not one target for each example"),
    ],
)
def test_what_a_reward_a_model_or_a_source_does_wrong_names_it(setting: str, message: str) -> None:
    more = ["--set", "data.test_fraction=null"] if setting.startswith("data") else []
    command = ["run", "--scenario", "demo_small", "--selector", "pause", "--out", "out", "--set", setting]
    done = CliRunner().invoke(app, [*command, *more])
    assert isinstance(done.exception, PauseflError), done.exception
    assert re.search(message, str(done.exception)), done.exception


def test_a_file_of_the_name_of_an_installed_module_hides_nothing(tmp_path: Path) -> None:
    """A torch.py, numpy.py or json.py beside one's own module is in nobody's way."""
    for name in ("torch", "numpy", "json", "pandas", "random"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the wrong module')\n", "utf-8")
    lines = ["import numpy as np, pausefl, torch", "class Mine(pausefl.Selector):"]
    lines += ["    def __call__(self, history, rng):"]
    lines += ["        return history.candidates()[: history.n_selected] + np.int64(torch.zeros(1).item())"]
    (tmp_path / "mine.py").write_text("\n".join(lines), "utf-8")
    script = tmp_path / "bin/pausefl"  # as installed: Python finds what is beside it first, not the folder
    script.parent.mkdir()
    script.write_text("from pausefl.command import main\nmain()\n", "utf-8")
    job = ("run", "--scenario", "demo_small", "--selector", "mine:Mine", "--rounds", "2", "--out", "out")
    done = subprocess.run(
        [sys.executable, script, *job], cwd=tmp_path, capture_output=True, text=True, env=_environment()
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/summary.json").is_file()
    (tmp_path / "tomllib.py").write_text("", "utf-8")
    for name in ("torch", "tomllib"):
        asked = [*job[:4], f"{name}:Mine", *job[5:]]
        done = subprocess.run(
            [sys.executable, script, *asked], cwd=tmp_path, capture_output=True, text=True, env=_environment()
        )
        assert done.returncode == 2, done.stderr
        assert (
            f"selector '{name}:Mine' has the name of another module: {tmp_path}/{name}.py would"
            in done.stderr
        )
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("name", "text"),
    [("torch", "x = 1"), ("numpy", "x = 1"), ("yaml", "1 / 0"), ("typer", ""), ("logging", "")],
)
def test_a_file_on_the_path_that_hides_a_package_is_named(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / f"{name}.py").write_text(f"{text}\n", "utf-8")
    (tmp_path / "pandas_of_mine.py").write_text("", "utf-8")
    path = os.pathsep.join([str(tmp_path), _environment()["PYTHONPATH"]])
    job = [
        "run",
        "--scenario",
        "demo_small",
        "--selector",
        "random",
        "--rounds",
        "1",
        "--device",
        "cpu",
        "--out",
        "out",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "from pausefl.command import main; main()", *job],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**_environment(), "PYTHONPATH": path},
    )
    assert done.returncode
    kind = "module of Python" if name == "logging" else "package"
    assert f"{tmp_path / name}.py hides the {kind} '{name}', which has the same name: rename" in done.stderr
    assert "Traceback" not in done.stderr


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(pausefl.__file__).parents[1])}
