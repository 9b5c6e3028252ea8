"""`nmtcore score`: tables, signatures and notes, and its errors."""

import gzip
import re

import pytest
from called import call_nmtcore
from evaluation.test_metrics import draw
from sacrebleu.metrics import BLEU, CHRF

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.evaluation.compare import bootstrap_weights, compare_systems, paired_tests, randomisation_swaps
from nmtcore.evaluation.metrics import METRICS
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


def test_systems_are_compared_with_the_first(texts):
    translations, references = texts
    systems = [f"{name}={name}/seed*.txt" for name in SYSTEMS]
    output = score(*systems, "--ribes", "--multi-bleu", "--all")
    sentences, bleu, chrf, ribes, multi_bleu, signatures, notes = output.split("\n\n")
    assert sentences == "40 sentences"
    tables = {"bleu": bleu, "chrf": chrf, "ribes": ribes, "multi_bleu": multi_bleu}
    for metric, table in tables.items():
        counted = {
            name: [METRICS[metric].count(lines, references, EvaluationSettings()) for lines in seeds]
            for name, seeds in translations.items()
        }
        results = compare_systems(counted, baseline="base")
        header = table.splitlines()[0]
        assert f"{METRICS[metric].label}: {counted['base'][0].signature}" in signatures.splitlines()
        assert header.split()[0] == METRICS[metric].label
        result = results["better"].difference
        row = row_of(table, "better")
        assert row[3] == f"{result.delta:+.2f}"
        assert row[4] == f"{result.interval[0]:+.2f} to {result.interval[1]:+.2f}"
        assert row[5] == f"{result.detectable:.2f}"
        assert (len(row) == 9) == (metric in ("bleu", "chrf"))  # judges
        assert "bootstrap" not in header, "sacreBLEU's tests are of single runs"
        assert row_of(table, "base")[1] == "3"
        assert len(row_of(table, "base")) == 3
    assert "difference: from base, ±" in " ".join(notes.split())
    assert "One seed (single): an interval from one seed leaves training noise out" in " ".join(notes.split())


def test_each_seed_is_tested_as_by_sacrebleu(texts):
    """Against the seed of the first system with the same number; a seed that only one of them has is left out."""
    translations, references = texts
    systems = [f"{name}={name}/seed*.txt" for name in ("better", "base", "single")]
    _, _, *blocks, _, notes = score(*systems, "--tests").split("\n\n")
    draws = bootstrap_weights(40), randomisation_swaps(40)
    for metric, table in zip(("bleu", "chrf"), blocks, strict=True):
        counted = {
            name: [METRICS[metric].count(lines, references, EvaluationSettings()) for lines in translations[name]]
            for name in ("better", "base", "single")
        }
        expected = [
            [name, str(seed), f"{tested.delta:+.2f}", *("< 0.001" if p < 0.001 else f"{p:.3f}" for p in tested[1:])]
            for name in ("base", "single")
            for seed, pair in enumerate(zip(counted[name], counted["better"], strict=False), start=1)
            for tested in [paired_tests(*pair, *draws)]
        ]
        assert [re.split("  +", line) for line in table.splitlines()[1:]] == expected
        assert [row[:2] for row in expected] == [["base", "1"], ["base", "2"], ["single", "1"]]
    assert "They say that a run is better, not that a system is." in " ".join(notes.split())


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


def test_one_table_has_lengths_and_differences_within_the_terminal(texts, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    translations, references = texts
    output = score(*(f"{name}/seed*.txt" for name in SYSTEMS))
    _, table, signatures, notes = output.split("\n\n")
    header, *rows = (re.split("  +", line) for line in table.splitlines())
    assert header == ["system", "BLEU", "length", "empty", "difference", "chrF", "difference"]
    assert [row[0] for row in rows] == list(SYSTEMS), "the rest of the names is common to all"
    counted = {
        name: [METRICS["bleu"].count(lines, references, EvaluationSettings()) for lines in seeds]
        for name, seeds in translations.items()
    }
    difference = compare_systems(counted, baseline="base")["better"].difference
    low, high = difference.interval
    assert rows[1][4] == f"{difference.delta:+.1f} ± {(high - low) / 2:.1f}"
    assert max(map(len, [*table.splitlines(), *notes.splitlines()])) <= 80
    assert [line.partition(":")[0] for line in signatures.splitlines()] == ["BLEU", "chrF"]


def test_single_seeds_and_empty_translations_are_noted(texts, tmp_path):
    write_lines(tmp_path / "empty.txt", ["x"] * 19 + [""] * 21)
    output = score("single/seed1.txt", "empty.txt")
    assert output.split("\n\n")[:2] == ["40 sentences", "empty.txt, file 1: 21 of 40 translations are empty."]
    assert row_of(output.split("\n\n")[2], "empty.txt")[3] == "21.0"
    note = "One seed (all): an interval from one seed leaves training noise out and excludes 0 wrongly in 45 of 100 "
    assert note in " ".join(output.split())


def test_a_copy_of_the_baseline_is_noted(texts, tmp_path):
    write_lines(tmp_path / "copy.txt", texts[0]["single"][0])
    output = score("single/seed1.txt", "copy.txt", "--all")
    row = ["+0.00", "+0.00 to +0.00", "0.00", "1.000", "1.000", "44"]
    assert row_of(output.split("\n\n")[1], "copy.txt")[3:] == row
    assert "copy.txt has the same translations as the baseline." in output


def test_mistakes_are_one_sentence(texts):
    sentence = "nmtcore score: No file matches none.txt: check the name.\n"
    assert call_nmtcore("score", "ref.txt", "none.txt") == (2, "", sentence)


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
    for more in (["--tokenize", "13a"], ["--tokens"]):
        assert call_nmtcore("score", "ref.txt", "ref.txt", *more).errors == ""
    if advice and "--tokenize" in advice:
        called = call_nmtcore("score", "ref.txt", "ref.txt", *advice.split()[1:])
        assert (row_of(called.output, "ref.txt")[1], called.errors) == ("100.0", "")


def test_compressed_files_are_scored(texts, tmp_path):
    for name in ("ref", "base/seed1"):
        path = tmp_path / f"{name}.txt"
        path.with_suffix(".gz").write_bytes(gzip.compress(path.read_bytes()))
    compressed = call_nmtcore("score", "ref.gz", "x=base/seed1.gz").output
    assert compressed == score("x=base/seed1.txt") != ""
