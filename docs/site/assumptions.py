"""Write docs/assumptions.md, what the papers leave open: `python docs/site/assumptions.py`.

It lists the notes `assumed` of the files in config/, and `ASSUMED` of the settings of bases, components and transforms.
"""

import dataclasses
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

from systems import PAPERS, PARTS, flow, parts_of

from nmtcore.config.files import read_yaml
from nmtcore.config.project import Project
from nmtcore.config.typed import default_of, plain
from nmtcore.new.deciding_files import assumed_by
from nmtcore.schemas import markdown_table
from nmtcore.tables.papers import paper_files, read_paper

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/assumptions.md"
KEYS = re.compile(r"[a-z_0-9]+(\.[a-z_0-9]+)*")
"""The topics that are keys of the file, or fields of the class, in which they stand."""
PER_BASE = re.compile(r"per_base\.(\w+)\.")
HEAD = ["system", "what", "why", "source"]
INTRODUCTION = """# Assumptions

What the papers leave open or say in two ways, what is done here, and why. These are the notes `assumed` beside the
settings in [config](../config/README.md), and those of the package beside the defaults of bases and components;
`python docs/site/assumptions.py` makes this page of them. What extends a data set or a system assumes the same.
"""


class Assumption(NamedTuple):
    """Something that a paper leaves open."""

    paper: str
    """Its short name, or that of another file of systems."""
    system: str
    """What it holds for."""
    topic: str
    """Keys with dots between them, or words."""
    value: Any
    """The value of the keys; None for words."""
    why: str
    file: Path
    """The file that says it."""


def assumptions(project: Project) -> list[Assumption]:
    """List all assumptions, by the papers and by what they hold for.

    Raises `ValueError` if one is about a key that is not there.
    """
    listed = [*_of_papers(project), *_of_files(project), *_of_parts(project)]
    order = [*PAPERS, *sorted({own.paper for own in listed} - PAPERS.keys())]
    return sorted(listed, key=lambda own: order.index(own.paper))


def _of_papers(project: Project) -> Iterator[Assumption]:
    for paper in sorted(paper_files(project)):
        settings = read_paper(project, paper).settings
        path = ROOT / f"config/published/{paper}.yaml"
        yield from _notes(paper, "tables", settings.assumed, plain(settings), path)


def _of_files(project: Project) -> Iterator[Assumption]:
    """Yield those of recipes, data sets and systems, where they stand."""
    for name, path in project.recipe_files.items():
        values = read_yaml(path)
        yield from _notes(name, "all", values.get("assumed", {}), values, path)
    for name, path in project.dataset_files.items():
        values = project.dataset_files.read(name)
        yield from _notes(str(project.first_recipe(name)), f"on `{name}`", values.get("assumed", {}), values, path)
    for name, (path, values) in project.system_entries.items():
        yield from _notes(path.stem, f"`{name}`", values.get("assumed", {}), values, path)


def _of_parts(project: Project) -> Iterator[Assumption]:
    """Yield those of bases, components and transforms, in the first paper that has one of them."""
    papers: dict[tuple[str, str], list[str]] = {}
    for system, (path, _) in project.system_entries.items():
        for part in parts_of(project.system(system)):
            papers.setdefault(part, []).append(path.stem)
    shared: dict[Assumption, list[str]] = {}
    for (part, name), having in papers.items():
        cls = PARTS[part][name]
        values = {field.name: plain(default_of(field)) for field in dataclasses.fields(cls)}
        paper = min(having, key=[*PAPERS, *having].index)
        for note in _notes(paper, "", assumed_by(cls), values, Path(inspect.getfile(cls))):
            shared.setdefault(note, []).append(f"`{name}`")
    for note, names in shared.items():
        yield note._replace(system=f"with {', '.join(names)}")


def _notes(
    paper: str, system: str, notes: Mapping[str, str], values: Mapping[str, Any], file: Path
) -> Iterator[Assumption]:
    for topic, why in notes.items():
        text = " ".join(why.split()).rstrip(".")
        base = PER_BASE.match(topic)
        yield Assumption(paper, f"with `{base[1]}`" if base else system, topic, _value(topic, values, file), text, file)


def _value(topic: str, values: Mapping[str, Any], file: Path) -> Any:
    """Return the value of a topic that is a key, in YAML; None for words."""
    if not KEYS.fullmatch(topic):
        return None
    value: Any = values
    for key in topic.split("."):
        if not isinstance(value, Mapping) or key not in value:
            raise ValueError(f"{file}: assumed: there is no key {topic}: name one, or write words with a space.")
        value = value[key]
    return flow(value)


def assumptions_page(project: Project) -> str:
    """Write the page."""
    listed = assumptions(project)
    text = INTRODUCTION
    for paper in dict.fromkeys(own.paper for own in listed):
        rows = [[own.system, _what(own), own.why, _link(own.file)] for own in listed if own.paper == paper]
        text += f"\n## {PAPERS.get(paper, paper)}\n\n{markdown_table(HEAD, rows)}"
    return text


def _what(own: Assumption) -> str:
    return own.topic if own.value is None else f"`{PER_BASE.sub('', own.topic)}: {own.value}`"


def _link(file: Path) -> str:
    path = file.relative_to(ROOT)
    return f"[{path.parent.name}/{path.name}](../{path})"


if __name__ == "__main__":
    PAGE.write_text(assumptions_page(Project.load(ROOT / "config")), encoding="utf-8")
