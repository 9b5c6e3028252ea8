"""Settings of text: corpora, their files and formats, filters, words and subwords.

To add a format: its options here, its reader in `corpus/formats/`, and a line in `FORMATS`, which names both. To add a
filter: its settings here, a line in `FILTERS`, its function in `corpus/filters.py`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import PurePosixPath
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field

from nmtcore.config.registry import Registry
from nmtcore.config.typed import Amount, Count, Listed, Positive, Range, Seed, Short, build, nearest, settings_class
from nmtcore.errors import UserError, is_hidden, quoted
from nmtcore.layout import MODELS, model_of

SPECIALS = ("<pad>", "<unk>", "<s>", "</s>", "<ROOT>")
"""The first entries of every vocabulary; the last is the artificial root."""


@settings_class
class FormatOptions:
    """Base of the options of all formats."""

    roles: ClassVar[tuple[str, ...]] = ("source", "target")
    """The keys of a corpus's `files`."""
    optional_roles: ClassVar[tuple[str, ...]] = ()
    """Keys that `files` may lack."""
    one_side_suffices: ClassVar[bool] = False
    """Whether a corpus may have files of only one side."""
    contrastive: ClassVar[bool] = False
    """Whether it has contrastive pairs: rows with the same source and right or wrong targets."""


@settings_class
class PlainOptions(FormatOptions):
    """Two line-aligned files with one sentence per line."""


@settings_class
class TsvOptions(FormatOptions):
    """One file with one pair per line, in columns that count from 1.

    A line with another number of columns than most of the file's first 1,000 lines cannot be read.
    """

    roles: ClassVar[tuple[str, ...]] = ("pairs",)

    source_column: Count = 1
    """Column of the source side."""
    target_column: Count = 2
    """Column of the target side."""
    separator: str = "\t"
    """Text between columns; a tab, unless set (ASPEC: " ||| ")."""
    header: bool = False
    """Whether the first line of each file names the columns; it is no pair."""
    delete_from_target: str | None = None
    """A regular expression, as Python has them, whose matches are deleted from the target column; null: none."""

    def __post_init__(self) -> None:
        if not self.separator:
            raise ValueError("separator is empty")
        try:
            re.compile(self.delete_from_target or "")
        except re.error as error:
            raise ValueError(
                f"delete_from_target {quoted(self.delete_from_target)} is no regular expression: {error}"
            ) from error


@settings_class
class SgmOptions(FormatOptions):
    """Two SGML or XML files of a WMT or IWSLT test: one sentence per `<seg>`, the same documents in the same order.

    An XML file with sources and references is the file of both sides; it gives the first reference of each document.
    """


@settings_class
class TmxOptions(FormatOptions):
    """One TMX file (OPUS, translation memories): one pair per `<tu>` that has both languages."""

    roles: ClassVar[tuple[str, ...]] = ("pairs",)


@settings_class
class CopiedOptions(FormatOptions):
    """One monolingual file with one sentence per line, used as source and as target (Currey et al. 2017)."""

    roles: ClassVar[tuple[str, ...]] = ("text",)


Block = Annotated[int, Range(least=1, most=15)]


@settings_class
class CzengOptions(FormatOptions):
    """CzEng's export format: one pair per line, in 15 blocks between tabs that count from 1."""

    roles: ClassVar[tuple[str, ...]] = ("pairs",)

    source_block: Block | None = None
    """Block of the source side's a-layer; null: 3 (Czech) if the data set's source is cs, else 7 (English)."""
    target_block: Block | None = None
    """Block of the target side's a-layer; null: the other one of these two."""

    def blocks(self, source: str) -> tuple[int, int]:
        """Return both sides' blocks for a data set with the source language `source`."""
        source_block, target_block = (3, 7) if source == "cs" else (7, 3)
        return self.source_block or source_block, self.target_block or target_block


@settings_class
class ConlluOptions(FormatOptions):
    r"""One CoNLL-U file per side; one of them may also be plain text with one sentence per line.

    The column MISC may have supertags (`CCG=NP/N`, of every word) and constituents (`Constituents=(S ...)`, of the
    first word); `\p` in them is a vertical bar, and `\\` a backslash. A treebank (a split called gold_... or
    treebank_...) may have only one side; the other one is empty then.
    """

    one_side_suffices: ClassVar[bool] = True

    source_format: Literal["conllu", "plain"] = "conllu"
    """Format of the source files."""
    target_format: Literal["conllu", "plain"] = "conllu"
    """Format of the target files."""


@settings_class
class ContrastiveOptions(FormatOptions):
    """Contrastive pairs, for a split called contrast_...: one pair per line.

    The first line names the columns, with tabs between them: source, right, wrong, phenomenon, and distance, which may
    be missing or empty. If `sentences` is a CoNLL-U file, the column sent_id, in place of source, names the sentence
    there whose words and tree the source has. right_words and wrong_words, with spaces between words, may be missing.
    """

    roles: ClassVar[tuple[str, ...]] = ("pairs",)
    optional_roles: ClassVar[tuple[str, ...]] = ("sentences",)
    contrastive: ClassVar[bool] = True


FORMATS = Registry[FormatOptions](
    {
        "plain": (PlainOptions, "formats.lines.Plain"),
        "sgm": (SgmOptions, "formats.markup.Sgm"),
        "tsv": (TsvOptions, "formats.lines.Tsv"),
        "tmx": (TmxOptions, "formats.markup.Tmx"),
        "czeng": (CzengOptions, "formats.lines.Czeng"),
        "conllu": (ConlluOptions, "formats.conllu.Conllu"),
        "copied": (CopiedOptions, "formats.lines.Copied"),
        "contrastive": (ContrastiveOptions, "contrasts.Contrastive"),
    },
    noun="format",
    package="nmtcore.corpus",
)


def corpus_options(name: str, options: Mapping[str, Any], files: Mapping[str, Any], *, where: str) -> FormatOptions:
    """Build the options of a corpus with the format `name`.

    Raises `UserError` if they are not valid, or if `files` lacks a role that the format reads or has another one.
    """
    built = build(FORMATS.find(name, where=where), options, where=f"{where}: options")
    known = (*built.roles, *built.optional_roles)
    for role in files:
        if role not in known:
            raise UserError(f"{where}: files has no role '{role}' in this format. {nearest(role, known)}")
    missing = [role for role in built.roles if not files.get(role)]
    if missing and not (built.one_side_suffices and len(missing) < len(built.roles)):
        raise UserError(f"{where}: files lacks '{missing[0]}'.")
    return built


Side = Literal["source", "target"]
SIDES: tuple[Side, ...] = get_args(Side)


@settings_class
class MirrorSettings:
    """Another address of the same text, perhaps packed in another way."""

    path: str
    """Path below each root of `mirrors` in config.yaml (a folder, file:// or https://), or a whole URL."""
    member: str | None = None
    """Member to read if the mirror has an archive; null: the whole file is read."""
    sha256: str | None = None
    """SHA-256 of the mirror's file, if that is packed in another way than the file itself."""
    length: Count | None = None
    """Length of the mirror's file in bytes, if that is packed in another way than the file itself."""


@settings_class
class FileSettings:
    """A file of a corpus or model: downloaded, fetched by hand, or the user's own (`path`)."""

    name: str = ""
    """Path below the downloads folder; not needed if `path` is set."""
    path: str | None = None
    """A file of your own, read where it is. Absolute, from `~` on, or relative to the folder that holds `datasets` and
    `corpora`."""
    url: str | None = None
    """Address to download it from. `repository://data/FILE` is a file of this repository, wherever that is."""
    member: str | None = None
    """Member to read if the file is an archive, which is streamed and never extracted; null: the whole file is read."""
    sha256: str | None = None
    """SHA-256; null: recorded at the first download and enforced from then on."""
    md5: str | None = None
    """MD5, if the publisher gives no better sum."""
    length: Count | None = None
    """Length in bytes; null: recorded at the first download."""
    megabytes: Positive | None = None
    """Approximate size, which the plan shows; only `length` is compared."""
    mirrors: tuple[MirrorSettings, ...] = ()
    """Other addresses of the same text."""
    manual: str | None = None
    """A sentence that says where to get a file that cannot be downloaded; it belongs in the `manual` folder."""

    def __post_init__(self) -> None:
        if self.path is not None:
            if self.url or self.manual or self.mirrors:
                raise ValueError(
                    f"{self.path} is a `path`, so it is read where it is: leave out url, mirrors and manual"
                )
            return
        for key, text in (("name", self.name), ("url", self.url or "")):
            if any(map(is_hidden, text)) or "\n" in text:
                raise ValueError(f"{key} {quoted(text)} has control characters or others that are not seen")
        path = PurePosixPath(self.name)
        if path.is_absolute() or ".." in path.parts or not self.name:
            raise ValueError(
                f"name '{self.name}' must be a path below the downloads folder (a file of your own: `path`)"
            )
        if not (self.url or self.manual or self.mirrors):
            raise ValueError(f"{self.name} has neither url nor mirrors nor manual (a file of your own: `path`)")


@settings_class
class AnnotatorModelSettings:
    """The files of a parser or tagger; the `name` of each begins with `models/NAME/`."""

    name: str
    """Name of the file."""
    description: str
    """A sentence that says what the model is."""
    files: tuple[FileSettings, ...]
    """Files of the model."""
    licence: str = ""
    """Licence."""
    citation: str = ""
    """What to cite."""

    def __post_init__(self) -> None:
        for file in self.files:
            if file.path is not None:
                raise ValueError(
                    "`path` is for corpora: put your own model into a folder that `models` in config.yaml lists"
                )
            if model_of(file.name) != self.name:
                raise ValueError(f"the file {file.name} must have a name like {MODELS}/{self.name}/...")


@settings_class
class CorpusSettings:
    """A corpus: its format, and its files by the roles that the format has for them."""

    format: Annotated[str, Field(json_schema_extra={"enum": list(FORMATS)})]
    """Format of the files."""
    files: dict[str, Annotated[tuple[Annotated[FileSettings, Short("path")], ...], Listed()]] = field(
        default_factory=dict
    )
    """Files by role (`source`, `target`, a language code, `pairs` or `text`, as the format has them); the files of one
    role are read one after the other."""
    options: dict[str, Any] = field(default_factory=dict)
    """Options of the format."""
    licence: str = ""
    """Licence, if it is not the data set's."""
    citation: str = ""
    """What to cite, if it is not what the data set cites."""

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise ValueError(f"unknown format {quoted(self.format)}. {nearest(self.format, FORMATS)}")

    @property
    def sides(self) -> tuple[str, ...]:
        """The sides that have text; a treebank may have only one."""
        named = tuple(side for side in SIDES if side in self.files)
        return named if FORMATS[self.format].one_side_suffices and named else SIDES


def own_files(corpus: CorpusSettings) -> Iterator[tuple[str, FileSettings]]:
    """Yield each of the user's own files in a corpus, with its key (`files.source`)."""
    for role, files in corpus.files.items():
        for number, file in enumerate(files, start=1):
            if file.path is not None:
                yield f"files.{role}" + (f" (number {number})" if len(files) > 1 else ""), file


@settings_class
class PartSettings:
    """Rows of a corpus, counted from 1 before any filter."""

    corpus: str
    """Name of the corpus: one of the data set's `corpora` or a file of `corpora/`."""
    first: Count = 1
    """First row."""
    last: Count | None = None
    """Last row, included; null: the corpus's last."""
    sample: Count | None = None
    """Number of these rows to draw at random, kept in corpus order; null: all."""
    seed: Seed = 1
    """Seed of the sample."""

    def __post_init__(self) -> None:
        if self.last is not None and self.last < self.first:
            raise ValueError(f"last {self.last} is below first {self.first}")


@settings_class
class FilterSettings:
    """Base of the settings of all filters."""


@settings_class
class EmptySettings(FilterSettings):
    """Drop pairs with a side that has no words."""


@settings_class
class LengthSettings(FilterSettings):
    """Drop pairs with a side of fewer than `least` or more than `most` words."""

    least: Amount = 1
    """Fewest words per side."""
    most: Count = 250
    """Most words per side."""

    def __post_init__(self) -> None:
        if self.most < self.least:
            raise ValueError(f"most {self.most} is below least {self.least}")


@settings_class
class RatioSettings(FilterSettings):
    """Drop pairs whose longer side has more than `most` times the words of the shorter."""

    most: Annotated[float, Range(least=1)] = 9.0
    """Highest ratio of the two lengths."""


@settings_class
class DuplicatesSettings(FilterSettings):
    """Keep the first of several equal pairs (the words of both sides are equal)."""


@settings_class
class HeldOutSettings(FilterSettings):
    """Drop pairs that also occur in dev, in the main test or in `splits` (the words of both sides are equal)."""

    splits: tuple[str, ...] | None = None
    """The splits to compare with; null: dev and the main test. A test that is not listed leaves train as it is: what it
    shares with train is counted, and named with its scores."""


@settings_class
class LangDetectSettings(FilterSettings):
    """Drop pairs with a side that is not in its language, as the papers do: by langdetect (a port of Google's)."""


FILTERS = Registry[FilterSettings](
    {
        "empty": (EmptySettings, ""),
        "length": (LengthSettings, ""),
        "ratio": (RatioSettings, ""),
        "duplicates": (DuplicatesSettings, ""),
        "held_out": (HeldOutSettings, ""),
        "langdetect": (LangDetectSettings, ""),
    },
    noun="filter",
    own_folder="filters",
    base=FilterSettings,
)


WordsKind = Literal["moses", "spaces", "given", "mecab", "characters", "spacy"]


@settings_class
class WordsSettings:
    """Tokenisation of one side into words."""

    kind: WordsKind = "moses"
    """moses: Moses' tokeniser; spaces: text that is tokenised already; given: words that come with the corpus (czeng,
    conllu); mecab: MeCab with the IPA dictionary, for Japanese; characters: those of scripts without spaces
    (Chinese, Thai...); spacy: the tokeniser of spaCy's empty pipeline."""
    normalise: Literal[False, True, "nfc"] = False
    """true: Moses' normalisation of punctuation comes before words are split; nfc: texts, references and words are in
    Unicode's composed form (NFC)."""
    apostrophes: Literal["split", "keep"] = "split"
    """keep, for moses: apostrophes within words stay there (`Ankara'da`), as do other marks (`col·legi`, vowel signs,
    joiners), and punctuation of other scripts is joined to words like Latin punctuation."""
    language: str | None = None
    """For spacy: the language of the pipeline, if spaCy has another code for it than the data set."""

    def __post_init__(self) -> None:
        if self.apostrophes == "keep" and self.kind != "moses":
            raise ValueError(f"`apostrophes: keep` is of `kind: moses`, not of `kind: {self.kind}`: delete it")
        if self.language is not None and self.kind != "spacy":
            raise ValueError(f"`language` is of `kind: spacy`, not of `kind: {self.kind}`: delete it")


MODEL_NAME = r"(?!\.{1,2}$)[A-Za-z0-9._-]+"
"""Pattern of the names of annotators' models, which are never paths."""


def check_model_name(name: str) -> None:
    """Raise a `ValueError` unless `name` is plain: models can run code, so only the user's folders are searched."""
    if not re.fullmatch(MODEL_NAME, name):
        raise ValueError(
            f"a model is a plain name (letters, digits, '.', '_' and '-'), not {quoted(name)}: add its folder to "
            "`models` in config/config.yaml (or give the folder as --models), and use the model's name here"
        )


@settings_class
class SegmentationSettings:
    """Segmentation of words or text into subwords. Its name contains all settings, so names are unambiguous."""

    kind: Literal["words", "bpe", "sentencepiece"]
    """words: no subwords, a vocabulary of whole words; bpe: byte pair encoding of words; sentencepiece: pieces of text,
    by SentencePiece's unigram model."""
    size: Count
    """words: size of the vocabulary; bpe: number of merges; sentencepiece: number of pieces (of a `model`: of the
    entries of its vocab.json)."""
    joint: bool = False
    """Whether both sides share the merges or pieces, and the vocabulary."""
    also: Literal["constituency"] | None = None
    """Further text to learn from: the sources' linearised parses, as additional targets."""
    model: str | None = None
    """For sentencepiece: name of a folder with source.spm, target.spm and vocab.json in one of `models` of config.yaml,
    as `transformers` publishes Marian models (without `joint`, also target_vocab.json); null: pieces are learned."""

    def __post_init__(self) -> None:
        if self.also and self.kind == "sentencepiece":
            raise ValueError("`also` is of `kind: bpe` and `kind: words`: parses are no text, delete it")
        if self.model is not None:
            if self.kind != "sentencepiece":
                raise ValueError(f"`model` is of `kind: sentencepiece`, not of `kind: {self.kind}`: delete it")
            check_model_name(self.model)

    @property
    def name(self) -> str:
        """The name in paths: words_50000, bpe_joint_6000, bpe_joint_16000_constituency, sentencepiece_8000_MODEL."""
        joint = ["joint"] if self.joint else []
        return "_".join([self.kind, *joint, str(self.size), *filter(None, (self.also, self.model))])

    @classmethod
    def parse(cls, name: str) -> "SegmentationSettings":
        """Read a name back; raise a `ValueError` for a text that names no segmentation."""
        match = re.fullmatch(r"(words|bpe|(sentencepiece))(_joint)?_(\d+)(?:_((?(2).+|constituency)))?", name)
        if not match:
            raise ValueError(f"'{name}' is no segmentation; names are like words_50000, bpe_joint_6000, bpe_32000")
        unit, pieces, joint, size, last = match.groups()
        return cls(kind=unit, joint=bool(joint), size=int(size), **{"model" if pieces else "also": last})
