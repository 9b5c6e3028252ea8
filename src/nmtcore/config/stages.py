"""Settings of jobs that read, filter and score: exactly the values that each of these jobs depends on."""

from dataclasses import replace
from typing import Annotated, Any

from nmtcore.config.components.base import Trees
from nmtcore.config.corpora import SIDES, CorpusSettings, PartSettings
from nmtcore.config.datasets import MAX_LINE_BYTES, DatasetSettings, EvaluationSettings
from nmtcore.config.filters import FILTERS, FilterSettings
from nmtcore.config.ranges import Amount, Count, Seed, settings_class
from nmtcore.config.runs import RunSettings
from nmtcore.config.segmentation import WordsSettings


@settings_class
class ReadingSettings:
    """Settings for reading a split."""

    languages: dict[str, str]
    """Language codes by side."""
    treebank: bool
    """Whether the split is a treebank: sentences with their own trees and words."""
    parts: tuple[PartSettings, ...]
    """The parts of corpora that make up the split."""
    corpora: dict[str, CorpusSettings]
    """The corpora of the parts, without licences, citations and approximate file sizes."""
    words: dict[str, WordsSettings]
    """How each side is split into words."""
    max_bad_lines: Amount = 0
    """Number of broken lines that are dropped before reading stops with an error."""
    max_line_bytes: Count = MAX_LINE_BYTES
    """The most bytes of a line, and of the lines of one sentence, segment or unit; a longer one is broken."""

    @classmethod
    def of(cls, dataset: DatasetSettings, split: str) -> "ReadingSettings":
        """Select the settings that reading a split of a data set depends on."""
        parts = dataset.splits[split]
        return cls(
            languages={side: dataset.language(side) for side in SIDES},
            treebank=split in dataset.treebanks,
            parts=parts,
            corpora={part.corpus: _read_settings(dataset.corpora[part.corpus]) for part in parts},
            words=dataset.words,
            max_bad_lines=dataset.max_bad_lines,
            max_line_bytes=dataset.max_line_bytes,
        )


@settings_class
class FilteringSettings:
    """Settings for filtering the sentence pairs of a split."""

    languages: dict[str, str]
    """Language codes by side."""
    filters: tuple[Annotated[FilterSettings, FILTERS], ...]
    """Filters in the order of application; empty for all splits but the training split."""

    @classmethod
    def of(cls, dataset: DatasetSettings, split: str) -> "FilteringSettings":
        """Select the settings that filtering a split of a data set depends on."""
        return cls(
            languages={side: dataset.language(side) for side in SIDES},
            filters=dataset.filters if split == "train" else (),
        )


@settings_class
class ScoringSettings:
    """Settings for scoring the translations and parses of a run, and the names of the run."""

    dataset: str
    """Name of the data set."""
    system: str
    """Name of the system."""
    scale: str
    """Name of the scale."""
    seed: Seed
    """Seed of the run."""
    splits: tuple[str, ...]
    """The splits to score, in order."""
    parsed: tuple[str, ...]
    """The splits that have parses."""
    evaluation: EvaluationSettings
    """Settings of evaluation."""
    trees: Trees | None
    """What the trees are compared with; None: there are none."""

    @classmethod
    def of_tests(cls, run: RunSettings) -> "ScoringSettings":
        """Select the settings that scoring the tests of a run depends on."""
        return cls(**_run_settings(run), splits=run.tests, parsed=run.parsed_tests)

    @classmethod
    def of_gold(cls, run: RunSettings) -> "ScoringSettings":
        """Select the settings that scoring the parses of a run's gold treebanks depends on."""
        return cls(**_run_settings(run), splits=run.gold, parsed=run.gold)


def _run_settings(run: RunSettings) -> dict[str, Any]:
    """Return the names of a run, and what its scores depend on in the tests and the treebanks alike."""
    names = {key: getattr(run, key) for key in ("dataset", "system", "scale", "seed")}
    return {**names, "evaluation": run.evaluation, "trees": run.tree_comparison}


def _read_settings(corpus: CorpusSettings) -> CorpusSettings:
    files = {role: tuple(replace(file, megabytes=None) for file in entries) for role, entries in corpus.files.items()}
    return replace(corpus, files=files, licence="", citation="")
