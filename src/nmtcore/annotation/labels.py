"""Label vocabularies: which dependency labels and tags the training split has."""

from collections import Counter
from pathlib import Path

import pyarrow.compute as pc

from nmtcore.errors import UserError
from nmtcore.files import read_json, write_json
from nmtcore.parquet import read_batches

NONE, UNKNOWN = 0, 1
"""The ids of "<none>" (padding, or no annotation) and of "<unk>" (a label that training did not have)."""
SPECIALS = ("<none>", "<unk>")
KINDS = ("deprel", "upos", "xpos")


def label_vocabularies(annotation: Path, output: Path) -> None:
    """Write JSON {"deprel": [...], "upos": [...], "xpos": [...]}: specials, then by falling frequency, then name."""
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    for batch in read_batches(annotation, columns=list(KINDS)):
        for kind in KINDS:
            for entry in pc.value_counts(batch.column(kind).flatten().drop_null()).to_pylist():
                counts[kind][entry["values"]] += entry["counts"]
    write_json(output, {kind: [*SPECIALS, *_ordered(counts[kind])] for kind in KINDS})


def _ordered(counts: Counter[str]) -> list[str]:
    return sorted((label for label in counts if label not in SPECIALS), key=lambda label: (-counts[label], label))


def read_labels(path: Path) -> dict[str, list[str]]:
    """Read label vocabularies; a file without one of the kinds, or without the specials in front, is a `UserError`."""
    labels = read_json(path)
    for kind in KINDS:
        if not isinstance(labels, dict) or tuple(labels.get(kind, ())[:2]) != SPECIALS:
            raise UserError(
                f"{path} is no file of label vocabularies ('{kind}' is missing or lacks {SPECIALS[0]} in front)."
            )
    return labels
