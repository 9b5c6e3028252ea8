"""`nmtcore score`: tables, signatures and notes, and its errors."""

import gzip
import re

import pytest
from called import call_nmtcore
from evaluation.test_metrics import draw
from sacrebleu.metrics import BLEU, CHRF

from nmtcore.config.training import EvaluationSettings
from nmtcore.evaluation.compare import compare_systems
from nmtcore.evaluation.metrics import METRICS
from nmtcore.evaluation.summary import Estimate, SeedMean
from nmtcore.files import write_lines

SYSTEMS = {"base": (0.4, 0.42, 0.44), "better": (0.2, 0.25), "single": (0.35,)}


@pytest.fixture
def texts(tmp_path, monkeypatch):
    """References, and translations of each system and seed."""
    monkeypatch.chdir(tmp_path)
    _, references = draw(40)
    write_lines(tmp_path / "ref.txt", references)
    translations = {name: [draw(40, wrong=wrong)[0] for wrong in seeds] for name, seeds in SYSTEMS.items()}
    for name, seeds in translations.items():
        for seed, lines in enumerate(seeds, start=1):
            write_lines(tmp_path / name / f"seed{seed}.txt", lines)
    return translations, references


def score(*arguments):
    return call_nmtcore("score", "ref.txt", *arguments).output


def row_of(table, name):
    return re.split(r"  +", next(line for line in table.splitlines() if line.startswith(f"{name} ")))


def counted_by(metric, translations, references):
    return {
        name: [METRICS[metric].count(lines, references, EvaluationSettings()) for lines in seeds]
        for name, seeds in translations.items()
    }


def test_systems_are_compared_with_the_first(texts, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    systems = [f"{name}/seed*.txt" for name in SYSTEMS]
    sentences, *tables, signatures, notes = score(*systems, "--ribes", "--multi-bleu", "--all").split("\n\n")
    assert sentences == "40 sentences"
    _, table, one_table_signatures, one_table_notes = score(*systems).split("\n\n")
    header, *rows = (re.split("  +", line) for line in table.splitlines())
    assert header == ["system", "BLEU", "length", "empty", "difference", "chrF", "difference"]
    assert [row[0] for row in rows] == list(SYSTEMS), "the rest of the names is common to all"
    assert [line.partition(":")[0] for line in one_table_signatures.splitlines()] == ["BLEU", "chrF"]
    assert max(map(len, [*table.splitlines(), *one_table_notes.splitlines()])) <= 80
    for metric, table in zip(("bleu", "chrf", "ribes", "multi_bleu"), tables, strict=True):
        counted = counted_by(metric, *texts)
        result = compare_systems(counted, {"better": "base"})["better"]
        judged = metric in ("bleu", "chrf")
        header, base, better, _ = (re.split("  +", line) for line in table.splitlines())
        assert header[0] == METRICS[metric].label
        assert header[1:] == [
            "seeds", "score", "difference", "95 % interval", "detectable", "p", "Holm", *["judges, %"] * judged,
        ]  # fmt: skip
        scores = SeedMean.over([seed.corpus_score() for seed in counted["base"]])
        assert base == ["base", "3", scores.text(1 if metric == "chrf" else 2)]
        low, high = result.interval
        assert better[3:6] == [f"{result.delta:+.2f}", f"{low:+.2f} to {high:+.2f}", f"{result.detectable:.2f}"]
        assert f"{header[0]}: {counted['base'][0].signature}" in signatures.splitlines()
        if judged:
            assert rows[1][4 if metric == "bleu" else 6] == Estimate.of(result).text()
    assert "difference: from base, ±" in " ".join(notes.split())
    assert "One seed (single): an interval from one seed leaves training noise out" in " ".join(notes.split())


@pytest.mark.parametrize(
    ("options", "settings"), [([], {}), (["--tokenize", "intl", "--lowercase"], {"lowercase": True})]
)
def test_scores_are_those_of_sacrebleu(texts, options, settings):
    translations, references = texts
    bleu = BLEU(tokenize="intl" if options else "13a", **settings)
    own = [metric.corpus_score(translations["single"][0], [references]).score for metric in (bleu, CHRF(**settings))]
    output = score("single/seed1.txt", *options)
    bleu_text, length, empty, chrf_text = row_of(output, "single/seed1.txt")[1:]
    assert [bleu_text, chrf_text] == [f"{score:.1f}" for score in own]
    lengths = bleu.corpus_score(translations["single"][0], [references])
    assert length == f"{lengths.sys_len / lengths.ref_len:.2f}"
    assert empty == f"{sum(not line.strip() for line in translations['single'][0]):.1f}"
    assert bleu.get_signature().format() in output
    assert score("single/seed1.txt", "--tokens", *options).count("|text:tokens") == 2
    assert "baseline" not in output


def test_single_seeds_empty_translations_and_copies_are_noted(texts, tmp_path):
    write_lines(tmp_path / "empty.txt", ["x"] * 19 + [""] * 21)
    (tmp_path / "copy.txt.gz").write_bytes(gzip.compress((tmp_path / "single/seed1.txt").read_bytes()))
    sentences, warning, table, *_ = score("single/seed1.txt", "empty.txt", "copy.txt.gz", "--all").split("\n\n")
    assert (sentences, warning) == ("40 sentences", "empty.txt, file 1: 21 of 40 translations are empty.")
    row = ["+0.00", "+0.00 to +0.00", "0.00", "1.000", "1.000", "44"]
    assert row_of(table, "copy.txt.gz")[3:] == row
    output = score("single/seed1.txt", "empty.txt", "copy.txt.gz")
    assert row_of(output, "empty.txt")[3] == "21.0"
    note = "One seed (all): an interval from one seed leaves training noise out, and in a simulation, 45 of 100 "
    assert note in " ".join(output.split())
    assert "copy.txt.gz has the same translations as the baseline." in output
    assert score("ref.txt").splitlines()[2].split() == ["system", "BLEU", "length", "chrF"], "nothing is empty"


def test_systems_are_not_compared_on_one_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("ref.txt", "a", "b"):
        write_lines(tmp_path / name, ["a b"])
    assert score("a").startswith("1 sentence\n")
    assert "cannot be compared on a single sentence" in call_nmtcore("score", "ref.txt", "a", "b").errors


@pytest.mark.parametrize(
    ("sentence", "advice"),
    [
        ("两只狗在草地上奔跑。", "add --tokenize zh"),
        ("犬が二匹、草地を走っています。", "add --tokenize ja"),
        ("สุนัขสองตัววิ่งบนหญ้า", "add --tokenize char"),
        ("两 只 狗 在 草地 上 奔跑 。", None),
        ("two dogs 狗 run", None),
        ("개 두 마리가 풀밭을 달린다.", None),
    ],
)
def test_text_without_spaces_needs_a_tokeniser(sentence, advice, tmp_path, monkeypatch):
    """The advice makes BLEU of equal texts 100, and is given only where nobody has chosen."""
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "ref.txt", [f"{sentence}{number}" for number in range(9)])
    called = call_nmtcore("score", "ref.txt", "ref.txt")
    said = f"ref.txt: the text has no spaces, which BLEU's words need: {advice}.\n"
    assert (called.code, called.errors) == (0, said if advice else "")
    assert call_nmtcore("score", "ref.txt", "ref.txt", "--tokens").errors == ""
    if advice and "--tokenize" in advice:
        called = call_nmtcore("score", "ref.txt", "ref.txt", *advice.split()[1:])
        assert (row_of(called.output, "ref.txt")[1], called.errors) == ("100.0", "")
