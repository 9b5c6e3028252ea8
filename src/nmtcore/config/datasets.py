"""What a data set is: corpora with their files, splits, filters, words, annotators, segmentation, recipe."""

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Literal

from nmtcore.config.annotators import ANNOTATION_KINDS, AnnotatorSettings, ExistingSettings
from nmtcore.config.filters import FilterSettings
from nmtcore.config.formats import FORMATS
from nmtcore.config.typed import nearest

SIDES = ("source", "target")


@dataclass(frozen=True, kw_only=True)
class MirrorSettings:
    """Another place that has the same text, perhaps in another wrapping."""

    path: str
    """Relative to each root of `mirrors` in config.yaml (a folder, file:// or https://), or a whole URL."""
    member: str | None = None
    sha256: str | None = None
    length: int | None = None


@dataclass(frozen=True, kw_only=True)
class FileSettings:
    """One file of a corpus: one that is fetched, or one of the user's own, which is read where it is (`path`)."""

    name: str = ""
    """Its path below the downloads folder; not needed where `path` is given."""
    path: str | None = None
    """Absolute: relative ones were resolved against the configuration's folder when the file was read."""
    url: str | None = None
    member: str | None = None
    """The member to read when the file is an archive; it is streamed, never extracted."""
    sha256: str | None = None
    """Null: recorded at the first download and enforced from then on."""
    md5: str | None = None
    """Where a publisher tells no better sum."""
    length: int | None = None
    """Bytes."""
    megabytes: float | None = None
    """Its size as its page tells it, for the plan; `length` is what is compared."""
    mirrors: tuple[MirrorSettings, ...] = ()
    manual: str | None = None
    """Where a user gets the file who must fetch it by hand: a sentence. It then belongs into the `manual` folder."""

    def __post_init__(self) -> None:
        if self.path is not None:
            if self.url or self.manual or self.mirrors:
                raise ValueError(
                    f"{self.path} is a `path`, so it is read where it is: leave out url, mirrors and manual"
                )
            return
        path = PurePosixPath(self.name)
        if path.is_absolute() or ".." in path.parts or not self.name:
            raise ValueError(
                f"name '{self.name}' must be a path below the downloads folder (a file of your own: `path`)"
            )
        if not (self.url or self.manual or self.mirrors):
            raise ValueError(f"{self.name} has neither url nor mirrors nor manual (a file of your own: `path`)")


@dataclass(frozen=True, kw_only=True)
class CorpusSettings:
    """A corpus: its format, and its files by the roles that the format has for them (`config.formats`)."""

    format: str
    """A name in `FORMATS`."""
    files: dict[str, tuple[FileSettings, ...]] = field(default_factory=dict)
    """Several files of one role are read one after the other."""
    options: dict[str, Any] = field(default_factory=dict)
    """The format's own, for its reader."""
    licence: str = ""
    """Where it is not the data set's."""
    citation: str = ""

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise ValueError(f"unknown format '{self.format}'. {nearest(self.format, FORMATS)}")

    @property
    def sides(self) -> tuple[str, ...]:
        """The sides that it has text on: a gold treebank may be on one alone."""
        named = tuple(side for side in SIDES if side in self.files)
        return named if FORMATS[self.format].one_side_suffices and named else SIDES


@dataclass(frozen=True, kw_only=True)
class PartSettings:
    """Rows of a corpus, counted from 1 before any filter; both ends belong to it."""

    corpus: str
    first: int = 1
    last: int | None = None
    sample: int | None = None
    """Only so many of these rows, drawn at random with `seed`, in their order."""
    seed: int = 1

    def __post_init__(self) -> None:
        if self.sample is not None and self.sample < 1:
            raise ValueError("sample must be at least 1")
        if self.first < 1 or (self.last is not None and self.last < self.first):
            raise ValueError(f"rows {self.first} to {self.last} are no range; rows count from 1")


@dataclass(frozen=True, kw_only=True)
class SegmentationSettings:
    """How words are cut into subwords. The name says it all, so a name and its meaning can never differ."""

    kind: Literal["words", "bpe"]
    size: int
    """words: the vocabulary's size; bpe: the number of merges."""
    joint: bool = False
    """One set of merges and one vocabulary for both sides."""
    also: Literal["constituency"] | None = None
    """Learn it from the sources' linearised parses too, as further targets of these sources."""

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError("size must be at least 1")

    @property
    def name(self) -> str:
        """Name it as paths do: words_50000, bpe_joint_6000, bpe_32000, bpe_joint_16000_constituency."""
        joint, also = ["joint"] if self.joint else [], [self.also] if self.also else []
        return "_".join([self.kind, *joint, str(self.size), *also])

    @classmethod
    def parse(cls, name: str) -> "SegmentationSettings":
        """Read a name back; one that no segmentation has is a `ValueError`."""
        found = re.fullmatch(r"(words|bpe)(_joint)?_(\d+)(?:_(constituency))?", name)
        if not found:
            raise ValueError(f"'{name}' is no segmentation; names are like words_50000, bpe_joint_6000, bpe_32000")
        kind, joint, size, also = found.groups()
        return cls(kind=kind, joint=bool(joint), size=int(size), also=also)


@dataclass(frozen=True, kw_only=True)
class EvaluationSettings:
    """What scores are computed on."""

    text: Literal["detokenised", "tokens"] = "detokenised"
    """detokenised: Moses-detokenised output against raw references. tokens: tokens joined by spaces on both sides."""
    tokenize: Literal["13a", "none", "intl", "ja"] = "13a"
    """sacreBLEU's tokeniser; ja: KyTea's words where KyTea is installed, else MeCab's, as the signature tells."""
    lowercase: bool = False
    roots: Literal["one", "many"] = "one"
    """Whether a tree of the source side has one root (UD) or any number (CzEng, PDT)."""


WordsKind = Literal["moses", "spaces", "given", "mecab"]


@dataclass(frozen=True, kw_only=True)
class WordsSettings:
    """How the words of one side are fixed."""

    kind: WordsKind = "moses"
    """moses (Moses' tokeniser), spaces, given (by the corpus format), mecab (Japanese)."""
    normalise: bool = False
    """Moses' normalisation of punctuation, before words are cut."""
    truecase: bool = False
    """Moses' truecasing by a model that is learned from the training split; translations get it undone."""


@dataclass(frozen=True, kw_only=True)
class CopiesSettings:
    """Monolingual sentences beside the pairs (Currey et al. 2017): those of one copied corpus that are used."""

    corpus: str
    """A corpus of the training split, of format `copied`."""
    per_pair: float = 2.0
    """So many copied sentences for each pair that is left, drawn at random."""
    seed: int = 1


@dataclass(frozen=True, kw_only=True)
class SelectionSettings:
    """What of the training split is used, once it is annotated; the same for every system."""

    parsed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """{target: [ccg]}: pairs without that annotation on that side are removed."""
    copies: CopiesSettings | None = None


@dataclass(frozen=True, kw_only=True)
class PublishedSettings:
    """What the paper says about the data set's sizes; printed beside ours."""

    pairs: dict[str, int] = field(default_factory=dict)
    """Pairs of each split, as they are trained on."""
    tags: dict[str, int] = field(default_factory=dict)
    """Sizes of tag vocabularies by side and column of labels (`config.features`): target.ccg, source.dg_a."""
    place: str = ""
    """Where it says so: Table 1."""


GOLD = "gold_"
"""Splits with such names are treebanks: parsers are compared with them, nothing is translated."""

TREEBANK = "treebank_"
"""Splits with such names are treebanks: systems that parse may be trained on them."""


@dataclass(frozen=True, kw_only=True)
class DatasetSettings:
    """A data set; its name is its file's."""

    name: str
    description: str
    licence: str = ""
    citation: str = ""
    source: str
    """Language code of the source side."""
    target: str
    corpora: dict[str, CorpusSettings]
    splits: dict[str, tuple[PartSettings, ...]]
    recipe: str
    segmentation: SegmentationSettings
    main_test: str = "test"
    """The split that tables show first."""
    words: dict[str, WordsSettings] = field(default_factory=lambda: dict.fromkeys(SIDES, WordsSettings()))
    """How each side's words are fixed."""
    filters: tuple[FilterSettings, ...] = ()
    """Applied to the training split, in this order; the other splits are kept whole."""
    max_bad_lines: int = 0
    """Broken lines (encoding, blocks...) that are dropped and counted before reading stops with an error."""
    annotators: dict[str, AnnotatorSettings] = field(default_factory=dict)
    syntax: dict[str, dict[str, str]] = field(default_factory=dict)
    """Which annotator gives each kind of annotation: {source: {dependencies: NAME}}."""
    selection: SelectionSettings | None = None
    segmentation_from: str | None = None
    """Another data set, whose segmentation is used as it is."""
    published: PublishedSettings = field(default_factory=PublishedSettings)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)
    model: dict[str, Any] = field(default_factory=dict)
    """What this data set changes in its recipe's model, training and decoding."""
    training: dict[str, Any] = field(default_factory=dict)
    decoding: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for required in ("train", "dev"):
            if required not in self.splits:
                raise ValueError(f"splits lacks '{required}'")
        if self.main_test not in self.splits:
            raise ValueError(f"main_test '{self.main_test}' is none of its splits ({', '.join(self.splits)})")
        for split, parts in self.splits.items():
            for part in parts:
                if part.corpus not in self.corpora:
                    raise ValueError(f"splits.{split}: there is no corpus '{part.corpus}' in corpora")
        self._check_syntax()
        self._check_selection()

    def _check_syntax(self) -> None:
        for side, kinds in self.syntax.items():
            if side not in SIDES:
                raise ValueError(f"syntax: '{side}' is neither source nor target")
            for kind, annotator in kinds.items():
                if annotator not in self.annotators:
                    raise ValueError(f"syntax.{side}.{kind}: there is no annotator '{annotator}' in annotators")
                if kind not in ANNOTATION_KINDS:
                    raise ValueError(f"syntax.{side}: unknown kind '{kind}'. {nearest(kind, ANNOTATION_KINDS)}")
                if kind not in self.annotators[annotator].gives:
                    raise ValueError(f"syntax.{side}.{kind}: annotator '{annotator}' does not give {kind}")

    def _check_selection(self) -> None:
        if self.selection is None:
            return
        for side, kinds in self.selection.parsed.items():
            for kind in kinds:
                if kind not in self.syntax.get(side, {}):
                    raise ValueError(f"selection.parsed: syntax.{side} names no annotator for {kind}")
        copies = self.selection.copies
        if copies and copies.corpus not in [part.corpus for part in self.splits["train"]]:
            raise ValueError(f"selection.copies: '{copies.corpus}' is no corpus of the training split")
        if copies and self.corpora[copies.corpus].format != "copied":
            raise ValueError(f"selection.copies: the corpus '{copies.corpus}' is not of format copied")

    @property
    def tests(self) -> tuple[str, ...]:
        """The splits that are translated: the main test first, then the other tests, then dev."""
        others = [s for s in self.splits if s not in ("train", "dev", self.main_test, *self.treebanks)]
        return tuple(dict.fromkeys([self.main_test, *others, "dev"]))

    @property
    def treebanks(self) -> tuple[str, ...]:
        """The splits that are treebanks, to test or train on: sentences with the trees and words that came along."""
        return tuple(split for split in self.splits if split.startswith((GOLD, TREEBANK)))

    def source_treebanks(self, prefix: str) -> tuple[str, ...]:
        """Give the treebanks of one kind, `GOLD` or `TREEBANK`, that have text on the source side."""
        return tuple(split for split in self.splits if split.startswith(prefix) and "source" in self.sides(split))

    @property
    def gold_annotator(self) -> str | None:
        """The annotator that hands on the trees which came along: those of treebanks. None where there is none."""
        return next(
            (name for name, settings in self.annotators.items() if isinstance(settings, ExistingSettings)), None
        )

    def sides(self, split: str) -> tuple[str, ...]:
        """Give the sides that a split has text on."""
        found = {side for part in self.splits[split] for side in self.corpora[part.corpus].sides}
        return tuple(side for side in SIDES if side in found)

    def kinds_of(self, annotator: str, side: str, split: str = "train") -> tuple[str, ...]:
        """Give the kinds of annotation that an annotator is used for on a side of a split.

        On treebanks the trees that came along are used whatever else annotates that side.
        """
        kinds = tuple(kind for kind, name in self.syntax.get(side, {}).items() if name == annotator)
        gold = split in self.treebanks and annotator == self.gold_annotator
        return ("dependencies", *kinds) if gold and "dependencies" not in kinds else kinds

    def language(self, side: str) -> str:
        """Give the language code of a side."""
        return self.source if side == "source" else self.target
