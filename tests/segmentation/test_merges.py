"""Merges learned from counts of words are subword-nmt's, with its order of ties and its way of counting."""

import contextlib
import io
from collections import Counter
from itertools import islice

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from subword_nmt.learn_bpe import learn_bpe

from nmtcore.segmentation import pair_index
from nmtcore.segmentation.bpe import VERSION
from nmtcore.segmentation.learn import learn_codes
from nmtcore.segmentation.merges import learn_merges

COUNTS = st.integers(1, 4) | st.sampled_from([10, 100, 5000])
ALPHABETS = st.sampled_from(["a", "ab", "abc", "abcd", "ab\u00a0", "ab\u2028<>/w", "ab\\.|"])
VOCABULARIES = ALPHABETS.flatmap(
    lambda letters: st.dictionaries(st.text(letters, min_size=1, max_size=14), COUNTS, min_size=1, max_size=40)
)
CORPORA = {
    "multi30k": [f"multi30k/val.{language}" for language in ("cs", "de", "en")],
    **{
        f"news {pair}": [f"news/{pair}/dev.{language}" for language in pair.split("-")]
        for pair in ("cs-en", "de-cs", "en-de", "en-ja", "en-ru", "en-tr")
    },
    "treebanks": [f"ud/{language}_pud.conllu" for language in ("tr", "ja")],
    "czeng sample": ["czeng_sample/data.export-format.0"],
}

LINES, MERGES = 200, 30
"""The lines of each file of text, and the merges that are learned from them."""
SKIPPED = (".md", ".zip", ".gz")
"""The endings of files in the folder of texts that hold no corpus as text."""


def subword_nmt_codes(words: dict[str, int], merges: int) -> str:
    codes = io.StringIO()
    with contextlib.redirect_stderr(io.StringIO()):
        learn_bpe([f"{word} {count}" for word, count in words.items()], codes, merges, is_dict=True)
    return codes.getvalue()


@given(st.sampled_from([0, 100]), VOCABULARIES, st.sampled_from([0, 1, 30, 400]))
@example(0, {"abababab": 3, "ab": 1, "aabb": 5}, 400)
@example(100, {"abababab": 3, "ab": 1, "aabb": 5}, 400)
@settings(deadline=None, max_examples=200)
def test_merges_are_those_of_subword_nmt(few, words, merges):
    """Merge pairs of up to `few` positions one by one, others all at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_index, "_FEW", few)
        codes = learn_codes(words, merges)
    if all(len(word) == 1 for word in words):  # subword-nmt fails
        assert codes == f"{VERSION}\n"
    else:
        assert codes == subword_nmt_codes(words, merges)


def test_of_pairs_with_equal_counts_the_greater_comes_first():
    assert learn_merges({"abx": 5, "cdx": 5, "c": 9}, 2) == [("d", "x</w>"), ("c", "dx</w>")]


def test_pairs_that_occur_once_are_not_merged():
    assert learn_merges({"ab": 1, "bcd": 1}, 9) == []


def test_merges_of_every_file_of_text_are_those_of_subword_nmt(shared):
    """Of each file, the first lines, and few merges, so that all of them take seconds."""
    files = [path for path in sorted((shared / "data").rglob("*")) if path.is_file() and path.suffix not in SKIPPED]
    for path in files:
        with path.open(encoding="utf-8") as file:
            words = Counter(word for line in islice(file, LINES) for word in line.split())
        assert learn_codes(words, MERGES) == subword_nmt_codes(words, MERGES), path
    print(f"{len(files)} files, {MERGES} merges of the first {LINES} lines of each")
    assert len(files) > 50


@pytest.mark.parametrize("name", CORPORA)
def test_merges_of_real_text_are_those_of_subword_nmt(name, shared):
    """Learn from all languages of a corpus jointly; lines of two or three words also count as words with spaces."""
    words: Counter[str] = Counter()
    for file in CORPORA[name]:
        text = (shared / "data" / file).read_text("utf-8").replace("\t", "\n")
        words.update(text.split())
        words.update("\u00a0".join(line.split()) for line in text.split("\n") if 0 < line.count(" ") < 3)
    assert learn_codes(words, 300) == subword_nmt_codes(words, 300)
