"""Tables as Markdown, and what their cells may contain."""

import html
import re

import pytest
from markdown_it import MarkdownIt

from nmtcore.reporting.data_table import counts
from nmtcore.reporting.markdown import escape_markdown, page_markdown
from nmtcore.reporting.table import Column, Heading, Items, Page, TableCell, make_table, note


def markdown(columns, rows):
    return page_markdown(Page(title="", blocks=(make_table(columns, rows),)))


def test_numbers_have_commas_and_text_is_escaped():
    columns = [Column(name="a|b"), Column(name="n", content="number"), Column(name="m", content="number", digits=1)]
    assert markdown(columns, [["x\ny", 1234567, None], ["z", 0, 0.5]]) == (
        "| a\\|b | n | m |\n| --- | ---: | ---: |\n| x y | 1,234,567 |  |\n| z | 0 | 0.5 |\n"
    )
    assert markdown([Column(name="a"), Column(name="b")], []) == "| a | b |\n| --- | --- |\n"


@pytest.mark.parametrize(
    ("column", "value", "cell"),
    [
        (Column(name="x", align="right"), "a_b", "a_b"),
        (Column(name="x", content="corpus"), "a_b `c`\u2028d", "a\\_b \\`c\\` d"),
        (Column(name="x", content="code"), "S\\NP", "`S\\NP`"),
        (Column(name="x", content="number", digits=2, signed=True), 1, "+1.00"),
        (Column(name="x", content="number"), TableCell(1234.56, digits=1, mark=" (few)"), "1,234.6 | (few)"),
    ],
)
def test_cells_by_what_they_contain(column, value, cell):
    assert markdown([column], [[value]]).splitlines()[2] == f"| {cell} |"


def test_counts_are_formatted():
    assert counts({"long": 1200, "empty": 0, "odd": 1}) == "long (1,200), odd (1)"
    assert escape_markdown("*a*\nb\u2028c\r\nd\x0be") == "\\*a\\* b c d e"


@pytest.mark.parametrize(
    "text",
    [
        r"\ ` * _ {} [] () < > # + - . ! & ~ ^ $ : ; ' \" / ? @ % a\b",
        "**bold** __bold__ *em* _em_ ~~gone~~ ~gone~ $x^2$ a_b_c __a",
        "<b>bold</b> <!-- gone --> <script>x</script> &lt; &amp; &#65; &#x41; <http://d.e>",
        "[link](http://a.b) ![image](c.png) [link][1] [1]: f",
    ],
)
def test_own_text_is_shown_as_it_is_wherever_it_stands(text):
    columns = [Column(name=text), Column(name="n", content="corpus")]
    corpus = f"{text} `code` a\\|b | (S[dcl]\\NP)/NP"
    table = make_table(columns, [[TableCell(text, reason=text), corpus]])
    page = page_markdown(Page(title="", blocks=(Heading(text), note(text), Items((text,)), table)))
    shown = html.unescape(re.sub("<[^>]*>", "", MarkdownIt("gfm-like", {"linkify": False}).render(page)))
    lines = [line for line in shown.splitlines() if line]
    assert lines == [text, text, text, text, "n", f"{text} [a]", corpus, f"[a] {text}"]


def test_own_text_has_code_and_stays_readable():
    text = "`a*b_` and `</s>`, p < 0.05, transformer_base & depparse_l1 - 3 > 2"
    page = Page(title="", blocks=(note(text), Items((f"{text}\nmore",))))
    assert page_markdown(page) == f"{text}\n\n- {text} more\n"
