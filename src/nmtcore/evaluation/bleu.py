"""BLEU and chrF by sacreBLEU, with the signatures that make the numbers comparable."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.errors import UserError
from nmtcore.evaluation.kytea import kytea_lines, kytea_version


def score_translations(
    hypotheses: Sequence[str], references: Sequence[str], evaluation: EvaluationSettings
) -> dict[str, Any]:
    """Score as a data set's settings ask for: tests, and the development set during training. See `score_text`."""
    return score_text(
        hypotheses,
        references,
        tokenize=evaluation.tokenize,
        lowercase=evaluation.lowercase,
        text=evaluation.text,
    )


def score_text(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    tokenize: str = "13a",
    lowercase: bool = False,
    text: Literal["detokenised", "tokens"] = "detokenised",
) -> dict[str, Any]:
    """Score a translation against one reference a sentence.

    `tokenize` is sacreBLEU's tokeniser for BLEU; `ja` are KyTea's words on both sides where KyTea is installed
    (`|words:kytea-VERSION` in BLEU's signature, chrF being computed on the text), else MeCab's, as sacreBLEU has them.
    `text` says what the strings are: `tokens` (joined by spaces on both sides) is added to the signatures, since such
    scores compare with no others. Returns bleu and chrf (0 to 100) with bleu_signature and chrf_signature, the brevity
    penalty, the lengths in BLEU's tokens, and the number of sentences. No sentence, or unequal numbers, is a
    `UserError`.
    """
    if len(hypotheses) != len(references):
        raise UserError(
            f"{len(hypotheses)} translations cannot be scored against {len(references)} references: "
            "give one line for each."
        )
    if not hypotheses:
        raise UserError("There is no translation to score.")
    from sacrebleu.metrics import BLEU, CHRF

    chrf = CHRF(lowercase=lowercase)
    chrf_score = chrf.corpus_score(list(hypotheses), [list(references)])
    note = "|text:tokens" if text == "tokens" else ""
    words = ""
    if tokenize == "ja":
        hypotheses, references, tokenize, words = _japanese(hypotheses, references)
    # `force` keeps sacreBLEU from warning that tokens are tokens.
    bleu = _explained(lambda: BLEU(tokenize=tokenize, lowercase=lowercase, force=bool(note or words)))
    bleu_score = bleu.corpus_score(list(hypotheses), [list(references)])
    return {
        "bleu": bleu_score.score,
        "bleu_signature": bleu.get_signature().format() + words + note,
        "chrf": chrf_score.score,
        "chrf_signature": chrf.get_signature().format() + note,
        "brevity_penalty": bleu_score.bp,
        "length": bleu_score.sys_len,
        "reference_length": bleu_score.ref_len,
        "sentences": len(hypotheses),
    }


def _japanese(hypotheses: Sequence[str], references: Sequence[str]) -> tuple[list[str], list[str], str, str]:
    """Give both sides as BLEU gets them, sacreBLEU's tokeniser for them, and what the signature adds."""
    version = kytea_version()
    if version is None:
        return list(hypotheses), list(references), "ja-mecab", ""
    cut = kytea_lines([*hypotheses, *references])
    return cut[: len(hypotheses)], cut[len(hypotheses) :], "none", f"|words:kytea-{version}"


def _explained(make: Callable[[], Any]) -> Any:
    """Turn sacreBLEU's complaint that MeCab is missing into a sentence."""
    try:
        return make()
    except RuntimeError as error:
        raise UserError(
            "Scores on Japanese words need KyTea, or the packages mecab-python3 and ipadic: "
            "pip install mecab-python3 ipadic."
        ) from error
