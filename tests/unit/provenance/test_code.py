"""The hash of a job's code changes with what can bear on its numbers, and with nothing else."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType

import numpy as np
import pytest
from edits import (
    Copy,
    Edit,
    add_statement,
    change_default,
    change_number,
    change_operator,
    drop_decorators,
    insert,
    insert_at_top,
)

import pausefl
from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.federated.job import Job
from pausefl.federated.run import run_job
from pausefl.provenance import code, code_hash, job_code
from pausefl.provenance.definitions import Definition, definitions, source
from pausefl.registry import BACKENDS, MODELS, REWARDS, SELECTORS, SOURCES, Record
from pausefl.settings import Scenario, load_scenario

SCENARIOS = Path(__file__).parents[3] / "config" / "scenarios"
PACKAGE = Path(pausefl.__file__).parent


@pytest.fixture(scope="module")
def mnist() -> Scenario:
    """MNIST, fc, reward R1; the noise is of the coordinate mechanism with the geometric schedule."""
    return load_scenario("mnist_large_iid_r1", SCENARIOS)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copy]:
    """A copy of the package that is hashed in place of the package."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        found = Copy(tmp_path_factory.mktemp("copy"), monkeypatch)
        yield found
    found.forget()


def test_a_copy_has_the_hash_of_the_original(copy: Copy, mnist: Scenario) -> None:
    original = job_code(mnist, "pause")
    copy.forget()
    assert job_code(mnist, "pause") == original


CHANGES: list[tuple[str, str, Edit]] = [
    *[
        (module, name, add_statement(name))
        for module, name in [
            ("pausefl.data.sources.idx", "read_mnist"),
            ("pausefl.data.sources.idx", "_read_idx"),
            ("pausefl.data.sources", "prepare"),
            ("pausefl.data.dataset", "Dataset"),
            ("pausefl.data.dataset", "load_dataset"),
            ("pausefl.data.partition", "make_partition"),
            ("pausefl.data.partition", "QUALITY_RANGE"),
            ("pausefl.streams", "Streams.generator"),
            ("pausefl.bandit.latency", "LatencyLaw"),
            ("pausefl.bandit.latency", "mean_latencies"),
            ("pausefl.bandit.history", "History.observe"),
            ("pausefl.bandit.rewards", "Reward.value"),
            ("pausefl.bandit.rewards", "AverageReward.scores"),
            ("pausefl.selectors.base", "Selector"),
            ("pausefl.selectors.search", "Search"),
            ("pausefl.selectors.exact", "Pause"),
            ("pausefl.selectors.exact", "pivot_and_fill"),
            ("pausefl.privacy.mechanisms", "CoordinateMechanism.clip"),
            ("pausefl.privacy.samplers", "SimulatedSampler.add"),
            ("pausefl.privacy.philox", "standard_laplace"),
            ("pausefl.privacy.schedule", "GeometricSchedule.epsilon"),
            ("pausefl.privacy.ledger", "Ledger.spend"),
            ("pausefl.privacy.protection", "Protection"),
            ("pausefl.training.engine", "Trainer"),
            ("pausefl.training.engine", "build_model"),
            ("pausefl.training.batches", "plan_batches"),
            ("pausefl.training.optimizers", "UserAdam"),
            ("pausefl.training.optimizers", "BETA_1"),
            ("pausefl.training.flat", "FlatModel"),
            ("pausefl.training.models", "fc"),
            ("pausefl.training.models", "Mlp"),
            ("pausefl.training.backends.base", "Workbench"),
            ("pausefl.training.backends.dense", "Dense"),
            ("pausefl.training.backends.kernels", "train_user"),
            ("pausefl.federated.simulation", "Simulation.run"),
            ("pausefl.federated.simulation", "Simulation.restore"),
            ("pausefl.federated.earlier", "Checkpoint.load"),
            ("pausefl.federated.job", "run_job"),
            ("pausefl.federated.job", "write_files"),
            ("pausefl.registry.base", "Record.load"),
            ("pausefl.registry.backends", "fastest_backend"),
        ]
    ],
    ("pausefl.bandit.rewards", "another operator", change_operator("generalization")),
    ("pausefl.privacy.mechanisms", "another number", change_number("CoordinateMechanism.clip")),
    ("pausefl.federated.job", "a default argument", change_default("run_job")),
    ("pausefl.bandit.history", "a decorator", drop_decorators("Feedback")),
    (
        "pausefl.training.engine",
        "an effect of importing",
        insert_at_top("torch.use_deterministic_algorithms(True)"),
    ),
    ("pausefl.training", "an effect of a package", insert_at_top("print.__call__('x')")),
    (
        "pausefl.federated.simulation",
        "an error that the loop survives",
        insert("Simulation.run", "if n_rounds > 7: raise PrivacyError('more')"),
    ),
    (
        "pausefl.selectors.exact",
        "a function of another package",
        insert("pivot_and_fill", "from pausefl.data.partition import partition_key"),
    ),
    (
        "pausefl.federated.job",
        "a local name that shadows a module",
        insert(
            "run_job",
            "if True:\n    from pausefl import streams\n"
            "    both = streams.Streams, lambda streams: streams.seed",
        ),
    ),
    ("pausefl.bandit.rewards", "another library", insert_at_top("from scipy import special as np")),
]


@pytest.mark.parametrize(("module", "name", "edit"), CHANGES, ids=[f"{m}:{n}" for m, n, _ in CHANGES])
def test_what_a_job_computes_with_counts(
    copy: Copy, mnist: Scenario, module: str, name: str, edit: Edit
) -> None:
    before = job_code(mnist, "pause")
    with copy.edited(module, edit):
        assert job_code(mnist, "pause") != before


OTHERS: list[tuple[str, str, Edit]] = [
    *[
        (module, name, add_statement(name))
        for module, name in [
            ("pausefl.data.sources.cifar10", "read"),
            ("pausefl.data.sources.folder", "read_mnist"),
            ("pausefl.data.sources.official", "download_files"),
            ("pausefl.data.partition", "partition_key"),
            ("pausefl.bandit.rewards", "OverlapReward"),
            ("pausefl.selectors.exact", "Bsfl"),
            ("pausefl.selectors.annealing", "SaPause"),
            ("pausefl.privacy.mechanisms", "VectorMechanism"),
            ("pausefl.privacy.samplers", "SecureSampler"),
            ("pausefl.privacy.schedule", "UniformSchedule"),
            ("pausefl.privacy.pld", "epsilons"),
            ("pausefl.training.models", "cnn3"),
            ("pausefl.training.backends.one_by_one", "OneByOne"),
            ("pausefl.training.backends.stacked", "Stacked"),
            ("pausefl.training.backends.layers", "stacked"),
            ("pausefl.training.backends.convolutions", "fastest"),
            ("pausefl.training.backends.autograd", "Autograd"),
            ("pausefl.federated.runnable", "check_runnable"),
            ("pausefl.registry.selectors", "SelectorRecord"),
            ("pausefl.settings", "__all__"),
            ("pausefl.errors", "suggest"),
            ("pausefl.files", "check_writable"),
            ("pausefl.provenance.machine", "hardware"),
            ("pausefl.cli", "run"),
        ]
    ],
    ("pausefl.federated.job", "a check", insert("run_job", "check_more(job, dataset)")),
    ("pausefl.federated.job", "a note", insert("run_job", "saving.note(f'{job} begins')")),
    ("pausefl.federated.job", "a refusal", insert("run_job", "if job.seed > 9: raise ConfigError('no')")),
    (
        "pausefl.federated.job",
        "a refusal with a prepared message",
        insert("run_job", "if job.seed > 9:\n    text = f'{job}'\n    raise ConfigError(text)"),
    ),
    ("pausefl.federated.job", "an assertion", insert("run_job", "assert job.seed < 9")),
    ("pausefl.federated.job", "a function beside it", insert_at_top("def unused(): return run_job")),
    ("pausefl.registry.models", "another record", change_number("MODELS")),
    ("pausefl.streams", "an import", insert_at_top("import os")),
]


@pytest.mark.parametrize(("module", "name", "edit"), OTHERS, ids=[f"{m}:{n}" for m, n, _ in OTHERS])
def test_what_it_does_not_compute_with_does_not_count(
    copy: Copy, mnist: Scenario, module: str, name: str, edit: Edit
) -> None:
    before = job_code(mnist, "pause")
    with copy.edited(module, edit):
        assert job_code(mnist, "pause") == before


@pytest.mark.parametrize(
    "package", ["figures", "claims", "report", "results", "studies", "workflow", "settings"]
)
def test_no_edit_of_a_package_that_no_job_runs_counts(copy: Copy, mnist: Scenario, package: str) -> None:
    before = job_code(mnist, "pause")
    with copy.emptied(package):
        assert job_code(mnist, "pause") == before


def test_words_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mnist: Scenario) -> None:
    names = ["pause", "sa_pause", "clustered_similarity", "cs_ucb"]
    before = [job_code(mnist, name, genie=True) for name in names]
    Copy(tmp_path, monkeypatch).reword()
    assert [job_code(mnist, name, genie=True) for name in names] == before


def test_a_definition_may_move_to_another_module(copy: Copy, mnist: Scenario) -> None:
    before = job_code(mnist, "pause")
    moved: list[ast.stmt] = []

    def take(tree: ast.Module) -> None:
        functions = [s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == "generalization"]
        moved.extend(functions)
        index = tree.body.index(functions[0])
        tree.body[index] = ast.parse("from pausefl.bandit.generalization import generalization").body[0]

    with copy.edited("pausefl.bandit.rewards", take):
        text = f"import numpy as np\n\n{ast.unparse(moved[0])}\n"
        (copy.root / "bandit" / "generalization.py").write_text(text, encoding="utf-8")
        assert job_code(mnist, "pause") == before


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
    read = ("private", "uniform_weights", "needs_updates", "needs_losses")
    before = code_hash(*roots, records=[pause])
    for record in SELECTORS.values():
        if record.code != pause.code:
            same_code = type(record)(**{**vars(record), "code": pause.code})
            reads = tuple(getattr(record, name) for name in read)
            as_pause = tuple(getattr(pause, name) for name in read)
            assert (code_hash(*roots, records=[same_code]) == before) == (reads == as_pause), record
    fc = MODELS["fc"]
    before = code_hash(*roots, records=[fc])
    for change, counts in [({"about": "x"}, False), ({"minutes": 1}, False), ({"family": "other"}, True)]:
        assert (code_hash(*roots, records=[type(fc)(**vars(fc) | change)]) != before) == counts, change


def test_a_hash_is_sixteen_hexadecimal_digits(mnist: Scenario) -> None:
    assert len(job_code(mnist, "pause")) == 16
    assert int(job_code(mnist, "pause"), 16) >= 0


def test_modules_are_roots_too(copy: Copy) -> None:
    both = code_hash("pausefl.streams", "pausefl.training.models")
    assert both == code_hash("pausefl.training.models", "pausefl.streams")
    before = code_hash("pausefl.figures.style")
    with copy.edited("pausefl.figures.style", insert_at_top("EDITED = True")):
        assert code_hash("pausefl.figures.style") != before


@pytest.mark.parametrize("root", ["pausefl.streams:Steams", "pausefl.federated.job:run"])
def test_a_root_that_is_not_there_is_an_error(root: str) -> None:
    with pytest.raises(LookupError, match="has no definition"):
        code_hash(root)


def _all_definitions() -> list[Definition]:
    modules = [
        ".".join(("pausefl", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
        for path in PACKAGE.rglob("*.py")
    ]
    return [definition for module in modules for definition in definitions(module)]


def test_nothing_that_a_job_runs_survives_a_refusal() -> None:
    """Branches that end in one are left out of the hash, so a job must end with it."""
    refusals = {"PauseflError", "ConfigError", "DataError", "StoppedError"}
    found = [
        (definition, ast.unparse(handler.type))
        for definition in code.reached("pausefl.federated.run:run_job")
        for handler in ast.walk(ast.parse(source(definition).text))
        if isinstance(handler, ast.ExceptHandler) and handler.type is not None
        if refusals & {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}
    ]
    assert not found


def test_checks_change_nothing() -> None:
    """Calls of ``check_…`` are left out of the hash, so these assign to nothing that they are given."""
    for path in PACKAGE.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef) and function.name.lstrip("_").startswith("check_"):
                given = {argument.arg for argument in ast.walk(function) if isinstance(argument, ast.arg)}
                assert not given & set(_changed(function)), (path, function.name)


def _changed(function: ast.FunctionDef) -> Iterator[str]:
    """Names of what a function assigns attributes or items of."""
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            base: ast.expr = node
            while isinstance(base, ast.Attribute | ast.Subscript):
                base = base.value
            yield ast.unparse(base)


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
    monkeypatch.setattr("pausefl.federated.job.check_runnable", lambda *arguments: None)
    sys.setprofile(record)
    try:
        with np.errstate(over="ignore"):
            partition = share_out(scenario)
            run_job(Job(scenario, selector, 0, 2, genie=True, device="cpu"), few, partition, tmp_path)
    finally:
        sys.setprofile(None)
    ran = set()
    for ran_code in codes:
        path = Path(ran_code.co_filename)
        if path.is_relative_to(PACKAGE):
            module = ".".join(("pausefl", *path.relative_to(PACKAGE).with_suffix("").parts))
            ran.add((module.removesuffix(".__init__"), ran_code.co_qualname.partition(".")[0]))
    ran = {
        (module, name)
        for module, name in ran
        if not module.startswith(("pausefl.settings", "pausefl.errors", "pausefl.provenance"))
        and not name.lstrip("_").startswith(("check_", "<"))
    }
    assert len(ran) > 40
    data, model = SOURCES[demo.data.source], MODELS[demo.model.name]
    records: list[Record] = [
        data,
        model,
        BACKENDS["kernels"],
        *code.scenario_records(demo, [selector, "genie"]),
    ]
    roots = [*code._JOB, *(record.code for record in records)]
    found = frozenset().union(*(code.reached(root) for root in roots))
    found, _ = code._with_methods(found, frozenset(map(type, records)))
    counted = {(definition.module, definition.name.partition(".")[0]) for definition in found}
    assert ran <= counted
    assert REWARDS[demo.reward.name] in records
