"""The settings of every annotator (parser or tagger).

To add one: its settings here, a line in `ANNOTATORS`, its code in `annotation/{tool}.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from nmtcore.config.typed import build_entry, plain, registered_name


@dataclass(frozen=True, kw_only=True)
class AnnotatorSettings:
    """What all annotators share."""

    gives: ClassVar[tuple[str, ...]] = ("dependencies",)
    """The kinds of annotation that it can give."""

    shards: int = 1
    """Jobs that share the training split; a development or test set is one job."""
    max_words: int = 250
    """A longer sentence gets a null annotation with a reason."""

    def __post_init__(self) -> None:
        if self.shards < 1:
            raise ValueError("shards must be at least 1")


@dataclass(frozen=True, kw_only=True)
class Existing(AnnotatorSettings):
    """The trees that came with the corpus (CzEng export, CoNLL-U, the demo corpus)."""

    gives: ClassVar[tuple[str, ...]] = ("dependencies", "ccg")


@dataclass(frozen=True, kw_only=True)
class Spacy(AnnotatorSettings):
    """Any spaCy pipeline with a parser."""

    model: str
    """A folder, the name of one in the folders of `models` in config.yaml, or an installed spaCy package."""
    batch_size: int = 128


ANNOTATORS: dict[str, type[AnnotatorSettings]] = {"existing": Existing, "spacy": Spacy}


def annotator_settings(entry: Mapping[str, Any], *, where: str) -> AnnotatorSettings:
    """Build the settings of one annotator `{tool: ..., key: value...}`."""
    return build_entry(entry, ANNOTATORS, key="tool", what="tool", where=where)


def annotator_tool(settings: AnnotatorSettings) -> str:
    """Give the registered name of an annotator's settings."""
    return registered_name(settings, ANNOTATORS)


def annotator_entry(settings: AnnotatorSettings) -> dict[str, Any]:
    """Write settings as the entry that `annotator_settings` reads."""
    return {"tool": annotator_tool(settings), **plain(settings)}
