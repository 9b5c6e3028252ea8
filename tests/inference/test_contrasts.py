"""Scores of contrastive pairs: those of the sentences, exact ties, and texts that cannot be scored."""

import re
from pathlib import Path

import numpy as np
import pytest
from factories import examples_of, run_settings, side
from inference.tiny import random_model, write_bundle

from nmtcore.config.transforms import InterleaveSettings
from nmtcore.corpus.contrasts import ContrastEntry, ContrastRows, WrongTranslation
from nmtcore.corpus.pairs import Side
from nmtcore.errors import UserError
from nmtcore.inference import contrasts, logprob
from nmtcore.inference.bundle import load_bundle
from nmtcore.inference.contrasts import score_contrasts, score_entries
from nmtcore.inference.logprob import score_text_pairs
from nmtcore.inference.text_pairs import TextFile

FILE = Path("pairs.tsv")


def entry(source, right, *wrong, place=""):
    return ContrastEntry(
        Side(text=source), Side(text=right), [WrongTranslation(Side(text=w), f"p{n}", n) for n, w in enumerate(wrong)],
        place,
    )  # fmt: skip


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    return load_bundle(write_bundle(tmp_path_factory.mktemp("contrasts") / "model"))


def test_pairs_have_the_scores_of_their_sentences(bundle, monkeypatch):
    monkeypatch.setattr(contrasts, "ENTRIES_PER_CHUNK", 2)
    entries = [entry("the cat", "a dog", "a cat", "dog a"), entry("dog", "the", "漢"), entry("a", "b", "c")]
    scores = list(score_entries(bundle, entries, where=FILE))
    pairs = [
        ("the cat", "a dog"),
        ("the cat", "a cat"),
        ("the cat", "dog a"),
        ("dog", "the"),
        ("dog", "漢"),
        ("a", "b"),
    ]
    texts = [TextFile(lines, name) for name, lines in zip("st", zip(*pairs, ("a", "c"), strict=True), strict=True)]
    alone = list(score_text_pairs(bundle, *texts))
    assert len(scores) == 4
    for own, right, wrong in zip(scores, (0, 0, 3, 5), (1, 2, 4, 6), strict=True):
        expected = [alone[row].log_probability for row in (right, wrong)]
        np.testing.assert_allclose((own.right, own.wrong), expected, rtol=1e-5)
        assert (own.right_tokens, own.wrong_tokens) == (alone[right].tokens, alone[wrong].tokens)
        assert own.unknown == alone[right].unknown + alone[wrong].unknown
    assert [(own.phenomenon, own.distance) for own in scores] == [("p0", 0), ("p1", 1), ("p0", 0), ("p0", 0)]
    assert [own.unknown for own in scores] == [0, 0, 1, 0]


def test_the_same_subwords_are_a_tie_in_any_batch(monkeypatch):
    monkeypatch.setattr(logprob, "SENTENCES_PER_BATCH", 1)
    targets = [[5, 1, 6], [5, 1, 6], [5, 6, 1]]
    examples = examples_of(side([[7, 8]] * 3), side(targets))
    noise = iter([0.0, 1e-7, -1e-7])
    exact = logprob._log_probabilities
    monkeypatch.setattr(logprob, "_log_probabilities", lambda *arguments: [exact(*arguments)[0] + next(noise)])
    rows = [ContrastRows(0, 1, "p", None), ContrastRows(0, 2, "p", None)]
    tie, other = score_contrasts(random_model(), examples, rows)
    assert tie.ties
    assert not tie.prefers_right
    assert not other.ties


@pytest.mark.parametrize(
    ("faulty", "sentence"),
    [
        (entry("\u2003", "a", "b", place="line 4"), "pairs.tsv, line 4: a source has no words: correct it."),
        (entry("a", "b", "\u2003", place="entry 2"), "pairs.tsv, entry 2: a translation has no words: correct it."),
        (entry("a", "b", "a" * 1001, place="line 9"), "pairs.tsv, line 9: the line has more than 1,000 subwords"),
    ],
)
def test_texts_without_words_or_with_too_many_are_refused(bundle, faulty, sentence):
    with pytest.raises(UserError, match=re.escape(sentence)):
        list(score_entries(bundle, [entry("the", "a", "b", "c"), faulty], where=FILE))


def test_a_system_that_generates_tags_is_refused(tmp_path):
    run = run_settings(
        transforms={"interleave": InterleaveSettings(side="target", tags="dg_a_tags")},
        features={"target": {"dg_a_tags": "parser"}},
        annotators={"parser": {"tool": "existing"}},
    )
    bundle = load_bundle(write_bundle(tmp_path / "model", run))
    with pytest.raises(UserError, match=r"^The system tiny generates tags among the words"):
        next(score_entries(bundle, [entry("a", "b", "c")], where=FILE))
