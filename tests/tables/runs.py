"""Results folders with translations, annotations and sentence pairs, for tests of tables that read them."""

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa

from nmtcore.config.training import EvaluationSettings
from nmtcore.corpus.pairs import ANNOTATION_FIELDS, PAIR_SCHEMA
from nmtcore.evaluation.counts import SentenceCounts, checksum_of_test, share_of_counts, write_counts
from nmtcore.evaluation.metrics import METRICS, count_translations
from nmtcore.evaluation.scores import make_output_files
from nmtcore.files import write_lines
from nmtcore.layout import Layout
from nmtcore.parquet import write_rows
from nmtcore.syntax.annotation import Annotation

EVALUATION = {"text": "detokenised", "tokenize": "none", "lowercase": False}


def write_translations(
    layout: Layout, system: str, seed: int, translations: list[str], references: list[str], **names: str
) -> Path:
    """Write the translations of a run's test and their counts of sentences; return the folder of the translations."""
    names = {"scale": "quick", "dataset": "d", "system": system, "seed": str(seed)} | names
    folder = Path(layout.path("hypotheses", **names, split="test"))
    files = make_output_files(folder)
    write_lines(files.translations, translations)
    write_lines(files.references, references)
    counts = count_translations(translations, references, EvaluationSettings(**EVALUATION), METRICS)
    write_counts(Path(layout.path("counts", **names)) / "test.parquet", counts)
    return folder


def write_comet_scores(layout: Layout, system: str, seed: int, scores: list[float], references: list[str]) -> Path:
    """Write COMET's scores of the sentences of a run's test, and return their file."""
    path = (
        Path(layout.path("metric_counts", scale="quick", dataset="d", system=system, seed=seed, metric="comet"))
        / "test.parquet"
    )
    counts_BF = np.stack([scores, np.ones(len(scores))], axis=1)
    test = checksum_of_test(references)
    counts = SentenceCounts(counts_BF=counts_BF, score=share_of_counts, signature="COMET|model:m", test=test)
    write_counts(path, {"comet": counts})
    return path


class Results:
    """A results folder at the scale quick, with the data set `d` and its test."""

    def __init__(self, folder: Path, sources: list[str], references: list[str]) -> None:
        self.layout = Layout(results=str(folder / "results"), scales=("quick",))
        self.references = references
        pairs = [
            {"id": i, "source": s, "target": t, "source_words": s.split(), "target_words": t.split(), "origin": "c:1"}
            for i, (s, t) in enumerate(zip(sources, references, strict=True))
        ]
        write_rows(self.layout.path("pairs", dataset="d", split="test"), PAIR_SCHEMA, pairs)

    def write_run(self, system: str, seed: int, translations: list[str]) -> Path:
        """Write the translations of a run and their counts, and return their folder."""
        return write_translations(self.layout, system, seed, translations, self.references)

    def write_runs(self, systems: dict[str, list[list[str]]]) -> "Results":
        """Write the translations of seeds 1, 2... of each system, and return itself."""
        for system, seeds in systems.items():
            for seed, translations in enumerate(seeds, start=1):
                self.write_run(system, seed, translations)
        return self

    def write_annotation(self, side: str, column: str, values: list) -> str:
        """Write an annotation of the test with one column, and return its path."""
        path = self.layout.path("annotation", dataset="d", annotator=column, split="test", side=side)
        rows = [asdict(Annotation(**{column: value})) for value in values]
        write_rows(path, pa.schema(ANNOTATION_FIELDS), rows)
        return path
