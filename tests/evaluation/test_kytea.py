"""Scores on Japanese, with a fake program `kytea` that puts a space between all letters."""

import sys

import pytest
import sacrebleu

from nmtcore.config.training import EvaluationSettings
from nmtcore.errors import UserError
from nmtcore.evaluation.metrics import kytea_lines, score_translations

HYPOTHESES = ["今日は東京で本を買った。", "彼は走る", ""]
REFERENCES = ["今日は東京で\u3000本を 買った。", "彼は速く走る", "はい"]
FAKE = """#!{python}
import sys
if "--version" in sys.argv:
    print("KyTea version 0.4.7", file=sys.stderr)
    sys.exit(0)
assert sys.argv[1:] == ["-notags", "-out", "tok"], sys.argv
for line in sys.stdin.buffer.read().decode("utf-8").split("\\n")[:-1]:
    sys.stdout.buffer.write((" ".join(line) + "\\n").encode("utf-8"))
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a program as kytea, and hide all other programs."""

    def install(text: str | None) -> None:
        if text is not None:
            program = tmp_path / "kytea"
            program.write_text(text.replace("{python}", sys.executable))
            program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))

    return install


def test_kytea_is_used_if_installed(install):
    install(FAKE)
    scores = score_translations(HYPOTHESES, REFERENCES, EvaluationSettings(tokenize="ja"))
    cut = [[" ".join("".join(line.split())) for line in side] for side in (HYPOTHESES, REFERENCES)]
    assert scores["bleu"] == sacrebleu.corpus_bleu(cut[0], [cut[1]], tokenize="none", force=True).score > 10
    assert "|tok:none|" in scores["bleu_signature"]
    assert scores["bleu_signature"].endswith("|words:kytea-0.4.7")
    assert "kytea" not in scores["chrf_signature"]
    assert scores["chrf"] == sacrebleu.corpus_chrf(HYPOTHESES, [REFERENCES]).score
    lines = ["", "日\u2028本", " あ  い\r", "終"]
    assert kytea_lines(lines) == ["", "日 本", "あ い", "終"], "lines stay lines"


def test_a_failing_kytea_is_an_error(install):
    install("#!{python}\nimport sys; sys.exit('no model')")
    with pytest.raises(UserError, match=r"The program kytea fails \(no model\): try `kytea < file`"):
        kytea_lines(["日本"])


def test_neither_kytea_nor_mecab_is_an_error(install, monkeypatch):
    from sacrebleu.tokenizers import tokenizer_ja_mecab

    install(None)
    monkeypatch.setattr(tokenizer_ja_mecab, "MeCab", None)
    with pytest.raises(UserError, match="pip install mecab-python3 ipadic"):
        score_translations(HYPOTHESES, REFERENCES, EvaluationSettings(tokenize="ja"))
