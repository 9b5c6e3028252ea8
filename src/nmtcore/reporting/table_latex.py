"""Tables as LaTeX for a paper; they need the package booktabs, and UTF-8."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from textwrap import wrap
from typing import Any, NamedTuple

from nmtcore.reporting.blocks import Format, aligned_parts, header_groups, notes_below, rendered
from nmtcore.reporting.svg import text_width
from nmtcore.reporting.table import TEXTS, Estimate, Heading, Items, Page, Paragraph, Row, SeedMean, Table

TEXT_WIDTH = 445
"""Points within the margins of the class article on A4, 2.5 cm wide."""
FONT_SIZE = 6.9
"""Of a table, for `text_width`, which is made for wider letters than those of \\footnotesize."""
BREAK = r"\\"
COLUMN_SPACE = 6
NARROWEST = 70
"""Points of a column of text that is broken into lines."""
LONGEST = 55
"""Lines of a table on one page."""

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
    parts = [f"% {title}. Needs \\usepackage{{booktabs}} and \\usepackage[T1]{{fontenc}}; UTF-8.\n"]
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


class _Laid(NamedTuple):
    """A column as it is laid out; widths are in points."""

    position: int
    """Its position in the table."""
    name: list[str]
    """The lines of its name."""
    width: float
    boxed: bool = False
    """Whether its cells are broken into lines of this width."""
    tail: bool = False
    """Whether its numbers are followed by deviations or marks, which are a column of LaTeX of their own."""


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
    for number, (columns, groups) in enumerate(_parts(table)):
        name = form.marked(caption) if not number else f"{form.marked(options['heading'])} (continued)"
        label = options["label"] + (f"-{number + 1}" if number else "")
        floats.append(_float(replace(table, groups=groups), columns, form, name, label, notes))
        notes = []
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


def _parts(table: Table) -> Iterator[tuple[list[_Laid], tuple[tuple[Row, ...], ...]]]:
    """Divide a table that is too wide or too long for a page; each part has the first column."""
    laid = _below_headings(table, [_laid(table, position) for position in range(len(table.columns))])
    first, rest, parts = laid[0], laid[1:], []
    room = TEXT_WIDTH - min(first.width, NARROWEST) - COLUMN_SPACE
    part: list[_Laid] = []
    for column in rest:
        if part and sum(_least(table, own) for own in [*part, column]) > room:
            parts.append([first, *part])
            part = []
        part.append(column)
    for columns in [*parts, [first, *part]]:
        fitted = _fitted(table, columns)
        for groups in _pages(table, fitted):
            yield fitted, groups


def _laid(table: Table, position: int) -> _Laid:
    column = table.columns[position]
    cells = [row[position] for row in table.rows]
    if column.content in TEXTS:
        texts = [column.shown(cell) + cell.mark + "a" * bool(cell.reason and cell.value) for cell in cells]
        values, tail = max(text_width(text, FONT_SIZE) for text in texts), False
    else:
        pairs = [aligned_parts(column, cell) for cell in cells]
        values = sum(max(text_width(text, FONT_SIZE) for text in side) for side in zip(*pairs, strict=True))
        tail = any(more for _, more in pairs)
    name = _wrapped(column.name, max(9, int(values / FONT_SIZE * 1.6))) or [""]
    return _Laid(position, name, max(values, *(text_width(line, FONT_SIZE) for line in name)), tail=tail)


def _below_headings(table: Table, laid: list[_Laid]) -> list[_Laid]:
    """Widen columns so that the heading above them has room."""
    widened: list[_Laid] = []
    for name, width in header_groups(table):
        own = laid[len(widened) : len(widened) + width]
        least = max((text_width(line, FONT_SIZE) for line in _heading_lines(name, own)), default=0) / width
        widened += [column._replace(width=max(column.width, least)) for column in own]
    return widened


def _heading_lines(name: str, columns: Sequence[_Laid]) -> list[str]:
    """Break the heading above some columns into lines."""
    room = sum(column.width for column in columns)
    return _wrapped(name, max(10, int(room / FONT_SIZE * 1.6)))


def _wrapped(name: str, characters: int) -> list[str]:
    """Break a name into lines, also within names of systems and data sets."""
    lines = wrap(re.sub(r"(?<=[_/])", " ", name), characters, break_long_words=False, break_on_hyphens=False)
    return [re.sub(r"(?<=[_/]) ", "", line) for line in lines]


def _least(table: Table, column: _Laid) -> float:
    is_text = table.columns[column.position].content in TEXTS
    return (min(column.width, NARROWEST) if is_text else column.width) + COLUMN_SPACE


def _fitted(table: Table, columns: list[_Laid]) -> list[_Laid]:
    """Break the widest columns of text into lines until all columns fit beside one another."""
    texts = sorted((own for own in columns if table.columns[own.position].content in TEXTS), key=lambda own: own.width)
    room = TEXT_WIDTH - sum(own.width for own in columns if own not in texts) - COLUMN_SPACE * len(columns)
    fitted = {}
    for number, own in enumerate(texts):
        share = max(room / (len(texts) - number), NARROWEST / 2)
        fitted[own.position] = own if own.width <= share else own._replace(width=share, boxed=True)
        room -= fitted[own.position].width
    return [fitted.get(own.position, own) for own in columns]


def _pages(table: Table, columns: list[_Laid]) -> Iterator[tuple[tuple[Row, ...], ...]]:
    """Divide the groups of rows so that each part has at most `LONGEST` lines, unless a row has more."""
    page: list[list[Row]] = []
    lines = 0.0
    for group in table.groups:
        page.append([])
        for row in group:
            height = max(
                text_width(table.columns[own.position].shown(row[own.position]), FONT_SIZE) // own.width * own.boxed + 1
                for own in columns
            )
            if lines and lines + height > LONGEST:
                yield tuple(tuple(rows) for rows in page if rows)
                page, lines = [[]], 0
            page[-1].append(row)
            lines += height
    yield tuple(tuple(rows) for rows in page if rows)


def _float(table: Table, columns: list[_Laid], form: Format, caption: str, label: str, notes: Sequence[str]) -> str:
    formats = "".join("r@{}l" if own.tail else table.columns[own.position].alignment[0] for own in columns)
    lines = [
        "\\begin{table}[tbp]", "\\centering", f"\\caption{{{caption}}}", f"\\label{{{label}}}", "\\smallskip",
        "\\footnotesize", "\\setlength{\\tabcolsep}{3pt}", f"\\begin{{tabular}}{{@{{}}{formats}@{{}}}}", "\\toprule",
        *_header(table, columns, form),
    ]  # fmt: skip
    for group in table.groups:
        lines.append("\\midrule")
        lines += [" & ".join(_cell(table, row, own, form) for own in columns) + r" \\" for row in group]
    lines += ["\\bottomrule", "\\end{tabular}"]
    if notes:
        lines += ["", "\\smallskip", f"\\parbox{{\\linewidth}}{{\\scriptsize {' '.join(notes)}}}"]
    return "\n".join([*lines, "\\end{table}"]) + "\n"


def _header(table: Table, columns: list[_Laid], form: Format) -> Iterator[str]:
    """Yield the names of the columns; if some have a heading above them, in two lines with rules between."""
    shown = replace(table, columns=tuple(table.columns[own.position] for own in columns), groups=())
    groups, position, place = header_groups(shown), 0, 1
    if any(name for name, _ in groups):
        upper, rules = [], []
        for name, width in groups:
            span = sum(1 + own.tail for own in columns[position : position + width])
            text = _stacked(_heading_lines(name, columns[position : position + width]), "c", form)
            upper.append(f"\\multicolumn{{{span}}}{{c}}{{{text}}}" if name else " & ".join([""] * span))
            if name:
                rules.append(f"\\cmidrule(lr){{{place}-{place + span - 1}}}")
            position, place = position + width, place + span
        yield " & ".join(upper) + r" \\"
        yield "".join(rules)
    names = []
    for own in columns:
        side = table.columns[own.position].alignment[0]
        text = _stacked(own.name, side, form)
        names.append(f"\\multicolumn{{2}}{{c}}{{{text}}}" if own.tail else text)
    yield " & ".join(names) + r" \\"


def _stacked(lines: Sequence[str], side: str, form: Format) -> str:
    """Set a name in one or several lines."""
    texts = [form.marked(line) for line in lines]
    return texts[0] if len(texts) == 1 else f"\\shortstack[{side}]{{\\strut {BREAK.join(texts)}}}"


def _cell(table: Table, row: Row, own: _Laid, form: Format) -> str:
    column, cell = table.columns[own.position], row[own.position]
    letter = f"\\textsuperscript{{{table.letters[cell.reason]}}}" if cell.reason and cell.value else ""
    if own.tail:
        number, more = aligned_parts(column, cell)
        text = _number(number) if cell.value is not None else form.value(column, cell)
        deviation = more.removesuffix(cell.mark).removeprefix(" ± ")
        tail = (f"{{\\scriptsize\\,$\\pm$\\,{_number(deviation)}}}" if deviation else "") + _mark(cell.mark)
        return f"{text} & {tail}"
    if own.boxed:
        broken = re.sub(r"(?<=[_/\-.,=])|(?<=\w{14})", "\u200b", str(cell.value))
        text = form.corpus(broken) if cell.value is not None else form.value(column, cell)
        return f"\\parbox[t]{{{own.width:.0f}pt}}{{\\raggedright {text}{_mark(cell.mark)}{letter}\\strut}}"
    return form.value(column, cell) + _mark(cell.mark) + letter


def _mark(mark: str) -> str:
    return f"\\textsuperscript{{{escape_latex(mark.strip())}}}" if mark.strip() else ""


_LATEX = Format(
    own=escape_latex, corpus=escape_latex, number=_number, in_code=escape_latex, code=r"\texttt{{{}}}", heading="",
    paragraph="\\noindent {}\n", item="", items="", table=_table,
)  # fmt: skip
