"""Tables as LaTeX for a paper; they need the packages booktabs and graphicx, and UTF-8."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from textwrap import wrap
from typing import Any

from nmtcore.reporting.blocks import Format, aligned_parts, column_parts, header_groups, notes_below, rendered
from nmtcore.reporting.table import (
    TEXTS,
    Column,
    Estimate,
    Heading,
    Items,
    Page,
    Paragraph,
    SeedMean,
    Table,
    TableCell,
)

MOST_COLUMNS = 8
"""Columns of a table beside the first; what is still wider than the text is made smaller."""
CELL, NAME = 28, 14
"""Characters of a line in a cell and in a column's name; longer text has several lines."""

_SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "`": r"\textasciigrave{}", "'": r"\textquotesingle{}", '"': r"\textquotedbl{}",
    "[": "{[}", "]": "{]}", "*": "{*}", "-": "{-}", "±": r"$\pm$", "→": r"$\rightarrow$", "−": "$-$", "Δ": r"$\Delta$",
    "–": "--", "≠": r"$\neq$",
}  # fmt: skip
"""Characters with a meaning in LaTeX. Brackets and the asterisk have one after the end of a row, and two hyphens are a
dash, `!` and `?` before a grave accent are turned around."""


def page_latex(page: Page) -> str:
    """Format a page: tables as floats, whose captions begin with the heading above them, and notes as comments."""
    title = " ".join(page.title.split())
    parts = [f"% {title}. Needs booktabs, graphicx and \\usepackage[T1]{{fontenc}}; UTF-8.\n"]
    heading, place, number = title, "", 0
    for block in page.blocks:
        match block:
            case Heading():
                heading, place = block.text or title, block.place or place
            case Table():
                number += 1
                names = " ".join(filter(None, (block.keys.get("paper"), place))) or title
                label = "tab:" + re.sub(r"[^a-z0-9.]+", "-", f"{names} {number}".lower())
                parts.append(rendered([block], _LATEX, heading=heading, label=label))
            case Paragraph() if block.corpus:
                parts.append(rendered([block], _LATEX))
            case _:
                texts = block.texts if isinstance(block, Items) else [block.text]
                parts.append("".join(f"% {line}\n" for text in texts for line in wrap(" ".join(text.split()), 110)))
    return "\n".join(parts)


def escape_latex(text: str) -> str:
    """Escape text so that LaTeX shows it as it is; line breaks become spaces."""
    return "".join(_SIGNS.get(sign, sign) for sign in " ".join(text.splitlines()))


def _number(text: str) -> str:
    return re.sub(r"(?<!\d)\{-\}", "$-$", escape_latex(text))


def _table(whole: Table, form: Format, options: Mapping[str, Any]) -> str:
    whole = replace(whole, command="")  # a paper's readers do not run it
    table = whole.for_readers()
    if not table.groups:
        return "".join(f"% {note}\n" for note in notes_below(whole, table))
    notes = [
        f"\\textsuperscript{{{letter}}} {form.marked(reason.rstrip('.'))}." for reason, letter in table.letters.items()
    ]
    notes += map(form.marked, [*_meanings(table), *notes_below(whole, table)])
    caption = f"{options['heading'].rstrip('.')}. {table.caption}".rstrip()
    floats = []
    for number, part in enumerate(column_parts(table, MOST_COLUMNS)):
        name = form.marked(caption) if not number else f"{form.marked(options['heading'])} (continued)"
        label = options["label"] + (f"-{number + 1}" if number else "")
        floats.append(_float(part, table.letters, form, name, label, notes if not number else []))
    return "\n".join(floats)


def _meanings(table: Table) -> Iterator[str]:
    """Say what stands after ±."""
    values = [cell.value for row in table.rows for cell in row]
    if any(isinstance(value, SeedMean) and value.stdev is not None for value in values):
        yield "After a score, ± is the standard deviation over seeds."
    if any(isinstance(value, Estimate) for value in values):
        yield "After a difference, ± is half its 95 % interval."


def _float(
    table: Table, letters: Mapping[str, str], form: Format, caption: str, label: str, notes: Sequence[str]
) -> str:
    by_column = zip(table.columns, zip(*table.rows, strict=True), strict=True)
    # What follows the aligned numbers, deviations and marks, is a column of LaTeX of its own.
    tails = [column.content not in TEXTS and any(aligned_parts(column, cell)[1] for cell in cells)
             for column, cells in by_column]  # fmt: skip
    formats = ("r@{}l" if tail else column.alignment[0] for column, tail in zip(table.columns, tails, strict=True))
    lines = [
        "\\begin{table}[tbp]", "\\centering", f"\\caption{{{caption}}}", f"\\label{{{label}}}", "\\smallskip",
        "\\footnotesize", "\\setlength{\\tabcolsep}{3pt}",
        "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%",
        f"\\begin{{tabular}}{{@{{}}{''.join(formats)}@{{}}}}", "\\toprule", *_header(table, tails, form),
    ]  # fmt: skip
    for group in table.groups:
        lines.append("\\midrule")
        for row in group:
            cells = zip(table.columns, row, tails, strict=True)
            lines.append(" & ".join(_cell(*own, letters, form) for own in cells) + r" \\")
    lines += ["\\bottomrule", "\\end{tabular}}"]
    if notes:
        lines += ["", "\\smallskip", f"\\parbox{{\\linewidth}}{{\\scriptsize {' '.join(notes)}}}"]
    return "\n".join([*lines, "\\end{table}"]) + "\n"


def _header(table: Table, tails: Sequence[bool], form: Format) -> Iterator[str]:
    """Yield the names of the columns; if some have a heading above them, in two lines with rules between."""
    groups, position, place = header_groups(table), 0, 1
    if any(name for name, _ in groups):
        upper, rules = [], []
        for name, width in groups:
            span = width + sum(tails[position : position + width])
            text = _in_lines(name, width * NAME, "bc", form.marked)
            upper.append(f"\\multicolumn{{{span}}}{{c}}{{{text}}}" if name else " & ".join([""] * span))
            if name:
                rules.append(f"\\cmidrule(lr){{{place}-{place + span - 1}}}")
            position, place = position + width, place + span
        yield " & ".join(upper) + r" \\"
        yield "".join(rules)
    names = []
    for column, tail in zip(table.columns, tails, strict=True):
        text = _in_lines(column.name, NAME, f"b{column.alignment[0]}", form.marked)
        names.append(f"\\multicolumn{{2}}{{c}}{{{text}}}" if tail else text)
    yield " & ".join(names) + r" \\"


def _in_lines(text: str, characters: int, place: str, escaped: Callable[[str], str]) -> str:
    """Set text in as many lines as it needs, which end at spaces and after `_` and `/` alone.

    `place` is the one of the lines on that of the row, `t` or `b`, and their alignment: `tl`.
    """
    lines = [""]
    for piece in re.findall(r"[^\s_/]+[\s_/]*|[\s_/]+", text):
        if lines[-1] and len(f"{lines[-1]}{piece}".rstrip()) > characters:
            lines.append("")
        lines[-1] += piece
    texts = [escaped(line.strip()) for line in lines]
    if len(texts) == 1:
        return texts[0]
    vertical, side = place
    rows = r" \\ ".join(texts)
    return rf"\begin{{tabular}}[{vertical}]{{@{{}}{side}@{{}}}}{rows}\end{{tabular}}"


def _cell(column: Column, cell: TableCell, tail: bool, letters: Mapping[str, str], form: Format) -> str:
    letter = f"\\textsuperscript{{{letters[cell.reason]}}}" if cell.reason and cell.value else ""
    if tail:
        number, more = aligned_parts(column, cell)
        text = _number(number) if cell.value is not None else form.value(column, cell)
        deviation = more.removesuffix(cell.mark).removeprefix(" ± ")
        spread = f"{{\\scriptsize\\,$\\pm$\\,{_number(deviation)}}}" if deviation else ""
        return f"{text} & {spread}{_mark(cell.mark)}"
    text = column.shown(cell)
    is_long = column.content in TEXTS and len(text) > CELL
    shown = _in_lines(text, CELL, "tl", form.corpus) if is_long else form.value(column, cell)
    return shown + _mark(cell.mark) + letter


def _mark(mark: str) -> str:
    return f"\\textsuperscript{{{escape_latex(mark.strip())}}}" if mark.strip() else ""


_LATEX = Format(
    own=escape_latex, corpus=escape_latex, number=_number, in_code=escape_latex, code=r"\texttt{{{}}}", heading="",
    paragraph="\\noindent {}\n", item="", items="", table=_table,
)  # fmt: skip
