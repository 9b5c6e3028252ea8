"""Tables as LaTeX for a paper; they need the packages booktabs and graphicx, and UTF-8."""

import re
from collections.abc import Iterator, Mapping, Sequence
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
    Row,
    SeedMean,
    Table,
    TableCell,
)

MOST_COLUMNS = 8
"""Columns of a table beside the first; what is still wider than the text is made smaller."""
LONGEST = 55
"""Lines of a table on one page."""
BREAK = r"\\"
BOX = 28
"""Characters of a line of text in a cell, above which it is broken."""
NAME = 14
"""Characters of a line of a column's name."""

_SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "`": r"\textasciigrave{}", "'": r"\textquotesingle{}", '"': r"\textquotedbl{}",
    "[": "{[}", "]": "{]}", "*": "{*}", "-": "{-}", "±": r"$\pm$", "→": r"$\rightarrow$", "−": "$-$", "Δ": r"$\Delta$",
    "–": "--", "≠": r"$\neq$", "\u200b": r"\allowbreak{}",
}  # fmt: skip
"""Characters with a meaning in LaTeX. Brackets and the asterisk have one after the end of a row, and two hyphens are a
dash, `!` and `?` before a grave accent are turned around. Where there is a zero-width space, a line may break."""


def page_latex(page: Page) -> str:
    """Format a page: tables as floats, whose captions begin with the heading above them, and notes as comments."""
    title = " ".join(page.title.split())
    parts = [f"% {title}. Needs booktabs, graphicx and \\usepackage[T1]{{fontenc}}; UTF-8.\n"]
    heading, number = title, 0
    for block in page.blocks:
        match block:
            case Heading():
                heading = block.text
            case Table():
                number += 1
                names = " ".join(str(block.keys[key]) for key in ("paper", "table") if key in block.keys) or title
                label = "tab:" + re.sub(r"[^a-z0-9]+", "-", f"{names} {number}".lower())
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
    table = whole.of_what_was_run()
    if not table.groups:
        return "".join(f"% {note}\n" for note in notes_below(whole, table))
    notes = [
        f"\\textsuperscript{{{letter}}} {form.marked(reason.rstrip('.'))}." for reason, letter in table.letters.items()
    ]
    notes += map(form.marked, [*_meanings(table), *notes_below(whole, table)])
    caption = f"{options['heading'].rstrip('.')}. {table.caption or _conclusion(table)}".rstrip()
    floats = []
    for number, part in enumerate(_parts(table)):
        name = form.marked(caption) if not number else f"{form.marked(options['heading'])} (continued)"
        label = options["label"] + (f"-{number + 1}" if number else "")
        floats.append(_float(part, table.letters, form, name, label, notes if not number else []))
    return "\n".join(floats)


def _conclusion(table: Table) -> str:
    """Say how many differences are clear of 0."""
    values = [cell.value for row in table.rows for cell in row if isinstance(cell.value, Estimate)]
    if not values:
        return ""
    above, below = sum(value.low > 0 for value in values), sum(value.high < 0 for value in values)
    counted = f"{len(values)} differences" if len(values) > 1 else "1 difference"
    return f"Of {counted}, {above} {_are(above)} clearly above 0 and {below} {_are(below)} clearly below."


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _meanings(table: Table) -> Iterator[str]:
    """Say what stands after ±."""
    values = [cell.value for row in table.rows for cell in row]
    if any(isinstance(value, SeedMean) and value.stdev is not None for value in values):
        yield "After a score, ± is the standard deviation over seeds."
    if any(isinstance(value, Estimate) for value in values):
        yield "After a difference, ± is half its 95 % interval."


def _parts(table: Table) -> Iterator[Table]:
    """Divide a table that is too wide or too long for a page; each part has the first column."""
    for part in column_parts(table, MOST_COLUMNS):
        pages: list[list[list[Row]]] = [[]]
        lines = 0
        for group in part.groups:
            pages[-1].append([])
            for row in group:
                texts = (column.shown(cell) for column, cell in zip(part.columns, row, strict=True))
                height = max(map(len, texts)) // BOX + 1
                if lines and lines + height > LONGEST:
                    pages.append([[]])
                    lines = 0
                pages[-1][-1].append(row)
                lines += height
        yield from (replace(part, groups=tuple(tuple(rows) for rows in page if rows)) for page in pages)


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
            text = _stacked(name, width * NAME, "c", form)
            upper.append(f"\\multicolumn{{{span}}}{{c}}{{{text}}}" if name else " & ".join([""] * span))
            if name:
                rules.append(f"\\cmidrule(lr){{{place}-{place + span - 1}}}")
            position, place = position + width, place + span
        yield " & ".join(upper) + r" \\"
        yield "".join(rules)
    names = []
    for column, tail in zip(table.columns, tails, strict=True):
        text = _stacked(column.name, NAME, column.alignment[0], form)
        names.append(f"\\multicolumn{{2}}{{c}}{{{text}}}" if tail else text)
    yield " & ".join(names) + r" \\"


def _stacked(name: str, characters: int, side: str, form: Format) -> str:
    """Set a name in one or several lines, which may be broken within names of systems and data sets."""
    lines = wrap(re.sub(r"(?<=[_/])", " ", name), characters, break_long_words=False, break_on_hyphens=False)
    texts = [form.marked(re.sub(r"(?<=[_/]) ", "", line)) for line in lines]
    return "".join(texts) if len(texts) < 2 else f"\\shortstack[{side}]{{\\strut {BREAK.join(texts)}}}"


def _cell(column: Column, cell: TableCell, tail: bool, letters: Mapping[str, str], form: Format) -> str:
    letter = f"\\textsuperscript{{{letters[cell.reason]}}}" if cell.reason and cell.value else ""
    if tail:
        number, more = aligned_parts(column, cell)
        text = _number(number) if cell.value is not None else form.value(column, cell)
        deviation = more.removesuffix(cell.mark).removeprefix(" ± ")
        spread = f"{{\\scriptsize\\,$\\pm$\\,{_number(deviation)}}}" if deviation else ""
        return f"{text} & {spread}{_mark(cell.mark)}"
    if column.content in TEXTS and len(column.shown(cell)) > BOX:
        broken = re.sub(r"(?<=[_/\-.,=])|(?<=\w{14})", "\u200b", column.shown(cell))
        return f"\\parbox[t]{{{BOX / 2:.0f}em}}{{\\raggedright {form.corpus(broken)}{_mark(cell.mark)}{letter}\\strut}}"
    return form.value(column, cell) + _mark(cell.mark) + letter


def _mark(mark: str) -> str:
    return f"\\textsuperscript{{{escape_latex(mark.strip())}}}" if mark.strip() else ""


_LATEX = Format(
    own=escape_latex, corpus=escape_latex, number=_number, in_code=escape_latex, code=r"\texttt{{{}}}", heading="",
    paragraph="\\noindent {}\n", item="", items="", table=_table,
)  # fmt: skip
