"""Settings of data sets: corpora, splits, filters, words, annotators, segmentation, recipe and evaluation."""

from dataclasses import field
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from nmtcore.config.annotators import ANNOTATORS, Annotation, AnnotatorSettings, ExistingSettings
from nmtcore.config.corpora import SIDES, CorpusSettings, PartSettings, Side
from nmtcore.config.filters import FILTERS, FilterSettings, HeldOutSettings
from nmtcore.config.formats import FORMATS
from nmtcore.config.own_code import own_names
from nmtcore.config.ranges import Amount, Count, ForAll, Listed, Positive, Seed, Short, settings_class
from nmtcore.config.segmentation import SegmentationSettings, WordsSettings
from nmtcore.config.typed import missing_keys
from nmtcore.errors import quoted

METRIC_NAMES = ("ribes", "multi_bleu")
"""The scores that a data set can ask for, beside BLEU and chrF."""


def metric_names() -> list[str]:
    """Return the scores that a data set can ask for: those of the package, and files of the user's own.

    Only files of data sets are checked by them, since a trained model may be used where the user's file is not.
    """
    return [*METRIC_NAMES, *own_names("metrics")]


Metric = Annotated[str, Field(json_schema_extra=lambda schema: schema.update(enum=metric_names()))]


@settings_class
class EvaluationSettings:
    """Evaluation of the translations and trees of the tests."""

    text: Literal["detokenised", "tokens"] = "detokenised"
    """detokenised: detokenised output against raw references; tokens: tokens joined by spaces on both sides."""
    tokenize: Literal["13a", "none", "intl", "ja", "zh", "char"] = "13a"
    """sacreBLEU's tokeniser; ja: KyTea's words if KyTea is installed, else MeCab's (the signature says which); zh:
    Chinese characters; char: all characters, for Thai and other scripts without spaces."""
    lowercase: bool = False
    """Whether case is ignored."""
    roots: Literal["one", "many"] = "one"
    """Roots of a source tree: one (UD) or any number (CzEng, PDT)."""
    greedy_dev: bool = False
    """Whether dev is also translated by greedy search, as validation does it, and scored as `dev.greedy`."""
    metrics: tuple[Metric, ...] = ()
    """Scores beside BLEU and chrF. ribes: on BLEU's tokens, for Japanese; multi_bleu: BLEU of the words that spaces
    separate, as Moses's multi-bleu.perl computes it; any other name: a file of your own in `config/metrics`."""

    def __post_init__(self) -> None:
        if len(set(self.metrics)) != len(self.metrics):
            raise ValueError(f"metrics names a score twice ({', '.join(self.metrics)})")


@settings_class
class CopiesSettings:
    """Monolingual sentences that are added to the training pairs (Currey et al. 2017)."""

    corpus: str
    """A corpus of the training split, of format `copied`."""
    per_pair: Positive = 2.0
    """Copied sentences per training pair, drawn at random."""
    seed: Seed = 1
    """Seed of the draw."""


@settings_class
class SelectionSettings:
    """Selection of training pairs after annotation; the same for every system."""

    parsed: dict[Side, tuple[Annotation, ...]] = field(default_factory=dict)
    """Kinds of annotation by side ({target: [ccg]}); pairs that lack one of them are removed."""
    copies: CopiesSettings | None = None
    """Monolingual sentences that are added; null: none."""


@settings_class
class PublishedSettings:
    """The paper's sizes of the data set, shown next to ours."""

    pairs: dict[str, Count] = field(default_factory=dict)
    """Sentence pairs by split, as trained on."""
    tags: dict[str, Count] = field(default_factory=dict)
    """Sizes of tag vocabularies by side and column of labels (`target.ccg`, `source.dg_a`)."""
    place: str = ""
    """Where the paper gives them (Table 1)."""


MAX_LINE_BYTES = 1_000_000
"""The most bytes of a line, unless set."""

REQUIRED_SPLITS = ("train", "dev")
"""The splits that every data set has, except a treebank alone."""

GOLD = "gold_"
"""Prefix of splits that are treebanks to compare parsers with; nothing in them is translated."""

TREEBANK = "treebank_"
"""Prefix of splits that are treebanks to train parsing heads on."""


CONTRAST = "contrast_"
"""Prefix of splits that are contrastive pairs, which are scored and not translated."""


IN_A_RECIPE = (
    "data sets have no '{key}': write it into a recipe of your own, config/recipes/NAME.yaml, which `extends` another "
    "one, and `recipe: NAME` here."
)


@settings_class
class DatasetSettings:
    """A data set."""

    ELSEWHERE: ClassVar = dict.fromkeys(("model", "training", "decoding", "per_base"), IN_A_RECIPE)

    name: str
    """Name of the file."""
    description: str
    """A sentence that says what the data set is."""
    licence: str = ""
    """Licences of its corpora."""
    citation: str = ""
    """What to cite."""
    source: str
    """Language code of the source side."""
    target: str | None = None
    """Language code of the target side; null, in a treebank alone: that of the source side."""
    corpora: dict[str, CorpusSettings] = field(default_factory=dict)
    """Corpora by name; a corpus that only `splits` names is a file of `corpora/`."""
    splits: dict[str, Annotated[tuple[Annotated[PartSettings, Short("corpus")], ...], Listed()]] = field(
        default_factory=dict
    )
    """Parts of corpora by split: `train`, `dev`, treebanks to compare parsers with (`gold_...`) or to train on
    (`treebank_...`), contrastive pairs (`contrast_...`, whole corpora); all others are tests. With nothing but
    `gold_...`, the data set is a treebank alone: parsers are compared, and nothing is trained."""
    recipe: str | None = None
    """A file of `recipes/`; only a treebank alone needs none."""
    segmentation: SegmentationSettings | None = None
    """Segmentation of words into subwords; only a treebank alone needs none."""
    main_test: str = "test"
    """The split that results show first."""
    words: Annotated[dict[Side, Annotated[WordsSettings, Short("kind")]], ForAll(SIDES)] = field(
        default_factory=lambda: dict.fromkeys(SIDES, WordsSettings())
    )
    """Tokenisation into words, for both sides or by side (`source`, `target`)."""
    filters: tuple[Annotated[FilterSettings, FILTERS], ...] = ()
    """Filters of the training split, applied in this order; other splits are never filtered."""
    max_bad_lines: Amount = 0
    """Broken lines (not UTF-8, no tree...) that are dropped and counted before reading stops with an error."""
    max_line_bytes: Count = MAX_LINE_BYTES
    """The most bytes of a line, and of the lines of one sentence, segment or unit; a longer one is broken."""
    annotators: dict[str, Annotated[AnnotatorSettings, ANNOTATORS]] = field(default_factory=dict)
    """Annotators (parsers and taggers) by name."""
    syntax: dict[Side, dict[Annotation, str]] = field(default_factory=dict)
    """Annotator of each kind of annotation, by side: {source: {dependencies: NAME}}."""
    selection: SelectionSettings | None = None
    """Selection of training pairs after annotation; null: all."""
    segmentation_from: str | None = None
    """Another data set, whose merges and vocabularies are used; null: they are learned."""
    published: PublishedSettings = field(default_factory=PublishedSettings)
    """The paper's sizes of the data set, shown next to ours."""
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)
    """Evaluation of translations and trees."""
    assumed: dict[str, str] = field(default_factory=dict)
    """What a paper leaves open: keys (`training.clip_norm`) or topics, and why they are so here. Changes no run."""

    def __post_init__(self) -> None:
        if not self.is_treebank:
            self._check_training()
        object.__setattr__(self, "target", self.target or self.source)
        if self.main_test not in self.splits and not self.is_treebank:
            raise ValueError(f"main_test {quoted(self.main_test)} is not one of its splits ({', '.join(self.splits)})")
        for split, parts in self.splits.items():
            for part in parts:
                if part.corpus not in self.corpora:
                    raise ValueError(f"splits.{split}: there is no corpus {quoted(part.corpus)} in corpora")
        for side in SIDES:
            if side not in self.words:
                raise ValueError(f"words lacks '{side}'")
        for split in self.held_out:
            if split == "train" or split not in self.splits:
                raise ValueError(f"filters: held_out: there is no split {quoted(split)} to compare train with")
        self._check_contrasts()
        self._check_syntax()
        self._check_selection()

    def _check_training(self) -> None:
        keys = ("target", "splits", "recipe", "segmentation")
        if absent := [f"'{key}'" for key in keys if not getattr(self, key)]:
            raise ValueError(missing_keys(absent))
        for split in REQUIRED_SPLITS:
            if split not in self.splits:
                raise ValueError(f"splits lacks '{split}'")

    def _check_contrasts(self) -> None:
        for split, part in ((split, part) for split, parts in self.splits.items() for part in parts):
            contrastive = FORMATS[self.corpora[part.corpus].format].contrastive
            if contrastive and split not in self.contrasts:
                raise ValueError(
                    f"splits.{split}: the corpus '{part.corpus}' has contrastive pairs: call the split {CONTRAST}NAME"
                )
            if split in self.contrasts and not contrastive:
                raise ValueError(
                    f"splits.{split}: a split of contrastive pairs needs a corpus of the format contrastive, not "
                    f"'{part.corpus}'"
                )
            if contrastive and part != PartSettings(corpus=part.corpus):
                raise ValueError(f"splits.{split}: contrastive pairs are read whole: leave out first, last and sample")

    def _check_syntax(self) -> None:
        for side, annotators in self.syntax.items():
            for annotation, annotator in annotators.items():
                where = f"syntax.{side}.{annotation}"
                if annotator not in self.annotators:
                    raise ValueError(f"{where}: there is no annotator {quoted(annotator)} in annotators")
                if annotation not in self.annotators[annotator].gives:
                    raise ValueError(f"{where}: annotator '{annotator}' does not give {annotation}")

    def _check_selection(self) -> None:
        if self.selection is None:
            return
        for side, annotations in self.selection.parsed.items():
            for annotation in annotations:
                if annotation not in self.syntax.get(side, {}):
                    raise ValueError(f"selection.parsed: syntax.{side} names no annotator for {annotation}")
        copies = self.selection.copies
        if copies and copies.corpus not in [part.corpus for part in self.splits["train"]]:
            raise ValueError(f"selection.copies: '{copies.corpus}' is not a corpus of the training split")
        if copies and self.corpora[copies.corpus].format != "copied":
            raise ValueError(f"selection.copies: the corpus '{copies.corpus}' does not have the format copied")

    @property
    def is_treebank(self) -> bool:
        """Whether it is a treebank alone, so that nothing is trained on it."""
        return bool(self.splits) and all(split.startswith(GOLD) for split in self.splits)

    @property
    def tests(self) -> tuple[str, ...]:
        """The splits that are translated: the main test, then the other tests, then dev; none of a treebank alone."""
        if self.is_treebank:
            return ()
        special = ("train", "dev", self.main_test, *self.treebanks, *self.contrasts)
        others = [split for split in self.splits if split not in special]
        return tuple(dict.fromkeys([self.main_test, *others, "dev"]))

    @property
    def held_out(self) -> tuple[str, ...]:
        """The splits whose pairs are dropped from train by the filter `held_out`; none without the filter."""
        filters = (settings for settings in self.filters if isinstance(settings, HeldOutSettings))
        default = (self.main_test, "dev")
        return tuple(dict.fromkeys(split for settings in filters for split in (settings.splits or default)))

    @property
    def treebanks(self) -> tuple[str, ...]:
        """The splits that are treebanks, to test or train on; their sentences keep the treebank's words and trees."""
        return tuple(split for split in self.splits if split.startswith((GOLD, TREEBANK)))

    @property
    def contrasts(self) -> tuple[str, ...]:
        """The splits that are contrastive pairs."""
        return tuple(split for split in self.splits if split.startswith(CONTRAST))

    def source_treebanks(self, prefix: str) -> tuple[str, ...]:
        """Return the treebanks whose names begin with `prefix` (`GOLD` or `TREEBANK`) and that have a source side."""
        return tuple(split for split in self.splits if split.startswith(prefix) and "source" in self.sides(split))

    @property
    def gold_annotator(self) -> str | None:
        """The annotator that reads the corpora's own trees, so those of treebanks; None if there is none."""
        return next(
            (name for name, settings in self.annotators.items() if isinstance(settings, ExistingSettings)), None
        )

    def sides(self, split: str) -> tuple[str, ...]:
        """Return the sides of a split that have text."""
        with_text = {side for part in self.splits[split] for side in self.corpora[part.corpus].sides}
        return tuple(side for side in SIDES if side in with_text)

    def annotated_sides(self, split: str) -> tuple[str, ...]:
        """Return the sides of a split that are annotated; of contrastive pairs, only the sources."""
        return ("source",) if split in self.contrasts else self.sides(split)

    def annotations_by(self, annotator: str, side: str, split: str = "train") -> tuple[str, ...]:
        """Return the kinds of annotation that an annotator provides for a side of a split.

        In treebanks the gold trees are used, whatever else annotates that side.
        """
        annotations = tuple(name for name, by in self.syntax.get(side, {}).items() if by == annotator)
        gold = split in self.treebanks and annotator == self.gold_annotator
        return ("dependencies", *annotations) if gold and "dependencies" not in annotations else annotations

    def language(self, side: str) -> str:
        """Return the language code of a side."""
        return self.source if side == "source" else self.target
