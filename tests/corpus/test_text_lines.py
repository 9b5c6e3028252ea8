"""Recognising text in UTF-16 and UTF-32, which the readers refuse."""

import gzip
import random

import pytest
from corpus.test_streams import tar

from nmtcore.corpus.text_lines import wide_encoding
from nmtcore.errors import LineError, UserError

TEXTS = {
    "en": "A man in a red vest is standing on the street.\nTwo dogs run.\n",
    "cs": "Muž v červené bundě stojí na ulici.\nDva psi běží po louce, žlutý a černý.\n",
    "ru": "Мужчина в красной куртке стоит на улице.\nДве собаки бегут по лугу — жёлтая и чёрная.\n",
    "one line": "Hi.",
}


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
def test_utf_16_and_utf_32_raise_with_their_name(text, encoding, mark, name, bench):
    wide = mark + TEXTS[text].encode(encoding)
    sentence = rf"is {name}, not UTF-8: convert it \(iconv -f {name} -t UTF-8 OLD > NEW\)"
    for source, target in ((wide, b"x\n"), (b"x\n" * TEXTS[text].count("\n"), wide), (gzip.compress(wide), b"x\n")):
        with pytest.raises(UserError, match=sentence) as caught:
            bench.read(bench.dataset(bench.plain(source, target), max_bad_lines=99))
        assert str(caught.value).startswith(str(bench.folder / "downloads" / "text."))
    file = bench.file("archive.tar", tar(("a.cs", wide)), member="a.cs")
    with pytest.raises(UserError, match=rf"archive\.tar, member a\.cs, is {name}, not UTF-8"):
        bench.read(bench.dataset(bench.corpus("plain", source=file, target=bench.file("x", "x\n"))))


@pytest.mark.parametrize("nulls", [1, 3, 20])
def test_a_few_nul_bytes_are_not_taken_for_utf_16(nulls, bench):
    data = bytearray(TEXTS["cs"].encode() * 20)
    for position in random.Random(nulls).sample(range(len(data)), nulls):
        data[position] = 0
    assert wide_encoding(bytes(data)) is None
    with pytest.raises(LineError, match=r"NUL character|UTF-8"):
        bench.read(bench.dataset(bench.plain(bytes(data), "x\n" * 40)))
