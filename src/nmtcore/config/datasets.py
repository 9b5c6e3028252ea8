"""Settings of data sets, and of the annotators (parsers and taggers) and models that they name.

To add an annotator: its settings here, a line in `ANNOTATORS`, its code in `annotation/{tool}.py`.
"""

from dataclasses import field
from pathlib import Path
from typing import Annotated, ClassVar, Literal, get_args

from nmtcore.config.corpora import (
    FILTERS,
    FORMATS,
    SIDES,
    CorpusSettings,
    FilterSettings,
    HeldOutSettings,
    PartSettings,
    SegmentationSettings,
    Side,
    WordsSettings,
    check_model_name,
    own_files,
)
from nmtcore.config.files import check_files
from nmtcore.config.registry import Registry
from nmtcore.config.training import EvaluationSettings
from nmtcore.config.typed import Amount, Count, ForAll, Listed, Positive, Seed, Short, missing_keys, settings_class
from nmtcore.errors import quoted

Annotation = Literal["dependencies", "tags", "ccg", "constituency"]
ANNOTATIONS: tuple[Annotation, ...] = get_args(Annotation)
"""Kinds of annotation: heads with labels; UPOS and XPOS; CCG supertags; bracketed constituents."""


@settings_class
class AnnotatorSettings:
    """Base of the settings of all annotators."""

    model_holds: ClassVar[str] = ""
    """A glob that matches in the folder of a model; if empty, a model is a single file."""

    gives: ClassVar[tuple[Annotation, ...]] = ("dependencies", "tags")
    """The kinds of annotation that the annotator can give. A property if they depend on the settings."""

    shards: Count = 1
    """Jobs that the training split is divided among; each development and test set is one job."""
    max_words: Count = 250
    """Longest sentence to annotate, in words; longer ones get a null annotation with a reason."""

    def __post_init__(self) -> None:
        for name in self.models:
            check_model_name(name)

    @property
    def models(self) -> tuple[str, ...]:
        """Names of its models: files of `config/models`, or entries of the folders `models` of config.yaml."""
        model = getattr(self, "model", None)
        return () if model is None else (model,)


@settings_class
class ExistingSettings(AnnotatorSettings):
    """The corpus's own trees (CzEng export, CoNLL-U).

    Gives dependencies, tags, ccg and constituency, as far as the corpus has them.
    """

    gives = ANNOTATIONS


@settings_class
class SpacySettings(AnnotatorSettings):
    """A spaCy pipeline with a parser, or with a tagger whose tags are CCG categories.

    Gives dependencies and tags, or ccg with `tags: ccg`.
    """

    model_holds = "meta.json"
    model: str
    """Name of the pipeline: a folder in one of `models` of config.yaml, or an installed spaCy pipeline."""
    batch_size: Count = 128
    """Sentences per batch of the pipeline."""
    tags: Literal["xpos", "ccg"] = "xpos"
    """Content of the pipeline's `tag_`; ccg: it is a supertagger, which needs no parser."""

    @property
    def gives(self) -> tuple[str, ...]:
        """Trees and tags, or supertags."""
        return ("ccg",) if self.tags == "ccg" else ("dependencies", "tags")


@settings_class
class StanzaSettings(AnnotatorSettings):
    """A Stanza pipeline for tokenised text: tags, lemmas, trees, and constituents if it has a model for them.

    Gives dependencies and tags, and constituency with `constituency: true`.
    """

    model_holds = "depparse.pt"
    model: str
    """Name of a folder with {pos,lemma,depparse,constituency...}.pt (`stanza_*` of config/models)."""
    constituency: bool = False
    """Whether constituents are parsed too."""
    batch_size: Count = 64
    """Sentences per batch of the pipeline."""

    @property
    def gives(self) -> tuple[str, ...]:
        """Trees and tags, and constituents if `constituency` is set."""
        return ("dependencies", "tags", *(("constituency",) if self.constituency else ()))


@settings_class
class JavaSettings(AnnotatorSettings):
    """Base of the settings of annotators that are Java programs."""

    memory_mb: Count = 3000
    """Memory of Java, in megabytes."""
    seconds_a_sentence: Positive = 5.0
    """Time limit per sentence: Java is stopped if a batch takes as many times as long, plus a minute."""


@settings_class
class CoreNlpSettings(JavaSettings):
    """Stanford CoreNLP for English and German, by its own server; needs Java.

    Gives dependencies and tags, or constituency with `analysis: constituents`.
    """

    model_holds = "stanford-corenlp-*.jar"
    model: str = "corenlp"
    """Name of a folder with its jars."""
    analysis: Literal["dependencies", "constituents"] = "dependencies"
    """dependencies: trees and tags; constituents: by the shift-reduce parser (English) or the PCFG (German)."""
    batch_size: Count = 100
    """Sentences per request to the server."""

    @property
    def gives(self) -> tuple[str, ...]:
        """Trees and tags, or constituents."""
        return ("dependencies", "tags") if self.analysis == "dependencies" else ("constituency",)


@settings_class
class UdPipeSettings(AnnotatorSettings):
    """UDPipe 1 (`ufal.udpipe`): tagger, lemmatiser and parser in one model file.

    Gives dependencies and tags.
    """

    model: str
    """Name of a .udpipe file or of a folder with one in one of `models` of config.yaml, or a file of config/models."""


@settings_class
class EasyCcgSettings(JavaSettings):
    """EasyCCG (Lewis and Steedman 2014): the supertags of its best derivation; needs Java.

    Gives ccg.
    """

    model_holds = "easyccg.jar"
    gives = ("ccg",)

    model: str = "easyccg"
    """Name of a folder with easyccg.jar and the unpacked model (`easyccg` of config/models)."""
    batch_size: Count = 50_000
    """Sentences per start of Java, which takes long to load the model."""
    max_words: Count = 70


ANNOTATORS = Registry[AnnotatorSettings](
    {
        "existing": (ExistingSettings, "existing.Existing"),
        "spacy": (SpacySettings, "spacy.Spacy"),
        "stanza": (StanzaSettings, "stanza.Stanza"),
        "corenlp": (CoreNlpSettings, "corenlp.CoreNlp"),
        "udpipe": (UdPipeSettings, "udpipe.UdPipe"),
        "easyccg": (EasyCcgSettings, "easyccg.EasyCcg"),
    },
    noun="tool",
    key="tool",
    package="nmtcore.annotation",
    own_folder="annotators",
    base=AnnotatorSettings,
)


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


def check_own_files(dataset: DatasetSettings, *, where: str | Path) -> None:
    """Raise `UserError` if files of the user's own that a data set's splits need are missing; name all of them."""
    used = dict.fromkeys(part.corpus for parts in dataset.splits.values() for part in parts)
    files = {f"corpora.{name}: {key}": file.path for name in used for key, file in own_files(dataset.corpora[name])}
    check_files(files, where=where)
