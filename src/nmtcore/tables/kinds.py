"""The kinds of tables: what their cells are measured from, and what computes, shows and draws them."""

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, NamedTuple

from nmtcore.tables.cells import CellFiles, Source, Unmeasurable
from nmtcore.tables.measures import measured_source
from nmtcore.tables.runs import check_model, log_source, model_source, sharpness_source
from nmtcore.tables.sizes import test_annotations
from nmtcore.tables.trees import trees_source


def attention_source(cell_files: CellFiles) -> Source:
    """Return the attention of the first seed, the sentences of the test and, of a run that parses, their trees.

    `encoder_heads`: whether the encoder has attention heads (a transformer's has); `claimed`: those that components
    compute or train.
    """
    lacks = "it has no model, or {split} is no test"
    source = model_source(cell_files, "attention", lacks, suits=lambda run: True, first=True)
    run, split = cell_files.run, source["split"]
    parsed = run.tree_annotator is not None and split in run.parsed_tests
    trees = cell_files.path("annotation", split=split, annotator=run.tree_annotator, side="source") if parsed else None
    return {
        "files": {**source["files"], "pairs": cell_files.path("pairs", split=split), "trees": trees},
        "split": split,
        "encoder_heads": run.base == "transformer",
        "claimed": sorted(run.claimed_heads),
    }


def examples_source(cell_files: CellFiles) -> Source:
    """Return the translations by the lowest seed, the sentence pairs and the supertags of the references."""
    cell = cell_files.cell
    if cell_files.runs is None or cell.test is None:
        raise Unmeasurable(cell.reason or f"{cell.row} is not run")
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


def parts_source(cell_files: CellFiles) -> Source:
    """Return the annotations that parts of a test are made from and, behind a gain on them, the translations.

    A paper's table has constructions of the target side, one of the configured systems also phrases.
    """
    cell = cell_files.cell
    if cell.reason or cell.ours is None or cell.test is None:
        raise Unmeasurable(cell.reason)
    everything = test_annotations(cell_files.project, cell.ours, cell.test)
    annotations = [annotation for annotation in everything if annotation[1] == "ccg" or cell_files.configured]
    if not annotations:
        phrases = ", or for constituency" if cell_files.configured else ""
        raise Unmeasurable(f"{cell.ours} names no annotator for ccg of the target side{phrases}")
    files = {"annotations": {f"{side}.{column}": path for side, column, path in annotations}}
    return _with_baseline(cell_files, files)


def lengths_source(cell_files: CellFiles) -> Source:
    """Return the translations that are scored by length, and the pairs of the test."""
    cell = cell_files.cell
    pairs = {} if cell.test is None or cell.ours is None else {"pairs": cell_files.path("pairs", split=cell.test)}
    return _with_baseline(cell_files, pairs)


def sweep_source(cell_files: CellFiles) -> Source:
    """Return the counts of dev by a trial's runs, and the folder of what the choice, no other one, scores on tests."""
    check_model(cell_files, "its translations were made elsewhere, or {split} is no test")
    runs, scale = cell_files.runs, cell_files.project.settings.scale
    choice = cell_files.project.layout.path("choice", scale=scale, dataset=runs.dataset, table=cell_files.table)
    files = {"counts": cell_files.by_seed("dev_counts"), "choice": choice}
    return {"files": files, "split": "dev", "column": cell_files.cell.measure}


def _with_baseline(cell_files: CellFiles, files: Source) -> Source:
    """Return the translations of the cell's runs, those of the baseline's (`baseline`), and more files."""
    source = measured_source(cell_files)
    if cell_files.baseline is not None:
        with suppress(Unmeasurable):
            against = measured_source(cell_files._replace(runs=cell_files.baseline))
            files = {**files, "baseline": against["files"]}
    return {**source, "files": {**source["files"], **files}}


class Kind(NamedTuple):
    """What a kind of table shows, and how: names of this package, imported where they are used (`loaded`)."""

    rows: str
    """Computes the rows of a frame from a planned table."""
    blocks: str
    """Makes a page from a frame."""
    chart: str = ""
    """Makes a chart from a frame."""
    drawing: str = ""
    """Writes the files of a drawing of sentences, which is no chart, from a frame."""
    source: Callable[[CellFiles], Source] = measured_source
    """Says what a cell is measured from."""
    compares: bool = False
    """Whether a table of one's own that names no baselines compares each system with what its entry says."""

    @property
    def is_grid(self) -> bool:
        """Whether the columns name what is measured."""
        return self.source is measured_source

    @property
    def has_figure(self) -> bool:
        """Whether tables of the kind also have a figure."""
        return bool(self.chart or self.drawing)


_GRID = ("query.number_rows", "sheets.number_blocks")

KINDS = {
    "scores": Kind(*_GRID, compares=True),
    "differences": Kind(*_GRID, chart="charts.difference_figure", compares=True),
    "sweep": Kind("sweep.sweep_rows", "sweep.sweep_blocks", source=sweep_source),
    "time": Kind(*_GRID, chart="charts.time_figure"),
    "lengths": Kind(
        "parts.part_rows", "parts.part_blocks", chart="charts.part_figure", source=lengths_source
    ),
    "constructions": Kind(
        "parts.part_rows", "parts.part_blocks", chart="charts.part_figure",
        source=parts_source, compares=True,
    ),
    "examples": Kind(
        "examples.example_rows", "examples.example_blocks", source=examples_source,
        compares=True,
    ),
    "curves": Kind(
        "curves.curve_rows", "curves.curve_blocks", chart="curves.curve_figure",
        source=log_source,
    ),
    "trees": Kind(
        "sentence_figures.tree_rows", "sentence_figures.tree_blocks", drawing="sentence_figures.draw_trees",
        source=trees_source,
    ),
    "sharpness": Kind(
        "sharpness.sharpness_rows", "sharpness.sharpness_blocks", chart="sharpness.sharpness_figure",
        source=sharpness_source,
    ),
    "attention": Kind(
        "sentence_figures.map_rows", "sentence_figures.attention_blocks",
        drawing="sentence_figures.draw_attention", source=attention_source,
    ),
}  # fmt: skip
"""The kinds of tables, by name: numbers, of which the metric says what is measured (`scores`; `differences` also draws
those from the baselines, and `time` draws times); dev scores of trials; scores of parts of a test; sentences; or a
drawing with a table below it."""


def loaded(name: str) -> Any:
    """Import what a kind names."""
    module, _, member = name.partition(".")
    return getattr(import_module(f"nmtcore.tables.{module}"), member)
