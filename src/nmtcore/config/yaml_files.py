"""Read YAML files as mappings; an error message names the line."""

import math
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from nmtcore.errors import UserError, explain_os_errors

TEMPLATE_SWITCH = "__use_yte__"
"""A key with which Snakemake takes a configuration file for a template, whose expressions it runs as Python."""
MAX_VALUES = 100_000
"""Values in a file; the longest of ours has a few thousand."""
MAX_DEPTH = 50
"""Lists and mappings inside each other."""


def read_yaml(path: str | Path) -> dict[str, Any]:
    """Read a YAML file that holds a mapping.

    Raises `UserError` if it is not valid, has a duplicate key, is too deep or grows by aliases, or would let Snakemake
    run code in it.
    """
    import yaml

    with explain_os_errors(path), open(path, encoding="utf-8") as file:
        try:
            values = yaml.load(file, Loader=_loader())
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else "?"
            raise UserError(f"{path}, line {line}: not valid YAML ({error.problem}).") from error
        except (yaml.YAMLError, ValueError) as error:  # for example, a date that does not exist
            raise UserError(f"{path}: not valid YAML ({error}).") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise UserError(f"{path}: expected keys and values, found a {type(values).__name__}.")
    if TEMPLATE_SWITCH in values:
        raise UserError(
            f"{path}: {TEMPLATE_SWITCH} lets Snakemake run code in this file, even in a dry run: remove it."
        )
    if _expanded_size(values, {}) > MAX_VALUES:
        raise UserError(
            f"{path} has more than {MAX_VALUES:,} values, its aliases expanded, or more than {MAX_DEPTH} lists and "
            "mappings inside each other: write fewer."
        )
    return values


def _expanded_size(value: Any, sizes: dict[int, float], depth: int = 0) -> float:
    """Count the values in a value, each as often as aliases repeat it; infinite if it is too deep or contains itself.

    `sizes` has the sizes of the lists and mappings that were counted before, by their identities.
    """
    if not isinstance(value, dict | list):
        return 1
    if depth > MAX_DEPTH:
        return math.inf
    if id(value) not in sizes:
        sizes[id(value)] = math.inf  # while its content is counted
        sizes[id(value)] = 1 + sum(_expanded_size(inner, sizes, depth + 1) for inner in _content(value))
    return sizes[id(value)]


def _content(value: dict | list) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


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
    """Return the path of config.yaml or config.yml in a folder; config.yaml if neither exists."""
    return yaml_files(folder).get("config", Path(folder) / "config.yaml")


@lru_cache
def _loader() -> type:
    import yaml

    class StrictLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        """A safe loader that reads keys as strings (YAML 1.1 reads `on` as true) and refuses duplicate keys."""

        def construct_mapping(self, node: Any, deep: bool = False) -> dict:
            seen = set()
            for key_node, _ in node.value:
                if key_node.tag == "tag:yaml.org,2002:merge":
                    continue
                key, mark = key_node.value, key_node.start_mark
                if not isinstance(key_node, yaml.ScalarNode):
                    raise yaml.MarkedYAMLError(problem="a key must be a string", problem_mark=mark)
                if key in seen:
                    raise yaml.MarkedYAMLError(problem=f"duplicate key '{key}'", problem_mark=mark)
                seen.add(key)
                key_node.tag = "tag:yaml.org,2002:str"
            return super().construct_mapping(node, deep)

    return StrictLoader
