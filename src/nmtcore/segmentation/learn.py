"""Learning a segmentation from the training split: merges and vocabularies."""

from collections import Counter
from collections.abc import Mapping
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from nmtcore.annotation.selection import selected_batches
from nmtcore.config.corpora import SIDES, SegmentationSettings
from nmtcore.errors import UserError
from nmtcore.files import write_json, write_text
from nmtcore.layout import file_name
from nmtcore.parquet import paired_streams
from nmtcore.segmentation.segmenter import LONGEST_WORD, VERSION, Segmenter, codes_name
from nmtcore.segmentation.vocabulary import SPECIALS, Vocabulary


def learn_segmentation(
    corpus: Path,
    settings: SegmentationSettings,
    folder: Path,
    *,
    selection: Path | None = None,
    linearised_parses: Path | None = None,
) -> dict:
    """Write codes (for BPE), `source.vocab`, `target.vocab` and `report.json` to `folder`.

    words: the vocabulary is the special entries and the `size` most frequent words of a side; ties are sorted by name.
    bpe: `size` merges (fewer if no pair of pieces occurs twice), and a vocabulary of all pieces of the training data,
    by descending frequency, then name. Joint: counts of both sides together, one codes file, two equal vocabularies.
    Only the rows that `selection` keeps are counted. Memory grows only with the number of distinct words.

    If the segmentation is also learned from constituency parses, each of the sources' `linearised_parses` counts as a
    second target of its source, so that source counts twice; the report has the number of sources with a parse.
    """
    report: dict[str, dict] = {}
    words = {side: count_words(corpus, side, selection) for side in SIDES}
    if settings.also == "constituency":
        sources, parses, report["constituency"] = _count_parsed(corpus, linearised_parses, selection)
        if not parses:
            raise UserError(
                f"{linearised_parses} has no parse of any selected source, so there are no constituents to learn from."
            )
        words = {"source": words["source"] + sources, "target": words["target"] + parses}
    if settings.joint:
        words = dict.fromkeys(SIDES, words["source"] + words["target"])
    for side in SIDES:
        if not words[side]:
            raise UserError(f"{corpus} has no words on the {side} side, so there is nothing to learn from.")
    for side in SIDES[:1] if settings.joint else SIDES:
        report[side] = _learn_side(words[side], settings, Path(folder), side)
    if settings.joint:
        source, target = (Path(folder) / file_name("vocabulary", side=side) for side in SIDES)
        Vocabulary.load(source).save(target)
    write_json(Path(folder) / "report.json", report)
    return report


def count_words(corpus: Path, side: str, selection: Path | None = None) -> Counter[str]:
    """Count the words of one side of a corpus file (in selected rows), in the order of their first occurrence."""
    counts: Counter[str] = Counter()
    for batch in selected_batches(corpus, selection, columns=[f"{side}_words"]):
        _count_values(counts, batch.column(f"{side}_words"))
    return counts


def _count_parsed(
    corpus: Path, linearised_parses: Path, selection: Path | None
) -> tuple[Counter[str], Counter[str], dict[str, int]]:
    """Count the words of the parsed sources, the entries of their parses, and the sources with and without a parse."""
    report = {"sources": 0, "parsed": 0, "without a parse": 0}
    sources: Counter[str] = Counter()
    parses: Counter[str] = Counter()
    streams = (
        selected_batches(corpus, selection, columns=["id", "source_words"]),
        selected_batches(linearised_parses, selection, columns=["id", "brackets"]),
    )
    for pairs, parsed in paired_streams(*streams, files=(corpus, linearised_parses)):
        has_parse = parsed.column("brackets").is_valid()
        _count_values(sources, pairs.column("source_words").filter(has_parse))
        _count_values(parses, parsed.column("brackets").filter(has_parse))
        report["sources"] += len(has_parse)
        report["parsed"] += has_parse.true_count
        report["without a parse"] += has_parse.false_count
    return sources, parses, report


def _count_values(counts: Counter[str], lists: pa.ListArray) -> None:
    batch = pc.value_counts(lists.flatten())
    counts.update(dict(zip(batch.field("values").to_pylist(), batch.field("counts").to_pylist(), strict=True)))


def learn_codes(words: Mapping[str, int], merges: int) -> str:
    """Return the text of the codes file that subword-nmt learns from a text with these words."""
    from subword_nmt.learn_bpe import learn_bpe

    codes = StringIO()
    if all(len(word) == 1 for word in words):
        return f"{VERSION}\n"  # subword-nmt fails without a pair of characters
    with redirect_stderr(StringIO()):  # a bar of progress
        learn_bpe(StringIO("".join(f"{word} {count}\n" for word, count in words.items())), codes, merges, is_dict=True)
    return codes.getvalue()


def _learn_side(words: Counter[str], settings: SegmentationSettings, folder: Path, side: str) -> dict:
    report = {"words": words.total(), "different": len(words)}
    if settings.kind == "words":
        entries = _by_frequency(words)[: settings.size]
        covered = sum(words[word] for word in entries)
    else:
        short = {word: count for word, count in words.items() if len(word) <= LONGEST_WORD}
        write_text(folder / codes_name(settings, side), learn_codes(short, settings.size))
        segmenter, pieces = Segmenter.load(folder, settings, side), Counter()
        for word, count in words.items():
            for piece in segmenter.segment([word]).pieces:
                pieces[piece] += count
        entries = _by_frequency(pieces)
        covered = words.total()
    vocabulary = Vocabulary.of(entries)
    vocabulary.save(folder / file_name("vocabulary", side=side))
    return {**report, "entries": len(entries), "covered": covered}


def _by_frequency(counts: Counter[str]) -> list[str]:
    """Sort by descending frequency, then name; tokens that look like special entries are dropped (they are `<unk>`)."""
    return sorted((entry for entry in counts if entry not in SPECIALS), key=lambda entry: (-counts[entry], entry))
