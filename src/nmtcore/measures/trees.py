"""Trees on gold treebanks: the accuracy of induced trees, and productions (tran2018, Tables 3 and 4)."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmtcore.config.datasets import GOLD
from nmtcore.errors import UserError
from nmtcore.layout import file_name
from nmtcore.measures.place import Place, Source
from nmtcore.measures.scores import stored_counts
from nmtcore.planning.runs import gold_files

if TYPE_CHECKING:
    from nmtcore.evaluation.counts import SentenceCounts

UNTRAINED = ", untrained"
"""Ending of rows of the same model with its initial weights."""

BRANCHING = ("left", "random", "right")
"""The baselines of induction, which know no syntax."""

WITHOUT_RUNS = ("gold", "left")
"""The names of trees whose productions need no run: those of the treebank, and chains to the next word."""

INDUCTION_NOTES = """
Percentages of the words other than punctuation whose gold head is not the root. left: the head is the next word; right:
the previous one; random: the mean of 100 random trees per sentence; untrained: the same model with its initial weights.
"""
PRODUCTION_NOTES = """
VERB_NOUN: the percentage of the dependents of verbs that are nouns, without punctuation and roots. left: the head is
the next word. All columns of a treebank are computed from the same sentences.
"""


def _treebank_source(place: Place, file_type: str = "gold_parses", *, first: bool = False) -> Source | str:
    """Return the pairs and gold trees of the cell's treebank, and the parses or counts of its runs, if it has some."""
    cell = place.cell
    if cell.reason:
        return cell.reason
    dataset = None if cell.dataset is None else place.project.dataset(cell.dataset)
    if dataset is None or cell.split not in dataset.source_treebanks(GOLD):
        return f"{cell.split or 'this'} is no treebank with gold trees of the source side"
    pairs, trees = gold_files(place.project, dataset=cell.dataset, split=cell.split)
    files: dict[str, Any] = {"pairs": pairs, "trees": trees}
    if place.runs is not None:
        if cell.split not in place.run.gold:
            return f"{cell.system} does not parse"
        split = {"split": cell.split} if file_type == "gold_parses" else {}
        files[file_type] = place.by_seed(file_type, first=first, **split)
    return {"files": files, "split": cell.split}


def trees_source(place: Place) -> Source | str:
    """Return the treebank and the parses by the first seed, of a figure of trees."""
    return (
        _treebank_source(place, first=True) if place.runs or place.cell.reason else f"{place.cell.system} is no system"
    )


def induction_source(place: Place) -> Source | str:
    """Return the treebank, and the counts of the cell's runs or the name of the baseline whose trees are scored."""
    cell = place.cell
    if place.runs is None and cell.system not in BRANCHING and not cell.reason:
        return f"{cell.system} has no trees"
    source = _treebank_source(place, "gold_counts")
    if isinstance(source, str):
        return source
    measure = {"undirected": "undirected_gold_edges"}.get(cell.metric, cell.metric)
    if place.runs is None:
        return {**source, "column": measure, "baseline": cell.system}
    column = f"untrained_{measure}" if cell.row.endswith(UNTRAINED) else measure
    return {"files": {"counts": source["files"]["gold_counts"]}, "split": cell.split, "column": column}


def treebank_counts(source: Source) -> "list[SentenceCounts]":
    """Return the counts of each seed, one entry for a baseline. Raises `UserError` if runs parsed other sentences."""
    if "baseline" not in source:
        return stored_counts(source)
    files = source["files"]
    return [
        _baseline_counts(files["pairs"], files["trees"], sentence_count(source))[source["baseline"]][source["column"]]
    ]


@cache
def _baseline_counts(pairs: str, trees: str, sentences: int) -> dict[str, Any]:
    from nmtcore.evaluation import induction
    from nmtcore.evaluation.scores import read_gold_trees

    gold = read_gold_trees(Path(pairs), Path(trees), sentences)
    return {name: induction.induction_counts(gold, own) for name, own in induction.baseline_trees(gold).items()}


def without_words(source: Source) -> str:
    """Say that no word of a treebank is scored, which is the same for all trees; nothing if some are."""
    return "" if treebank_counts(source)[0].counts_BF[:, 1].any() else f"{source['split']} has no word to score"


def parse_files(source: Source) -> list[Path]:
    """List the parses of each seed."""
    from nmtcore.evaluation.scores import output_files

    return [output_files(Path(folder)).parses for folder in source["files"]["gold_parses"].values()]


def sentence_count(source: Source) -> int:
    """Return the number of sentences that all runs parse of a treebank, or of all its sentences if there are no runs.

    Raises `UserError` if the numbers differ.
    """
    from nmtcore.evaluation.scores import output_files
    from nmtcore.parquet import row_count

    folders = {**source["files"].get("compared", {}), **source["files"].get("gold_parses", {})}
    split, counts = source["split"], {}
    for folder in map(Path, dict.fromkeys(folders.values())):
        counted = folder / file_name("split_counts", split=split)
        path = counted if counted.exists() else output_files(folder).parses
        counts[path] = row_count(path)
    if len(set(counts.values())) > 1:
        (first, own), *others = counts.items()
        path, other = next((path, count) for path, count in others if count != own)
        raise UserError(
            f"{first} has {own} sentences and {path} {other}, so that they cannot be compared: delete the folder of "
            "the older one and run the workflow again."
        )
    return next(iter(counts.values())) if counts else row_count(Path(source["files"]["trees"]))


def production_source(place: Place) -> Source | str:
    """Return the treebank, and the parses by the cell's runs or the name of the trees that need none."""
    cell = place.cell
    if place.runs is None and cell.system not in WITHOUT_RUNS and not cell.reason:
        return f"{cell.system} has no trees"
    head, _, dependent = (cell.item or "").partition("_")
    source = _treebank_source(place)
    if isinstance(source, str):
        return source
    if not dependent:
        return f"{cell.item} is no production HEAD_DEPENDENT"
    return {**source, "head": head, "dependent": dependent, "trees": None if place.runs else cell.system}


def tag_shares(source: Source) -> list[float]:
    """Return the share of a production for each seed; none if the trees have no dependents of the head tag."""
    from nmtcore.evaluation.productions import shares_by_seed

    trees = source["files"]["trees"]
    if source["trees"] is None:
        shares = [_shares_of_parses(str(path), trees) for path in parse_files(source)]
    else:
        shares = [_shares_of_treebank(trees, sentence_count(source))[source["trees"]]]
    return shares_by_seed(shares, head=source["head"], dependent=source["dependent"])


@cache
def _shares_of_parses(parses: str, trees: str) -> dict[str, dict[str, float]]:
    from nmtcore.evaluation import productions

    return productions.production_shares(productions.parse_productions(Path(parses), Path(trees)))


@cache
def _shares_of_treebank(trees: str, stop: int) -> dict[str, Any]:
    from nmtcore.evaluation import productions

    counts = productions.treebank_productions(Path(trees), stop=stop)
    return {name: productions.production_shares(own) for name, own in counts.items()}
