"""Counts of gate norms by tag: which tags have the highest norm of their sentence (tran2018, section 5)."""

from collections import Counter, defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

from nmtcore.features.examples import NO_WORD
from nmtcore.parquet import read_rows


def count_gates(gates: Path) -> dict[str, Any]:
    """Count the tags of a file of gate norms (`inference.scoring`).

    Returns `sentences`; `tagged`, those that have words and tags; `tags`, for each tag the tagged sentences whose
    `highest` norm is at a subword of a word with this tag (of several, the first), its `words` and `pieces`, and their
    mean `norm`; and for all sentences the mean `norm` of subwords, the mean `end_norm` of `</s>`, and `end_lowest`, the
    sentences in which `</s>` has the lowest norm.
    """
    highest, words, pieces = Counter(), Counter(), Counter()
    norms_of_tag, norms, end_norms = defaultdict(list), [], []
    sentences = tagged = end_lowest = 0
    for row in read_rows(gates, columns=["words", "upos", "norms"]):
        sentences += 1
        # Tags that the system generates among the words do not count.
        subwords = [i for i, word in enumerate(row["words"]) if word != NO_WORD]
        norms_of_pieces, end_norm = [row["norms"][i] for i in subwords], row["norms"][-1]
        norms += norms_of_pieces
        end_norms.append(end_norm)
        end_lowest += end_norm <= min(row["norms"])
        if row["upos"] is None or not norms_of_pieces:
            continue
        tagged += 1
        tags, words_of_pieces = ([row[column][i] for i in subwords] for column in ("upos", "words"))
        highest[tags[norms_of_pieces.index(max(norms_of_pieces))]] += 1
        pieces.update(tags)
        previous = [NO_WORD, *words_of_pieces]
        words.update(tag for tag, word, before in zip(tags, words_of_pieces, previous, strict=False) if word != before)
        for tag, norm in zip(tags, norms_of_pieces, strict=True):
            norms_of_tag[tag].append(norm)
    return {
        "sentences": sentences,
        "tagged": tagged,
        "tags": {
            tag: {
                "highest": highest[tag],
                "words": words[tag],
                "pieces": pieces[tag],
                "norm": fmean(norms_of_tag[tag]),
            }
            for tag in sorted(pieces)
        },
        "norm": fmean(norms) if norms else None,
        "end_norm": fmean(end_norms) if end_norms else None,
        "end_lowest": end_lowest,
    }
