"""What a data set is: corpora with their files, splits, filters, words, annotators, segmentation, recipe."""

import re
from dataclasses import dataclass, field, fields
from pathlib import PurePosixPath
from typing import Any, Literal

from nmtcore.config.annotators import AnnotatorSettings
from nmtcore.config.filters import FilterSettings

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
    """One file of a corpus; `name` is its path below the downloads folder."""

    name: str
    url: str | None = None
    member: str | None = None
    """The member to read when the file is an archive; it is streamed, never extracted."""
    sha256: str | None = None
    """Null: recorded at the first download and enforced from then on."""
    length: int | None = None
    """Bytes."""
    mirrors: tuple[MirrorSettings, ...] = ()
    manual: str | None = None
    """Where a user gets the file who must fetch it by hand: a sentence. It then belongs into the `manual` folder."""

    def __post_init__(self) -> None:
        path = PurePosixPath(self.name)
        if path.is_absolute() or ".." in path.parts or not self.name:
            raise ValueError(f"name '{self.name}' must be a path below the downloads folder")
        if not (self.url or self.manual or self.mirrors):
            raise ValueError(f"{self.name} has neither url nor mirrors nor manual")


@dataclass(frozen=True, kw_only=True)
class CorpusSettings:
    """A corpus: its format and its files by role (plain, conllu: source, target; tsv, czeng: pairs)."""

    format: Literal["plain", "tsv", "czeng", "conllu", "demo"]
    files: dict[str, tuple[FileSettings, ...]] = field(default_factory=dict)
    """Several files of one role are read one after the other."""
    options: dict[str, Any] = field(default_factory=dict)
    """For the format's reader: tsv source_column, target_column; czeng source_block, target_block; demo split, swap."""


@dataclass(frozen=True, kw_only=True)
class PartSettings:
    """Rows of a corpus, counted from 1 before any filter; both ends belong to it."""

    corpus: str
    first: int = 1
    last: int | None = None

    def __post_init__(self) -> None:
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

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError("size must be at least 1")

    @property
    def name(self) -> str:
        """Name it as paths do: words_50000, bpe_joint_6000, bpe_32000."""
        return "_".join([self.kind, *(["joint"] if self.joint else []), str(self.size)])

    @classmethod
    def parse(cls, name: str) -> "SegmentationSettings":
        """Read a name back; one that no segmentation has is a `ValueError`."""
        found = re.fullmatch(r"(words|bpe)(_joint)?_(\d+)", name)
        if not found:
            raise ValueError(f"'{name}' is no segmentation; names are like words_50000, bpe_joint_6000, bpe_32000")
        kind, joint, size = found.groups()
        return cls(kind=kind, joint=bool(joint), size=int(size))


@dataclass(frozen=True, kw_only=True)
class EvaluationSettings:
    """What scores are computed on."""

    text: Literal["detokenised", "tokens"] = "detokenised"
    """detokenised: Moses-detokenised output against raw references. tokens: tokens joined by spaces on both sides."""
    tokenize: Literal["13a", "none", "intl"] = "13a"
    """sacreBLEU's tokeniser."""
    lowercase: bool = False
    roots: Literal["one", "many"] = "one"
    """Whether a tree of the source side has one root (UD) or any number (CzEng, PDT)."""


WordsKind = Literal["moses", "spaces", "given"]


@dataclass(frozen=True, kw_only=True)
class DatasetSettings:
    """A data set; its name is its file's."""

    name: str
    description: str
    licence: str
    citation: str
    source: str
    """Language code of the source side."""
    target: str
    corpora: dict[str, CorpusSettings]
    splits: dict[str, tuple[PartSettings, ...]]
    recipe: str
    segmentation: SegmentationSettings
    main_test: str = "test"
    """The split that tables show first."""
    words: dict[str, WordsKind] = field(default_factory=lambda: dict.fromkeys(SIDES, "moses"))
    """How each side's words are fixed: moses (sacremoses), spaces, given (by the corpus format)."""
    filters: tuple[FilterSettings, ...] = ()
    """Applied to the training split, in this order; the other splits are kept whole."""
    max_bad_lines: int = 0
    """Broken lines (encoding, blocks...) that are dropped and counted before reading stops with an error."""
    annotators: dict[str, AnnotatorSettings] = field(default_factory=dict)
    syntax: dict[str, dict[str, str]] = field(default_factory=dict)
    """Which annotator gives what: {source: {dependencies: NAME}}."""
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

    def _check_syntax(self) -> None:
        for side, kinds in self.syntax.items():
            if side not in SIDES:
                raise ValueError(f"syntax: '{side}' is neither source nor target")
            for kind, annotator in kinds.items():
                if annotator not in self.annotators:
                    raise ValueError(f"syntax.{side}.{kind}: there is no annotator '{annotator}' in annotators")
                if kind not in self.annotators[annotator].gives:
                    raise ValueError(f"syntax.{side}.{kind}: annotator '{annotator}' does not give {kind}")

    @property
    def tests(self) -> tuple[str, ...]:
        """The splits that are translated: the main test first, then the other tests, then dev."""
        others = [s for s in self.splits if s not in ("train", "dev", self.main_test)]
        return tuple(dict.fromkeys([self.main_test, *others, "dev"]))

    def language(self, side: str) -> str:
        """Give the language code of a side."""
        return self.source if side == "source" else self.target

    def view(self, *keys: str) -> "DatasetSettings":
        """Copy the data set with only `keys`, languages, corpora and splits; a stage depends on nothing else."""
        kept = {"name", "source", "target", "corpora", "splits", "main_test", *keys}
        texts = {"description": "", "licence": "", "citation": "", "recipe": ""}
        neutral = {"segmentation": SegmentationSettings(kind="words", size=1), **texts}
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name in kept}
        return DatasetSettings(**{**neutral, **values})
