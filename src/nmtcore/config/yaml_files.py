"""YAML files as mappings; a broken one is a sentence with its line."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from nmtcore.errors import UserError, explained


def read_yaml(path: str | Path) -> dict[str, Any]:
    """Read a YAML file that holds a mapping; a key that stands there twice is an error."""
    import yaml

    with explained(path), open(path, encoding="utf-8") as file:
        try:
            values = yaml.load(file, Loader=_loader())
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else "?"
            raise UserError(f"{path}, line {line}: not valid YAML ({error.problem}).") from error
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise UserError(f"{path}: not valid YAML ({error}).") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise UserError(f"{path}: expected keys and values, found a {type(values).__name__}.")
    return values


def yaml_paths(folder: str | Path) -> list[Path]:
    """List the YAML files of a folder, sorted, without those that editors and systems hide behind a dot."""
    return sorted(path for ending in (".yaml", ".yml") for path in Path(folder).glob(f"[!.]*{ending}"))


def yaml_files(folder: str | Path) -> dict[str, Path]:
    """Give the YAML files of a folder by name, sorted; one that is there as .yaml and as .yml is a `UserError`."""
    found: dict[str, Path] = {}
    for path in yaml_paths(folder):
        if path.stem in found:
            raise UserError(f"{found[path.stem]} and {path} are both there: which is meant? Delete or rename one.")
        found[path.stem] = path
    return found


def config_file(folder: str | Path) -> Path:
    """Give the folder's config.yaml or config.yml; the former where there is none."""
    return yaml_files(folder).get("config", Path(folder) / "config.yaml")


@lru_cache
def _loader() -> type:
    import yaml

    class StrictLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        """A safe loader that takes keys as texts (YAML 1.1 takes `on` for true), and none twice in one mapping."""

        def construct_mapping(self, node: Any, deep: bool = False) -> dict:
            seen = set()
            for key_node, _ in node.value:
                if key_node.tag == "tag:yaml.org,2002:merge":
                    continue
                key, mark = key_node.value, key_node.start_mark
                if not isinstance(key_node, yaml.ScalarNode):
                    raise yaml.MarkedYAMLError(problem="a key must be a text", problem_mark=mark)
                if key in seen:
                    raise yaml.MarkedYAMLError(problem=f"the key '{key}' stands twice", problem_mark=mark)
                seen.add(key)
                key_node.tag = "tag:yaml.org,2002:str"
            return super().construct_mapping(node, deep)

    return StrictLoader
