"""Reading TMX: against the standard library's tree, and malformed or malicious files."""

import gzip
import re
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nmtcore.corpus.formats import tmx
from nmtcore.corpus.formats.rows import Input
from nmtcore.errors import LineError, UserError, shortened

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4">\n'
HEAD += '<header srclang="en" segtype="sentence"><note>no text</note></header>\n<body>\n'
TAIL = "</body>\n</tmx>\n"


def unit(**variants: str) -> str:
    tuvs = "".join(f'<tuv xml:lang="{tag.replace("_", "-")}"><seg>{text}</seg></tuv>' for tag, text in variants.items())
    return f"<tu>{tuvs}</tu>\n"


def document(*units: str) -> str:
    return HEAD + "".join(units) + TAIL


def dataset(bench, data: bytes | str, **values):
    return bench.dataset(bench.corpus("tmx", pairs=bench.file("memory.tmx", data)), **values)


def texts(bench, *units: str, **values) -> list[tuple[str, str]]:
    rows, _ = bench.read(dataset(bench, document(*units), **values))
    return [(row["source"], row["target"]) for row in rows]


def test_units_with_both_languages_are_pairs_in_order(bench):
    pairs = texts(bench, unit(cs="pes", en="dog"), unit(en="a &amp; b", de="x", cs=" a \n\t b "), unit(cs="", en="x"))
    assert pairs == [("pes", "dog"), ("a b", "a & b"), ("", "x")]


def test_language_tags_match_despite_region_case_and_old_attribute(bench):
    old = '<tu><tuv lang="CS"><seg>pes</seg></tuv><tuv lang="EN-GB"><seg>dog</seg></tuv></tu>'
    mixed = unit(eng="no", en_US="colour?", en="color", cs_CZ="barva")
    assert texts(bench, unit(eng="no", en_US="color", csb="no", cs_CZ="barva")) == [("barva", "color")]
    assert texts(bench, old, mixed) == [("pes", "dog"), ("barva", "color")]


def test_codes_are_dropped_and_other_text_is_kept(bench):
    text = (
        '<bpt i="1">&lt;b><sub>note</sub></bpt>Big<ept i="1">&lt;/b></ept> <hi type="x">red</hi><ph>%s</ph> dog<it/>.'
    )
    assert texts(bench, unit(cs=text, en="<ut>{\\b<ut>x</ut></ut>a")) == [("Big red dog.", "a")]


def test_notes_and_properties_are_not_text(bench):
    inner = '<prop type="x">p</prop><tuv xml:lang="cs"><note>n</note><seg>pes</seg><prop>q</prop></tuv>'
    assert texts(bench, f'<tu tuid="1"><note>z</note>{inner}<tuv xml:lang="en"><seg>dog</seg></tuv></tu>') == [
        ("pes", "dog")
    ]


def test_a_unit_that_lacks_a_language_raises_or_is_dropped(bench):
    units = [
        unit(cs="a", en="b"),
        unit(cs="a", de="b"),
        "<tu/>",
        "<tu><tuv><seg>x</seg></tuv></tu>",
        unit(cs="c", en="d"),
    ]
    with pytest.raises(LineError, match=r"memory\.tmx, line 7: this <tu> has no segment in 'en' \(.*: cs, de\)"):
        texts(bench, *units)
    rows, report = bench.read(dataset(bench, document(*units), max_bad_lines=3))
    assert [(row["id"], row["origin"], row["source"]) for row in rows] == [(0, "c:1", "a"), (4, "c:5", "c")]
    assert report["dropped"] == {"language": 3}


def test_an_undefined_entity_raises_or_is_dropped(bench):
    units = [unit(cs="a&nbsp;b", en="x"), unit(cs="<ph>&nbsp;</ph>c", en="y")]
    with pytest.raises(LineError, match="line 6: this <tu> has the undefined entity &nbsp;"):
        texts(bench, *units)
    assert texts(bench, *units, max_bad_lines=1) == [("c", "y")]


def test_the_declared_encoding_is_used(bench):
    text = document(unit(cs="žluťoučký kůň\u2028x", en="語"))
    rows, report = bench.read(dataset(bench, gzip.compress(text.replace("UTF-8", "UTF-16").encode("utf-16"))))
    assert (rows[0]["source"], rows[0]["target"]) == ("žluťoučký kůň x", "語")
    assert report["line_separators"] == {"source": 1, "target": 0}


GOOD = unit(cs="a", en="b")
BOMB = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "ha"}">\n' for i in range(12))
REFUSED = {
    "entity bomb": (
        HEAD.replace('SYSTEM "tmx14.dtd"', f"[{BOMB}]"),
        unit(cs="&e11;", en="b"),
        2,
        "its own",
    ),
    "external": (
        HEAD.replace('"tmx14.dtd"', '"x" [<!ENTITY a SYSTEM "file:///etc/hosts">]'),
        unit(cs="&a;"),
        2,
        "its own",
    ),
    "undefined": (HEAD.replace('<!DOCTYPE tmx SYSTEM "tmx14.dtd">', ""), unit(cs="&a;"), 6, "undefined entity"),
    "not closed": (HEAD, GOOD + "<tu><tuv></tu>", 7, r"the XML is damaged \(mismatched tag\)"),
    "nul": (HEAD, GOOD + unit(cs="a\0b"), 7, r"damaged \(not well-formed"),
    "unit in unit": (HEAD, f"<tu>\n{GOOD}</tu>", 7, "a <tu> inside another"),
    "segment in segment": (HEAD, unit(cs="a <seg>b</seg>"), 6, "a <seg> inside a <seg>"),
    "another root": ("<html>", "", 1, "the file is <html>, not <tmx>"),
    "no XML": ("404 not found", "", 1, "the XML is damaged"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_xml_raises_with_its_line(name, bench):
    head, body, line, sentence = REFUSED[name]
    with pytest.raises(LineError, match=rf"memory\.tmx, line {line}: .*{sentence}"):
        bench.read(dataset(bench, head + body + TAIL, max_bad_lines=99))


def test_a_truncated_file_raises(bench):
    data = document(*[GOOD] * 5)
    with pytest.raises(LineError, match=r"line 10: the XML is damaged \(unclosed token"):
        bench.read(dataset(bench, data[: data.rindex("<tu>") + 6]))
    with pytest.raises(LineError, match=r"line 1: the XML is damaged \(no element found\)"):
        bench.read(dataset(bench, ""))
    with pytest.raises(UserError, match=r"memory\.tmx is cut off"):
        bench.read(dataset(bench, gzip.compress(data.encode())[:-9]))


@pytest.mark.parametrize("huge", ["<!--" + "x" * 1200, "<tu " + "x" * 1200])
def test_endless_markup_raises(huge, bench, monkeypatch):
    monkeypatch.setattr(tmx, "BLOCK", 50)
    with pytest.raises(LineError, match=r"line 6: a tag or comment has more than 1,000 bytes"):
        bench.read(dataset(bench, HEAD + huge + " " * 3000, max_line_bytes=1000))


@pytest.mark.parametrize(
    "huge",
    [unit(cs="ab " * 400, en="x"), unit(cs="日" * 400, en="x"), "<tu>" + '<tuv xml:lang="cs"></tuv>' * 20 + "</tu>"],
)
def test_a_unit_that_is_too_long_raises_or_is_dropped(huge, bench):
    with pytest.raises(LineError, match=r"line 7: has more than 1,000 bytes"):
        bench.read(dataset(bench, document(GOOD, huge, GOOD), max_line_bytes=1000))
    rows, report = bench.read(dataset(bench, document(GOOD, huge, GOOD), max_line_bytes=1000, max_bad_lines=1))
    assert [row["id"] for row in rows] == [0, 2]
    assert report["dropped"] == {"too long": 1}


def test_deep_markup_raises(bench):
    with pytest.raises(LineError, match="line 7: more than 1000 elements inside each other"):
        bench.read(dataset(bench, document(GOOD, "<x>" * 10**5), max_bad_lines=9))


def test_two_segments_in_a_language_raise_or_are_dropped(bench):
    """Two units of which an end and a beginning were lost look so."""
    merged = unit(cs="a", en="b").replace("</tu>", "") + unit(en="c").replace("<tu>", "")
    same = unit(cs="a", en="b").replace("</tu>", "") + unit(en=" b ").replace("<tu>", "")
    with pytest.raises(LineError, match="line 7: this <tu> has two different segments in 'en': which one"):
        bench.read(dataset(bench, document(GOOD, merged)))
    rows, report = bench.read(dataset(bench, document(GOOD, merged, same), max_bad_lines=1))
    assert [row["id"] for row in rows] == [0, 2]
    assert report["dropped"] == {"language": 1}


ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-32-le", "shift_jis", "gb18030", "iso-8859-5", "cp1252"]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_any_encoding_of_python_is_read(encoding, bench, monkeypatch):
    monkeypatch.setattr(tmx, "BLOCK", 7)
    text = {"iso-8859-5": "Жизнь", "cp1252": "„naïve“ €"}.get(encoding, "日本語のテスト")
    name = {"utf-8-sig": "utf-8", "utf-32-le": "utf-32"}.get(encoding, encoding).upper()
    data = document(unit(cs=text, en="b")).replace("UTF-8", name).encode(encoding)
    rows, _ = bench.read(dataset(bench, data))
    assert [(row["source"], row["target"]) for row in rows] == [(text, "b")]


def test_a_mark_of_the_encoding_is_kept_inside_the_text(bench, monkeypatch):
    monkeypatch.setattr(tmx, "BLOCK", 2)
    data = document(unit(cs="a\ufeffb", en="b")).replace("UTF-8", "UTF-32").encode("utf-32")
    rows, _ = bench.read(dataset(bench, data))
    assert [row["source"] for row in rows] == ["a\ufeffb"]


@pytest.mark.parametrize("encoding", ["x-klingon", "hex", "idna", "utf-7", "unicode_escape", "cp037"])
def test_an_unknown_encoding_raises(encoding, bench):
    with pytest.raises(
        LineError, match=rf"memory\.tmx, line 1: the encoding '{encoding}' is unknown: convert the file"
    ):
        bench.read(dataset(bench, document(GOOD).replace("UTF-8", encoding), max_bad_lines=9))


def test_a_wrong_encoding_raises_with_its_line(bench):
    data = document(GOOD, unit(cs="#", en="b")).replace("UTF-8", "EUC-JP").encode().replace(b"#", b"\xff")
    with pytest.raises(LineError, match=r"line \d+: what follows is not in the file's encoding"):
        bench.read(dataset(bench, data, max_bad_lines=9))


def test_units_are_yielded_as_soon_as_they_end(tmp_path):
    path = tmp_path / "x"
    path.write_text(document(*[GOOD] * 5000) + "<broken")
    units = tmx.units(Input(path, None))
    assert [next(units)[0].line for _ in range(4000)] == list(range(6, 4006))
    with pytest.raises(LineError, match="line 5008"):
        list(units)


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [("UTF8", "utf-8"), ("cp65001", "utf-8"), ("latin_1", "latin-1"), ("utf-16-le", "utf-16-le"),
     ("UTF-16", "utf-16-be"), ("utf_16", "utf-16"), ("cp037", "cp037"), ("utf-8-sig", "utf-8"),
     ("UTF-8-SIG", "utf-8-sig"), ("foo", "utf-16"), ("x" * 900, "utf-16-le")],
)  # fmt: skip
def test_other_names_of_encodings_are_known(declared, encoding, bench, monkeypatch):
    monkeypatch.setattr(tmx, "BLOCK", 2)
    text = document(unit(cs="é ü", en="b")).replace("UTF-8", declared)
    rows, _ = bench.read(dataset(bench, text.encode(encoding)))
    assert [(row["source"], row["target"]) for row in rows] == [("é ü", "b")]


@pytest.mark.parametrize("declared", ["x" * 41, "x" * 880, "utf-32", "cp500", "é", "a\0b"])
def test_odd_names_of_encodings_raise(declared, bench):
    shown = shortened(declared).replace("é", "\ufffd\ufffd")
    with pytest.raises(LineError, match=f"line 1: the encoding '{re.escape(shown)}' is unknown"):
        bench.read(dataset(bench, document(GOOD).replace("UTF-8", declared)))


def test_an_encoding_that_is_declared_too_late_raises(bench):
    text = document(GOOD).replace("encoding", " " * 1000 + "encoding").replace("UTF-8", "shift_jis")
    with pytest.raises(LineError, match=r"memory\.tmx, line 1: the encoding is not supported \(.{1,80}\): convert"):
        bench.read(dataset(bench, text))


def test_a_long_name_of_the_root_is_cut(bench):
    with pytest.raises(LineError, match=r"line 1: the file is <r{77}\.\.\.>, not <tmx>\.$"):
        bench.read(dataset(bench, f"<{'r' * 5000}/>"))


@pytest.mark.parametrize(
    ("tags", "shown"),
    [
        (("en", "EN"), "'en' and 'EN'"),
        (("En_us", "en-GB", "en-GB"), "'En_us' and 'en-GB'"),
    ],
)
def test_different_segments_in_variants_of_a_language_raise_or_are_dropped(tags, shown, bench):
    def tu(*texts: str) -> str:
        pairs = zip(("cs", *tags), ("a", *texts), strict=True)
        tuvs = [f'<tuv xml:lang="{tag}"><seg>{text}</seg></tuv>' for tag, text in pairs]
        return f"<tu>{''.join(tuvs)}</tu>\n"

    different, same = tu(*"bcd"[: len(tags)]), tu(*["b"] * len(tags))
    with pytest.raises(LineError, match=f"line 7: this <tu> has two different segments in {shown}: which one"):
        bench.read(dataset(bench, document(GOOD, different)))
    rows, report = bench.read(dataset(bench, document(GOOD, different, same), max_bad_lines=1))
    assert [(row["id"], row["target"]) for row in rows] == [(0, "b"), (2, "b")]
    assert report["dropped"] == {"language": 1}


LANGUAGES = st.sampled_from(["cs", "en", "de", "en-US"])
INNER = st.recursive(
    st.text(st.sampled_from("ab<&> \n"), max_size=5).map(escape),
    lambda inner: st.builds("<{0}>{1}</{0}>{2}".format, st.sampled_from(["hi", "ph", "bpt", "x"]), inner, inner),
    max_leaves=5,
)  # fmt: skip


def kept_text(element) -> str:
    children = ((child.tag in tmx.CODES, child) for child in element)
    return (element.text or "") + "".join(("" if code else kept_text(e)) + (e.tail or "") for code, e in children)


@given(units=st.lists(st.lists(st.tuples(LANGUAGES, INNER), max_size=4), min_size=1), block=st.integers(1, 300))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_texts_match_the_standard_librarys_tree(bench, monkeypatch, units, block):
    monkeypatch.setattr(tmx, "BLOCK", block)
    body = [
        "<tu>" + "".join(f'<tuv xml:lang="{tag}"><seg>{text}</seg></tuv>' for tag, text in variants) + "</tu>\n"
        for variants in [[("cs", "x"), ("en", "y")], *units]
    ]
    expected = []
    for tu in ElementTree.fromstring(f"<body>{''.join(body)}</body>"):
        segments = [(tuv.attrib.values(), re.sub(r"\s+", " ", kept_text(tuv[0])).strip()) for tuv in tu]
        sides = [[text for tags, text in segments if tag in tags] for tag in ("cs", "en", "en-US")]
        english = sides[1] or sides[2]
        if len(set(sides[0])) == len(set(english)) == 1:  # neither missing nor two different ones
            expected.append((sides[0][0], english[0]))
    rows, report = bench.read(dataset(bench, document(*body), max_bad_lines=len(body)))
    assert [(row["source"], row["target"]) for row in rows] == expected
    assert report["pairs"] == len(body)
