"""The files that `nmtcore new` writes, as templates."""

from pathlib import Path
from typing import Any


def filled(template: str, **values: Any) -> str:
    """Fill in a template, a file of this folder; a value that it names and does not get is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(
        loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    return environment.get_template(template).render(values)
