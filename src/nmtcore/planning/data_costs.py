"""What the files of data that runs and tables read take: hours of annotation, disk space."""

from collections.abc import Iterator

from nmtcore.config.annotators import ANNOTATORS
from nmtcore.config.planned_costs import Estimate, PlannedCost, estimated
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.config.speeds import SpeedsSettings
from nmtcore.layout import ParsedPath
from nmtcore.planning.annotation import annotator_of, selection_annotations
from nmtcore.planning.known_sizes import KnownSizes
from nmtcore.planning.runs import feature_files, pair_files, split_features, target_tags, tree_files

FILE_SIZES = {
    "pairs": ("corpus", 2),
    "annotation": ("annotation", 1),
    "tokens": ("tokens", 1),
    "syntax": ("syntax", 1),
    "linearised": ("tokens", 2),
}
"""File types whose size is counted: a key of `bytes_per_subword`, and a factor. Pairs are there before and after the
filters, and linearised parses are about twice as long as sentences."""


def data_files(project: Project, run: RunSettings) -> Iterator[str]:
    """Yield the files of data that a run reads to train and to translate."""
    yield from selection_annotations(project, dataset=run.dataset)
    for splits in ("training_splits", "tests"):
        yield from feature_files(project, run=run, splits=splits)
        yield from pair_files(project, run=run, splits=splits)


def result_files(project: Project, run: RunSettings, parsed: ParsedPath) -> list[str]:
    """List the files of data that a result of a run needs besides: trees for scores, tags for gates."""
    match parsed.file_type:
        case "scores":
            return tree_files(project, run=run, splits="parsed_tests")
        case "gates":
            split = parsed["split"]
            return [*split_features(project, run=run, split=split), *target_tags(project, run=run, split=split)]
    return []


def made_from(project: Project, parsed: ParsedPath) -> Iterator[str]:
    """Yield the counted files that a file is made from: pairs for an annotation, an annotation for its features."""
    names = {key: parsed[key] for key in ("dataset", "split")}
    if parsed.file_type == "annotation":
        yield project.layout.path("pairs", **names)
    elif parsed.file_type in ("syntax", "linearised"):
        side = parsed.names.get("side", "source")
        yield project.layout.path("annotation", **names, annotator=parsed["annotator"], side=side)


def file_cost(project: Project, parsed: ParsedPath, *, speeds: SpeedsSettings, sizes: KnownSizes) -> PlannedCost:
    """Return the cost of a file of a type in `FILE_SIZES`; treebanks, which are small, cost nothing."""
    if parsed["split"] in project.dataset(parsed["dataset"]).treebanks:
        return PlannedCost()
    pairs = sizes.pairs(parsed["dataset"], parsed["split"])
    key, factor = FILE_SIZES[parsed.file_type]
    tokens = sizes.subwords(pairs)
    disk = estimated(None if tokens is None else tokens * factor * getattr(speeds.bytes_per_subword, key))
    if parsed.file_type != "annotation":
        return PlannedCost(disk_bytes=disk)
    speed = _annotation_speed(project, parsed, speeds)
    if speed is None:
        hours = Estimate(unknown=1)
        sizes.note_unknown(f"the speed of {_tool(project, parsed)} ({_language(project, parsed)})")
    else:
        hours = estimated(None if pairs is None else pairs / speed / 3600)
    return PlannedCost(annotation_hours=hours, disk_bytes=disk)


def _annotation_speed(project: Project, parsed: ParsedPath, speeds: SpeedsSettings) -> float | None:
    """Return the sentences per second of an annotation's annotator; None if they are unknown."""
    settings = annotator_of(project, dataset=parsed["dataset"], annotator=parsed["annotator"])
    analyses = {None, getattr(settings, "analysis", None), getattr(settings, "tags", None)}
    languages = {None, _language(project, parsed)}
    tool = _tool(project, parsed)
    for speed in speeds.annotation:
        if speed.tool == tool and speed.language in languages and speed.analysis in analyses:
            return speed.sentences_per_second
    return None


def _tool(project: Project, parsed: ParsedPath) -> str:
    return ANNOTATORS.name_of(annotator_of(project, dataset=parsed["dataset"], annotator=parsed["annotator"]))


def _language(project: Project, parsed: ParsedPath) -> str:
    return project.dataset(parsed["dataset"]).language(parsed["side"])
