"""Figures and tables of gates, trees, attention and its sharpness, as the papers' tables show them."""

from pathlib import Path

import pytest
from evaluation.test_gates import gate_row
from reporting.attention_runs import HEADS, IDS, SENTENCES, AttentionRuns
from reporting.planned import planned, shown, unlinked

from nmtcore.inference.schemas import GATES_SCHEMA
from nmtcore.parquet import write_rows
from nmtcore.reporting.table import Items, Table
from nmtcore.reporting.table_kinds.attention import attention_content, draw_attention
from nmtcore.reporting.table_kinds.gates import draw_gates, gates_content
from nmtcore.reporting.table_kinds.sharpness import draw_sharpness, sharpness_content
from nmtcore.reporting.table_kinds.trees import draw_trees, trees_content

NOT_TRAINED = "gone on d is not trained yet (unfinished_runs: leave_out)"


@pytest.fixture
def runs(tmp_path):
    return AttentionRuns(tmp_path)


def cell(system, **values):
    runs = None if values.get("reason") else f"d/{system}"
    return {"row": system, "column": "", "system": system, "runs": runs, "split": "test", **values}


def table_of(content, position=0):
    return shown([block for block in content.blocks if isinstance(block, Table)][position])


def items_of(content):
    return [text for block in content.blocks if isinstance(block, Items) for text in block.texts]


def texts(runs, draw, content):
    draw(content.data, runs.outputs["figure"], title="Figure 1: what it shows. Scale quick.")
    return runs.texts()


KINDS = {
    "gates": (gates_content, draw_gates, {"gates": []}),
    "trees": (trees_content, draw_trees, {"treebanks": {}, "parsed": {}, "induced": []}),
    "attention": (attention_content, draw_attention, {"attention": []}),
    "sharpness": (sharpness_content, draw_sharpness, {"sharpness": []}),
}


@pytest.mark.parametrize("table_kind", KINDS)
def test_a_figure_without_runs_is_a_sentence(runs, table_kind):
    content_of, draw, facts = KINDS[table_kind]
    table = planned(table_kind, [cell("gone", reason=NOT_TRAINED)], seeds={}, more=facts)
    content = content_of(table, runs.layout)
    sentence = f"gone is missing: {NOT_TRAINED}."
    assert items_of(content) == [sentence]
    assert texts(runs, draw, content) == [sentence]


@pytest.mark.parametrize(
    ("table_kind", "reason"),
    [
        ("gates", "its system has no gate, or test is no test"),
        ("trees", "test is no treebank with gold trees of the source side"),
        ("attention", "it has no model, or test is no test"),
        ("sharpness", "its encoder has no attention heads"),
    ],
)
def test_runs_that_lack_the_output_have_reasons(runs, table_kind, reason):
    content_of, _, facts = KINDS[table_kind]
    content = content_of(planned(table_kind, [cell("mine")], seeds={"mine": [1]}, more=facts), runs.layout)
    assert items_of(content) == [f"mine is missing: {reason}."]


def write_gates(runs, seed, norms):
    rows = [
        {"id": i, **gate_row(words, tags, own)}
        for i, ((words, tags), own) in enumerate(
            zip([([0, 1], ["DET", "NOUN"]), ([0, 0], ["VERB"])], norms, strict=True)
        )
    ]
    path = runs.path("gates", "sa", seed)
    write_rows(path, GATES_SCHEMA, rows)
    return str(path)


def test_counts_of_tags_stand_beside_the_published_ones(runs):
    files = [write_gates(runs, 1, [[2, 1, 0.5], [4, 2, 3]]), write_gates(runs, 2, [[1, 3, 0.5], [4, 2, 3]])]
    tags = {"VERB": 1022, "NOUN": 636, "PART": 95}
    cells = [
        {"row": tag, "column": "highest", "item": tag, "metric": "highest", "published": count, "split": "test",
         "system": "sa", "runs": "d/sa"}
        for tag, count in tags.items()
    ]  # fmt: skip
    facts = {"gates": [{"runs": "d/sa", "split": "test", "files": files}]}
    content = gates_content(planned("gates", cells, seeds={"sa": [1, 2]}, more=facts), runs.layout)
    assert [row[:6] for row in table_of(content)] == [
        ["VERB", "1,022", "1.0 ± 0.0", "50.00", "33.33", "50.00"],
        ["NOUN", "636", "0.5 ± 0.7", "25.00", "33.33", "25.00"],
        ["PART", "95", "(no word of the test has the tag PART)", "", "", ""],
        ["DET (added)", "", "0.5 ± 0.7", "25.00", "33.33", "25.00"],
        ["`</s>`", "", "", "", "", ""],
    ]
    assert unlinked(content.blocks) == []
    drawn = texts(runs, draw_gates, content)
    assert "sa, norms 1.00 to 4.00" in drawn


def test_published_counts_are_shown_without_runs(runs):
    cells = [cell("VERB", column="highest", item="VERB", metric="highest", published=1022, reason=NOT_TRAINED)]
    content = gates_content(planned("gates", cells, seeds={}, more={"gates": []}), runs.layout)
    assert table_of(content)[0][:3] == ["VERB", "1,022", f"({NOT_TRAINED})"]


def test_trees_of_the_first_sentence_that_all_runs_parsed(runs):
    induced = [2, 3, 4, 5, 6, 7, 8, 0]
    for system in ("sa", "hard"):
        runs.write_parses(system, induced if system == "sa" else HEADS, ids=[7, 9])
    facts = {
        "treebanks": {"d": {"test": {"pairs": str(runs.pairs), "trees": str(runs.trees)}}},
        "parsed": {"d/sa": ["test"], "d/hard": ["test"]},
        "induced": ["d/sa", "d/hard"],
    }
    cells = [cell("sa"), cell("hard"), cell("gone", reason=NOT_TRAINED)]
    table = planned("trees", cells, seeds={"sa": [1, 2], "hard": [1]}, more=facts)
    content = trees_content(table, runs.layout)
    rows = table_of(content)
    assert rows[0] == ["A", "4 the", "2 <b>", "4 the", ""]
    assert rows[5] == ["sleep", "root", "7 s", "root", ""]
    assert [row[-1] for row in rows] == [""] * 7 + ["yes"]
    drawn = texts(runs, draw_trees, content)
    assert {"gold", "sa, seed 1, scale quick", "hard, seed 1, scale quick", f"gone is missing: {NOT_TRAINED}."} <= set(
        drawn
    )


def attention_test(runs, system, **values):
    facts = {"runs": f"d/{system}", "split": "test", "pairs": str(runs.pairs), "trees": None, "claimed": []}
    return {**facts, "encoder_heads": False, **values}


def test_attention_of_transformers_and_of_recurrent_systems(runs):
    encoder = runs.write_attention("mine", ids=IDS[1:])
    maps = runs.write_attention("sa", layers=0, selection=True)
    tests = [
        attention_test(runs, "mine", file=str(encoder), trees=str(runs.trees), encoder_heads=True, claimed=["1.0"]),
        attention_test(runs, "sa", file=str(maps)),
    ]
    table = planned("attention", [cell("mine", split=None), cell("sa")], seeds={"mine": [1], "sa": [1]},
                    more={"attention": tests})  # fmt: skip
    content = attention_content(table, runs.layout)
    assert [row[:3] for row in table_of(content)] == [
        ["mine", "1", "layer 0, head 0"], ["mine", "1", "layer 0, head 1"],
        ["mine", "1", "layer 1, head 0"], ["mine", "1", "layer 1, head 1"],
        ["sa", "1", "decoder to source"], ["sa", "1", "heads (head_selection)"],
    ]  # fmt: skip
    weights = content.data["encoders"][0]["heads"]["1.0"]
    assert table_of(content)[2][3] == f"{sum(max(row) for row in weights) / len(weights):.3f}"
    selected = content.data["maps"][0]["runs"][0]["maps"][1]["weights"]
    maxima = [max(row[column] for row in selected) for column in range(len(selected))]
    assert table_of(content)[5][3] == f"{sum(maxima) / len(maxima):.3f}"
    drawn = texts(runs, draw_attention, content)
    assert {"layer 1, head 0", "sa: heads (head_selection)", *SENTENCES[2]} <= set(drawn)
    assert items_of(content) == []
    assert unlinked(content.blocks) == []


def sharpness(runs, facts, systems):
    tests = [
        {"runs": f"d/{name}", "split": "test", "claimed": claimed, "files": [str(path) for path in paths]}
        for name, (claimed, paths) in systems.items()
    ]
    seeds = {name: list(range(1, len(paths) + 1)) for name, (_, paths) in systems.items()}
    cells = [cell(name) for name in systems]
    return sharpness_content(
        planned("sharpness", cells, seeds=seeds, facts=facts, more={"sharpness": tests}), runs.layout
    )


def test_sharpness_of_layers(runs):
    paths = [runs.write_attention("mine", seed=seed) for seed in (1, 2)]
    facts = {"first_sentences": 100, "bins_from": 0.2}
    content = sharpness(runs, facts, {"mine": (["1.0"], paths), "other": ([], [runs.write_attention("other")])})
    rows = table_of(content)
    assert [row[:7] for row in rows] == [
        [name, "d", "test", seeds, "4", layer, ""] for name, seeds in (("mine", "2"), ("other", "1")) for layer in "01"
    ]
    counts = content.data["systems"][0]["layers"]["1"]
    assert rows[1][7:] == [f"{counts['mean_maximum']:.3f}", f"{counts['mean_entropy']:.3f}", "yes"]
    assert items_of(content) == ["d, test: 4 sentences instead of the paper's 100."]
    assert content.data["lowest_bin"] == 2
    assert unlinked(content.blocks) == []
    drawn = texts(runs, draw_sharpness, content)
    assert {"mine", "other", "layer 0", "layer 1"} <= set(drawn)


def test_a_model_with_fewer_layers_shows_its_last(runs):
    paths = {name: runs.write_attention(name, layers=layers) for name, layers in (("deep", 3), ("flat", 2))}
    systems = {name: (["2.1"] if name == "deep" else [], [path]) for name, path in paths.items()}
    content = sharpness(runs, {"layer": 2, "first_sentences": 4}, systems)
    assert items_of(content) == ["flat has layers 0 to 1: layer 1 stands for layer 2."]
    by_head = [row for row in table_of(content) if row[6]]
    assert [(row[0], row[5], row[6], row[9]) for row in by_head] == [
        ("deep", "2", "0", ""), ("deep", "2", "1", "yes"), ("flat", "1", "0", ""), ("flat", "1", "1", ""),
    ]  # fmt: skip
    drawn = texts(runs, draw_sharpness, content)
    assert {"layer 2, head 0", "layer 1, head 1"} <= set(drawn)


def test_sentences_of_other_lengths_are_drawn_if_no_other_fits(runs):
    path = runs.write_attention("sa", layers=0, ids=IDS[:1])
    table = planned("attention", [cell("sa")], seeds={"sa": [1]},
                    more={"attention": [attention_test(runs, "sa", file=str(path))]})  # fmt: skip
    content = attention_content(table, runs.layout)
    chosen = content.data["maps"][0]["sentence"]["chosen"]
    assert chosen == "the first sentence with 2 words, since none has 8 to 15 and no number is nearer"
    assert Path(path).exists()
