"""Gold and induced trees of one sentence of a treebank: their data and what is drawn (tran2018, Figure 5)."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.errors import UserError
from nmtcore.evaluation.scores import output_files
from nmtcore.layout import Layout
from nmtcore.parquet import read_rows
from nmtcore.reporting.attention_maps_reader import run_names
from nmtcore.reporting.sentences import choose_sentence
from nmtcore.reporting.tree_drawing import DrawnTree


def induced_trees_entry(
    parses: Sequence[Path],
    *,
    split: str,
    pairs: Path,
    trees: Path,
    layout: Layout,
    ids: Collection[int] | None = None,
) -> dict[str, Any]:
    """Read what the figure shows: the gold tree of a sentence (`choose_sentence`), and the trees of runs that parse.

    Args:
        parses: `{dataset}/{system}/seed{seed}/gold` of every run, of one data set and scale.
        split: the treebank, a split gold_NAME.
        pairs: the sentences of the treebank.
        trees: the gold trees of its source side.
        layout: names the data set, system and seed of each path.
        ids: the sentences to choose from; all by default.

    Returns:
        `split`, `sentence` with its gold tree, `punctuation` (a mark per word) and `runs`. Each run has its names and
        `heads` (1-based, 0 = root): the tree with one root, or for systems without a root the likeliest head of each
        word.

    Raises:
        UserError: if there is no such sentence, or if a run lacks its parse.
    """
    sentence = choose_sentence(pairs, trees, ids=ids)
    runs = []
    for folder in parses:
        path = output_files(folder, split).parses
        rows = read_rows(path, columns=["id", "argmax", "one_root"])
        row = next((row for row in rows if row["id"] == sentence.id), None)
        if row is None:
            raise UserError(
                f"{path} has no sentence with id {sentence.id}: delete {folder} and run the workflow again."
            )
        heads = row["argmax"] if row["one_root"] is None else row["one_root"]
        if len(heads) != len(sentence.words):
            raise UserError(
                f"{path}: the sentence with id {sentence.id} has {len(heads)} heads for {len(sentence.words)} words: "
                f"delete {folder} and run the workflow again."
            )
        runs.append({**run_names(folder, "gold_parses", layout), "heads": heads})
    return {"split": split, "sentence": sentence.as_json(), "punctuation": sentence.punctuation, "runs": runs}


def drawn_trees(entry: Mapping[str, Any]) -> list[DrawnTree]:
    """List the trees of a result of `induced_trees_entry`: the gold tree, and that of each run.

    As in the paper, punctuation and roots are left out.
    """
    sentence = entry["sentence"]
    common = {"words": sentence["words"], "ignored": entry["punctuation"], "roots": False}
    trees = [DrawnTree("gold", heads=sentence["heads"], labels=sentence["labels"], **common)]
    return trees + [
        DrawnTree(f"{run['system']}, seed {run['seed']}, scale {run['scale']}", heads=run["heads"], **common)
        for run in entry["runs"]
    ]
