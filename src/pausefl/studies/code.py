"""Which code the numbers of a study depend on."""

from __future__ import annotations

from collections.abc import Iterable

from pausefl.provenance import code_hash

#: Selectors that a kind of study needs besides those it names.
_BESIDES = {"regret": {"genie"}, "comparison": {"bsfl", "pause"}, "runtime": {"pause"}}

#: Where drawing is not a step of its own, the code that draws belongs to that of the numbers.
_MODULES = {
    "generalization": "pausefl.figures.generalization",
}


def study_code(kind: str, selectors: Iterable[str] = ()) -> str:
    """Hash of the code that a study's numbers depend on.

    Parameters
    ----------
    kind
        A key of the file of studies, e.g. ``comparison``.
    selectors
        Selectors that are studied; of a regret study, those of one run.
    """
    module = _MODULES.get(kind, f"pausefl.studies.{kind}")
    modules = [module] if module.startswith("pausefl.studies") else [module, f"pausefl.studies.{kind}"]
    return code_hash(*modules, selectors=_BESIDES.get(kind, set()) | set(selectors))
