"""Learning a segmentation from the training split: merges or pieces, and vocabularies."""

import re
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stderr
from functools import partial
from io import BytesIO, StringIO
from itertools import chain, islice
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from nmtcore.annotation.selection import selected_batches
from nmtcore.config.corpora import SIDES, SegmentationSettings
from nmtcore.errors import UserError
from nmtcore.files import read_json, write_json, write_text
from nmtcore.layout import file_name
from nmtcore.parquet import paired_streams
from nmtcore.segmentation.segmenter import LONGEST_WORD, VERSION, Segmenter, TextSegmenter, codes_name
from nmtcore.segmentation.vocabulary import SPECIALS, Vocabulary

LINES = 10_000_000
"""The most lines that pieces are learned from, the first of the training split; SentencePiece keeps them in memory."""


def learn_segmentation(
    corpus: Path,
    settings: SegmentationSettings,
    folder: Path,
    *,
    selection: Path | None = None,
    linearised_parses: Path | None = None,
    given: Sequence[Path] = (),
) -> dict:
    """Write codes (for BPE) or models (SentencePiece), `source.vocab`, `target.vocab` and `report.json` to `folder`.

    words: the vocabulary is the special entries and the `size` most frequent words of a side; ties are sorted by name.
    bpe: `size` merges (fewer if no pair of pieces occurs twice), and a vocabulary of all pieces of the training data,
    by descending frequency, then name. Joint: counts of both sides together, one codes file, two equal vocabularies.
    sentencepiece: a unigram model of `size` pieces (fewer if the text has no more, more if its characters need them),
    and a vocabulary of these; or the files `given` of a model.
    Only the rows that `selection` keeps are counted. Memory grows only with the number of distinct words, and with the
    `LINES` that pieces are learned from.

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
    if settings.kind == "sentencepiece":
        write_pieces = partial(copy_model, given) if settings.model else partial(_learn_texts, corpus, selection)
        write_pieces(settings, Path(folder))
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


def learn_pieces(lines: Iterable[str], size: int) -> bytes:
    """Learn a unigram model of SentencePiece of `size` pieces, fewer or more if the text needs it.

    On one thread, the model is the same each time; on several, it depends on their number.
    """
    from sentencepiece import SentencePieceTrainer

    lines, model = list(islice(lines, LINES)), BytesIO()
    options = {"hard_vocab_limit": False, "num_threads": 1, "minloglevel": 2}
    try:
        SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model, vocab_size=size, **options)
    except RuntimeError as error:
        if not (needed := re.search(r"smaller than required_chars\. \d+ vs (\d+)", str(error))):
            raise UserError(f"SentencePiece cannot learn from the training split: {error}.") from error
        return learn_pieces(lines, int(needed[1]))
    return model.getvalue()


def _learn_texts(corpus: Path, selection: Path | None, settings: SegmentationSettings, folder: Path) -> None:
    """Learn the pieces of both sides' texts, together if joint, and write models and vocabularies."""
    folder.mkdir(parents=True, exist_ok=True)
    for sides in [SIDES] if settings.joint else [(side,) for side in SIDES]:
        batches = chain.from_iterable(selected_batches(corpus, selection, columns=[side]) for side in sides)
        model = learn_pieces((text for batch in batches for text in batch.column(0).to_pylist()), settings.size)
        for side in sides:
            path = folder / codes_name(settings, side)
            path.write_bytes(model)
            learned = TextSegmenter(path).model
            pieces = [learned.id_to_piece(i) for i in range(len(learned))]  # three of them are special entries
            Vocabulary.of(pieces).save(folder / file_name("vocabulary", side=side))


def copy_model(given: Sequence[Path], settings: SegmentationSettings, folder: Path) -> None:
    """Copy the models among the files of a Marian model to `folder`, and write vocabularies of its entries, by id.

    `<pad>`, `<unk>` and `</s>` are moved to the places that they have here. Raises `UserError` if a file is broken, or
    if the settings have another number of entries.
    """
    files = {path.name: path for path in given}
    folder.mkdir(parents=True, exist_ok=True)
    for side in SIDES:
        name = codes_name(settings, side)
        TextSegmenter(files[name])  # which refuses what is no model
        shutil.copyfile(files[name], folder / name)
        path = files["vocab.json" if side == "source" or settings.joint else "target_vocab.json"]
        ids = read_json(path)
        if not isinstance(ids, dict) or not all(isinstance(i, int) for i in ids.values()) or "</s>" not in ids:
            raise UserError(f"{path} has no ids of entries, one of them </s>: copy the model again.")
        if len(ids) != settings.size:
            raise UserError(f"{path} has {len(ids)} entries: write `size: {len(ids)}` into `segmentation`.")
        Vocabulary.of(sorted(ids, key=ids.__getitem__)).save(folder / file_name("vocabulary", side=side))


def _learn_side(words: Counter[str], settings: SegmentationSettings, folder: Path, side: str) -> dict:
    report = {"words": words.total(), "different": len(words)}
    if settings.kind == "words":
        entries = _by_frequency(words)[: settings.size]
        covered = sum(words[word] for word in entries)
    elif settings.kind == "sentencepiece":
        return {**report, "entries": len(Vocabulary.load(folder / file_name("vocabulary", side=side))) - len(SPECIALS)}
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
