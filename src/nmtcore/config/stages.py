"""The versions of the stages, and the settings that reading, filtering and scoring depend on."""

from dataclasses import field, replace
from typing import Annotated, Any

from nmtcore.config.corpora import FILTERS, SIDES, CorpusSettings, FilterSettings, PartSettings, WordsSettings
from nmtcore.config.datasets import MAX_LINE_BYTES, DatasetSettings
from nmtcore.config.features import Trees
from nmtcore.config.registry import own_checksums, own_names
from nmtcore.config.runs import RunSettings
from nmtcore.config.training import EvaluationSettings
from nmtcore.config.typed import Amount, Count, Seed, changed, settings_class

VERSIONS = {
    "download": 2,
    "corpus": 8,
    "annotation": 2,
    "segmentation": 2,
    "features": 2,
    "training": 3,
    "inference": 7,
    "evaluation": 4,
    "reporting": 13,
}
"""The version of each stage's output, raised by hand when the output changes its meaning.

Rules pass it in `params:`, so that a raised version reruns the stage and all later ones, and an edited comment in a
script reruns nothing. A changed default reruns nothing either (`changed` in `config/typed.py`): if you change one,
raise the version of every stage that it affects. `tests/config/defaults.yaml` records the defaults, and a test compares
them.
"""


MANIFESTS = 4
"""The version of the manifests of runs: if it is raised, scoring, which writes them, is repeated."""


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
    own_metrics: dict[str, str] = field(default_factory=dict)
    """The checksums of all metrics of the user's own, since all are counted."""

    @classmethod
    def of_tests(cls, run: RunSettings) -> "ScoringSettings":
        """Select the settings that scoring the tests of a run depends on."""
        evaluation = run.evaluation if run.parsed_tests else replace(run.evaluation, roots=EvaluationSettings.roots)
        code = own_checksums("metrics", own_names("metrics"))
        names = _names(run, evaluation)
        return cls(**names, splits=run.tests, parsed=run.parsed_tests, own_metrics=code)

    @classmethod
    def of_gold(cls, run: RunSettings) -> "ScoringSettings":
        """Select the settings that scoring the parses of a run's gold treebanks depends on.

        Induced trees have one root in any case.
        """
        roots = EvaluationSettings.roots if run.tree_comparison == "induced" else run.evaluation.roots
        return cls(**_names(run, EvaluationSettings(roots=roots)), splits=run.gold, parsed=run.gold)

    @classmethod
    def of_command(cls, run: RunSettings) -> "ScoringSettings":
        """Select the settings that scoring the tests of a run by a metric that is a command depends on."""
        names = {**_names(run, EvaluationSettings(text=run.evaluation.text)), "trees": None}
        return cls(**names, splits=run.tests, parsed=())


def _names(run: RunSettings, evaluation: EvaluationSettings) -> dict[str, Any]:
    names = {key: getattr(run, key) for key in ("dataset", "system", "scale", "seed")}
    return {**names, "evaluation": evaluation, "trees": run.tree_comparison}


def filtering_values(settings: FilteringSettings) -> dict[str, Any]:
    """Return the settings of filtering as plain values without defaults, from which they can be built again."""
    filters = [FILTERS.entry_of(filter_settings, values=changed) for filter_settings in settings.filters]
    return changed(settings) | {"filters": filters}


def _read_settings(corpus: CorpusSettings) -> CorpusSettings:
    files = {role: tuple(replace(file, megabytes=None) for file in entries) for role, entries in corpus.files.items()}
    return replace(corpus, files=files, licence="", citation="")
