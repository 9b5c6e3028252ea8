"""sacreBLEU's BLEU and chrF: the strings that they read, and the signatures needed to compare scores."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from nmtcore.errors import UserError
from nmtcore.evaluation.kytea import kytea_lines, kytea_version

if TYPE_CHECKING:
    from sacrebleu.metrics import BLEU, CHRF


def forget_lines(tokenizer: Any) -> None:
    """Empty the caches of one of sacreBLEU's tokenisers.

    They keep 65,536 lines (40 MB for short ones) but for this one object, so that no other score finds them: a training
    with validations by BLEU grew by that much.
    """
    for part in (tokenizer, getattr(tokenizer, "_post_tokenizer", None)):
        if clear := getattr(type(part).__call__, "cache_clear", None):
            clear()


TEXT_NOTES = {"detokenised": "", "tokens": "|text:tokens"}
"""What is appended to signatures, by the form of the strings."""


class BleuText(NamedTuple):
    """Translations and references as sacreBLEU's BLEU reads them, with the metric."""

    metric: "BLEU"
    hypotheses: list[str]
    references: list[str]
    note: str
    """Appended to sacreBLEU's signature."""

    @property
    def signature(self) -> str:
        """The signature of scores."""
        return self.metric.get_signature().format() + self.note

    def words(self, lines: Sequence[str]) -> list[list[str]]:
        """Divide lines into BLEU's tokens."""
        lowercase, tokenize = self.metric.lowercase, self.metric.tokenizer
        return [tokenize((line.lower() if lowercase else line).rstrip()).split() for line in lines]


class ChrfMetric(NamedTuple):
    """sacreBLEU's chrF, and the signature of its scores."""

    metric: "CHRF"
    signature: str


def chrf_metric(*, lowercase: bool = False, text: Literal["detokenised", "tokens"] = "detokenised") -> ChrfMetric:
    """Make the metric chrF; the settings are those of `bleu_text`."""
    from sacrebleu.metrics import CHRF

    metric = _with_one_reference(CHRF(lowercase=lowercase))
    return ChrfMetric(metric, metric.get_signature().format() + TEXT_NOTES[text])


def bleu_text(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    tokenize: str = "13a",
    lowercase: bool = False,
    text: Literal["detokenised", "tokens"] = "detokenised",
) -> BleuText:
    """Prepare translations and references for BLEU.

    `tokenize` is sacreBLEU's tokeniser. `ja` means KyTea's words on both sides if KyTea is installed
    (`|words:kytea-VERSION` in the signature), else sacreBLEU's `ja-mecab`. `text` is the form of the strings: `tokens`
    (joined by spaces on both sides) is added to the signature, since such scores are comparable only with each other.
    """
    from sacrebleu.metrics import BLEU

    strings = _JapaneseText(list(hypotheses), list(references), tokenize, "")
    if tokenize == "ja":
        strings = _segment_japanese(hypotheses, references)
    note = strings.signature + TEXT_NOTES[text]
    # `force` suppresses sacreBLEU's warning about tokenised text.
    bleu = _with_mecab_advice(lambda: BLEU(tokenize=strings.tokenize, lowercase=lowercase, force=bool(note)))
    return BleuText(_with_one_reference(bleu), strings.hypotheses, strings.references, note)


def _with_one_reference(metric: Any) -> Any:
    """Score an empty sentence, since sacreBLEU's signature says the number of references only after a score."""
    metric.corpus_score([""], [[""]])
    return metric


class _JapaneseText(NamedTuple):
    hypotheses: list[str]
    references: list[str]
    tokenize: str
    """sacreBLEU's tokeniser for both."""
    signature: str
    """Appended to BLEU's signature."""


def _segment_japanese(hypotheses: Sequence[str], references: Sequence[str]) -> _JapaneseText:
    """Segment both sides by KyTea if it is installed; else leave them to sacreBLEU's MeCab."""
    version = kytea_version()
    if version is None:
        return _JapaneseText(list(hypotheses), list(references), "ja-mecab", "")
    lines = kytea_lines([*hypotheses, *references])
    return _JapaneseText(lines[: len(hypotheses)], lines[len(hypotheses) :], "none", f"|words:kytea-{version}")


def _with_mecab_advice(make_metric: Callable[[], Any]) -> Any:
    """Make a metric of sacreBLEU. Raises `UserError` if it needs MeCab and MeCab is not installed."""
    try:
        return make_metric()
    except RuntimeError as error:
        raise UserError(
            "Scores on Japanese words need the program kytea, or the packages mecab-python3 and ipadic: "
            "pip install mecab-python3 ipadic."
        ) from error
