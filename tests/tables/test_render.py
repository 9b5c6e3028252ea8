"""The table object and its writers: one table in all formats, and texts that come back from each."""

import csv
import html
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from nmtcore.reporting.html_document import html_document
from nmtcore.tables.blocks import (
    Column,
    Estimate,
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
    text_columns,
)
from nmtcore.tables.latex import escape_latex, page_latex
from nmtcore.tables.pages import (
    PAGE_FORMATS,
    page_csv,
    table_text,
    terminal_table,
    without_common_parts,
    write_page,
)
from nmtcore.tables.render import blocks_html, page_markdown

COLUMNS = [
    Column(name="system|s"),
    Column(name="text", content="corpus"),
    Column(name="tag", content="code"),
    Column(name="words", content="number", group="demo en-de"),
    Column(name="BLEU", content="mean", digits=1, group="demo en-de"),
    Column(name="Δ", content="difference", digits=1, signed=True, group="demo en-de"),
    Column(name="p", content="p_value", raw_name="p of Δ"),
    Column(name="95 %", content="interval", digits=1, signed=True),
    Column(name="seeds", content="number", detail=True),
    Column(name="time", content="duration"),
    Column(name="verdict", align="right"),
]
GROUPS = [
    [["transformer_base", 'a_b <i>\n100 % `x` | & "y"', "S\\NP", 1234567, SeedMean(36.66, 0.25), None, None, None, 3,
      3661.5, None]],
    [
        ["`</s>`", None, None, TableCell(None, reason="no tags"), TableCell(37, "†", origin="d/s"),
         TableCell(Estimate(-1.23, -2, -0.46), origin="d/s"), 0.0002, Interval(0.5, 1234.56), 1, None,
         TableCell("open", reason="one seed")],
        ["nmt", None, None, TableCell(None, reason="not trained"), TableCell(None, reason="not trained"), None, None,
         None, None, None, None],
        ["pascal", None, None, TableCell(0.96, " (few)", digits=2), 0.5, Estimate(0, -1, 2), 1.0, None, None, None,
         None],
    ],
]  # fmt: skip
PAGE = Page(
    title="A & B",
    blocks=(
        Heading("Scores & more", place="Table 6.1"),
        grouped_table(COLUMNS, GROUPS, keys={"paper": "p2020"}, caption="One loss.", notes=("† best.",)),
        note("\nMean over seeds, `</s>` too:\n50 %.\n"),
        Paragraph("1: ", corpus="*so* <b>"),
        Items(("one_a", "two")),
    ),
)

MARKDOWN = r"""## Table 6.1: Scores & more

| system\|s | text | tag | demo en-de<br>words |  | demo en-de<br>BLEU |  | demo en-de<br>Δ | p |
| --- | --- | --- | ---: | --- | ---: | --- | ---: | ---: |
| transformer_base | a\_b \<i\> 100 % \`x\` \| \& "y" | `S\NP` | 1,234,567 |  | 36.7 ± 0.2 |  |  |  |
| `</s>` |  |  | – |  | 37.0 | † | -1.2 ± 0.8 | < 0.001 |
| pascal |  |  | 0.96 | (few) | 0.5 |  | +0.0 ± 1.5 | 1.000 |

| system\|s | 95 % | time | verdict |
| --- | ---: | ---: | ---: |
| transformer_base |  | 1 h 1 min |  |
| `</s>` | +0.5 to +1,234.6 |  | open |

Not run: 1 of 4 rows; the CSV says why.

–: no tags.

† best.

Mean over seeds, `</s>` too:
50 %.

1: \*so\* \<b\>

- one_a
- two
"""

CSV = """paper,system|s,text,tag,"demo en-de, words","demo en-de, words, mark","demo en-de, words, reason","demo en-de, BLEU","demo en-de, BLEU, standard deviation","demo en-de, BLEU, mark","demo en-de, BLEU, reason","demo en-de, Δ","demo en-de, Δ, low","demo en-de, Δ, high",p of Δ,"95 %, low","95 %, high",seeds,"time, seconds",verdict,"verdict, reason"
p2020,transformer_base,"a_b <i>
100 % `x` | & ""y""\",S\\NP,1234567,,,36.66,0.25,,,,,,,,,3,3661.5,,
p2020,`</s>`,,,,,no tags,37,,†,,-1.23,-2,-0.46,0.0002,0.5,1234.56,1,,open,one seed
p2020,nmt,,,,,not trained,,,,not trained,,,,,,,,,,
p2020,pascal,,,0.96,(few),,0.5,,,,0,-1,2,1.0,,,,,,
"""  # noqa: E501

LATEX = r"""% A & B. Needs booktabs, graphicx and \usepackage[T1]{fontenc}; UTF-8.

\begin{table}[tbp]
\centering\footnotesize
\caption{Scores \& more. One loss.}
\label{tab:p2020-table-6.1-1}
\par\smallskip
\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%
\begin{tabular}{lllrrrr}
\toprule
 &  &  & \multicolumn{3}{c}{demo en{-}de} &  \\
\cmidrule(lr){4-6}
system\textbar{}s & text & tag & words & BLEU & $\Delta$ & p \\
\midrule
transformer\_base & a\_b \textless{}i\textgreater{} 100 \% \textasciigrave{}x\textasciigrave{} \textbar{} \& \textquotedbl{}y\textquotedbl{} & \texttt{S\textbackslash{}NP} & 1,234,567 & 36.7 $\pm$ 0.2 &  &  \\
\midrule
\texttt{\textless{}/s\textgreater{}} &  &  & -- & 37.0\textsuperscript{†} & $-$1.2 $\pm$ 0.8 & \textless{} 0.001 \\
pascal &  &  & 0.96\textsuperscript{(few)} & 0.5 & +0.0 $\pm$ 1.5 & 1.000 \\
\bottomrule
\end{tabular}}
\par\smallskip
\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%
\begin{tabular}{lrrr}
\toprule
system\textbar{}s & 95 \% & time & verdict \\
\midrule
transformer\_base &  & 1 h 1 min &  \\
\midrule
\texttt{\textless{}/s\textgreater{}} & +0.5 to +1,234.6 &  & open \\
\bottomrule
\end{tabular}}

\smallskip\raggedright\scriptsize After a score, $\pm$ is the standard deviation over seeds. After a difference, $\pm$ is half its 95 \% interval. Not run: 1 of 4 rows; the CSV says why. --: no tags. † best.
\end{table}

% Mean over seeds, `</s>` too: 50 %.

\noindent 1: {*}so{*} \textless{}b\textgreater{}

% one_a
% two
"""  # noqa: E501

HTML = r"""<h3>Table 6.1: Scores &amp; more</h3>
<div class="scroll" tabindex="0" role="group" aria-label="table">
<table>
<thead>
<tr><th rowspan="2">system|s</th><th rowspan="2">text</th><th rowspan="2">tag</th><th class="group" colspan="3">demo en-de</th><th class="right" rowspan="2">p</th></tr>
<tr><th class="right">words</th><th class="right">BLEU</th><th class="right">Δ</th></tr>
</thead>
<tbody>
<tr><td>transformer_base</td><td>a_b &lt;i&gt;
100 % `x` | &amp; &quot;y&quot;</td><td><code>S\NP</code></td><td class="right">1,234,567<span class="tail" style="width:6ch"></span></td><td class="right">36.7<span class="tail" style="width:6ch"> ± 0.2</span></td><td class="right"></td><td class="right"></td></tr>
</tbody>
<tbody>
<tr><td><code>&lt;/s&gt;</code></td><td></td><td></td><td class="right" title="no tags">–<span class="tail" style="width:6ch"></span></td><td class="right"><a href="#d/s">37.0<span class="tail" style="width:6ch">†</span></a></td><td class="right">−1.2<span class="tail" style="width:6ch"> ± 0.8</span></td><td class="right">&lt; 0.001</td></tr>
<tr><td>pascal</td><td></td><td></td><td class="right">0.96<span class="tail" style="width:6ch"> (few)</span></td><td class="right">0.5<span class="tail" style="width:6ch"></span></td><td class="right">+0.0<span class="tail" style="width:6ch"> ± 1.5</span></td><td class="right">1.000</td></tr>
</tbody>
</table>
</div>
<div class="scroll" tabindex="0" role="group" aria-label="table">
<table>
<thead>
<tr><th>system|s</th><th class="right">95 %</th><th class="right">time</th><th class="right">verdict</th></tr>
</thead>
<tbody>
<tr><td>transformer_base</td><td class="right"></td><td class="right" data-value="3661.5">1 h 1 min</td><td class="right"></td></tr>
</tbody>
<tbody>
<tr><td><code>&lt;/s&gt;</code></td><td class="right">+0.5 to +1,234.6</td><td class="right"></td><td class="right" title="one seed">open</td></tr>
</tbody>
</table>
</div>
<p class="reason">Not run: 1 of 4 rows; the CSV says why.</p>
<p class="reason">–: no tags.</p>
<p class="reason">† best.</p>
<p>Mean over seeds, <code>&lt;/s&gt;</code> too:
50 %.</p>
<p>1: *so* &lt;b&gt;</p>
<ul>
<li>one_a</li>
<li>two</li>
</ul>
"""  # noqa: E501

TERMINAL = """\
system|s          tag        words        BLEU           Δ        p              95 %       time  verdict
transformer_base  S\\NP   1,234,567  36.7 ± 0.2                                         1 h 1 min
`</s>`                                   37.0†  -1.2 ± 0.8  < 0.001  +0.5 to +1,234.6                open
pascal                  0.96 (few)         0.5  +0.0 ± 1.5    1.000
"""


def test_one_table_in_all_formats(tmp_path):
    assert write_page(PAGE, tmp_path / "scores.md") == MARKDOWN
    texts = {ending: (tmp_path / f"scores{ending}").read_text(encoding="utf-8") for ending in PAGE_FORMATS}
    assert texts == {".md": MARKDOWN, ".csv": CSV, ".tex": LATEX}
    assert blocks_html(PAGE.blocks, level=3, link=lambda origin: f"#{origin}") == HTML
    (table,) = PAGE.tables
    shown = table.for_readers()
    assert table_text(shown.part([0, *range(2, len(shown.columns))], lambda row: True)) == TERMINAL


def test_pages_pass_all_checks_in_a_browser(browser, tmp_path):
    long = ["results/paper/" + "x" * 200, "w " * 100, "c" * 90, 1, 2.0, *[None] * 4, 1.0, "`" + "c" * 90 + "`"]
    blocks = (*PAGE.blocks, make_table(COLUMNS, [long]), note("signature:" + "y" * 200), Items(("z" * 200,)))
    path = tmp_path / "scores.html"
    path.write_text(html_document("<script>alert(1)</script>", blocks_html(blocks)), encoding="utf-8")
    browser.check(path)


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
    alone = make_table(columns[:1], [row[:1] for row in values])
    assert [own[0] for own in read_csv(page_csv(Page(title="", blocks=(alone,))))[1:]] == [t or "" for t, *_ in rows]


UNESCAPED = {r"\textbackslash{}": "\\", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^", r"\textless{}": "<",
             r"\textgreater{}": ">", r"\textbar{}": "|", r"\textasciigrave{}": "`", r"\textquotesingle{}": "'",
             r"\textquotedbl{}": '"', "{[}": "[", "{]}": "]", "{*}": "*", "{-}": "-", r"$\pm$": "±",
             r"$\rightarrow$": "→", "$-$": "−", r"\{": "{", r"\}": "}", r"\$": "$", r"\&": "&", r"\#": "#",
             r"\%": "%", r"\_": "_", "--": "–",
             r"$\Delta$": "Δ", r"$\neq$": "≠"}  # fmt: skip


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
    cell = blocks_html([table]).partition("<td>")[2].partition("</td>")[0]
    assert html.unescape(cell) == text
    assert not set(cell) & set("<>\"'")


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
    table = make_table(columns, [[text, corpus]])
    page = page_markdown(Page(title="", blocks=(Heading(text), note(text), Items((text,)), table)))
    shown = html.unescape(re.sub("<[^>]*>", "", MarkdownIt("gfm-like", {"linkify": False}).render(page)))
    lines = [line for line in shown.splitlines() if line]
    assert lines == [text, text, text, text, "n", text, corpus]


def test_own_text_has_code_and_stays_readable():
    text = "`a*b_` and `</s>`, p < 0.05, transformer_base & depparse_l1 - 3 > 2"
    page = Page(title="", blocks=(note(text), Items((f"{text}\nmore",))))
    assert page_markdown(page) == f"{text}\n\n- {text} more\n"


def test_short_tables_with_the_same_columns_are_one_in_csv():
    columns = [Column(name="word"), Column(name="n", content="number")]
    tables = [make_table(columns, [[word, 1]], keys={"sentence": number}) for number, word in enumerate("ab")]
    other = make_table([Column(name="x")], [["y"]])
    page = Page(title="", blocks=(tables[0], note("and"), tables[1], other))
    assert page_csv(page) == "sentence,word,n\n0,a,1\n1,b,1\n\nx\ny\n"
    assert page_markdown(Page(title="", blocks=(make_table(columns, []),))) == "| word | n |\n| --- | ---: |\n"


def unfinished(*published):
    """Make a page of a table whose rows have these published numbers and none of ours."""
    columns = [Column(name="system"), *[Column(name=name, content="number") for name in ("published", "ours")]]
    rows = [["ab"[n], own, TableCell(None, reason=f"{n} has no finished run")] for n, own in enumerate(published)]
    return Page(title="", blocks=(make_table(columns, rows, command="snakemake a_b.md"),))


def test_rows_that_were_not_run_stay_with_their_published_numbers():
    line, command = "Not run: all 2 rows; the CSV says why.", "makes the runs that are missing."
    page = unfinished(1, None)
    *lines, said, _, reasons = page_markdown(page).splitlines()
    assert lines == ["| system | published | ours |", "| --- | ---: | ---: |", "| a | 1 | – |", ""]
    assert (said, reasons) == (f"{line} `snakemake a_b.md` {command}", "–: 0 has no finished run.")
    assert "a & 1 & -- " in page_latex(page)
    assert "<td>a</td>" in blocks_html(page.blocks)
    page = unfinished(None, None)  # without any number, a line stands for the table
    assert page_markdown(page) == f"{said}\n"
    assert blocks_html(page.blocks) == f'<p class="reason">{line} <code>snakemake a_b.md</code> {command}</p>\n'
    assert page_latex(page).splitlines()[1:] == ["", f"% {line}"]
    assert page_csv(page).count("has no finished run") == 2


def test_columns_in_the_terminal_are_aligned():
    text = terminal_table(["name", "score"], [["a", "1.5"], ["日本", None], ["e\u0301", "+10.25"]])
    assert text == "name   score\na        1.5\n日本\ne\u0301     +10.25\n"


@pytest.mark.parametrize(("columns", "shown"), [(19, "name first second"), (18, "name first"), (5, "name")])
def test_a_table_that_is_too_wide_for_the_terminal_lacks_columns(monkeypatch, columns, shown):
    monkeypatch.setenv("COLUMNS", str(columns))
    table = table_text(make_table(text_columns("name", "first", "second"), [["a", "1", "22"]]), dispensable=(2, 1))
    assert table.splitlines()[0].split() == shown.split()


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["out/base/s*.txt", "out/new/s*.txt"], ["base", "new"]),
        (["a/x.txt", "b.txt"], ["a/x.txt", "b.txt"]),
        (["a", "a/b"], ["a", "a/b"]),
        (["mine"], ["mine"]),
    ],
)
def test_the_common_part_of_names_is_left_out(names, shown):
    assert without_common_parts(names) == shown
