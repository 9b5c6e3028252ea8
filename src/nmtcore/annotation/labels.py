"""Label vocabularies: which dependency labels, tags and supertags the training split has.

Each is named after the column of features that holds its ids (`config.features.LABEL_COLUMNS`).
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nmtcore.annotation.selection import selected_batches
from nmtcore.config.features import LABEL_COLUMNS
from nmtcore.errors import UserError
from nmtcore.files import read_json, write_json
from nmtcore.syntax.annotation import tree_fault
from nmtcore.syntax.supertags import dg_a_codes, dg_b_codes

NO_LABEL, UNKNOWN_LABEL = 0, 1
"""The ids of "<none>" (padding, or no annotation) and of "<unk>" (a label that training did not have)."""
LABEL_SPECIALS = ("<none>", "<unk>")
"""The first entries of every vocabulary of labels."""
PLAIN = ("deprel", "upos", "xpos", "ccg")
"""The labels that an annotation has as they are."""
SUPERTAGS = {"dg_a": dg_a_codes, "dg_b": dg_b_codes}
"""Those that are made of its trees, and how."""
RANDOM = "random"
"""Random tags stand in for CCG supertags, and have their names."""


def label_vocabularies(annotation: Path, output: Path, *, selection: Path | None = None) -> None:
    """Write JSON {column: [...]} for all `LABEL_COLUMNS`: specials, then by falling frequency, then name.

    Counted over the rows that `selection` keeps. What the annotation does not give has the specials alone.
    """
    counts: dict[str, Counter[str]] = {column: Counter() for column in LABEL_COLUMNS if column != RANDOM}
    for batch in selected_batches(annotation, selection, columns=["id", "head", *PLAIN]):
        for column, counter in counts.items():
            found = label_lists(batch, column, where=annotation).flatten().drop_null().value_counts()
            names, times = found.field("values").to_pylist(), found.field("counts").to_pylist()
            counter.update(dict(zip(names, times, strict=True)))
    counts[RANDOM] = counts["ccg"]
    write_json(output, {column: [*LABEL_SPECIALS, *_ordered(counts[column])] for column in LABEL_COLUMNS})


def _ordered(counts: Counter[str]) -> list[str]:
    return sorted((label for label in counts if label not in LABEL_SPECIALS), key=lambda label: (-counts[label], label))


def read_labels(path: Path, columns: Sequence[str] = LABEL_COLUMNS) -> dict[str, list[str]]:
    """Read label vocabularies; a file without one of `columns`, or without the specials in front, is a `UserError`."""
    labels = read_json(path)
    for column in columns:
        if not isinstance(labels, dict) or tuple(labels.get(column, ())[:2]) != LABEL_SPECIALS:
            raise UserError(
                f"{path} is no file of label vocabularies "
                f"('{column}' is missing or lacks {LABEL_SPECIALS[NO_LABEL]} in front)."
            )
    return labels


def label_lists(annotation: pa.RecordBatch, column: str, *, where: object) -> pa.ListArray:
    """Give the labels of every sentence of `annotation` as lists of strings, perhaps dictionary-encoded.

    A list is null where the sentence has none; supertags need both its heads and its dependency labels. What does not
    fit together (numbers of words, heads out of range) is a `UserError` that names the pair, and the file as `where`.
    """
    if column not in SUPERTAGS:
        return annotation.column(column)
    heads, deprels = annotation.column("head"), annotation.column("deprel")
    known = pc.and_(heads.is_valid(), deprels.is_valid())
    ids = annotation.column("id").filter(known)
    heads, deprels = heads.filter(known), deprels.filter(known)
    lengths = heads.value_lengths().to_numpy()
    labelled = deprels.value_lengths().to_numpy()
    for k in np.flatnonzero(lengths != labelled)[:1]:
        raise UserError(f"{where}, pair {ids[k]}: {lengths[k]} heads and {labelled[k]} labels: annotate again.")
    flat = deprels.flatten().fill_null(LABEL_SPECIALS[NO_LABEL]).dictionary_encode()
    numbers, names = flat.indices.to_numpy(), flat.dictionary.to_pylist()
    try:
        tags = SUPERTAGS[column](heads.flatten().to_numpy(zero_copy_only=False), numbers, lengths, labels=names)
    except ValueError as error:
        for pair, tree in zip(ids.to_pylist(), heads.to_pylist(), strict=True):
            if fault := tree_fault(tree):
                raise UserError(f"{where}, pair {pair}: {fault}: annotate again.") from error
        raise
    strings = pa.DictionaryArray.from_arrays(pa.array(tags.codes, pa.int32()), pa.array(tags.strings, pa.string()))
    every = np.zeros(len(known), np.int64)
    every[known.to_numpy(zero_copy_only=False)] = lengths
    offsets = pa.array(np.concatenate([[0], np.cumsum(every)]), pa.int32())
    return pa.ListArray.from_arrays(offsets, strings, mask=pc.invert(known))
