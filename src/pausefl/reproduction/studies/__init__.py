"""Studies: selection without training, audits of the noise, and runs of changed scenarios side by side.

A kind of study is a class with its settings, computation and figure, in a module of its own; its caption is
in `pausefl.reproduction.studies.words`. What all have in common is in `pausefl.reproduction.studies.base`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from inspect import cleandoc
from pathlib import Path
from typing import Any, Self

from pydantic import Field, GetJsonSchemaHandler, create_model, model_validator
from pydantic_core import CoreSchema

from pausefl.reproduction.studies.base import Study
from pausefl.schema.base import Settings
from pausefl.schema.types import Name
from pausefl.schema.yaml import read_yaml

__all__ = ["Studies", "Study", "file_of_studies", "kinds", "load_studies", "study_of"]


@cache
def kinds() -> dict[str, type[Study]]:
    """Every kind of study by its name: of the module ``kind`` of this package the class ``Kind``."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    names = [name for name in names if name not in ("base", "words")]
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in names}
    return {name: getattr(module, name.title().replace("_", "")) for name, module in modules.items()}


class Studies(dict[str, Study]):
    """Studies by name, in the order of their file; the name is the workflow's target."""

    def of_kind(self, kind: str) -> dict[str, Any]:
        """Those of a kind."""
        return {name: study for name, study in self.items() if study.kind == kind}

    def published(self, folder: Path) -> Studies:
        """Those that have a folder in ``folder``; one file has the studies of all configurations."""
        return Studies({name: one for name, one in self.items() if (folder / name).is_dir()})

    def simulation_of(self, scenario: str) -> str | None:
        """Name of the study that simulates the jobs of a scenario; None if there is none."""
        simulated = self.of_kind("selection").items()
        return next((name for name, study in simulated if study.simulates == scenario), None)


class _File(Settings):
    """Studies that need neither training nor data; and, in `changes` and `benchmark`, those of jobs."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return handler(core)  # each key has its description

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        kind_of: dict[str, str] = {}
        simulated: dict[str, str] = {}
        for kind, studies in self:
            for name, study in studies.items():
                if kind_of.setdefault(name, kind) != kind:
                    raise ValueError(f"study '{name}' is there twice")
                scenario = getattr(study, "simulates", "")
                if scenario and (first := simulated.setdefault(scenario, name)) != name:
                    same = f"'{first}' simulates scenario '{scenario}', too"
                    raise ValueError(f"{kind}.{name}.scenario: {same}")
        return self


@cache
def file_of_studies() -> type[Settings]:
    """Settings of a file of studies: for each kind, studies by name."""
    fields: dict[str, Any] = {}
    for kind, model in kinds().items():
        meaning = cleandoc(model.__doc__ or "").partition("\n\n")[0]
        fields[kind] = (dict[Name, model], Field({}, description=meaning))  # type: ignore[valid-type]
    return create_model("Studies", __base__=_File, __doc__=_File.__doc__, **fields)


def load_studies(path: Path | None, *folders: Path) -> Studies:
    """Studies of a file, none without one; scenarios are of the first of the ``folders`` that has them.

    `ConfigError` for the first thing that is wrong, naming the study.
    """
    if path is None:
        return Studies()
    document = read_yaml(path)
    by_kind = dict(file_of_studies().read(document, str(path), {"scenarios": folders}))
    return Studies({name: study for kind in document for name, study in by_kind[kind].items()})


def study_of(kind: str, settings: Mapping[str, Any]) -> Any:
    """Study of what `Study.settings` returns, without a title."""
    return kinds()[kind].read({**settings, "title": ""}, f"study of kind '{kind}'")
