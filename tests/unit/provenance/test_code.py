"""The hash of a job's code differs where a number may, and is the same where none can."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType

import numpy as np
import pytest

import pausefl
from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.federated.job import Job
from pausefl.federated.run import run_job
from pausefl.provenance import Code, changes, code, code_hash, job_code
from pausefl.registry import BACKENDS, MODELS, SELECTORS
from pausefl.settings import Scenario, load_scenario

SCENARIOS = Path(__file__).parents[3] / "config" / "scenarios"
PACKAGE = Path(pausefl.__file__).parent

#: A file of the package, what stands there, and what is put in its place; new files are made of nothing.
Edit = tuple[str, str, str]

#: Jobs: a scenario, a selector and whether the genie runs too.
JOBS: dict[str, tuple[str, str, bool]] = {
    "pause": ("mnist_large_iid_r1", "pause", False),
    "overlaps": ("mnist_large_iid_r2", "sa_pause", True),
    "bsfl": ("bsfl_fashion_iid", "random_by_size", False),
    "images": ("cifar10_large_noniid_r1_cnn5", "clustered_similarity", False),
    "vector": ("mnist_large_iid_r1_update", "fastest", False),
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package."""
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(PACKAGE, tmp_path_factory.mktemp("copy") / "pausefl", ignore=ignored))


@contextmanager
def edited(root: Path, *edits: Edit) -> Iterator[None]:
    """Edit files of a package; undone afterwards."""
    before: dict[Path, str | None] = {}
    try:
        for name, old, new in edits:
            path = root / name
            text = path.read_text("utf-8") if path.exists() else ""
            before.setdefault(path, text if path.exists() else None)
            assert old in text, f"{name} has no {old!r}"
            path.write_text(text.replace(old, new, 1), "utf-8")
        for path in before:
            compile(path.read_text("utf-8"), path.name, "exec")
        yield
    finally:
        for path, whole in before.items():
            path.unlink() if whole is None else path.write_text(whole, "utf-8")


def hashed(root: Path, job: str) -> Code:
    """Hash of a job's code, as the package at ``root`` has it."""
    name, selector, genie = JOBS[job]
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(code, "TODAY", code.Hashes(root))
        return job_code(load_scenario(name, SCENARIOS), selector, genie=genie)


@pytest.fixture(scope="module")
def today(copy: Path) -> Mapping[str, Code]:
    """Hashes of the copy."""
    return {job: hashed(copy, job) for job in JOBS}


def test_a_copy_has_the_hash_of_the_original(today: Mapping[str, Code]) -> None:
    assert today == {job: hashed(PACKAGE, job) for job in JOBS}
    assert today["pause"].parts == hashed(PACKAGE, "pause").parts


_HORIZON = "    @property\n    def horizon"
_SLOWER = """\
    @model_validator(mode="before")
    @classmethod
    def _slower(cls, values: Any) -> Any:
        return {**values, "learning_rate": values["learning_rate"] / 2}

"""
_HALVED = "learning_rate: Annotated[float, Strict(), AfterValidator(lambda rate: rate / 2)]\n"
_ONE_BY_ONE = "        return {**values} | ({'batch_size': 1} if 'batch_size' in values else {})\n"
_NOISE = "        return self.sensitivity / epsilon\n"
_DOUBLED = """\
        return _check_scale(self.sensitivity / epsilon)


def _check_scale(scale: float) -> float:
    return 2 * scale
"""
_TRAINER = "    from pausefl.training.engine import Trainer\n"

#: Edits after which some job has other numbers, or may have, and that job.
MUTATIONS: list[tuple[str, str, str, str]] = [
    # settings: values, properties, validators, types
    ("bsfl", "settings/scenario.py", "else self.time_horizon_s", "else self.time_horizon_s / 2"),
    ("pause", "settings/scenario.py", "proximal: NonNegative = 0.0", "proximal: NonNegative = 0.1"),
    ("pause", "settings/scenario.py", _HORIZON, _SLOWER + _HORIZON),
    ("pause", "settings/scenario.py", "learning_rate: Positive\n", _HALVED),
    (
        "pause",
        "settings/types.py",
        "        return value\n\n\nclass Items",
        "        return -value\n\n\nclass Items",
    ),
    ("pause", "settings/base.py", "        return values\n", _ONE_BY_ONE),
    # what importing executes
    ("pause", "settings/__init__.py", "__all__ = [", "import numpy\nnumpy.log = numpy.log2\n__all__ = ["),
    ("pause", "errors.py", "import difflib\n", "import difflib\nimport time\ntime.time = time.monotonic\n"),
    ("pause", "training/__init__.py", "", "import torch\n_OLD = torch.set_flush_denormal(True)\n"),
    ("pause", "streams.py", "import zlib\n", "import zlib\nif zlib:\n    zlib.crc32 = zlib.adler32\n"),
    ("pause", "federated/simulation.py", _TRAINER, f"{_TRAINER}else:\n    np.float32 = np.float16\n"),
    # another import under the same name
    ("overlaps", "federated/simulation.py", "expected_speeds\n", "mean_latencies as expected_speeds\n"),
    (
        "pause",
        "federated/run.py",
        "    with locked(",
        "    from builtins import max as Streams\n    with locked(",
    ),
    # calls whose result is not used, and names that sound like checks
    (
        "pause",
        "federated/run.py",
        "    check_free(out)\n",
        "    dataset.train_y[:] = 0\n    check_free(out)\n",
    ),
    ("pause", "federated/job.py", "    given = (", "    partition.quality[:] = 0.5\n    given = ("),
    (
        "pause",
        "data/dataset.py",
        "    train, test = arr",
        "    arrays['train_y'][:] = 0\n    train, test = arr",
    ),
    ("pause", "privacy/mechanisms.py", _NOISE, _DOUBLED),
    (
        "vector",
        "privacy/mechanisms.py",
        "        if length >",
        "        assert not update.sort()\n        if length >",
    ),
    # what a handler catches, and the class of an error
    ("pause", "privacy/protection.py", "raise PrivacyError(", "raise ValueError("),
    ("pause", "federated/simulation.py", "        except PrivacyError", "        except ValueError"),
    # data
    ("bsfl", "data/partition.py", "QUALITY_RANGE = (0.2, 1.0)", "QUALITY_RANGE = (0.1, 1.0)"),
    ("pause", "data/sources/idx.py", "offset=4 + 4 *", "offset=3 + 4 *"),
    ("images", "data/sources/cifar10.py", "transpose(0, 3, 1, 2)", "transpose(0, 3, 2, 1)"),
    # bandit
    ("pause", "bandit/history.py", "        self.round += 1\n", "        self.round += 2\n"),
    ("pause", "bandit/latency.py", "network.n_users // 2\n", "network.n_users // 3\n"),
    ("pause", "bandit/rewards.py", "np.abs(gap) ** beta", "np.abs(gap) * beta"),
    ("overlaps", "bandit/rewards.py", "np.maximum(counts - 1, 0)", "np.maximum(counts, 0)"),
    ("overlaps", "bandit/latency.py", "means - _TAIL_STDS * std", "means - std"),
    # selectors
    ("bsfl", "selectors/baselines.py", "/ history.data_size[users]", "* history.data_size[users]"),
    ("pause", "selectors/exact.py", "if gain_own >= gain_other:", "if gain_own < gain_other:"),
    ("overlaps", "selectors/annealing.py", "total += score[k]", "total -= score[k]"),
    ("images", "selectors/clustered.py", "np.arccos", "np.arcsin"),
    # privacy
    ("pause", "privacy/schedule.py", "np.expm1(self.decay) *", "np.exp(self.decay) *"),
    ("pause", "privacy/philox.py", "_LN_2 = np.float32(0.6", "_LN_2 = np.float32(0.7"),
    ("pause", "privacy/samplers.py", "noise *= np.float32(scale)", "noise *= np.float32(2 * scale)"),
    ("pause", "privacy/ledger.py", "self.schedule.epsilon(n + 1)", "self.schedule.epsilon(n + 2)"),
    # training
    ("pause", "training/batches.py", "rng.permutation(n_examples)", "np.arange(n_examples)"),
    ("pause", "training/optimizers.py", "BETA_1, BETA_2", "BETA_2, BETA_1"),
    ("pause", "training/models.py", "32, 16, n_outputs", "32, 17, n_outputs"),
    ("pause", "training/rates.py", "float(training.learning_rate)", "2 * training.learning_rate"),
    ("pause", "training/engine.py", "integers(2**63)", "integers(2**62)"),
    ("images", "training/dropout.py", "1 - self.probability", "1 - self.probability / 2"),
    ("pause", "training/backends/kernels.py", "np.float32(127.5)", "np.float32(128)"),
    ("images", "training/backends/one_by_one.py", "gradient.zero_()", "gradient.zero_().add_(1)"),
    # the loop, its state, streams, and what is chosen
    ("pause", "federated/simulation.py", "self.theta += total", "self.theta -= total"),
    ("pause", "federated/earlier.py", "state = {name: archive[name]", "state = {name: archive[name] * 2"),
    ("pause", "federated/run.py", "Streams(job.seed)", "Streams(job.seed + 1)"),
    ("pause", "registry/backends.py", "if record.takes(", "if not record.takes("),
    ("pause", "streams.py", "user, round)\n        return np", "round, user)\n        return np"),
    ("pause", "digests.py", "of_arrays(_arrays(table))", "of_arrays([])"),
]


@pytest.mark.parametrize(
    ("job", "file", "old", "new"), MUTATIONS, ids=[f"{file} {new!r:.40}" for _, file, _, new in MUTATIONS]
)
def test_what_changes_a_number_changes_the_hash(
    copy: Path, today: Mapping[str, Code], job: str, file: str, old: str, new: str
) -> None:
    with edited(copy, (file, old, new)):
        assert hashed(copy, job) != today[job]


def test_every_package_that_a_job_reaches_is_among_them(today: Mapping[str, Code]) -> None:
    reached = {name.split(".")[1] for job in today.values() for name in job.parts if name.count(".") > 1}
    assert {file.partition("/")[0] for _, file, *_ in MUTATIONS} >= reached
    assert len(MUTATIONS) >= 40


_GENERALIZATION = '''def generalization(history: History, beta: float, weight: Floats | Users) -> Floats:
    """g_k (K,): by how much a user took part less than its share of the weight (v2, eq. 8; BSFL, eq. 4).

    In [-1, 1] if no user holds more than 1 / m of the weight.

    Parameters
    ----------
    history
        What was observed before the round.
    beta
        Exponent.
    weight
        (K,) weight of each user, e.g. the number of its examples.
    """
    share = history.n_selected * weight / weight.sum()
    gap = share - history.participations / history.round
    return np.asarray(np.abs(gap) ** beta * np.sign(gap))
'''
_LN_2 = "_LN_2 = np.float32(0.69314718056)\n"

#: Edits that change no number.
HARMLESS: dict[str, list[Edit]] = {
    "comment": [("federated/simulation.py", "self.theta += total", "self.theta += total  # the sum")],
    "comment above": [("bandit/latency.py", "    n_fast =", "    # Half of them.\n    n_fast =")],
    "docstring": [("bandit/history.py", '"""Add what a round revealed', '"""Remember what it revealed')],
    "docstring of a class": [("privacy/ledger.py", '"""Privacy account of one', '"""The account of one')],
    "docstring of a module": [("streams.py", '"""', '"""Streams. ')],
    "docstring of a setting": [("settings/scenario.py", '"""Which data set, and', '"""Which data, and')],
    "a first docstring": [
        ("training/backends/kernels.py", "    half, one =", "    'The pixels.'\n    half, one =")
    ],
    "text below a field": [("settings/scenario.py", "Where the noise comes from.", "Of the noise.")],
    "annotation of an argument": [
        ("bandit/latency.py", "def sample(self, round: int)", "def sample(self, round: object)")
    ],
    "annotation of what is returned": [("selectors/baselines.py", "-> Fastest:", "-> Selector:")],
    "annotation of a local": [
        ("data/partition.py", "own: list[IntArray] =", "own ="),
        ("training/batches.py", "batches: list[NDArray[np.int64]] = []", "batches = []"),
    ],
    "annotation of a constant": [("bandit/rewards.py", "Floats = NDArray", "Floats: object = NDArray")],
    "message": [("privacy/protection.py", "is not finite, so nothing", "is infinite, so nothing")],
    "message without what it named": [
        ("data/dataset.py", "{path}: truncated or corrupt ({error}){remedy(path)}", "{path} is damaged")
    ],
    "message in a setting": [("settings/types.py", '"must be between {', '"must lie between {')],
    "message of another kind": [("training/engine.py", 'f"unknown device', '"bad", f"unknown device')],
    "layout": [
        (
            "bandit/rewards.py",
            "    share = history.n_selected *",
            "    share = (\n        history.n_selected *",
        ),
        ("bandit/rewards.py", "/ weight.sum()\n", "/ weight.sum()\n    )\n"),
    ],
    "another order": [("privacy/philox.py", _LN_2, ""), ("privacy/philox.py", "@njit", _LN_2 + "\n\n@njit")],
    "a definition that nothing uses": [("streams.py", "import zlib\n", "import zlib\nUNUSED = zlib.crc32\n")],
    "an import that nothing uses": [("streams.py", "import zlib\n", "import os\nimport zlib\n")],
    "an import for annotations": [
        (
            "bandit/latency.py",
            "import math\n",
            "import math\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from os import x\n",
        )
    ],
    "what runs as a script alone": [
        (
            "streams.py",
            "import zlib\n",
            "import zlib\nif __name__ == '__main__':\n    print(zlib.crc32(b''))\n",
        )
    ],
    "a move to a module that was there": [
        ("bandit/rewards.py", _GENERALIZATION, "from pausefl.bandit.latency import generalization\n"),
        ("bandit/latency.py", "def mean_latencies", _GENERALIZATION + "\n\ndef mean_latencies"),
    ],
    "a move to a new module": [
        ("bandit/rewards.py", _GENERALIZATION, "from pausefl.bandit.worth import generalization\n"),
        ("bandit/worth.py", "", "import numpy as np\n\n\n" + _GENERALIZATION),
    ],
    "another package": [
        ("figures/curves.py", "\nfrom collections", "\nEDITED = 1\nfrom collections"),
        ("claims/load.py", "\nfrom collections", "\nEDITED = 1\nfrom collections"),
        ("studies/base.py", "\nfrom collections", "\nEDITED = 1\nfrom collections"),
        ("settings/config.py", "\nfrom collections", "\nEDITED = 1\nfrom collections"),
    ],
    "another record": [("registry/models.py", "smallest_image=22", "smallest_image=23")],
    "how records are kept": [
        ("registry/base.py", "super().__init__(records)", "super().__init__({**records})"),
        (
            "registry/base.py",
            "module, _, name = self.code",
            "module, name = *self.code.split(':'),; _ = self.code",
        ),
    ],
}


@pytest.mark.parametrize("edits", HARMLESS.values(), ids=HARMLESS)
def test_what_changes_no_number_changes_no_hash(
    copy: Path, today: Mapping[str, Code], edits: list[Edit]
) -> None:
    with edited(copy, *edits):
        assert {job: hashed(copy, job) for job in JOBS} == today


def test_other_processes_get_the_plain_hash(today: Mapping[str, Code]) -> None:
    there = pickle.loads(pickle.dumps(today["pause"]))
    assert there == today["pause"]
    assert type(there) is str


def test_two_definitions_that_say_the_same_are_told_apart_by_what_they_use(tmp_path: Path) -> None:
    for module, factor in (("one", 1), ("two", 2)):
        (tmp_path / f"{module}.py").write_text(
            f"def g():\n    return {factor}\n\n\ndef f():\n    return g()\n"
        )
    users = (
        "from pausefl.{} import f as a\nfrom pausefl.{} import f as b\n\n\ndef use():\n    return a() - b()\n"
    )
    found = []
    for order in (("one", "two"), ("two", "one")):
        (tmp_path / "users.py").write_text(users.format(*order))
        found.append(code.Hashes(tmp_path).code(("pausefl.users:use",), ()))
    assert found[0] != found[1]
    assert found[0].parts == found[1].parts


def test_definitions_may_use_each_other(tmp_path: Path) -> None:
    text = (
        "def even(n):\n    return n == 0 or odd(n - 1)\n\n\ndef odd(n):\n    return n != {} and even(n - 1)\n"
    )
    hashes = set()
    for n in (0, 1):
        (tmp_path / "parity.py").write_text(text.format(n))
        hashes |= {code.Hashes(tmp_path).code((f"pausefl.parity:{name}",), ()) for name in ("even", "odd")}
    assert len(hashes) == 4


def test_each_choice_of_a_scenario_counts() -> None:
    names = [
        "mnist_large_iid_r1",
        "mnist_large_iid_r2",
        "mnist_large_iid_r1_update",
        "bsfl_fashion_iid",
        "bsfl_linear_iid",
        "cifar10_small_iid_r1",
        "cifar10_large_noniid_r1_cnn5",
        "demo_small",
    ]
    scenarios = [load_scenario(name, SCENARIOS) for name in names]
    hashes = {job_code(scenario, selector) for scenario in scenarios for selector in ("pause", "random")}
    assert len(hashes) == 2 * len(names)
    cifar = scenarios[5]
    more = {
        job_code(cifar, "pause", "cuda"),
        job_code(cifar, "pause", genie=True),
        job_code(cifar, "pause", in_folder=True),
    }
    assert len(hashes | more) == 2 * len(names) + 3


def test_fields_of_a_record_count_where_a_job_reads_them() -> None:
    roots, pause = ("pausefl.federated.run:run_job",), SELECTORS["pause"]
    before = code_hash(*roots, records=[pause])
    for name, counts in [("private", True), ("uniform_weights", True), ("stated_cost", False)]:
        changed = dataclasses.replace(pause, **{name: not getattr(pause, name)})
        assert (code_hash(*roots, records=[changed]) != before) == counts, name
    fc = MODELS["fc"]
    before = code_hash(*roots, records=[fc])
    for change, counts in [({"about": "x"}, False), ({"family": "other"}, True)]:
        assert (code_hash(*roots, records=[type(fc)(**vars(fc) | change)]) != before) == counts, change


def test_what_a_record_names_may_move(copy: Path) -> None:
    source = (copy / "selectors/baselines.py").read_text("utf-8")
    random = SELECTORS["random"]
    before = code.Hashes(copy).code((), (random,))
    with edited(copy, ("selectors/uniform.py", "", source)):
        moved = dataclasses.replace(random, code="pausefl.selectors.uniform:Random")
        assert code.Hashes(copy).code((), (moved,)) == before


@pytest.mark.parametrize("root", ["pausefl.streams:Steams", "pausefl.federated.run:run", "pausefl.stream:x"])
def test_a_root_that_is_not_there_is_an_error(root: str) -> None:
    with pytest.raises(LookupError):
        code_hash(root)


def test_what_differs_between_two_codes_is_named(copy: Path, today: Mapping[str, Code]) -> None:
    edits: list[Edit] = [
        ("streams.py", "user, round)\n        return np", "round, user)\n        return np"),
        ("bandit/rewards.py", _GENERALIZATION, "from pausefl.bandit.latency import generalization\n"),
        ("bandit/latency.py", "def mean_latencies", _GENERALIZATION + "\n\ndef mean_latencies"),
        ("bandit/latency.py", "    n_fast =", "    _half()\n    n_fast ="),
        (
            "bandit/latency.py",
            "def mean_latencies",
            "def _half() -> None:\n    print()\n\n\ndef mean_latencies",
        ),
    ]
    with edited(copy, *edits):
        now = hashed(copy, "pause")
    then = today["pause"].parts
    assert changes(then, now.parts) == {
        "changed": ["pausefl.bandit.latency:mean_latencies", "pausefl.streams:Streams"],
        "added": ["pausefl.bandit.latency:_half"],
        "removed": [],
    }
    assert changes(now.parts, then)["removed"] == ["pausefl.bandit.latency:_half"]
    assert not any(changes(then, then).values())


def test_studies_have_hashes_of_their_own() -> None:
    from pausefl.studies import load_studies

    studies = load_studies(SCENARIOS.parent / "studies.yaml", SCENARIOS)
    hashes = [study.code() for study in studies.values()]
    assert len(set(hashes)) > len({study.kind for study in studies.values()})
    assert all(len(one) == 16 and int(one, 16) >= 0 for one in hashes)


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions that Numba compiled, run by Python, so that calls of them are seen."""
    for record in (*SELECTORS.values(), *BACKENDS.values()):
        record.load()
    compiled = [
        (module, name, value)
        for key, module in list(sys.modules.items())
        if key.startswith("pausefl.")
        for name, value in vars(module).items()
        if hasattr(value, "py_func")
    ]
    for module, name, value in compiled:
        monkeypatch.setattr(module, name, value.py_func)


@pytest.mark.parametrize("selector", ["pause", "sa_pause", "clustered_similarity"])
def test_every_function_that_a_job_runs_counts(
    demo: Scenario,
    digits: Dataset,
    share_out: Callable[[Scenario], Partition],
    interpreted: None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    selector: str,
) -> None:
    codes: set[CodeType] = set()

    def record(frame: FrameType, event: str, argument: object) -> None:
        if frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # a function, not the body of a class
            codes.add(frame.f_code)

    scenario = demo.replace(training=demo.training.replace(max_batches=1, batch_size=2))
    few = dataclasses.replace(digits, test_x=digits.test_x[:2], test_y=digits.test_y[:2])
    monkeypatch.setattr("pausefl.federated.run.check_runnable", lambda *arguments: None)
    job = Job(scenario, selector, 0, 2, genie=True, device="cpu")  # says what is run, before it runs
    sys.setprofile(record)
    try:
        with np.errstate(over="ignore"):
            partition = share_out(scenario)
            run_job(job, few, partition, tmp_path)
    finally:
        sys.setprofile(None)
    ran, by_name = set(), ("pausefl.provenance", "pausefl.registry.base")
    for ran_code in codes:
        path = Path(ran_code.co_filename)
        if path.is_relative_to(PACKAGE):
            module = ".".join(("pausefl", *path.relative_to(PACKAGE).with_suffix("").parts))
            place = f"{module.removesuffix('.__init__')}:{ran_code.co_qualname.partition('.')[0]}"
            if not (place.startswith(by_name) or place.endswith("Record") or ":<" in place):
                ran.add(place)
    assert len(ran) > 40
    own = job_code(scenario, selector, genie=True)
    counted = set(own.parts)
    assert ran <= counted
