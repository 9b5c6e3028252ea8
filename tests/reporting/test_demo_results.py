"""What the demo shows at its end, from results that were written for it."""

from dataclasses import asdict
from pathlib import Path

import pytest
from evaluation.test_metrics import draw
from reporting.runs import EVALUATION, Results
from sacrebleu import corpus_bleu

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.evaluation.compare import compare_systems
from nmtcore.evaluation.metrics import METRICS
from nmtcore.files import read_json, write_json
from nmtcore.reporting.demo_results import demo_results, demo_text, meaning, neighbour_share, write_demo
from nmtcore.reporting.pages import PAGE_FORMATS

SYSTEMS = {"base": (0.4, 0.42), "head": (0.2, 0.25), "control": (0.4, 0.3)}


@pytest.fixture
def made(tmp_path):
    """The results of three systems with two seeds, and the translations that they come from."""
    _, references = draw(40)
    results = Results(tmp_path, references, references)
    translations = {name: [draw(40, wrong=wrong)[0] for wrong in seeds] for name, seeds in SYSTEMS.items()}
    counts = []
    for name, seeds in translations.items():
        for seed, lines in enumerate(seeds, start=1):
            results.write_run(name, seed, lines)
            counts.append(Path(results.layout.path("counts", scale="quick", dataset="d", system=name, seed=seed)))
    names = {"dataset": "d", "scale": "quick", "seeds": [1, 2]}
    for name in SYSTEMS:
        write_json(tmp_path / f"{name}.bleu", {**names, "system": name, "splits": {"test": {}, "dev": {}}})
    for name, values in (("head", [90.0, 92.0]), ("control", [95.0, 97.0])):
        uas = {"test": {"argmax": {"uas": {"values": values}}}}
        write_json(tmp_path / f"{name}.uas", {**names, "system": name, "splits": uas})
    *_, trees = results.write_annotation("source", "head", [[2, 0, 2]] * 40)
    files = {score: [tmp_path / f"{name}.{score}" for name in own] for score, own in
             (("bleu", SYSTEMS), ("uas", ("head", "control")))}  # fmt: skip
    values = demo_results(**files, counts=counts, trees=Path(trees), layout=results.layout)
    return values, translations, references


def test_the_numbers_are_those_of_the_translations(made):
    values, translations, references = made
    evaluation = EvaluationSettings(**EVALUATION)
    for own in values["systems"]:
        bleu = [corpus_bleu(lines, [references], tokenize="none") for lines in translations[own["system"]]]
        assert own["bleu"] == pytest.approx([score.score for score in bleu])
        assert own["length_ratio"] == pytest.approx(sum(score.sys_len / score.ref_len for score in bleu) / 2)
    counts = {
        name: [METRICS["bleu"].count(lines, references, evaluation) for lines in translations[name]]
        for name in ("base", "head")
    }
    assert values["systems"][1]["difference"] == asdict(compare_systems(counts, baseline="base")["head"].difference)
    assert (values["systems"][0]["difference"], values["systems"][0]["uas"]) == (None, None)
    assert values["systems"][1]["uas"] == [90.0, 92.0]
    assert (values["sentences"], values["split"], values["empty"]) == (40, "test", [])


def test_pages_and_text_have_all_systems(made, tmp_path):
    values, *_ = made
    files = {"json": tmp_path / "demo.json", "table": tmp_path / "demo.md", "text": tmp_path / "demo.txt"}
    write_demo(values, folder="results", **files)
    assert read_json(files["json"])["systems"][2]["system"] == "control"
    assert {path.suffix for path in tmp_path.glob("demo.*")} >= set(PAGE_FORMATS)
    text = files["text"].read_text()
    assert text == demo_text(values, folder="results")
    header, *rows = text.splitlines()[:4]
    assert header.split()[:3] == ["system", "BLEU", "length"]
    assert [row.split()[0] for row in rows] == list(SYSTEMS)
    low, high = values["systems"][1]["difference"]["interval"]
    assert f"({low:+.1f} to {high:+.1f})" in rows[1]
    assert "MODEL=results/quick/d/head/seed1/model" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("delta", "half", "seeds", "sentence"),
    [
        (0.5, 1.0, [1, 2], "0.5 points of BLEU more than base, which 500 sentences and 2 seeds do not prove; its head"),
        (4.0, 1.0, [1], "4.0 points of BLEU more than base, which 500 sentences and 1 seed do not prove; its head"),
        (4.0, 1.0, [1, 2], "4.0 points of BLEU more than base, more than chance explains (500 sentences and 2 seeds);"),
        (
            -4.0,
            1.0,
            [1, 2],
            "4.0 points of BLEU less than base, more than chance explains (500 sentences and 2 seeds);",
        ),
    ],
)
def test_the_sentence_has_its_reservation(delta, half, seeds, sentence):
    difference = {"delta": delta, "interval": [delta - half, delta + half]}
    systems = [{"system": "base"}, {"system": "head", "difference": difference, "uas": [30.0]}]
    values = {"systems": systems, "seeds": seeds, "sentences": 500, "neighbour": {"word": "next", "share": 36.4}}
    said = meaning(values)
    assert said.startswith(f"head scores {sentence}")
    assert said.endswith("no more than the 36.4 % that always pointing to the next word would find.")


def test_the_better_neighbour_is_counted(tmp_path):
    results = Results(tmp_path, ["a b c"] * 2, ["x"] * 2)
    *_, trees = results.write_annotation("source", "head", [[2, 3, 0], None])
    assert neighbour_share(Path(trees)) == {"word": "next", "share": pytest.approx(200 / 3)}
