"""Pages of the documentation as messages of the report: pictures with their words, and no dead links."""

from __future__ import annotations

from pathlib import Path

from pausefl.reproduction.report.messages import files, messages, opening, told

ROOT = Path(__file__).parents[3]
PAGE = """<!-- made -->

# Title

Above, [a link](other.md#there).

## First

![What it shows](images/a.png)

*Caption of
a.*

Said of a. [Far](https://example.org/x)

Leads on:

![Next](images/b.png)

Said of b.

## Second

**Only** words.
"""


def test_a_picture_has_what_is_said_of_it() -> None:
    first, second = messages(PAGE)
    a, b = first.blocks
    assert (a.picture, a.alt, a.caption) == ("images/a.png", "What it shows", "Caption of\na.")
    assert a.text == "Said of a. [Far](https://example.org/x)"
    assert (b.picture, b.caption, b.text) == ("images/b.png", "", "Leads on.\n\nSaid of b.")
    (words,) = second.blocks
    assert (second.title, second.id, words.picture, words.text) == (
        "Second",
        "message-second",
        "",
        "**Only** words.",
    )


def test_what_is_above_the_sections_has_no_title_and_no_links_to_other_pages() -> None:
    assert opening(PAGE) == "Above, a link."


def test_every_page_and_picture_that_is_told_is_a_file_of_the_documentation() -> None:
    of_pages = told(ROOT / "docs")
    assert of_pages is not None
    blocks = [block for message in of_pages.messages for block in message.blocks if block.picture]
    assert len(blocks) > 3
    assert all(block.caption for block in blocks)
    assert all((ROOT / "docs" / name).is_file() for name in files(ROOT / "docs"))
    assert of_pages.which.startswith("| Your clients")
    assert of_pages.answers.startswith("- **")
    assert "|" not in of_pages.about_which


def test_a_folder_without_the_pages_tells_nothing(tmp_path: Path) -> None:
    assert told(tmp_path) is None
    assert files(tmp_path) == []
