"""Counts of sentences in files: what is read is what was written, and any part of it has sacreBLEU's score."""

from pathlib import Path

import numpy as np
import pytest
from evaluation.test_metrics import draw, own_bleu

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.errors import UserError
from nmtcore.evaluation.counts import checksum_of_test, length_ratio, read_counts, stored_measures, write_counts
from nmtcore.evaluation.metrics import METRICS, count_translations
from nmtcore.parquet import read_rows


def test_stored_counts_are_those_of_the_sentences(tmp_path: Path):
    translations, references = draw(40)
    evaluation = EvaluationSettings()
    counts = count_translations(translations, references, evaluation, METRICS)
    path = tmp_path / "counts/test.parquet"
    write_counts(path, counts)
    assert stored_measures(path) == list(METRICS)
    for measure, own in counts.items():
        stored = read_counts(path, measure, METRICS[measure].score)
        assert np.array_equal(stored.counts_BF, own.counts_BF)
        assert (stored.signature, stored.test) == (own.signature, checksum_of_test(references))
        assert stored.corpus_score() == own.corpus_score()
    part = [3, 1, 1, 20]
    texts = [[lines[row] for row in part] for lines in (translations, references)]
    assert stored.test != checksum_of_test(references[1:])
    bleu = read_counts(path, "bleu", METRICS["bleu"].score)
    assert bleu.rows(part).corpus_score() == pytest.approx(own_bleu(*texts, evaluation), rel=1e-12)
    first = next(iter(read_rows(path)))
    assert {measure: len(first[measure]) for measure in METRICS} == {
        "bleu": 10, "chrf": 18, "ribes": 2, "multi_bleu": 10,
    }  # fmt: skip


def test_the_length_ratio_is_that_of_the_tokens():
    counts = count_translations(["a b c", "", "a"], ["a b", "x y z", "a"], EvaluationSettings(tokenize="none"))
    assert length_ratio(counts["bleu"]) == pytest.approx(4 / 6)
    assert length_ratio(count_translations(["a"], [""], EvaluationSettings())["bleu"]) == 0


def test_a_measure_that_was_not_counted_is_named(tmp_path: Path):
    path = tmp_path / "test.parquet"
    write_counts(path, count_translations(["a"], ["a"], EvaluationSettings()))
    with pytest.raises(UserError, match=r"test\.parquet has no counts of recall: delete it, and run the workflow"):
        read_counts(path, "recall")
