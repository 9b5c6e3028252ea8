"""Counts of sentences: their sums give sacreBLEU's own scores, on any part of a test and on any sample."""

import math
import random
from collections import Counter

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.evaluation.compare import bootstrap_weights
from nmtcore.evaluation.metrics import METRICS, score_translations
from nmtcore.evaluation.ribes import sentence_ribes

SETTINGS = {
    "13a": EvaluationSettings(),
    "tokens": EvaluationSettings(text="tokens", tokenize="none"),
    "lowercase": EvaluationSettings(tokenize="intl", lowercase=True),
    "japanese": EvaluationSettings(tokenize="ja"),
}


def draw(sentences, *, seed=1, wrong=0.3):
    """Draw references, and translations with some other words; some are empty, some have no match."""
    words = ["The", "cat,", "sees", "a", "dog.", "It's", "state-of-the-art", "3.5%", "(so)", "日本語", "and", "Zürich"]
    rng = random.Random(seed)
    references = [" ".join(rng.choices(words, k=rng.randint(1, 15))) for _ in range(sentences)]
    translations = [
        " ".join(rng.choice(words) if rng.random() < wrong else word for word in line.split()) for line in references
    ]
    translations[1::7] = [""] * len(translations[1::7])
    translations[3::11] = ["xyzzy"] * len(translations[3::11])
    return translations, references


def count(metric, translations, references, evaluation):
    return METRICS[metric].count(translations, references, evaluation)


def by_row(counts):
    """Score each sentence alone."""
    return counts.score(counts.counts_BF)


def own_bleu(translations, references, evaluation):
    """Score a list of sentences by sacreBLEU, without any of our code."""
    tokenize = "ja-mecab" if evaluation.tokenize == "ja" else evaluation.tokenize
    metric = BLEU(tokenize=tokenize, lowercase=evaluation.lowercase, force=True)
    return metric.corpus_score(translations, [references]).score


@pytest.mark.parametrize("settings", SETTINGS)
def test_any_part_has_the_score_of_sacrebleu(settings):
    evaluation = SETTINGS[settings]
    translations, references = draw(60)
    counts = count("bleu", translations, references, evaluation)
    rng = random.Random(2)
    parts = [range(60), range(1), range(1, 2), *(rng.choices(range(60), k=size) for size in (1, 2, 3, 9, 30, 120))]
    for part in parts:
        texts = [[lines[row] for row in part] for lines in (translations, references)]
        assert counts.rows(np.array(part)).corpus_score() == pytest.approx(own_bleu(*texts, evaluation), rel=1e-12)
    whole = score_translations(translations, references, evaluation)
    assert counts.corpus_score() == pytest.approx(whole["bleu"], rel=1e-12)
    assert counts.signature == whole["bleu_signature"]
    assert len(counts) == 60


@pytest.mark.parametrize("lowercase", [False, True])
def test_any_part_has_exactly_the_chrf_of_sacrebleu(lowercase):
    evaluation = EvaluationSettings(lowercase=lowercase)
    translations, references = draw(60)
    references[5:8] = ["", " ", "x"]
    translations[20:23] = ["THE CAT", "\u3000a\u2028b\U0001f600", "a"]
    counts = count("chrf", translations, references, evaluation)
    rng = random.Random(3)
    parts = [range(60), *([i] for i in range(60)), *(rng.choices(range(60), k=size) for size in (2, 3, 9, 120))]
    for part in parts:
        texts = [[lines[row] for row in part] for lines in (translations, references)]
        own = CHRF(lowercase=lowercase).corpus_score(texts[0], [texts[1]]).score
        assert counts.rows(np.array(part)).corpus_score() == own
    pairs = zip(translations, references, strict=True)
    own = [CHRF(lowercase=lowercase).corpus_score([t], [[r]]).score for t, r in pairs]
    assert by_row(counts).tolist() == own
    whole = score_translations(translations, references, evaluation)
    assert (counts.corpus_score(), counts.signature) == (whole["chrf"], whole["chrf_signature"])


def multi_bleu(translations, references):
    """Moses's multi-bleu.perl for one reference, from its definition."""
    correct, total, length, reference_length = [0] * 4, [0] * 4, 0, 0
    for translation, reference in zip(translations, references, strict=True):
        words, reference_words = translation.split(), reference.split()
        length += len(words)
        reference_length += len(reference_words)
        for n in range(1, 5):
            ngrams, reference_ngrams = (
                Counter(tuple(w[i : i + n]) for i in range(len(w) - n + 1)) for w in (words, reference_words)
            )
            correct[n - 1] += sum((ngrams & reference_ngrams).values())
            total[n - 1] += sum(ngrams.values())
    if 0 in correct:
        return 0.0
    penalty = 1.0 if length > reference_length else math.exp(1 - reference_length / length)
    return 100 * penalty * math.exp(sum(math.log(c / t) for c, t in zip(correct, total, strict=True)) / 4)


def test_multi_bleu_is_that_of_a_plain_reference():
    translations, references = draw(60)
    evaluation = EvaluationSettings(text="tokens")
    counts = count("multi_bleu", translations, references, evaluation)
    assert counts.corpus_score() == pytest.approx(multi_bleu(translations, references), rel=1e-12)
    own = [multi_bleu([t], [r]) for t, r in zip(translations, references, strict=True)]
    assert by_row(counts) == pytest.approx(own, rel=1e-12)
    assert 0.0 in own
    lowercase = count("multi_bleu", ["A b c D"], ["a b C d"], EvaluationSettings(lowercase=True))
    assert lowercase.corpus_score() == pytest.approx(100.0)
    assert lowercase.signature == "multi-bleu|case:lc|tok:none|smooth:none|text:detokenised"
    unmatched = count("multi_bleu", ["a b x c d"], ["a b y c d"], evaluation)
    assert unmatched.corpus_score() == by_row(unmatched)[0] == 0.0
    assert count("bleu", ["a b x c d"], ["a b y c d"], evaluation).corpus_score() > 0


def test_ribes_of_a_test_is_the_mean_over_sentences():
    translations, references = draw(30)
    counts = count("ribes", translations, references, EvaluationSettings())
    words = BLEU().tokenizer
    scores = [sentence_ribes(words(t).split(), words(r).split()) for t, r in zip(translations, references, strict=True)]
    assert counts.corpus_score() == pytest.approx(100 * sum(scores) / 30)
    assert counts.rows(np.array([2, 2, 5])).corpus_score() == pytest.approx(100 * (2 * scores[2] + scores[5]) / 3)
    assert counts.signature == "RIBES|nrefs:1|case:mixed|tok:13a|alpha:0.25|beta:0.1|definition:program"
    with_empty = count("ribes", [*translations, "a b", ""], [*references, "", ""], EvaluationSettings())
    assert with_empty.corpus_score() == counts.corpus_score(), "sentences with an empty reference do not count"
    assert with_empty.rows(np.array([30])).corpus_score() == 0


def test_samples_are_scored_as_by_a_plain_loop():
    translations, references = draw(25)
    evaluation = EvaluationSettings(tokenize="none")
    counts = count("bleu", translations, references, evaluation)
    weights_AB = bootstrap_weights(25, samples=40, seed=5)
    scores_A = counts.sampled_scores(weights_AB)
    assert weights_AB.shape == (40, 25)
    assert (weights_AB.sum(axis=1) == 25).all()
    for score, weights in zip(scores_A, weights_AB.astype(int), strict=True):
        texts = [
            [line for line, n in zip(lines, weights, strict=True) for _ in range(n)]
            for lines in (translations, references)
        ]
        assert score == pytest.approx(own_bleu(*texts, evaluation), rel=1e-12)


@pytest.mark.parametrize("sentences", [1, 2, 33, 1001])
def test_samples_are_those_drawn_all_at_once(sentences):
    drawn_AB = np.random.default_rng(7).choice(sentences, size=(60, sentences), replace=True)
    weights_AB = [np.bincount(drawn_B, minlength=sentences) for drawn_B in drawn_AB]
    assert np.array_equal(bootstrap_weights(sentences, samples=60, seed=7), weights_AB)


def test_samples_are_those_of_sacrebleu(monkeypatch):
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)
    translations, references = draw(50)
    counts = count("bleu", translations, references, EvaluationSettings())
    scores_A = counts.sampled_scores(bootstrap_weights(50))
    own = BLEU().corpus_score(translations, [references], n_bootstrap=1000)
    ordered = np.sort(scores_A)
    assert scores_A.mean() == pytest.approx(own._mean, rel=1e-6)  # sacreBLEU's sums are float32
    assert (ordered[974] - ordered[25]) / 2 == pytest.approx(own._ci, rel=1e-6)


def test_mistakes():
    with pytest.raises(ValueError, match="no score"):
        count("bleu", [], [], EvaluationSettings()).corpus_score()
    with pytest.raises(ValueError, match="no sentences to draw"):
        bootstrap_weights(0)
