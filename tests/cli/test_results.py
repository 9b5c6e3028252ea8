"""`nmtcore results`: the scores of a folder."""

import re

import pytest
from called import call_nmtcore
from evaluation.test_metrics import draw
from reporting.runs import EVALUATION, Results

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.evaluation.compare import compare_systems
from nmtcore.evaluation.metrics import bleu_scores, count_translations
from nmtcore.files import write_json
from nmtcore.layout import Layout

SYSTEMS = {"transformer_base": (0.4, 0.42), "parser": (0.2, 0.25), "single": (0.35,)}


@pytest.fixture
def results(tmp_path):
    """A folder with runs of some seeds at the scale quick, and their counts by system."""
    _, references = draw(40)
    made = Results(tmp_path, references, references)
    counts = {}
    for system, seeds in SYSTEMS.items():
        for seed, wrong in enumerate(seeds, start=1):
            lines = draw(40, wrong=wrong)[0]
            made.write_run(system, seed, lines)
            own = count_translations(lines, references, EvaluationSettings(**EVALUATION))
            counts.setdefault(system, []).append(own)
            write_scores(made.layout, system, seed, bleu={"test": bleu_scores(own), "dev": bleu_scores(own)})
    return tmp_path / "results", counts


def test_a_system_that_was_tested_on_other_sentences_is_compared_with_none(results, tmp_path):
    lines, references = draw(40, wrong=0.5)
    references = references[::-1]
    made = Results(tmp_path, references, references)
    made.write_run("elsewhere", 1, lines)
    counts = count_translations(lines, references, EvaluationSettings(**EVALUATION))
    write_scores(made.layout, "elsewhere", 1, bleu={"test": bleu_scores(counts)})
    (_, _, *rows), _ = listed(results[0])
    compared = [row[0] for row in rows if any(cell.startswith(("+", "-")) for cell in row[1:])]
    assert (len(rows), compared) == (4, ["parser", "single"])


def write_scores(layout, system, seed, *, file_type="scores", scale="quick", **scores):
    names = {"scale": scale, "dataset": "d", "system": system, "seed": seed}
    write_json(layout.path(file_type, **names), {**names, **scores})


def listed(*arguments):
    _, text, _ = call_nmtcore("results", *arguments)
    return [re.split("  +", line) for line in text.partition("\n\n")[0].splitlines()], text


def test_systems_are_compared_with_the_baseline(results, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    folder, counts = results
    (title, header, *rows), text = listed(folder)
    assert title == ["quick, d, test"]
    assert header == ["system", "seeds", "BLEU", "length", "empty", "difference", "chrF", "difference"]
    shown = {row[0]: row[1:] for row in rows}
    assert list(shown) == ["transformer_base", "parser", "single"]
    for system in ("parser", "single"):
        compared = {
            metric: compare_systems(
                {name: [own[metric] for own in counts[name]] for name in ("transformer_base", system)},
                baseline="transformer_base",
            )[system]
            for metric in ("bleu", "chrf")
        }
        for metric, cell in (("bleu", shown[system][4]), ("chrf", shown[system][6])):
            difference = compared[metric].difference
            low, high = difference.interval
            assert cell == f"{difference.delta:+.1f} ± {(high - low) / 2:.1f}"
        mean = sum(compared["bleu"].scores) / len(compared["bleu"].scores)
        assert shown[system][1].split(" ± ")[0] == f"{mean:.1f}"
    assert len(shown["transformer_base"]) == 5, "it is compared with nothing"
    ratio = sum(bleu_scores(own)["length_ratio"] for own in counts["parser"]) / 2
    empty = sum(bleu_scores(own)["empty_translations"] for own in counts["parser"]) / 2
    assert shown["parser"][2:4] == [f"{ratio:.2f}", f"{empty:.1f}"]
    assert "difference: from transformer_base" in " ".join(text.split())
    (_, _, *rows), _ = listed(folder, "--baseline", "single")
    assert [len(row) for row in rows] == [6, 8, 8]
    monkeypatch.setenv("COLUMNS", "70")
    assert max(map(len, listed(folder)[1].splitlines())) <= 70


def test_runs_with_scores_of_treebanks_alone_have_no_row(results):
    folder, _ = results
    gold = {"gold_d": {"argmax": {"uas": 1.0, "sentences": 4}}}
    write_scores(Layout(results=str(folder)), "alone", 1, file_type="gold_scores", **{"gold.uas": gold})
    write_scores(Layout(results=str(folder)), "alone", 1, file_type="scores")
    (title, _, *rows), _ = listed(folder)
    assert (title, len(rows)) == (["quick, d, test"], 3)


def test_all_scores_are_listed(results):
    folder, _ = results
    heads = {"uas": 80.0, "sentences": 4}
    layout = Layout(results=str(folder), scales=("quick",))
    write_scores(
        layout,
        "parser",
        1,
        file_type="gold_scores",
        **{"gold.uas": {"gold_d": {"argmax": heads, "spanning_tree": heads}}},
    )
    (title, header, *rows), text = listed(folder, "--all")
    assert title == ["quick, d"], "what is common to all rows stands above them"
    assert header == ["system", "split", "seeds", "BLEU", "chrF", "UAS", "UAS of trees"]
    assert ["parser", "gold_d", "1", "80.0", "80.0"] in rows
    assert next(row[:3] for row in rows if row[0] == "parser") == ["parser", "test", "1, 2"]
    assert "with the parser's trees or, on a split gold_..." in " ".join(text.split())


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "There are no scores in"),
        ('{"bleu": {"test": 3}}', "scores.json does not hold what it should"),
        ('{"bleu": "\n', "not valid JSON (Invalid control character at column 11)"),
    ],
)
def test_mistakes_are_one_sentence(content, sentence, tmp_path):
    if content is not None:
        path = tmp_path / "small/d/base/seed1/scores.json"
        path.parent.mkdir(parents=True)
        path.write_text(content)
    code, output, errors = call_nmtcore("results", tmp_path)
    assert (code, output, errors.count("\n")) == (2, "", 1)
    assert errors.startswith("nmtcore results: ")
    assert sentence in errors
