"""BLEU and chrF against sacreBLEU, and their signatures."""

import pytest
import sacrebleu

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.errors import UserError
from nmtcore.evaluation.metrics import score_translations

REFERENCES = ["Der Hund läuft schnell über die Wiese.", "Zwei Männer sitzen auf einer Bank.", "Ein Kind lacht ."]
HYPOTHESES = ["Ein Hund läuft schnell über die Wiese.", "Zwei männer sitzen auf der Bank.", "Ein Kind lacht ."]


@pytest.mark.parametrize(("tokenize", "lowercase"), [("13a", False), ("none", True), ("intl", False), ("zh", False)])
def test_scores_match_sacrebleu(tokenize, lowercase):
    scores = score_translations(HYPOTHESES, REFERENCES, EvaluationSettings(tokenize=tokenize, lowercase=lowercase))
    expected = sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES], tokenize=tokenize, lowercase=lowercase)
    assert scores["bleu"] == pytest.approx(expected.score, rel=1e-12)
    assert 30 < scores["bleu"] < 90
    assert (scores["length"], scores["reference_length"]) == (expected.sys_len, expected.ref_len)
    assert scores["length_ratio"] == pytest.approx(expected.sys_len / expected.ref_len)
    assert scores["chrf"] == sacrebleu.metrics.CHRF(lowercase=lowercase).corpus_score(HYPOTHESES, [REFERENCES]).score
    assert f"case:{'lc' if lowercase else 'mixed'}|" in scores["bleu_signature"]
    assert f"tok:{tokenize}|" in scores["bleu_signature"]
    assert scores["bleu_signature"].endswith(f"version:{sacrebleu.__version__}")
    assert scores["sentences"] == 3


def test_chinese_is_scored_by_characters_wherever_its_words_are_separated():
    scores = [
        score_translations(["两只 狗 在 草地上 奔跑 。"], [line], EvaluationSettings(tokenize="zh"))
        for line in ("两只狗在草地上奔跑。", "两 只 狗 在 草地 上 奔跑。")
    ]
    assert [round(score["bleu"], 6) for score in scores] == [100, 100]


@pytest.mark.parametrize("tokenize", ["13a", "intl", "zh", "ja"])
def test_no_lines_are_kept_after_scoring(tokenize):
    """They were, up to 65,536, for a tokeniser that is never used again."""
    score_translations(HYPOTHESES, REFERENCES, EvaluationSettings(tokenize=tokenize))
    tokenizers = [
        sacrebleu.BLEU(tokenize=tokenize.replace("ja", "ja-mecab")).tokenizer,
        sacrebleu.BLEU(tokenize="13a").tokenizer._post_tokenizer,
    ]
    assert [type(tokenizer).__call__.cache_info().currsize for tokenizer in tokenizers] == [0, 0]


def test_signatures_name_tokenised_text():
    plain = score_translations(HYPOTHESES, REFERENCES, EvaluationSettings(tokenize="none"))
    tokens = score_translations(HYPOTHESES, REFERENCES, EvaluationSettings(tokenize="none", text="tokens"))
    assert tokens["bleu_signature"] == plain["bleu_signature"] + "|text:tokens"
    assert tokens["chrf_signature"] == plain["chrf_signature"] + "|text:tokens"
    assert tokens["bleu"] == plain["bleu"]


@pytest.mark.parametrize(
    ("hypotheses", "references", "match"),
    [(["a"], REFERENCES, "1 translations .* 3 references"), ([], REFERENCES, "0 translations"),
     ([], [], "no translations to score")],
)  # fmt: skip
def test_numbers_of_lines_that_cannot_be_scored(hypotheses, references, match):
    with pytest.raises(UserError, match=match):
        score_translations(hypotheses, references, EvaluationSettings())
