"""Productions of gold and predicted trees per head tag, as one table and one JSON."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any

from nmtcore.evaluation.productions import (
    Productions,
    parse_productions,
    production_shares,
    shares_by_seed,
    treebank_productions,
)
from nmtcore.evaluation.scores import output_files
from nmtcore.files import write_json
from nmtcore.layout import Layout
from nmtcore.parquet import row_count
from nmtcore.reporting.pages import write_page
from nmtcore.reporting.table import Page, make_table, note, number_columns, text_columns

SHOWN = (
    *(("VERB", tag) for tag in ("NOUN", "PRON", "ADV", "VERB")),
    *(("NOUN", tag) for tag in ("DET", "ADP", "NOUN", "ADJ")),
)
"""The productions in the table, as (head tag, dependent's tag); the JSON has all."""

_NOTES = """
Scale {scale}{seeds}. Percentages of the dependents of a head tag that have the other tag. Punctuation is not counted
as a dependent, nor is the root, which has no head. gold: the treebank's trees; left: the head is the next word,
punctuation included. Systems: the trees with one root that they predict. All rows of a treebank are computed from the
same sentences.
"""


def write_production_table(
    parses: Sequence[Path], trees: Sequence[Path], *, layout: Layout, scale: str, json: Path, table: Path
) -> str:
    """Tabulate productions, as JSON and Markdown; return the Markdown.

    Args:
        parses: `{dataset}/{system}/seed{seed}/gold`, the parses of gold treebanks of every run, at one scale.
        trees: the gold annotation of the source side of every treebank; the treebanks of each run are among them.
        layout: names the data set, system, seed and split of each path.
        scale: name of the scale.
        json: output, a list with one entry per treebank and kind of trees.
        table: output as Markdown.
    """
    folders = {
        tuple(layout.names(path, "gold_parses")[key] for key in ("dataset", "system", "seed")): path for path in parses
    }
    entries = []
    for path in trees:
        names = layout.names(path, "annotation")
        runs = {key[1:]: folder for key, folder in folders.items() if key[0] == names["dataset"]}
        treebank = {"dataset": names["dataset"], "treebank": names["split"], "scale": scale}
        entries += [treebank | entry for entry in _treebank_entries(path, names["split"], runs)]
    write_json(json, entries)
    shares = number_columns(*(f"{head} → {tag}" for head, tag in SHOWN), digits=1)
    productions = make_table(
        [*text_columns("data set", "treebank", "trees"), *shares], [_row(entry) for entry in entries]
    )
    seeds = sorted({seed for entry in entries for seed in entry["seeds"]})
    over = f", seeds {', '.join(map(str, seeds))}, mean over seeds" if seeds else ""
    notes = note(_NOTES.format(scale=scale, seeds=over))
    return write_page(Page(title="Productions", blocks=(productions, notes)), table)


def _treebank_entries(trees: Path, split: str, runs: Mapping[tuple[str, str], Path]) -> Iterator[dict[str, Any]]:
    """Yield the entries of a treebank: gold and left, then all systems, with parses in `runs` by (system, seed)."""
    files = {key: output_files(folder, split).parses for key, folder in runs.items()}
    sentences = min((row_count(file) for file in files.values()), default=None)
    for name, productions in treebank_productions(trees, stop=sentences).items():
        yield _entry(name, None, [], [productions])
    for system, group in groupby(files.items(), key=lambda item: item[0][0]):
        seeds, counts = [], []
        for (_, seed), file in group:
            seeds.append(int(seed))
            counts.append(parse_productions(file, trees))
        yield _entry(system, system, seeds, counts)


def _entry(name: str, system: str | None, seeds: Sequence[int], counts: Iterable[Productions]) -> dict[str, Any]:
    """Average shares over seeds; a production that a seed lacks has share 0 if the seed has the head tag."""
    shares = [production_shares(productions) for productions in counts]
    heads = sorted({head for by_head in shares for head in by_head})
    return {
        "trees": name,
        "system": system,
        "seeds": list(seeds),
        "shares": {head: _mean(shares, head) for head in heads},
    }


def _mean(shares: Sequence[Mapping[str, Mapping[str, float]]], head: str) -> dict[str, float]:
    tags = sorted({tag for by_head in shares for tag in by_head.get(head, ())})
    return {tag: fmean(shares_by_seed(shares, head=head, dependent=tag)) for tag in tags}


def _row(entry: Mapping[str, Any]) -> list[Any]:
    """Make a row; the cells of a head tag without dependents are empty."""
    cells = [entry["shares"][head].get(tag, 0.0) if head in entry["shares"] else None for head, tag in SHOWN]
    return [entry["dataset"], entry["treebank"], entry["trees"], *cells]
