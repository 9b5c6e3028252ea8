"""Scores of translations, and of heads that are compared with trees: what was counted in each sentence."""

from pathlib import Path
from typing import TYPE_CHECKING

from nmtcore.config.datasets import GOLD
from nmtcore.config.paper_tables import SEGMENT_MEASURES
from nmtcore.errors import UserError
from nmtcore.layout import file_name
from nmtcore.measures.place import Place, Source

if TYPE_CHECKING:
    from nmtcore.evaluation.counts import SentenceCounts


def translations_source(place: Place, measure: str) -> Source | str:
    """Return the counts of the translations by the cell's runs; a row that is no system of ours has none."""
    if place.runs is None or place.cell.split is None:
        return place.cell.reason
    files = {"counts": place.by_seed("comet_counts" if measure in SEGMENT_MEASURES else "counts")}
    return {"files": files, "split": place.cell.split, "column": measure}


def attachment_source(place: Place) -> Source | str:
    """Return the counts of the parses by the cell's runs; nothing if they do not parse the split."""
    cell, run = place.cell, place.run
    if run is None or cell.split is None:
        return cell.reason
    gold = cell.split.startswith(GOLD)
    if cell.split not in (run.gold if gold else run.parsed_tests):
        return ""
    files = {"counts": place.by_seed("gold_counts" if gold else "counts")}
    return {"files": files, "split": cell.split, "column": "uas"}


def stored_counts(source: Source) -> "list[SentenceCounts]":
    """Read the counts of each seed. Raises `UserError` if there are none by this measure, or if the tests differ."""
    from nmtcore.evaluation.counts import read_counts
    from nmtcore.evaluation.metrics import score_of

    paths = [
        Path(folder) / file_name("split_counts", split=source["split"]) for folder in source["files"]["counts"].values()
    ]
    counts = [read_counts(path, source["column"], score_of(source["column"])) for path in paths]
    for path, own in zip(paths, counts, strict=True):
        if own.test != counts[0].test:
            raise UserError(
                f"{paths[0]} and {path} are of different sentences, so that they cannot be compared: delete the "
                "results of the older run and run the workflow again."
            )
    return counts


def sentence_means(source: Source) -> list[float]:
    """Return the mean of the percentages of the sentences with words, for each seed; 0 if there are none."""
    means = []
    for counts in stored_counts(source):
        scored_BF = counts.counts_BF[counts.counts_BF[:, 1] > 0]
        means.append(float(counts.score(scored_BF).mean()) if len(scored_BF) else 0.0)
    return means
