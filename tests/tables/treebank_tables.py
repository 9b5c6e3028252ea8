"""A treebank and parses of it by runs, for tests of tables of trees."""

from pathlib import Path
from typing import Any

from pair_files import write_corpus

from nmtcore.annotation.shards import ANNOTATION_SCHEMA, annotation_row
from nmtcore.config.stages import ScoringSettings
from nmtcore.config.training import EvaluationSettings
from nmtcore.evaluation.scores import make_output_files, score_gold
from nmtcore.inference.schemas import Parse, write_parses
from nmtcore.layout import Layout
from nmtcore.parquet import write_rows
from nmtcore.syntax.annotation import Annotation, failed

WORDS = [["she", "saw", "dogs", "."], ["no", "tree"], ["go"], ["the", "old", "dog", "ran", "home", "very", "fast", "."]]
TREES = [[2, 0, 2, 2], None, [0], [3, 3, 4, 0, 4, 7, 4, 4]]
TAGS = [
    ["PRON", "VERB", "NOUN", "PUNCT"],
    None,
    ["VERB"],
    ["DET", "ADJ", "NOUN", "VERB", "ADV", "ADV", "ADV", "PUNCT"],
]
SHARED = [[2, 0, 1, 3], [0, 1], [0], [2, 3, 4, 0, 4, 5, 6, 4]]
HARD = [[2, 0, 2, 3], [2, 0], [0], [3, 3, 4, 0, 4, 7, 4, 4]]
UNTRAINED = [[0, 1, 2, 3], [0, 1], [0], [0, 1, 2, 3, 4, 5, 6, 7]]


class TreebankTable:
    """A results folder at the scale quick with the treebank gold_bank of the data set `d`, and plans of its tables."""

    def __init__(self, folder: Path) -> None:
        self.layout = Layout(results=str(folder / "results"), scales=("quick",))
        self.seeds: dict[str, list[int]] = {}
        self.folders: dict[str, dict[str, dict[str, str]]] = {}
        names = {"dataset": "d", "split": "gold_bank"}
        self.pairs = write_corpus(Path(self.layout.path("pairs", **names)), WORDS)
        self.trees = Path(self.layout.path("annotation", **names, annotator="gold", side="source"))
        self.treebank = {"pairs": str(self.pairs), "trees": str(self.trees)}
        annotations = [
            failed("too hard") if heads is None else Annotation(head=heads, upos=tags, deprel=["x"] * len(heads))
            for heads, tags in zip(TREES, TAGS, strict=True)
        ]
        write_rows(self.trees, ANNOTATION_SCHEMA, map(annotation_row, range(len(TREES)), annotations))

    def write_run(self, system: str, *seeds: list[list[int]], untrained: list[list[int]] = UNTRAINED) -> None:
        """Write the parses of each seed, and their counts."""
        self.folders[system] = {"gold_parses": {}, "gold_counts": {}}
        self.seeds[system] = list(range(1, len(seeds) + 1))
        inputs = {"corpora": {"gold_bank": self.pairs}, "trees": {"gold_bank": self.trees}}
        splits = {"splits": ("gold_bank",), "parsed": ("gold_bank",)}
        for seed, trees in zip(self.seeds[system], seeds, strict=True):
            run = {"scale": "quick", "dataset": "d", "system": system, "seed": seed}
            folder = Path(self.layout.path("gold_parses", **run, split="gold_bank"))
            files = make_output_files(folder)
            for path, own in ((files.parses, trees), (files.untrained_parses, untrained)):
                write_parses(path, range(len(own)), [Parse(argmax=heads, one_root=heads) for heads in own])
            settings = ScoringSettings(**run, **splits, evaluation=EvaluationSettings(), trees="induced")
            outputs = {key: Path(self.layout.path(f"gold_{key}", **run)) for key in ("scores", "counts")}
            score_gold(settings, parses={"gold_bank": folder}, **inputs, **outputs)
            for name, path in (("gold_parses", folder), ("gold_counts", outputs["counts"])):
                self.folders[system][name][str(seed)] = str(path)

    def induction(self, system: str, measure: str) -> dict[str, Any]:
        """Return the source of a cell: the counts of a system's trees, or a baseline."""
        source = {"split": "gold_bank", "column": measure}
        if system in self.folders:
            return {**source, "files": {"counts": self.folders[system]["gold_counts"]}}
        return {**source, "files": self.treebank, "sentences": None, "baseline": system}

    def production(self, system: str, head: str, dependent: str) -> dict[str, Any]:
        """Return the source of a cell: the trees of a system, of the treebank (gold) or chains (left)."""
        own = {"split": "gold_bank", "sentences": None, "head": head, "dependent": dependent}
        if system not in self.folders:
            return {**own, "files": self.treebank, "trees": system}
        return {**own, "files": self.treebank | {"gold_parses": self.folders[system]["gold_parses"]}, "trees": None}

    def agreement(self, system: str, other: str) -> dict[str, Any]:
        """Return the source of a cell: the trees of a system, and those of another one or of chains."""
        files = self.treebank | {"gold_parses": self.folders[system]["gold_parses"]}
        if other in self.folders:
            files, other = files | {"other_parses": self.folders[other]["gold_parses"]}, ""
        return {"files": files, "split": "gold_bank", "sentences": None, "other": other}


def right_words(trees: list[list[int] | None], *, undirected: bool = False) -> tuple[int, int]:
    """Count the right and all scored words of the treebank by plain loops: no punctuation, no root."""
    right = words = 0
    for gold, own, tags in zip(TREES, trees, TAGS, strict=True):
        for word, head in enumerate(gold or (), start=1):
            if head and tags[word - 1] != "PUNCT":
                words += 1
                right += own[word - 1] == head or (undirected and own[head - 1] == word)
    return right, words
