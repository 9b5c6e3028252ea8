"""`nmtcore results`: all scores of a folder."""

import pytest

from nmtcore.cli import main
from nmtcore.errors import UserError
from nmtcore.files import write_json
from nmtcore.layout import Layout
from nmtcore.reporting.results_listing import results_listing


def write_scores(folder, scale, system, seed, *, file_type="scores", **scores):
    layout = Layout(results=str(folder), scales=("smoke",))
    path = layout.path(file_type, scale=scale, dataset="d", system=system, seed=seed)
    write_json(path, {"dataset": "d", "system": system, "scale": scale, "seed": seed, **scores})


def bleu(test, dev):
    return {"test": {"bleu": test, "chrf": test + 20}, "dev": {"bleu": dev, "chrf": dev + 20}}


def listed(capsysbinary, folder):
    main(["results", str(folder)])
    return [line.split() for line in capsysbinary.readouterr().out.decode().partition("\n\n")[0].splitlines()]


def test_all_scores_are_listed(tmp_path, capsysbinary):
    results = tmp_path / "results"
    for seed, score in ((10, 21.0), (2, 20.0)):
        write_scores(results, "smoke", "base", seed, bleu=bleu(score, 30.0))
    heads = {"test": {"argmax": {"uas": 80.0}, "spanning_tree": {"uas": 81.0}}, "dev": {"argmax": {"uas": None}}}
    write_scores(results, "paper", "parser", 1, bleu=bleu(25.0, 26.0), uas=heads)
    gold = {"gold_d": {"argmax": {"uas": 70.0}}}
    write_scores(results, "paper", "parser", 1, file_type="gold_scores", **{"gold.uas": gold})
    metrics = {"ribes": {"test": {"ribes": 60.0}}, "multi_bleu": {"test": {"multi_bleu": 24.0}}}
    write_scores(results, "paper", "other", 1, bleu=bleu(25.0, 26.0), **metrics)
    induced = {"gold_d": {"left": {"directed": 1.0}, "spanning_tree": {"directed": 33.3}}}
    write_scores(results, "smoke", "induced", 1, file_type="gold_scores", **{"gold.uas": induced})
    assert listed(capsysbinary, results) == [
        ["scale", "data", "set", "system", "split", "seeds", "BLEU", "chrF", "RIBES", "multi-bleu", "UAS", "directed"],
        ["paper", "d", "other", "test", "1", "25.0", "45.0", "60.0", "24.0"],
        ["paper", "d", "other", "dev", "1", "26.0", "46.0"],
        ["paper", "d", "parser", "test", "1", "25.0", "45.0", "80.0"],
        ["paper", "d", "parser", "dev", "1", "26.0", "46.0"],
        ["paper", "d", "parser", "gold_d", "1", "70.0"],
        ["smoke", "d", "base", "test", "2,", "10", "20.5", "±", "0.7", "40.5", "±", "0.7"],
        ["smoke", "d", "base", "dev", "2,", "10", "30.0", "±", "0.0", "50.0", "±", "0.0"],
        ["smoke", "d", "induced", "gold_d", "1", "33.3"],
    ]
    main(["results", str(results)])
    notes = " ".join(capsysbinary.readouterr().out.decode().split())
    assert "the parser's trees (for a diagonalparse system: with the previous word) or, on a split gold_..." in notes
    below = listed(capsysbinary, results / "smoke" / "d" / "base")
    assert [line[:4] for line in below[1:]] == [["smoke", "d", "base", "test"], ["smoke", "d", "base", "dev"]]


def test_mistakes_are_one_sentence(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    write_json(tmp_path / "strange" / "scores.json", {"bleu": 1})
    for name in ("one", "two"):
        write_scores(tmp_path / "twice" / name, "paper", "base", 1, bleu=bleu(1.0, 2.0))
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "scores.json").write_text('{"bleu": "\n')
    for name, sentence in {
        "file": "is not a folder: name a results folder.",
        "missing": "is not a folder",
        "empty": "There are no scores in",
        "strange": "does not hold the scores of a run",
        "twice": "are scores of the same run",
        "broken": "not valid JSON (Invalid control character at column 11): move it elsewhere, or score the run again.",
    }.items():
        with pytest.raises(SystemExit) as exit:
            main(["results", str(tmp_path / name)])
        output, errors = capsys.readouterr()
        assert (exit.value.code, output) == (2, "")
        assert sentence in errors
        assert errors.startswith("nmtcore results: ")


@pytest.mark.parametrize(
    "change",
    [{"seed": "one"}, {"seed": None}, {"bleu": "x"}, {"bleu": {"test": 3}}, {"bleu": {"test": {"bleu": "high"}}}],
)
def test_files_with_something_else_than_scores_are_named(change, tmp_path):
    scores = {"scale": "s", "dataset": "d", "system": "x", "seed": 1, "bleu": {"test": {"bleu": 1.0}}}
    write_json(tmp_path / "scores.json", scores)
    assert "1.0" in results_listing(tmp_path)
    write_json(tmp_path / "scores.json", scores | change)
    with pytest.raises(UserError, match="does not hold the scores of a run"):
        results_listing(tmp_path)
