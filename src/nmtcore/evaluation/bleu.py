"""BLEU and chrF by sacreBLEU, with the signatures that make the numbers comparable."""

from collections.abc import Sequence
from typing import Any, Literal

from nmtcore.errors import UserError


def score_text(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    tokenize: str = "13a",
    lowercase: bool = False,
    text: Literal["detokenised", "tokens"] = "detokenised",
) -> dict[str, Any]:
    """Score a translation against one reference a sentence.

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

    # `force` keeps sacreBLEU from warning that tokens are tokens.
    bleu = BLEU(tokenize=tokenize, lowercase=lowercase, force=text == "tokens")
    chrf = CHRF(lowercase=lowercase)
    bleu_score = bleu.corpus_score(list(hypotheses), [list(references)])
    chrf_score = chrf.corpus_score(list(hypotheses), [list(references)])
    note = "|text:tokens" if text == "tokens" else ""
    return {
        "bleu": bleu_score.score,
        "bleu_signature": bleu.get_signature().format() + note,
        "chrf": chrf_score.score,
        "chrf_signature": chrf.get_signature().format() + note,
        "brevity_penalty": bleu_score.bp,
        "length": bleu_score.sys_len,
        "reference_length": bleu_score.ref_len,
        "sentences": len(hypotheses),
    }
