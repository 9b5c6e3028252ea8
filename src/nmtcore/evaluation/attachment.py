"""Attachment scores: the percentage of words with the correct head, of parses, and of annotations beside each other.

Shapes: B sentences, F features.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nmtcore.errors import UserError
from nmtcore.evaluation.counts import SentenceCounts, share_of_counts
from nmtcore.files import write_json
from nmtcore.parquet import paired_batches

MEASURES = {
    "uas": ["head"],
    "las": ["head", "label"],
    "las_subtypes": ["head", "deprel"],
    "upos": ["upos"],
    "ccg": ["ccg"],
}
"""The columns in which two annotations of a word must be equal to match; a label has no subtype after a colon."""

UAS_LABELS = {"uas": "UAS", "tree_uas": "UAS of trees", "diagonal_precision": "precision of chains"}
"""The names in text of the measures of parses (`scores_by_measure`)."""


def attachment(
    predicted: Sequence[Sequence[int] | None],
    gold: Sequence[Sequence[int] | None],
    punctuation: Sequence[Sequence[bool] | None],
) -> dict[str, Any]:
    """Compare heads (1-based, 0 = root) sentence by sentence; `punctuation` marks words as `is_punctuation` does.

    See `matching_heads` and `attachment_scores`.
    """
    return attachment_scores(matching_heads(predicted, gold, punctuation))


def attachment_scores(rows: Sequence[Sequence[int] | None]) -> dict[str, Any]:
    """Score the matches of each sentence; one that is not compared (None) is counted under nulls.

    Returns percentages, None if there are no words: uas (over all words), uas_without_punctuation, uas_mean (the mean
    over sentences with words); and the numbers of sentences, words, words_without_punctuation and nulls.
    """
    compared = [row for row in rows if row is not None]
    right, words, right_without, words_without = np.array([[0] * 4, *compared]).sum(axis=0).tolist()
    shares = [row[0] / row[1] for row in compared if row[1]]
    return {
        "uas": percent(right, words),
        "uas_without_punctuation": percent(right_without, words_without),
        "uas_mean": percent(sum(shares), len(shares)),
        "sentences": len(compared),
        "words": words,
        "words_without_punctuation": words_without,
        "nulls": len(rows) - len(compared),
    }


def scores_by_measure(parses: Mapping[str, Any]) -> dict[str, Any]:
    """Name the scores of a split's parses, a dictionary by method (`scores.score_parses`), by their measures.

    uas: of the most probable heads, or of induced trees, which have no others, of the trees. tree_uas: of the maximum
    spanning trees of a parser head, which also has the former. diagonal_precision: of heads that learn chains and have
    no trees.
    """
    if "argmax" not in parses:
        return {"uas": parses["spanning_tree"]}
    if "spanning_tree" not in parses:
        return {"diagonal_precision": parses["argmax"]}
    return {"uas": parses["argmax"], "tree_uas": parses["spanning_tree"]}


def attachment_counts(rows: Sequence[Sequence[int] | None], *, test: str) -> SentenceCounts:
    """Keep the right heads and the words of each sentence of `matching_heads`; one that is not compared has none."""
    counts = [(0, 0) if row is None else row[:2] for row in rows]
    counts_BF = np.array(counts, dtype=float).reshape(len(counts), 2)
    return SentenceCounts(counts_BF=counts_BF, score=share_of_counts, signature="UAS", test=test)


def matching_heads(
    predicted: Sequence[Sequence[int] | None],
    gold: Sequence[Sequence[int] | None],
    punctuation: Sequence[Sequence[bool] | None],
) -> list[list[int] | None]:
    """Count the matches of each sentence (`count_matches`); None for one without predicted or gold heads.

    Raises `UserError` if the numbers of sentences, or of words in a sentence, differ.
    """
    if not len(predicted) == len(gold) == len(punctuation):
        raise UserError(
            f"{len(predicted)} parses cannot be scored against {len(gold)} trees: the numbers must be equal."
        )
    rows: list[list[int] | None] = []
    for row, (heads, gold_heads, marks) in enumerate(zip(predicted, gold, punctuation, strict=True)):
        if heads is None or gold_heads is None:
            rows.append(None)
            continue
        marks = [False] * len(gold_heads) if marks is None else marks
        if not len(heads) == len(gold_heads) == len(marks):
            raise UserError(
                f"Sentence {row} (from 0): the parse has {len(heads)} words, the tree {len(gold_heads)} and the text "
                f"{len(marks)}: score files of the same text."
            )
        rows.append(count_matches([h == g for h, g in zip(heads, gold_heads, strict=True)], marks))
    return rows


def count_matches(matches: Sequence[bool], punctuation: Sequence[bool]) -> list[int]:
    """Count a sentence's words that match and all its words, then the same without punctuation."""
    plain = [match for match, mark in zip(matches, punctuation, strict=True) if not mark]
    return [sum(matches), len(matches), sum(plain), len(plain)]


def percent(part: float, whole: int) -> float | None:
    """Return a percentage; None of nothing."""
    return 100 * part / whole if whole else None


def attachment_line(
    predicted: Sequence[Sequence[int]],
    gold: Sequence[Sequence[int]],
    words: Sequence[Sequence[str]],
    upos: Sequence[Sequence[str] | None],
) -> str:
    """Summarise the attachment scores on a treebank in one line."""
    scores = attachment(predicted, gold, [is_punctuation(*sentence) for sentence in zip(words, upos, strict=True)])
    percents = (scores[key] for key in ("uas", "uas_without_punctuation"))
    uas, plain = ("n/a" if score is None else f"{score:.2f}" for score in percents)
    return f"UAS {uas} ({plain} without punctuation), {scores['sentences']} sentences, {scores['words']} words."


def is_punctuation(words: Sequence[str], upos: Sequence[str] | None = None) -> list[bool]:
    """Mark the words that are punctuation: those tagged PUNCT, if there are universal tags.

    Without tags: words that consist of Unicode punctuation (P*, as in the CoNLL shared tasks) or modifier symbols (Sk:
    grave and acute accents used as quotation marks). Currency, mathematical and other symbols count as words (UD tags
    them SYM).
    """
    if upos is not None:
        return [tag == "PUNCT" for tag in upos]
    categories = ([unicodedata.category(character) for character in word] for word in words)
    return [
        bool(of_word) and all(category[0] == "P" or category == "Sk" for category in of_word) for of_word in categories
    ]


def compare_annotations(
    first: Path, second: Path, *, annotators: tuple[str, str], corpus: Path, side: str, output: Path
) -> dict[str, Any]:
    """Compare two annotations of one side of a split, and write the counts to `output` (JSON) with their `annotators`.

    If the second is a gold treebank, this is the accuracy of the first. Percentages of the words with both annotations
    by each of `MEASURES`, also `_without_punctuation`; None if there are no words. Punctuation is what `second` tags
    PUNCT, or, if it has no UPOS, words of punctuation characters. Also counts the sentences, those with heads from both
    (`compared`), their words, and each annotation's nulls by reason.

    Files are streamed batch by batch. Raises `UserError` if the files hold different pairs or words.
    """
    counts = {measure: np.zeros(4, dtype=int) for measure in MEASURES}
    nulls: dict[str, Counter[str]] = {"first": Counter(), "second": Counter()}
    sentences = compared = 0
    rows = (_annotated(corpus, f"{side}_words", path) for path in (first, second))
    for (words, row), (_, other) in zip(*rows, strict=True):
        sentences += 1
        for reasons, annotation in zip(nulls.values(), (row, other), strict=True):
            if annotation["reason"] is not None:
                reasons[annotation["reason"].split(":")[0]] += 1
        marks = is_punctuation(words, other["upos"])
        for measure, columns in MEASURES.items():
            values = [annotation[column] for column in columns for annotation in (row, other)]
            if None not in values:
                pairs = [zip(*values[half::2], strict=True) for half in (0, 1)]
                counts[measure] += count_matches([a == b for a, b in zip(*pairs, strict=True)], marks)
                compared += measure == "uas"
    _, words, _, words_without = counts["uas"].tolist()
    result = {
        **{"first": annotators[0], "second": annotators[1], "side": side},
        **{"sentences": sentences, "compared": compared},
        **{"words": words, "words_without_punctuation": words_without},
        "nulls": {name: dict(reasons.most_common()) for name, reasons in nulls.items()},
    }
    for measure, (right, words, right_without, words_without) in counts.items():
        result[measure] = percent(int(right), int(words))
        result[f"{measure}_without_punctuation"] = percent(int(right_without), int(words_without))
    write_json(output, result)
    return result


def _annotated(corpus: Path, words: str, path: Path) -> Iterator[tuple[list[str], dict[str, Any]]]:
    """Yield the words and the annotation of each sentence. Raises `UserError` if they do not belong together."""
    columns = ["upos", "head", "deprel", "ccg"]
    row = 0
    for pairs, annotations in paired_batches(corpus, path, columns=([words], [*columns, "reason"])):
        for sentence, annotation in zip(pairs.column(words).to_pylist(), annotations.to_pylist(), strict=True):
            for column in columns:
                if annotation[column] is not None and len(annotation[column]) != len(sentence):
                    raise UserError(
                        f"{path}, row {row}: {len(annotation[column])} values in '{column}', but {len(sentence)} "
                        "words: the annotation is of another corpus; delete it and annotate again."
                    )
            labels = annotation["deprel"]
            yield sentence, {**annotation, "label": labels and [label.split(":")[0] for label in labels]}
            row += 1
