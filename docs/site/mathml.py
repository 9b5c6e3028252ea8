"""Equations as MathML, which browsers draw by themselves: no scripts and no fonts from elsewhere."""

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml


def equation(tex: str, *, block: bool = False) -> str:
    """Convert LaTeX to a MathML element. Raises `ValueError` for LaTeX that docutils cannot convert."""
    try:
        return tex2mathml(tex, as_block=block)
    except (MathError, SyntaxError) as error:
        raise ValueError(f"the equation {tex} cannot be converted: {error}") from error


def write_inline(writer: Any, node: nodes.math) -> None:
    """Write an equation within a line; the writer is Sphinx's."""
    writer.body.append(f'<span class="math">{equation(node.astext())}</span>')
    raise nodes.SkipNode


def write_block(writer: Any, node: nodes.math_block) -> None:
    """Write an equation of its own, in a box that scrolls on narrow screens."""
    element = equation(node.astext(), block=True)
    writer.body.append(f'<div class="math" tabindex="0" role="group" aria-label="Equation">{element}</div>\n')
    raise nodes.SkipNode
