"""Figures and tables of trees, attention, its sharpness, curves and times: what they read, show and refuse."""

import json
import re

import numpy as np
import pytest
from matplotlib.colors import to_hex
from tables.attention_runs import HEADS, IDS, LABELS, SENTENCES, AttentionRuns
from tables.planned import blocks_of, items, planned, shown, stored_frame, tables, unlinked
from tables.test_curves import bleu, write_history

from nmtcore.config.typed import plain
from nmtcore.errors import UserError
from nmtcore.files import write_lines
from nmtcore.parquet import read_rows
from nmtcore.tables.make import draw_figure, write_table
from nmtcore.tables.sentence_figures import FEWEST_WORDS, MOST_WORDS, attention_drawings, choose_sentence
from nmtcore.tables.sharpness import CLAIMED, LOWEST_BIN, sharpness_figure

NOT_TRAINED = "gone on d is not trained yet (unfinished_runs: leave_out)"


@pytest.fixture
def runs(tmp_path):
    return AttentionRuns(tmp_path)


def cell(system, files=None, *, reason="", row=None, column="", **source):
    known = {"runs": f"d/{system}", "source": {"files": files, "split": "test", **source}}
    return {"row": row or system, "column": column, "system": system, **(known if files else {"reason": reason})}


def made(runs, table):
    """Return the frame of a table, the blocks of its page, and the texts of its figure."""
    frame = stored_frame(table)
    blocks = blocks_of(frame)
    assert unlinked(blocks) == []
    figure = runs.outputs["figure"]
    write_table(plain(table), frame=figure.with_suffix(".parquet"), table=figure.with_suffix(".md"))
    draw_figure(figure.with_suffix(".parquet"), figure)
    return frame, blocks, runs.texts()


@pytest.mark.parametrize("table_kind", ["trees", "attention", "sharpness"])
def test_a_figure_without_runs_is_a_sentence(runs, table_kind):
    table = planned(table_kind, [cell("gone", reason=NOT_TRAINED)])
    _, blocks, texts = made(runs, table)
    assert items(blocks) == [" ".join(texts)] == [f"gone is missing: {NOT_TRAINED}."]


def test_the_sentence_is_the_first_that_fits(runs):
    assert len(SENTENCES[0]) < FEWEST_WORDS <= len(SENTENCES[1]) <= MOST_WORDS
    assert choose_sentence(runs.pairs).id == IDS[1]
    sentence = choose_sentence(runs.pairs, runs.trees)
    assert (sentence.id, sentence.words, sentence.heads) == (IDS[2], SENTENCES[2], HEADS)
    assert sentence.punctuation == [False] * 7 + [True]
    assert choose_sentence(runs.pairs, runs.trees, ids={3, 4, 9}).id == 9
    short = choose_sentence(runs.pairs, runs.trees, ids={3, 4}).as_json()
    chosen = "the first sentence with 8 to 15 words or nearly as many and a tree"
    assert (short["id"], short["chosen"]) == (3, chosen)
    with pytest.raises(UserError, match="no sentence with words and a tree among the 1 to choose from"):
        choose_sentence(runs.pairs, runs.trees, ids={4})


def test_trees_of_the_first_sentence_that_all_runs_parsed(runs):
    cells = []
    for system, heads in (("sa", [2, 3, 4, 5, 6, 7, 8, 0]), ("hard", HEADS)):
        folder = runs.write_parses(system, heads, ids=[7, 9])
        files = {"pairs": str(runs.pairs), "trees": str(runs.trees), "gold_parses": {"1": str(folder)}}
        cells.append(cell(system, files))
    table = planned("trees", [*cells, cell("gone", reason=NOT_TRAINED)], seeds={"sa": [1, 2], "hard": [1]})
    _, blocks, texts = made(runs, table)
    rows = shown(tables(blocks)[0])
    assert rows[0] == ["A", "4 the", "2 <b>", "4 the", ""]
    assert rows[5] == ["sleep", "root", "7 s", "root", ""]
    assert [row[-1] for row in rows] == [""] * 7 + ["yes"]
    drawn = " ".join(texts)
    shown_texts = ("gold", "sa, seed 1, scale quick", "hard, seed 1, scale quick", f"gone is missing: {NOT_TRAINED}.")
    assert [text for text in shown_texts if text not in drawn] == []
    # Without roots and punctuation: 6 arcs of the gold tree and of hard, and 6 of the chain (one ends at the mark).
    assert len(re.findall(r"M[\d.]+ [\d.]+A", runs.outputs["figure"].read_text())) == 6 + 6 + 6


def attention(runs, system, path, trees=None, **source):
    files = {"attention": {"1": str(path)}, "pairs": str(runs.pairs), "trees": trees and str(trees)}
    return cell(system, files, **{"encoder_heads": False, "claimed": [], **source})


def mean_maximum(weights):
    return f"{np.max(weights, axis=1).mean():.3f}"


def test_attention_is_that_of_the_files(runs):
    """Encoder heads beside the tree, on a sentence that has one; of a recurrent system, maps of any first sentence."""
    encoder = runs.write_attention("mine", ids=IDS[1:])
    recurrent = runs.write_attention("sa", layers=0, selection=True, ids=IDS[1:])
    cells = [
        attention(runs, "mine", encoder, runs.trees, encoder_heads=True, claimed=["1.0"]),
        attention(runs, "sa", recurrent),
    ]
    table = planned("attention", cells, seeds={"mine": [1], "sa": [1]})
    frame, blocks, texts = made(runs, table)
    first, second = ([row for row in frame.rows if row["system"] == name] for name in ("mine", "sa"))
    assert [first[0][key] for key in ("dataset", "runs", "seed", "test")] == ["d", "d/mine", 1, "test"]
    chosen = "the first sentence with 8 to 15 words and a tree"
    assert [first[0][key] for key in ("words", "heads", "labels", "chosen")] == [SENTENCES[2], HEADS, LABELS, chosen]
    weights = [row["weights"] for row in read_rows(encoder) if row["id"] == 7 and row["attention"] == "encoder"]
    assert [own["weights"] for own in first] == [np.round(own, 4).tolist() for own in weights]
    assert [own["claimed"] for own in first] == [False, False, True, False]
    (cross, selection), (decoder, heads) = (row for row in read_rows(recurrent) if row["id"] == 4), second
    assert (decoder["rows"], decoder["columns"]) == (["ein", "<h&>", "</s>"], [*SENTENCES[1], "</s>"])
    assert decoder["weights"] == np.round(cross["weights"], 4).tolist()
    assert heads["rows"] == heads["columns"] == SENTENCES[1]
    selected = np.round(selection["weights"], 4)[:8, :8]
    assert heads["weights"] == selected.T.tolist(), "rows are heads"
    titles = [f"layer {layer}, head {head}" for layer in (0, 1) for head in (0, 1)]
    rows = [("mine", title, mean_maximum(own)) for title, own in zip(titles, weights, strict=True)]
    rows.append(("sa", "decoder to source", mean_maximum(cross["weights"])))
    rows.append(("sa", "heads (head_selection)", mean_maximum(selected)))
    assert shown(tables(blocks)[0]) == [[system, "1", title, maximum] for system, title, maximum in rows]
    drawn = " ".join(texts)
    assert {name for name in (*titles, "heads (head_selection)", "sa: ", *SENTENCES[2]) if name not in drawn} == set()
    svg = runs.outputs["figure"].read_text()
    # Once in the tree, beside each layer, and above each head of the first layer
    assert svg.count(">&lt;b&gt;</text>") == 1 + 2 + 2
    framed, plain = ("".join("".join(own.elements) for own in attention_drawings(figure)) for figure in (first, second))
    assert framed.count('stroke-width="2"') == 1
    assert ["framed: computed" in own for own in (framed, plain)] == [True, False]
    assert [bool(re.search(r"M[\d.]+ [\d.]+A", own)) for own in (framed, plain)] == [True, False]


def sharpness(systems, facts):
    cells = [
        cell(name, {"attention": {str(seed): str(path) for seed, path in enumerate(paths, start=1)}}, claimed=claimed)
        for name, (claimed, paths) in systems.items()
    ]
    seeds = {name: list(range(1, len(paths) + 1)) for name, (_, paths) in systems.items()}
    return planned("sharpness", cells, seeds=seeds, facts=facts)


def test_sharpness_of_layers(runs):
    paths = [runs.write_attention("mine", seed=seed) for seed in (1, 2)]
    systems = {"mine": (["1.0"], paths), "other": ([], [runs.write_attention("other")])}
    frame, _, texts = made(runs, sharpness(systems, {}))
    drawn = [[row[key] for key in ("system", "place", "seeds", "claimed")] for row in frame.rows]
    assert drawn == [
        ["mine", "layer 0", 2, False], ["mine", "layer 1", 2, True],
        ["other", "layer 0", 1, False], ["other", "layer 1", 1, False],
    ]  # fmt: skip
    assert {"layer 0", "layer 1", "mine: % of the attention weights"} <= set(texts)
    ax = sharpness_figure(frame).subfigs[0].axes[1]
    (bars,) = ax.patches
    assert bars.get_data().values.tolist() == frame.rows[1]["shares"][LOWEST_BIN:]
    assert to_hex(bars.get_facecolor()) == CLAIMED


def test_a_model_with_fewer_layers_shows_its_last(runs):
    paths = {name: runs.write_attention(name, layers=layers) for name, layers in (("deep", 3), ("flat", 2))}
    systems = {name: (["2.1"] if name == "deep" else [], [path]) for name, path in paths.items()}
    frame, _, texts = made(runs, sharpness(systems, {"layer": 2}))
    assert [(row["system"], row["place"], row["claimed"]) for row in frame.rows] == [
        ("deep", "head 2.0", False), ("deep", "head 2.1", True),
        ("flat", "head 1.0", False), ("flat", "head 1.1", False),
    ]  # fmt: skip
    assert {"head 2.1", "flat: % of the attention weights"} <= set(texts)


def test_best_and_last_scores_of_curves(runs):
    scores = {"1": bleu(1.0, 5.0, 5.0, 3.0), "2": bleu(1.0, 2.0, 7.0, 6.0)}
    base = {seed: write_history(runs.layout, "d", "base", seed, own) for seed, own in scores.items()}
    perplexities = [(10 * i, {"perplexity": own}) for i, own in enumerate((8.0, 6.0, 7.0), start=1)]
    nmt = {"1": write_history(runs.layout, "d", "nmt", 1, perplexities)}
    cells = [cell("base", {"history": base}), cell("nmt", {"history": nmt})]
    table = planned("curves", [*cells, cell("late", reason="not trained yet")], seeds={"base": [1, 2], "nmt": [1]})
    _, blocks, texts = made(runs, table)
    scores, perplexity = tables(blocks)
    assert shown(scores) == [
        ["base", "d", "2", "6.00 ± 1.41", "2,500 ± 707", "4.50 ± 2.12", "4,000 ± 0"],
        ["nmt", "d", "", *["(its validations compute no BLEU)"] * 4],
        ["late", "d", "", *["(not trained yet)"] * 4],
    ]
    assert shown(perplexity)[1] == ["nmt", "d", "1", "6.00", "20", "7.00", "30"]
    drawn = " ".join(texts)
    assert drawn.index("dev BLEU") < drawn.index("dev perplexity")
    assert {"base", "nmt"} <= set(drawn.split())
    nothing = planned("curves", [cell("late", reason="not trained yet")])
    assert "No run of these systems is finished." in made(runs, nothing)[2]


def test_times_have_a_dot_for_each_number(runs):
    def log(name, seconds):
        path = runs.outputs["figure"].parent / f"{name}.jsonl"
        write_lines(path, [json.dumps({"update": 10, "updates": 10, "seconds": 10 * seconds})])
        return {"1": str(path)}

    base, own = log("base", 2), log("own", 6)
    cells = [
        {**cell(name, {"history": files, "baseline": base}, column="relative_time"), "metric": "relative_time",
         "published": published}
        for name, files, published in (("base", base, 1.0), ("own", own, 1.5))
    ]  # fmt: skip
    cells.append({**cell("late", reason="not trained yet", column="relative_time"), "metric": "relative_time"})
    table = planned("time", cells, seeds={"base": [1], "own": [1]}, baselines=("base",))
    _, blocks, texts = made(runs, table)
    assert shown(tables(blocks)[0]) == [["base", "1", "1.00"], ["own", "2", "3.00"], ["late", "", "(not trained yet)"]]
    assert {"own", "d: time relative to base; hollow: published"} <= set(texts)
    assert "late" not in texts
    _, _, texts = made(runs, planned("time", cells[2:]))
    assert "No time is published, and no run is finished." in texts
