"""Sizes of data sets: pairs, words and subwords of splits, types of tags, shares of words, what a filter drops.

Shapes: B sentences.
"""

from functools import cache
from pathlib import Path
from typing import Any

from nmtcore.config.corpora import FILTERS, SIDES
from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.features import FEATURES
from nmtcore.config.project import Project
from nmtcore.files import explain_content, read_json
from nmtcore.layout import file_name
from nmtcore.planning.annotation import selection_file
from nmtcore.planning.training import segmentation_folder
from nmtcore.syntax.categories import ALL_CONSTRUCTIONS
from nmtcore.tables.cells import CellFiles, Source, Unmeasurable

ALL = "all sentences"
"""The part of a test that is the whole test."""

ITEMS = {"control": "control_raising", "total": ALL, None: ALL}
"""What items of the papers' tables are called here, if not the same."""

SUBSETS = (("target", "ccg"), ("source", "constituency"), ("target", "constituency"))
"""The annotations that parts of a test are made from, as (side, column)."""

CONSTRUCTION_NOTES = """
A sentence has a construction if its reference has a CCG supertag of it, and may have several; they are counted as by
the code of Aycock 2021.
"""

ENGLISH = "en"
"""The language whose words and subwords some measures count."""

NOTES = {
    "pairs": """
Pairs: of train those that training reads, after filters and selection by annotation, with copied sentences if the data
set adds some; other splits are not filtered. Whole data sets are counted, even if the scale trains on a part of them.
""",
    "_tokens": "Tokens: words before they are split into subwords, of the same pairs.",
    "_subwords": "Subwords: entries of the vocabulary at this scale, which may limit its size, without special ones.",
    "types": """
Types: labels that occur in the training pairs. With specials: and our 2 special entries; the paper's may be others.
""",
    "english_words": """
Shares are of the words of the English side of the training pairs, each occurrence counted, at the segmentation of this
scale. All training pairs are counted, even if the scale trains on a part of them.
""",
}
"""What is counted, by a part of the measure's name."""


def _dataset(cell_files: CellFiles) -> DatasetSettings:
    """Return a cell's data set, or the one that stands in for it. Raises `Unmeasurable` if neither has the split."""
    cell = cell_files.cell
    if cell.ours is None:
        raise Unmeasurable(cell.reason)
    dataset = cell_files.project.dataset(cell.ours)
    if cell.published is None and cell.split is not None and cell.split not in dataset.splits:
        papers_own = (cell.tested or cell.row) == dataset.name
        names = f"{dataset.name} has no" if papers_own else f"neither the paper's data set nor {dataset.name} has the"
        raise Unmeasurable(f"{names} split {cell.split}")
    return dataset


def pairs_source(cell_files: CellFiles) -> Source:
    """Return the last report on a split: training reads the pairs that are selected, if there is a selection."""
    dataset, split = _dataset(cell_files), cell_files.cell.test or "train"
    if split == "train" and dataset.selection is not None:
        return {"files": {"report": cell_files.path("selection_report")}, "keys": ["kept"]}
    return {"files": {"report": cell_files.path("pairs_report", split=split)}, "keys": ["kept"]}


def copies_source(cell_files: CellFiles) -> Source:
    """Return the report on copied sentences."""
    dataset = _dataset(cell_files)
    if dataset.selection is None or dataset.selection.copies is None:
        raise Unmeasurable(f"{dataset.name} adds no copied sentences")
    return {"files": {"report": cell_files.path("selection_report")}, "keys": ["copies", "kept"]}


def dropped_source(cell_files: CellFiles) -> Source:
    """Return the report on what langdetect drops from the training pairs."""
    dataset = _dataset(cell_files)
    if "langdetect" not in map(FILTERS.name_of, dataset.filters):
        lacks = f"{dataset.name} is not filtered by langdetect, so nobody counted the pairs that it would drop"
        raise Unmeasurable(lacks)
    return {"files": {"report": cell_files.path("pairs_report", split="train")}, "keys": ["dropped", "langdetect"]}


def reported(source: Source) -> list[float]:
    """Read a number of a report. Raises `UserError` if the report lacks it."""
    path = Path(source["files"]["report"])
    with explain_content(path):
        value = read_json(path)
        for key in source["keys"]:
            value = value[key]
    return [value]


def words_source(cell_files: CellFiles) -> Source:
    """Return the pairs whose words are counted."""
    dataset, split = _dataset(cell_files), cell_files.cell.test or "train"
    selection = selection_file(cell_files.project, dataset=dataset.name, split=split)
    files = {"pairs": cell_files.path("pairs", split=split), "selection": selection[0] if selection else None}
    return {"files": files, "side": cell_files.cell.metric.partition("_")[0]}


def word_numbers(source: Source) -> list[float]:
    """Count the words of a side of the selected pairs."""
    return [_word_count(source["files"]["pairs"], source["files"]["selection"], source["side"])]


@cache
def _word_count(pairs: str, selection: str | None, side: str) -> int:
    import pyarrow.compute as pc

    from nmtcore.annotation.selection import selected_batches

    column = f"{side}_words"
    batches = selected_batches(Path(pairs), None if selection is None else Path(selection), columns=["id", column])
    return sum(pc.sum(pc.list_value_length(batch.column(column))).as_py() or 0 for batch in batches)


def vocabulary_source(cell_files: CellFiles) -> Source:
    """Return the segmentation whose vocabulary is counted: that of the English side, or of the other one."""
    dataset, english = _dataset(cell_files), cell_files.cell.metric == "english_subwords"
    sides = [side for side in SIDES if (dataset.language(side) == ENGLISH) == english]
    if len(sides) != 1:
        raise Unmeasurable(f"{dataset.name} does not have one English side")
    folder = segmentation_folder(cell_files.project, dataset=dataset.name, segmentation=_segmentation(cell_files))
    return {"files": {"segmentation": folder}, "side": sides[0]}


def _segmentation(cell_files: CellFiles) -> str:
    project = cell_files.project
    return project.segmentation(project.dataset(cell_files.cell.ours), project.scale(project.settings.scale)).name


def vocabulary(source: Source) -> list[float]:
    """Count the entries of a vocabulary without the special ones."""
    from nmtcore.segmentation.vocabulary import SPECIALS, Vocabulary

    path = Path(source["files"]["segmentation"]) / file_name("vocabulary", side=source["side"])
    return [len(Vocabulary.load(path)) - len(SPECIALS)]


def types_source(cell_files: CellFiles) -> Source:
    """Return the label vocabulary of an item such as `target.ccg`."""
    dataset, item = _dataset(cell_files), cell_files.cell.item or ""
    side, _, labels = item.partition(".")
    annotation = next((feature.annotation for feature in FEATURES.values() if labels in feature.labels), None)
    if side not in SIDES or annotation is None:
        raise Unmeasurable(f"{item} is no side with labels of ours")
    annotator = dataset.syntax.get(side, {}).get(annotation)
    if annotator is None:
        raise Unmeasurable(f"{dataset.name} names no annotator for {annotation} on the {side} side")
    path = cell_files.path("labels", annotator=annotator, side=side)
    return {"files": {"labels": path}, "labels": labels, "specials": cell_files.cell.metric == "types_with_specials"}


def types(source: Source) -> list[float]:
    """Count the entries of a label vocabulary."""
    from nmtcore.annotation.labels import LABEL_SPECIALS, read_labels

    entries = read_labels(Path(source["files"]["labels"]), [source["labels"]])[source["labels"]]
    return [len(entries) - (0 if source["specials"] else len(LABEL_SPECIALS))]


def share_source(cell_files: CellFiles) -> Source:
    """Return the subwords of the English side of the training pairs, and the most subwords of the words that count."""
    dataset = _dataset(cell_files)
    sides = [side for side in SIDES if dataset.language(side) == ENGLISH]
    if not sides:
        raise Unmeasurable(f"{dataset.name} has no English side")
    tokens = cell_files.path("tokens", segmentation=_segmentation(cell_files), split="train", side=sides[0])
    return {"files": {"tokens": tokens}, "most": 1 if cell_files.cell.metric == "english_words_unsplit" else 7}


def share(source: Source) -> list[float]:
    """Return the share of words with at most so many subwords; nothing if there are no words."""
    counts: list[Any] = subword_counts(source["files"]["tokens"])
    return [sum(counts[: source["most"] + 1]) / sum(counts)] if sum(counts) else []


@cache
def subword_counts(tokens: str) -> list[int]:
    """Count words by their number of subwords: entry n is the number of words with n subwords."""
    import numpy as np

    from nmtcore.features.examples import ragged_column
    from nmtcore.parquet import read_batches

    totals = np.zeros(1, dtype=np.int64)
    for batch in read_batches(tokens, columns=["word_of_subword"]):
        words = ragged_column(batch.column("word_of_subword"), np.dtype(np.int32))
        # A word begins where a sentence begins, and where the index of the word changes.
        begins = np.ones(len(words.values), dtype=bool)
        begins[1:] = np.diff(words.values) != 0
        begins[words.offsets[:-1][words.lengths > 0]] = True
        sizes = np.diff(np.append(np.flatnonzero(begins), len(words.values)))
        counts = np.bincount(sizes, minlength=len(totals))
        counts[: len(totals)] += totals
        totals = counts
    return totals.tolist()


def test_annotations(project: Project, name: str, split: str) -> list[tuple[str, str, str]]:
    """List the side, column and path of each annotation of a test that parts of it are made from."""
    dataset, annotations = project.dataset(name), []
    for side, column in SUBSETS:
        if annotator := dataset.syntax.get(side, {}).get(column):
            names = {"dataset": name, "annotator": annotator, "split": split, "side": side}
            annotations.append((side, column, project.layout.path("annotation", **names)))
    return annotations


def construction_source(cell_files: CellFiles) -> Source:
    """Return the supertags of the references, and the construction whose sentences are counted."""
    cell = cell_files.cell
    if cell.reason or cell.ours is None or cell.test is None:
        raise Unmeasurable(cell.reason)
    annotations = test_annotations(cell_files.project, cell.ours, cell.test)
    supertags = [path for _, column, path in annotations if column == "ccg"]
    construction = ITEMS.get(cell.item, cell.item)
    if not supertags:
        raise Unmeasurable(f"{cell.ours} names no annotator for ccg of the target side")
    if construction not in (ALL, *ALL_CONSTRUCTIONS):
        raise Unmeasurable(f"{cell.item} is no construction")
    share = cell.metric == "sentences_share"
    return {"files": {"supertags": supertags[0]}, "construction": construction, "share": share}


def construction_count(source: Source) -> list[float]:
    """Count the sentences of a test with a construction, or return their percentage of the test's."""
    sentences, counts = _construction_counts(source["files"]["supertags"])
    count = sentences if source["construction"] == ALL else counts[source["construction"]]
    return [100 * count / sentences if source["share"] else count] if sentences else []


@cache
def _construction_counts(supertags: str) -> tuple[int, dict[str, int]]:
    from nmtcore.evaluation.subsets import read_subsets
    from nmtcore.parquet import row_count

    sentences = row_count(Path(supertags))
    rows = read_subsets(Path(supertags), "ccg", sentences=sentences).rows
    return sentences, {name: len(rows_B) for name, rows_B in rows.items()}
