"""Tables of the kind examples: the paper's sentence, or those whose translations differ most."""

import pytest
from reporting.planned import RUNS, about_runs, plan_cell, plan_translations, unlinked
from reporting.runs import Results

from nmtcore.files import write_lines
from nmtcore.reporting.markdown import page_markdown
from nmtcore.reporting.page_json import blocks_from_json, blocks_to_json
from nmtcore.reporting.table import Items, Page
from nmtcore.reporting.table_html import page_html
from nmtcore.reporting.table_kinds.examples import examples_content, find_sentence
from nmtcore.reporting.table_latex import page_latex

SOURCES = ["ein Hund", "Im Versuch <b> , nur $5 & eine_Tendenz !", "zwei"]
REFERENCES = ["a dog", "In tests <b>, only $5 & a_tendency!", "two"]
SUPERTAGS = [["NP/N", "N"], ["NP"] * 7, ["N"]]


@pytest.fixture
def results(tmp_path):
    results = Results(tmp_path, SOURCES, REFERENCES)
    results.write_run("base", 2, ["a cat", "<b> & x_y $5", "two"])
    results.write_run("better", 1, ["a dog", "\\textbf{y} | *z*", "two"])
    return results


def content(results, cells=None, of_runs=None, **more):
    cells = cells or [plan_cell("base", ""), plan_cell("better", "")]
    table = plan_translations("examples", cells, {"base": [3, 2], "better": [1]}, more=more, of_runs=of_runs)
    return examples_content(table, results.layout)


def test_the_papers_sentence_is_shown_where_the_test_has_it(results):
    named = content(results, sentence="im Versuch <b>, nur")
    assert unlinked(named.blocks) == []
    table = named.blocks[1]
    assert [row[2].origin for row in table.rows] == ["", "", "d/base", "d/better"]
    text = page_markdown(Page(title="", blocks=tuple(named.blocks)))
    assert text.splitlines()[:8] == [
        "## d, test: base and better",
        "",
        "| sentence 1 | text | chrF |",
        "| --- | --- | ---: |",
        r"| source | Im Versuch \<b\> , nur \$5 \& eine\_Tendenz ! |  |",
        r"| reference | In tests \<b\>, only \$5 \& a\_tendency! |  |",
        rf"| base | \<b\> \& x\_y \$5 | {named.data[0]['examples'][0]['baseline']['chrf']:.1f} |",
        rf"| better | \\textbf{{y}} \| \*z\* | {named.data[0]['examples'][0]['system']['chrf']:.1f} |",
    ]
    assert "differ most" not in text
    assert "Scale quick, seed 1. Sentence: its position" in text


def test_mostly_empty_translations_are_named_on_top(results):
    folder = results.layout.path("hypotheses", scale="quick", dataset="d", system="better", seed=1)
    write_lines(f"{folder}/test.txt", ["", "", "two"])
    shown = content(results)
    assert shown.blocks[0] == Items(("d/better, seed 1, test: 2 of 3 translations are empty.",))
    assert "empty" not in shown.data[0]


def test_missing_seeds_and_the_provenance_are_named(results):
    assert content(results, of_runs=RUNS).blocks[-1] == about_runs("base", "better")


def test_else_the_sentences_that_differ_most_are_shown(results):
    shown = content(results, sentence="Im <i>Labor</i> , nur")
    text = page_markdown(Page(title="", blocks=tuple(shown.blocks)))
    assert r"The paper's: Im \<i\>Labor\</i\> , nur" in text
    assert [example["sentence"] for example in shown.data[0]["examples"]] == [0, 1]
    assert "The 10 sentences of a test whose two translations differ most in chrF" in text
    without = content(results)
    assert without.data[0]["examples"] == shown.data[0]["examples"]
    assert "lacks" not in page_markdown(Page(title="", blocks=tuple(without.blocks)))


def test_the_reference_has_its_supertags(results):
    _, _, path = results.write_annotation("target", "ccg", SUPERTAGS)
    shown = content(results, supertags={"d": {"test": path}})
    assert r"a\|NP/N dog\|N" in page_markdown(Page(title="", blocks=tuple(shown.blocks)))


def test_text_of_the_corpus_is_escaped_in_all_formats(results):
    blocks = content(results, sentence="<i> $x_y$ & z").blocks
    page = Page(title="", blocks=blocks_from_json(blocks_to_json(tuple(blocks))))
    html, latex = page_html(page), page_latex(page)
    assert "<b>" not in html
    assert "&lt;i&gt; $x_y$ &amp; z" in html
    assert r"\textbf{y}" not in latex
    assert "x_y" not in latex.replace(r"x\_y", "")
    assert r"\$5 \& a\_tendency" in latex


def test_a_system_that_is_not_run_has_no_example_but_a_reason(results):
    cells = [plan_cell("base", ""), plan_cell("better", "", runs=None, reason="no trees")]
    shown = content(results, cells, sentence="zwei")
    assert page_markdown(Page(title="", blocks=tuple(shown.blocks))) == (
        "## d, test: base and better\n\nNo example: no trees.\n"
    )


@pytest.mark.parametrize(
    ("sentence", "row"),
    [("ein Hund", 0), ("EIN  hund", 0), ("nur $5 &", 1), ("Versuch <b>, nur", 1), ("ein Hund.", None), ("drei", None)],
)
def test_sentences_are_found_without_regard_to_spaces_and_case(sentence, row):
    assert find_sentence(SOURCES, sentence) == row
