"""Import of translations made elsewhere: one line per pair, by the pair's number in the split."""

from dataclasses import replace

import pytest
from factories import run_settings
from pair_files import write_corpus

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.config.runs import SentencesSettings
from nmtcore.errors import UserError
from nmtcore.evaluation.outputs import import_translations, read_references
from nmtcore.files import read_lines, write_json

SENTENCES = [["the", "cat", "."], ["dog"], ["the", "dog"], ["a", "cat"]]
IDS = [0, 2, 3, 6]
"""Their numbers in a split of seven pairs, of which three were dropped."""


@pytest.fixture
def imported(tmp_path):
    """Import a text as the translations of the test, and give what was written and printed."""

    def call(text, *, limit=None):
        (tmp_path / "mine.txt").write_bytes(text)
        write_json(tmp_path / "raw.json", {"pairs": 7, "kept": 4})
        corpus = write_corpus(tmp_path / "test.parquet", SENTENCES, ids=IDS)
        run = replace(
            run_settings(evaluation=EvaluationSettings(text="tokens")),
            tests=("test",),
            external={"test": str(tmp_path / "mine.txt")},
            sentences=SentencesSettings(test=limit),
        )
        folder, files = (
            tmp_path / "hypotheses",
            {"corpora": {"test": corpus}, "reports": {"test": tmp_path / "raw.json"}},
        )
        messages = import_translations(run, **files, hypotheses=folder)
        assert sorted(path.name for path in folder.iterdir()) == ["test.references.txt", "test.txt"]
        return read_lines(folder / "test.txt"), read_lines(folder / "test.references.txt"), messages

    return call


def test_lines_follow_the_numbers_of_the_pairs(imported):
    translations, references, messages = imported(b"".join(b"line %d\n" % i for i in range(7)))
    assert translations == [f"line {i}" for i in IDS]
    assert references == [" ".join(words) for words in SENTENCES]
    assert messages[0].endswith("mine.txt: 4 of 7 lines used for test, 0 of them empty")


@pytest.mark.parametrize(("limit", "count"), [(1, 1), (3, 3), (4, 4), (100, 4)])
def test_a_scale_takes_the_lines_of_the_first_pairs_that_were_kept(imported, limit, count):
    translations, references, _ = imported(b"".join(b"line %d\n" % i for i in range(7)), limit=limit)
    assert translations == [f"line {i}" for i in IDS[:count]]
    assert references == [" ".join(words) for words in SENTENCES[:count]]


def test_empty_lines_line_ends_and_rare_characters_are_kept_in_place(imported):
    text = "\ufeffzero\r\none\r\n\r\nthree\u2028\x85\r\nfour\r\nfive\r\n  "
    translations, _, messages = imported(text.encode())
    assert translations == ["zero", "", "three\u2028\x85", "  "]
    assert messages[0].endswith("4 of 7 lines used for test, 2 of them empty")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"a\n" * 6, r"mine.txt has 6 lines, but the split test of \w+ has 7 pairs: provide one line"),
        (b"a\n" * 4, "mine.txt has 4 lines"),
        (b"a\n" * 7 + b"\n", "mine.txt has 8 lines"),
        (b"", "mine.txt is empty"),
        (b"a\n" * 6 + b"\xff\n", r"mine.txt, line 7: is not valid UTF-8 \(byte 1\)"),
    ],
)
def test_texts_that_do_not_fit_are_refused(imported, text, sentence):
    with pytest.raises(UserError, match=sentence):
        imported(text)


def test_references_are_text_or_tokens(tmp_path):
    corpus = write_corpus(tmp_path / "c.parquet", SENTENCES)
    for text in ("detokenised", "tokens"):
        run = run_settings(evaluation=EvaluationSettings(text=text))
        assert read_references(run, corpus, None) == [" ".join(words) for words in SENTENCES]
        assert read_references(run, corpus, 2) == ["the cat .", "dog"]
