"""Configuration: what a scenario is, what is to be run, and every check made before a job starts.

A scenario is one federated experiment of a paper (``config/scenarios/NAME.yaml``). A configuration
(``config/config.yaml``) says where the data are and lists the experiments: which selectors and seeds
of which scenario. Shape, types and ranges are checked against the JSON schemas in ``schemas/``;
relations between keys are checked here. The schemas need the ``jsonschema`` package; a machine that
only runs jobs may lack it, and then a scenario is checked for unknown keys and relations alone.
"""

from __future__ import annotations

import dataclasses
import math
import re
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from pausefl.errors import ConfigError, suggest
from pausefl.registry.selectors import SELECTORS
from pausefl.registry.sources import SOURCES


@dataclass(frozen=True)
class DataSettings:
    """Which data set, and how much of it trains. See the scenario schema for each key."""

    source: str
    n_validation: int
    n_train: int | None = None
    folder: str | None = None
    image_size: int | None = None
    test_fraction: float | None = None
    n_examples: int | None = None
    n_features: int | None = None
    noise_std: float | None = None


@dataclass(frozen=True)
class PartitionSettings:
    """How the training examples are shared out among the users."""

    labels: str
    sizes: str
    min_size: int
    qualities: str
    dominant_share: float | None = None
    size_concentration: float | None = None


@dataclass(frozen=True)
class NetworkSettings:
    """Users and their latency law; all latencies in simulated seconds."""

    n_users: int
    n_selected: int
    latency_floor: float
    fast_latency_max: float
    slow_latency_min: float
    slow_latency_max: float
    latency_std: float
    round_latency_max: float | None = None


@dataclass(frozen=True)
class RewardSettings:
    """Reward of a selection: weights, exponent, and the clusters of R2."""

    name: str
    alpha: float
    beta: float
    gamma: float
    n_clusters: int | None = None
    overlap_penalty: float | None = None
    overlap_latency: float | None = None


@dataclass(frozen=True)
class PrivacySettings:
    """A user's budget, how it is spread over participations, and what it is spent on."""

    epsilon_total: float
    decay: float | None = None
    sensitivity: float | None = None
    mechanism: str = "coordinate"
    clip_norm: float | None = None
    schedule: str = "geometric"
    n_participations: int | None = None
    budgets: tuple[float, ...] | None = None
    sampler: str = "simulated"


@dataclass(frozen=True)
class SelectionSettings:
    """Constants of the bandit index and of simulated annealing."""

    exploitation: float
    n_iterations: int | None = None
    temperature_divisor: float | None = None


@dataclass(frozen=True)
class ModelSettings:
    """The network that is trained and its normalisation layers."""

    name: str
    norm: str


@dataclass(frozen=True)
class TrainingSettings:
    """Rounds, and what a user does in one of them."""

    n_rounds: int
    n_epochs: int
    batch_size: int
    max_batches: int
    learning_rate: float
    optimizer_state: str
    evaluate_every: int = 1
    precision: str = "float32"


@dataclass(frozen=True)
class Scenario:
    """One federated experiment: everything a job needs apart from a selector and a seed.

    Attributes
    ----------
    scale
        One of `SCALES`. Results of different scales are never put together.
    reduced
        At scale ``reduced``, what the scenario's base has in place of each key that differs, by dotted key.
    """

    name: str
    title: str
    data: DataSettings
    partition: PartitionSettings
    network: NetworkSettings
    reward: RewardSettings
    selection: SelectionSettings
    model: ModelSettings
    training: TrainingSettings
    selectors: tuple[str, ...]
    figures: dict[str, str]
    privacy: PrivacySettings | None = None
    scale: str = "paper"
    reduced: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for problem in _contradictions(self):
            raise ConfigError(f"scenario '{self.name}': {problem}")

    def as_dict(self) -> dict[str, Any]:
        """Plain nested dictionaries and lists, the form of the YAML file."""
        plain: dict[str, Any] = dataclasses.asdict(self)
        plain["selectors"] = list(self.selectors)
        return plain

    def job_settings(self) -> dict[str, Any]:
        """What the result of a job depends on: all but what tables and figures say of it."""
        return {key: value for key, value in self.as_dict().items() if key not in _PRESENTATION}


#: Keys of a scenario that only tables and figures read.
_PRESENTATION = ("title", "selectors", "figures", "scale", "reduced")

#: Scales of runs: the papers' settings, the same with less work, and data that come with a library.
SCALES = ("paper", "reduced", "demo")

#: What the names of scenarios, and so of folders and files that are written, are made of.
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Experiment:
    """One row of the experiment table: one federated job."""

    scenario: str
    selector: str
    seed: int


@dataclass(frozen=True)
class RawData:
    """Where raw data sets are, and what may be done when they are not there.

    Attributes
    ----------
    root, download, folders
        The keys ``data_root``, ``download`` and ``image_folders`` of the configuration.
    """

    root: Path
    download: bool
    folders: dict[str, str]


@dataclass(frozen=True)
class Config:
    """What to run.

    Attributes
    ----------
    raw, studies
        Where data and the file of studies are.
    scenarios, experiments
        The scenarios in use, and the table of jobs.
    published
        Whether the runs are those of ``results/published``, so that nothing is trained.
    """

    raw: RawData
    scenarios: dict[str, Scenario]
    experiments: tuple[Experiment, ...]
    studies: Path | None
    published: bool = False


#: A misspelt one of these would otherwise pass for the default on a machine without the validator.
_SAMPLERS = ("simulated", "secure")
_PRECISIONS = ("float32", "bfloat16")

#: The key of a privacy section that only one mechanism or schedule has.
_PRIVACY_KEYS = {
    "mechanism": {"coordinate": "sensitivity", "vector": "clip_norm"},
    "schedule": {"geometric": "decay", "uniform": "n_participations", "listed": "budgets"},
}


def _privacy_contradictions(privacy: PrivacySettings) -> Iterable[str]:
    """What is wrong with a privacy section beyond its schema."""
    for part, keys in _PRIVACY_KEYS.items():
        chosen = getattr(privacy, part)
        for choice, key in keys.items():
            given = getattr(privacy, key) is not None
            if choice == chosen and not given:
                yield f"privacy.{part} '{chosen}' needs privacy.{key}"
            if choice != chosen and given:
                yield f"privacy.{key} is for {part} '{choice}', and privacy.{part} is '{chosen}'"
    for key in ("epsilon_total", "decay", "sensitivity", "clip_norm", "n_participations"):
        value = getattr(privacy, key)
        if value is not None and value <= 0:
            yield f"privacy.{key} = {value} must be positive"
    if privacy.sampler not in _SAMPLERS:
        yield f"unknown privacy.sampler '{privacy.sampler}'. {suggest(privacy.sampler, _SAMPLERS)}"
    budgets, total = privacy.budgets, privacy.epsilon_total
    if budgets is None:
        return
    if not budgets or min(budgets) <= 0:
        yield "privacy.budgets must be positive numbers, one a participation"
    elif budgets[0] > total:
        yield (
            f"privacy.budgets: the first participation needs {budgets[0]}, more than the whole budget"
            f" epsilon_total = {total}: nobody could take part even once"
        )
    elif math.fsum(budgets) > total * (1 + 1e-12):
        yield f"privacy.budgets sum to {math.fsum(budgets):.12g}, more than epsilon_total = {total}"


def _contradictions(s: Scenario) -> Iterable[str]:
    """Relations between keys that a JSON schema cannot express, phrased for the user."""
    if not _NAME.fullmatch(s.name):
        yield "name must be of lower-case letters, digits and underscores, a letter first"
    if s.scale not in SCALES:
        yield f"unknown scale '{s.scale}'. {suggest(s.scale, SCALES)}"
    if s.scale == "reduced" and not s.reduced:
        yield "a scenario of scale 'reduced' has a base, from which it differs in some setting"
    n_users, n_selected = s.network.n_users, s.network.n_selected
    if n_selected > n_users:
        yield f"network.n_selected = {n_selected} exceeds network.n_users = {n_users}"
    if s.reward.name == "r2":
        n_clusters = s.reward.n_clusters
        if n_clusters is None or s.reward.overlap_penalty is None or s.reward.overlap_latency is None:
            yield "reward r2 needs n_clusters, overlap_penalty and overlap_latency"
        elif not 1 <= n_clusters <= n_users:
            yield f"reward.n_clusters = {n_clusters} must lie in 1 .. network.n_users = {n_users}"
    if s.reward.name == "bsfl" and s.reward.gamma != 0:
        yield f"reward.gamma = {s.reward.gamma} must be 0: reward bsfl has no privacy term"
    if s.reward.beta <= 1:
        yield f"reward.beta = {s.reward.beta} must exceed 1"
    if s.privacy is not None:
        yield from _privacy_contradictions(s.privacy)
    if s.training.evaluate_every < 1:
        yield f"training.evaluate_every = {s.training.evaluate_every} must be 1 or more"
    precision = s.training.precision
    if precision not in _PRECISIONS:
        yield f"unknown training.precision '{precision}'. {suggest(precision, _PRECISIONS)}"
    network = s.network
    means = (
        network.latency_floor,
        network.fast_latency_max,
        network.slow_latency_min,
        network.slow_latency_max,
    )
    if list(means) != sorted(means):
        yield (
            "network latencies must satisfy latency_floor <= fast_latency_max <= slow_latency_min"
            f" <= slow_latency_max, got {means}"
        )
    if s.partition.sizes == "dirichlet" and s.partition.size_concentration is None:
        yield "partition.sizes 'dirichlet' needs partition.size_concentration"
    if s.partition.labels == "dominant" and s.partition.dominant_share is None:
        yield "partition.labels 'dominant' needs partition.dominant_share"
    source = SOURCES.find(s.data.source)
    for key in source.requires:
        if getattr(s.data, key) is None:
            yield f"data.source '{s.data.source}' needs data.{key}"
    if source.regression and s.partition.labels == "dominant":
        yield f"partition.labels 'dominant' needs classes; '{s.data.source}' has none"
    if s.data.n_train is not None and s.data.n_train < n_users * max(s.partition.min_size, 1):
        yield (
            f"data.n_train = {s.data.n_train} examples cannot give {n_users} users"
            f" at least {max(s.partition.min_size, 1)} each (partition.min_size)"
        )
    for selector in s.selectors:
        if selector not in SELECTORS:
            yield f"unknown selector '{selector}'. {suggest(selector, SELECTORS)}"
            continue
        info = SELECTORS[selector]
        if info.anneals and None in (s.selection.n_iterations, s.selection.temperature_divisor):
            yield (
                f"selector '{selector}' anneals, and needs selection.n_iterations and"
                " selection.temperature_divisor"
            )
        if "network.round_latency_max" in info.requires and s.network.round_latency_max is None:
            yield f"selector '{selector}' needs network.round_latency_max"


def read_yaml(path: Path) -> dict[str, Any]:
    """Read one YAML mapping; syntax errors and missing files become `ConfigError`."""
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not valid YAML: {error}") from None
    if not isinstance(document, dict):
        raise ConfigError(f"{path}: expected a mapping of keys to values")
    return document


def load_schema(name: str) -> dict[str, Any]:
    """Return the JSON schema ``config`` or ``scenario``, as shipped with the package."""
    text = (
        resources.files("pausefl")
        .joinpath(f"settings/schemas/{name}.schema.yaml")
        .read_text(encoding="utf-8")
    )
    schema: dict[str, Any] = yaml.safe_load(text)
    return schema


def check_schema(document: Mapping[str, Any], schema_name: str, origin: str) -> None:
    """Raise `ConfigError` for the first violation of a schema, naming key, value and what is allowed.

    Does nothing where ``jsonschema`` is not installed (a machine that only runs jobs).
    """
    try:
        import jsonschema
    except ImportError:
        return
    validator = jsonschema.Draft202012Validator(load_schema(schema_name))
    errors = sorted(validator.iter_errors(document), key=_severity)
    for error in errors:
        raise ConfigError(f"{origin}: {_describe(error)}")


def _severity(error: Any) -> tuple[bool, list[str], str]:
    """Order of reporting: unknown keys first, since a misspelt key is missing under its right name too."""
    unknown_key = error.validator == "additionalProperties"
    return not unknown_key, [str(part) for part in error.absolute_path], error.message


def _describe(error: Any) -> str:
    """One line a user can act on, from a ``jsonschema`` error."""
    where = ".".join(str(part) for part in error.absolute_path)
    prefix = f"{where}." if where else ""
    if error.validator == "additionalProperties":
        allowed = error.schema["properties"]
        unknown = next(key for key in error.instance if key not in allowed)
        return f"unknown key '{prefix}{unknown}'. {suggest(str(unknown), allowed)}"
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        return f"missing key '{prefix}{missing}'"
    if error.validator == "enum":
        choices = [str(choice) for choice in error.validator_value]
        return f"{where} = {error.instance!r} is not known. {suggest(str(error.instance), choices)}"
    meaning = error.schema.get("description") if isinstance(error.schema, Mapping) else None
    return f"{where or 'document'}: {error.message}" + (f" ({meaning})" if meaning else "")


def _build(cls: type, values: Mapping[str, Any], where: str) -> Any:
    """Make a settings dataclass from a mapping, refusing unknown and missing keys."""
    if not isinstance(values, Mapping):
        raise ConfigError(
            f"{where.rstrip('.') or 'document'} = {values!r} must be a mapping of keys to values"
        )
    fields = {field.name: field for field in dataclasses.fields(cls)}
    for key in values:
        if key not in fields:
            raise ConfigError(f"unknown key '{where}{key}'. {suggest(str(key), fields)}")
    hints = typing.get_type_hints(cls)
    built: dict[str, Any] = {}
    for name, member in fields.items():
        if name not in values:
            if dataclasses.MISSING is member.default is member.default_factory:
                raise ConfigError(f"missing key '{where}{name}'")
            continue
        value, hint = values[name], hints[name]
        if isinstance(hint, types.UnionType):
            hint = next(part for part in typing.get_args(hint) if part is not types.NoneType)
        if dataclasses.is_dataclass(hint) and value is not None:
            value = _build(typing.cast(type, hint), value, f"{where}{name}.")
        elif hint is int and isinstance(value, float) and value.is_integer():
            value = int(value)
        built[name] = tuple(value) if isinstance(value, list) else value
    return cls(**built)


def scenario_from_dict(document: Mapping[str, Any], origin: str = "scenario") -> Scenario:
    """Check a scenario document and build it.

    Raises
    ------
    ConfigError
        If a key is unknown, missing, of the wrong type or out of range, or contradicts another.
    """
    check_schema(document, "scenario", origin)
    try:
        scenario: Scenario = _build(Scenario, document, "")
    except ConfigError as error:
        raise ConfigError(f"{origin}: {error}") from None
    return scenario


def load_scenario(name: str, folder: Path) -> Scenario:
    """Load the scenario ``folder/NAME.yaml``; `ConfigError` names the nearest one if there is none."""
    path = folder / f"{name}.yaml"
    if not path.is_file():
        known = scenario_names(folder)
        if not known:
            raise ConfigError(f"no scenarios in {folder}: expected files NAME.yaml there")
        raise ConfigError(f"unknown scenario '{name}'. {suggest(name, known)}")
    scenario = scenario_from_dict(_on_base(read_yaml(path), path), str(path))
    if scenario.name != name:
        raise ConfigError(f"{path}: name = '{scenario.name}' must equal the file's name, '{name}'")
    return scenario


#: Keys that a scenario does not take from its base.
_OWN = ("name", "title", "figures")


def _on_base(document: dict[str, Any], path: Path) -> dict[str, Any]:
    """A scenario document laid over its base, the scenario of the same folder that its key ``base`` names."""
    if "base" not in document:
        return document
    base, known = document["base"], scenario_names(path.parent)
    if base not in known:
        raise ConfigError(f"{path}: base = {base!r} is not known. {suggest(str(base), known)}")
    base_path = path.with_name(f"{base}.yaml")
    whole = read_yaml(base_path)
    if "base" in whole:
        raise ConfigError(f"{path}: base = '{base}' has a base itself; name a scenario without one")
    below = scenario_from_dict(whole, str(base_path))  # what is wrong with the base is said of its own file
    inherited = {key: value for key, value in whole.items() if key not in _OWN}
    merged = _merged(inherited, {key: value for key, value in document.items() if key != "base"})
    if document.get("scale") == "reduced":
        settings = {key: value for key, value in below.job_settings().items() if key not in _OWN}
        merged["reduced"] = dict(_replaced(settings, document))
    return merged


def _replaced(
    below: Mapping[str, Any], above: Mapping[str, Any], prefix: str = ""
) -> Iterable[tuple[str, Any]]:
    """Values of ``below`` that those of ``above`` replace, by dotted key."""
    for key, old in below.items():
        value = above.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            yield from _replaced(old, value, f"{prefix}{key}.")
        elif value is not None and old != value:
            yield f"{prefix}{key}", old


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Two mappings in one: mappings in both are merged key by key, any other value is that of ``above``."""
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            merged[key] = _merged(old, value)
        else:
            merged[key] = value
    return merged


def scenario_names(folder: Path) -> list[str]:
    """Names of all scenario files in a folder, sorted."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def check_selectors(scenario: Scenario, selectors: Iterable[str]) -> None:
    """Raise `ConfigError` unless every selector is known and applies to the scenario."""
    for selector in selectors:
        if selector not in SELECTORS:
            raise ConfigError(f"unknown selector '{selector}'. {suggest(selector, SELECTORS)}")
        if selector not in scenario.selectors:
            raise ConfigError(
                f"selector '{selector}' does not apply to scenario '{scenario.name}', whose selectors are"
                f" {', '.join(scenario.selectors)}"
            )


def load_config(document: Mapping[str, Any], origin: str = "config") -> Config:
    """Check a whole configuration, its scenarios included, and expand the experiment table.

    Parameters
    ----------
    document
        The merged configuration, as Snakemake passes it.
    origin
        Named in error messages.

    Raises
    ------
    ConfigError
        For the first thing that is wrong, before anything runs.
    """
    check_schema(document, "config", origin)
    folder = Path(document["scenarios"])
    scenarios: dict[str, Scenario] = {}
    experiments: list[Experiment] = []
    for row in document["experiments"]:
        name = row["scenario"]
        if name in scenarios:
            raise ConfigError(
                f"{origin}: scenario '{name}' is listed twice in experiments; merge the two rows"
            )
        scenario = load_scenario(name, folder)
        check_selectors(scenario, row["selectors"])
        scenarios[name] = scenario
        experiments += [
            Experiment(name, selector, seed) for selector in row["selectors"] for seed in row["seeds"]
        ]
    raw = RawData(Path(document["data_root"]), document["download"], dict(document["image_folders"]))
    studies = document["studies"]
    return Config(
        raw,
        scenarios,
        tuple(experiments),
        None if studies is None else Path(studies),
        published=document.get("runs", "computed") == "published",
    )
