"""Plans of tables of trees, with a treebank and parses of it by runs, for tests of their kinds."""

from pathlib import Path

import numpy as np
from pair_files import write_corpus

from nmtcore.annotation.shards import ANNOTATION_SCHEMA, annotation_row
from nmtcore.config.datasets import EvaluationSettings
from nmtcore.config.planned_tables import (
    PlannedCell,
    PlannedClaim,
    PlannedColumn,
    PlannedRow,
    PlannedRuns,
    PlannedTable,
)
from nmtcore.config.stages import ScoringSettings
from nmtcore.evaluation.scores import score_gold
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
        self.facts: dict[str, dict] = {"treebanks": {}}
        self.pairs, self.trees = self.write_treebank("d")
        self.runs: dict[str, PlannedRuns] = {}

    def write_treebank(self, dataset: str, trees: list[list[int] | None] = TREES) -> tuple[Path, Path]:
        """Write gold_bank of a data set; return its pairs and its trees."""
        names = {"dataset": dataset, "split": "gold_bank"}
        pairs = write_corpus(Path(self.layout.path("pairs", **names)), WORDS, ids=range(len(WORDS)))
        path = Path(self.layout.path("annotation", **names, annotator="gold", side="source"))
        annotations = [
            failed("too hard") if heads is None else Annotation(head=heads, upos=tags, deprel=["x"] * len(heads))
            for heads, tags in zip(trees, TAGS, strict=True)
        ]
        write_rows(path, ANNOTATION_SCHEMA, [annotation_row(i, own) for i, own in enumerate(annotations)])
        self.facts["treebanks"][dataset] = {"gold_bank": {"pairs": str(pairs), "trees": str(path)}}
        return pairs, path

    def write_run(
        self, system: str, *seeds: list[list[int]], untrained: list[list[int]] = UNTRAINED, dataset: str = "d"
    ) -> str:
        """Write the parses of each seed; return the key of the runs."""
        for seed, trees in enumerate(seeds, start=1):
            run = {"scale": "quick", "dataset": dataset, "system": system, "seed": seed}
            folder = Path(self.layout.path("gold_parses", **run))
            for name, own in (("gold_bank", trees), ("gold_bank.untrained", untrained)):
                parses = [Parse(argmax=np.array(heads), one_root=np.array(heads)) for heads in own]
                write_parses(folder / f"{name}.parquet", np.arange(len(own)), parses)
            splits = {"splits": ("gold_bank",), "parsed": ("gold_bank",)}
            settings = ScoringSettings(**run, **splits, evaluation=EvaluationSettings(), trees="induced")
            files = {key: Path(path) for key, path in self.facts["treebanks"][dataset]["gold_bank"].items()}
            outputs = {key: Path(self.layout.path(f"gold_{key}", **run)) for key in ("scores", "counts")}
            inputs = {"corpora": {"gold_bank": files["pairs"]}, "trees": {"gold_bank": files["trees"]}}
            score_gold(settings, parses=folder, **inputs, **outputs)
        key = f"{dataset}/{system}"
        self.runs[key] = PlannedRuns(dataset=dataset, system=system, seeds=tuple(range(1, len(seeds) + 1)))
        return key

    def cell(self, row: str, column: str, **values) -> PlannedCell:
        """Plan a cell about the treebank; its runs are those of its system, if there are any."""
        system = values.setdefault("system", row)
        runs = f"d/{system}" if f"d/{system}" in self.runs else None
        return PlannedCell(
            **{"row": row, "column": column, "dataset": "d", "split": "gold_bank", "runs": runs, **values}
        )

    def plan(self, table_kind: str, cells: list[PlannedCell], claims: tuple[PlannedClaim, ...] = ()) -> PlannedTable:
        """Plan a table of some cells, row by row."""
        facts = {**self.facts, "parsed": {key: ["gold_bank"] for key in self.runs}, "induced": list(self.runs)}
        columns = {cell.column: PlannedColumn(name=cell.column, metric=cell.metric, digits=1) for cell in cells}
        return PlannedTable(
            paper="p", name="t", table_kind=table_kind, title="P", place="Table 1", description="", scale="quick",
            rows=tuple(PlannedRow(name=name) for name in dict.fromkeys(cell.row for cell in cells)),
            columns=tuple(columns.values()), cells=tuple(cells), runs=self.runs, claims=claims, more=facts,
        )  # fmt: skip
