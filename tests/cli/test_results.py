"""`nmtcore results`: the scores of a folder."""

import re
from statistics import fmean

import pytest
from called import call_nmtcore
from evaluation.test_metrics import draw
from tables.runs import EVALUATION, Results

from nmtcore.config.training import EvaluationSettings
from nmtcore.evaluation.compare import compare_systems
from nmtcore.evaluation.metrics import bleu_scores, count_translations
from nmtcore.evaluation.summary import Estimate
from nmtcore.files import write_json, write_text
from nmtcore.layout import Layout

SYSTEMS = {"transformer_base": (0.4, 0.42), "transformer_relative": (0.2, 0.25), "relative_tree_traversal": (0.35,)}
COMPARED = {"transformer_relative": "transformer_base", "relative_tree_traversal": "transformer_relative"}
"""What the entries of the shipped configuration are `compared_with`."""


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


def add_run(folder, system, references, *, wrong=0.5):
    made = Results(folder, references, references)
    lines = draw(40, wrong=wrong)[0]
    made.write_run(system, 1, lines)
    counts = count_translations(lines, references, EvaluationSettings(**EVALUATION))
    write_scores(made.layout, system, 1, bleu={"test": bleu_scores(counts)})


@pytest.mark.parametrize("options", [[], ["--baseline", "transformer_base"]])
def test_a_system_of_no_entry_or_tested_on_other_sentences_is_compared_with_none(results, tmp_path, options):
    add_run(tmp_path, "pascal" if options else "elsewhere", draw(40)[1][:: -1 if options else 1])
    (_, _, *rows), _ = listed(results[0], *options)
    compared = [row[0] for row in rows if any(cell.startswith(("+", "-")) for cell in row[1:])]
    assert (len(rows), compared) == (4, ["relative_tree_traversal", "transformer_relative"])


def test_entries_beside_the_folder_of_results_count(results, tmp_path):
    entry = "mine: {extends: transformer_base, compared_with: transformer_relative, description: Mine}\n"
    write_text(tmp_path / "config/systems/mine.yaml", entry)
    add_run(tmp_path, "mine", draw(40)[1])
    (_, _, *rows), _ = listed(results[0])
    assert next(row[1] for row in rows if row[0] == "mine") == "transformer_relative"


def write_scores(layout, system, seed, *, file_type="scores", scale="quick", **scores):
    names = {"scale": scale, "dataset": "d", "system": system, "seed": seed}
    write_json(layout.path(file_type, **names), {**names, **scores})


def listed(*arguments):
    _, text, _ = call_nmtcore("results", *arguments)
    return [re.split("  +", line) for line in text.partition("\n\n")[0].splitlines()], text


@pytest.mark.parametrize("baseline", [None, "relative_tree_traversal"])
def test_systems_are_compared_with_what_their_entries_name_or_with_one(results, monkeypatch, baseline):
    monkeypatch.setenv("COLUMNS", "120")
    folder, counts = results
    (title, header, *rows), text = listed(folder, *(["--baseline", baseline] if baseline else []))
    assert title == ["quick, d, test"]
    assert header == [
        "system", "compared with", "seeds", "BLEU", "length", "empty", "difference", "chrF", "difference",
    ]  # fmt: skip
    compared_with = dict.fromkeys({*SYSTEMS} - {baseline}, baseline) if baseline else COMPARED
    shown = {row[0]: row[1:] for row in rows}
    assert list(shown) == sorted(shown, key=lambda name: (name in compared_with, name))
    differences = [
        compare_systems({name: [seed[metric] for seed in own] for name, own in counts.items()}, compared_with)
        for metric in ("bleu", "chrf")
    ]
    for system, cells in shown.items():
        seeds = [bleu_scores(seed) for seed in counts[system]]
        bleu, length, empty = (
            fmean(seed[key] for seed in seeds) for key in ("bleu", "length_ratio", "empty_translations")
        )
        gains = [Estimate.of(own[system]).text() for own in differences if system in own]
        assert [cell.split(" ± ")[0] for cell in cells if cell not in gains][-5:-1] == [
            str(len(seeds)), f"{bleu:.1f}", f"{length:.2f}", f"{empty:.1f}",
        ]  # fmt: skip
        if system in compared_with:
            assert (cells[0], cells[5], cells[7]) == (compared_with[system], *gains)
    assert "difference: from the system that it is compared with" in " ".join(text.split())
    table = text.partition("\n\n")[0].splitlines()[1:]
    monkeypatch.setenv("COLUMNS", str(max(map(len, table)) - 1))
    assert listed(folder)[0][1] == [name for name in header if name != "seeds"]
    monkeypatch.setenv("COLUMNS", "75")
    assert max(map(len, listed(folder)[1].splitlines())) <= 75


def test_all_scores_are_listed(results):
    folder, _ = results
    heads = {"uas": 80.0, "sentences": 4}
    layout = Layout(results=str(folder), scales=("quick",))
    gold = {"gold.uas": {"gold_d": {"argmax": heads, "spanning_tree": heads}}}
    write_scores(layout, "transformer_relative", 1, file_type="gold_scores", **gold)
    (title, header, *rows), text = listed(folder, "--all")
    assert title == ["quick, d"], "what is common to all rows stands above them"
    assert header == ["system", "split", "seeds", "BLEU", "chrF", "UAS", "UAS of trees"]
    assert ["transformer_relative", "gold_d", "1", "80.0", "80.0"] in rows
    assert next(row[1:3] for row in rows if row[0] == "transformer_relative") == ["test", "1, 2"]
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
