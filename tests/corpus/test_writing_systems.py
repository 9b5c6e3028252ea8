"""Texts in other encodings, and texts whose words nothing cuts, are named as such."""

import gzip
import random
from dataclasses import replace

import pytest
from corpus.test_streams import tar

from nmtcore.config.segmentation import WordsSettings
from nmtcore.corpus.encodings import SAMPLE, wide_encoding
from nmtcore.corpus.mecab import split
from nmtcore.errors import LineError, UserError

TEXTS = {
    "en": "A man in a red vest is standing on the street.\nTwo dogs run.\n",
    "cs": "Muž v červené bundě stojí na ulici.\nDva psi běží po louce, žlutý a černý.\n",
    "ru": "Мужчина в красной куртке стоит на улице.\nДве собаки бегут по лугу — жёлтая и чёрная.\n",
    "one line": "Hi.",
}
JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。\n"
CHINESE = "他站在街上，穿着一件红色的夹克。两只狗在草地上奔跑。\n"
THAI = "ผู้ชายในเสื้อแจ็คเก็ตสีแดงยืนอยู่บนถนน\n"


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(
    ("encoding", "mark", "name"),
    [
        ("utf-16-le", b"\xff\xfe", "UTF-16"),
        ("utf-16-be", b"\xfe\xff", "UTF-16"),
        ("utf-16-le", b"", "UTF-16LE"),
        ("utf-16-be", b"", "UTF-16BE"),
        ("utf-32-le", b"\xff\xfe\0\0", "UTF-32"),
    ],
)
def test_utf_16_is_named_as_such(text, encoding, mark, name, bench):
    wide = mark + TEXTS[text].encode(encoding)
    sentence = rf"is {name}, not UTF-8: convert it \(iconv -f {name} -t UTF-8 OLD > NEW\)"
    for source, target in ((wide, b"x\n"), (b"x\n" * TEXTS[text].count("\n"), wide), (gzip.compress(wide), b"x\n")):
        with pytest.raises(UserError, match=sentence) as caught:
            bench.read(bench.dataset(bench.plain(source, target), max_bad_lines=99))
        assert str(caught.value).startswith(str(bench.folder / "downloads" / "text."))


def test_utf_16_in_an_archive_names_the_member(bench):
    file = bench.file("archive.tar", tar(("a.cs", TEXTS["cs"].encode("utf-16"))), member="a.cs")
    with pytest.raises(UserError, match=r"archive\.tar, member a\.cs, is UTF-16, not UTF-8"):
        bench.read(bench.dataset(bench.corpus("plain", source=file, target=bench.file("x", "x\n"))))


@pytest.mark.parametrize("nulls", [1, 3, 20])
def test_nul_bytes_alone_make_no_utf_16(nulls, bench):
    data = bytearray(TEXTS["cs"].encode() * 20)
    for place in random.Random(nulls).sample(range(len(data)), nulls):
        data[place] = 0
    assert wide_encoding(bytes(data)) is None
    with pytest.raises(LineError, match=r"NUL byte|UTF-8"):
        bench.read(bench.dataset(bench.plain(bytes(data), "x\n" * 40)))


def test_real_texts_are_never_taken_for_another_encoding(shared):
    paths = [path for path in (shared / "data" / "news").rglob("*.*") if path.is_file()]
    assert len(paths) > 20
    for path in paths:
        start = path.read_bytes()[:SAMPLE]
        assert wide_encoding(start) is None, path
        text = start.decode("utf-8", errors="ignore")
        assert wide_encoding(text.encode("utf-16")) == "UTF-16", path
        if path.suffix != ".ja":  # whose text has few characters of which one byte is NUL
            assert wide_encoding(text.encode("utf-16-be")) == "UTF-16BE", path


def warnings(bench, source, *, words="spaces", language=None):
    lines = source.count("\n")
    kinds = {"source": WordsSettings(kind=words), "target": WordsSettings(kind="spaces")}
    dataset = bench.dataset(bench.plain(source, "x y\n" * lines), words=kinds)
    _, report = bench.read(replace(dataset, source=language or "cs"))
    return report["warnings"]


@pytest.mark.parametrize("words", ["spaces", "moses"])
def test_unsegmented_text_gets_a_hint_once(words, bench):
    (hint,) = warnings(bench, JAPANESE * 2500, words=words, language="ja")
    start = f"The source side has `words: {words}`, but the text looks unsegmented (average "
    assert hint.startswith(start)
    assert hint.endswith(" characters per word): did you mean `mecab`?")
    assert int(hint.removeprefix(start).split()[0]) > 8


@pytest.mark.parametrize(("text", "language"), [(CHINESE, "zh"), (THAI, "th")])
def test_languages_that_nothing_here_cuts_get_another_hint(text, language, bench):
    (hint,) = warnings(bench, text * 3, language=language)
    assert hint.endswith(" characters per word): segment it first, with spaces between words.")


def test_segmented_text_and_other_scripts_get_none(bench):
    assert warnings(bench, " ".join(split(JAPANESE.strip())) + "\n", language="ja") == []
    assert warnings(bench, JAPANESE * 20, words="mecab", language="ja") == []
    for text in TEXTS.values():
        assert warnings(bench, text.rstrip("\n") + "\n") == []
    assert warnings(bench, "서울에서열린국제영화제에서상을받았다 그리고\n") == []
    assert warnings(bench, TEXTS["cs"] * 3 + JAPANESE) == [], "a few lines among others"


def test_real_japanese_gets_a_hint_unless_it_is_cut(bench, shared):
    text = (shared / "data/news/en-ja/dev.ja").read_text(encoding="utf-8")
    assert len(warnings(bench, text, language="ja")) == 1
    cut = "".join(" ".join(split(line)) + "\n" for line in text.splitlines())
    assert warnings(bench, cut, language="ja") == []
