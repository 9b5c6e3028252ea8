"""Examples of predicted tags: test sentences with the tags of the reference and those predicted of the translation."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from nmtcore.annotation.labels import NO_LABEL, read_labels
from nmtcore.errors import UserError
from nmtcore.evaluation.scores import output_files
from nmtcore.layout import Layout
from nmtcore.parquet import read_rows
from nmtcore.reporting.table import Block, Column, Heading, Page, Paragraph, make_table, note, number_columns

SENTENCES = 10
"""The number of sentences per system, the first ones of the main test."""

_NOTES = """
Scale {scale}. The first {sentences} sentences of the main test, translated by the model of one seed; the words of a row
need not correspond. Tags of the reference: as annotated (`<unk>`: not in the training data; empty: none). Tags of the
translation: the likeliest at each word's first subword, or the tag that the model generates before the word, with their
probabilities (empty: an unknown one, or none). A model whose tag loss has ended may use its tags for something else.
"""


class TaggedTest(NamedTuple):
    """The files of a run's translations of a test, and of the tags of the references."""

    hypotheses: Path
    """The folder `{dataset}/{system}/seed{seed}/hypotheses`."""
    pairs: Path
    """The sentence pairs of the test."""
    features: Path
    """The features of the target side, by the annotator of the tags."""
    labels: Path
    """The label vocabularies of that annotator on the target side."""
    column: str
    """The column of `features` and `labels` that has the tags."""


def tag_page(tests: Iterable[TaggedTest], *, layout: Layout) -> Page:
    """Show the predicted tags of the first sentences.

    `layout` names the data set, system and seed of each folder of hypotheses, and the split of the pairs; the scale is
    the same for all.
    """
    entries = [_entry(test, layout) for test in tests]
    notes = note(_NOTES.format(scale=entries[0]["scale"], sentences=SENTENCES))
    blocks = [block for entry in entries for block in _section(entry)]
    return Page(title="Predicted tags", blocks=(notes, *blocks))


def _entry(test: TaggedTest, layout: Layout) -> dict[str, Any]:
    names = layout.names(test.hypotheses, "hypotheses")
    split = layout.names(test.pairs, "pairs")["split"]
    return {
        **{key: names[key] for key in ("dataset", "system", "scale")},
        "seeds": [int(names["seed"])],
        "split": split,
        "tags": test.column,
        "sentences": list(_sentences(test, output_files(test.hypotheses, split).predicted_tags)),
    }


def _sentences(test: TaggedTest, predicted: Path) -> Iterator[dict[str, Any]]:
    """Yield the first sentences. Raises `UserError` if the files do not belong to the same pairs."""
    names = read_labels(test.labels, columns=(test.column,))[test.column]
    pairs = read_rows(test.pairs, columns=["id", "source_words", "target_words"], stop=SENTENCES)
    tags = read_rows(test.features, columns=["id", test.column], stop=SENTENCES)
    for pair, tagged, output in zip(pairs, tags, read_rows(predicted, stop=SENTENCES), strict=False):
        words, labels = pair["target_words"], tagged[test.column]
        if not pair["id"] == tagged["id"] == output["id"] or len(words) != len(labels):
            raise UserError(
                f"{test.features}, pair {pair['id']}: the tags do not belong to the words of {test.pairs} or to the "
                f"translations in {predicted}: delete the oldest of these files and run the workflow again."
            )
        columns = zip(output["words"], output["tags"], output["probabilities"], strict=True)
        yield {
            "id": pair["id"],
            "source": pair["source_words"],
            "reference": [
                {"word": word, "tag": None if label == NO_LABEL else names[label]}
                for word, label in zip(words, labels, strict=True)
            ],
            "translation": [
                {"word": word, "tag": tag, "probability": probability} for word, tag, probability in columns
            ],
        }


_COLUMNS = (
    Column(name="reference", content="corpus"),
    Column(name="tag", content="code"),
    Column(name="translation", content="corpus"),
    Column(name="predicted tag", content="code"),
    *number_columns("probability", digits=2),
)


def _section(entry: Mapping[str, Any]) -> Iterator[Block]:
    """Yield the parts of a system's section: per sentence the source, and a table whose rows are words."""
    names = {"data set": entry["dataset"], "system": entry["system"], "test": entry["split"]}
    yield Heading(f"{', '.join(names.values())}: {entry['tags']}, seed {entry['seeds'][0]}")
    for sentence in entry["sentences"]:
        yield Paragraph(f"{sentence['id']}: ", corpus=" ".join(sentence["source"]))
        pairs = zip_longest(sentence["reference"], sentence["translation"], fillvalue={})
        rows = [[*_cells(reference), *_cells(word), word.get("probability")] for reference, word in pairs]
        yield make_table(_COLUMNS, rows, keys={**names, "sentence": sentence["id"]})


def _cells(word: Mapping[str, Any]) -> list[str | None]:
    return [word.get("word"), word.get("tag")]
