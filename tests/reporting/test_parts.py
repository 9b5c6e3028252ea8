"""Tables of parts of a test: by constructions, phrases and lengths; scores are those of their sentences."""

from dataclasses import replace

import pytest
from evaluation.test_metrics import own_bleu
from matplotlib.text import Text
from reporting.planned import claim, items, planned, scored, shown, tables, unlinked
from reporting.runs import EVALUATION
from reporting.runs import Results as Folder

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.errors import UserError
from nmtcore.evaluation.compare import Difference
from nmtcore.reporting.chart_rows import construction_rows, difference_rows, length_rows
from nmtcore.reporting.charts import construction_chart
from nmtcore.reporting.grid import compared_cells
from nmtcore.reporting.parts import (
    LONG,
    compare_parts,
    construction_blocks,
    construction_entries,
    length_blocks,
    length_entries,
)
from nmtcore.reporting.results import Results, Undecided

WORDS = ["the cat sees a dog .", "does he see it ?", "a cat and a dog", "he tries to sleep .", "who is it now ?"] * 16
QUESTION, CONJUNCTION, CONTROL = ["S[q]/NP", "NP"], ["NP", "conj", "NP"], [r"(S\NP)/(S[to]\NP)"]
SUPERTAGS = [["NP"], QUESTION, CONJUNCTION, CONTROL, QUESTION] * 16
PLACES = {"question": [1, 4], "conjunction": [2], "control": [3]}
GAINS = {"question": 1.44, "conjunction": 1.0, "control": 0.1}
LENGTHS = [4, 10, 11, 15, 20, 25, 25, 70] * 10
SETTINGS = EvaluationSettings(**EVALUATION)
STEPS, SEEDS = {"base": 3, "better": 9}, {"base": [1, 2], "better": [1, 2]}


def translate(step):
    """Replace every `step`-th word of the references."""
    words = [line.split() for line in WORDS]
    return [
        " ".join("xyz" if (i + k) % step == 0 else word for k, word in enumerate(line)) for i, line in enumerate(words)
    ]


def bleu(system, rows):
    """Return the scores of both seeds on some sentences, by sacreBLEU."""
    texts = [translate(STEPS[system] + seed) for seed in (1, 2)]
    return [own_bleu([lines[i] for i in rows], [WORDS[i] for i in rows], SETTINGS) for lines in texts]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = Folder(tmp_path_factory.mktemp("parts"), [" ".join(["w"] * length) for length in LENGTHS], WORDS)
    return made.write_runs({system: [translate(step + seed) for seed in (1, 2)] for system, step in STEPS.items()})


@pytest.fixture
def annotations(folder):
    return {"target.ccg": folder.write_annotation("target", "ccg", SUPERTAGS)}


def compared(folder, files):
    """Plan what a cell has that is compared with `base` on parts of the test."""
    own, base = (scored(folder.layout, name, (1, 2)) for name in ("better", "base"))
    source = {**own["source"], "files": {**own["source"]["files"], **files, "baseline": base["source"]["files"]}}
    return {**own, "source": source, "baseline_runs": "d/base"}


def gains(folder, annotations, **changes):
    own = compared(folder, {"annotations": annotations}) | {"metric": "bleu_gain", **changes}
    cells = [{"row": row, "column": "bleu_gain", "item": row, "published": gain, **own} for row, gain in GAINS.items()]
    return planned("constructions", cells, seeds=SEEDS, baselines=("base",), columns={"bleu_gain": {"digits": 2}})


def lengths(folder, columns=("ours",), **changes):
    files = {"pairs": folder.layout.path("pairs", dataset="d", split="test")}
    base = scored(folder.layout, "base", (1, 2))
    base["source"]["files"] |= files
    values = {"base": base, "better": compared(folder, files) | changes}
    cells = [{"row": name, "column": column, **own} for column in columns for name, own in values.items()]
    return planned("lengths", cells, seeds=SEEDS, baselines=("base",), facts={"share_of_long_sentences": 0.3})


def measured_constructions(table):
    """Return the entries of a table of constructions, the rows of its table, and those of its chart."""
    counts, entries = construction_entries(table, Results())
    blocks = construction_blocks(table, counts, entries)
    assert unlinked(blocks) == []
    return entries, shown(*tables(blocks)), construction_rows(counts, entries)


def test_gains_over_different_systems_are_drawn_apart(folder, annotations):
    entries = construction_entries(gains(folder, annotations), Results())[1]
    others = [entry | {"system": "best", "baseline": "better"} for entry in entries]
    figure = construction_chart(*construction_rows([], [*entries, *others]))
    texts = [text.get_text() for text in figure.findobj(Text)]
    panels = {name: [text for text in texts if f"difference from {name}" in " ".join(text.split())] for name in STEPS}
    assert all(panels.values())


def test_gains_on_constructions_are_those_of_their_sentences(folder, annotations):
    entries, rows, (_, drawn) = measured_constructions(gains(folder, annotations))
    assert [row[:3] + row[5:6] for row in rows] == [
        ["question", "32", "40.0", "+1.44"],
        ["conjunction", "16 (few)", "20.0", "+1.00"],
        ["control", "16 (few)", "20.0", "+0.10"],
        ["all sentences", "80", "100.0", ""],
        ["prepositional", "0 (none)", "0.0", ""],
        ["relative_subordinate", "0 (none)", "0.0", ""],
    ]
    assert [row[6] for row in rows[4:]] == ["(no sentences)"] * 2
    for entry, places in zip(entries, PLACES.values(), strict=False):
        positions = [i for i in range(80) if i % 5 in places]
        base, better = bleu("base", positions), bleu("better", positions)
        assert (entry["baseline_scores"], entry["scores"]) == (pytest.approx(base), pytest.approx(better))
        assert entry["difference"].delta == pytest.approx((sum(better) - sum(base)) / 2)
    ours, published = (drawn[drawn.source == name] for name in ("better", "better, published"))
    assert ours.difference.tolist() == [own["difference"].delta for own in entries if own["difference"]]
    assert list(zip(ours.low, ours.high, strict=True)) == [own["difference"].interval for own in entries[:4]]
    assert published.difference.tolist() == list(GAINS.values())
    assert published.low.isna().all()
    names = ["test", "measure", "baseline", "subset", "sentences"]
    assert [tuple(row) for row in ours[names].to_numpy()[:2]] == [
        ("d, test", "BLEU", "base", "question", 32), ("d, test", "BLEU", "base", "conjunction", 16),
    ]  # fmt: skip


def test_counts_stand_beside_the_published_ones(annotations, folder):
    source = {"files": {"annotations": annotations}, "split": "test"}
    cells = [
        {"row": row, "column": "sentences", "metric": "sentences", "item": row, "published": value, "source": source}
        for row, value in {"question": 112, "control": 479, "total": 3007}.items()
    ]
    _, rows, (drawn, _) = measured_constructions(planned("constructions", cells))
    assert rows == [
        ["question", "112", "3.7", "32", "40.0"],
        ["control", "479", "15.9", "16 (few)", "20.0"],
        ["total", "3,007", "100.0", "80", "100.0"],
    ]
    assert [tuple(row) for row in drawn.itertuples(index=False)] == [
        ("published", "question", pytest.approx(3.72, abs=0.01), 112), ("d, test", "question", 40, 32),
        ("published", "control", pytest.approx(15.93, abs=0.01), 479), ("d, test", "control", 20, 16),
        ("published", "total", 100, 3007), ("d, test", "total", 100, 80),
    ]  # fmt: skip


def test_constructions_beyond_the_thesis_have_rows_where_no_row_names_one(folder):
    tags = [["N", r"((S\NP)\(S\NP))/NP"], ["N", "(S/S)/S[dcl]"], ["N", "PP"], ["N"]] * 20
    named = gains(folder, {"source.ccg": folder.write_annotation("source", "ccg", tags)})
    unnamed = replace(named, cells=tuple(replace(cell, item="total", row="total") for cell in named.cells[:1]))
    beyond = {"adverbial_clause": (20, 25), "adverbial_preposition": (20, 25)}
    for table, expected in ((unnamed, beyond), (named, {})):
        counts, entries = construction_entries(table, Results())
        sizes = {entry["row"]: (entry["sentences"], entry["share"]) for entry in entries}
        assert sizes["prepositional"] == (20, 25)
        assert {name: size for name, size in sizes.items() if name in beyond} == expected
        texts = " ".join(getattr(block, "text", "") for block in construction_blocks(table, counts, entries))
        assert ("are not among those of Aycock 2021" in texts) == bool(expected)


def test_phrases_are_parts_too_but_not_those_of_all_sentences(folder):
    trees = ["(S (NP (D a)) (VP (V b)))" if i % 2 else "(S (NP (D a)))" for i in range(80)]
    path = folder.write_annotation("source", "constituency", trees)
    _, entries = construction_entries(gains(folder, {"source.constituency": path}), Results())
    parts = {entry["row"]: entry["sentences"] for entry in entries if entry["difference"]}
    assert parts == {"all sentences": 80, "VP in the source": 40}


def test_claims_about_parts_are_compared_on_their_sentences(folder, annotations):
    table = gains(folder, annotations)
    results = Results()
    base = {**scored(folder.layout, "base", (1, 2)), "metric": "bleu_gain"}
    base["source"]["files"]["annotations"] = annotations

    def compare(item):
        own = claim(compared(folder, {"annotations": annotations}) | {"metric": "bleu_gain"}, base, item=item)
        return compare_parts(table, results, own.system, own.baseline)

    assert compare("question").delta == construction_entries(table, Results())[1][0]["difference"].delta
    few = "the subset (control_raising) has 16 of the test's sentences, and fewer than 30 are too few"
    control = compare("control")
    assert (type(control), control.reason) == (Undecided, few)
    assert compare("passive") == "passive is no construction"
    assert isinstance(compare(None), Difference)
    assert compare("prepositional").startswith("the subset (prepositional) has 0 of the test's sentences")


def test_cells_without_runs_or_annotation_have_the_reason(folder, annotations):
    table = gains(folder, annotations, runs=None, source={}, reason="no tags")
    _, rows, drawn = measured_constructions(table)
    assert [row[6] for row in rows] == ["(no tags)"] * 3
    assert [len(own) for own in drawn] == [0, 0]
    short = folder.write_annotation("source", "ccg", SUPERTAGS[:7])
    with pytest.raises(UserError, match=r"parquet has 7 sentences, but 80 were translated: delete the older"):
        construction_entries(gains(folder, {"target.ccg": short}), Results())


BINS = {"at least 25 words": range(25, 99), "1 to 10": range(1, 11), "11 to 20": range(11, 21),
        "21 to 30": range(21, 31), "over 60": range(61, 99)}  # fmt: skip


def measured_lengths(table):
    """Return what a figure of lengths draws, and the tables of its page."""
    entries = length_entries(table, Results())
    blocks = length_blocks(table, entries)
    assert unlinked(blocks) == []
    return entries, *tables(blocks)


def test_each_bin_has_the_scores_of_its_sentences(folder, tmp_path):
    drawn, _, bins = measured_lengths(lengths(folder))
    entries = {(own["subset"], own["row"]): own for own in drawn}
    assert list(entries) == [(name, row) for name in BINS for row in ("base", "better")]
    for (name, row), entry in entries.items():
        rows = [i for i, length in enumerate(LENGTHS) if length in BINS[name]]
        own = bleu(row, rows)
        assert (entry["sentences"], entry["scores"]) == (len(rows), pytest.approx(own))
        assert entry["interval"][0] < sum(own) / 2 < entry["interval"][1]
    assert entries["1 to 10", "base"]["difference"] is None
    means = [sum(entries["1 to 10", row]["scores"]) / 2 for row in ("better", "base")]
    assert entries["1 to 10", "better"]["difference"].delta == pytest.approx(means[0] - means[1])
    assert shown(bins)[2][:5] == ["d, test", "1 to 10", "base", "20 (few)", "25.0"]
    rows = length_rows(drawn).set_index(["subset", "system"])
    assert list(rows.index) == [(name, system) for name in list(BINS)[1:] for system in ("base", "better")]
    for names, row in rows.iterrows():
        entry = entries[names]
        assert (row.test, row.measure, row.sentences, row.one_seed) == ("d, test", "BLEU", entry["sentences"], False)
        assert (row.score, row.low, row.high) == (
            sum(entry["scores"]) / 2,
            max(entry["interval"][0], 0),
            entry["interval"][1],
        )


def test_lengths_of_a_system_that_was_not_run_have_the_reason(folder):
    _, *shown_tables = measured_lengths(lengths(folder, runs=None, source={}, reason="d names no parser"))
    assert all("(d names no parser)" in str(shown(own)) for own in shown_tables)


def test_published_gains_on_long_sentences_stand_beside_ours(folder):
    table = lengths(folder)
    cell, base = (
        replace(table.cell(name, "ours"), item=LONG, tested="real", split="test") for name in ("better", "base")
    )
    own = replace(claim(difference=2), system=cell, baseline=base)
    table = replace(table, claims=(own,))
    gain = compare_parts(table, Results(), cell, base)
    (row,) = shown(measured_lengths(table)[1])
    difference = f"{gain.delta:+.2f} ± {(gain.interval[1] - gain.interval[0]) / 2:.2f}"
    assert row == ["ours", "better", "base", "at least 25 words", "30", "2.0", difference]
    other = compare_parts(table, Results(), replace(cell, item="questions"), base)
    assert other == "questions is no subset by length"


def test_a_data_set_that_stands_in_for_several_is_measured_once(folder):
    table = lengths(folder, ("one", "two"))
    entries = length_entries(table, Results())
    assert len(entries) == 2 * len(BINS)
    blocks = length_blocks(table, entries)
    assert [row[0] for row in shown(tables(blocks)[0])] == ["one", "two"]
    assert "d, test: the same for the columns one, two." in items(blocks)


def test_empty_translations_of_each_part_are_counted(tmp_path):
    """The first seed of `better` leaves the sentences of the conjunction empty, and `base` none."""
    made = Folder(tmp_path, [" ".join(["w"] * length) for length in LENGTHS], WORDS)
    better = ["" if i % 5 == 2 else line for i, line in enumerate(translate(10))]
    made.write_runs({"base": [translate(4), translate(5)], "better": [better, translate(11)]})
    table = gains(made, {"target.ccg": made.write_annotation("target", "ccg", SUPERTAGS)})
    (constructions,) = tables(construction_blocks(table, *construction_entries(table, Results())))
    table = lengths(made)
    bins = tables(length_blocks(table, length_entries(table, Results())))[1]
    names = [column.name for column in constructions.columns]
    empty = {row[0]: row[names.index("empty of base") :][:2] for row in shown(constructions)}
    assert (empty["conjunction"], empty["question"]) == (["0.0", "8.0"], ["0.0", "0.0"])
    names = [column.name for column in bins.columns]
    left = {(row[1], row[2]): row[names.index("empty")] for row in shown(bins)}
    assert (left["1 to 10", "base"], left["1 to 10", "better"], left["over 60", "better"]) == ("0.0", "2.0", "1.0")


def test_a_single_sentence_has_a_score_but_no_intervals(tmp_path):
    folder = Folder(tmp_path, ["a b"] + ["a"] * 4, ["a b c d e"] * 5)
    folder.write_runs({"base": [["a b c d f"] * 5] * 2, "better": [["a b c d e"] * 5] * 2})
    entries, gains_table, _ = measured_lengths(replace(lengths(folder), facts={}))
    assert [(entry["sentences"], entry["interval"]) for entry in entries[:2]] == [(1, None)] * 2
    ((*_, gain),) = gains_table.rows
    assert (gain.value, gain.reason) == (None, "a single sentence")


@pytest.mark.parametrize("seeds", [(1, 2), (1,)])
def test_rows_of_differences_are_those_of_comparisons(folder, seeds):
    cells = [
        {"row": name, "column": "d/test/bleu", **scored(folder.layout, name, seeds)} for name in ("base", "better")
    ]
    (compared,) = compared_cells(planned("differences", cells, seeds=SEEDS, baselines=("base",)), Results())
    row = difference_rows([compared]).iloc[0]
    assert (row.test, row.measure, row.baseline, row.system) == ("d test", "BLEU", "base", "better")
    assert (row.difference, row.low, row.high) == (compared.result.delta, *compared.result.interval)
    assert row.one_seed == (len(seeds) == 1)
