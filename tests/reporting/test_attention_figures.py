"""Figures of attention, gates and trees: what they read, what they draw, and what they refuse."""

import re

import pytest
from reporting.attention_runs import HEADS, IDS, LABELS, SENTENCES, UPOS, AttentionRuns

from nmtcore.errors import UserError
from nmtcore.files import read_json, write_json, write_text
from nmtcore.inference.schemas import GATES_SCHEMA
from nmtcore.parquet import read_rows, write_rows
from nmtcore.reporting.attention_figure import attention_drawing, attention_entry
from nmtcore.reporting.charts import write_svg
from nmtcore.reporting.gates_figure import LONGEST, STRONGEST, gates_drawing, gates_entry
from nmtcore.reporting.induced_trees_figure import drawn_trees, induced_trees_entry
from nmtcore.reporting.maps_figure import maps_drawing, maps_entry
from nmtcore.reporting.sentences import FEWEST_WORDS, MOST_WORDS, choose_sentence
from nmtcore.reporting.sharpness_figure import CLAIMED, sharpness_bars, sharpness_chart, sharpness_entries
from nmtcore.reporting.svg import titled_svg
from nmtcore.reporting.tree_drawing import trees_drawing


@pytest.fixture
def runs(tmp_path):
    return AttentionRuns(tmp_path)


def drawn(runs, entry, draw):
    """Draw an entry that was written as JSON; return what is read from the files."""
    write_json(runs.outputs["json"], entry)
    entry = read_json(runs.outputs["json"])
    write_text(runs.outputs["figure"], titled_svg("Figure 1", [draw(entry)]))
    return entry, runs.outputs["figure"].read_text(encoding="utf-8")


def charted(runs, entries, *, layer=None, claimed):
    bars = list(sharpness_bars(entries, layer=layer, claimed=claimed))
    chart = sharpness_chart(bars, by_head=layer is not None)
    write_svg(chart, runs.outputs["figure"])
    return bars, runs.outputs["figure"].read_text(encoding="utf-8")


def rounded(weights):
    return [[round(weight, 4) for weight in row] for row in weights]


def test_the_sentence_is_the_first_that_fits(runs):
    assert len(SENTENCES[0]) < FEWEST_WORDS <= len(SENTENCES[1]) <= MOST_WORDS
    assert choose_sentence(runs.pairs).id == IDS[1]
    sentence = choose_sentence(runs.pairs, runs.trees)
    assert (sentence.id, sentence.words, sentence.heads) == (IDS[2], SENTENCES[2], HEADS)
    assert sentence.punctuation == [False] * 7 + [True]
    assert choose_sentence(runs.pairs, runs.trees, ids={3, 4, 9}).id == 9
    short = choose_sentence(runs.pairs, runs.trees, ids={3, 4})
    assert short.id == 3
    assert short.as_json()["chosen"].startswith("the first sentence with 2 words and a tree, since none has 8 to 15")
    with pytest.raises(UserError, match="no sentence with words and a tree among the 1 to choose from"):
        choose_sentence(runs.pairs, runs.trees, ids={4})


def test_attention_with_a_tree(runs):
    path = runs.write_attention("mine")
    own = attention_entry(path, pairs=runs.pairs, trees=runs.trees, layout=runs.layout, claimed=["1.0"])
    entry, svg = drawn(runs, own, attention_drawing)
    assert [entry[key] for key in ("dataset", "system", "scale", "seed", "split")] == ["d", "mine", "quick", 1, "test"]
    assert entry["sentence"] == {
        "id": 7, "words": SENTENCES[2], "heads": HEADS, "labels": LABELS, "upos": UPOS,
        "chosen": "the first sentence with 8 to 15 words and a tree",
    }  # fmt: skip
    rows = [row for row in read_rows(path) if row["id"] == 7 and row["attention"] == "encoder"]
    assert entry["heads"] == {f"{row['layer']}.{row['head']}": rounded(row["weights"]) for row in rows}
    assert list(entry["heads"]) == ["0.0", "0.1", "1.0", "1.1"]
    texts = runs.texts()
    assert {"<b>", "&", "<l>", "layer 0, head 1", "layer 1, head 0"} <= set(texts)
    # Once in the tree, beside each layer, and above each head of the first layer
    assert texts.count("<b>") == 1 + 2 + 2
    assert svg.count('stroke-width="2"') == 1
    assert "framed: heads that a component" in svg


def test_attention_without_a_tree(runs):
    own = attention_entry(runs.write_attention("mine"), pairs=runs.pairs, trees=None, layout=runs.layout)
    entry, svg = drawn(runs, own, attention_drawing)
    assert (entry["sentence"]["id"], entry["sentence"]["heads"]) == (4, None)
    assert "framed" not in svg
    assert not re.search(r"M[\d.]+ [\d.]+A", svg)


def test_attention_of_a_system_without_encoder_heads_is_refused(runs):
    path = runs.write_attention("nmt", layers=0)
    with pytest.raises(UserError, match="has no attention of encoder heads: draw a system whose base"):
        attention_entry(path, pairs=runs.pairs, trees=None, layout=runs.layout)


def test_maps_of_recurrent_systems(runs):
    paths = [runs.write_attention(name, layers=0, selection=name == "sa", ids=IDS[1:]) for name in ("nmt", "sa")]
    entry, _ = drawn(runs, maps_entry(paths, pairs=runs.pairs, layout=runs.layout), maps_drawing)
    assert entry["sentence"]["id"] == 4
    assert [(run["system"], [own["title"] for own in run["maps"]]) for run in entry["runs"]] == [
        ("nmt", ["decoder to source"]),
        ("sa", ["decoder to source", "heads (head_selection)"]),
    ]
    cross, selection = (row for row in read_rows(paths[1]) if row["id"] == 4)
    first, second = entry["runs"][1]["maps"]
    assert (first["rows"], first["columns"]) == (["ein", "<h&>", "</s>"], [*SENTENCES[1], "</s>"])
    assert first["weights"] == rounded(cross["weights"])
    assert second["rows"] == second["columns"] == SENTENCES[1]
    for head in range(8):
        for dependent in range(8):
            assert second["weights"][head][dependent] == round(selection["weights"][dependent][head], 4)
    assert {"nmt: decoder to source", "sa: heads (head_selection)", "<h&>", "failed"} <= set(runs.texts())


def test_maps_of_a_decoder_with_several_heads_are_refused(runs):
    with pytest.raises(UserError, match="the decoder has several attention heads"):
        maps_entry([runs.write_attention("mine", cross=2)], pairs=runs.pairs, layout=runs.layout)


def test_gates_of_short_sentences(runs):
    path = runs.path("gates", "sa")
    lengths = [2, LONGEST + 1, 0, LONGEST, 3]
    rows = [
        {"id": i, "pieces": [*(f"<{i}.{k}>" for k in range(n)), "</s>"], "norms": [float(k) for k in range(n + 1)]}
        for i, n in enumerate(lengths)
    ]
    write_rows(path, GATES_SCHEMA, rows)
    entry, svg = drawn(runs, gates_entry(path, layout=runs.layout, sentences=2), gates_drawing)
    assert [sentence["id"] for sentence in entry["sentences"]] == [0, 3]
    assert entry["sentences"][0] == {"id": 0, "pieces": ["<0.0>", "<0.1>"], "norms": [0, 1]}
    assert [text for text in runs.texts() if text.startswith("<")] == ["<0.0>", "<0.1>", *rows[3]["pieces"][:-1]]
    assert re.findall(r'font-weight="bold">(&lt;[^<]*)', svg) == ["&lt;0.1&gt;", f"&lt;3.{LONGEST - 1}&gt;"]
    assert 'fill-opacity="0.00"' in svg
    assert f'fill-opacity="{STRONGEST:.2f}"' in svg


def test_gold_and_induced_trees(runs):
    induced = [2, 3, 4, 5, 6, 7, 8, 0]
    folders = [runs.write_parses("sa", induced), runs.write_parses("chain", induced[::-1], one_root=False)]
    options = {"split": "test", "pairs": runs.pairs, "trees": runs.trees, "layout": runs.layout}
    own = induced_trees_entry(folders, **options)
    entry, svg = drawn(runs, own, lambda entry: trees_drawing(drawn_trees(entry)))
    assert (entry["sentence"]["id"], entry["sentence"]["heads"]) == (7, HEADS)
    assert entry["punctuation"] == [False] * 7 + [True]
    assert [(run["system"], run["heads"]) for run in entry["runs"]] == [("sa", induced), ("chain", induced[::-1])]
    assert {"gold", "sa, seed 1, scale quick", "chain, seed 1, scale quick"} <= set(runs.texts())
    # Without the root and the punctuation: of the gold tree 6 arcs, of the chain to the right 6 (one ends at the mark);
    # its mirror image has the arcs 8-1, 6-2... of which one begins at the mark, and one word is its own head.
    mirrored = [(head, word) for word, head in enumerate(induced[::-1], start=1)]
    kept = [arc for arc in mirrored if 0 < arc[0] != arc[1] and 8 not in arc]
    assert len(re.findall(r"M[\d.]+ [\d.]+A", svg)) == 6 + 6 + len(kept)


def test_broken_parses_are_refused(runs):
    options = {"split": "test", "pairs": runs.pairs, "trees": runs.trees, "layout": runs.layout}
    with pytest.raises(UserError, match="has no sentence with id 7: delete"):
        induced_trees_entry([runs.write_parses("a", HEADS, ids=[3, 4])], **options)
    with pytest.raises(UserError, match="the sentence with id 7 has 3 heads for 8 words"):
        induced_trees_entry([runs.write_parses("b", [2, 0, 2])], **options)


def test_sharpness_of_systems(runs):
    paths = [runs.write_attention("mine", seed=seed) for seed in (1, 2)] + [runs.write_attention("other")]
    entries = sharpness_entries(paths, runs.layout)
    assert [(entry["system"], entry["seeds"], entry["sentences"]) for entry in entries] == [
        ("mine", [1, 2], 4),
        ("other", [1], 4),
    ]
    bars, svg = charted(runs, entries, claimed={"mine": ["1.0"]})
    assert len(bars) == 2 * 2 * 9
    for bar in bars:
        (entry,) = (entry for entry in entries if entry["system"] == bar["system"])
        counts = entry["layers"][str(bar["layer"])]["counts"]
        assert bar["share"] == pytest.approx(100 * counts[round(bar["low"] * 10)] / sum(counts))
        assert bar["claimed"] == (bar["system"] == "mine" and bar["layer"] == 1)
    texts = runs.texts()
    assert {"mine", "other", "layer 0", "layer 1", "weight", "%"} <= set(texts)
    assert svg.count(f'fill="{CLAIMED}"') >= 9


def test_sharpness_of_the_heads_of_a_layer(runs):
    path = runs.write_attention("mine", heads=3)
    entries = sharpness_entries([path], runs.layout)
    charted(runs, entries, layer=1, claimed={})
    assert {"layer 1, head 0", "layer 1, head 1", "layer 1, head 2"} <= set(runs.texts())
    assert not any(text.startswith("black") for text in runs.texts())
    bars = list(sharpness_bars(entries, layer=1, claimed={"mine": {"1.2"}}))
    assert {bar["head"] for bar in bars if bar["claimed"]} == {2}
    assert [bar["share"] for bar in bars if bar["head"] == 2] == pytest.approx(
        [100 * count / sum(entries[0]["heads"]["1.2"]["counts"]) for count in entries[0]["heads"]["1.2"]["counts"][1:]]
    )
    with pytest.raises(UserError, match="The encoder of mine has no layer 4: its layers are 0 to 1"):
        list(sharpness_bars(entries, layer=4, claimed={}))
