"""Tables as LaTeX for a paper; they need the packages booktabs and graphicx, and UTF-8."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from textwrap import wrap

from nmtcore.tables.blocks import (
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
from nmtcore.tables.render import Writer, column_parts, header_groups, notes_below, printed

LONG = 40
"""Characters of a text with spaces from which on its column has lines of a fixed width."""

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
    paragraph = "\\noindent {}\n".format

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
        return "".join(f"% {line}\n" for text in texts for line in wrap(" ".join(printed(text).split()), 110))

    def table(self, whole: Table) -> str:
        """Write a table as a float; the parts of a wide one stand below one another."""
        whole = replace(whole, command="")  # a paper's readers do not run it
        table = whole.for_readers()
        self.tables += 1
        notes = list(notes_below(whole, table))
        if not table.groups:
            return "".join(f"% {printed(note)}\n" for note in notes)
        names = " ".join(filter(None, (str(table.keys.get("paper", "")), self.place))) or self.title
        label = "tab:" + re.sub(r"[^a-z0-9.]+", "-", f"{names} {self.tables}".lower())
        caption = self.our_text(f"{self.caption.rstrip('.')}. {table.caption}".rstrip())
        lines = [
            "\\begin{table}[tbp]", "\\centering\\footnotesize", f"\\caption{{{caption}}}", f"\\label{{{label}}}",
            *map(self.grid, column_parts(table)),
        ]  # fmt: skip
        if notes := " ".join(map(self.our_text, [*_meanings(table), *notes])):
            lines += ["", f"\\smallskip\\raggedright\\scriptsize {notes}"]
        return "\n".join([*lines, "\\end{table}"]) + "\n"

    def grid(self, table: Table) -> str:
        """Write a `tabular`, which is made smaller if it is wider than the text."""
        sides = "".join(
            "p{6cm}" if any(_is_long(column.shown(cell)) for cell in cells) else column.alignment[0]
            for column, cells in table.by_column
        )
        lines = [
            "\\par\\smallskip", "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%",
            f"\\begin{{tabular}}{{{sides}}}", "\\toprule", *self._header(table),
        ]  # fmt: skip
        for group in table.groups:
            lines.append("\\midrule")
            lines += (" & ".join(map(self._cell, table.columns, row)) + r" \\" for row in group)
        return "\n".join([*lines, "\\bottomrule", "\\end{tabular}}"])

    def _header(self, table: Table) -> Iterator[str]:
        """Yield the names of the columns; if some have a heading above them, in two lines with rules between."""
        if any(column.group for column in table.columns):
            upper, rules, first = [], [], 1
            for name, width in header_groups(table):
                upper.append(f"\\multicolumn{{{width}}}{{c}}{{{self.our_text(name)}}}" if name else "")
                rules += [f"\\cmidrule(lr){{{first}-{first + width - 1}}}"] * bool(name)
                first += width
            yield " & ".join(upper) + r" \\"
            yield "".join(rules)
        yield " & ".join(self.our_text(column.name) for column in table.columns) + r" \\"

    def _cell(self, column: Column, cell: TableCell) -> str:
        mark = f"\\textsuperscript{{{escape_latex(cell.mark.strip())}}}" if cell.mark.strip() else ""
        return self.value(column, cell) + mark


def page_latex(page: Page) -> str:
    """Write a page as LaTeX for a paper."""
    return _Latex(" ".join(page.title.split())).write(page.blocks)


def _is_long(text: str) -> bool:
    return len(text) > LONG and " " in text


def _meanings(table: Table) -> Iterator[str]:
    """Say what stands after ±."""
    values = [cell.value for row in table.rows for cell in row]
    if any(isinstance(value, SeedMean) and value.stdev is not None for value in values):
        yield "After a score, ± is the standard deviation over seeds."
    if any(isinstance(value, Estimate) for value in values):
        yield "After a difference, ± is half its 95 % interval."
