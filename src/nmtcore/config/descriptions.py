"""Descriptions of settings: the docstrings below the fields of their classes."""

import ast
import dataclasses
import functools
import inspect
import itertools
import textwrap


@functools.cache
def descriptions(cls: type) -> dict[str, str]:
    """Return the description of each field of a settings class that has one, its own or a base's, in one line."""
    texts: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if dataclasses.is_dataclass(base):
            texts |= _own_descriptions(base)
    return {field.name: texts[field.name] for field in dataclasses.fields(cls) if field.name in texts}


def summary(cls: type) -> str:
    """Return the docstring of a class in one line."""
    return " ".join((cls.__doc__ or "").split())


def _own_descriptions(cls: type) -> dict[str, str]:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    statements = definition.body
    return {
        statement.target.id: " ".join(docstring.value.value.split())
        for statement, docstring in itertools.pairwise(statements)
        if isinstance(statement, ast.AnnAssign)
        and isinstance(docstring, ast.Expr)
        and isinstance(docstring.value, ast.Constant)
        and isinstance(docstring.value.value, str)
    }
