"""What the jobs of each stage depend on, in addition to their input files: plain values without those at defaults.

A rule has one parameter per section, so that Snakemake names the sections that changed; no other change runs a job
again. The order of components and transforms counts. Code of the user's own counts by its checksum.
"""

import json
from collections.abc import Mapping
from dataclasses import field, fields, replace
from typing import Annotated, Any

from nmtcore.config.components.base import Trees
from nmtcore.config.corpora import SIDES, CorpusSettings, PartSettings
from nmtcore.config.datasets import MAX_LINE_BYTES, DatasetSettings, EvaluationSettings
from nmtcore.config.filters import FILTERS, FilterSettings
from nmtcore.config.own_code import own_checksums, own_names
from nmtcore.config.ranges import Amount, Count, Seed, settings_class
from nmtcore.config.runs import RunSettings, run_to_json
from nmtcore.config.segmentation import WordsSettings
from nmtcore.config.typed import changed
from nmtcore.errors import shortened


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
    def of_comet(cls, run: RunSettings) -> "ScoringSettings":
        """Select the settings that scoring the tests of a run by COMET depends on."""
        names = {**_names(run, EvaluationSettings(text=run.evaluation.text)), "trees": None}
        return cls(**names, splits=run.tests, parsed=())


def _names(run: RunSettings, evaluation: EvaluationSettings) -> dict[str, Any]:
    names = {key: getattr(run, key) for key in ("dataset", "system", "scale", "seed")}
    return {**names, "evaluation": evaluation, "trees": run.tree_comparison}


TRAINING = tuple(
    field.name
    for field in fields(RunSettings)
    if field.name not in ("scale", "annotators", "tests", "trees", "trees_by", "gold")
)
"""The sections of a run that training depends on: not the scale's name, nor the parsers of raw text (trees of the
corpus are input files), nor what follows training."""


def training_settings(run: RunSettings) -> dict[str, Any]:
    """Return the settings that training depends on, by section; checkpoints with other settings are not used.

    Decoding and evaluation count as far as validation translates and scores.
    """
    values = run_to_json(replace(run, sentences=replace(run.sentences, test=None)), values=changed)
    values |= {"decoding": {}, "evaluation": {}} | _validation(run)
    absent = {"gold_annotator": not run.treebanks, "transforms": not run.transforms}
    return {section: values[section] for section in TRAINING if section in values and not absent.get(section)}


def _validation(run: RunSettings) -> dict[str, Any]:
    """Pick the settings with which validation translates and scores; none if it only computes perplexity."""
    if run.training.validation.metric == "perplexity":
        return {}
    search = ["min_length", "max_length_ratio", "max_length_extra", "max_length"]
    if run.training.validation.beam > 1:  # greedy search does not compare hypotheses of different lengths
        search += ["length_penalty", "alpha"]
    decoding = changed(run.decoding)
    scored = replace(run.evaluation, roots=EvaluationSettings.roots, greedy_dev=False, metrics=())
    return {
        "decoding": {key: decoding[key] for key in search if key in decoding},
        "evaluation": changed(scored),
    }


INFERENCE = ("decoding", "evaluation", "sentences", "tags")
"""The sections that translating depends on."""


def inference_settings(run: RunSettings, *, split: str) -> dict[str, Any]:
    """Return the settings that translating and parsing a split depends on, by section; a rule has those that it needs.

    `sentences` is the number of sentences to read (None: all); `trees` says whether an untrained model parses too.
    """
    greedy = split == "dev" and run.evaluation.greedy_dev
    return {
        "decoding": changed(run.decoding),
        "evaluation": changed(EvaluationSettings(text=run.evaluation.text, greedy_dev=greedy)),
        "sentences": run.sentences.of(split),
        "tags": run.predicted_tags,
        "trees": "induced" if run.tree_comparison == "induced" else None,
    }


def filtering_values(settings: FilteringSettings) -> dict[str, Any]:
    """Return the settings of filtering as plain values without defaults, from which they can be built again."""
    filters = [FILTERS.entry_of(filter_settings, values=changed) for filter_settings in settings.filters]
    return changed(settings) | {"filters": filters}


def differences(old: Any, new: Any, path: str = "") -> list[str]:
    """Describe every setting that differs between two plain values, with its old and new value."""
    if all(isinstance(values, Mapping | None) for values in (old, new)) and (old or new):
        old, new = ({} if values is None else values for values in (old, new))
        keys = dict.fromkeys([*old, *new])
        lines = [line for key in keys for line in differences(old.get(key), new.get(key), f"{path}.{key}".strip("."))]
        return lines or ([] if list(old) == list(new) else [f"{path}: {', '.join(old)} -> {', '.join(new)}"])
    return [] if old == new else [f"{path}: {_shown(old)} -> {_shown(new)}"]


def _shown(value: Any) -> str:
    return "nothing" if value is None else shortened(json.dumps(value, ensure_ascii=False))


def _read_settings(corpus: CorpusSettings) -> CorpusSettings:
    files = {role: tuple(replace(file, megabytes=None) for file in entries) for role, entries in corpus.files.items()}
    return replace(corpus, files=files, licence="", citation="")
