"""Files for a component of the user's own to begin with: its code, a system that has it, and a test that fails."""

import keyword
import re
from pathlib import Path

from nmtcore.config.components import COMPONENTS, RESERVED_NAMES
from nmtcore.config.project import Project
from nmtcore.errors import UserError, quoted
from nmtcore.layout import NAME, STAGES
from nmtcore.new.templates import filled

_IMPORTED = ("build", "component", "context", "tensor")
"""Names whose classes would be called like those that the file imports."""


def check_own_name(name: str, *, noun: str) -> None:
    """Raise `UserError` if a name cannot be that of a file and a key: its characters, or YAML's meaning (`on`)."""
    import yaml

    if not re.fullmatch(NAME, name):
        raise UserError(
            f"{quoted(name)} cannot be the name of a {noun}: a name has small letters, digits and single underscores, "
            "and begins with a letter."
        )
    if yaml.safe_load(name) != name:
        raise UserError(f"'{name}' means something else in YAML: choose another name.")


def class_name_of(name: str) -> str:
    """Return the name of the class of a component: RootVector for root_vector."""
    return "".join(part.capitalize() for part in name.split("_"))


def new_component_files(name: str, project: Project, folder: Path) -> dict[Path, str]:
    """Return the texts of a new component's files by their paths below `folder`: its code, its system and its test.

    Raises `UserError` if the name is not valid or taken, or if a file exists.
    """
    check_own_name(name, noun="component")
    if name in (*RESERVED_NAMES, *_IMPORTED, *STAGES) or keyword.iskeyword(class_name_of(name)):
        raise UserError(f"'{name}' means something else in nmtcore or Python: choose another name.")
    templates = {
        folder / "config/components" / f"{name}.py": "component.py.jinja",
        folder / "config/systems" / f"{name}.yaml": "system.yaml.jinja",
        folder / "tests" / f"test_{name}.py": "test_component.py.jinja",
    }
    for path in templates:
        if path.exists():
            raise UserError(f"{path} exists already: choose another name, or remove the file.")
    if name in COMPONENTS:
        raise UserError(f"nmtcore itself has a component '{name}': choose another name.")
    if name in project.system_entries:
        raise UserError(f"{project.system_entries[name][0]} has a system '{name}': choose another name.")
    names = {"name": name, "class_name": class_name_of(name)}
    return {path: filled(template, **names) for path, template in templates.items()}
