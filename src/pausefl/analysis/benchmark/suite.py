"""What a benchmark consists of: worlds, laws of labels, seeds, and the selectors that are published."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field

from pausefl.errors import ConfigError, suggest
from pausefl.federated.runnable import check_runnable
from pausefl.schema.base import Settings
from pausefl.schema.types import Distinct, Name, Seed, Text
from pausefl.selectors.settings import Share
from pausefl.settings import SHIPPED, home, load_scenario, read_yaml
from pausefl.settings.dotted_keys import with_values
from pausefl.settings.scenario import Scenario, SelectorName

#: The file of all benchmarks, below `home`.
FILE = Path("config/benchmarks.yaml")


class World(Settings):
    """How long clients take, who can be asked, and who answers."""

    title: Text
    """What tables and figures call it."""
    law: Text
    """The law of latencies and answers, in words."""


class Cell(NamedTuple):
    """A world with a law of labels: what one comparison of selectors is made in."""

    world: str
    labels: str


class Suite(Settings):
    """Worlds, laws of labels and seeds that selectors are compared in."""

    title: Text
    """Data and network, in words."""
    scenarios: Text
    """Name of the scenario of a world and a law of labels, with the places `{world}` and `{labels}`."""
    changes: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Keys that replace those of all scenarios, by section; the name of the benchmark then begins theirs."""
    worlds: dict[Name, World]
    """Worlds by name."""
    labels: dict[Name, Text]
    """Laws of labels by name, with what tables call them."""
    seeds: Distinct[Seed]
    """Seeds of the published runs."""
    selectors: Distinct[SelectorName]
    """Selectors of the published runs; one that cannot run in a world is left out there."""
    target: Share
    """Accuracy in [0, 1] that the time to reach is compared of."""
    name: Name
    """Its name, the key that it has in the file."""

    @cached_property
    def cells(self) -> dict[Cell, Scenario]:
        """The scenario of each world with each law of labels; `ConfigError` if there is none."""
        return {
            Cell(world, labels): self._scenario(world, labels)
            for world in self.worlds
            for labels in self.labels
        }

    def _scenario(self, world: str, labels: str) -> Scenario:
        shipped = load_scenario(self.scenarios.format(world=world, labels=labels), home() / SHIPPED)
        if not self.changes:
            return shipped
        values = {
            f"{section}.{key}": value for section, keys in self.changes.items() for key, value in keys.items()
        }
        changed = with_values(shipped, values, f"{FILE}, {self.name}")
        title = f"{self.title}, {self.worlds[world].title}, {self.labels[labels]}"
        return changed.replace(name=f"{self.name}_{shipped.name}", title=title, changed={})

    def runnable(self, selector: str) -> tuple[list[Cell], dict[Cell, str]]:
        """Cells that a selector can run in, and why it cannot in the others.

        Raises
        ------
        ConfigError
            If it is not known, or can run in none.
        """
        can, why = list[Cell](), dict[Cell, str]()
        for cell, scenario in self.cells.items():
            try:
                check_runnable(scenario, [selector])
                scenario.make_selector(selector)
            except ConfigError as error:
                why[cell] = str(error)
            else:
                can.append(cell)
        if not can:
            raise ConfigError(next(iter(why.values())))
        return can, why

    def part(self, worlds: Sequence[str], labels: Sequence[str], seeds: Sequence[int]) -> Suite:
        """The benchmark with some of its worlds, laws of labels and seeds; all where none are given.

        Raises
        ------
        ConfigError
            If one of them is not in the benchmark; of seeds, since nothing is published to pair it with.
        """
        for what, given, known in (("world", worlds, self.worlds), ("law of labels", labels, self.labels)):
            if unknown := [one for one in given if one not in known]:
                raise ConfigError(f"unknown {what} '{unknown[0]}'. {suggest(unknown[0], known)}")
        if unpublished := [seed for seed in seeds if seed not in self.seeds]:
            raise ConfigError(
                f"seed {unpublished[0]} has no published runs to be paired with; these have:"
                f" {', '.join(map(str, self.seeds))}"
            )
        return self.replace(
            worlds={name: one for name, one in self.worlds.items() if name in worlds or not worlds},
            labels={name: one for name, one in self.labels.items() if name in labels or not labels},
            seeds=tuple(seed for seed in self.seeds if seed in seeds or not seeds),
        )


def settings_digest(scenario: Scenario) -> str:
    """Digest of the settings that all selectors of a scenario share, of which results can be compared."""
    settings = {key: value for key, value in scenario.job_settings().items() if key != "name"}
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]


def suites() -> dict[str, Suite]:
    """All benchmarks that come with pausefl, by name."""
    document: Mapping[str, Any] = read_yaml(home() / FILE)
    return {
        name: Suite.read({**settings, "name": name}, f"{FILE}, {name}") for name, settings in document.items()
    }


def find_suite(name: str) -> Suite:
    """A benchmark by its name; `ConfigError` with the nearest one if there is none."""
    if name not in (known := suites()):
        raise ConfigError(f"unknown benchmark '{name}'. {suggest(name, known)}")
    return known[name]
