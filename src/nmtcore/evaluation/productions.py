"""Productions: how often words of one universal tag depend on words of another (tran2018, Table 4)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from nmtcore.errors import UserError
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
    """Return the percentage of each tag among the dependents of each head tag."""
    return {
        head: {tag: 100 * count / sum(dependents.values()) for tag, count in dependents.items()}
        for head, dependents in productions.items()
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
    gold = [row for row in read_rows(trees, columns=["head", "upos"], stop=stop) if _is_complete(row)]
    chains = ((left_branching(len(row["upos"])).tolist(), row["upos"]) for row in gold)
    return {
        "gold": count_productions((row["head"], row["upos"]) for row in gold),
        "left": count_productions(chains),
    }


def parse_productions(parses: Path, trees: Path) -> Productions:
    """Count the productions of a file of parses, as trees with one root, with the tags of the treebank's `trees`.

    Sentences without gold heads or tags are left out, as in `treebank_productions`. Raises `UserError` if the files do
    not fit.
    """
    predicted = [row["one_root"] for row in read_rows(parses, columns=["one_root"])]
    rows = list(read_rows(trees, columns=["head", "upos"], stop=len(predicted)))
    advice = "delete the parses, and parse the treebank again."
    if len(rows) != len(predicted):
        raise UserError(f"{parses} has {len(predicted)} sentences, but {trees} only {len(rows)}: {advice}")
    for number, (heads, row) in enumerate(zip(predicted, rows, strict=True)):
        if heads is None or (_is_complete(row) and len(heads) != len(row["upos"])):
            raise UserError(f"{parses}, row {number} (from 0): its tree does not fit the sentence in {trees}: {advice}")
    return count_productions(
        (heads, row["upos"]) for heads, row in zip(predicted, rows, strict=True) if _is_complete(row)
    )


def _is_complete(row: Mapping[str, Sequence[str] | None]) -> bool:
    return row["head"] is not None and row["upos"] is not None
