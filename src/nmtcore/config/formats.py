"""The options of every corpus format.

To add one: its options here, a line in `FORMATS`, its reader in `corpus/formats/{name}.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from nmtcore.config.registry import Registry
from nmtcore.config.typed import build, nearest
from nmtcore.errors import UserError


@dataclass(frozen=True, kw_only=True)
class FormatOptions:
    """What all formats share."""

    roles: ClassVar[tuple[str, ...]] = ("source", "target")
    """The keys of a corpus's `files`."""
    one_side_suffices: ClassVar[bool] = False
    """Whether a corpus may have files of one side alone."""

    def __post_init__(self) -> None:
        for name in ("source_column", "target_column", "source_block", "target_block"):
            if getattr(self, name, 1) < 1:
                raise ValueError(f"{name} counts from 1")
        if not getattr(self, "separator", "\t"):
            raise ValueError("separator is empty")


@dataclass(frozen=True, kw_only=True)
class PlainOptions(FormatOptions):
    """Two files, a sentence a line."""


@dataclass(frozen=True, kw_only=True)
class TsvOptions(FormatOptions):
    """One file, a pair a line, columns between tabs; columns count from 1."""

    roles: ClassVar[tuple[str, ...]] = ("pairs",)

    source_column: int = 1
    target_column: int = 2
    separator: str = "\t"
    """Between columns (ASPEC: " ||| ")."""


@dataclass(frozen=True, kw_only=True)
class SgmOptions(FormatOptions):
    """Two SGML or XML files of the WMT tests: a sentence each `<seg>`, of the same documents in the same order."""


@dataclass(frozen=True, kw_only=True)
class TmxOptions(FormatOptions):
    """One TMX file (OPUS, translation memories): a pair each `<tu>` that has both languages."""

    roles: ClassVar[tuple[str, ...]] = ("pairs",)


@dataclass(frozen=True, kw_only=True)
class CopiedOptions(FormatOptions):
    """Monolingual text, a sentence a line, that stands on both sides (Currey et al. 2017)."""

    roles: ClassVar[tuple[str, ...]] = ("text",)


@dataclass(frozen=True, kw_only=True)
class CzengOptions(FormatOptions):
    """CzEng's export format: 15 blocks between tabs; blocks count from 1."""

    roles: ClassVar[tuple[str, ...]] = ("pairs",)

    source_block: int | None = None
    """The source side's a-layer. None: 3 (Czech) where the data set's source is cs, else 7 (English)."""
    target_block: int | None = None

    def __post_init__(self) -> None:
        for block in (self.source_block, self.target_block):
            if block is not None and not 1 <= block <= 15:
                raise ValueError(f"there is no block {block}; blocks count from 1 to 15")

    def blocks(self, source: str) -> tuple[int, int]:
        """Give both sides' blocks for a data set whose source language is `source`."""
        source_block, target_block = (3, 7) if source == "cs" else (7, 3)
        return self.source_block or source_block, self.target_block or target_block


@dataclass(frozen=True, kw_only=True)
class ConlluOptions(FormatOptions):
    """A CoNLL-U file a side (a sentence on one side may also be a line of a plain file).

    A treebank (a split called gold_... or treebank_...) may have one side alone; the other is empty then.
    """

    one_side_suffices: ClassVar[bool] = True

    source_format: Literal["conllu", "plain"] = "conllu"
    target_format: Literal["conllu", "plain"] = "conllu"


@dataclass(frozen=True, kw_only=True)
class DemoOptions(FormatOptions):
    """The demo corpus, which is generated: English to German, or with `swap` German to English."""

    roles: ClassVar[tuple[str, ...]] = ()

    split: str
    swap: bool = False
    count: int | None = None
    """Pairs to generate. None: as many as the split is meant to have."""
    seed: int = 1


FORMATS = Registry[FormatOptions](
    {
        "plain": PlainOptions,
        "sgm": SgmOptions,
        "tsv": TsvOptions,
        "tmx": TmxOptions,
        "czeng": CzengOptions,
        "conllu": ConlluOptions,
        "copied": CopiedOptions,
        "demo": DemoOptions,
    },
    noun="format",
    package="nmtcore.corpus.formats",
)


def corpus_options(name: str, options: Mapping[str, Any], files: Mapping[str, Any], *, where: str) -> FormatOptions:
    """Build the options of a corpus of the format `name`, and check that its files are those that the format reads."""
    built = build(FORMATS.find(name, where=where), options, where=f"{where}: options")
    _check_roles(built, files, where=where)
    return built


def _check_roles(options: FormatOptions, files: Mapping[str, Any], *, where: str) -> None:
    """Raise a sentence when `files` lacks a role that the format reads, or has another."""
    for role in files:
        if role not in options.roles:
            raise UserError(f"{where}: files has no role '{role}' in this format. {nearest(role, options.roles)}")
    if options.one_side_suffices and any(files.get(role) for role in options.roles):
        return
    for role in options.roles:
        if not files.get(role):
            raise UserError(f"{where}: files lacks '{role}'.")
