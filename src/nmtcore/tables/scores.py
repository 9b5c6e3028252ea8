"""Scores of translations, and of heads that are compared with trees: what was counted in each sentence.

Shapes: B sentences, F features.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from nmtcore.config.datasets import GOLD
from nmtcore.errors import UserError
from nmtcore.layout import file_name
from nmtcore.tables.cells import CellFiles, Source, Unmeasurable

if TYPE_CHECKING:
    from nmtcore.evaluation.counts import SentenceCounts


UAS_NOTES = """
UAS: of the most probable heads or, if trees are induced, of the trees, compared with the parser's trees or, on a split
gold_..., with a treebank's. UAS of trees: of the maximum spanning trees of a system that learns from trees. Precision
of chains: of the most probable heads of a system that learns that the head is the previous word.
"""


def translations_source(cell_files: CellFiles, *, measure: str, metric: str | None) -> Source:
    """Return the counts of the translations by the cell's runs; a row that is no system of ours has none."""
    if cell_files.runs is None or cell_files.cell.test is None:
        raise Unmeasurable(cell_files.cell.reason)
    counts = cell_files.by_seed("metric_counts", metric=metric) if metric else cell_files.by_seed("counts")
    return {"files": {"counts": counts}, "split": cell_files.cell.test, "column": measure}


def attachment_source(cell_files: CellFiles, *, chains: bool = False) -> Source:
    """Return the counts of the parses by the cell's runs; nothing if they do not parse the split.

    With `chains`, these are runs that learn chains, else those that do not.
    """
    cell, run = cell_files.cell, cell_files.run
    gold = (cell.test or "").startswith(GOLD)
    is_chain = run.tree_comparison == "chain"
    if is_chain != chains or cell.test not in (run.gold if gold else run.parsed_tests):
        raise Unmeasurable
    files = {"counts": cell_files.by_seed("gold_counts" if gold else "counts")}
    return {"files": files, "split": cell.test, "column": "tree_uas" if run.tree_comparison == "induced" else "uas"}


def tree_attachment_source(cell_files: CellFiles) -> Source:
    """Return the scores of the cell's runs, if `attachment_source` counts heads that are not those of their trees."""
    source = attachment_source(cell_files)
    if cell_files.run.tree_comparison != "supervised":
        raise Unmeasurable
    gold = source["split"].startswith(GOLD)
    files = {"scores": cell_files.by_seed("gold_scores" if gold else "scores")}
    return {"files": files, "split": source["split"], "score": "gold.uas" if gold else "uas"}


def stored_counts(source: Source) -> "list[SentenceCounts]":
    """Read the counts of each seed. Raises `UserError` if there are none by this measure, or if the tests differ."""
    from nmtcore.evaluation.counts import read_counts
    from nmtcore.evaluation.metrics import score_of

    paths = [
        Path(folder) / file_name("split_counts", split=source["split"]) for folder in source["files"]["counts"].values()
    ]
    counts = [read_counts(path, source["column"], score_of(source["column"])) for path in paths]
    for path, of_seed in zip(paths, counts, strict=True):
        if of_seed.test != counts[0].test:
            raise UserError(
                f"{paths[0]} and {path} are of different sentences, so that they cannot be compared: delete the "
                "results of the older run and run the workflow again."
            )
    return counts


def spanning_tree_uas(source: Source) -> list[float]:
    """Return the UAS of the spanning trees of each seed; none if no word was compared."""
    from nmtcore.evaluation.attachment import scores_by_measure
    from nmtcore.files import explain_content, read_json

    values = []
    for path in map(Path, source["files"]["scores"].values()):
        with explain_content(path):
            values.append(scores_by_measure(read_json(path)[source["score"]][source["split"]])["tree_uas"]["uas"])
    return [value for value in values if value is not None]


def sentence_means(source: Source) -> list[float]:
    """Return the mean of the percentages of the sentences with words, for each seed; 0 if there are none."""
    means = []
    for counts in stored_counts(source):
        scored_BF = counts.counts_BF[counts.counts_BF[:, 1] > 0]
        means.append(float(counts.score(scored_BF).mean()) if len(scored_BF) else 0.0)
    return means
