"""Reading WMT's SGML and XML test sets, and TMX: published layouts, arbitrary layouts, and a table of faults."""

import gzip
import html
import re
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nmtcore.corpus.formats.markup import CODES
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


def sgm(bench, source: bytes | str, target: bytes | str, **values):
    corpus = bench.corpus("sgm", source=bench.file("src.sgm", source), target=bench.file("ref.xml", target))
    return bench.dataset(corpus, **values)


def test_wmts_sgml_and_xml_are_read(bench):
    rows, report = bench.read(sgm(bench, gzip.compress(SOURCE.encode()), reference(6)))
    assert [row["source"] for row in rows] == SOURCES
    assert [row["target"] for row in rows] == [f"{i} > 0" for i in range(1, 7)]
    assert report["empty"] == {"source": 2, "target": 0}


def test_segments_in_comments_are_none(bench):
    comment = "<!-- <seg id='1'>no</seg>\n <doc docid='x'> </seg>\n-->"
    source = SOURCE.replace("<hl>", f"<!----> <!--<seg>--> {comment}<!-- --><hl>").replace("<DOC", f"{comment}<DOC")
    rows, _ = bench.read(sgm(bench, source, reference(6)))
    assert [row["source"] for row in rows] == SOURCES
    text = '<seg id="1">in <!-- a\n&lt; -->a<!----> segment</seg>'
    assert bench.read(sgm(bench, text, reference(1)))[0][0]["source"] == "in a segment"


SGM_FAULTS = {
    "not ended": (SOURCE.replace("mehr</SEG >", "mehr"), "line 11: this <seg> has no </seg> before .* line 14"),
    "ended twice": (SOURCE.replace("</seg><seg", "</seg></seg><seg"), "line 7: this </seg> has no <seg>"),
    "cut off": (SOURCE[: SOURCE.index("drei")], "line 11: this <seg> has no </seg>: is the file cut off"),
    "a comment without an end": (SOURCE.replace("<hl>", "<!-- "), "line 3: this comment does not end"),
    "both sides": (
        SOURCE + reference(2),
        "line 21: a reference text in a file that began with a source text: use .* or this",
    ),
}


@pytest.mark.parametrize("name", SGM_FAULTS)
def test_malformed_sgml_raises_with_its_line(name, bench):
    data, sentence = SGM_FAULTS[name]
    with pytest.raises(LineError, match=rf"src\.sgm, {sentence}"):
        bench.read(sgm(bench, data, reference(6), max_bad_lines=99))


WMT22 = """<?xml version='1.0' encoding='utf-8'?>
<dataset id="wmttest2022"><collection id="general">
<doc origlang="cs" id="a"><src lang="cs"><p><seg id="1">jeden</seg></p><p><seg id="2"/></p></src>
<ref lang="en" translator="A"><p><seg id="1">one</seg></p><p><seg id="2">two</seg></p></ref>
<ref lang="en" translator="B"><p><seg id="1">no</seg></p><p><seg id="2">no</seg></p></ref>
<hyp system="X" lang="en"><p><seg id="1">no</seg></p><p><seg id="2"/></p></hyp></doc>
<doc origlang="cs" id="b"><hyp system="X"><p><seg id="1">no</seg></p></hyp>
<ref lang="en" translator="B"><p><seg id="1">three</seg></p></ref><src><p><seg id="1">tři</seg></p></src></doc>
</collection></dataset>
"""


def both_sides(bench, text):
    file = bench.file("wmt22.xml", text)
    return bench.dataset(bench.corpus("sgm", source=file, target=file), max_bad_lines=9)


def test_one_file_with_sources_and_references_is_that_of_both_sides(bench):
    """Of each document, the first reference, wherever it is; no translation of a system."""
    expected = [("jeden", "one"), ("", "two"), ("tři", "three")]
    rows, report = bench.read(both_sides(bench, WMT22))
    assert [(row["source"], row["target"]) for row in rows] == expected
    assert report["dropped"] == {}
    sets = f"{SOURCE}{SOURCE.replace('srcset', 'refset').replace('zwei', 'two')}"
    rows, _ = bench.read(both_sides(bench, sets))
    assert [(row["source"], row["target"]) for row in rows] == [(s, s.replace("zwei", "two")) for s in SOURCES]
    with pytest.raises(UserError, match=r"wmt22\.xml has 3 segments of sources, but 2 of references\."):
        bench.read(both_sides(bench, WMT22.replace('<seg id="1">three</seg>', "")))


BAD_SEGMENTS = [
    ('id="2"> zwei', 'id="7"> zwei', r"line 7: has the id 'abcnews.134, 7', but the other side \(.*ref\.xml, line"),
    ("<hl>", "<doc id=x>", "line 4: has the id 'x, 1'"),
    ('id="2"> zwei', 'note=" id=2" id = "9"> zwei', "line 7: has the id 'abcnews.134, 9'"),
    ("drei", "dr\xffi", r"line 12: is not valid UTF-8 \(byte 4\)"),
    ("drei", "word\n" * 50, "line 11: has more than the 120 bytes that max_line_bytes allows"),
]


@pytest.mark.parametrize(("old", "new", "fault"), BAD_SEGMENTS)
def test_bad_segments_raise_or_are_dropped(old, new, fault, bench):
    source = SOURCE.replace(old, new).encode().replace("\xff".encode(), b"\xff")
    with pytest.raises(LineError, match=rf"src\.sgm, {fault}"):
        bench.read(sgm(bench, source, reference(6), max_line_bytes=120))
    rows, report = bench.read(sgm(bench, source, reference(6), max_line_bytes=120, max_bad_lines=3))
    assert len(rows) + sum(report["dropped"].values()) == 6
    for row in rows:
        assert SOURCES.index(row["source"]) in (int(row["target"][0]) - 1, 4)


@given(
    texts=st.lists(st.text(st.sampled_from("ab&<>\"' \n\tü語;"), max_size=12), min_size=1),
    gaps=st.lists(st.sampled_from(["", "\n", "</p>\n<p>", "\n</doc>\n<doc docid='2'>\n"]), min_size=1),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_texts_do_not_depend_on_the_layout(bench, texts, gaps):
    segments = [f'<seg id="{i}">{html.escape(text)}</seg>' for i, text in enumerate(texts)]
    source = "".join(segment + gaps[i % len(gaps)] for i, segment in enumerate(segments))
    rows, _ = bench.read(sgm(bench, source, "\n".join(segments)))
    expected = [re.sub(r"[ \n\t]+", " ", text).strip() for text in texts]
    assert [row["source"] for row in rows] == [row["target"] for row in rows] == expected


HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4">\n'
HEAD += '<header srclang="en" segtype="sentence"><note>no text</note></header>\n<body>\n'
TAIL = "</body>\n</tmx>\n"


def unit(**variants: str) -> str:
    tuvs = "".join(f'<tuv xml:lang="{tag.replace("_", "-")}"><seg>{text}</seg></tuv>' for tag, text in variants.items())
    return f"<tu>{tuvs}</tu>\n"


GOOD = unit(cs="a", en="b")


def document(*own_units: str) -> str:
    return HEAD + "".join(own_units) + TAIL


def tmx(bench, data: bytes | str, **values):
    return bench.dataset(bench.corpus("tmx", pairs=bench.file("memory.tmx", data)), **values)


CODED = '<bpt i="1">&lt;b><sub>note</sub></bpt>Big<ept i="1">&lt;/b></ept> <hi type="x">red</hi><ph>%s</ph> dog<it/>.'
PAIRS = {
    unit(cs="pes", en="dog"): ("pes", "dog"),
    unit(en="a &amp; b", de="x", cs=" a \n\t b "): ("a b", "a & b"),
    unit(cs="", en="x"): ("", "x"),
    unit(eng="no", en_US="color", csb="no", cs_CZ="barva"): ("barva", "color"),
    unit(eng="no", en_US="colour?", en="color", cs_CZ="barva"): ("barva", "color"),
    '<tu><tuv lang="CS"><seg>pes</seg></tuv><tuv lang="EN_gb"><seg>dog</seg></tuv></tu>': ("pes", "dog"),
    unit(cs=CODED, en="<ut>{\\b<ut>x</ut></ut>a<!-- b --><?c?>"): ("Big red dog.", "a"),
    '<tu tuid="1"><note>z</note><prop type="x">p</prop><tuv xml:lang="cs"><note>n</note><seg>pes</seg><prop>q</prop>'
    '</tuv><tuv xml:lang="en"><seg>dog</seg></tuv></tu>': ("pes", "dog"),
    GOOD.replace("</tu>", '<tuv xml:lang="en"><seg> b </seg></tuv></tu>'): ("a", "b"),
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_units_with_both_languages_are_pairs_in_order(encoding, bench):
    text = document(*PAIRS, unit(cs="kůň\u2028x", en="語")).replace("UTF-8", encoding.removesuffix("-sig"))
    rows, report = bench.read(tmx(bench, gzip.compress(text.encode(encoding))))
    assert [(row["source"], row["target"]) for row in rows] == [*PAIRS.values(), ("kůň x", "語")]
    assert report["line_separators"] == {"source": 1, "target": 0}


BAD_UNITS = [
    ("language", unit(cs="a", de="b"), r"this <tu> has no segment in 'en' \(its languages: cs, de\)"),
    ("language", "<tu><tuv><seg>x</seg></tuv></tu>\n", "this <tu> has no segment in 'cs'"),
    # Two units of which an end and a beginning were lost look so.
    ("language", unit(cs="a", en="b", en_GB="c", en_US="c").replace("en-GB", "EN"), "different segments in 'en, EN'"),
    ("entity", unit(cs="a&nbsp;b", en="x"), "this <tu> has the undefined entity &nbsp;"),
    ("too long", unit(cs="日" * 400, en="x"), "has more than the 1,000 bytes that max_line_bytes allows"),
]


@pytest.mark.parametrize(("reason", "bad", "fault"), BAD_UNITS)
def test_bad_units_raise_or_are_dropped(reason, bad, fault, bench):
    with pytest.raises(LineError, match=rf"memory\.tmx, line 7: .*{fault}"):
        bench.read(tmx(bench, document(GOOD, bad, GOOD), max_line_bytes=1000))
    rows, report = bench.read(tmx(bench, document(GOOD, bad, GOOD), max_line_bytes=1000, max_bad_lines=1))
    assert [(row["id"], row["origin"]) for row in rows] == [(0, "c:1"), (2, "c:3")]
    assert report["dropped"] == {reason: 1}


DAMAGED = [
    (unit(cs="a & b", en="x"), 0, "xmlParseEntityRef: no name"),
    (unit(cs="a\udce9b", en="x"), 0, "Invalid bytes in character encoding"),
    (unit(cs="a\n < b", en="x"), 1, "invalid element name"),
    (unit(cs="a</hi>", en="x"), 0, "mismatch: seg and hi"),
    (GOOD.replace("</tu>", ""), 1, "mismatch: tu and tmx"),
]


@pytest.mark.parametrize(("bad", "line", "fault"), DAMAGED)
def test_units_that_are_not_well_formed_are_bad_rows(bad, line, fault, bench):
    """With text of over 32 kB, a comment with tags of units, and no document type, so that entities are not defined."""
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4"><header/>\n<body><!-- <tu> -->\n'
    units = [unit(cs=f"s{i}", en="word " * 5000) for i in range(7)]
    text = head + "".join([*units, bad, "<!-- </tu> -->", bad, *units]) + TAIL
    data = text.encode(errors="surrogateescape")
    with pytest.raises(LineError, match=rf"memory\.tmx, line {11 + line}: the XML is damaged .*{fault}.*: correct the"):
        bench.read(tmx(bench, data))
    rows, report = bench.read(tmx(bench, data, max_bad_lines=2))
    assert [row["source"] for row in rows] == [f"s{i}" for i in range(7)] * 2
    assert [row["id"] for row in rows] == [*range(7), *range(9, 16)]
    assert report["dropped"] == {"xml": 2}


@pytest.mark.parametrize("end", ["<tu><tuv", "", "</body>"])
def test_only_a_file_that_is_cut_off_is_to_be_fetched_again(end, bench):
    text = document(GOOD, unit(cs="a & b", en="x"), GOOD)
    with pytest.raises(LineError, match=r"line \d+: the file ends before </tmx>: is it cut off\? Fetch it again\."):
        bench.read(tmx(bench, text.removesuffix(TAIL) + end, max_bad_lines=9))
    with pytest.raises(
        LineError, match=r"line \d+: [^:]*(damaged|not well-formed)[^:]*: correct (or replace )?the file"
    ):
        bench.read(tmx(bench, text + "more", max_bad_lines=9))


BOMB = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "ha"}">\n' for i in range(12))
TMX_FAULTS = {
    "entity bomb": (HEAD.replace('SYSTEM "tmx14.dtd"', f"[{BOMB}]"), unit(cs="&e11;", en="b"), "Maximum entity"),
    "external": (HEAD.replace('"tmx14.dtd"', '"x" [<!ENTITY a SYSTEM "file:///etc/hosts">]'), unit(cs="&a;", en="b"),
                 "undefined entity"),
    "too deep": (HEAD, GOOD + "<x>" * 10**5, "line 7: the XML is damaged"),
    "another root": ("<html>", "", "line 1: the file is <html>, not <tmx>"),
    "no XML": ("404 not found", "", "line 1: the XML is damaged"),
}  # fmt: skip


@pytest.mark.parametrize("name", TMX_FAULTS)
def test_refused_xml_raises_with_its_line(name, bench):
    head, body, sentence = TMX_FAULTS[name]
    with pytest.raises(LineError, match=rf"memory\.tmx, .*{sentence}"):
        bench.read(tmx(bench, head + body + TAIL))


LANGUAGES = st.sampled_from(["cs", "en", "de", "en-US"])
INNER = st.recursive(
    st.text(st.sampled_from("ab<&> \n"), max_size=5).map(escape),
    lambda inner: st.builds("<{0}>{1}</{0}>{2}".format, st.sampled_from(["hi", "ph", "bpt", "x"]), inner, inner),
    max_leaves=5,
)  # fmt: skip


def kept_text(element) -> str:
    children = ((child.tag in CODES, child) for child in element)
    return (element.text or "") + "".join(("" if code else kept_text(e)) + (e.tail or "") for code, e in children)


@given(own_units=st.lists(st.lists(st.tuples(LANGUAGES, INNER), max_size=4), min_size=1))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_texts_match_the_standard_librarys_tree(bench, own_units):
    body = [
        "<tu>" + "".join(f'<tuv xml:lang="{tag}"><seg>{text}</seg></tuv>' for tag, text in variants) + "</tu>\n"
        for variants in [[("cs", "x"), ("en", "y")], *own_units]
    ]
    expected = []
    for tu in ElementTree.fromstring(f"<body>{''.join(body)}</body>"):
        segments = [(tuv.attrib.values(), re.sub(r"\s+", " ", kept_text(tuv[0])).strip()) for tuv in tu]
        sides = [[text for tags, text in segments if tag in tags] for tag in ("cs", "en", "en-US")]
        english = sides[1] or sides[2]
        if len(set(sides[0])) == len(set(english)) == 1:  # neither missing nor two different ones
            expected.append((sides[0][0], english[0]))
    rows, report = bench.read(tmx(bench, document(*body), max_bad_lines=len(body)))
    assert [(row["source"], row["target"]) for row in rows] == expected
    assert report["pairs"] == len(body)
