"""The YAML files of a configuration by name, what each sets, and the merge of it all with the place of each value."""

import os
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from nmtcore.config.typed import GivenValue, LinedKey, at_line, choose, line_of, shown_value
from nmtcore.errors import UserError, explain_os_errors, quoted
from nmtcore.layout import NAME

REPOSITORY = Path(__file__).resolve().parents[3]
"""The folder of the repository, if this package is used from there."""

MAX_BYTES = 1_000_000
"""The most bytes of a file; the longest of ours has 60,000."""


class _StrictLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """A safe loader without aliases and duplicate keys, which are `LinedKey`s (YAML 1.1 reads `on` as true)."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        if node in self.constructed_objects:
            raise yaml.MarkedYAMLError(problem="an alias: write the value again", problem_mark=node.start_mark)
        return super().construct_object(node, deep)

    def construct_mapping(self, node: yaml.Node, deep: bool = False) -> dict:
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.MarkedYAMLError(problem="a key must be a string", problem_mark=key.start_mark)
            if key.value in seen:
                problem = f"duplicate key {quoted(key.value)}"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            seen.add(key.value)
            key.tag = "tag:yaml.org,2002:str"
        lines = {key.value: key.start_mark.line + 1 for key, _ in node.value}
        return {LinedKey(key, lines[key]): value for key, value in super().construct_mapping(node, deep).items()}


def read_yaml(path: str | Path) -> dict[str, Any]:
    """Read a YAML file that holds a mapping.

    Raises `UserError` if it is too large, not UTF-8 or not valid, or has an alias or a duplicate key.
    """
    with explain_os_errors(path):
        data = Path(path).read_bytes()
    if len(data) > MAX_BYTES:
        raise UserError(f"{path} has more than {MAX_BYTES:,} bytes: write several files.")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 from byte {error.start + 1} on: convert it (see `iconv`).") from error
    return parse_yaml(text, where=path)


def parse_yaml(text: str, *, where: str | Path) -> dict[str, Any]:
    """Read a mapping; raise the errors of `read_yaml`, which name `where`."""
    try:
        values = yaml.load(text, Loader=_StrictLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else "?"
        raise UserError(f"{where}, line {line}: not valid YAML ({error.problem}).") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # for example, a date that does not exist
        raise UserError(f"{where}: not valid YAML ({error}).") from error
    if not isinstance(values, dict | None):
        raise UserError(f"{where}: expected keys and values, found a {type(values).__name__}.")
    return values or {}


def yaml_files(folder: str | Path) -> dict[str, Path]:
    """Return the YAML files in a folder by name, sorted, without hidden files.

    Raises `UserError` if both NAME.yaml and NAME.yml exist.
    """
    files: dict[str, Path] = {}
    for path in sorted(path for ending in (".yaml", ".yml") for path in Path(folder).glob(f"[!.]*{ending}")):
        if path.stem in files:
            raise UserError(f"{files[path.stem]} and {path} have the same name: delete or rename one of them.")
        files[path.stem] = path
    return files


def config_file(folder: str | Path) -> Path:
    """Return the path of config.yaml or config.yml in a folder; config.yaml if neither exists.

    Raises `UserError` if both exist, or if one is a link that leads nowhere.
    """
    path = yaml_files(folder).get("config", Path(folder) / "config.yaml")
    if path.is_symlink() and not path.exists():
        raise UserError(f"{path} is a symbolic link that leads to no file: correct or delete it.")
    return path


DROPPING = {
    (), ("components",), ("transforms",), ("corpora",), ("annotators",), ("splits",), ("syntax",),
    *(("syntax", side) for side in ("source", "target")),
}  # fmt: skip
"""The mappings of data sets and systems in which null drops what earlier layers say of a key."""

Place = tuple[str, ...]
"""The sections and the key of a setting."""


class Layer(NamedTuple):
    """What one file, or one entry of a file, sets."""

    where: str
    """The file; of an entry also its name."""
    values: Mapping[str, Any]
    """Plain values."""
    name: str = ""
    """The name of the file or entry."""

    def at(self, *keys: str) -> str:
        """Name the place of keys, with the line of the last one."""
        return ": ".join([at_line(self.where, line_of(self.values, keys)), *keys])


class Merged:
    """Layers merged into one mapping, which knows the layers of each value.

    Values of a later layer win, inner mappings are merged, lists are replaced. In the mappings at `dropping`, null
    drops a key; elsewhere, it is a value.
    """

    def __init__(self, layers: Iterable[Layer] = (), *, dropping: Container[Place] = DROPPING) -> None:
        self.values: dict[str, Any] = {}
        """The merged values."""
        self._given: dict[Place, list[tuple[int, GivenValue]]] = {}
        self._count, self._dropping = 0, dropping
        for layer in layers:
            self.add(layer)

    def add(self, layer: Layer) -> None:
        """Merge one more layer, which wins."""
        self._count += 1
        self._add(self.values, layer.values, layer.where, ())

    def _add(self, values: dict[str, Any], added: Mapping[str, Any], where: str, place: Place) -> None:
        for key, value in added.items():
            here = (*place, str(key))
            if value is None and place in self._dropping:
                values.pop(key, None)
                self._given = {old: given for old, given in self._given.items() if old[: len(here)] != here}
                continue
            is_first = key not in values
            if isinstance(value, Mapping):
                values[str(key)] = dict(values[key]) if isinstance(values.get(key), Mapping) else {}
                self._add(values[key], value, where, here)
            else:
                values[str(key)] = value
            if is_first or not isinstance(value, Mapping):
                given = self._given.setdefault(here, [])
                if given and given[-1][1].where == where:  # what it says elsewhere, such as in its `per_base`
                    given.pop()
                given.append((self._count, GivenValue(value, where, getattr(key, "line", None))))

    def given(self, place: Place) -> list[GivenValue]:
        """Return the values that layers give a setting, each with its layer and line; the last one counts.

        A single value for several keys (`words: moses`) is that of each of them. Of a mapping, it is the layer that has
        it first.
        """
        above = (record for length in range(1, len(place)) for record in self._given.get(place[:length], ()))
        given = [record for record in above if not isinstance(record[1].value, Mapping)] + self._given.get(place, [])
        return [source for _, source in sorted(given, key=lambda record: record[0])]


def merge(*mappings: Mapping[str, Any]) -> dict[str, Any]:
    """Merge mappings as `Merged` does, without their layers; null is a value."""
    return Merged((Layer("", mapping) for mapping in mappings), dropping=()).values


ALL = "*"
"""Every key of a mapping."""

OWN_FILES = (("files", ALL), ("corpora", ALL, "files", ALL), ("external", "translations", ALL, ALL))
"""Where data sets, corpora and systems have paths of files of the user's own."""


class NamedFiles(dict[str, Path]):
    """Files by name. A file may hold several entries `NAME: {settings}`, each with a name of its own."""

    def __init__(self, noun: str) -> None:
        super().__init__()
        self.noun = noun
        """The word for one of them in messages, such as "data set"."""
        self.unread: dict[str, str] = {}
        """A sentence about each file or entry that is left out."""
        self.absent: str | None = None
        """A sentence about a folder that would have files of the user's own, and is not there."""
        self.hidden: list[str] = []
        """A sentence about each file that is used in place of another one."""
        self._values: dict[str, dict[str, Any]] = {}
        self._resolved: dict[str, dict[str, Any]] = {}
        self._lineages: dict[str, tuple[Layer, ...]] = {}

    def add(self, name: str, path: Path, values: dict[str, Any] | None = None) -> None:
        """Add a file, or an entry of it, whose settings are `values`; None: `read` reads the file."""
        name = str(name)  # without the line of a key
        self[name] = path
        self._values.pop(name, None)
        if values is not None:
            self._values[name] = values

    def leave_out(self, name: str, sentence: str) -> None:
        """Leave out a name, for the reason that a sentence gives."""
        self.pop(name, None)
        self.unread[name] = sentence

    def read(self, name: str) -> dict[str, Any]:
        """Read the settings of a name, with the paths of the user's own files resolved."""
        if name not in self._resolved:
            values = self._values[name] if name in self._values else read_yaml(self[name])
            for keys in OWN_FILES:
                values = changed_below(values, keys, lambda value: _resolved(value, self[name]))
            self._resolved[name] = values
        return self._resolved[name]

    def where(self, name: str) -> str:
        """Return the file of a name, and the name if the file holds several, for messages."""
        return str(self[name]) if self[name].stem == name else f"{self[name]}: {name}"

    def check(self, name: str, *, where: str) -> str:
        """Return the name. Raises `UserError` if it is unknown; the message also says what is not read or there."""
        try:
            return choose(name, self, noun=self.noun, where=where)
        except UserError as error:
            unread = ["Not read:", *self.unread.values()] if self.unread else []
            raise UserError(" ".join([str(error), *filter(None, [self.absent]), *unread])) from error

    def lineage(self, name: str, check: Callable[[Sequence[Layer]], None] = lambda layers: None) -> tuple[Layer, ...]:
        """Return the layers of a name and of those that it extends, the oldest first, without `extends`.

        They are read once, and `check` is called for them. Raises `UserError` if one that is extended is unknown, or if
        one extends itself, directly or through others.
        """
        if name not in self._lineages:
            layers = self._read_lineage(name)
            check(layers)
            self._lineages[name] = layers
        return self._lineages[name]

    def _read_lineage(self, name: str) -> tuple[Layer, ...]:
        layers: list[Layer] = []
        parent: str | None = name
        while parent is not None:
            layers.append(Layer(self.where(parent), {**self.read(parent)}, parent))
            where = layers[-1].at("extends")
            parent, names = layers[-1].values.pop("extends", None), [layer.name for layer in layers]
            if parent in names:
                chain = " extends ".join([*names, parent])
                raise UserError(f"{self[names[-1]]}: {chain}: this is circular, remove one `extends`.")
            if parent is not None:
                if not isinstance(parent, str):
                    raise UserError(f"{where}: expected a name, found {shown_value(parent)}.")
                self.check(parent, where=where)
        return tuple(reversed(layers))


def named_files(folders: Sequence[Path], subfolder: str, *, noun: str, entries: bool = False) -> NamedFiles:
    """Find the files of a subfolder ("datasets"); the first folder that has a name wins. Messages use `noun`.

    With `entries`, files that hold several entries count as these. Raises `UserError` if two files of a folder have the
    same name in them.
    """
    files = NamedFiles(noun)
    if len(folders) > 1 and not folders[0].is_dir():
        here, name = folders[0].absolute().parent, folders[0].name
        files.absent = f"{here} has no {name}/, so there are none of your own: is it the right folder?"
    for folder in reversed(folders):
        paths: dict[str, Path] = {}
        for stem, path in yaml_files(folder / subfolder).items():
            for name, values in _entries_in(path) if entries else [(stem, None)]:
                if name in paths:
                    raise UserError(
                        f"{path}: the {noun} '{name}' is also defined in {paths[name]}: rename one of them."
                    )
                paths[name] = path
                if name in files and files[name].resolve() != path.resolve():
                    files.hidden.append(f"{path} is used in place of {files[name]}.")
                files.add(name, path, values)
                if not re.fullmatch(NAME, name):
                    rule = "a name consists of small letters, digits and single underscores and begins with a letter."
                    files.leave_out(name, f"{path}: {rule}")
    files.hidden = list(dict.fromkeys(files.hidden))
    return files


def _entries_in(path: Path) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Yield the name and the settings of each entry of a file; a file that cannot be read is one without settings.

    A corpus, a model or a data set alone has texts among its values.
    """
    try:
        values = read_yaml(path)
    except UserError:  # which is said when it is used
        yield path.stem, None
        return
    has_entries = values and all(isinstance(value, Mapping) for value in values.values())
    yield from values.items() if has_entries else [(path.stem, values)]


def changed_below(values: Any, keys: Sequence[str], change: Callable[[Any], Any]) -> Any:
    """Return values in which what stands below a path of keys is changed; checking reports other forms."""
    if not keys:
        return change(values)
    if not isinstance(values, Mapping):
        return values
    inner = {key: value for key, value in values.items() if keys[0] in (ALL, key)}
    return {**values, **{key: changed_below(value, keys[1:], change) for key, value in inner.items()}}


def _resolved(value: Any, file: Path) -> Any:
    """Resolve the path of a file of the user's own, each of a list, or the `path` in a file's settings.

    Relative paths start at the folder that holds `datasets`, `corpora` and `systems`, one of which holds `file`; `~` is
    the home folder. Paths in the working directory become relative to it, so that they stay as they are if it is moved;
    all others become absolute.
    """
    if isinstance(value, list):
        return [_resolved(inner, file) for inner in value]
    if isinstance(value, Mapping):
        return changed_below(value, ["path"], lambda path: _resolved(path, file) if isinstance(path, str) else path)
    if not isinstance(value, str):
        return value
    if "://" in value:
        raise UserError(f"{file}: '{value}' is an address, not a path: write {{name: ..., url: {value}}}.")
    if not value.strip():
        raise UserError(f"{file}: a file's `path` is empty.")
    absolute = os.path.abspath(file.parent.parent / os.path.expanduser(value))
    relative = os.path.relpath(absolute)
    return absolute if relative.startswith("..") else relative


def check_files(paths: Mapping[str, str], *, where: str | Path) -> None:
    """Raise `UserError` if files of the user's own are missing; name all of them, with their keys."""
    missing = [
        f"  {key}: {'a folder is at' if os.path.isdir(path) else 'there is no file'} {path}"
        for key, path in paths.items()
        if not os.path.isfile(path)
    ]
    if missing:
        sentence = f"{where}: files are missing (a relative path starts at the config folder):"
        raise UserError("\n".join([sentence, *missing]))
