"""The second part of the page on Python: what your own code calls or extends, made from docstrings."""

import ast
from collections.abc import Iterator
from pathlib import Path

from docstrings import markdown

import nmtcore

MODULES = {
    "nmtcore.api": "Trained models",
    "nmtcore.config.features": "Settings of components and transforms",
    "nmtcore.model.components.base": "Components",
    "nmtcore.features.transforms.base": "Transforms",
    "nmtcore.corpus.filters": "Filters",
    "nmtcore.annotation.base": "Annotators",
}
"""The modules whose public names are on the page, with the titles of their sections."""

_LINE = 90
"""Characters of a signature that fit into a line of the page."""


def python_reference() -> str:
    """Write for each module its public functions and classes, with signatures, fields and methods."""
    text = """
What follows is all that your own code calls or extends. All else may change from version to version. Letters at the end
of the names of arrays and tensors are their shapes, for example B for the sentences of a batch and D for the width of
the model; `help(nmtcore)` has the list.

"""
    return text + "\n".join(_module_section(module, title) for module, title in MODULES.items())


def _module_section(module: str, title: str) -> str:
    path = Path(nmtcore.__file__).parent.joinpath(*module.split(".")[1:]).with_suffix(".py")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    definitions = [node for node in tree.body if _is_public(node)]
    parts = [_function(node, "###") if isinstance(node, ast.FunctionDef) else _class(node) for node in definitions]
    return f"## {title}\n\n`{module}`: {markdown(ast.get_docstring(tree) or '')}\n" + "\n".join(parts)


def _is_public(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")


def _function(node: ast.FunctionDef, level: str, owner: str = "") -> str:
    """Write a function or a method: its name, how it is called, and its docstring."""
    arguments = [text for text in _arguments(ast.unparse(node.args)) if not (owner and text in ("self", "cls"))]
    returned = f" -> {ast.unparse(node.returns)}".replace("'", "") if node.returns else ""
    is_property = any(ast.unparse(decorator).endswith("property") for decorator in node.decorator_list)
    call = node.name + ("" if is_property else f"({', '.join(arguments)})") + returned
    if len(call) > _LINE:
        listed = "".join(f"    {argument},\n" for argument in arguments)
        call = f"{node.name}(\n{listed}){returned}"
    name = f"{owner}.{node.name}" if owner else node.name
    return f"{level} {name}\n\n```python\n{call}\n```\n\n{markdown(ast.get_docstring(node) or '')}"


def _arguments(text: str) -> list[str]:
    """Cut arguments at the commas that are in no brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _class(node: ast.ClassDef) -> str:
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    fields = "".join(f"- `{name}`: {' '.join(text.split())}\n" for name, text in _fields(node))
    methods = [_function(own, "####", node.name) for own in node.body if _is_public(own)]
    head = f"### {node.name}\n\n```python\nclass {node.name}{f'({bases})' if bases else ''}\n```\n\n"
    return head + f"{markdown(ast.get_docstring(node) or '')}\n{fields}\n" + "\n".join(methods)


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Yield the fields of a class that have a docstring below them."""
    for statement, following in zip(node.body, node.body[1:], strict=False):
        documented = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
        if isinstance(statement, ast.AnnAssign) and documented and not statement.target.id.startswith("_"):
            yield statement.target.id, str(following.value.value)
