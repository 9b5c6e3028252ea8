"""A run: one system on one data set at one scale with one seed; all that training and decoding need to know."""

from dataclasses import dataclass, field, replace
from typing import Any

from nmtcore.config.components import ComponentSettings, component_entry, component_settings
from nmtcore.config.datasets import EvaluationSettings, SegmentationSettings, WordsSettings
from nmtcore.config.model import TransformerSettings
from nmtcore.config.training import DecodingSettings, TrainingSettings
from nmtcore.config.typed import build, plain


@dataclass(frozen=True, kw_only=True)
class SentencesSettings:
    """How many sentences of each kind of split a scale uses: the first n. None: all."""

    train: int | None = None
    dev: int | None = None
    test: int | None = None

    def of(self, split: str) -> int | None:
        """Give the number for a split; every split but train and dev is a test."""
        return {"train": self.train, "dev": self.dev}.get(split, self.test)


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Everything that decides what a run computes; its data are the features named by the same names."""

    dataset: str
    system: str
    scale: str
    seed: int
    source: str
    """Language codes."""
    target: str
    words: dict[str, WordsSettings]
    segmentation: SegmentationSettings
    syntax: dict[str, dict[str, str]]
    """What the components read: {side: {kind: annotator}}."""
    annotators: dict[str, dict[str, Any]]
    """The settings of those annotators, so that a model can annotate raw text."""
    base: str
    model: TransformerSettings
    components: tuple[ComponentSettings, ...]
    training: TrainingSettings
    decoding: DecodingSettings
    evaluation: EvaluationSettings
    tests: tuple[str, ...]
    sentences: SentencesSettings = field(default_factory=SentencesSettings)

    @property
    def parses(self) -> bool:
        """Whether the system gives a head for every source word."""
        return any(settings.parses for settings in self.components)

    def text_words(self, side: str) -> WordsSettings:
        """How words are made of raw text, and text of words: a corpus that came as words is no guide to either.

        Where scores are computed on detokenised text, given words follow Moses' conventions; else tokens stay tokens.
        """
        words = self.words[side]
        if words.kind != "given":
            return words
        return replace(words, kind="moses" if self.evaluation.text == "detokenised" else "spaces")


def run_to_json(run: RunSettings) -> dict[str, Any]:
    """Write a run as plain values; `run_from_json` reads them back."""
    values = plain(run)
    values["components"] = [component_entry(settings) for settings in run.components]
    return values


def run_from_json(values: dict[str, Any], *, where: str) -> RunSettings:
    """Read a run back from plain values."""
    components = tuple(component_settings(entry, where=where) for entry in values["components"])
    return build(RunSettings, {**values, "components": components}, where=where)
