"""Scores of translations, and of heads that are compared with trees: what counts in each sentence."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmtcore.config.datasets import GOLD
from nmtcore.config.paper_tables import SEGMENT_MEASURES
from nmtcore.errors import UserError
from nmtcore.layout import file_name
from nmtcore.measures.place import Place, Source

if TYPE_CHECKING:
    from nmtcore.evaluation.counts import SentenceCounts
    from nmtcore.evaluation.outputs import SplitOutputs


def translations_source(place: Place, measure: str) -> Source | str:
    """Return the translations by the cell's runs and how they are scored; a row that is no system of ours has none."""
    cell = place.cell
    if place.runs is None or cell.split is None:
        return cell.reason
    settings = place.project.dataset(cell.dataset).evaluation
    evaluation = {key: getattr(settings, key) for key in ("text", "tokenize", "lowercase")}
    files = {"hypotheses": place.by_seed("hypotheses")}
    if measure in SEGMENT_MEASURES:
        files["segments"] = place.by_seed("segment_scores")
    return {"files": files, "split": cell.split, "measure": measure, "evaluation": evaluation}


def translation_counts(source: Source) -> "list[SentenceCounts]":
    """Count the sentences of each seed's translations. Raises the errors of `read_outputs`."""
    from nmtcore.config.datasets import EvaluationSettings
    from nmtcore.config.typed import build
    from nmtcore.evaluation.metrics import METRICS

    own, measure = outputs(source), source["measure"]
    if "segments" in source["files"]:
        return [
            _segments(Path(path), source["split"], len(own.references)) for path in source["files"]["segments"].values()
        ]
    evaluation = build(EvaluationSettings, source["evaluation"], where=measure)
    return [METRICS[measure].count(lines, own.references, evaluation) for lines in own.translations[""].values()]


def _segments(folder: Path, split: str, sentences: int) -> "SentenceCounts":
    """Read stored scores of segments. Raises `UserError` if they are not those of the translations."""
    from nmtcore.evaluation.segments import segment_counts

    path = folder / file_name("comet_segments", split=split)
    counts = segment_counts(path)
    if len(counts) != sentences:
        raise UserError(f"{path} has {len(counts):,} scores for {sentences:,} translations: delete it and score again.")
    return counts


def outputs(source: Source) -> "SplitOutputs":
    """Read the translations of a source, whose only system is "". Raises the errors of `read_outputs`."""
    return _outputs(tuple(source["files"]["hypotheses"].items()), source["split"])


@cache
def _outputs(folders: tuple[tuple[str, str], ...], split: str) -> "SplitOutputs":
    from nmtcore.evaluation.outputs import read_outputs

    return read_outputs({"": {int(seed): Path(path) for seed, path in folders}}, split)


def attachment_source(place: Place, measure: str) -> Source | str:
    """Return the parses by the cell's runs and the trees that they are compared with; chains are no files."""
    cell, run = place.cell, place.run
    if run is None or cell.split is None:
        return cell.reason
    gold = cell.split.startswith(GOLD)
    if cell.split not in (run.gold if gold else run.parsed_tests):
        return ""
    annotator = run.gold_annotator if gold else run.tree_annotator
    names = {"split": cell.split}
    trees = None if annotator is None else place.path("annotation", **names, annotator=annotator, side="source")
    parses = place.by_seed("gold_parses" if gold else "hypotheses")
    files = {"parses": parses, "pairs": place.path("pairs", **names), "trees": trees}
    return {"files": files, "split": cell.split, "measure": measure}


def attachment_counts(source: Source) -> "list[SentenceCounts]":
    """Count the right heads of each seed."""
    from nmtcore.evaluation import attachment
    from nmtcore.evaluation.scores import read_compared

    files, counts = source["files"], []
    for path in _parses(source):
        own = read_compared(path, Path(files["pairs"]), None if files["trees"] is None else Path(files["trees"]))
        counts.append(attachment.attachment_counts([row["argmax"] for row in own.predicted], own.gold))
    return counts


def sentence_means(source: Source) -> list[float]:
    """Return the mean of the percentages of the sentences with words, for each seed; 0 if there are none."""
    means = []
    for counts in attachment_counts(source):
        scored_BF = counts.counts_BF[counts.counts_BF[:, 1] > 0]
        means.append(float(counts.score(scored_BF).mean()) if len(scored_BF) else 0.0)
    return means


def _parses(source: Source) -> list[Path]:
    from nmtcore.evaluation.scores import output_files

    return [output_files(Path(folder), source["split"]).parses for folder in source["files"]["parses"].values()]


def identity(source: Source) -> Sequence[Any]:
    """Return what tells the sentences of a test from others: the references; of parses the words."""
    from nmtcore.parquet import read_rows, row_count

    if "hypotheses" in source["files"]:
        return outputs(source).references
    rows = read_rows(Path(source["files"]["pairs"]), columns=["source_words"], stop=row_count(_parses(source)[0]))
    return [tuple(row["source_words"]) for row in rows]
