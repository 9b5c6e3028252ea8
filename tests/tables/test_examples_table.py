"""Examples of differing translations."""

import html
import re

import pytest
from markdown_it import MarkdownIt
from tables.planned import blocks_of, planned, stored_frame, unlinked
from tables.runs import EVALUATION, Results

from nmtcore.errors import UserError
from nmtcore.tables.blocks import Page
from nmtcore.tables.examples import SHOWN, find_sentence
from nmtcore.tables.render import page_markdown

SOURCES = ["der Hund bellt", "die Katze <script>", "ein | Strich", "gleich"]
REFERENCES = ["the dog barks", "the *cat* `sleeps`", "a | bar", "same"]
TRANSLATIONS = [
    ["the dog barks", "a cow", "a | bar", "same"],
    ["the dog bark", "the *cat* `sleeps`", "a | car", "same"],
]
SUPERTAGS = [["NP/N", "N", r"S[dcl]\NP"], None, ["NP/N", "conj", "N"], ["N"]]


def plan(results, seeds=None, *, supertags=None, reasons=None, **more):
    """Plan examples of systems; those with a reason are not run."""
    seeds = seeds or {"base": 3, "other": 3}
    pairs = results.layout.path("pairs", dataset="d", split="test")
    cells = []
    for name, seed in seeds.items():
        folder = results.layout.path("hypotheses", scale="quick", dataset="d", system=name, seed=seed, split="test")
        files = {"hypotheses": {str(seed): folder}, "pairs": pairs, "supertags": supertags}
        source = {"files": files, "split": "test", "evaluation": EVALUATION}
        reason = (reasons or {}).get(name, "")
        known = {"reason": reason} if reason else {"source": source, "runs": f"d/{name}"}
        cells.append({"row": name, "column": "d/test", "system": name, **known})
    return planned("examples", cells, seeds={name: [seed] for name, seed in seeds.items()}, **more)


def write_table(table):
    """Return the page of a table, and the rows of its frame."""
    frame = stored_frame(table)
    blocks = blocks_of(frame)
    assert unlinked(blocks) == []
    return page_markdown(Page(title="", blocks=tuple(blocks))), frame.rows


def shown_cells(text):
    """The cells of the tables, as a browser would show them."""
    page = MarkdownIt("gfm-like", {"linkify": False}).render(text)
    assert "<script>" not in page
    assert "<em>" not in page
    return [html.unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall(r"<td[^>]*>(.*?)</td>", page)]


def written(folder, base=REFERENCES, other=REFERENCES, *, seeds=(3, 3)):
    results = Results(folder, SOURCES, REFERENCES)
    for name, seed, lines in zip(("base", "other"), seeds, (base, other), strict=True):
        results.write_run(name, seed, lines)
    return results


def test_the_largest_difference_comes_first(tmp_path):
    results = written(tmp_path, *TRANSLATIONS)
    text, rows = write_table(plan(results, supertags=results.write_annotation("target", "ccg", SUPERTAGS)))
    assert text.splitlines()[:8] == [
        "## d, test: base and other",
        "",
        "| sentence 1 | text | chrF |",
        "| --- | --- | ---: |",
        "| source | die Katze \\<script\\> |  |",
        "| reference | the \\*cat\\* \\`sleeps\\` |  |",
        f"| base | a cow | {rows[0]['baseline_chrf']:.1f} |",
        "| other | the \\*cat\\* \\`sleeps\\` | 100.0 |",
    ]
    assert [row["sentence"] for row in rows] == [1, 2, 0]
    assert (rows[0]["seed"], rows[0]["baseline"], rows[0]["system"]) == (3, "base", "other")
    cells = shown_cells(text)
    assert cells[:6] == ["source", "die Katze <script>", "", "reference", "the *cat* `sleeps`", ""]
    assert r"the|NP/N dog|N barks|S[dcl]\NP" in cells
    assert "a|NP/N ||conj bar|N" in cells
    assert "Scale quick, seed 3. The 10 sentences" in text


def test_each_system_is_compared_with_the_one_that_its_entry_names(tmp_path):
    results = written(tmp_path, *TRANSLATIONS)
    text, rows = write_table(plan(results, compared_with={"base": "other"}, baselines=("other",)))
    assert {(row["baseline"], row["system"]) for row in rows} == {("other", "base")}
    assert "## d, test: other and base\n" in text


def test_at_most_ten_examples_are_shown_and_equal_translations_never(tmp_path):
    results = Results(tmp_path, ["x"] * 30, ["a b c"] * 30)
    results.write_run("base", 3, ["a b c"] * 30)
    for empty, shown in ((15, SHOWN), (2, 2), (0, 0)):
        results.write_run("other", 3, ["a"] * empty + ["a b c"] * (30 - empty))
        text, rows = write_table(plan(results))
        assert [row["sentence"] for row in rows] == (list(range(shown)) or [None])
    assert "## d, test: base and other\n\nNo example: the two systems translate all sentences alike.\n" in text


def test_a_system_that_was_not_run_has_a_reason(tmp_path):
    text, (row,) = write_table(plan(written(tmp_path), {"base": 3, "gold": 3}, reasons={"gold": "d has no treebank"}))
    assert "## d, test: base and gold\n\nNo example: d has no treebank.\n" in text
    assert row["seed"] is None


def test_the_papers_sentence_is_shown_where_the_test_has_it(tmp_path):
    seeds = {"base": 2, "other": 1}
    results = written(tmp_path, *TRANSLATIONS, seeds=seeds.values())
    text, rows = write_table(plan(results, seeds, sentence="Die katze  <script>"))
    assert [row["sentence"] for row in rows] == [1]
    assert "differ most" not in text
    assert "Scale quick, seed 1. Sentence: its position" in text
    text, rows = write_table(plan(results, seeds, sentence="ein <i>Labor</i>"))
    assert r"The paper's: ein \<i\>Labor\</i\>" in text
    assert [row["sentence"] for row in rows] == [1, 2, 0]


@pytest.mark.parametrize(
    ("sentence", "row"),
    [("ein Hund", 0), ("EIN  hund", 0), ("nur $5 &", 1), ("Versuch <b>, nur", 1), ("ein Hund.", None), ("drei", None)],
)
def test_sentences_are_found_without_regard_to_spaces_and_case(sentence, row):
    assert find_sentence(["ein Hund", "Im Versuch <b> , nur $5 & eine_Tendenz !", "zwei"], sentence) == row


def test_an_annotation_of_another_length_is_refused(tmp_path):
    results = written(tmp_path)
    with pytest.raises(UserError, match=r"test.target.parquet has 3 sentences, .*test.parquet has 4: delete the older"):
        write_table(plan(results, supertags=results.write_annotation("target", "ccg", SUPERTAGS[:3])))
