"""Tables of parts of a test: by constructions, phrases and lengths; scores are those of their sentences."""

from dataclasses import replace
from statistics import fmean

import pytest
from evaluation.test_metrics import own_bleu
from tables.planned import (
    blocks_of,
    claim,
    items,
    page_blocks,
    planned,
    scored,
    shown,
    stored_frame,
    tables,
    unlinked,
)
from tables.runs import EVALUATION
from tables.runs import Results as Folder

from nmtcore.config.training import EvaluationSettings
from nmtcore.errors import UserError
from nmtcore.tables.parts import LONG
from nmtcore.tables.query import compared_rows

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


def rows_of(frame, *, compared):
    """Return the rows of parts, without whole tests, by part and system: of scores, or of what is compared."""
    rows = [row for row in frame.rows if row["item"] is not None and (row["baseline"] is not None) == compared]
    return {(row["item"], row["system"] or ""): row for row in rows}


def test_gains_on_constructions_are_those_of_their_sentences(folder, annotations):
    frame = stored_frame(gains(folder, annotations))
    blocks = blocks_of(frame)
    assert unlinked(blocks) == []
    assert [row[:3] + row[5:6] for row in shown(*tables(blocks))] == [
        ["question", "32", "40.0", "+1.44"],
        ["conjunction", "16 (few)", "20.0", "+1.00"],
        ["control", "16 (few)", "20.0", "+0.10"],
        ["all sentences", "80", "100.0", ""],
        ["prepositional", "0 (none)", "0.0", ""],
        ["relative_subordinate", "0 (none)", "0.0", ""],
    ]
    assert [row[6] for row in shown(*tables(blocks))[4:]] == ["(no sentences)"] * 2
    rows = list(rows_of(frame, compared=True).values())
    for row, places in zip(rows, PLACES.values(), strict=False):
        positions = [i for i in range(80) if i % 5 in places]
        base, better = bleu("base", positions), bleu("better", positions)
        assert (row["baseline_values"], row["values"]) == (pytest.approx(base), pytest.approx(better))
        assert row["delta"] == pytest.approx((sum(better) - sum(base)) / 2)


def test_constructions_beyond_the_thesis_have_rows_where_no_row_names_one(folder):
    tags = [["N", r"((S\NP)\(S\NP))/NP"], ["N", "(S/S)/S[dcl]"], ["N", "PP"], ["N"]] * 20
    named = gains(folder, {"source.ccg": folder.write_annotation("source", "ccg", tags)})
    unnamed = replace(named, cells=tuple(replace(cell, item="total", row="total") for cell in named.cells[:1]))
    beyond = {"adverbial_clause": (20, 25), "adverbial_preposition": (20, 25)}
    mixed = replace(named, cells=(*named.cells[:1], *unnamed.cells))
    for table, expected in ((unnamed, beyond), (named, {}), (mixed, {})):
        frame = stored_frame(table)
        sizes = {row["row"]: (row["sentences"], row["share"]) for row in rows_of(frame, compared=True).values()}
        assert sizes["prepositional"] == (20, 25)
        assert {name: size for name, size in sizes.items() if name in beyond} == expected
        texts = " ".join(getattr(block, "text", "") for block in blocks_of(frame))
        assert ("are not among those of Aycock 2021" in texts) == bool(expected)


def test_phrases_are_parts_too_but_not_those_of_all_sentences(folder):
    trees = ["(S (NP (D a)) (VP (V b)))" if i % 2 else "(S (NP (D a)))" for i in range(80)]
    path = folder.write_annotation("source", "constituency", trees)
    rows = rows_of(stored_frame(gains(folder, {"source.constituency": path})), compared=True)
    parts = {name: row["sentences"] for (name, _), row in rows.items() if row["delta"] is not None}
    assert parts == {"all sentences": 80, "VP in the source": 40}


def test_sentences_that_could_not_be_analysed_are_counted(tmp_path):
    folder = Folder(tmp_path, WORDS, WORDS).write_runs({name: [translate(7)] * 2 for name in SEEDS})
    tags = [None if i < 3 else own for i, own in enumerate(SUPERTAGS)]
    table = gains(folder, {"target.ccg": folder.write_annotation("target", "ccg", tags)})
    assert "d, test: 3 of 80 sentences have no supertags of the reference." in items(page_blocks(table))


def test_claims_about_parts_are_compared_on_their_sentences(folder, annotations):
    base = {**scored(folder.layout, "base", (1, 2)), "metric": "bleu_gain"}
    base["source"]["files"]["annotations"] = annotations
    own = compared(folder, {"annotations": annotations}) | {"metric": "bleu_gain"}
    names = ("question", "control", "passive", None, "prepositional")
    table = replace(gains(folder, annotations), claims=tuple(claim(own, base, item=item) for item in names))
    frame = stored_frame(table)
    question, control, passive, whole, prepositional = frame.claims
    assert question["delta"] == rows_of(frame, compared=True)["question", "better"]["delta"]
    few = "the subset (control_raising) has 16 of the test's sentences, and fewer than 30 are too few"
    assert (control["delta"] is not None, control["reason"]) == (True, few)
    assert (passive["delta"], passive["reason"]) == (None, "passive is no construction")
    assert (whole["delta"] is not None, whole["reason"]) == (True, "")
    assert prepositional["reason"].startswith("the subset (prepositional) has 0 of the test's sentences")
    assert compared_rows(frame._replace(table=replace(table, baselines=()))) == [whole]


def test_a_gain_on_a_part_is_compared_with_that_on_all_other_sentences(folder, annotations):
    base = {**scored(folder.layout, "base", (1, 2)), "metric": "bleu_gain"}
    base["source"]["files"]["annotations"] = annotations
    own = compared(folder, {"annotations": annotations}) | {"metric": "bleu_gain"}
    pairs = [claim(own, base, item=item) for item in ("question", "all but question", "all but passive")]
    (part, *others), weights = pairs, (1.0, -1.0, -1.0, 1.0)
    cells = [(part.system, part.baseline, other.system, other.baseline) for other in others]
    claims = [replace(part, compares="gains", terms=tuple(zip(weights, own, strict=True))) for own in cells]
    larger, unknown = stored_frame(replace(gains(folder, annotations), claims=tuple(claims))).claims
    in_part = [i % 5 in PLACES["question"] for i in range(80)]
    means = [
        fmean(bleu(name, [i for i in range(80) if in_part[i] == inside]))
        for inside in (True, False) for name in ("better", "base")
    ]  # fmt: skip
    assert larger["delta"] == pytest.approx((means[0] - means[1]) - (means[2] - means[3]))
    assert larger["baseline"] == "base, beyond the gain on all but question"
    assert unknown["reason"] == "all but passive is no construction"


def test_cells_without_runs_or_annotation_have_the_reason(folder, annotations):
    table = gains(folder, annotations, runs=None, source={}, reason="no tags")
    assert [row[6] for row in shown(*tables(page_blocks(table)))] == ["(no tags)"] * 3
    short = folder.write_annotation("source", "ccg", SUPERTAGS[:7])
    with pytest.raises(UserError, match=r"parquet has 7 sentences, but 80 were translated: delete the older"):
        stored_frame(gains(folder, {"target.ccg": short}))


BINS = {"all sentences": range(99), "at least 25 words": range(25, 99), "1 to 10": range(1, 11),
        "11 to 20": range(11, 21), "21 to 30": range(21, 31), "over 60": range(61, 99)}  # fmt: skip


def test_each_bin_has_the_scores_of_its_sentences(folder):
    blocks = page_blocks(lengths(folder))
    assert unlinked(blocks) == []
    rows = rows_of(stored_frame(lengths(folder)), compared=True)
    assert list(rows) == [(name, "better") for name in BINS]
    for (name, _), row in rows.items():
        positions = [i for i, length in enumerate(LENGTHS) if length in BINS[name]]
        base, better = bleu("base", positions), bleu("better", positions)
        assert (row["baseline_values"], row["values"]) == (pytest.approx(base), pytest.approx(better))
        assert (row["sentences"], row["delta"]) == (len(positions), pytest.approx((sum(better) - sum(base)) / 2))
    (table,) = tables(blocks)
    assert [row[:3] for row in shown(table)][2:4] == [["1 to 10", "20 (few)", "25.0"], ["11 to 20", "30", "37.5"]]


def test_lengths_of_a_system_that_was_not_run_have_the_reason(folder):
    (table,) = tables(page_blocks(lengths(folder, runs=None, source={}, reason="d names no parser")))
    assert [row[-1] for row in shown(table)] == ["(d names no parser)"]


def test_published_gains_on_long_sentences_stand_beside_ours(folder):
    table = lengths(folder)
    cells = [
        replace(table.cell(name, "ours"), dataset="real", tested="real", split="test") for name in ("base", "better")
    ]
    claims = tuple(
        replace(claim(difference=2), system=system, baseline=baseline)
        for baseline, system in ([replace(cell, item=item) for cell in cells] for item in (LONG, "questions"))
    )
    frame = stored_frame(replace(table, cells=tuple(cells), claims=claims))
    gain, other = frame.claims
    (row,) = (own for own in shown(tables(blocks_of(frame))[0]) if own[0] == "at least 25 words")
    assert row[5:] == ["+2.0", f"{gain['delta']:+.2f} ± {(gain['high'] - gain['low']) / 2:.2f}"]
    assert other["reason"] == "questions is no subset by length"


def test_a_single_sentence_has_a_score_but_no_difference(tmp_path):
    folder = Folder(tmp_path, ["a b"] + ["a"] * 4, ["a b c d e"] * 5)
    folder.write_runs({"base": [["a b c d f"] * 5] * 2, "better": [["a b c d e"] * 5] * 2})
    table = lengths(folder)
    cells = [replace(table.cell(name, "ours"), tested="real", split="test", item=LONG) for name in ("better", "base")]
    own = replace(claim(), system=cells[0], baseline=cells[1])
    frame = stored_frame(replace(table, facts={}, claims=(own,)))
    assert frame.claims[0]["delta"] is None
    assert frame.claims[0]["reason"].startswith("the subset (at least 2 words) has 1 of the test's sentences")
    row = rows_of(frame, compared=True)["at least 2 words", "better"]
    assert (row["sentences"], row["delta"], len(row["values"]), row["reason"]) == (1, None, 2, "a single sentence")
