"""The pages on systems and data sets: all of config/, with the equations of what each system consists of.

The equations are those of the docstrings of the classes that compute them (`docstrings`); nothing is repeated here.
"""

import json
from collections.abc import Mapping
from typing import Any

from docstrings import explanation

from nmtcore.config.project import Project
from nmtcore.config.registry import Registry
from nmtcore.config.systems import SystemSettings
from nmtcore.schemas import REGISTRIES, keys_table, markdown_table

PAPERS = {
    "pham2018": "Pham 2018",
    "bugliarello2020": "Bugliarello and Okazaki 2020",
    "tran2018": "Tran and Bisk 2018",
    "aycock2021": "Aycock 2021",
    "beyond": "Beyond the papers",
}
"""The files of systems, with the titles of their pages; files that are not listed come last, with their names."""

SECTIONS = {"base": "model", "component": "components", "transform": "transforms"}
"""The sections of what systems consist of."""

PARTS: Mapping[str, Registry] = {part: REGISTRIES[section] for part, section in SECTIONS.items()}
"""What systems consist of."""

_SHOWN_APART = ("description", "extends", "base", "components", "transforms", "per_dataset", "assumed")


def parts_of(system: SystemSettings) -> list[tuple[str, str]]:
    """Return the registry and the name of the base, the components and the transforms of a system."""
    parts = [("base", system.base)]
    parts += [("component", str(entry.get("kind", name))) for name, entry in system.components.items()]
    return parts + [("transform", str(entry.get("kind", name))) for name, entry in system.transforms.items()]


def system_pages(project: Project) -> dict[str, str]:
    """Write the pages: an overview, one page per file of systems, and the parts with their equations."""
    files: dict[str, list[str]] = {}
    for name, (path, _) in project.system_entries.items():
        files.setdefault(path.stem, []).append(name)
    papers = [*(paper for paper in PAPERS if paper in files), *sorted(files.keys() - PAPERS)]
    pages = {f"systems/{paper}": _paper_page(project, paper, files[paper]) for paper in papers}
    return {"systems": _overview(project, papers, files), "equations": parts_page(project), **pages}


def datasets_page(project: Project) -> str:
    """List all data sets, by the files of config/datasets."""
    rows = [
        [f"`{name}`", " ".join(project.dataset(name).description.split()).rstrip(".")] for name in project.dataset_files
    ]
    return f"# Data sets\n\n{markdown_table(['data set', 'what it is'], rows)}"


def _overview(project: Project, papers: list[str], files: Mapping[str, list[str]]) -> str:
    rows = [
        [f"[`{name}`](systems/{paper}.md#{name})", _description(project, name), _linked_parts(project, name, "")]
        for paper in papers
        for name in files[paper]
    ]
    text = """# Systems

A system is a base and a list of components; some also change the examples before the model reads them (transforms).
Its entry in `config/systems` names the system that it extends, and what differs. [Equations](equations.md) has what
each base, component and transform computes; the pages on the papers have the settings of each system.

"""
    links = "".join(f"- [{PAPERS.get(paper, paper)}](systems/{paper}.md): {len(files[paper])}\n" for paper in papers)
    return f"{text}{links}\n{markdown_table(['system', 'what it is', 'consists of'], rows)}"


def _paper_page(project: Project, paper: str, names: list[str]) -> str:
    families: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for name in names:
        families.setdefault(tuple(parts_of(project.system(name))), []).append(name)
    explained: set[tuple[str, str]] = set()
    text = f"# {PAPERS.get(paper, paper)}\n\nThe entries are in `config/systems/{paper}.yaml`.\n"
    for parts, members in families.items():
        text += "\n" + _family(project, parts, members, explained)
        explained.update(parts)
    return text


def _family(
    project: Project, parts: tuple[tuple[str, str], ...], names: list[str], explained: set[tuple[str, str]]
) -> str:
    """Write the section of systems that consist of the same parts, with the equations that are not `explained`."""
    (_, base), *added = parts
    title = " and ".join(f"`{name}`" for _, name in added) or f"Base `{base}`"
    with_added = f", with {' and '.join(_part_link(part, name, '../') for part, name in added)}" if added else " alone"
    text = f"## {title}\n\nThe base {_part_link('base', base, '../')}{with_added}"
    new = [(part, name) for part, name in added or parts if (part, name) not in explained]
    equations = "".join(explanation(PARTS[part].configured(name)) for part, name in new)
    return f"{text}.\n\n{equations}\n" + "\n".join(_system(project, name) for name in names)


def _system(project: Project, name: str) -> str:
    """Write the section of a system: its description, what it extends, and its settings."""
    path, entry = project.system_entries[name]
    facts = [_extends(project, entry.get("extends"))] if entry.get("extends") else []
    system = project.system(name)
    for key in ("components", "transforms"):
        facts += [f"{key[:-1]} {_settings(part, values)}" for part, values in getattr(system, key).items()]
    facts += [f"`{key}`: `{flow(value)}`" for key, value in entry.items() if key not in _SHOWN_APART]
    facts += [f"[assumed](../assumptions.md), {topic}: {why}" for topic, why in entry.get("assumed", {}).items()]
    if entry.get("per_dataset"):
        facts.append(
            f"with other values on {', '.join(f'`{dataset}`' for dataset in entry['per_dataset'])} (`{path.name}`)"
        )
    listed = "".join(f"- {fact}\n" for fact in facts)
    return f"### {name}\n\n{_description(project, name)}.\n\n{listed}"


def _extends(project: Project, parent: str) -> str:
    paper = project.system_entries[parent][0].stem
    return f"extends [`{parent}`]({paper}.md#{parent})"


def _description(project: Project, name: str) -> str:
    return " ".join(project.system(name).description.split()).rstrip(".")


def _settings(name: str, values: Mapping[str, Any]) -> str:
    settings = ", ".join(f"{key}: {flow(value)}" for key, value in values.items())
    return f"`{name}`" + (f" with `{settings}`" if settings else "")


def flow(value: Any) -> str:
    """Write a value as YAML within a line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(flow, value))}]"
    return value if isinstance(value, str) else json.dumps(value)


def _linked_parts(project: Project, name: str, folder: str) -> str:
    return ", ".join(_part_link(part, used, folder) for part, used in parts_of(project.system(name)))


def _part_link(part: str, name: str, folder: str) -> str:
    return f"[`{name}`]({folder}equations.md#{part}-{name})"


def parts_page(project: Project) -> str:
    """Write the page on bases, components and transforms: equations, settings, and the systems that have them."""
    text = """# Equations

What the bases, components and transforms compute, with the papers' numbers of the equations. Positions are tokens: q, k
and v are queries, keys and values, e scores before the softmax, a weights after it. Each text is the docstring of the
class that computes it, so `help()` shows it too.

"""
    return text + "\n".join(_part(project, part, name) for part, registry in PARTS.items() for name in registry)


def _part(project: Project, part: str, name: str) -> str:
    cls = PARTS[part].configured(name)
    systems = [system for system in project.system_entries if (part, name) in parts_of(project.system(system))]
    links = ", ".join(f"[`{s}`](systems/{project.system_entries[s][0].stem}.md#{s})" for s in systems)
    if part == "base":
        links = f"{len(systems)} of the [list](systems.md)"
    code = f"`{cls.__module__}.{cls.__name__}`"
    return (
        f"## {part.capitalize()} `{name}`\n\n{explanation(cls)}\n"
        f"{keys_table(SECTIONS[part], name)}\nCode: {code}. Systems: {links}.\n"
    )
