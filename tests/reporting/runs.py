"""Results folders with translations, annotations and sentence pairs, for tests of tables that read them."""

from dataclasses import asdict
from pathlib import Path

import pyarrow as pa

from nmtcore.corpus.pairs import ANNOTATION_FIELDS, PAIR_SCHEMA
from nmtcore.files import write_lines
from nmtcore.layout import Layout
from nmtcore.parquet import write_rows
from nmtcore.syntax.annotation import Annotation

EVALUATION = {"text": "detokenised", "tokenize": "none", "lowercase": False}


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
        """Write the translations of a run, and return their folder."""
        folder = Path(self.layout.path("hypotheses", scale="quick", dataset="d", system=system, seed=seed))
        folder.mkdir(parents=True)
        write_lines(folder / "test.txt", translations)
        write_lines(folder / "test.references.txt", self.references)
        return folder

    def write_annotation(self, side: str, column: str, values: list) -> tuple[str, str, str]:
        """Write an annotation of the test with one column, and return its side, column and path."""
        path = self.layout.path("annotation", dataset="d", annotator=column, split="test", side=side)
        rows = [asdict(Annotation(**{column: value})) for value in values]
        write_rows(path, pa.schema(ANNOTATION_FIELDS), rows)
        return side, column, path

    def test(self, *annotations: tuple[str, str, str]) -> dict:
        """Describe the test as planning does."""
        return {"d": {"split": "test", "evaluation": EVALUATION, "annotations": list(annotations)}}
