"""The table object and its writers: one table in all formats, and texts that come back from CSV, LaTeX and HTML."""

import csv
import html
import io
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.reporting.markdown import page_markdown
from nmtcore.reporting.pages import PAGE_FORMATS, write_page
from nmtcore.reporting.table import (
    Column,
    Heading,
    Interval,
    Items,
    Page,
    Paragraph,
    SeedMean,
    TableCell,
    grouped_table,
    make_table,
    note,
    percentage,
)
from nmtcore.reporting.table_csv import page_csv
from nmtcore.reporting.table_html import page_html
from nmtcore.reporting.table_latex import escape_latex, page_latex

COLUMNS = [
    Column(name="system"),
    Column(name="tag", content="code"),
    Column(name="text", content="corpus"),
    Column(name="words", content="number"),
    Column(name="BLEU", content="mean", digits=1),
    Column(name="difference", content="number", digits=2, signed=True),
    Column(name="95 % interval", content="interval", digits=2, signed=True),
    Column(name="time", content="duration"),
]
GROUPS = [
    [["transformer_base", "S\\NP|a", 'a_b <i>\n100 % `x` | & "y"', 1234567, SeedMean(36.66, 0.25), None, None, 3661.5]],
    [
        ["`</s>`", None, None, None, 37, TableCell(1.4, "†"), Interval(-0.123, 2.5), None],
        ["nmt", None, None, TableCell(None, reason="not run: no tags"), TableCell(None, reason="too few"),
         None, None, 0],
    ],
]  # fmt: skip
PAGE = Page(
    title="A & B",
    blocks=(
        Heading("Scores & more"),
        grouped_table(COLUMNS, GROUPS),
        note("\nMean over seeds, `</s>` too:\n50 %.\n"),
        Paragraph("1: ", corpus="*so* <b>"),
        Items(("one_a", "two")),
    ),
)

MARKDOWN = """\
## Scores & more

| system | tag | text | words | BLEU | difference | 95 % interval | time |
| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |
| transformer_base | `S\\NP\\|a` | a\\_b \\<i\\> 100 % \\`x\\` \\| \\& "y" | 1,234,567 | 36.7 ± 0.2 |  |  | 1 h 1 min |
| `</s>` |  |  |  | 37.0 | +1.40† | -0.12 to +2.50 |  |
| nmt |  |  | [a] | [b] |  |  | 0.0 s |

[a] not run: no tags

[b] too few

Mean over seeds, `</s>` too:
50 %.

1: \\*so\\* \\<b\\>

- one_a
- two
"""

CSV = """\
system,tag,text,words,"words, reason",BLEU,"BLEU, standard deviation","BLEU, reason",difference,"difference, mark",\
"95 % interval, low","95 % interval, high","time, seconds"
transformer_base,S\\NP|a,"a_b <i>
100 % `x` | & ""y""\",1234567,,36.66,0.25,,,,,,3661.5
`</s>`,,,,,37,,,1.4,†,-0.123,2.5,
nmt,,,,not run: no tags,,,too few,,,,,0
"""

LATEX = r"""% A & B. Needs \usepackage{booktabs}; UTF-8, T1 or a Unicode engine.

\subsection*{Scores \& more}

\begin{tabular}{lllrrrrr}
\toprule
system & tag & text & words & BLEU & difference & 95 \% interval & time \\
\midrule
transformer\_base & \texttt{S\textbackslash{}NP\textbar{}a} & a\_b \textless{}i\textgreater{} 100 \% \textasciigrave{}x\textasciigrave{} \textbar{} \& \textquotedbl{}y\textquotedbl{} & 1,234,567 & 36.7 $\pm$ 0.2 &  &  & 1 h 1 min \\
\midrule
\texttt{\textless{}/s\textgreater{}} &  &  &  & 37.0 & +1.40† & $-$0.12 to +2.50 &  \\
nmt &  &  & \textsuperscript{a} & \textsuperscript{b} &  &  & 0.0 s \\
\bottomrule
\end{tabular}

\noindent \textsuperscript{a} not run: no tags

\noindent \textsuperscript{b} too few

\noindent Mean over seeds, \texttt{\textless{}/s\textgreater{}} too: 50 \%.

\noindent 1: {*}so{*} \textless{}b\textgreater{}

\begin{itemize}
\item one\_a
\item two
\end{itemize}
"""  # noqa: E501

HTML = """\
<h2>Scores &amp; more</h2>
<div class="scroll" tabindex="0" role="group" aria-label="table">
<table>
<thead>
<tr><th>system</th><th>tag</th><th>text</th><th class="right">words</th><th class="right">BLEU</th>\
<th class="right">difference</th><th class="right">95 % interval</th><th class="right">time</th></tr>
</thead>
<tbody>
<tr><td>transformer_base</td><td><code>S\\NP|a</code></td><td>a_b &lt;i&gt;
100 % `x` | &amp; &quot;y&quot;</td><td class="right">1,234,567</td><td class="right">36.7 ± 0.2</td>\
<td class="right"></td><td class="right"></td><td class="right" data-value="3661.5">1 h 1 min</td></tr>
</tbody>
<tbody>
<tr><td><code>&lt;/s&gt;</code></td><td></td><td></td><td class="right"></td><td class="right">37.0</td>\
<td class="right">+1.40†</td><td class="right">-0.12 to +2.50</td><td class="right"></td></tr>
<tr><td>nmt</td><td></td><td></td><td class="right" title="not run: no tags"><sup>a</sup></td>\
<td class="right" title="too few"><sup>b</sup></td><td class="right"></td><td class="right"></td>\
<td class="right" data-value="0">0.0 s</td></tr>
</tbody>
</table>
</div>
<p class="reason"><sup>a</sup> not run: no tags</p>
<p class="reason"><sup>b</sup> too few</p>
<p>Mean over seeds, <code>&lt;/s&gt;</code> too:
50 %.</p>
<p>1: *so* &lt;b&gt;</p>
<ul>
<li>one_a</li>
<li>two</li>
</ul>
"""


def test_one_table_in_all_formats():
    assert page_markdown(PAGE) == MARKDOWN
    assert page_csv(PAGE) == CSV
    assert page_latex(PAGE) == LATEX
    whole = page_html(PAGE)
    assert whole.partition("<body>\n")[2].removesuffix("</body>\n</html>\n") == HTML
    assert "<title>A &amp; B</title>" in whole
    assert not re.search(r"<script|<link|<img|https?:|@import|url\(", whole)


def test_pages_pass_all_checks_in_a_browser(browser, tmp_path):
    long = [["results/paper/" + "x" * 200, "`" + "c" * 90 + "`", "w " * 100, 1, 2.0, None, None, 1.0]]
    blocks = (*PAGE.blocks, grouped_table(COLUMNS, [long]), note("signature:" + "y" * 200), Items(("z" * 200,)))
    path = tmp_path / "scores.html"
    path.write_text(page_html(Page(title="<script>alert(1)</script>", blocks=blocks)), encoding="utf-8")
    browser.check(path)


def test_all_formats_are_written(tmp_path):
    assert write_page(PAGE, tmp_path / "scores.md") == MARKDOWN
    for ending, formatted in PAGE_FORMATS.items():
        assert (tmp_path / f"scores{ending}").read_text(encoding="utf-8") == formatted(PAGE)


def read_csv(text):
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


TEXTS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\"',\r\n\\|&<>{}$[]*-`#%_~^ "), max_size=20)
NUMBERS = st.integers() | st.floats(allow_nan=False)


@given(st.lists(st.tuples(TEXTS | st.none(), NUMBERS | st.none(), st.none() | st.tuples(NUMBERS, NUMBERS)), max_size=5))
def test_values_come_back_from_csv(rows):
    columns = [
        Column(name="text", content="corpus"),
        Column(name="n", content="number", digits=1),
        Column(name="i", content="interval"),
    ]
    values = [(text, number, pair and Interval(*pair)) for text, number, pair in rows]
    header, *records = read_csv(page_csv(Page(title="", blocks=(make_table(columns, values),))))
    assert header == ["text", "n", "i, low", "i, high"]
    for (text, number, pair), record in zip(rows, records, strict=True):
        assert record[0] == (text or "")
        for value, field in zip((number, *(pair or (None, None))), record[1:], strict=True):
            assert (field == "") if value is None else type(value)(field) == value


@given(st.lists(TEXTS | st.none(), max_size=4))
def test_a_column_alone_comes_back_from_csv(texts):
    table = make_table([Column(name="text")], [[text] for text in texts])
    assert [line[0] for line in read_csv(page_csv(Page(title="", blocks=(table,))))[1:]] == [t or "" for t in texts]


UNESCAPED = {r"\textbackslash{}": "\\", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^", r"\textless{}": "<",
             r"\textgreater{}": ">", r"\textbar{}": "|", r"\textasciigrave{}": "`", r"\textquotesingle{}": "'",
             r"\textquotedbl{}": '"', "{[}": "[", "{]}": "]", "{*}": "*", "{-}": "-", r"$\pm$": "±",
             r"$\rightarrow$": "→", "$-$": "−", r"\{": "{", r"\}": "}", r"\$": "$", r"\&": "&", r"\#": "#",
             r"\%": "%", r"\_": "_"}  # fmt: skip


@given(TEXTS)
def test_latex_shows_any_text_as_it_is(text):
    """What LaTeX reads is the text; a reader of the escapes alone finds no other sign with a meaning."""
    escaped = escape_latex(text)
    pattern = re.compile("|".join(map(re.escape, sorted(UNESCAPED, key=len, reverse=True))))
    assert pattern.sub(lambda match: UNESCAPED[match[0]], escaped) == " ".join(text.splitlines())
    assert not re.search(r"[\\{}$&#%_~^\[\]*`'\"<>|-]", pattern.sub("", escaped))


@given(TEXTS)
def test_html_shows_any_text_as_it_is(text):
    table = make_table([Column(name="text", content="corpus")], [[text]])
    cell = page_html(Page(title="", blocks=(table,))).partition("<td>")[2].partition("</td>")[0]
    assert html.unescape(cell) == text
    assert not set(cell) & set("<>\"'")


def test_short_tables_with_the_same_columns_are_one_in_csv():
    columns = [Column(name="word"), Column(name="n", content="number")]
    tables = [make_table(columns, [[word, 1]], keys={"sentence": number}) for number, word in enumerate("ab")]
    other = make_table([Column(name="x")], [["y"]])
    page = Page(title="", blocks=(tables[0], note("and"), tables[1], other))
    assert page_csv(page) == "sentence,word,n\n0,a,1\n1,b,1\n\nx\ny\n"


@pytest.mark.parametrize(
    ("content", "value"),
    [("number", "1"), ("text", 1), ("mean", "1"), ("interval", 1.0), ("number", True), ("duration", math.inf),
     ("text", SeedMean(1.0)), ("number", TableCell(1, reason="not run"))],
)  # fmt: skip
def test_a_value_that_does_not_fit_its_column_is_an_error(content, value):
    with pytest.raises(ValueError, match="x: "):
        make_table([Column(name="x", content=content)], [[value]])


def test_a_row_of_another_length_is_an_error():
    with pytest.raises(ValueError, match="a row has 1 cells, the table has 2 columns"):
        make_table([Column(name="a"), Column(name="b")], [["x"]])


def test_reasons_have_letters_in_the_order_of_the_cells():
    table = make_table([Column(name="x")], [[TableCell(None, reason=f"r{number // 2}")] for number in range(60)])
    assert list(table.reasons.values())[24:] == ["y", "z", "aa", "ab", "ac", "ad"]


def test_a_text_has_the_letter_of_its_reason_beside_it():
    table = make_table([Column(name="verdict")], [[TableCell("not run", reason="no runs")]])
    page = Page(title="", blocks=(table,))
    assert "| not run [a] |" in page_markdown(page)
    assert '<td title="no runs">not run<sup>a</sup></td>' in page_html(page)
    assert "not run\\textsuperscript{a}" in page_latex(page)
    assert page_csv(page) == 'verdict,"verdict, reason"\nnot run,no runs\n'


def test_percentages():
    assert (percentage(1, 4), percentage(0, 4), percentage(1, 0), percentage(None, 3)) == (25.0, 0.0, None, None)
