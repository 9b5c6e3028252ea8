"""Productions: how often words of one universal tag depend on words of another (tran2018, Table 4)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from nmtcore.evaluation.attachment import is_punctuation
from nmtcore.evaluation.induction import left_branching
from nmtcore.parquet import read_rows
from nmtcore.syntax.trees import HEAD_OF_ROOT

Productions = dict[str, dict[str, int]]
"""Numbers of dependents, by the head's tag and the dependent's tag."""


def count_productions(trees: Iterable[tuple[Sequence[int], Sequence[str]]]) -> Productions:
    """Count the tags of dependents by the tag of their head, in trees given as heads (1-based, 0 = root) and tags.

    Words without a head, the roots, are not counted, nor is punctuation as a dependent.
    """
    counts: dict[str, Counter[str]] = {}
    for heads, tags in trees:
        for head, tag, mark in zip(heads, tags, is_punctuation(tags, tags), strict=True):
            if head != HEAD_OF_ROOT and not mark:
                counts.setdefault(tags[head - 1], Counter())[tag] += 1
    return {head: dict(sorted(dependents.items())) for head, dependents in sorted(counts.items())}


def production_shares(productions: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, float]]:
    """Return the percentage of each tag among the dependents of each head tag and, by "", among all their heads."""
    heads = {head: sum(dependents.values()) for head, dependents in productions.items()}
    return {
        head: {tag: 100 * count / sum(counts.values()) for tag, count in counts.items()}
        for head, counts in {**productions, **({"": heads} if heads else {})}.items()
    }


def shares_by_seed(shares: Sequence[Mapping[str, Mapping[str, float]]], *, head: str, dependent: str) -> list[float]:
    """List the share of a production by each seed's trees (`production_shares`), in percent.

    A seed whose trees lack the production has share 0; one without any dependents of the head tag is left out.
    """
    return [by_head[head].get(dependent, 0.0) for by_head in shares if head in by_head]


def treebank_productions(trees: Path, *, stop: int | None = None) -> dict[str, Productions]:
    """Count the productions of the first `stop` trees of a treebank: `gold`, and `left` for chains to the next word.

    Sentences without heads or tags are left out.
    """
    gold = [tree for tree in _tagged_trees(trees, stop) if tree is not None]
    chains = ((left_branching(len(tags)).tolist(), tags) for _, tags in gold)
    return {"gold": count_productions(gold), "left": count_productions(chains)}


def parse_productions(parses: Path, trees: Path) -> Productions:
    """Count the productions of a file of parses, as trees with one root, with the tags of the treebank's `trees`.

    Sentences without gold heads or tags are left out, as in `treebank_productions`.
    """
    predicted = [row["one_root"] for row in read_rows(parses, columns=["one_root"])]
    gold = _tagged_trees(trees, len(predicted))
    return count_productions((heads, tree[1]) for heads, tree in zip(predicted, gold, strict=True) if tree is not None)


def _tagged_trees(trees: Path, stop: int | None) -> Iterator[tuple[list[int], list[str]] | None]:
    """Yield the heads and tags of the first sentences; None for one that lacks some of them."""
    for row in read_rows(trees, columns=["head", "upos"], stop=stop):
        yield None if row["head"] is None or row["upos"] is None else (row["head"], row["upos"])
