"""Files behind tables of the sizes of data sets: reports, sentence pairs, segmentations and label vocabularies."""

from typing import Any

from nmtcore.config.corpora import SIDES
from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.features import FEATURES
from nmtcore.config.planned_tables import PlannedCell, PlannedColumn, PlannedTable
from nmtcore.config.project import Project
from nmtcore.planning.annotation import selection_file
from nmtcore.planning.features import segmentation_folder

ENGLISH = "en"
"""The language of `english_subwords`."""


def sizes_inputs(project: Project, table: PlannedTable) -> list[str]:
    """List the files that the sizes are read from or counted in."""
    sources = (source for by_column in sizes_facts(project, table)["sources"].values() for source in by_column.values())
    return [path for source in sources for path in source.get("files", {}).values() if path is not None]


def sizes_facts(project: Project, table: PlannedTable) -> dict[str, Any]:
    """Return where the size of each cell comes from: {"sources": {row: {column: source}}}.

    A source has `files` by their content (`report`, `pairs`, `selection`, `segmentation`, `labels`) and what is counted
    in them (`side`, `labels`), or a `reason` why there is no size.
    """
    columns = {column.name: column for column in table.columns}
    sources: dict[str, dict[str, Any]] = {}
    for cell in table.cells:
        sources.setdefault(cell.row, {})[cell.column] = _source(project, columns[cell.column], cell)
    return {"sources": sources}


def _source(project: Project, column: PlannedColumn, cell: PlannedCell) -> dict[str, Any]:
    if cell.dataset is None:
        return {"reason": cell.reason}
    dataset = project.dataset(cell.dataset)
    if cell.published is None and column.split is not None and column.split not in dataset.splits:
        papers_own = (column.dataset or cell.row) == dataset.name
        names = f"{dataset.name} has no" if papers_own else f"neither the paper's data set nor {dataset.name} has the"
        return {"reason": f"{names} split {column.split}"}
    if cell.item is not None:
        return _labels(project, dataset, cell.item)
    match cell.metric:
        case "pairs":
            return {"files": {"report": _report(project, dataset, cell.split or "train")}}
        case "copied_sentences":
            if dataset.selection is None or dataset.selection.copies is None:
                return {"reason": f"{dataset.name} adds no copied sentences"}
            return {"files": {"report": _report(project, dataset, "train")}}
        case "source_tokens" | "target_tokens" as metric:
            return {"files": _pairs(project, dataset, cell.split or "train"), "side": metric.partition("_")[0]}
        case "english_subwords" | "other_subwords" as metric:
            return _vocabulary(project, dataset, english=metric == "english_subwords")
    return {"reason": f"{cell.metric} is no size that is counted here"}


def _report(project: Project, dataset: DatasetSettings, split: str) -> str:
    """Return the last report on a split: training reads the pairs that are selected, if there is a selection."""
    if split == "train" and dataset.selection is not None:
        return project.layout.path("selection_report", dataset=dataset.name)
    return project.layout.path("pairs_report", dataset=dataset.name, split=split)


def _pairs(project: Project, dataset: DatasetSettings, split: str) -> dict[str, str | None]:
    selection = selection_file(project, dataset=dataset.name, split=split)
    pairs = project.layout.path("pairs", dataset=dataset.name, split=split)
    return {"pairs": pairs, "selection": selection[0] if selection else None}


def _vocabulary(project: Project, dataset: DatasetSettings, *, english: bool) -> dict[str, Any]:
    sides = [side for side in SIDES if (dataset.language(side) == ENGLISH) == english]
    if len(sides) != 1:
        return {"reason": f"{dataset.name} does not have one English side"}
    segmentation = project.segmentation(dataset, project.scale(project.settings.scale))
    folder = segmentation_folder(project, dataset=dataset.name, segmentation=segmentation.name)
    return {"files": {"segmentation": folder}, "side": sides[0]}


def _labels(project: Project, dataset: DatasetSettings, item: str) -> dict[str, Any]:
    """Return the label vocabulary of an item such as `target.ccg`."""
    side, _, labels = item.partition(".")
    annotation = next((feature.annotation for feature in FEATURES.values() if labels in feature.labels), None)
    if side not in SIDES or annotation is None:
        return {"reason": f"{item} is no side with labels of ours"}
    annotator = dataset.syntax.get(side, {}).get(annotation)
    if annotator is None:
        return {"reason": f"{dataset.name} names no annotator for {annotation} on the {side} side"}
    path = project.layout.path("labels", dataset=dataset.name, annotator=annotator, side=side)
    return {"files": {"labels": path}, "labels": labels}
