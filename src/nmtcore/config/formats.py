"""Options of the corpus formats.

To add a format: its options here, its reader in `corpus/formats/`, and a line in `FORMATS`, which names both.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from nmtcore.config.ranges import Count, Range, settings_class
from nmtcore.config.registry import Registry
from nmtcore.config.typed import build, nearest
from nmtcore.errors import UserError, quoted


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
