"""What later stages read of annotations: label vocabularies and linearised parses.

A label vocabulary holds the dependency labels, tags or supertags of the training split, and has the name of the
features column that holds its ids (`config.features.LABEL_COLUMNS`). Linearised parses are constituency trees without
words, the targets of Currey and Heafield's second task.

Dependency supertags are those of Aycock 2021, Table 2.1: a word's relation to its head, as one string. DG-A is
`deprel|parent's deprel`, with `root` for the parent of a root: `xcomp|root`, `root|root`. DG-B (after Ouchi et al.
2014) is `deprel|side of the head|sides of the dependents`. Sides are L, R and L+R; an empty part is omitted:
`xcomp|L|L+R`, `nsubj|R` without dependents, `root|L+R` for a root (no head), `root` for a root without dependents. So
in label sets other than UD, where roots share labels with other words, a root with dependents on its left has the
same tag as a word without dependents whose head is on its left. Labels keep their subtypes (`nsubj:pass`). Several
roots and crossing edges are allowed.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from nmtcore.annotation.selection import selected_batches
from nmtcore.config.features import LABEL_COLUMNS
from nmtcore.corpus.pairs import WORDS
from nmtcore.errors import UserError
from nmtcore.files import read_json, write_json
from nmtcore.parquet import paired_batches, row_writer
from nmtcore.syntax.constituents import linearise, parse_constituents, same_words
from nmtcore.syntax.trees import HEAD_OF_ROOT, check_heads

NO_LABEL, UNKNOWN_LABEL = 0, 1
"""The ids of "<none>" (padding, or no annotation) and of "<unk>" (a label that is not in the training data)."""
LABEL_SPECIALS = ("<none>", "<unk>")
"""The first entries of every label vocabulary."""
STORED_LABELS = ("deprel", "upos", "xpos", "ccg")
"""Columns of an annotation that are labels."""
RANDOM = "random"
"""Random tags replace CCG supertags, and have the same vocabulary."""
LINEARISED_PARSES_SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("brackets", WORDS)])
"""`annotation/{annotator}/{split}.{side}.brackets.parquet`: one row per pair; null without a parse."""


def dg_a(heads: Sequence[int], deprels: Sequence[str]) -> list[str]:
    """Compute the DG-A tag of each word of a sentence.

    Heads are 1-based, 0 = root. Raises ValueError if a head is out of range or there is not one label for each head.
    """
    _check(heads, deprels)
    parents = ["root", *deprels]
    return [f"{deprel}|{parents[head]}" for head, deprel in zip(heads, deprels, strict=True)]


def dg_b(heads: Sequence[int], deprels: Sequence[str]) -> list[str]:
    """Compute the DG-B tag of each word of a sentence; arguments and errors are as for `dg_a`."""
    _check(heads, deprels)
    has_left = {head for word, head in enumerate(heads, start=1) if word < head}
    has_right = {head for word, head in enumerate(heads, start=1) if word > head}
    tags = []
    for word, (head, deprel) in enumerate(zip(heads, deprels, strict=True), start=1):
        head_side = "" if head == HEAD_OF_ROOT else "L" if head < word else "R"
        dependent_sides = "+".join(["L"] * (word in has_left) + ["R"] * (word in has_right))
        tags.append("|".join(filter(None, (deprel, head_side, dependent_sides))))
    return tags


def _check(heads: Sequence[int], deprels: Sequence[str]) -> None:
    check_heads(heads)
    if len(heads) != len(deprels):
        raise ValueError(f"{len(heads)} heads and {len(deprels)} labels")


SUPERTAGS = {"dg_a": dg_a, "dg_b": dg_b}
"""Labels that are computed from trees, with the functions that compute them."""


def label_vocabularies(annotation: Path, output: Path, *, selection: Path | None = None) -> None:
    """Write JSON {column: [...]} for all `LABEL_COLUMNS`: specials, then labels by falling frequency, then by name.

    Only the rows that `selection` keeps are counted. A column that the annotation lacks has the specials only.
    """
    counts: dict[str, Counter[str]] = {column: Counter() for column in LABEL_COLUMNS if column != RANDOM}
    for batch in selected_batches(annotation, selection, columns=["id", "head", *STORED_LABELS]):
        for column, counter in counts.items():
            frequencies = label_lists(batch, column, where=annotation).flatten().drop_null().value_counts()
            labels = frequencies.field("values").to_pylist()
            counter.update(dict(zip(labels, frequencies.field("counts").to_pylist(), strict=True)))
    counts[RANDOM] = counts["ccg"]
    vocabularies = {}
    for column in LABEL_COLUMNS:
        labels = sorted(counts[column].keys() - LABEL_SPECIALS, key=lambda label: (-counts[column][label], label))
        vocabularies[column] = [*LABEL_SPECIALS, *labels]
    write_json(output, vocabularies)


def read_labels(path: Path, columns: Sequence[str] = LABEL_COLUMNS) -> dict[str, list[str]]:
    """Read label vocabularies. Raises UserError if one of `columns` is missing or does not begin with the specials."""
    labels = read_json(path)
    for column in columns:
        if not isinstance(labels, dict) or tuple(labels.get(column, ())[:2]) != LABEL_SPECIALS:
            raise UserError(
                f"{path} is no file of label vocabularies ('{column}' is missing or does not begin with "
                f"{', '.join(LABEL_SPECIALS)}): make it again."
            )
    return labels


def label_lists(annotation: pa.RecordBatch, column: str, *, where: object) -> pa.ListArray:
    """Return the labels of every sentence of `annotation`: one list of strings per sentence.

    The list is null for a sentence without these labels; supertags need its heads and dependency labels. Raises
    UserError, naming the pair and the file `where`, if there are not as many labels as heads or a head is out of range.
    """
    if column not in SUPERTAGS:
        return annotation.column(column)
    tags: list[list[str] | None] = []
    columns = (annotation.column(name).to_pylist() for name in ("id", "head", "deprel"))
    for id_, heads, deprels in zip(*columns, strict=True):
        labels = None if deprels is None else [deprel or LABEL_SPECIALS[NO_LABEL] for deprel in deprels]
        try:
            tags.append(None if heads is None or labels is None else SUPERTAGS[column](heads, labels))
        except ValueError as error:
            raise UserError(f"{where}, pair {id_}: {error}: annotate again.") from error
    return pa.array(tags, WORDS)


def write_linearised_parses(*, annotation: Path, corpus: Path, side: str, output: Path) -> None:
    """Linearise every constituency parse of `annotation` into `output`, one row per pair of `corpus`.

    A broken parse, or a parse of other words than the pair's, becomes null. Raises UserError, naming the row, if the
    files hold different pairs.
    """
    words = f"{side}_words"
    with row_writer(output, LINEARISED_PARSES_SCHEMA) as writer:
        for pairs, parses in paired_batches(corpus, annotation, columns=([words], ["constituency"])):
            linearised = map(
                linearised_parse, parses.column("constituency").to_pylist(), pairs.column(words).to_pylist()
            )
            columns = [pairs.column("id"), pa.array(linearised, WORDS)]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=LINEARISED_PARSES_SCHEMA))


def linearised_parse(parse: str | None, words: list[str]) -> list[str] | None:
    """Linearise one parse; return None if it is missing, broken, or a parse of other words."""
    if parse is None:
        return None
    try:
        tree = parse_constituents(parse)
    except ValueError:
        return None
    return linearise(tree) if same_words(tree, words) else None
