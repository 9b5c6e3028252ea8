"""Expected agreement of human judges, against published figures."""

import pytest

from nmtcore.evaluation.compare import MEANING, expected_agreement


def test_agreement_is_as_published():
    assert expected_agreement("bleu", 1) == pytest.approx(64, abs=0.05)
    assert expected_agreement("bleu", -1) == expected_agreement("bleu", 1)
    assert expected_agreement("chrf", 1) == pytest.approx(93 / (1 + 2.718281828**-1.114), rel=1e-6)
    assert expected_agreement("bleu", 50) == pytest.approx(88.33)
    assert expected_agreement("ribes", 1) is None


def test_the_meaning_says_where_the_curves_begin():
    without_difference = [expected_agreement(metric, 0) for metric in ("bleu", "chrf")]
    assert "at {:.0f} % (BLEU) and {:.1f} % (chrF)".format(*without_difference) in MEANING
