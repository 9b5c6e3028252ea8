"""Python files of the user's own: a component, an annotator, a filter or a metric each, in `config/` of her folder.

`config/components/NAME.py` is the component NAME wherever a system names it; `config/annotators`, `config/filters` and
`config/metrics` hold the others. `config/` is that of the working directory, which Snakemake's `-d` sets and which all
its jobs have, or inside `working_folder` that of another folder. A file is imported only when something needs it, and
its checksum is part of what depends on it.
"""

import ast
import functools
import hashlib
import os
import re
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from nmtcore.errors import LineError, UserError
from nmtcore.layout import NAME

OWN_CONFIG = Path("config")
"""The folder of the user's configuration, from the working directory."""

OWN_CODE = {"components": "component", "annotators": "annotator", "filters": "filter", "metrics": "metric"}
"""The folders of own Python files, and what a file in them is."""

_PACKAGE = "nmtcore_own"
"""The first part of the names of own modules, which have colons in place of dots: no package holds them."""

_LENGTH = 16
"""Hexadecimal digits of a checksum."""

_folder: ContextVar[Path] = ContextVar("the folder that has `OWN_CONFIG`", default=Path())


@contextmanager
def working_folder(folder: Path) -> Iterator[None]:
    """Read the user's files from another folder than the working directory inside the block, which stays there."""
    before = _folder.set(folder)
    try:
        yield
    finally:
        _folder.reset(before)


def own_config() -> Path:
    """Return the folder of the user's configuration: `OWN_CONFIG` of the working directory, or of `working_folder`."""
    return _folder.get() / OWN_CONFIG


def own_names(folder: str) -> list[str]:
    """List the names of the user's own files in a folder of `OWN_CODE`, sorted; files with other names are left out."""
    return sorted(path.stem for path in (own_config() / folder).glob("*.py") if re.fullmatch(NAME, path.stem))


def own_path(folder: str, name: str) -> Path:
    """Return the path of a file of the user's own, which need not exist."""
    return own_config() / folder / f"{name}.py"


def has_own(folder: str, name: str) -> bool:
    """Say whether the user has a file for a name."""
    return bool(re.fullmatch(NAME, name)) and os.path.isfile(own_path(folder, name))


def own_module(folder: str, name: str) -> ModuleType:
    """Import a file of the user's own, again if it has changed.

    Raises a `LineError` that names the line if it cannot be imported.
    """
    path = own_path(folder, name).resolve()
    status = path.stat()
    module_name = f"{_PACKAGE}:{folder}:{name}"
    module = _import(path, (status.st_mtime_ns, status.st_size), module_name, own_path(folder, name))
    # Settings look up their module by its name, and so does whatever sends a filter to another process.
    sys.modules[module_name] = module
    return module


@functools.lru_cache
def _import(path: Path, state: tuple[int, int], name: str, shown: Path) -> ModuleType:
    spec = spec_from_file_location(name, path)
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise LineError(shown, error.lineno or 1, f"{error.msg}.") from error
    except Exception as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        raise LineError(shown, lines[-1] if lines else 1, f"{type(error).__name__}: {error}") from error
    return module


def own_class(folder: str, name: str, base: type, *, keys: Iterable[str]) -> type:
    """Return the settings class of a file of the user's own: the one that it derives from `base`.

    Raises `UserError` if the file has none or several, or one without the decorator `settings_class`, or if one of its
    settings is called like one of the `keys` of every entry.
    """
    module, path = own_module(folder, name), own_path(folder, name)
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, base) and value.__module__ == module.__name__
    ]
    if len(classes) != 1:
        raise UserError(
            f"{path}: expected one class that is derived from {base.__name__}, the settings of '{name}', but found "
            f"{len(classes) or 'none'}."
        )
    if "__dataclass_params__" not in vars(classes[0]):
        raise UserError(f"{path}: write @settings_class above the class {classes[0].__name__}.")
    for field in fields(classes[0]):
        if field.name in keys:
            raise UserError(f"{path}: a setting cannot be called '{field.name}', which is a key of every entry.")
    return classes[0]


def own_member(folder: str, name: str, member: str) -> object:
    """Return what a file of the user's own calls `member`. Raises `UserError` if it has nothing of that name."""
    try:
        return getattr(own_module(folder, name), member)
    except AttributeError as error:
        raise UserError(f"{own_path(folder, name)} has no '{member}', which every {OWN_CODE[folder]} needs.") from error


def own_name(cls: type) -> str | None:
    """Return the name of the user's file that defines a class; None for classes of the package."""
    package, *rest = cls.__module__.split(":")
    return rest[-1] if package == _PACKAGE else None


def own_checksum(folder: str, name: str) -> str:
    """Return the checksum of a file of the user's own."""
    return hashlib.sha256(own_path(folder, name).read_bytes()).hexdigest()[:_LENGTH]


def own_checksums(folder: str, names: Iterable[str]) -> dict[str, str]:
    """Return the checksums of those of the names that are files of the user's own."""
    return {name: own_checksum(folder, name) for name in names if has_own(folder, name)}


def is_same_code(one: Path, other: Path) -> bool:
    """Say whether two files of Python do the same; comments and layout do not count."""
    codes = [path.read_bytes() for path in (one, other)]
    try:
        return codes[0] == codes[1] or ast.dump(ast.parse(codes[0])) == ast.dump(ast.parse(codes[1]))
    except (SyntaxError, ValueError):
        return False


def own_faults(folder: str, taken: Iterable[str]) -> list[str]:
    """Return a sentence for each file of the user's own that is not read: a wrong name, or one of the package's."""
    faults, noun, names = [], OWN_CODE[folder], set(taken)
    for path in sorted((own_config() / folder).glob("*.py")):
        if path.stem in names:
            faults.append(f"{path}: nmtcore itself has '{path.stem}': give your {noun} another name.")
        elif not re.fullmatch(NAME, path.stem):
            faults.append(f"{path}: a name consists of small letters, digits and single underscores.")
    return faults
