"""The table of systems' scores and training speeds."""

import json

import pytest

from nmtcore.errors import UserError
from nmtcore.evaluation.induction import MEASURES
from nmtcore.evaluation.summary import write_summary
from nmtcore.files import read_json, write_json, write_lines
from nmtcore.layout import Layout
from nmtcore.reporting.systems_table import training_facts, write_system_table


def write_history(path, losses, speed, loss_terms=lambda loss: {"loss/translation": loss}):
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        {"update": 10 * k, "loss": 2 * loss, **loss_terms(loss), "tokens_per_second": speed + k, "seconds": 60.0 * k}
        for k, loss in enumerate(losses, start=1)
    ]
    # The table shows the translation loss; the objective ("loss") differs between systems.
    lines.insert(1, {"update": 10, "validation": {"bleu": 1.0}, "seconds": 65.0})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def write_results(folder, system, *, seeds=(1, 2), parses=False, greedy=False):
    scores, histories = [], []
    for seed in seeds:
        run = {"dataset": "d", "system": system, "scale": "small", "seed": seed}
        bleu = {"bleu": 20.0 + seed, "chrf": 50.0, "bleu_signature": "s"}
        run["bleu"] = {"test": bleu, "test_two": bleu, "dev": {**bleu, "bleu": 30.0}}
        if greedy:
            run["bleu"]["dev.greedy"] = {**bleu, "bleu": 28.0 + seed}
        if parses:
            run["uas"] = {split: {"argmax": {"uas": 80.0 + seed}} for split in run["bleu"]}
        path = folder / system / f"seed{seed}" / "scores.json"
        path.parent.mkdir(parents=True)
        write_json(path, run)
        scores.append(path)
        histories.append(write_history(path.with_name("training.jsonl"), [9.0, 5.0, 4.0], 100 * seed))
    summaries = {}
    for score in ("bleu", "uas") if parses else ("bleu",):
        summaries[score] = folder / f"{system}.{score}"
        write_summary(scores, seeds=seeds, score=score, output=summaries[score])
    return summaries, histories


def test_each_system_has_one_row_per_test_split(tmp_path):
    folder = tmp_path / "results/small/d"
    (base, first), (parser, second) = (
        write_results(folder, "base", greedy=True),
        write_results(folder, "parser", parses=True),
    )
    text = write_system_table(
        bleu=[base["bleu"], parser["bleu"]],
        uas=[parser["uas"]],
        histories=[*first, *second],
        layout=Layout(results=tmp_path / "results"),
        json=tmp_path / "systems.json",
        table=tmp_path / "systems.md",
    )
    lines = text.splitlines()
    assert lines[0].split(" | ")[7:9] == ["dev BLEU (beam)", "dev BLEU (greedy)"]
    end = "| 9.00 | 4.00 | 30 | 152 | 3 min |"
    assert lines[2] == f"| d | base | test | 21.5 ± 0.7 | 50.0 ± 0.0 |  |  | 30.0 ± 0.0 | 29.5 ± 0.7 {end}"
    assert lines[3].startswith("| d | base | test_two |")
    assert lines[4] == f"| d | parser | test | 21.5 ± 0.7 | 50.0 ± 0.0 | 81.5 ± 0.7 |  | 30.0 ± 0.0 |  {end}"
    assert "Scale small, seeds 1, 2;" in text
    layout = Layout(results=str(tmp_path / "results"), scales=("small",))
    write_lines(folder / "parser/seed2/hypotheses/test_two.txt", ["", "", "a"])
    files = {"json": tmp_path / "systems.json", "table": tmp_path / "systems.md"}
    text = write_system_table(
        bleu=[base["bleu"], parser["bleu"]], uas=[parser["uas"]], histories=[*first, *second], layout=layout, **files
    )
    assert text.splitlines()[0] == "- d/parser, seed 2, test_two: 2 of 3 translations are empty."
    assert [entry["system"] for entry in read_json(tmp_path / "systems.json")] == ["base", "base", "parser", "parser"]


@pytest.mark.parametrize("score", ["bleu", "uas"])
@pytest.mark.parametrize("content", [{}, [], {"dataset": "d", "system": "parser"}, None])
def test_a_summary_with_other_content_is_named(tmp_path, score, content):
    summaries, histories = write_results(tmp_path / "results/small/d", "parser", parses=True)
    write_json(summaries[score], content)
    with pytest.raises(UserError, match=rf"parser.{score} does not hold what it should .*delete it"):
        write_system_table(
            bleu=[summaries["bleu"]],
            uas=[summaries["uas"]],
            histories=histories,
            layout=Layout(results=tmp_path / "results"),
            json=tmp_path / "systems.json",
            table=tmp_path / "systems.md",
        )


def test_external_systems_have_no_training_and_say_where_their_translations_come_from(tmp_path):
    folder = tmp_path / "results/small/d"
    (base, histories), (engine, _) = write_results(folder, "base"), write_results(folder, "engine", seeds=(1,))
    text = write_system_table(
        bleu=[engine["bleu"], base["bleu"]],
        uas=[],
        histories=histories,
        external={"engine": "An engine; 2026-11-20"},
        layout=Layout(results=tmp_path / "results"),
        json=tmp_path / "systems.json",
        table=tmp_path / "systems.md",
    )
    lines = text.splitlines()
    assert lines[2] == "| d | engine | test | 21.0 | 50.0 |  |  | 30.0 |  |  |  |  |  |  |"
    assert lines[4].endswith("| 9.00 | 4.00 | 30 | 152 | 3 min |")
    assert "Scale small, seeds 1, 2;" in text
    assert "engine (seed 1) was not trained here; its translations: An engine; 2026-11-20\n" in text
    first, *_ = read_json(tmp_path / "systems.json")
    assert [first[key] for key in ("first_loss", "updates", "seconds")] == [None] * 3


def test_induced_trees_are_listed_below_the_baselines_of_each_treebank(tmp_path):
    folder = tmp_path / "results/small/d"
    (base, first), (other, second) = write_results(folder, "base"), write_results(folder, "other")
    induced = []
    for i, system in enumerate(("base", "other")):
        paths = []
        for seed in (1, 2):
            names = {"dataset": "d", "system": system, "scale": "small", "seed": seed}
            own = {"spanning_tree": 40.0 + i + seed, "untrained": 9.0 + i, "left": 34.0, "right": 7.0, "random": 6.5}
            gold = {
                treebank: {
                    name: {**dict.fromkeys(MEASURES, value + shift), "sentences": 9, "scored_words": 1234}
                    for name, value in own.items()
                }
                for treebank, shift in (("gold_a", 0.0), ("gold_b", 10.0))
            }
            paths.append(folder / system / f"seed{seed}/gold.json")
            write_json(paths[-1], {**names, "gold.uas": gold})
        induced.append(folder / f"{system}.gold.uas")
        write_summary(paths, seeds=(1, 2), score="gold.uas", output=induced[-1])
    files = {"layout": Layout(results=tmp_path / "results"), "json": tmp_path / "s.json", "table": tmp_path / "s.md"}
    bleu = [base["bleu"], other["bleu"]]
    text = write_system_table(bleu=bleu, uas=[], induced=induced, histories=[*first, *second], **files)
    rows = [line for line in text.splitlines() if "| gold_" in line]
    names = ["left", "right", "random", "base, untrained", "base", "other, untrained", "other"]
    assert [row.split("|")[3].strip() for row in rows] == 2 * names
    assert rows[0] == f"| d | gold_a | left |{' 34.0 ± 0.0 |' * 3} 1,234 |"
    assert rows[-1] == f"| d | gold_b | other |{' 52.5 ± 0.7 |' * 3} 1,234 |"
    entries = read_json(files["json"])
    assert [entry.get("split", entry.get("treebank")) for entry in entries] == 2 * ["test", "test_two"] + 2 * [
        "gold_a", "gold_b",
    ]  # fmt: skip
    assert {(entry["system"], tuple(entry["seeds"])) for entry in entries} == {("base", (1, 2)), ("other", (1, 2))}


@pytest.mark.parametrize("loss_terms", [{"loss/translation": None}, {}])
def test_the_loss_is_blank_without_training_pairs(tmp_path, loss_terms):
    folder = tmp_path / "results/small/d"
    summaries, histories = write_results(folder, "base")
    write_history(histories[1], [9.0, 4.0], 1, loss_terms=lambda _: loss_terms)
    files = {
        "layout": Layout(results=tmp_path / "results"),
        "json": tmp_path / "systems.json",
        "table": tmp_path / "systems.md",
    }
    text = write_system_table(bleu=[summaries["bleu"]], uas=[], histories=histories, **files)
    assert "| 30.0 ± 0.0 |  |  |  | 25 |" in text
    assert read_json(files["json"])[0]["first_loss"] is None


def test_a_broken_log_is_an_error_that_names_the_line(tmp_path):
    path = tmp_path / "training.jsonl"
    path.write_text('{"update": 1, "loss": 2.0, "tokens_per_second": 1, "seconds": 1}\n{"upd\n')
    with pytest.raises(UserError, match=r"training\.jsonl, line 2: this is not JSON"):
        training_facts(path)
    path.write_text('{"seconds": 1}\n')
    with pytest.raises(UserError, match="records no update"):
        training_facts(path)


@pytest.mark.parametrize("line", ['{"loss": 1, "update": 2}', '{"loss": 1, "tokens_per_second": "fast", "update": 2}'])
def test_a_damaged_line_of_a_log_is_one_sentence(tmp_path, line):
    path = tmp_path / "training.jsonl"
    path.write_text(f'{{"loss": 1, "tokens_per_second": 3.0, "update": 1}}\n{line}\n')
    with pytest.raises(UserError, match=rf"^{path} does not hold what it should"):
        training_facts(path)
