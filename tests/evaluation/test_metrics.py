"""Counts of sentences: their sums give sacreBLEU's own scores, on any part of a test and on any sample."""

import math
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sacrebleu import __version__
from sacrebleu.metrics import BLEU, CHRF

from nmtcore.config.training import EvaluationSettings
from nmtcore.errors import UserError
from nmtcore.evaluation.counts import checksum_of_test, length_ratio, read_counts, stored_measures, write_counts
from nmtcore.evaluation.metrics import METRICS, count_translations, score_translations
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
    assert counts.signature.endswith((f"version:{__version__}", "|text:tokens"))
    own = BLEU(tokenize=evaluation.tokenize.replace("ja", "ja-mecab")).corpus_score(translations, [references])
    assert (whole["length"], whole["reference_length"]) == (own.sys_len, own.ref_len)
    assert whole["length_ratio"] == length_ratio(counts) == pytest.approx(own.sys_len / own.ref_len)
    assert length_ratio(count("bleu", ["a"], [""], evaluation)) == 0
    assert len(counts) == whole["sentences"] == 60


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
    assert f"case:{'lc' if lowercase else 'mixed'}|" in whole["chrf_signature"]


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
    counts = count("multi_bleu", translations, references, EvaluationSettings(text="tokens"))
    assert counts.corpus_score() == pytest.approx(multi_bleu(translations, references), rel=1e-12)
    own = [multi_bleu([t], [r]) for t, r in zip(translations, references, strict=True)]
    assert by_row(counts) == pytest.approx(own, rel=1e-12)
    assert 0.0 in own
    lowercase = count("multi_bleu", ["A b c D"], ["a b C d"], EvaluationSettings(lowercase=True))
    assert lowercase.corpus_score() == pytest.approx(100.0)
    assert lowercase.signature == "multi-bleu|case:lc|tok:none|smooth:none|text:detokenised"


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


@pytest.mark.parametrize(
    ("hypotheses", "references", "match"),
    [(["a"], ["a", "b"], "1 translations .* 2 references"), ([], ["a", "b"], "0 translations"),
     ([], [], "no translations to score")],
)  # fmt: skip
def test_numbers_of_lines_that_cannot_be_scored(hypotheses, references, match):
    with pytest.raises(UserError, match=match):
        score_translations(hypotheses, references, EvaluationSettings())


def test_stored_counts_are_those_of_the_sentences(tmp_path: Path):
    translations, references = draw(40)
    counts = count_translations(translations, references, EvaluationSettings(), METRICS)
    path = tmp_path / "counts/test.parquet"
    write_counts(path, counts)
    assert stored_measures(path) == list(METRICS)
    for measure, own in counts.items():
        stored = read_counts(path, measure, METRICS[measure].score)
        assert np.array_equal(stored.counts_BF, own.counts_BF)
        assert (stored.signature, stored.test) == (own.signature, checksum_of_test(references))
        assert stored.corpus_score() == own.corpus_score()
    assert stored.test != checksum_of_test(references[1:])
    with pytest.raises(UserError, match=r"test\.parquet has no counts of recall: delete it, and run the workflow"):
        read_counts(path, "recall")
