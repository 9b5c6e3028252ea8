"""Reading WMT's SGML and XML test sets: published layouts, arbitrary layouts and malformed tags."""

import gzip
import html
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nmtcore.errors import LineError, UserError

SOURCE = """<srcset setid="newstest2016" srclang="any">
<doc sysid="ref" docid="abcnews.134" genre="news" origlang="cs">
<hl>
<seg id="1">Obama &amp; Netanjahu: &quot;A&#x27;s&quot; AT&T</seg>
</hl>
<p>
<seg id="2"> zwei  Segmente </seg><seg id="3">in einer Zeile</seg>
</p>
</doc>
<DOC docid="b">
<SEG id="1">über
 drei
\tZeilen, 1 &lt; 2 <i>und</i> mehr</SEG >
<seg id="2"></seg>
<seg id="3"/>
</DOC>
</srcset>
"""
SOURCES = [
    'Obama & Netanjahu: "A\'s" AT&T', "zwei Segmente", "in einer Zeile",
    "über drei Zeilen, 1 < 2 <i>und</i> mehr", "", "",
]  # fmt: skip
REFERENCE = """<?xml version='1.0' encoding='utf-8'?>
<dataset id="newstest2021.de-en"><collection id="general">
  <doc origlang="de" id="abcnews.134">
    <ref lang="en" translator="A">
      <p>
{}
      </p>
    </ref>
  </doc>
</collection></dataset>
"""


def reference(count: int) -> str:
    """Make a reference with the documents of `SOURCE`: three segments in the first, the others in the second."""
    lines = [f'        <seg id="{i if i < 4 else i - 3}">{i} &gt; 0</seg>' for i in range(1, count + 1)]
    return REFERENCE.format("\n".join([*lines[:3], '</doc><doc id="b">', *lines[3:]]))


def dataset(bench, source: bytes | str, target: bytes | str, **values):
    corpus = bench.corpus("sgm", source=bench.file("src.sgm", source), target=bench.file("ref.xml", target))
    return bench.dataset(corpus, **values)


def test_wmts_sgml_and_xml_are_read(bench):
    rows, report = bench.read(dataset(bench, gzip.compress(SOURCE.encode()), reference(6)))
    assert [row["source"] for row in rows] == SOURCES
    assert [row["target"] for row in rows] == [f"{i} > 0" for i in range(1, 7)]
    assert report["empty"] == {"source": 2, "target": 0}


def test_line_separators_do_not_end_a_segment(bench):
    source = "\ufeff" + SOURCE.replace("\n", "\r\n").replace("zwei ", "zwei\u2028").replace("einer", "ein&#x2028;er")
    rows, report = bench.read(dataset(bench, source, reference(6)))
    assert [row["source"] for row in rows] == [*SOURCES[:1], "zwei  Segmente", "in ein er Zeile", *SOURCES[3:]]
    assert report["line_separators"] == {"source": 2, "target": 0}


def test_unequal_numbers_of_segments_raise_with_both_counts(bench):
    for count in (5, 8):
        with pytest.raises(UserError, match=rf"src\.sgm has 6 segments.*ref\.xml has {count}"):
            bench.read(dataset(bench, SOURCE, reference(count), max_bad_lines=9))


BROKEN = {
    "not ended": (
        SOURCE.replace("mehr</SEG >", "mehr"),
        r"line 11: .*before the tag in line 14",
    ),
    "nested": (
        SOURCE.replace("zwei", "<seg id='2b'>zwei</seg>"),
        r"line 7: .*before the tag in line 7",
    ),
    "ended twice": (SOURCE.replace("</seg><seg", "</seg></seg><seg"), r"line 7: this </seg> has no <seg>"),
    "end of a document": (SOURCE.replace("Zeile</seg>", "Zeile"), r"line 7: .*before the tag in line 9"),
    "cut off": (SOURCE[: SOURCE.index("drei")], r"line 11: this <seg> has no </seg>: is the file cut off"),
    "a tag over two lines": (SOURCE.replace('<seg id="3">', '<seg\nid="3">'), "line 7: the tag '<seg' is cut off"),
    "both sides": (SOURCE + reference(2), r"line 21: a reference text in a file that began with a source text"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_malformed_markup_raises_with_its_line(name, bench):
    data, sentence = BROKEN[name]
    with pytest.raises(LineError, match=rf"src\.sgm, {sentence}"):
        bench.read(dataset(bench, data, reference(6), max_bad_lines=99))


def test_a_segment_that_is_too_long_raises_or_is_dropped(bench):
    source = "<seg id='1'>\n" + "word\n" * 50 + "</seg>\n<seg id='2'>b</seg>"
    with pytest.raises(LineError, match=r"line 1: has more than 100 bytes"):
        bench.read(dataset(bench, source, reference(2), max_line_bytes=100))
    rows, report = bench.read(dataset(bench, source, reference(2), max_line_bytes=100, max_bad_lines=1))
    assert [row["source"] for row in rows] == ["b"]
    assert report["dropped"] == {"too long": 1}
    with pytest.raises(LineError, match=r"line 2: has more than 100 bytes.* break the line between segments"):
        bench.read(dataset(bench, "\n" + "<seg>a</seg>" * 10, reference(10), max_line_bytes=100, max_bad_lines=9))


@pytest.mark.parametrize(
    ("old", "new", "ids"),
    [
        ('id="2"> zwei', 'id="7"> zwei', "abcnews.134, 7"),
        ('docid="b"', "docid='c'", "c, 1"),
        ("<hl>", "<doc id=x>", "x, 1"),
        ('id="2"> zwei', "> zwei", r"abcnews.134, \(no id\)"),
        ('id="2"> zwei', 'id="1"> zwei', r"abcnews.134, 1 \(again\)"),
    ],
)
def test_segments_whose_ids_differ_raise_or_are_dropped(old, new, ids, bench):
    source = SOURCE.replace(old, new)
    with pytest.raises(
        LineError, match=rf"src\.sgm, line \d+: has the id '{ids}', but the other side .*ref\.xml, line"
    ):
        bench.read(dataset(bench, source, reference(6)))
    rows, report = bench.read(dataset(bench, source, reference(6), max_bad_lines=3))
    assert len(rows) + report["dropped"]["ids differ"] == 6


@pytest.mark.parametrize(
    ("tag", "id_"),
    [
        ('<seg id="1" note="old id=7">', "1"),
        ("<seg note=' id=7 ' ID = '1'>", "1"),
        ('<seg note="a\'s" id="1" n=\'id="7"\'>', "1"),
        ("<seg xml:id=7 path=a/id=7 id=1>", "1"),
        ("<seg id=1/2 >", "1/2"),
        ("<seg id=1/>", "1"),
    ],
)
def test_an_id_is_no_part_of_another_attribute(tag, id_, bench):
    source = f"{tag}a</seg>".replace("/>a</seg>", "/>")
    assert bench.read(dataset(bench, source, f'<seg id="{id_}">x</seg>'))[0]
    with pytest.raises(LineError, match=rf"src\.sgm, line 1: has the id '-, {id_}', but .* '-, other'"):
        bench.read(dataset(bench, source, '<seg id="other">x</seg>'))


@pytest.mark.parametrize("tag", ['<seg id="">', '<seg note="id=7" oldid=7>', "<seg note=' id=7'>"])
def test_a_segment_may_have_no_id(tag, bench):
    assert bench.read(dataset(bench, f"{tag}a</seg>", '<seg id="1">x</seg>'))[0]


def test_segments_in_comments_are_none(bench):
    comment = "<!-- <seg id='1'>no</seg>\n <doc docid='x'> </seg>\n-->"
    source = SOURCE.replace("<hl>", f"<!----> <!--<seg>--> {comment}<!-- --><hl>").replace("<DOC", f"{comment}<DOC")
    rows, _ = bench.read(dataset(bench, source, reference(6)))
    assert [row["source"] for row in rows] == SOURCES
    text = '<seg id="1">in <!-- a\n&lt; -->a<!-----> segment, <!-- what does not end &lt; is text</seg>'
    shown = "in a segment, <!-- what does not end < is text"
    assert bench.read(dataset(bench, text, reference(1)))[0][0]["source"] == shown
    with pytest.raises(LineError, match=r"src\.sgm, line 2: this comment does not end"):
        bench.read(dataset(bench, '<seg id="1">a</seg>\n<!-- <seg>b</seg>', reference(1)))


def test_hostile_markup_is_read_in_linear_time(bench):
    spaces = "<" + " " * 200_000 + "\n"
    number = f"&#{'9' * 5000};"
    comments, attributes = "<!--" * 100_000, " ".join(["x" * 1000, "y='", "z="] * 100)
    rows, _ = bench.read(dataset(bench, f"<seg {'x' * 300_000} {attributes}>{comments}</seg>", reference(1)))
    assert rows[0]["source"] == comments
    rows, _ = bench.read(dataset(bench, spaces + f"<seg>a {number} &#x{'f' * 5000};</seg>", reference(1)))
    assert rows[0]["source"] == f"a {number} &#x{'f' * 5000};"


def test_invalid_utf8_is_reported_with_its_line(bench):
    data = SOURCE.encode().replace(b"drei", b"dr\xffi")
    with pytest.raises(LineError, match=r"src\.sgm, line 12: is not valid UTF-8 \(byte 4\)"):
        bench.read(dataset(bench, data, reference(6)))
    rows, report = bench.read(dataset(bench, data, reference(6), max_bad_lines=1))
    assert [row["id"] for row in rows] == [0, 1, 2, 4, 5]
    assert report["dropped"] == {"not utf-8": 1}


def test_a_file_without_segments_has_no_rows(bench):
    with pytest.raises(UserError, match="the files of 'c' have no rows"):
        bench.read(dataset(bench, "<html><body>404</body></html>", ""))


@given(
    texts=st.lists(st.text(st.sampled_from("ab&<>\"' \n\tü語;"), max_size=12), min_size=1),
    gaps=st.lists(st.sampled_from(["", "\n", "</p>\n<p>", "\n</doc>\n<doc docid='2'>\n"]), min_size=1),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_texts_do_not_depend_on_the_layout(bench, texts, gaps):
    segments = [f'<seg id="{i}">{html.escape(text)}</seg>' for i, text in enumerate(texts)]
    source = "".join(segment + gaps[i % len(gaps)] for i, segment in enumerate(segments))
    rows, _ = bench.read(dataset(bench, source, "\n".join(segments)))
    expected = [re.sub(r"[ \n\t]+", " ", text).strip() for text in texts]
    assert [row["source"] for row in rows] == [row["target"] for row in rows] == expected
