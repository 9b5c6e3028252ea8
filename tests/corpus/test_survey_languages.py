"""Shares of other languages in a sample: what the filters would drop, and which sides are swapped."""

import pytest

from nmtcore.corpus.filters import detect_language
from nmtcore.corpus.survey import DatasetSurvey, SplitSurvey, judge_languages

ENGLISH = [
    "The children are playing in the garden behind the house.", "We have been waiting for this letter since last week.",
    "There is nothing more that I could tell you about it.", "They walked through the old town without any hurry.",
]  # fmt: skip
GERMAN = [
    "Die Kinder spielen im Garten hinter dem alten Haus.", "Wir warten schon seit letzter Woche auf diesen Brief.",
    "Es gibt nichts mehr, was ich dir darüber erzählen könnte.", "Sie gingen ohne Eile durch die Straßen der Altstadt.",
]  # fmt: skip
LANGUAGES = {"source": "en", "target": "de"}


def test_shares_are_what_the_filter_drops():
    sample = [*zip(ENGLISH, GERMAN, strict=True), (GERMAN[0], GERMAN[0]), ("", GERMAN[1]), ("123", "456")]
    shares, others = judge_languages(sample, LANGUAGES)
    for column, side in enumerate(("source", "target")):
        texts = [pair[column] for pair in sample if pair[column]]
        dropped = [text for text in texts if detect_language(text) != LANGUAGES[side]]
        assert shares[side].texts == len(texts)
        assert shares[side].others == len(dropped) == (2, 1)[column]
    assert (shares["source"].swapped, shares["target"].swapped) == (1, 0)
    assert others == [
        pair
        for pair in sample
        if all(pair) and any(detect_language(text) != code for text, code in zip(pair, LANGUAGES.values(), strict=True))
    ]
    assert shares["source"].share == pytest.approx(2 / 6)


def test_swapped_files_are_a_fault():
    sample = list(zip(GERMAN, ENGLISH, strict=True))
    shares, _ = judge_languages(sample, LANGUAGES)
    assert (shares["source"].swapped, shares["target"].swapped) == (4, 4)
    words = {"source": "moses", "target": "moses"}
    survey = DatasetSurvey(
        languages=LANGUAGES, words=words, splits={"dev": SplitSurvey(sides={})}, shares={"dev": shares}
    )
    assert survey.faults == [
        f"dev: 4 of 4 {side} sentences drawn seem to be in the language of the other side, not in '{code}': are the "
        "files swapped?"
        for side, code in LANGUAGES.items()
    ]


def test_a_language_that_langdetect_does_not_know_is_left_out():
    shares, others = judge_languages([(ENGLISH[0], "Dźěći hrajkaja w zahrodźe.")], {"source": "en", "target": "hsb"})
    assert (list(shares), others) == (["source"], []), "the filter would refuse the language"
    assert (shares["source"].others, shares["source"].swapped) == (0, 0)
