"""Read YAML files as mappings; an error message names the line."""

import math
from functools import lru_cache
from pathlib import Path
from typing import Any

from nmtcore.errors import LineError, UserError, explain_os_errors, quoted

TEMPLATE_SWITCH = "__use_yte__"
"""A key with which Snakemake takes a configuration file for a template, whose expressions it runs as Python."""
MAX_VALUES = 100_000
"""Values in a file; the longest of ours has a few thousand."""
MAX_DEPTH = 50
"""Lists and mappings inside each other."""
_LONGEST_INTEGER = 4096
"""Bits; Python writes integers of up to 14,000."""


def read_yaml(path: str | Path) -> dict[str, Any]:
    """Read a YAML file that holds a mapping.

    Raises `UserError` if it is not UTF-8 or not valid, has a tag or a duplicate key, is too deep or grows by aliases,
    or would let Snakemake run code in it.
    """
    import yaml

    with explain_os_errors(path):
        data = Path(path).read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 from byte {error.start + 1} on: convert it (see `iconv`).") from error
    try:
        _check_events(text, path)
        values = yaml.load(text, Loader=_loader())
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else "?"
        raise UserError(f"{path}, line {line}: not valid YAML ({error.problem}).") from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # for example, a date that does not exist
        raise UserError(f"{path}: not valid YAML ({error}).") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise UserError(f"{path}: expected keys and values, found a {type(values).__name__}.")
    if TEMPLATE_SWITCH in values:
        raise UserError(
            f"{path}: {TEMPLATE_SWITCH} lets Snakemake run code in this file, even in a dry run: remove it."
        )
    return values


class _Node:
    """A list or mapping while its events are read, or any value whose anchor can be repeated."""

    def __init__(self, anchor: str | None, *, is_mapping: bool = False, size: float = 1, height: int = 0) -> None:
        self.anchor = anchor
        self.is_mapping = is_mapping
        self.children = 0
        self.size = size
        """Values in it, itself included, each as often as aliases repeat it."""
        self.height = height
        """Lists and mappings inside each other, itself included."""

    def add(self, child: "_Node") -> None:
        """Add a value, or a key, which is not counted."""
        is_key = self.is_mapping and self.children % 2 == 0
        self.children += 1
        self.size += 0 if is_key and not child.height else child.size
        self.height = max(self.height, 1 + child.height)


def _check_events(text: str, path: str | Path) -> None:
    """Raise `UserError` if a YAML text has tags, is too deep or grows by aliases, before any value of it is made.

    The content of a mapping that is merged (`<<`) counts where it is merged, as often as it is.
    """
    import yaml

    open_nodes, anchors = [_Node(None, size=0)], {}
    for event in yaml.parse(text, Loader=_loader()):
        if tag := getattr(event, "tag", None):
            shown = quoted(tag.replace("tag:yaml.org,2002:", "!!", 1))
            raise LineError(path, event.start_mark.line + 1, f"the tag {shown} is refused: write the value without it.")
        if isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append(_Node(event.anchor, is_mapping=isinstance(event, yaml.MappingStartEvent), height=1))
            anchors[event.anchor] = _Node(None, size=math.inf, height=MAX_DEPTH + 1)  # while it is not complete
            complete = None
        elif isinstance(event, yaml.CollectionEndEvent):
            complete = open_nodes.pop()
        elif isinstance(event, yaml.AliasEvent):
            complete = anchors.get(event.anchor, _Node(None))  # an unknown one is an error of the loader
        else:
            complete = _Node(event.anchor) if isinstance(event, yaml.ScalarEvent) else None
        if complete is not None:
            anchors[complete.anchor] = complete
            open_nodes[-1].add(complete)
        depth = len(open_nodes) - 1 + (complete.height if complete else 0)
        if depth > MAX_DEPTH + 1 or open_nodes[-1].size > MAX_VALUES:
            raise UserError(
                f"{path} has more than {MAX_VALUES:,} values, its aliases expanded, or more than {MAX_DEPTH} lists and "
                "mappings inside each other: write fewer."
            )


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
                    raise yaml.MarkedYAMLError(problem=f"duplicate key {quoted(key)}", problem_mark=mark)
                seen.add(key)
                key_node.tag = "tag:yaml.org,2002:str"
            return super().construct_mapping(node, deep)

        def construct_yaml_int(self, node: Any) -> int:
            number = super().construct_yaml_int(node)
            if number.bit_length() > _LONGEST_INTEGER:  # in hexadecimal digits; Python itself limits decimal ones
                raise yaml.MarkedYAMLError(problem="a number of too many digits", problem_mark=node.start_mark)
            return number

    StrictLoader.add_constructor("tag:yaml.org,2002:int", StrictLoader.construct_yaml_int)
    return StrictLoader
