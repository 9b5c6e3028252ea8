"""The parsers and taggers that are known for a language: models of config/models, of the user's folders, installed."""

import json
import re
import site
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmtcore.annotation.models import has_model, installed_pipeline
from nmtcore.config.datasets import ANNOTATORS
from nmtcore.config.project import Project
from nmtcore.errors import UserError

TOOLS = ("stanza", "spacy", "udpipe", "corenlp", "easyccg")
"""Tools in the order of preference."""
PLACES = ("here", "download", "by hand")
"""Where a model is: on this machine, to be downloaded by the workflow, or to be fetched by hand."""
TREES = ("dependencies", "tags")


@dataclass(frozen=True, kw_only=True)
class KnownParser:
    """A parser or tagger of a language, as an annotator of a data set."""

    name: str
    """Name of the annotator."""
    entry: Mapping[str, str]
    """Its entry in `annotators`."""
    gives: tuple[str, ...]
    """Kinds of annotation."""
    place: str
    """One of `PLACES`."""

    @property
    def tool(self) -> str:
        """The tool."""
        return self.entry["tool"]


def known_parsers(project: Project, language: str) -> list[KnownParser]:
    """List the parsers and taggers of a language: those that are here first, then by the order of `TOOLS`."""
    entries = [*_configured(project, language), *_in_folders(project, language), *_installed(language)]
    parsers = {parser.name: parser for entry in entries for parser in [_known_parser(project, entry)]}
    return sorted(parsers.values(), key=lambda parser: (PLACES.index(parser.place), TOOLS.index(parser.tool)))


def choose_parsers(project: Project, languages: Mapping[str, str], tool: str | None) -> dict[str, list[KnownParser]]:
    """Choose parsers for both sides, by side: one for trees and tags, and a supertagger if one is here.

    Without a `tool`, models that must be fetched by hand are not chosen. Raises `UserError` if no model of the `tool`
    is known for either language.
    """
    chosen: dict[str, list[KnownParser]] = {}
    others: list[str] = []
    for side, language in languages.items():
        parsers = known_parsers(project, language)
        others += [parser.name for parser in parsers if parser.tool != tool]
        usable = [p for p in parsers if (p.place != "by hand" if tool is None else p.tool == tool)]
        trees = [parser for parser in usable if parser.gives == TREES][:1]
        supertaggers = [parser for parser in parsers if parser.gives == ("ccg",) and parser.place == "here"][:1]
        chosen[side] = trees + supertaggers
    if tool and not any(parser.tool == tool for parsers in chosen.values() for parser in parsers):
        known = ", ".join(dict.fromkeys(others)) or "none"
        raise UserError(
            f"--parser {tool}: no {tool} model for {' or '.join(dict.fromkeys(languages.values()))} is in config/models"
            f" or in the folders of `models` (known for these languages: {known})."
        )
    return chosen


def parsers_to_compare(
    project: Project, languages: Mapping[str, str], tool: str | None
) -> dict[str, list[KnownParser]]:
    """Choose all parsers of each side that are on this machine, or the first one that can be downloaded."""
    chosen: dict[str, list[KnownParser]] = {}
    for side, language in languages.items():
        parsers = [p for p in known_parsers(project, language) if p.gives == TREES and tool in (None, p.tool)]
        here = [parser for parser in parsers if parser.place == "here"]
        chosen[side] = here or [parser for parser in parsers if parser.place == "download"][:1]
    return chosen


def _known_parser(project: Project, entry: Mapping[str, str]) -> KnownParser:
    tool, model = entry["tool"], entry.get("model", entry["tool"])
    name = model if model.startswith(tool) else f"{tool}_{model}"
    name = re.sub("[^a-z0-9]+", "_", name.lower().removesuffix(".udpipe")).strip("_")
    settings = ANNOTATORS.build(entry, where=name)
    if has_model(model, project.settings.model_folders, tool=tool):
        place = "here"
    else:
        files = project.annotator_model(model).files
        place = "download" if all(file.url or file.mirrors for file in files) else "by hand"
    return KnownParser(name=name, entry=entry, gives=settings.gives, place=place)


def _configured(project: Project, language: str) -> Iterator[dict[str, str]]:
    """Yield an entry for each file of config/models whose name has a tool and the language, and for tools without."""
    from nmtcore.annotation.corenlp import LANGUAGES  # slow to import

    for model in project.model_files:
        tool, _, rest = model.partition("_")
        if tool in ("stanza", "udpipe", "spacy") and language in rest.split("_"):
            yield {"tool": tool, "model": model}
    if language in LANGUAGES and _is_known(project, "corenlp"):
        yield {"tool": "corenlp"}
    if language == "en" and _is_known(project, "easyccg"):
        yield {"tool": "easyccg"}


def _is_known(project: Project, tool: str) -> bool:
    return tool in project.model_files or has_model(tool, project.settings.model_folders, tool=tool)


def _in_folders(project: Project, language: str) -> Iterator[dict[str, str]]:
    """Yield an entry for each model in the folders of models whose name or description has the language."""
    paths = (path for folder in project.settings.model_folders if folder.is_dir() for path in sorted(folder.iterdir()))
    for path in paths:
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", path.name):
            continue
        if (path / "meta.json").is_file():
            yield from _pipeline_entries(path, language)
        elif language in re.split("[._-]", path.name.lower()):
            if (path / "depparse.pt").is_file():
                yield {"tool": "stanza", "model": path.name}
            elif path.suffix == ".udpipe" and path.is_file():
                yield {"tool": "udpipe", "model": path.name}


def _installed(language: str) -> Iterator[dict[str, str]]:
    """Yield an entry for each installed spaCy pipeline of a language."""
    for folder in site.getsitepackages():
        for path in sorted(Path(folder).glob(f"{language}_*")):
            if re.fullmatch(r"\w+", path.name) and installed_pipeline(path.name):
                yield from _pipeline_entries(path, language)


def _pipeline_entries(path: Path, language: str) -> Iterator[dict[str, str]]:
    """Yield an entry for a spaCy pipeline of the language that parses, or whose tags are CCG categories."""
    meta: dict[str, Any] = {}
    with suppress(OSError, ValueError):
        meta = json.loads((path / "meta.json").read_text(encoding="utf-8"))
    if not isinstance(meta, dict) or meta.get("lang") != language:
        return
    if "parser" in meta.get("pipeline", ()):
        yield {"tool": "spacy", "model": path.name}
    elif any("\\" in str(label) for label in meta.get("labels", {}).get("tagger", ())):
        yield {"tool": "spacy", "model": path.name, "tags": "ccg"}
