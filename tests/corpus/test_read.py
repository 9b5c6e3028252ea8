"""Reading a split: rows, samples, ids, origins, bad lines, encodings, parallel files and worker processes."""

import gzip
import hashlib
import re
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from corpus.test_streams import tar
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nmtcore.config.corpora import FileSettings, PartSettings, WordsSettings
from nmtcore.corpus import read
from nmtcore.errors import LineError, UserError

GOOD = "ein Haus\nzwei  Häuser\n\ndrei\n"


def test_rows_ids_words_and_origins(bench):
    rows, report = bench.read(bench.dataset(bench.plain(GOOD, "a house\ntwo houses\nx\nthree")))
    assert [row["id"] for row in rows] == [0, 1, 2, 3]
    assert [row["origin"] for row in rows] == ["c:1", "c:2", "c:3", "c:4"]
    assert [row["source"] for row in rows] == ["ein Haus", "zwei  Häuser", "", "drei"]
    assert [row["source_words"] for row in rows] == [["ein", "Haus"], ["zwei", "Häuser"], [], ["drei"]]
    assert all(row["source_annotation"] is None for row in rows)
    assert (report["pairs"], report["kept"], report["dropped"]) == (4, 4, {})
    assert report["empty"] == {"source": 1, "target": 0}
    assert report["words"] == {"source": 5, "target": 6}


def test_stray_line_separators_become_spaces(bench):
    """Carriage returns at the end and the byte order mark of the file are removed."""
    stray = "\ufeffa\u2028b\r\nc\u2029\x85d\x0b\x0ce\x1cf\rg\n"
    rows, report = bench.read(bench.dataset(bench.plain(stray, "x\ny\n")))
    assert [row["source"].split(" ") for row in rows] == [["a", "b"], ["c", "", "d", "", "e", "f", "g"]]
    assert report["line_separators"] == {"source": 2, "target": 0}


WITHOUT_WIDTH = "\xad\u180e\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff"
"""A text of these characters and white space alone has no words."""


def test_composed_text_is_stored_with_its_words_and_trees(bench):
    """Also of a treebank, whose words and trees stay otherwise as they are; no text counts as one with separators."""
    settings_of = lambda words: WordsSettings(kind=words, normalise="nfc")
    nfc = {"source": settings_of("moses"), "target": settings_of("spaces")}
    plain = bench.plain("Ka\u0308se\n", "e\u0301te\u0301 x\n")
    (row,), report = bench.read(bench.dataset(plain, words=nfc))
    assert (row["source"], row["source_words"]) == ("Käse", ["Käse"])
    assert (row["target"], row["target_words"]) == ("été x", ["été", "x"])
    assert report["line_separators"] == {"source": 0, "target": 0}
    (row,), _ = bench.read(bench.dataset(plain))
    assert row["source"] == "Ka\u0308se"

    tree = "# text = Ka\u0308se\n1\tKa\u0308se\tKäse\tNOUN\t_\t_\t0\troot\t_\tSpaceAfter=No\n\n"
    files = {role: bench.file(f"{role}.conllu", tree) for role in ("source", "target")}
    given = dict.fromkeys(nfc, settings_of("given"))
    for words in (nfc, given):
        (row,), _ = bench.read(bench.dataset(bench.corpus("conllu", **files), words=words))
        assert (row["source"], row["source_words"]) == ("Käse", ["Käse"])
        assert (row["source_annotation"]["head"], row["source_annotation"]["reason"]) == ([0], None)


@pytest.mark.parametrize(
    ("source", "target", "last", "counts"),
    [
        ("a\nb\nc\n", "a\n", None, (3, 1)),
        ("a\nb\nc\n", "a\nb\nc\n\nd", 2, (3, 5)),  # after the last row that is used
    ],
)
def test_unequal_line_counts_raise_with_both_files_and_counts(source, target, last, counts, bench):
    dataset = bench.dataset(bench.plain(source, target), last=last, max_bad_lines=9)
    with pytest.raises(UserError, match=rf"text\.cs has {counts[0]} lines.*text\.en has {counts[1]}"):
        bench.read(dataset)
    assert not bench.raw("train").exists()


BAD = {
    "not utf-8": (b"good\nba\xffd\nfine\n", r"text\.cs, line 2: is not valid UTF-8 \(byte 3\)"),
    "nul byte": (b"good\nba\0d\nfine\n", r"text\.cs, line 2: contains a NUL character"),
}


@pytest.mark.parametrize("reason", BAD)
def test_a_bad_line_raises_or_is_dropped_on_both_sides(reason, bench):
    data, sentence = BAD[reason]
    with pytest.raises(LineError, match=sentence):
        bench.read(bench.dataset(bench.plain(data, "1\n2\n3\n")))
    assert not list(bench.raw("train").parent.glob("*"))
    more = bench.dataset(bench.plain(data + b"\xff\n\xfe\n", "1\n2\n3\n4\n5\n"), max_bad_lines=2)
    with pytest.raises(LineError, match=r"line 5: .*2 bad lines were already dropped.*: correct the file, or"):
        bench.read(more)
    rows, report = bench.read(bench.dataset(bench.plain(data, "1\n2\n3\n"), max_bad_lines=1))
    assert [(row["id"], row["source"], row["target"]) for row in rows] == [(0, "good", "1"), (2, "fine", "3")]
    assert report["dropped"] == {reason: 1}
    assert report["first_dropped"][0].startswith(str(bench.folder))
    assert "line 2" in report["first_dropped"][0]


def test_row_ranges_count_rows_before_bad_lines_are_dropped(bench):
    corpus = bench.plain(b"a\n\xff\nc\nd\ne\n", "1\n2\n3\n4\n5\n")
    splits = {
        "train": (PartSettings(corpus="c", first=2, last=3), PartSettings(corpus="c", first=5)),
        "dev": (PartSettings(corpus="c", first=4, last=4),),
        "test": (PartSettings(corpus="c", last=1),),
    }
    dataset = bench.dataset(corpus, splits=splits, max_bad_lines=1)
    rows, _ = bench.read(dataset)
    assert [(row["id"], row["source"], row["origin"]) for row in rows] == [(1, "c", "c:3"), (2, "e", "c:5")]
    assert [row["target"] for row in bench.read(dataset, "dev")[0]] == ["4"]


def test_pairs_are_counted_per_corpus(bench, monkeypatch):
    monkeypatch.setattr(read, "ROWS_PER_CHUNK", 2)
    corpora = {"c": bench.plain(b"a\n\xff\nc\nd\ne\n", "1\n2\n3\n4\n5\n")}
    corpora["mono"] = bench.corpus("copied", text=bench.file("mono", b"x\n\xff\n\xff\n"))
    parts = (PartSettings(corpus="c", last=3), PartSettings(corpus="mono"), PartSettings(corpus="c", first=5))
    dataset = bench.dataset(corpora["c"], max_bad_lines=3)
    dataset = replace(dataset, corpora=corpora, splits=dataset.splits | {"train": parts})
    rows, report = bench.read(dataset)
    assert [row["origin"] for row in rows] == ["c:1", "c:3", "mono:1", "c:5"]
    assert report["corpora"] == {"c": {"pairs": 4, "kept": 3}, "mono": {"pairs": 3, "kept": 1}}


@pytest.mark.parametrize(("length", "end"), [(100, "\n"), (100, "\r\n"), (101, "\n"), (10**6, "\r\n")])
def test_a_line_that_is_too_long_raises_or_is_dropped(length, end, bench):
    corpus = bench.plain(end.join(["a", "x" * length, "b", "y" * length]), "1\n2\n3\n4\n")
    if length > 100:
        fault = r"text\.cs, line 2: has more than the 100 bytes that max_line_bytes allows: correct the file, or raise"
        with pytest.raises(LineError, match=fault):
            bench.read(bench.dataset(corpus, max_line_bytes=100))
    rows, report = bench.read(bench.dataset(corpus, max_line_bytes=100, max_bad_lines=2))
    assert [row["target"] for row in rows] == (list("1234") if length == 100 else list("13"))
    assert report["dropped"] == ({} if length == 100 else {"too long": 2})


@pytest.mark.parametrize(
    ("roles", "options", "values", "sentence"),
    [
        ("source target", {}, {"first": 2, "last": 9}, r"splits\.train asks for row 9 of 'c', which has only 3 rows"),
        ("source target", {}, {"words": "given"}, "format plain of corpus 'c' has no words"),
        ("source target", {"colum": 1}, {}, "unknown key 'colum'"),
        ("pairs", {}, {}, "no role 'pairs'"),
    ],
)
def test_mistakes_are_sentences(roles, options, values, sentence, bench):
    corpus = bench.corpus("plain", options, **{role: bench.file(role, "a\nb\nc\n") for role in roles.split()})
    with pytest.raises(UserError, match=sentence):
        bench.read(bench.dataset(corpus, **values))


def lines(count: int) -> str:
    return "".join(f"{number}\n" for number in range(1, count + 1))


def sampled(bench, corpus, **part):
    splits = {"train": (PartSettings(corpus="c", **part),), "dev": (PartSettings(corpus="c"),)}
    return bench.dataset(corpus, splits=splits, main_test="dev")


@given(
    count=st.integers(1, 40),
    first=st.integers(1, 40),
    length=st.none() | st.integers(1, 40),
    sample=st.integers(1, 40),
    chunk=st.integers(1, 7),
)
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_ids_count_sampled_rows_and_origins_keep_their_numbers(bench, monkeypatch, count, first, length, sample, chunk):
    monkeypatch.setattr(read, "ROWS_PER_CHUNK", chunk)
    last = None if length is None else first + length - 1
    corpus = bench.corpus("copied", text=bench.file("mono", lines(count)))
    dataset = sampled(bench, corpus, first=first, last=last, sample=sample, seed=4)
    candidates = range(first, (last or count) + 1)
    if first > count or (last or 0) > count or len(candidates) < sample:
        with pytest.raises(UserError, match=r"asks for"):
            bench.read(dataset)
        return
    rows, report = bench.read(dataset)
    drawn = np.random.default_rng(4).choice(candidates, sample, replace=False, shuffle=False)
    assert [row["id"] for row in rows] == list(range(sample))
    assert [row["origin"] for row in rows] == [f"c:{number}" for number in sorted(drawn)]
    assert [(row["source"], row["target"]) for row in rows] == [(str(number),) * 2 for number in sorted(drawn)]
    assert report["pairs"] == sample


@given(
    pairs=st.lists(
        st.tuples(*[st.text(st.characters(codec="utf-8", exclude_characters="\n\0"), max_size=9)] * 2), min_size=1
    ),
    chunk=st.integers(1, 5),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_arbitrary_texts_are_read_in_order(bench, monkeypatch, pairs, chunk):
    monkeypatch.setattr(read, "ROWS_PER_CHUNK", chunk)
    source, target = ("".join(text + "\n" for text in side) for side in zip(*pairs, strict=True))
    rows, _ = bench.read(bench.dataset(bench.plain(source, target)))

    def words(text, row):
        own = text.removeprefix("\ufeff" if row == 0 else "").split()
        return own if set("".join(own)) - set(WITHOUT_WIDTH) else []

    assert [(row["source_words"], row["target_words"]) for row in rows] == [
        (words(left, i), words(right, i)) for i, (left, right) in enumerate(pairs)
    ]


def test_the_number_of_processes_does_not_change_the_result(bench, monkeypatch, shared):
    monkeypatch.setattr(read, "ROWS_PER_CHUNK", 100)
    texts = [(shared / "data" / "multi30k" / f"val.{language}").read_bytes() for language in ("cs", "en")]
    dataset = bench.dataset(bench.plain(*texts), words="moses")
    one, report_one = bench.read(dataset, processes=1)
    three, report_three = bench.read(dataset, processes=3)
    assert len(one) == 1014
    assert one == three
    assert report_one == report_three


@pytest.mark.parametrize(("pack", "member"), [(bytes, None), (lambda data: tar(("in/a.en", data)), "in/a.en")])
def test_own_files_are_read_in_place_and_compared_with_their_pins(pack, member, bench):
    folder = bench.folder / "mine"
    folder.mkdir()
    (folder / "a").write_bytes(b"a\nb\n")
    (folder / "b").write_bytes(pack(b"x\ny\n"))

    def own(**pins):
        files = {"source": FileSettings(path=f"{folder}/a"), "target": FileSettings(path=f"{folder}/b", member=member)}
        files["target"] = replace(files["target"], **pins)
        return bench.dataset(bench.corpus("plain", **files))

    pins = {name: hashlib.new(name, pack(b"x\ny\n")).hexdigest() for name in ("md5", "sha256")}
    for chosen in ({}, pins):
        assert [row["target"] for row in bench.read(own(**chosen))[0]] == ["x", "y"]
    assert not (bench.folder / "downloads").exists(), "nothing is copied"
    with pytest.raises(UserError, match=r"/mine/b: its sha256 is \w+, not abc as the data set says: put the right"):
        bench.read(own(sha256="abc"))


@pytest.mark.parametrize(("encoding", "name"), [("utf-16", "UTF-16"), ("utf-32", "UTF-32")])
def test_utf_16_and_utf_32_raise_with_their_name(encoding, name, bench):
    wide = "Ein Mann\nZwei Hunde\n".encode(encoding)
    sentence = rf"is {name}, not UTF-8: convert it \(iconv -f {name} -t UTF-8 OLD > NEW\)"
    with pytest.raises(UserError, match=sentence):
        bench.read(bench.dataset(bench.plain(gzip.compress(wide), b"x\n"), max_bad_lines=99))
    file = bench.file("archive.tar", tar(("a.cs", wide)), member="a.cs")
    with pytest.raises(UserError, match=rf"archive\.tar, member a\.cs, is {name}, not UTF-8"):
        bench.read(bench.dataset(bench.corpus("plain", source=file, target=bench.file("x", "x\n"))))


def test_old_line_ends_alone_raise_with_the_remedy(bench):
    texts = ["a\rb\rc\r", "x\ry\rz\r"]
    with pytest.raises(UserError, match=r"text\.cs ends its lines with \\r alone: convert") as caught:
        bench.read(bench.dataset(bench.plain(*texts)))
    remedy = re.search(r"\((.*) < OLD", str(caught.value))[1]
    converted = (subprocess.check_output(remedy, shell=True, input=text.encode()) for text in texts)
    assert [row["target"] for row in bench.read(bench.dataset(bench.plain(*converted)))[0]] == ["x", "y", "z"]
    rows, _ = bench.read(bench.dataset(bench.plain("a\rb\nc\rd", "x\r\ny")))
    assert [row["source"] for row in rows] == ["a b", "c d"]


def test_too_few_rows_for_a_sample_raise_user_error(bench):
    corpus = bench.corpus("copied", text=bench.file("mono", lines(9)))
    for last, place in ((None, "row 7 on"), (8, "row 7 to 8")):
        sentence = rf"splits\.train asks for a sample of 4 rows of 'c', but it has only \d from {place}"
        with pytest.raises(UserError, match=sentence):
            bench.read(sampled(bench, corpus, first=7, last=last, sample=4))
