"""Read YAML files as mappings; an error message names the line."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from nmtcore.errors import UserError, explain_os_errors, quoted

MAX_BYTES = 1_000_000
"""The most bytes of a file; the longest of ours has 60,000."""


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
    import yaml

    try:
        values = yaml.load(text, Loader=_loader())
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else "?"
        raise UserError(f"{where}, line {line}: not valid YAML ({error.problem}).") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # for example, a date that does not exist
        raise UserError(f"{where}: not valid YAML ({error}).") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise UserError(f"{where}: expected keys and values, found a {type(values).__name__}.")
    return values


def yaml_paths(folder: str | Path) -> list[Path]:
    """List the YAML files in a folder, sorted, without hidden files."""
    return sorted(path for ending in (".yaml", ".yml") for path in Path(folder).glob(f"[!.]*{ending}"))


def yaml_files(folder: str | Path) -> dict[str, Path]:
    """Return the YAML files in a folder by name, sorted. Raises `UserError` if both NAME.yaml and NAME.yml exist."""
    files: dict[str, Path] = {}
    for path in yaml_paths(folder):
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


@lru_cache
def _loader() -> type:
    import yaml

    class StrictLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        """A safe loader without aliases and duplicate keys, which are strings (YAML 1.1 reads `on` as true)."""

        def construct_object(self, node: Any, deep: bool = False) -> Any:
            if node in self.constructed_objects:
                problem = "an alias: write the value again"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
            return super().construct_object(node, deep)

        def construct_mapping(self, node: Any, deep: bool = False) -> dict:
            seen = set()
            for key_node, _ in node.value:
                key, mark = key_node.value, key_node.start_mark
                if not isinstance(key_node, yaml.ScalarNode):
                    raise yaml.MarkedYAMLError(problem="a key must be a string", problem_mark=mark)
                if key in seen:
                    raise yaml.MarkedYAMLError(problem=f"duplicate key {quoted(key)}", problem_mark=mark)
                seen.add(key)
                key_node.tag = "tag:yaml.org,2002:str"
            return super().construct_mapping(node, deep)

    return StrictLoader
