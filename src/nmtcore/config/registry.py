"""Registries of the settings classes that a configuration chooses by name, and Python files of the user's own.

Those are a component, an annotator, a filter or a metric each: `config/components/NAME.py` is the component NAME
wherever a system names it; `config/annotators`, `config/filters` and `config/metrics` hold the others. `config/` is
that of the working directory, which Snakemake's `-d` sets and which all its jobs have, or inside `working_folder` that
of another folder. A file is imported only when something needs it, and its checksum is part of what depends on it.
"""

import ast
import dataclasses
import functools
import hashlib
import os
import re
import sys
import traceback
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, TypeVar, Union

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError, core_schema

from nmtcore.config.typed import (
    SENTENCE,
    adapter,
    build,
    choose,
    described,
    explain_keys,
    hints_of,
    mistake,
    mistakes,
    plain,
    refuse_booleans,
    shown_value,
    unknown,
)
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


def own_faults(folder: str, taken: Iterable[str], *, ending: str = ".py") -> list[str]:
    """Return a sentence for each file of the user's own that is not read: a wrong name, or one of the package's."""
    faults, noun, names = [], OWN_CODE[folder], set(taken)
    for path in sorted((own_config() / folder).glob(f"*{ending}")):
        if path.stem in names:
            faults.append(f"{path}: nmtcore itself has '{path.stem}': give your {noun} another name.")
        elif not re.fullmatch(NAME, path.stem):
            faults.append(f"{path}: a name consists of small letters, digits and single underscores.")
    return faults


T = TypeVar("T")

CODE = "code"
"""The key of an entry that holds the checksum of the user's own code."""


class Registry(Mapping[str, type[T]]):
    """Settings classes by name, each with the class that it configures: `MODULE.CLASS` in `package`, or empty if none.

    With `own_folder`, files of the user's own in this folder are entries too: each has both the settings,
    derived from `base`, and a class that is called like them, without `Settings`.
    """

    def __init__(
        self,
        entries: Mapping[str, tuple[type[T], str]],
        *,
        noun: str,
        package: str = "",
        key: str = "name",
        own_folder: str = "",
        base: type[T] | None = None,
    ) -> None:
        self._classes = {name: cls for name, (cls, _) in entries.items()}
        self._configured = {name: f"{package}.{path}" for name, (_, path) in entries.items()}
        self._own_folder, self._base = own_folder, base
        self.noun = noun
        """The word for an entry in messages, such as "component"."""
        self.key = key
        """The key in an entry that names the class."""

    __eq__, __hash__ = object.__eq__, object.__hash__

    def __getitem__(self, name: str) -> type[T]:
        if self._is_own(name):
            return own_class(self._own_folder, name, self._base, keys=(self.key, CODE))
        return self._classes[name]

    def __contains__(self, name: object) -> bool:
        return name in self._classes or self._is_own(name)

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys([*self._classes, *(own_names(self._own_folder) if self._own_folder else ())])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _is_own(self, name: object) -> bool:
        """Say whether a name is that of a file of the user's own."""
        return bool(self._own_folder) and name not in self._classes and has_own(self._own_folder, str(name))

    @property
    def own_faults(self) -> list[str]:
        """One sentence for each file of the user's own that is not read because of its name."""
        return own_faults(self._own_folder, self._classes)

    def find(self, name: str, *, where: str) -> type[T]:
        """Return the class registered under a name. Raises `UserError` if there is none."""
        return self[choose(name, self, noun=self.noun, where=where)]

    def build(self, entry: Any, *, where: str) -> T:
        """Build the settings of an entry `{name: ..., key: value...}`. Raises `UserError` if they are not valid."""
        return build(Annotated[Any, self], entry, where=where)

    def build_named(self, name: str, entry: Mapping[str, Any], *, where: str) -> T:
        """Build the settings of an entry `name: {kind: ..., key: value...}`; `kind` defaults to the name.

        Raises `UserError` if the settings are not valid.
        """
        if name not in self and self.key not in entry:
            hint = f"An entry with another name needs the key `{self.key}`."
            raise UserError(f"{where}: {unknown(self.noun, name, self)} {hint}")
        return self.build({self.key: name, **entry}, where=f"{where}: {name}")

    def _from_entry(self, entry: Any) -> T:
        """Build the settings of an entry, or of a name alone; raise pydantic's errors."""
        if dataclasses.is_dataclass(entry):
            return entry
        if isinstance(entry, str):
            entry = {self.key: entry}
        if not isinstance(entry, Mapping) or self.key not in entry:
            expected = f"{{{self.key}: name of a {self.noun}, settings}}"
            raise PydanticCustomError(SENTENCE, f"expected {expected}, found {shown_value(entry)}.")
        name = str(entry[self.key])
        if name not in self:
            raise PydanticCustomError(SENTENCE, unknown(self.noun, name, self))
        keys = (self.key, CODE) if self._is_own(name) else (self.key,)
        return adapter(self[name]).validate_python({key: entry[key] for key in entry if key not in keys})

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Let `Annotated[FilterSettings, FILTERS]` be the type hint of an entry."""
        return core_schema.no_info_plain_validator_function(self._from_entry)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        """Return the JSON Schema of a name alone, of an entry with the keys of a class, or of changes of an entry."""
        entries = [self.entry_schema(name, handler, required=[self.key]) for name in self]
        changes = {"type": "object", "not": {"required": [self.key]}}
        return {"anyOf": [{"enum": list(self)}, *entries, changes]}

    def entry_schema(self, name: str, handler: Any, *, required: list[str]) -> dict[str, Any]:
        """Return the JSON Schema of an entry with the class of a name."""
        schema = handler(adapter(Annotated[dict[str, Any], PartOf(self[name])]).core_schema)
        named = {self.key: {"const": name}} if required else {self.key: {"enum": list(self)}}
        return {**schema, "properties": {**named, **schema["properties"]}, "required": required}

    def name_of(self, settings: T) -> str:
        """Return the name under which the class of `settings` is registered."""
        names = (name for name, cls in self._classes.items() if cls is type(settings))
        return own_name(type(settings)) or next(names)

    def entry_of(self, settings: T, *, values: Callable[[T], dict[str, Any]] = plain) -> dict[str, Any]:
        """Return the entry that `build` reads these settings from; of the user's own code, it has the checksum.

        `values` is `changed` to leave out settings at their defaults.
        """
        name = self.name_of(settings)
        code = {CODE: own_checksum(self._own_folder, name)} if self._is_own(name) else {}
        return {self.key: name, **code, **values(settings)}

    def configured(self, name: str) -> type:
        """Import the class that the settings of a name configure. Raises `UserError` if an own file lacks it."""
        if self._is_own(name):
            return own_member(self._own_folder, name, self[name].__name__.removesuffix("Settings"))
        module, _, class_name = self._configured[name].rpartition(".")
        return getattr(import_module(module), class_name)


class PartOf(tuple[type, ...]):
    """Marks a mapping of some of the settings of a class: `Annotated[dict[str, Any], PartOf(TransformerSettings)]`.

    Of several classes, it may have the settings of any. Types and ranges are checked, but not what depends on several
    keys.
    """

    def __new__(cls, *classes: type) -> "PartOf":
        """Mark settings of any of the classes."""
        return super().__new__(cls, classes)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Return the schema of a mapping, none of whose keys is required."""
        fields = {
            field.name: core_schema.typed_dict_field(
                handler.generate_schema(_in_part(hints_of(cls)[field.name])), required=False
            )
            for cls in reversed(self)
            for field in dataclasses.fields(cls)
            if field.init and not field.metadata
        }
        keys = core_schema.typed_dict_schema(
            refuse_booleans(fields),
            extra_behavior="forbid",
            config={"allow_inf_nan": False},
            metadata={"pydantic_js_functions": [functools.partial(described, self)]},
        )
        return core_schema.no_info_wrap_validator_function(functools.partial(explain_keys, self), keys)


def _in_part(hint: Any) -> Any:
    """Return the type hint of a field in a part: settings within settings are parts, too, and so are those by name."""
    if typing.get_origin(hint) is dict:
        key, value = typing.get_args(hint)
        return dict[key, _in_part(value)]
    choices = typing.get_args(hint) if typing.get_origin(hint) in (Union, types.UnionType) else (hint,)
    classes = [choice for choice in choices if dataclasses.is_dataclass(choice)]
    if len(classes) != 1:
        return hint
    part = Annotated[dict[str, Any], PartOf(*classes)]
    return part if hint is classes[0] else part | None


@dataclasses.dataclass(frozen=True)
class PartsOf:
    """Marks a mapping of entries by name, each with some of the settings of a class of a registry, or null."""

    registry: Registry

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Return the schema of entries, whose class is that of the `kind` or the name."""
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        """Return the JSON Schema of entries by name; what an entry with another name may have depends on its `kind`."""
        named = {name: self.registry.entry_schema(name, handler, required=[]) for name in self.registry}
        return {
            "type": "object",
            "properties": {name: {"anyOf": [entry, {"type": "null"}]} for name, entry in named.items()},
            "additionalProperties": {"type": ["object", "null"], "properties": {}},
        }

    def _check(self, entries: Mapping[str, Any]) -> Mapping[str, Any]:
        """Raise pydantic's errors about all entries. One whose class only an ancestor names is not checked."""
        faults: list[InitErrorDetails] = []
        for name, entry in entries.items():
            part = dict(entry or {})
            class_name = str(part.pop(self.registry.key, name))
            if class_name in self.registry:
                try:
                    adapter(Annotated[dict[str, Any], PartOf(self.registry[class_name])]).validate_python(part)
                except ValidationError as error:
                    faults += mistakes(error, place=(name,))
            elif entry and self.registry.key in entry:
                faults.append(mistake(unknown(self.registry.noun, class_name, self.registry), (name,)))
        if faults:
            raise ValidationError.from_exception_data("entries", faults)
        return entries
