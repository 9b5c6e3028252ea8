"""What cells of each kind of table are measured from: by their measure, or the runs on a test behind a figure."""

from collections.abc import Callable

from nmtcore.config.project import Project
from nmtcore.tables.cell_files import CellFiles, Source
from nmtcore.tables.measures import measure_named
from nmtcore.tables.training import log_source
from nmtcore.tables.trees import trees_source

SUBSETS = (("target", "ccg"), ("source", "constituency"), ("target", "constituency"))
"""The annotations that parts of a test are made from, as (side, column)."""


def _measurable(cell_files: CellFiles, lacks: str) -> str:
    """Say why there is no model that translates the cell's split."""
    if cell_files.runs is None:
        return cell_files.cell.reason or f"{cell_files.cell.system} is no system"
    run = cell_files.run
    return "" if run.external is None and cell_files.test in run.tests else lacks.format(split=cell_files.cell.test)


def gates_source(cell_files: CellFiles) -> Source | str:
    """Return the norms of the gates of all seeds."""
    lacks = "its system has no gate, or {split} is no test"
    if reason := _measurable(cell_files, lacks):
        return reason
    if not cell_files.run.has_gates:
        return lacks.format(split=cell_files.cell.test)
    return {"files": {"gates": cell_files.by_seed("gates", split=cell_files.test)}, "split": cell_files.test}


def attention_source(cell_files: CellFiles) -> Source | str:
    """Return the attention of the first seed, the sentences of the test and, of a run that parses, their trees.

    `encoder_heads`: whether the encoder has attention heads (a transformer's has); `claimed`: those that components
    compute or train.
    """
    if reason := _measurable(cell_files, "it has no model, or {split} is no test"):
        return reason
    run, split = cell_files.run, cell_files.test
    parsed = run.tree_annotator is not None and split in run.parsed_tests
    trees = cell_files.path("annotation", split=split, annotator=run.tree_annotator, side="source") if parsed else None
    return {
        "files": {
            "attention": cell_files.by_seed("attention", first=True, split=split),
            "pairs": cell_files.path("pairs", split=split),
            "trees": trees,
        },
        "split": split,
        "encoder_heads": run.base == "transformer",
        "claimed": sorted(run.claimed_heads),
    }


def sharpness_source(cell_files: CellFiles) -> Source | str:
    """Return the attention of all seeds of a run whose encoder has attention heads."""
    lacks = "its encoder has no attention heads"
    if reason := _measurable(cell_files, lacks):
        return reason
    if cell_files.run.base != "transformer":
        return lacks
    files = {"attention": cell_files.by_seed("attention", split=cell_files.test)}
    return {"files": files, "split": cell_files.test, "claimed": sorted(cell_files.run.claimed_heads)}


def curves_source(cell_files: CellFiles) -> Source | str:
    """Return the training logs, and the size of the beam of validation (1: greedy search)."""
    source = log_source(cell_files)
    return source if isinstance(source, str) else {**source, "beam": cell_files.run.training.validation.beam}


def examples_source(cell_files: CellFiles) -> Source | str:
    """Return the translations by the lowest seed, the sentence pairs and the supertags of the references."""
    cell = cell_files.cell
    if cell_files.runs is None or cell.test is None:
        return cell.reason or f"{cell.row} is not run"
    seed = str(min(cell_files.runs.seeds))
    tags = [path for _, column, path in test_annotations(cell_files.project, cell.ours, cell.test) if column == "ccg"]
    settings = cell_files.project.dataset(cell.ours).evaluation
    return {
        "files": {
            "hypotheses": {seed: cell_files.by_seed("hypotheses", split=cell.test)[seed]},
            "pairs": cell_files.path("pairs", split=cell.test),
            "supertags": tags[0] if tags else None,
        },
        "split": cell.test,
        "evaluation": {key: getattr(settings, key) for key in ("text", "tokenize", "lowercase")},
    }


def test_annotations(project: Project, name: str, split: str) -> list[tuple[str, str, str]]:
    """List the side, column and path of each annotation of a test that parts of it are made from."""
    dataset, annotations = project.dataset(name), []
    for side, column in SUBSETS:
        if annotator := dataset.syntax.get(side, {}).get(column):
            names = {"dataset": name, "annotator": annotator, "split": split, "side": side}
            annotations.append((side, column, project.layout.path("annotation", **names)))
    return annotations


def parts_source(cell_files: CellFiles) -> Source | str:
    """Return the annotations that parts of a test are made from and, behind a gain on them, the translations.

    A paper's table has constructions of the target side, one of the configured systems also phrases.
    """
    cell = cell_files.cell
    if cell.reason or cell.ours is None or cell.test is None:
        return cell.reason
    everything = test_annotations(cell_files.project, cell.ours, cell.test)
    annotations = [own for own in everything if own[1] == "ccg" or cell_files.configured]
    if not annotations:
        phrases = ", or for constituency" if cell_files.configured else ""
        return f"{cell.ours} names no annotator for ccg of the target side{phrases}"
    files = {"annotations": {f"{side}.{column}": path for side, column, path in annotations}}
    if cell.metric == "sentences":
        return {"files": files, "split": cell.test}
    return _with_baseline(cell_files, files)


def lengths_source(cell_files: CellFiles) -> Source | str:
    """Return the translations that are scored by length, and the pairs of the test."""
    cell = cell_files.cell
    pairs = {} if cell.test is None or cell.ours is None else {"pairs": cell_files.path("pairs", split=cell.test)}
    return _with_baseline(cell_files, pairs)


def _with_baseline(cell_files: CellFiles, files: Source) -> Source | str:
    """Return the translations of the cell's runs, those of the baseline's (`baseline`), and more files."""
    source = _measured(cell_files)
    if isinstance(source, str):
        return source
    if cell_files.baseline is not None:
        against = _measured(cell_files._replace(runs=cell_files.baseline))
        files = files if isinstance(against, str) else {**files, "baseline": against["files"]}
    return {**source, "files": {**source["files"], **files}}


def _measured(cell_files: CellFiles) -> Source | str:
    """Return what the measure of a cell is measured from."""
    measure = measure_named(cell_files.cell.measure)
    return measure.source(cell_files) if measure else f"{cell_files.cell.measure or 'nothing'} is no measure"


_SOURCES: dict[str, Callable[[CellFiles], Source | str]] = {
    "gates": gates_source,
    "attention": attention_source,
    "sharpness": sharpness_source,
    "curves": curves_source,
    "examples": examples_source,
    "trees": trees_source,
    "constructions": parts_source,
    "lengths": lengths_source,
}
"""The sources of the cells of tables that are more than a grid of numbers."""


def source_of(table_kind: str, cell_files: CellFiles) -> Source | str:
    """Return what a cell of a table of some kind is measured from, or say why nothing can be measured."""
    return _SOURCES.get(table_kind, _measured)(cell_files)
