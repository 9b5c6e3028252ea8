"""The results of the demo: which sentences show which construction, and scores on them, against plain counts."""

from dataclasses import asdict
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pytest
from evaluation.test_metrics import own_bleu
from reporting.runs import EVALUATION, Results

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.config.typed import build
from nmtcore.corpus.pairs import ANNOTATION_FIELDS
from nmtcore.demo import generate
from nmtcore.demo.contrasts import PHENOMENA, generate_contrasts
from nmtcore.files import write_json
from nmtcore.parquet import write_rows
from nmtcore.reporting.demo_results import (
    CONSTRUCTION_LABELS,
    PHENOMENON_LABELS,
    construction_rows,
    demo_results,
    neighbour_share,
)
from nmtcore.reporting.demo_table import demo_text, write_demo_table
from nmtcore.syntax.annotation import Annotation
from nmtcore.syntax.categories import CONSTRUCTIONS, constructions

COUNT = 40


@pytest.fixture(scope="module")
def pairs():
    return list(generate(split="test", count=COUNT))


@pytest.fixture
def results(tmp_path, pairs):
    return Results(tmp_path, [pair.source.text for pair in pairs], [pair.target.text for pair in pairs])


@pytest.fixture
def files(results, pairs):
    """The sentence pairs, and the trees of their source."""
    trees = Path(results.layout.path("annotation", dataset="d", annotator="a", split="test", side="source"))
    rows = [asdict(pair.source.annotation) for pair in pairs]
    write_rows(trees, pa.schema(ANNOTATION_FIELDS), rows)
    return Path(results.layout.path("pairs", dataset="d", split="test")), trees


def summary(system, **scores):
    values = {name: {"mean": value, "stdev": None, "values": [value]} for name, value in scores.items()}
    return {"dataset": "d", "system": system, "scale": "quick", "seeds": [1], "splits": {"test": values, "dev": {}}}


def test_every_phenomenon_and_construction_has_a_label():
    assert set(PHENOMENON_LABELS) == set(PHENOMENA)
    assert set(CONSTRUCTION_LABELS) == set(CONSTRUCTIONS)


def test_sentences_are_grouped_by_what_the_grammar_makes(files, pairs):
    rows = construction_rows(*files, sentences=COUNT)
    assert list(rows) == [*PHENOMENON_LABELS.values(), *CONSTRUCTION_LABELS.values()]
    wrong = [entry.wrong for entry in islice(generate_contrasts(split="test", count=COUNT), COUNT)]
    for phenomenon, label in PHENOMENON_LABELS.items():
        shown = [any(own.phenomenon == phenomenon for own in made) for made in wrong]
        assert rows[label].tolist() == [i for i in range(COUNT) if shown[i]]
    for name, label in CONSTRUCTION_LABELS.items():
        shown = [name in constructions(pair.source.annotation.ccg) for pair in pairs]
        assert rows[label].tolist() == [i for i in range(COUNT) if shown[i]]
    assert all(len(rows[label]) for label in ("agreement", "verb-final clause", "relative clause"))


def test_scores_and_differences_are_those_of_the_sentences(tmp_path, results, files, pairs):
    references = [pair.target.text for pair in pairs]
    worse = [" ".join(line.split()[::-1]) if i % 3 else line for i, line in enumerate(references)]
    folders = [results.write_run("base", 1, worse), results.write_run("head", 1, references)]
    paths = {name: tmp_path / name for name in ("base.bleu", "head.bleu", "head.uas")}
    write_json(paths["base.bleu"], summary("base", bleu=20.0, chrf=30.0))
    write_json(paths["head.bleu"], summary("head", bleu=100.0, chrf=100.0))
    uas = summary("head") | {"splits": {"test": {"argmax": summary("head", uas=91.5)["splits"]["test"]}}}
    write_json(paths["head.uas"], uas)
    made = demo_results(
        bleu=[paths["base.bleu"], paths["head.bleu"]],
        uas=[paths["head.uas"]],
        hypotheses=folders,
        pairs=files[0],
        trees=files[1],
        evaluation=EVALUATION,
        layout=results.layout,
    )
    assert (made["baseline"], made["split"], made["sentences"], made["seeds"]) == ("base", "test", COUNT, [1])
    assert [own["uas"] and own["uas"]["mean"] for own in made["systems"]] == [None, 91.5]
    assert made["systems"][0]["difference"] is None
    settings = build(EvaluationSettings, EVALUATION, where="here")
    whole = own_bleu(worse, references, settings)
    assert made["systems"][1]["difference"]["delta"] == pytest.approx(100 - whole)
    rows = construction_rows(*files, sentences=COUNT)
    for entry in made["constructions"]:
        own = rows[entry["construction"]].tolist()
        assert entry["sentences"] == len(own)
        if len(own) > 1:
            score = own_bleu([worse[i] for i in own], [references[i] for i in own], settings)
            assert entry["systems"]["base"]["bleu"] == pytest.approx(score)
            assert entry["systems"]["head"]["difference"]["delta"] == pytest.approx(100 - score)
        else:
            assert entry["systems"] == {"base": None, "head": None}
    text = write_demo_table(made, json=tmp_path / "demo.json", table=tmp_path / "demo.md")
    assert "| head | 100.0 | 100.0 | 91.5 |" in text
    assert made["empty"] == []


def test_a_system_with_mostly_empty_translations_is_named(tmp_path, results, files, pairs):
    references = [pair.target.text for pair in pairs]
    half, more = COUNT // 2, COUNT // 2 + 1
    folders = [
        results.write_run("base", 1, ["", " "] * (half // 2) + references[half:]),
        results.write_run("head", 1, [" "] * more + references[more:]),
    ]
    for name in ("base", "head"):
        write_json(tmp_path / name, summary(name, bleu=1.0, chrf=2.0))
    made = demo_results(
        bleu=[tmp_path / "base", tmp_path / "head"], uas=[], hypotheses=folders, pairs=files[0], trees=files[1],
        evaluation=EVALUATION, layout=results.layout,
    )  # fmt: skip
    sentence = f"d/head, seed 1, test: {more} of {COUNT} translations are empty."
    assert made["empty"] == [sentence], "exactly half is not more than half"
    text = write_demo_table(made, json=tmp_path / "demo.json", table=tmp_path / "demo.md")
    assert text.startswith(f"- {sentence}\n")
    assert demo_text(made).startswith(f"- {sentence}\n\nsystem ")


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        ([[2, 0], [2, 3, 0]], {"word": "next", "share": 60.0}),
        ([[0, 1, 2], None], {"word": "previous", "share": 200 / 3}),
        ([None], {"word": "next", "share": 0.0}),
    ],
)
def test_the_neighbour_that_is_the_head_of_more_words(tmp_path, heads, expected):
    rows = [asdict(Annotation(head=own)) for own in heads]
    write_rows(tmp_path / "t.parquet", pa.schema(ANNOTATION_FIELDS), rows)
    assert neighbour_share(tmp_path / "t.parquet") == pytest.approx(expected)
