"""Lines per second of tokenisation, truecasing and their inverses, compared with the bare library.

    python benchmarks/tokenisation.py FOLDER [--lines N] [--rounds N]

FOLDER holds real corpora (multi30k/, news/). Each round runs both over the same lines, one after the other; the best
round of each counts. Our caches are cleared before every round. The outputs must be equal word for word, except in
lines where sacremoses differs from Moses and ours does not; these are counted.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from nmtcore.config.segmentation import WordsSettings
from nmtcore.corpus import moses
from nmtcore.corpus.pairs import PAIR_SCHEMA
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.corpus.truecase import Truecaser, detruecase, learn_truecaser
from nmtcore.parquet import write_rows

TEXTS = ("multi30k/train.en", "multi30k/train.de", "news/cs-en/train.en", "news/en-de/train.de", "news/en-ru/train.ru",
         "news/de-cs/train.cs")  # fmt: skip
JAPANESE = "news/en-ja/train.ja"


class Race(NamedTuple):
    """Two implementations of one operation."""

    operation: str
    ours: Callable[[], Any]
    bare: Callable[[], Any]
    must_be_equal: bool = True
    """Whether the outputs must be equal."""


def main() -> None:
    """Print the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(f"{'':36} {'ours':>10} {'bare':>10}   ratio  differ   (lines/s; lines)")
    for name in (*TEXTS, JAPANESE):
        lines = (options.folder / name).read_text(encoding="utf-8").split("\n")[: options.lines]
        for race in japanese_races(lines) if name == JAPANESE else moses_races(lines, name[-2:]):
            ours, bare, differ = run(race, options.rounds)
            rates = len(lines) / ours, len(lines) / bare
            figures = f"{rates[0]:10.0f} {rates[1]:10.0f} {rates[0] / rates[1]:7.2f} {differ:7}"
            print(f"{name:20} {race.operation:15} {figures}", flush=True)


def run(race: Race, rounds: int) -> tuple[float, float, int]:
    """Return the best times of both, in seconds, and the number of lines that differ."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        outputs = []
        for index, function in enumerate((race.ours, race.bare)):
            moses.moses_tokenizer.cache_clear()
            moses.moses_detokenizer.cache_clear()
            start = time.perf_counter()
            outputs.append(function())
            times[index].append(time.perf_counter() - start)
        assert outputs[0] == outputs[1] or not race.must_be_equal, race.operation
    differ = 0 if race.must_be_equal else sum(ours != bare for ours, bare in zip(*outputs, strict=True))
    return min(times[0]), min(times[1]), differ


def moses_races(lines: list[str], language: str) -> Iterator[Race]:
    """Yield the comparisons with sacremoses."""
    import sacremoses

    words = WordTokenizer(WordsSettings(), language)
    tokenizer, detokenizer = sacremoses.MosesTokenizer(lang=language), sacremoses.MosesDetokenizer(lang=language)
    normaliser, normalise = sacremoses.MosesPunctNormalizer(lang=language), moses.Normalizer(language)
    sentences = [words.split(line) for line in lines]
    texts = [" ".join(sentence) for sentence in sentences]
    yield Race("normalise", lambda: list(map(normalise, lines)), lambda: [normaliser.normalize(line) for line in lines])
    yield Race(
        "tokenise",
        lambda: [words.split(line) for line in lines],
        lambda: [tokenizer.tokenize(line, escape=False) for line in lines],
        must_be_equal=False,
    )
    yield Race(
        "detokenise",
        lambda: list(map(words.join, sentences)),
        lambda: [detokenizer.detokenize(sentence, unescape=False) for sentence in sentences],
        must_be_equal=False,
    )
    yield from truecase_races(sentences, texts)


def truecase_races(sentences: list[list[str]], texts: list[str]) -> Iterator[Race]:
    """Yield the comparisons of truecasing: learning a model from Parquet, and applying it to lists and columns."""
    import sacremoses

    with tempfile.TemporaryDirectory() as name:
        raw, ours, bare = (Path(name) / file for file in ("raw.parquet", "ours", "bare"))
        rows = ({"id": i, "source": "", "target": "", "origin": "", "source_words": words, "target_words": []}
                for i, words in enumerate(sentences))  # fmt: skip
        write_rows(raw, PAIR_SCHEMA, rows)
        bare_truecaser = sacremoses.MosesTruecaser()

        def learn_ours() -> bytes:
            learn_truecaser(raw, "source", ours)
            return ours.read_bytes()

        def learn_bare() -> bytes:
            bare_truecaser.train(sentences, save_to=str(bare))
            return bare.read_bytes()

        yield Race("learn truecase", learn_ours, learn_bare)
        truecaser, column = Truecaser.load(ours), pa.array(sentences)
    bare_lines = [bare_truecaser.truecase(text, use_known=True) for text in texts]
    yield Race(
        "truecase",
        lambda: list(map(truecaser, sentences)),
        lambda: [bare_truecaser.truecase(text, use_known=True) for text in texts],
    )
    assert truecaser.truecase_column(column).to_pylist() == bare_lines
    yield Race(
        "truecase column",
        lambda: len(truecaser.truecase_column(column)),
        lambda: len([bare_truecaser.truecase(text, use_known=True) for text in texts]),
    )
    detruecaser = sacremoses.MosesDetruecaser()
    yield Race(
        "detruecase",
        lambda: list(map(detruecase, sentences)),
        lambda: [detruecaser.detruecase(text) for text in texts],
    )


def japanese_races(lines: list[str]) -> Iterator[Race]:
    """Yield the comparison with bare MeCab."""
    import ipadic
    import MeCab

    tagger, words = MeCab.Tagger(f"{ipadic.MECAB_ARGS} -Owakati"), WordTokenizer(WordsSettings(kind="mecab"), "ja")
    yield Race(
        "mecab", lambda: [words.split(line) for line in lines], lambda: [tagger.parse(line).split() for line in lines]
    )


if __name__ == "__main__":
    main()
