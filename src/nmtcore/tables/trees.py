"""Trees on gold treebanks: the accuracy of induced trees, and productions (tran2018, Tables 3 and 4)."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmtcore.config.datasets import GOLD
from nmtcore.planning.inference import gold_trees
from nmtcore.tables.cells import CellFiles, Source, Unmeasurable
from nmtcore.tables.runs import stored_counts

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
the next word. All columns of a treebank are computed from the same sentences. Share of heads: the percentage of all
these dependents whose head has the tag. Distance from gold: the points between a percentage and that of the gold trees.
"""
AGREEMENT_NOTES = "Agreement: the percentage of words, without punctuation and roots, with the same head in both trees."


def _treebank_source(cell_files: CellFiles, file_type: str = "gold_parses", *, first: bool = False) -> Source:
    """Return the pairs and gold trees of the cell's treebank, and the parses or counts of its runs.

    `sentences` is how many sentences all runs parse at this scale; None: all of the treebank.
    """
    cell = cell_files.cell
    if cell.reason:
        raise Unmeasurable(cell.reason)
    dataset = None if cell.ours is None else cell_files.project.dataset(cell.ours)
    if dataset is None or cell.test not in dataset.source_treebanks(GOLD):
        raise Unmeasurable(f"{cell.test or 'this'} is no treebank with gold trees of the source side")
    pairs = cell_files.project.layout.path("pairs", dataset=cell.ours, split=cell.test)
    trees = gold_trees(cell_files.project, dataset=cell.ours, split=cell.test)
    sentences = cell_files.project.scale(cell_files.project.settings.scale).sentences.of(cell.test)
    source: Source = {"files": {"pairs": pairs, "trees": trees}, "split": cell.test, "sentences": sentences}
    if cell_files.runs is None:
        return source
    if cell.test not in cell_files.run.gold:
        raise Unmeasurable(f"{cell.system} does not parse")
    if file_type == "gold_parses":
        source["files"][file_type] = cell_files.made_by_models(file_type, first=first, split=cell.test)
    else:
        source["files"][file_type] = cell_files.by_seed(file_type, first=first)
    return source


def trees_source(cell_files: CellFiles) -> Source:
    """Return the treebank and the parses by the first seed, of a figure of trees."""
    if cell_files.runs is None and not cell_files.cell.reason:
        raise Unmeasurable(f"{cell_files.cell.system} is no system")
    return _treebank_source(cell_files, first=True)


def induction_source(cell_files: CellFiles) -> Source:
    """Return the treebank, and the counts of the cell's runs or the name of the baseline whose trees are scored."""
    cell = cell_files.cell
    if cell_files.runs is None and cell.system not in BRANCHING and not cell.reason:
        raise Unmeasurable(f"{cell.system} has no trees")
    source = _treebank_source(cell_files, "gold_counts")
    measure = {"undirected": "undirected_gold_edges"}.get(cell.metric, cell.metric)
    if cell_files.runs is None:
        return {**source, "column": measure, "baseline": cell.system}
    column = f"untrained_{measure}" if cell.row.endswith(UNTRAINED) else measure
    return {"files": {"counts": source["files"]["gold_counts"]}, "split": cell.test, "column": column}


def treebank_counts(source: Source) -> "list[SentenceCounts]":
    """Return the counts of each seed, one entry for a baseline."""
    if "baseline" not in source:
        return stored_counts(source)
    files = source["files"]
    counts = _baseline_counts(files["pairs"], files["trees"], source["sentences"])
    return [counts[source["baseline"]][source["column"]]]


@cache
def _baseline_counts(pairs: str, trees: str, sentences: int | None) -> dict[str, Any]:
    from nmtcore.evaluation import induction
    from nmtcore.evaluation.scores import read_gold_trees

    gold = read_gold_trees(Path(pairs), Path(trees), sentences)
    return {name: induction.induction_counts(gold, heads) for name, heads in induction.baseline_trees(gold).items()}


def without_words(source: Source) -> str:
    """Say that no word of a treebank is scored, which is the same for all trees; nothing if some are."""
    return "" if treebank_counts(source)[0].counts_BF[:, 1].any() else f"{source['split']} has no word to score"


def agreement_source(cell_files: CellFiles) -> Source:
    """Return the treebank, the parses by the cell's runs, and those by the system, or the baseline, that it names."""
    cell, runs, other = cell_files.cell, cell_files.runs, cell_files.baseline
    if runs is None and not cell.reason:
        raise Unmeasurable(f"{cell.system} has no trees")
    source = _treebank_source(cell_files)
    if cell.item in BRANCHING:
        return {**source, "other": cell.item}
    if other is None or not {*runs.seeds} <= {*other.seeds}:
        raise Unmeasurable(f"{cell.item} has no trees of the seeds of {cell.system}")
    theirs = cell_files._replace(runs=replace(other, seeds=runs.seeds), cell=replace(cell, system=cell.item))
    files = {**source["files"], "other_parses": _treebank_source(theirs)["files"]["gold_parses"]}
    return {**source, "files": files, "other": ""}


def agreement_counts(source: Source) -> "list[SentenceCounts]":
    """Count the words whose head is the same in the trees of each seed and in the other trees."""
    from nmtcore.evaluation import induction
    from nmtcore.evaluation.scores import read_gold_trees

    files, counts = source["files"], []
    gold = read_gold_trees(Path(files["pairs"]), Path(files["trees"]), source["sentences"])
    for seed, folder in files["gold_parses"].items():
        made = [tree and tree._replace(heads_W=heads) for tree, (heads,) in zip(gold, _parses(folder), strict=True)]
        other = source["other"]
        trees = induction.baseline_trees(gold)[other] if other else _parses(files["other_parses"][seed])
        same = induction.induction_counts(made, trees)["directed"]
        counts.append(replace(same, signature="agreement of trees", test=induction.checksum_of_treebank(gold)))
    return counts


def _parses(folder: str) -> Iterator[Any]:
    """Read the trees with one root of a folder of parses: (1, W) for each sentence."""
    from nmtcore.evaluation.induction import single_trees
    from nmtcore.evaluation.scores import output_files
    from nmtcore.parquet import read_rows

    return single_trees(row["one_root"] for row in read_rows(output_files(Path(folder)).parses, columns=["one_root"]))


def parse_files(source: Source) -> list[Path]:
    """List the parses of each seed."""
    from nmtcore.evaluation.scores import output_files

    return [output_files(Path(folder)).parses for folder in source["files"]["gold_parses"].values()]


def production_source(cell_files: CellFiles) -> Source:
    """Return the treebank, and the parses by the cell's runs or the name of the trees that need none."""
    cell = cell_files.cell
    if cell_files.runs is None and cell.system not in WITHOUT_RUNS and not cell.reason:
        raise Unmeasurable(f"{cell.system} has no trees")
    of_heads = cell.measure == "head_share"
    head, _, dependent = ("", "", cell.item) if of_heads else (cell.item or "").partition("_")
    source = _treebank_source(cell_files)
    if not dependent:
        raise Unmeasurable(f"{cell.item} is no {'tag' if of_heads else 'production HEAD_DEPENDENT'}")
    return {**source, "head": head, "dependent": dependent, "trees": None if cell_files.runs else cell.system}


def tag_shares(source: Source) -> list[float]:
    """Return the share of a production for each seed; none if the trees have no dependents of the head tag."""
    from nmtcore.evaluation.productions import shares_by_seed

    trees = source["files"]["trees"]
    if source["trees"] is None:
        shares = [_shares_of_parses(str(path), trees) for path in parse_files(source)]
    else:
        shares = [_shares_of_treebank(trees, source["sentences"])[source["trees"]]]
    return shares_by_seed(shares, head=source["head"], dependent=source["dependent"])


def gold_distances(source: Source) -> list[float]:
    """Return the points between the share of a production and that of the gold trees, for each seed."""
    gold = tag_shares({**source, "trees": "gold"})
    return [abs(share - gold[0]) for share in tag_shares(source)] if gold else []


def without_shares(source: Source) -> str:
    """Say that trees have no dependents of the head tag; nothing if they have some."""
    return "" if tag_shares(source) else f"these trees have no dependents of {source['head'] or 'any word'}"


@cache
def _shares_of_parses(parses: str, trees: str) -> dict[str, dict[str, float]]:
    from nmtcore.evaluation import productions

    return productions.production_shares(productions.parse_productions(Path(parses), Path(trees)))


@cache
def _shares_of_treebank(trees: str, stop: int | None) -> dict[str, Any]:
    from nmtcore.evaluation import productions

    counts = productions.treebank_productions(Path(trees), stop=stop)
    return {name: productions.production_shares(counted) for name, counted in counts.items()}
