"""A run: one system on one data set at one scale with one seed; all that training and decoding need to know."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from nmtcore.config.components import COMPONENTS, ComponentSettings, component_settings
from nmtcore.config.datasets import SIDES, TREEBANK, EvaluationSettings, SegmentationSettings, WordsSettings
from nmtcore.config.features import FEATURES
from nmtcore.config.model import TransformerSettings
from nmtcore.config.training import DecodingSettings, TrainingSettings, TreebankSettings
from nmtcore.config.transforms import TRANSFORMS, TransformSettings, transform_settings
from nmtcore.config.typed import build, nearest, plain
from nmtcore.errors import UserError
from nmtcore.layout import Layout, file_name


@dataclass(frozen=True, kw_only=True)
class SentencesSettings:
    """How many sentences of each kind of split a scale uses: the first n. None: all."""

    train: int | None = None
    dev: int | None = None
    test: int | None = None

    def of(self, split: str) -> int | None:
        """Give the number for a split; every split that is neither dev nor trained on is a test."""
        if split == "train" or split.startswith(TREEBANK):
            return self.train
        return self.dev if split == "dev" else self.test


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
    features: dict[str, dict[str, str]]
    """The features that the components read and the annotator behind each: {side: {feature: annotator}}."""
    annotators: dict[str, dict[str, Any]]
    """The settings of those annotators, so that a model can annotate raw text."""
    base: str
    model: TransformerSettings
    components: dict[str, ComponentSettings]
    """By name, in the order in which the model calls them."""
    training: TrainingSettings
    decoding: DecodingSettings
    evaluation: EvaluationSettings
    tests: tuple[str, ...]
    sentences: SentencesSettings = field(default_factory=SentencesSettings)
    start_from: str | None = None
    """The system whose model, on the same data set and scale and with the same seed, has the first weights."""
    treebank: TreebankSettings | None = None
    """How it is trained on the treebanks."""
    treebanks: tuple[str, ...] = ()
    """The splits that `treebank` means."""
    gold: tuple[str, ...] = ()
    """The splits whose gold trees its own are compared with."""
    gold_annotator: str | None = None
    """The annotator that gives the trees of treebanks and gold splits."""
    transforms: dict[str, TransformSettings] = field(default_factory=dict)
    """The transforms of examples by name, in their order."""
    linearised_by: str | None = None
    """The annotator whose linearised parses of the sources they read; None if they read none."""

    def __post_init__(self) -> None:
        for side, features in self.features.items():
            for feature in features:
                if feature not in FEATURES:
                    raise ValueError(f"features.{side}: unknown feature '{feature}'. {nearest(feature, FEATURES)}")

    @property
    def training_splits(self) -> tuple[str, ...]:
        """The splits that training reads."""
        pairs = ("dev",) if self.treebank and not self.treebank.pairs else ("train", "dev")
        return (*pairs, *self.treebanks)

    @property
    def inference_features(self) -> dict[str, dict[str, str]]:
        """What translating and parsing read of the source: the features of the components that read them even then."""
        return {"source": self._source_features(lambda settings: settings.needs_at_inference)}

    def split_features(self, split: str) -> dict[str, dict[str, str]]:
        """What is read of a split.

        Of a treebank that is trained on, what trees give is its own, the rest as everywhere; pairs beside it do not
        train heads to parse, and what is parsed needs no more than inference does.
        """
        if split in self.treebanks:
            gold = {name for name, feature in FEATURES.items() if feature.annotation == "dependencies"}
            features = self.features["source"].items()
            return {"source": {name: self.gold_annotator if name in gold else other for name, other in features}}
        if split in self.gold:
            return self.inference_features
        if split == "train" and self.treebank:
            return {**self.features, "source": self._source_features(lambda c: c.needs_at_inference or not c.parses)}
        return self.features

    def sides_of(self, split: str) -> tuple[str, ...]:
        """The sides that are read of a split."""
        return ("source",) if split in (*self.treebanks, *self.gold) else SIDES

    def feature_folder(self, layout: Layout) -> str:
        """Give the folder of the features that it reads."""
        return layout.path("features", dataset=self.dataset, segmentation=self.segmentation.name)

    def feature_files(self, split: str) -> list[str]:
        """Name the files of features that are read of a split."""
        sides, features = self.sides_of(split), self.split_features(split)
        files = [file_name("tokens", split=split, side=side) for side in sides]
        annotators = ((side, annotator) for side in sides for annotator in features.get(side, {}).values())
        files += [file_name("syntax", split=split, side=side, annotator=annotator) for side, annotator in annotators]
        linearised_parses = self.linearised_parses_file(split)
        return list(dict.fromkeys([*files, *([linearised_parses] if linearised_parses else [])]))

    def linearised_parses_file(self, split: str) -> str | None:
        """Name the file of linearised parses that is read of a split, where transforms make pairs to train on of it."""
        if self.linearised_by is None or split not in ("train", "dev"):
            return None
        return file_name("linearised", split=split, annotator=self.linearised_by)

    def _source_features(self, reads: Callable[[ComponentSettings], bool]) -> dict[str, str]:
        features = [feature for c in self.components.values() if reads(c) for feature in c.needs.get("source", ())]
        return {feature: self.features["source"][feature] for feature in features}

    @property
    def parses(self) -> bool:
        """Whether the system gives a head for every source word."""
        return any(settings.parses for settings in self.components.values())

    @property
    def parsed_tests(self) -> tuple[str, ...]:
        """The tests that it parses beside translating them."""
        return self.tests if self.parses else ()

    @property
    def scores(self) -> tuple[str, ...]:
        """What it is scored by: bleu; uas where it parses; gold.uas where there are treebanks to compare with."""
        return ("bleu", *(["uas"] if self.parses else []), *(["gold.uas"] if self.gold else []))

    @property
    def parses_to_trees(self) -> bool:
        """Whether it learns to do so from trees, so that treebanks can say how well it does."""
        return any(s.parses and "trees" in s.needs.get("source", ()) for s in self.components.values())

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
    values["components"] = {name: COMPONENTS.entry_of(settings) for name, settings in run.components.items()}
    values["transforms"] = {name: TRANSFORMS.entry_of(settings) for name, settings in run.transforms.items()}
    return values


def run_from_json(values: dict[str, Any], *, where: str) -> RunSettings:
    """Read a run back from plain values."""
    made: dict[str, Any] = {}
    for section, settings_of in (("components", component_settings), ("transforms", transform_settings)):
        entries = values.get(section)
        if not isinstance(entries, Mapping) or not all(isinstance(entry, Mapping) for entry in entries.values()):
            raise UserError(f"{where}: {section} must be a mapping of names to settings, not {entries!r}.")
        made[section] = {name: settings_of(name, entry, where=where) for name, entry in entries.items()}
    return build(RunSettings, {**values, **made}, where=where)
