"""The list of wrong versions of the library is up to date; ``tests/mutation/mutation.py`` tries them."""

from __future__ import annotations

from collections import Counter

import pytest
from mutation import OUTCOMES, ROOT, read, seen

MUTANTS = list(read())


@pytest.mark.parametrize("file", dict.fromkeys(mutant.file for mutant in MUTANTS))
def test_every_old_text_is_there_once_and_every_new_one_compiles(file: str) -> None:
    for mutant in (each for each in MUTANTS if each.file == file):
        assert mutant.new != mutant.old, mutant.name
        compile(mutant.text(ROOT), file, "exec")


def test_every_mutant_has_tests_and_says_what_it_breaks() -> None:
    assert all(mutant.breaks and mutant.tests for mutant in MUTANTS)
    missing = {test for mutant in MUTANTS for test in mutant.tests if not (ROOT / test).is_file()}
    assert missing == set()
    changes = Counter((mutant.file, mutant.old, mutant.new) for mutant in MUTANTS)
    assert max(changes.values()) == 1
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


def test_no_mutant_was_seen_to_survive() -> None:
    found = seen()
    assert found.keys() <= {mutant.name for mutant in MUTANTS}
    assert set(found.values()) <= set(OUTCOMES) - {"survived"}
    assert not [name for name, outcome in found.items() if outcome == "equivalent" and not argued(name)]


def argued(name: str) -> str:
    """Why a mutant is said to be equivalent."""
    return next(mutant.equivalent for mutant in MUTANTS if mutant.name == name)


def test_an_old_text_that_is_gone_is_an_error() -> None:
    first = MUTANTS[0]
    gone = type(first)(1, first.file, "no such text", "", "nothing", first.tests)
    with pytest.raises(ValueError, match=f"the old text is 0 times in {first.file}: no such text"):
        gone.text(ROOT)
