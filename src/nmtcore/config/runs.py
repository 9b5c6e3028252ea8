"""The settings of a run (one system on one data set at one scale with one seed), and what the jobs of each stage
depend on in addition to their input files: plain values without those at defaults.

A rule has one parameter per section, so that Snakemake names the sections that changed; no other change runs a job
again. The order of components and transforms counts. Code of the user's own counts by its checksum.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import field, fields, replace
from typing import Annotated, Any

from nmtcore.config.components import COMPONENTS, check_composition, parser_of
from nmtcore.config.corpora import (
    SIDES,
    SegmentationSettings,
    WordsSettings,
)
from nmtcore.config.datasets import CONTRAST, GOLD, TREEBANK
from nmtcore.config.features import FEATURES, TRANSFORMS, ComponentSettings, TransformSettings, Trees, feature_named
from nmtcore.config.training import (
    BASES,
    BaseSettings,
    DecodingSettings,
    EvaluationSettings,
    TrainingSettings,
    TreebankSettings,
)
from nmtcore.config.typed import Count, Seed, build, changed, plain, settings_class, unknown
from nmtcore.errors import shortened
from nmtcore.layout import Layout, file_name


@settings_class
class SentencesSettings:
    """The number of sentences that a scale uses from training, dev and test splits: the first n; all if None."""

    train: Count | None = None
    """Pairs of the training split, and sentences of each training treebank."""
    dev: Count | None = None
    """Pairs of the development split."""
    test: Count | None = None
    """Sentences of each test and of each treebank to compare parsers with, and sources of contrastive pairs."""

    def of(self, split: str) -> int | None:
        """Return the number for a split; every split except dev and those for training is a test."""
        if split == "train" or split.startswith(TREEBANK):
            return self.train
        return self.dev if split == "dev" else self.test


@settings_class
class RunSettings:
    """All settings that determine what a run computes."""

    dataset: str
    """Name of the data set."""
    system: str
    """Name of the system."""
    scale: str
    """Name of the scale."""
    seed: Seed
    """Seed of everything that is drawn at random."""
    source: str
    """GivenValue language code."""
    target: str
    """Target language code."""
    words: dict[str, WordsSettings]
    """Tokenisation into words, by side."""
    segmentation: SegmentationSettings
    """Segmentation of words into subwords."""
    features: dict[str, dict[str, str]]
    """The features that components and transforms read, each with its annotator: {side: {feature: annotator}}."""
    annotators: dict[str, dict[str, Any]]
    """Settings of these annotators, so that a model can annotate raw text."""
    base: str
    """Name of the base model."""
    model: BaseSettings
    """Settings of the base model."""
    components: dict[str, Annotated[ComponentSettings, COMPONENTS]]
    """Components by name, in the order in which the model calls them."""
    training: TrainingSettings
    """Settings of training."""
    decoding: DecodingSettings
    """Settings of decoding."""
    evaluation: EvaluationSettings
    """Settings of evaluation."""
    tests: tuple[str, ...]
    """The splits that are translated; the main test comes first."""
    sentences: SentencesSettings = field(default_factory=SentencesSettings)
    """Number of sentences to use of each split."""
    start_from: str | None = None
    """The system, or DATASET/SYSTEM, whose model (same scale and seed) gives the initial weights (see `start`)."""
    treebank: TreebankSettings | None = None
    """Settings for training on treebanks."""
    treebanks: tuple[str, ...] = ()
    """The treebank splits for training."""
    trees: Trees | None = None
    """What the run's trees are compared with; None: the default of its components (see `tree_comparison`)."""
    trees_by: str | None = None
    """The annotator whose trees induced trees of the tests are compared with; None: there is none."""
    gold: tuple[str, ...] = ()
    """The splits whose gold trees the run's parses are compared with."""
    gold_annotator: str | None = None
    """The annotator that reads the trees of treebanks and gold splits."""
    transforms: dict[str, Annotated[TransformSettings, TRANSFORMS]] = field(default_factory=dict)
    """Transforms of examples by name, in order of application."""
    linearised_by: str | None = None
    """The annotator whose linearised parses of the sources the transforms read; None if they read none."""
    external: dict[str, str] | None = None
    """The file of translations of each of the `tests`, which were made elsewhere; None: the run is trained here. An
    external run has the settings of a plain model, which mean nothing."""
    imported: str | None = None
    """The published model that the run is; None: it is none. Its settings of training mean nothing."""

    def __post_init__(self) -> None:
        if self.base not in BASES:
            raise ValueError(f"base: {unknown('base', self.base, BASES)}")
        if not isinstance(self.model, BASES[self.base]):
            raise ValueError(f"model: these are not settings of the base {self.base}")
        for side, features in self.features.items():
            for feature in features:
                feature_named(feature, where=f"features.{side}: ")

    def parameter_count(self, sizes: Mapping[str, int]) -> int:
        """Count the parameters of the run's model, small components left out; tied ones count once.

        `sizes` has the sizes of the vocabularies by side.
        """
        entries = sizes["target"] + (0 if self.segmentation.joint else sizes["source"])
        components = sum(settings.parameter_count(self.model) for settings in self.components.values())
        return self.model.parameters(sizes["target"]) + entries * self.model.width + components

    @property
    def is_trained(self) -> bool:
        """Whether the run is trained here."""
        return self.external is None and self.imported is None

    @property
    def start(self) -> tuple[str, str] | None:
        """The data set and the system of the run whose model gives the initial weights; None: they are random."""
        if self.start_from is None:
            return None
        dataset, _, system = self.start_from.rpartition("/")
        return dataset or self.dataset, system

    @property
    def training_splits(self) -> tuple[str, ...]:
        """The splits that training reads."""
        pairs = ("dev",) if self.treebank and not self.treebank.pairs else ("train", "dev")
        return (*pairs, *self.treebanks)

    @property
    def inference_features(self) -> dict[str, dict[str, str]]:
        """The source features for translating and parsing: of transforms and of components that need them for this."""
        return {"source": self._source_features(lambda settings: settings.needs_at_inference)}

    def split_features(self, split: str) -> dict[str, dict[str, str]]:
        """Return the features to read of a split, {side: {feature: annotator}}.

        A treebank for training has gold trees and the usual features otherwise. Sentence pairs that are trained on
        together with a treebank do not train parsing, so they lack the features of components that only parse.
        """
        if split in self.treebanks:
            gold = {name for name, feature in FEATURES.items() if feature.annotation == "dependencies"}
            features = self.features["source"].items()
            return {"source": {name: self.gold_annotator if name in gold else usual for name, usual in features}}
        if split.startswith((GOLD, CONTRAST)):
            return self.inference_features
        if split == "train" and self.treebank:
            return {**self.features, "source": self._source_features(lambda c: c.needs_at_inference or not c.parses)}
        return self.features

    def sides_of(self, split: str) -> tuple[str, ...]:
        """Return the sides to read of a split."""
        return ("source",) if split in self.treebanks or split.startswith(GOLD) else SIDES

    def feature_folder(self, layout: Layout) -> str:
        """Return the folder of the run's features."""
        return layout.path("features", dataset=self.dataset, segmentation=self.segmentation.name)

    def feature_files(self, split: str) -> list[str]:
        """Return the names of the feature files to read of a split."""
        sides, features = self.sides_of(split), self.split_features(split)
        files = [file_name("tokens", split=split, side=side) for side in sides]
        annotators = ((side, *entry) for side in sides for entry in features.get(side, {}).items())
        sources = ((side, feature_named(feature).file_source(annotator)) for side, feature, annotator in annotators)
        files += [file_name("syntax", split=split, side=side, annotator=source) for side, source in sources]
        linearised_parses = self.linearised_parses_file(split)
        return list(dict.fromkeys([*files, *([linearised_parses] if linearised_parses else [])]))

    def linearised_parses_file(self, split: str) -> str | None:
        """Return the name of a split's file of linearised parses; None if no transform reads it."""
        if self.linearised_by is None or split not in ("train", "dev"):
            return None
        return file_name("linearised", split=split, annotator=self.linearised_by)

    def label_files(self, layout: Layout) -> dict[str, dict[str, str]]:
        """Return the label vocabularies of the run's features, by side and what they are named after."""
        return {
            side: {
                source: layout.path("labels", dataset=self.dataset, annotator=source, side=side)
                for source in (feature_named(name).file_source(annotator) for name, annotator in annotators.items())
            }
            for side, annotators in self.features.items()
        }

    def _source_features(self, reads: Callable[[ComponentSettings], bool]) -> dict[str, str]:
        """Return the source features of the transforms, and of the components for which `reads` is true."""
        readers = [*filter(reads, self.components.values()), *self.transforms.values()]
        features = [feature for reader in readers for feature in reader.needs.get("source", ())]
        return {feature: self.features["source"][feature] for feature in features}

    @property
    def parses(self) -> bool:
        """Whether the system predicts a head for every source word."""
        return parser_of(self.components) is not None

    @property
    def claimed_heads(self) -> dict[str, str]:
        """The component that computes or trains each claimed head of the encoder, by "LAYER.HEAD"."""
        return {
            claim.removeprefix("encoder.").replace(".head.", "."): name
            for name, settings in self.components.items()
            for claim in settings.claims(self.model)
            if claim.startswith("encoder.") and ".head." in claim
        }

    @property
    def tree_comparison(self) -> Trees | None:
        """What the run's trees are compared with; None if it predicts none."""
        parser = parser_of(self.components)
        return None if parser is None else self.trees or self.components[parser].trees[0]

    @property
    def tree_annotator(self) -> str | None:
        """The annotator whose trees the run's parses of the tests are compared with; None if there is none."""
        if self.tree_comparison == "supervised":
            return self.features.get("source", {}).get("trees")
        return self.trees_by if self.tree_comparison == "induced" else None

    @property
    def has_gates(self) -> bool:
        """Whether the system has a gate in the decoder, whose norm can be measured."""
        return any(settings.gates_output for settings in self.components.values())

    @property
    def has_second_loss(self) -> bool:
        """Whether the system learns anything beside translation."""
        return any(settings.has_second_loss for settings in (*self.components.values(), *self.transforms.values()))

    @property
    def reads_labels(self) -> bool:
        """Whether weights belong to labels of features, so that the model cannot go on with those of other data."""
        transformed = any(settings.needs for settings in self.transforms.values())
        return transformed or any(settings.reads_labels for settings in self.components.values())

    @property
    def predicted_tags(self) -> str | None:
        """The feature whose labels the system predicts for the words of its translations; None if it predicts none."""
        settings = (*self.components.values(), *self.transforms.values())
        return next((part.predicted_tags for part in settings if part.predicted_tags is not None), None)

    @property
    def generates_tags(self) -> bool:
        """Whether translations have tags among their words, so that text alone has no computable probability."""
        return any(settings.predicted_tags is not None for settings in self.transforms.values())

    @property
    def parsed_tests(self) -> tuple[str, ...]:
        """The tests whose parses are scored: all, or none if there is nothing to compare them with."""
        return self.tests if self.tree_annotator or self.tree_comparison == "chain" else ()

    @property
    def scores(self) -> tuple[str, ...]:
        """The scores of the system that need no model of a metric.

        These are bleu and the data set's `metrics`; uas if parses of tests are scored; gold.uas with gold treebanks.
        """
        trees = (*(["uas"] if self.parsed_tests else []), *(["gold.uas"] if self.gold else []))
        return ("bleu", *self.evaluation.metrics, *trees)

    @property
    def parses_to_trees(self) -> bool:
        """Whether the system learns to parse from trees."""
        return any(s.parses and "trees" in s.needs.get("source", ()) for s in self.components.values())

    def text_words(self, side: str) -> WordsSettings:
        """Return how to split raw text into words and join words to text, even if the corpus has given words.

        Given words are then treated by the conventions of Moses if scores are computed on detokenised text, and as
        tokens separated by spaces otherwise.
        """
        words = self.words[side]
        if words.kind != "given":
            return words
        return replace(words, kind="moses" if self.evaluation.text == "detokenised" else "spaces")


def run_to_json(run: RunSettings, *, values: Callable[[Any], dict[str, Any]] = plain) -> dict[str, Any]:
    """Convert a run to plain values, the inverse of `run_from_json`; `values` is `changed` to leave out defaults."""
    entries = {
        "components": {name: COMPONENTS.entry_of(settings, values=values) for name, settings in run.components.items()},
        "transforms": {name: TRANSFORMS.entry_of(settings, values=values) for name, settings in run.transforms.items()},
    }
    return values(run) | entries


def run_from_json(values: dict[str, Any], *, where: str) -> RunSettings:
    """Build a run from plain values. Raises `UserError` if they are not valid, or do not fit the base."""
    run = build(RunSettings, values, where=where)
    check_composition(run.components, run.base, run.model, where=where)
    return run


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
