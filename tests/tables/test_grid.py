"""Tables of numbers: scores equal sacreBLEU's, each cell depends on its own runs, differences are counted once."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from sacrebleu.metrics import BLEU, CHRF
from tables.planned import claim, control, page_blocks, planned, scored, shown, stored_frame, tables, unlinked
from tables.runs import Results as Folder
from tables.runs import write_comet_scores
from tables.treebank_tables import HARD, SHARED, UNTRAINED, TreebankTable, right_words

from nmtcore.config.typed import plain
from nmtcore.errors import UserError
from nmtcore.evaluation.compare import holm
from nmtcore.tables.ledger import ledger
from nmtcore.tables.make import write_claims, write_paper_page, write_table
from nmtcore.tables.query import NUMBERS

REFERENCES = [f"the {colour} dog sees a {noun} near the {place}" for colour in ("red", "old", "big")
              for noun in ("cat", "house", "child") for place in ("river", "old tree", "town")]  # fmt: skip
GOOD = [line.replace("near", "at") for line in REFERENCES]
BETTER = [line if i % 3 else line.replace("sees", "saw") for i, line in enumerate(REFERENCES)]
BAD = [" ".join(reversed(line.split())) for line in REFERENCES]
SYSTEMS = {"base": [BAD, GOOD], "new": [BETTER, GOOD], "control": [GOOD]}
SEEDS = {name: list(range(1, len(seeds) + 1)) for name, seeds in SYSTEMS.items()}
COLUMN, CHRF_COLUMN = "real/test/bleu", "chrF of real/test"
PUBLISHED = {"base": (20.5, ""), "new": (22.0, "d")}
MISSING = "missing on d has no finished run (unfinished_runs: leave_out)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return Folder(tmp_path_factory.mktemp("grid"), REFERENCES, REFERENCES).write_runs(SYSTEMS)


def column_cells(folder, column, metric, published=None):
    cells = []
    for name, own in SEEDS.items():
        number, marks = (published or {}).get(name, (None, ""))
        cells.append({"row": name, "column": column, "published": number, "marks": marks})
        cells[-1] |= scored(folder.layout, name, own, metric)
    return cells


def plan(folder, *columns, **changes):
    cells = [
        *column_cells(folder, COLUMN, "bleu", PUBLISHED),
        {"row": "missing", "column": COLUMN, "published": 21.0, "metric": "bleu", "reason": MISSING},
        {"row": "Other (2019)", "column": COLUMN, "published": 19.0, "metric": "bleu"},
        *column_cells(folder, CHRF_COLUMN, "chrf"),
        *columns,
    ]
    names = dict.fromkeys(cell["column"] for cell in cells)
    known = {(cell["row"], cell["column"]) for cell in cells}
    for row in dict.fromkeys(cell["row"] for cell in cells):
        cells += [{"row": row, "column": name, "metric": "bleu"} for name in names if (row, name) not in known]
    values = {
        "baselines": ("base",), "seeds": SEEDS, "stand_ins": {"real": "d"},
        "rows": {"control": {"added": True}, "Other (2019)": {"elsewhere": True}},
        "columns": {COLUMN: {"digits": 1}, CHRF_COLUMN: {"measure": "chrf", "added": True}},
    }  # fmt: skip
    return planned("scores", cells, **values | changes)


def rows_of(frame):
    """Return the rows of cells and of differences by their names and columns."""
    cells, differences = (
        {(row["row"], row["column"]): row for row in frame.rows if (row["baseline"] is None) == of_cells}
        for of_cells in (True, False)
    )
    return cells, differences


def details(table):
    """Return the rows of the table of differences, by the column, the measure and the system."""
    return {tuple(row[:3]): row[3:] for row in shown(tables(page_blocks(table))[1])}


def test_scores_and_differences_are_sacrebleus(folder):
    table = plan(folder)
    cells, differences = rows_of(stored_frame(table))
    for name, seeds in SYSTEMS.items():
        for metric, column in ((BLEU(tokenize="none"), COLUMN), (CHRF(), CHRF_COLUMN)):
            expected = [metric.corpus_score(lines, [REFERENCES]).score for lines in seeds]
            assert cells[name, column]["values"] == pytest.approx(expected, abs=1e-9)
    means = [np.mean(cells[name, COLUMN]["values"]) for name in ("new", "base")]
    difference = differences["new", COLUMN]
    assert difference["delta"] == pytest.approx(means[0] - means[1])
    assert (difference["values"], difference["baseline_values"]) == (
        cells["new", COLUMN]["values"], cells["base", COLUMN]["values"],
    )  # fmt: skip
    own = details(table)[COLUMN, "BLEU", "new"]
    lengths = [BLEU(tokenize="none").corpus_score(lines, [REFERENCES]) for lines in SYSTEMS["new"]]
    length = np.mean([score.sys_len / score.ref_len for score in lengths])
    assert own[0:2] == ["base", "+1.50"]
    assert own[2].startswith(f"{means[0]:.2f} ± ")
    assert own[3] == f"{length:.2f}"
    assert own[4].startswith(f"{means[0] - means[1]:+.2f} ± ")
    assert own[7] == "2"
    assert unlinked(page_blocks(table)) == []
    origins = {cell.origin for row in tables(page_blocks(table))[1].rows for cell in row}
    assert origins == {"", "d/base", "d/new", "d/control"}


def test_p_values_are_corrected_over_the_comparisons_by_the_same_measure(folder):
    table = plan(folder)
    rows, differences = details(table), rows_of(stored_frame(table))[1]
    assert list(rows) == [(column, measure, name) for column, measure in ((COLUMN, "BLEU"), (CHRF_COLUMN, "chrF"))
                          for name in ("new", "control")]  # fmt: skip
    for column in (COLUMN, CHRF_COLUMN):
        p = {name: differences[name, column]["p"] for name in ("new", "control")}
        corrected = holm(p)
        own = {name: row[6] for (where, _, name), row in rows.items() if where == column}
        assert own == {name: "< 0.001" if value < 0.001 else f"{value:.3f}" for name, value in corrected.items()}


def test_columns_that_one_stand_in_serves_are_compared_once(folder):
    other = "other/test/bleu"
    table = plan(folder, *column_cells(folder, other, "bleu", {"base": (20.0, ""), "new": (19.7, "")}))
    alone, both = details(plan(folder)), details(table)
    assert [name for name, *_ in both] == [f"{COLUMN}, {other}"] * 2 + [CHRF_COLUMN] * 2
    assert [row[2:] for row in both.values()] == [row[2:] for row in alone.values()]
    assert both[f"{COLUMN}, {other}", "BLEU", "new"][1] == f"(+1.50 in {COLUMN}, -0.30 in {other})"


def worse(lines, every, shift=0):
    """Reverse the words of some lines."""
    return [" ".join(reversed(line.split())) if i % every == shift else line for i, line in enumerate(lines)]


MARKED = {
    "low": [worse(GOOD, 4, shift) for shift in (0, 1, 2)],
    "little": [worse(GOOD, 6, shift) for shift in (0, 1, 2)],
    "worst": [worse(GOOD, 2, shift) for shift in (0, 1, 0)],
    "high": [worse(REFERENCES, 13, shift) for shift in (0, 1, 2)],
    "mixed": [worse(GOOD, 2), worse(GOOD, 4, 3), worse(REFERENCES, 13)],
    "single": [REFERENCES],
}


def test_marks_and_captions_follow_the_corrected_p_values(tmp_path):
    """`mixed` loses much, nothing and gains much, beside `low`: neither is a mark. With one seed there is none.

    The interval of the difference between `little` and `low` excludes 0 (p = .049), but not after the correction.
    """
    made = Folder(tmp_path, REFERENCES, REFERENCES).write_runs(MARKED)
    seeds = {name: list(range(1, len(own) + 1)) for name, own in MARKED.items()}
    cells = [{"row": name, "column": COLUMN, **scored(made.layout, name, own)} for name, own in seeds.items()]
    counted, others = "Of 7 differences", "(p < 0.05, Holm). Not counted: 2 with one seed."
    for baselines, (marks, caption) in {
        ("low", "worst"): (
            {"little": "V", "worst": "X", "high": "DV"},
            f"{counted}, 3 are clearly above 0 and 1 clearly below {others}",
        ),
        ("high", "little"): (
            {"low": "X", "little": "X", "worst": "XY"},
            f"{counted}, 0 are clearly above 0 and 4 clearly below {others}",
        ),
        ("single",): ({}, ""),
    }.items():
        table = planned("scores", cells, seeds=seeds, baselines=baselines)
        overview, differences = tables(page_blocks(table))
        rows = {row[0]: row[1].split()[-1] for row in shown(overview)}
        assert differences.caption == caption
        assert {name: mark for name, mark in rows.items() if mark.isalpha()} == marks
        for row in rows_of(stored_frame(table))[1].values():
            assert (row["p"] < 0.05) == (not row["low"] <= 0 <= row["high"])


def test_each_system_is_compared_with_its_own_baseline(tmp_path):
    """In the order of the baselines, also where one is compared with another."""
    made = Folder(tmp_path, REFERENCES, REFERENCES).write_runs(MARKED)
    compared = {"high": "little", "little": "low"}
    seeds = {name: [1, 2, 3] for name in ("high", "little", "low")}
    cells = [{"row": name, "column": COLUMN, **scored(made.layout, name, own)} for name, own in seeds.items()]
    table = planned("scores", cells, seeds=seeds, baselines=tuple(compared.values()), compared_with=compared)
    assert [(row["row"], row["baseline"]) for row in rows_of(stored_frame(table))[1].values()] == [*compared.items()]


def test_the_table_has_published_numbers_ours_marks_and_reasons(folder):
    blocks = page_blocks(plan(folder))
    overview = tables(blocks)[0]
    signatures = [f"{name}, signature" for name in (COLUMN, CHRF_COLUMN)]
    raw_names = ["system", f"{COLUMN}, published", COLUMN, signatures[0], CHRF_COLUMN, signatures[1]]
    assert [column.raw_name or column.name for column in overview.columns] == raw_names
    headings = [("", "system"), ("BLEU, real test", "published"), ("BLEU, real test", "ours, d")]
    assert [(column.group, column.name) for column in overview.for_readers().columns] == headings
    rows = {row[0]: row[1:] for row in shown(overview)}
    assert rows["new"][0] == "22.0 d"
    assert rows["new"][2].startswith("nrefs:1|")
    assert rows["missing"] == ["21.0", f"({MISSING})", "", "", ""]
    assert rows["Other (2019)"] == ["19.0", "", "", "", ""]
    assert rows["control (added)"][0] == ""
    text = " ".join(str(block) for block in blocks)
    assert "One seed (control on d): an interval from one seed leaves training noise out" in text


def test_comet_is_scored_and_compared_like_other_metrics(folder):
    random, means, cells = np.random.default_rng(1), {}, []
    for name, seeds in SEEDS.items():
        segments = random.random((len(seeds), len(REFERENCES)))
        for seed, own in zip(seeds, segments, strict=True):
            write_comet_scores(folder.layout, name, seed, list(own), REFERENCES)
        means[name] = 100 * segments.mean(axis=1)
        cells.append({"row": name, "column": COLUMN, **scored(folder.layout, name, seeds, "comet")})
    _, differences = rows_of(stored_frame(planned("scores", cells, seeds=SEEDS, baselines=("base",))))
    assert differences["new", COLUMN]["values"] == pytest.approx(means["new"])
    assert differences["new", COLUMN]["delta"] == pytest.approx(means["new"].mean() - means["base"].mean())


def test_empty_translations_are_counted_and_most_are_named_on_top(tmp_path):
    folder = Folder(tmp_path, REFERENCES, REFERENCES).write_runs(SYSTEMS | {"new": [[""] * 20 + BETTER[20:], GOOD]})
    blocks = page_blocks(plan(folder))
    assert blocks[0].texts == ("d/new, seed 1, test: 20 of 27 translations are empty.",)
    overview = tables(blocks)[0]
    (empty,) = (number for number, column in enumerate(overview.columns) if column.name == "empty")
    assert {row[0]: row[empty] for row in shown(overview)} == {
        **{"base": "0.0", "new": "10.0", "control (added)": "0.0"},
        **{"missing": "", "Other (2019)": ""},
    }


def test_scores_of_other_sentences_are_not_compared(folder, tmp_path):
    other = Folder(tmp_path, REFERENCES, GOOD).write_runs({"control": [GOOD]})
    cells = [{"row": name, "column": COLUMN, **scored(made.layout, name, [1])}
             for name, made in (("base", folder), ("control", other))]  # fmt: skip
    with pytest.raises(UserError, match="d/control and d/base have different references of test"):
        page_blocks(planned("scores", cells, seeds={"base": [1], "control": [1]}, baselines=("base",)))
    with pytest.raises(UserError, match="d/control and d/base have different references of test"):
        stored_frame(planned("scores", cells, seeds={"base": [1], "control": [1]}, claims=(claim(*cells[::-1]),)))
    claims = (claim(cells[1] | {"ours": "e"}, cells[0]),)
    (row,) = stored_frame(planned("scores", cells, seeds={"base": [1], "control": [1]}, claims=claims)).claims
    assert row["reason"] == "d/control and d/base are not tested on the same sentences"


def test_settings_that_differ_are_marked(folder):
    settings = {"beta2": (0.98, 0.98), "learning_rate": (0.0007, 0.001), "heads": (None, 2)}
    cells = [
        {"row": "d", "column": name, "metric": name, "published": own[0], "ours": None, "source": {"value": own[1]}}
        for name, own in settings.items()
    ]
    table = planned("scores", cells, rows={"d": {"dataset": "d", "system": None}}, columns={"beta2": {"digits": 2}})
    blocks = page_blocks(table)
    assert shown(tables(blocks)[0]) == [["d", "0.98", "0.98", "0", "0.001 ≠", "2"]]
    assert "1 of the 2 published settings differ here." in str(blocks)
    assert unlinked(blocks) == ["ours"], "settings come from no run"


def test_claims_are_compared_in_a_table_without_baselines(tmp_path):
    treebank = TreebankTable(tmp_path)
    treebank.write_run("shared", SHARED, HARD)
    treebank.write_run("hard", HARD, UNTRAINED)
    cells = [
        {"row": name, "column": "directed", "metric": "directed", "system": name, "test": "gold_bank",
         "runs": f"d/{name}" if name != "left" else None, "source": treebank.induction(name, "directed")}
        for name in ("shared", "hard", "left")
    ]  # fmt: skip
    own = claim(cells[1], cells[2], says="better", level=None)
    table = planned("scores", cells, seeds=treebank.seeds, claims=(own,))
    (compared,) = stored_frame(table).claims
    assert compared["training_noise"], "chains have no seeds, so that their variance is known"
    assert compared["holm"] == compared["p"]
    overview, differences = tables(page_blocks(table))
    shares = {name: [100 * right / words for right, words in map(right_words, seeds)]
              for name, seeds in (("shared", (SHARED, HARD)), ("hard", (HARD, UNTRAINED)))}  # fmt: skip
    assert [row[1].value.mean for row in overview.rows][:2] == pytest.approx([np.mean(own) for own in shares.values()])
    (row,) = shown(differences)
    left = shown(overview)[2][1]
    assert row[:4] == ["real/test/directed", "directed", "hard", "left"]
    assert float(row[6].split()[0]) == pytest.approx(np.mean(shares["hard"]) - float(left), abs=0.1)


def test_claims_are_judged_collected_and_read_again(folder, tmp_path):
    new, base = (scored(folder.layout, name, SEEDS[name]) for name in ("new", "base"))
    controls = (control("absent", "no parser"), control("other", "no tags"))
    good = claim(new, base, controls=controls)
    claims = (
        good,
        claim(new, base, says="x", undecided="the scale smoke is too small for a verdict"),
        claim("missing", reason=MISSING),
    )
    table = plan(folder, claims=claims)
    frame = stored_frame(table)
    judged = ledger([frame])
    named = [[row[key] for key in ("claim", "control", "row", "published")] for row in frame.claims[:4]]
    assert named == [[0, None, "new", 1.5], [0, 0, "absent", None], [0, 1, "other", None], [1, None, "new", 1.5]]
    row = rows_of(frame)[1]["new", COLUMN]
    assert judged[0]["ours"] == [row["delta"], row["low"], row["high"]]
    assert (judged[0]["seeds"], judged[0]["baseline_seeds"], judged[0]["runs"]) == (2, 2, "d/new")
    assert [(row["answer"], row["reason"]) for row in judged[1:]] == [
        ("not decided", "the scale smoke is too small for a verdict"), ("not run", MISSING),
    ]  # fmt: skip
    files = {"frame": tmp_path / "t.parquet", "table": tmp_path / "t.md"}
    text = write_table(json.loads(json.dumps(plain(table))), **files)
    assert pq.read_schema(files["frame"]).remove_metadata() == NUMBERS, "also those without a value"
    assert text.startswith("## Table 1\n\nScale quick; data sets that stand in for the paper's: d for real.\n")
    written = {"json": tmp_path / "claims.json", "table": tmp_path / "claims.md"}
    text = write_claims([files["frame"]], scale="quick", **written)
    assert json.loads(written["json"].read_text(encoding="utf-8")) == judged
    assert text.startswith("Scale quick; data sets that stand in for the papers': d for real.\n")
    assert "1 comparisons were not run (missing on d has no finished run" in text
    write_paper_page([files["frame"]] * 2, tmp_path / "p2020.md")
    page = (tmp_path / "p2020.md").read_text(encoding="utf-8")
    assert page.startswith("P 2020\n\n## Table 1\n")
    assert page.count("## Differences") == 2
    assert {path.suffix for path in tmp_path.glob("p2020.*")} == {".md", ".csv", ".tex"}
