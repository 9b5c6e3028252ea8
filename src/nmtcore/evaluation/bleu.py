"""sacreBLEU's BLEU and chrF: the strings that they read, and the signatures needed to compare scores."""

import shutil
import subprocess
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.errors import UserError

if TYPE_CHECKING:
    from sacrebleu.metrics import BLEU, CHRF

TEXT_NOTES = {"detokenised": "", "tokens": "|text:tokens"}
"""What is appended to signatures, by the form of the strings: such scores are comparable only with each other."""


class BleuText(NamedTuple):
    """Translations and references as sacreBLEU's BLEU reads them, with the metric."""

    metric: "BLEU"
    translations: list[str]
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


def bleu_text(translations: Sequence[str], references: Sequence[str], evaluation: EvaluationSettings) -> BleuText:
    """Prepare translations and references for BLEU.

    The tokeniser `ja` means KyTea's words on both sides if KyTea is installed (`|words:kytea-VERSION` in the
    signature), else sacreBLEU's `ja-mecab`. Raises `UserError` if that needs MeCab and MeCab is not installed.
    """
    from sacrebleu.metrics import BLEU

    lines, tokenize, note = [*translations, *references], evaluation.tokenize, ""
    if tokenize == "ja":
        version = kytea_version()
        tokenize = "ja-mecab" if version is None else "none"
        if version is not None:
            lines, note = kytea_lines(lines), f"|words:kytea-{version}"
    note += TEXT_NOTES[evaluation.text]
    try:
        # `force` suppresses sacreBLEU's warning about tokenised text.
        metric = with_one_reference(BLEU(tokenize=tokenize, lowercase=evaluation.lowercase, force=bool(note)))
    except RuntimeError as error:
        raise UserError(
            "Scores on Japanese words need the program kytea, or the packages mecab-python3 and ipadic: "
            "pip install mecab-python3 ipadic."
        ) from error
    return BleuText(metric, lines[: len(translations)], lines[len(translations) :], note)


def chrf_metric(evaluation: EvaluationSettings) -> "CHRF":
    """Make the metric chrF."""
    from sacrebleu.metrics import CHRF

    return with_one_reference(CHRF(lowercase=evaluation.lowercase))


def with_one_reference(metric: Any) -> Any:
    """Score an empty sentence, since sacreBLEU's signature says the number of references only after a score."""
    metric.corpus_score([""], [[""]])
    return metric


def forget_lines(tokenizer: Any) -> None:
    """Empty the caches of one of sacreBLEU's tokenisers.

    They keep 65,536 lines (40 MB for short ones) but for this one object, so that no other score finds them: a training
    with validations by BLEU grew by that much.
    """
    for part in (tokenizer, getattr(tokenizer, "_post_tokenizer", None)):
        if clear := getattr(type(part).__call__, "cache_clear", None):
            clear()


def kytea_version() -> str | None:
    """Return the version of KyTea; None if it is not installed."""
    if shutil.which("kytea") is None:
        return None
    process = _run_kytea(["--version"], "")
    words = (process.stdout + process.stderr).split()
    if process.returncode or "version" not in words[:-1]:
        raise UserError(f"The program kytea prints no version{_outcome(process)}: install it again, or remove it.")
    return words[words.index("version") + 1]


def kytea_lines(lines: Sequence[str]) -> list[str]:
    """Segment each line into words joined by spaces, with KyTea's default model or KYTEA_MODEL."""
    # KyTea treats a space like any other character, and skips a last line without a line end.
    text = "".join(" ".join(line.split()) + "\n" for line in lines)
    process = _run_kytea(["-notags", "-out", "tok"], text)
    output = process.stdout.split("\n")[:-1]
    if process.returncode or len(output) != len(lines):
        raise UserError(
            f"KyTea wrote {len(output)} lines for {len(lines)}{_outcome(process)}: try `kytea < file`, and check that "
            "its model exists (KYTEA_MODEL names another)."
        )
    return [" ".join(line.split()) for line in output]


def _run_kytea(options: Sequence[str], text: str) -> subprocess.CompletedProcess[str]:
    command = ["kytea", *options]
    try:
        return subprocess.run(command, input=text, capture_output=True, encoding="utf-8", errors="replace", check=False)
    except OSError as error:
        raise UserError(f"The program kytea cannot be started ({error.strerror}): install it again.") from error


def _outcome(process: subprocess.CompletedProcess[str]) -> str:
    errors = process.stderr.strip().splitlines()
    return f" (status {process.returncode}; error: {errors[-1]})" if errors else f" (status {process.returncode})"
