"""Tables as LaTeX for a paper; they need the package booktabs, and UTF-8."""

import re

from nmtcore.reporting.table import Block, Column, Heading, Items, Page, Paragraph, Table, TableCell

_SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "`": r"\textasciigrave{}", "'": r"\textquotesingle{}", '"': r"\textquotedbl{}",
    "[": "{[}", "]": "{]}", "*": "{*}", "-": "{-}", "±": r"$\pm$", "→": r"$\rightarrow$", "−": "$-$",
}  # fmt: skip
"""Characters with a meaning in LaTeX. Brackets and the asterisk have one after the end of a row, and two hyphens are a
dash, `!` and `?` before a grave accent are turned around."""


def page_latex(page: Page) -> str:
    """Format a page: tables in `tabular`, headings and notes as text."""
    introduction = f"% {' '.join(page.title.split())}. Needs \\usepackage{{booktabs}}; UTF-8, T1 or a Unicode engine.\n"
    return "\n".join([introduction, *map(_block, page.blocks)])


def escape_latex(text: str) -> str:
    """Escape text so that LaTeX shows it as it is; line breaks become spaces."""
    return "".join(_SIGNS.get(sign, sign) for sign in " ".join(text.splitlines()))


def _block(block: Block) -> str:
    match block:
        case Heading():
            return f"\\subsection*{{{_own(block.text)}}}\n"
        case Paragraph():
            return f"\\noindent {_own(block.text)}{escape_latex(block.corpus)}\n"
        case Items():
            return "".join(["\\begin{itemize}\n", *(f"\\item {_own(text)}\n" for text in block.texts)]) + (
                "\\end{itemize}\n"
            )
        case Table():
            return _tabular(block)


def _tabular(table: Table) -> str:
    reasons = table.reasons
    columns = "".join(column.alignment[0] for column in table.columns)
    lines = [f"\\begin{{tabular}}{{{columns}}}", "\\toprule", _line([_own(column.name) for column in table.columns])]
    for group in table.groups:
        lines.append("\\midrule")
        for row in group:
            cells = zip(table.columns, row, strict=True)
            lines.append(_line([_cell(column, cell, reasons.get(cell.reason, "")) for column, cell in cells]))
    lines += ["\\bottomrule", "\\end{tabular}"]
    for reason, letter in reasons.items():
        lines += ["", f"\\noindent \\textsuperscript{{{letter}}} {_own(reason)}"]
    return "\n".join(lines) + "\n"


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cell(column: Column, cell: TableCell, letter: str) -> str:
    text = column.shown(cell)
    match column.content:
        case "text":
            text = _own(text)
        case "corpus":
            text = escape_latex(text)
        case "code":
            text = f"\\texttt{{{escape_latex(text)}}}" if text else ""
        case _:
            text = re.sub(r"(?<!\d)\{-\}", "$-$", escape_latex(text))
    return text + escape_latex(cell.mark) + (f"\\textsuperscript{{{letter}}}" if letter else "")


def _own(text: str) -> str:
    """Escape our own text, with code in backticks."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape_latex(text)
    return "".join(
        f"\\texttt{{{escape_latex(part)}}}" if position % 2 else escape_latex(part)
        for position, part in enumerate(parts)
    )
