"""The docstrings of classes as Markdown of the site: paragraphs, names in backticks, and equations."""

import inspect
import re
import textwrap
from collections.abc import Iterator

from nmtcore.features.transforms.base import Transform
from nmtcore.model.base import TranslationModel
from nmtcore.model.components.base import Component

_EQUATION = re.compile(r"^\.\. math::\n\n((?:    .*\n|\n)+)", re.M)


def explanation(cls: type) -> str:
    """Return what a component, a transform or a base computes: its module's first words, what it shares, its own text.

    Raises `ValueError` if there is no equation in it, or no source, such as `(pham2018, equation 3.2)`.
    """
    module = inspect.getdoc(inspect.getmodule(cls)) or ""
    text = "\n\n".join([module.partition("\n\n")[0], *(_of_readers(markdown(text)) for text in _texts(cls))])
    if "```{math}" not in text:
        raise ValueError(f"the docstring of {cls.__name__} ({cls.__module__}) needs an equation, `.. math::`")
    if not re.search(r"(19|20)\d\d", text):
        raise ValueError(f"the docstring of {cls.__name__} ({cls.__module__}) needs the paper of its equation")
    return text


def _of_readers(text: str) -> str:
    """Leave out paragraphs for those who extend a class."""
    return re.sub(r"^Subclasses (?:.+\n)+", "", text, flags=re.M)


def _texts(cls: type) -> Iterator[str]:
    """Yield the docstrings of the classes with equations that a class extends, then its own."""
    for base in reversed(cls.__mro__):
        if issubclass(base, (Component, Transform, TranslationModel)) and base not in (
            Component,
            Transform,
            TranslationModel,
        ):
            yield inspect.cleandoc(base.__doc__ or "")


def markdown(docstring: str) -> str:
    """Convert the directive `.. math::` of a docstring to Markdown's block; all else is Markdown already."""
    return _EQUATION.sub(lambda match: f"```{{math}}\n{textwrap.dedent(match[1]).strip()}\n```\n\n", docstring + "\n")
