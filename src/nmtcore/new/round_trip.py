"""Text that is taken apart into words and joined again: what it scores against itself, and words that lose little."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile

from nmtcore.config.corpora import WordsSettings
from nmtcore.config.training import EvaluationSettings
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.corpus.writing_systems import looks_tokenised, tokeniser_needed
from nmtcore.errors import UserError
from nmtcore.new.odd_text import excerpt

LEAST_BLEU = 98.0
"""From this BLEU against itself on, text is taken to survive its words."""
GAIN = 1.0
"""BLEU that other words than Moses' must gain to be chosen."""
SHOWN = 3
"""Differences that are shown."""
APOSTROPHES = ("be", "ca", "fa", "he", "hi", "tr", "uk", "uz")
"""Languages with apostrophes, joiners or other marks within words, whatever a sample says."""


@dataclass(frozen=True, kw_only=True)
class RoundTrip:
    """What became of texts that were taken apart and joined again."""

    bleu: float
    """BLEU of the joined texts against the texts."""
    examples: Sequence[tuple[str, str]]
    """The places of the first differences, before and after."""


def round_trip(
    texts: Sequence[str], words: WordsSettings, language: str, evaluation: EvaluationSettings
) -> RoundTrip | str:
    """Take texts apart, join them, and score them; return why not if a program for that is missing."""
    from nmtcore.evaluation.metrics import score_translations

    try:
        tokenizer = WordTokenizer(words, language)
        composed = list(map(tokenizer.compose, texts))
        joined = [tokenizer.join(tokenizer.split(text)) for text in composed]
        bleu = score_translations(joined, composed, replace(evaluation, metrics=()))["bleu"]
    except UserError as error:
        return str(error)
    pairs = dict.fromkeys((" ".join(old.split()), new) for old, new in zip(composed, joined, strict=True))
    different = list(islice((pair for pair in pairs if pair[0] != pair[1]), SHOWN))
    places = [
        sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(*pair, strict=False))) for pair in different
    ]
    examples = [(excerpt(old, place), excerpt(new, place)) for (old, new), place in zip(different, places, strict=True)]
    return RoundTrip(bleu=bleu, examples=examples)


def bleu_tokeniser(texts: Sequence[str], language: str) -> str:
    """Choose sacreBLEU's tokeniser: of Chinese and Japanese their own, of other scripts without spaces characters."""
    return language if language in ("ja", "zh") else tokeniser_needed(texts) or "13a"


def choose_words(texts: Sequence[str], language: str) -> WordsSettings:
    """Choose how raw text becomes words: text that is cut into words already is left so.

    The words of a script without spaces are Japanese ones or characters; of other text, the first kind of words from
    which it can be put together again or, if there is none, the best.
    """
    tokenize = bleu_tokeniser(texts, language)
    if looks_tokenised(texts):
        return WordsSettings(kind="spaces", normalise="nfc")
    if language == "ja":
        return WordsSettings(kind="mecab", normalise="nfc")
    if tokenize != "13a":
        return WordsSettings(kind="characters", normalise="nfc")
    best, bleu = None, 0.0
    candidates = [{}, {"apostrophes": "keep"}, {"kind": "spacy"}]
    for changes in candidates[language in APOSTROPHES :]:
        words = WordsSettings(normalise="nfc", **changes)
        trip = round_trip(texts, words, language, EvaluationSettings(tokenize=tokenize))
        if isinstance(trip, RoundTrip) and (best is None or trip.bleu >= bleu + GAIN):
            best, bleu = words, trip.bleu
        if bleu >= LEAST_BLEU:
            break
    return best or WordsSettings(normalise="nfc")
