"""Trees on gold treebanks: the accuracy of induced trees, and productions (tran2018, Tables 3 and 4)."""

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
the next word. All columns of a treebank are computed from the same sentences.
"""


def _treebank_source(cell_files: CellFiles, file_type: str = "gold_parses", *, first: bool = False) -> Source:
    """Return the pairs and gold trees of the cell's treebank, and the parses or counts of its runs.

    Without runs, `sentences` is how many sentences all runs parse at this scale; None: all of the treebank.
    """
    cell = cell_files.cell
    if cell.reason:
        raise Unmeasurable(cell.reason)
    dataset = None if cell.ours is None else cell_files.project.dataset(cell.ours)
    if dataset is None or cell.test not in dataset.source_treebanks(GOLD):
        raise Unmeasurable(f"{cell.test or 'this'} is no treebank with gold trees of the source side")
    pairs = cell_files.project.layout.path("pairs", dataset=cell.ours, split=cell.test)
    trees = gold_trees(cell_files.project, dataset=cell.ours, split=cell.test)
    source: Source = {"files": {"pairs": pairs, "trees": trees}, "split": cell.test}
    if cell_files.runs is None:
        project = cell_files.project
        return {**source, "sentences": project.scale(project.settings.scale).sentences.of(cell.test)}
    if cell.test not in cell_files.run.gold:
        raise Unmeasurable(f"{cell.system} does not parse")
    split = {"split": cell.test} if file_type == "gold_parses" else {}
    source["files"][file_type] = cell_files.by_seed(file_type, first=first, **split)
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


def parse_files(source: Source) -> list[Path]:
    """List the parses of each seed."""
    from nmtcore.evaluation.scores import output_files

    return [output_files(Path(folder)).parses for folder in source["files"]["gold_parses"].values()]


def production_source(cell_files: CellFiles) -> Source:
    """Return the treebank, and the parses by the cell's runs or the name of the trees that need none."""
    cell = cell_files.cell
    if cell_files.runs is None and cell.system not in WITHOUT_RUNS and not cell.reason:
        raise Unmeasurable(f"{cell.system} has no trees")
    head, _, dependent = (cell.item or "").partition("_")
    source = _treebank_source(cell_files)
    if not dependent:
        raise Unmeasurable(f"{cell.item} is no production HEAD_DEPENDENT")
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


def without_shares(source: Source) -> str:
    """Say that trees have no dependents of the head tag; nothing if they have some."""
    return "" if tag_shares(source) else f"these trees have no dependents of {source['head']}"


@cache
def _shares_of_parses(parses: str, trees: str) -> dict[str, dict[str, float]]:
    from nmtcore.evaluation import productions

    return productions.production_shares(productions.parse_productions(Path(parses), Path(trees)))


@cache
def _shares_of_treebank(trees: str, stop: int | None) -> dict[str, Any]:
    from nmtcore.evaluation import productions

    counts = productions.treebank_productions(Path(trees), stop=stop)
    return {name: productions.production_shares(counted) for name, counted in counts.items()}
