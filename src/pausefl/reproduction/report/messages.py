"""Pages of the documentation as parts of a report: one message after another, each with its picture."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

#: Pages of the documentation that a report shows: the first in every one, the others if it is on all figures.
LEDGER, FINDINGS, BENCHMARK = "deviations.md", "findings.md", "benchmark.md"

#: Pictures of the documentation that open such a report and explain the benchmark, with what they show.
OPENING = (
    "images/opening.png",
    "Test accuracy against rounds, where three selectors are alike, and against time",
)
RANKS = "images/benchmark_ranks.png", "Mean ranks of the selectors over six worlds and two laws of labels"

#: A picture of a page: what it shows, and its file. A link within the documentation: its words.
_PICTURE = re.compile(r"!\[(?P<alt>[^]]*)\]\((?P<file>[^)]+)\)")
_LINK = re.compile(r"(?<!!)\[(?P<words>[^]]+)\]\((?!https:)[^)]+\)")


@dataclass
class Block:
    """A picture with what is said of it, or text alone; all texts are Markdown."""

    alt: str = ""
    #: File of the picture, from the folder of the documentation; empty without one.
    picture: str = ""
    #: What stands below the picture.
    caption: str = ""
    paragraphs: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All paragraphs."""
        return "\n\n".join(self.paragraphs)


@dataclass(frozen=True)
class Message:
    """A section of a page."""

    title: str
    blocks: list[Block]

    @property
    def id(self) -> str:
        """Its id in a page of HTML."""
        return "message-" + re.sub(r"\W+", "-", self.title.lower()).strip("-")


@dataclass(frozen=True)
class Told:
    """What the documentation says of the published runs; all texts are Markdown."""

    #: What was found, in a few sentences.
    answers: str
    #: A table of which selector to take, and what there is to say of it.
    which: str
    about_which: str
    messages: list[Message]


def told(docs: Path) -> Told | None:
    """What the pages of a folder of documentation say; None where there are none, as in a wheel."""
    if not (docs / FINDINGS).exists():
        return None
    findings, benchmark = ((docs / name).read_text("utf-8") for name in (FINDINGS, BENCHMARK))
    answers, _, _ = opening(findings).partition("\n\n|")
    _, _, which = opening(benchmark).partition("\n\n|")  # below whom the page is for
    table, _, about = which.partition("\n\n")
    return Told(answers, f"|{table}", about, messages(findings))


def files(docs: Path) -> list[str]:
    """The pages and pictures that `told` and the report show of a folder of documentation, from there."""
    if not (docs / FINDINGS).exists():
        return []
    shown = [found["file"] for found in _PICTURE.finditer((docs / FINDINGS).read_text("utf-8"))]
    return [FINDINGS, BENCHMARK, OPENING[0], RANKS[0], *shown]


def messages(page: str) -> list[Message]:
    """The sections of a page of the documentation (Markdown), of level 2, without links to other pages."""
    _, *sections = re.split(r"^## ", _LINK.sub(r"\g<words>", page), flags=re.MULTILINE)
    parts = (section.partition("\n") for section in sections)
    return [Message(title, list(_blocks(text))) for title, _, text in parts]


def opening(page: str) -> str:
    """What is above the sections of a page: its Markdown below the title."""
    above, *_ = re.split(r"^## ", _LINK.sub(r"\g<words>", page), flags=re.MULTILINE)
    return re.split(r"^# .*$", above, flags=re.MULTILINE)[-1].strip()


def _blocks(text: str) -> Iterator[Block]:
    """The blocks of a section: each picture begins one, with the paragraph below it as its caption."""
    block = Block()
    for paragraph in re.split(r"\n\n+", text.strip()):
        if found := _PICTURE.fullmatch(paragraph):
            if block.picture:
                # A paragraph that ends in a colon leads to the picture below it.
                leading = block.paragraphs and block.paragraphs[-1].endswith(":")
                kept = [f"{block.paragraphs.pop()[:-1]}."] if leading else []
                yield block
                block = Block(paragraphs=kept)
            block.alt, block.picture = found["alt"], found["file"]
        elif block.picture and not block.caption and re.fullmatch(r"\*[^*].*\*", paragraph, re.DOTALL):
            block.caption = paragraph.strip("*")
        else:
            block.paragraphs.append(paragraph)
    yield block
