"""What jobs of the corpus stage and of scoring are told: the values that they depend on, and nothing else."""

from dataclasses import replace
from typing import Any

from nmtcore.config.corpora import SIDES, CorpusSettings, PartSettings
from nmtcore.config.datasets import DatasetSettings, EvaluationSettings
from nmtcore.config.filters import FilterSettings
from nmtcore.config.ranges import Amount, Seed, settings_class
from nmtcore.config.runs import RunSettings
from nmtcore.config.segmentation import WordsSettings


@settings_class
class ReadingSettings:
    """What decides how a split is read."""

    languages: dict[str, str]
    """Language codes by side."""
    treebank: bool
    """Whether the split is a treebank: sentences with the trees and words that came along."""
    parts: tuple[PartSettings, ...]
    corpora: dict[str, CorpusSettings]
    """The corpora of the parts, without licences, citations and files' approximate sizes."""
    words: dict[str, WordsSettings]
    """How each side's words are fixed."""
    max_bad_lines: Amount = 0
    """Broken lines that are dropped and counted before reading stops with an error."""

    @classmethod
    def of(cls, dataset: DatasetSettings, split: str) -> "ReadingSettings":
        """Take what reading one split of a data set depends on."""
        parts = dataset.splits[split]
        return cls(
            languages={side: dataset.language(side) for side in SIDES},
            treebank=split in dataset.treebanks,
            parts=parts,
            corpora={part.corpus: _what_is_read(dataset.corpora[part.corpus]) for part in parts},
            words=dataset.words,
            max_bad_lines=dataset.max_bad_lines,
        )


@settings_class
class FilteringSettings:
    """What decides which pairs of a split are kept."""

    languages: dict[str, str]
    """Language codes by side."""
    filters: tuple[FilterSettings, ...]
    """In the order in which they are applied; none unless the split is the training split."""

    @classmethod
    def of(cls, dataset: DatasetSettings, split: str) -> "FilteringSettings":
        """Take what filtering one split of a data set depends on."""
        return cls(
            languages={side: dataset.language(side) for side in SIDES},
            filters=dataset.filters if split == "train" else (),
        )


@settings_class
class ScoringSettings:
    """What decides how the translations and parses of a run are scored, and whose scores they are."""

    dataset: str
    system: str
    scale: str
    seed: Seed
    splits: tuple[str, ...]
    """The splits that are scored, in this order."""
    parsed: tuple[str, ...]
    """Those of them that have parses."""
    evaluation: EvaluationSettings

    @classmethod
    def of_tests(cls, run: RunSettings) -> "ScoringSettings":
        """Take what scoring the tests of a run depends on."""
        return cls(**_named(run), splits=run.tests, parsed=run.parsed_tests, evaluation=run.evaluation)

    @classmethod
    def of_gold(cls, run: RunSettings) -> "ScoringSettings":
        """Take what scoring the parses of a run's gold treebanks depends on."""
        return cls(**_named(run), splits=run.gold, parsed=run.gold, evaluation=run.evaluation)


def _named(run: RunSettings) -> dict[str, Any]:
    return {key: getattr(run, key) for key in ("dataset", "system", "scale", "seed")}


def _what_is_read(corpus: CorpusSettings) -> CorpusSettings:
    files = {role: tuple(replace(file, megabytes=None) for file in each) for role, each in corpus.files.items()}
    return replace(corpus, files=files, licence="", citation="")
