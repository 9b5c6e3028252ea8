"""Read YAML files as mappings; an error message names the line."""

from pathlib import Path
from typing import Any

import yaml

from nmtcore.errors import UserError, explain_os_errors, quoted

MAX_BYTES = 1_000_000
"""The most bytes of a file; the longest of ours has 60,000."""


class _StrictLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """A safe loader without aliases and duplicate keys, which are strings (YAML 1.1 reads `on` as true)."""

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
        return super().construct_mapping(node, deep)


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
