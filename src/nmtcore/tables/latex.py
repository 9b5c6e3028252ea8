"""Tables as LaTeX for a paper; they need the packages booktabs and graphicx, and UTF-8."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from textwrap import wrap

from nmtcore.tables.blocks import (
    TEXTS,
    Block,
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
from nmtcore.tables.render import Writer, aligned_parts, column_parts, header_groups, notes_below

MOST_COLUMNS = 8
"""Columns of a table beside the first; what is still wider than the text is made smaller."""
CELL, NAME = 28, 14
"""Characters of a line in a cell and in a column's name; longer text has several lines."""

_SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "`": r"\textasciigrave{}", "'": r"\textquotesingle{}", '"': r"\textquotedbl{}",
    "[": "{[}", "]": "{]}", "*": "{*}", "-": "{-}", "±": r"$\pm$", "→": r"$\rightarrow$", "−": "$-$", "Δ": r"$\Delta$",
    "–": "--", "≠": r"$\neq$", "↓": r"$\downarrow$",
}  # fmt: skip
"""Characters with a meaning in LaTeX. Brackets and the asterisk have one after the end of a row, and two hyphens are a
dash, `!` and `?` before a grave accent are turned around."""


def escape_latex(text: str) -> str:
    """Escape text so that LaTeX shows it as it is; line breaks become spaces."""
    return "".join(_SIGNS.get(sign, sign) for sign in " ".join(text.splitlines()))


class _Latex(Writer):
    """LaTeX: tables as floats, whose captions begin with the heading above them, and notes as comments."""

    text = corpus = staticmethod(escape_latex)
    code = staticmethod(lambda text: f"\\texttt{{{escape_latex(text)}}}")
    number = staticmethod(lambda text: re.sub(r"(?<!\d)\{-\}", "$-$", escape_latex(text)))
    paragraph, letter, separator = "\\noindent {}\n".format, r"\textsuperscript{{{}}}".format, "\n"

    def __init__(self, title: str):
        self.title = self.caption = title
        self.place = ""
        self.tables = 0

    def write(self, blocks: Iterable[Block]) -> str:
        """Write parts of a page, without headings."""
        needs = f"% {self.title}. Needs booktabs, graphicx and \\usepackage[T1]{{fontenc}}; UTF-8.\n"
        parts = [needs]
        for block in blocks:
            if isinstance(block, Heading):
                self.caption, self.place = block.text or self.title, block.place or self.place
            else:
                parts.append(self.block(block))
        return "\n".join(parts)

    def block(self, block: Block) -> str:
        """Write a table or text of a corpus; our own text becomes comments."""
        if isinstance(block, Table) or (isinstance(block, Paragraph) and block.corpus):
            return super().block(block)
        texts = block.texts if isinstance(block, Items) else [block.text]
        return "".join(f"% {line}\n" for text in texts for line in wrap(" ".join(text.split()), 110))

    def table(self, whole: Table) -> str:
        """Write a table as one or more floats."""
        whole = replace(whole, command="")  # a paper's readers do not run it
        table = whole.for_readers()
        self.tables += 1
        if not table.groups:
            return "".join(f"% {note}\n" for note in notes_below(whole, table))
        names = " ".join(filter(None, (str(table.keys.get("paper", "")), self.place))) or self.title
        label = "tab:" + re.sub(r"[^a-z0-9.]+", "-", f"{names} {self.tables}".lower())
        caption = f"{self.caption.rstrip('.')}. {table.caption}".rstrip()
        notes = [
            f"{self.letter(letter)} {self.our_text(reason.rstrip('.'))}." for reason, letter in table.letters.items()
        ]
        notes += map(self.our_text, [*_meanings(table), *notes_below(whole, table)])
        first, *others = column_parts(table, MOST_COLUMNS)
        floats = [self._float(first, table.letters, self.our_text(caption), label, notes)]
        for number, part in enumerate(others, start=2):
            continued = f"{self.our_text(self.caption)} (continued)"
            floats.append(self._float(part, table.letters, continued, f"{label}-{number}", []))
        return "\n".join(floats)

    def _float(self, table: Table, letters: Mapping[str, str], caption: str, label: str, notes: Sequence[str]) -> str:
        lines = [
            "\\begin{table}[tbp]", "\\centering", f"\\caption{{{caption}}}", f"\\label{{{label}}}", "\\smallskip",
            "\\footnotesize", "\\setlength{\\tabcolsep}{3pt}",
            "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%", self.grid(table, letters),
        ]  # fmt: skip
        if notes:
            lines += ["", "\\smallskip", f"\\parbox{{\\linewidth}}{{\\scriptsize {' '.join(notes)}}}"]
        return "\n".join([*lines, "\\end{table}"]) + "\n"

    def grid(self, table: Table, letters: Mapping[str, str]) -> str:
        """Write a `tabular`; what follows aligned numbers, deviations and marks, is a column of its own."""
        tails = [any(aligned_parts(column, cell)[1] for cell in cells) for column, cells in table.by_column]
        sides = ("r@{}l" if tail else column.alignment[0] for column, tail in zip(table.columns, tails, strict=True))
        lines = [f"\\begin{{tabular}}{{@{{}}{''.join(sides)}@{{}}}}", "\\toprule", *self._header(table, tails)]
        for group in table.groups:
            lines.append("\\midrule")
            for row in group:
                cells = zip(table.columns, row, tails, strict=True)
                lines.append(" & ".join(self._cell(*cell, letters) for cell in cells) + r" \\")
        return "\n".join([*lines, "\\bottomrule", "\\end{tabular}}"])

    def _header(self, table: Table, tails: Sequence[bool]) -> Iterator[str]:
        """Yield the names of the columns; if some have a heading above them, in two lines with rules between."""
        groups, position, place = header_groups(table), 0, 1
        if any(name for name, _ in groups):
            upper, rules = [], []
            for name, width in groups:
                span = width + sum(tails[position : position + width])
                text = _in_lines(name, width * NAME, "bc", self.our_text)
                upper.append(f"\\multicolumn{{{span}}}{{c}}{{{text}}}" if name else " & ".join([""] * span))
                if name:
                    rules.append(f"\\cmidrule(lr){{{place}-{place + span - 1}}}")
                position, place = position + width, place + span
            yield " & ".join(upper) + r" \\"
            yield "".join(rules)
        names = []
        for column, tail in zip(table.columns, tails, strict=True):
            text = _in_lines(column.name, NAME, f"b{column.alignment[0]}", self.our_text)
            names.append(f"\\multicolumn{{2}}{{c}}{{{text}}}" if tail else text)
        yield " & ".join(names) + r" \\"

    def _cell(self, column: Column, cell: TableCell, tail: bool, letters: Mapping[str, str]) -> str:
        mark = self.letter(escape_latex(cell.mark.strip())) if cell.mark.strip() else ""
        text, more = aligned_parts(column, cell)
        if tail:
            deviation = more.removesuffix(cell.mark).removeprefix(" ± ")
            spread = f"{{\\scriptsize\\,$\\pm$\\,{self.number(deviation)}}}" if deviation else ""
            return f"{self.number(text) or self.value(column, cell)} & {spread}{mark}"
        is_long = column.content in TEXTS and len(text) > CELL
        shown = _in_lines(text, CELL, "tl", self.corpus) if is_long else self.value(column, cell)
        return shown + mark + self.letter_of(cell, letters)


def page_latex(page: Page) -> str:
    """Write a page as LaTeX for a paper."""
    return _Latex(" ".join(page.title.split())).write(page.blocks)


def _meanings(table: Table) -> Iterator[str]:
    """Say what stands after ±."""
    values = [cell.value for row in table.rows for cell in row]
    if any(isinstance(value, SeedMean) and value.stdev is not None for value in values):
        yield "After a score, ± is the standard deviation over seeds."
    if any(isinstance(value, Estimate) for value in values):
        yield "After a difference, ± is half its 95 % interval."


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
