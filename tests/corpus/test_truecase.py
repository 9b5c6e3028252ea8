"""Truecasing against sacremoses: equal models and equal words."""

import pyarrow as pa
import pytest
import sacremoses
from hypothesis import given
from hypothesis import strategies as st
from pair_files import write_corpus

from nmtcore.config.segmentation import WordsSettings
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.corpus.truecase import Truecaser, detruecase, learn_truecaser
from nmtcore.errors import LineError, UserError
from nmtcore.layout import file_name
from nmtcore.parquet import read_rows

FORMS = "a A ab Ab AB aB c C ß SS İ i I ı čä Čä ... 漢"
WORD = st.sampled_from([*".:?!([\"'|,5-", *FORMS.split()])
SENTENCES = st.lists(st.lists(WORD, max_size=9), min_size=1, max_size=9)
TEXTS = ["multi30k/val.en", "news/en-de/dev.de", "news/en-tr/dev.tr", "news/en-ru/dev.ru", "news/cs-en/dev.cs"]


def theirs(sentences, path) -> sacremoses.MosesTruecaser:
    truecaser = sacremoses.MosesTruecaser()
    truecaser.train(sentences, save_to=str(path))
    return truecaser


def check(folder, sentences) -> Truecaser:
    """Compare the learned model, truecased sentences and a truecased column with those of sacremoses."""
    oracle = theirs(sentences, folder / "theirs")
    learn_truecaser(write_corpus(folder / "raw.parquet", sentences), "source", folder / "ours")
    assert (folder / "ours").read_bytes() == (folder / "theirs").read_bytes()
    ours = Truecaser.load(folder / "ours")
    expected = [oracle.truecase(" ".join(words), use_known=True) for words in sentences]
    assert [ours(words) for words in sentences] == expected
    column = pa.array(sentences, pa.list_(pa.string()))
    assert ours.truecase_column(column).to_pylist() == expected
    assert ours.truecase_column(column.slice(1)).to_pylist() == expected[1:]
    return ours


@pytest.mark.parametrize("name", TEXTS)
def test_truecasing_matches_sacremoses_on_real_text(name, shared, tmp_path):
    lines = (shared / "data" / name).read_text(encoding="utf-8").split("\n")[:-1]
    words = WordTokenizer(WordsSettings(), name[-2:])
    check(tmp_path, [words.split(line) for line in lines])


@given(SENTENCES)
def test_truecasing_matches_sacremoses_on_random_words(tmp_path_factory, sentences):
    # The last sentence has words inside a sentence, so the model is not empty.
    check(tmp_path_factory.mktemp("truecase"), [*sentences, ["x", "a", "Ab", "Ab", "ß", "C", "."]])


@given(SENTENCES)
def test_detruecasing_matches_sacremoses(sentences):
    oracle = sacremoses.MosesDetruecaser()
    for words in sentences:
        assert detruecase(words) == oracle.detruecase(" ".join(words))


def test_learning_does_not_depend_on_the_batch_size(tmp_path, monkeypatch):
    import nmtcore.corpus.truecase as module

    sentences = [["The", "Dog", "barks"], ["a", "dog", "Dog", ".", "Dog"], ["Dog", "dog"], ["the", "the", "The"]]
    write_corpus(tmp_path / "raw.parquet", sentences)
    learn_truecaser(tmp_path / "raw.parquet", "target", tmp_path / "whole")
    read = module.read_batches
    monkeypatch.setattr(module, "read_batches", lambda path, columns: read(path, columns=columns, size=1))
    learn_truecaser(tmp_path / "raw.parquet", "target", tmp_path / "rows")
    assert (tmp_path / "whole").read_text() == (tmp_path / "rows").read_text()
    assert (tmp_path / "whole").read_text().split("\n")[:2] == ["Dog (2/4) dog (2)", "barks (1/1)"]


def test_words_with_markup_are_ordinary_words():
    truecaser = Truecaser({"the": "the", "a<b": "A<b"}, frozenset({"the", "A<b"}))
    assert truecaser(["The", "a<b", "<x", "y>", "the|dog"]) == ["the", "A<b", "<x", "y>", "the|dog"]


def test_filtered_splits_are_truecased(bench, tmp_path):
    source = "The dog sees the cat .\n( The cat ! The DOG .\n"
    words = {side: WordsSettings(kind="spaces", truecase=side == "source") for side in ("source", "target")}
    dataset = bench.dataset(bench.plain(source, "A b\nA b\n"), words=words)
    bench.read(dataset)
    raw = bench.raw("train").read_bytes()
    model = tmp_path / file_name("truecaser", side="source")
    learn_truecaser(bench.raw("train"), "source", model)
    rows, _ = bench.filter(dataset, truecasers={"source": model})
    assert bench.raw("train").read_bytes() == raw
    assert [row["source_words"] for row in rows] == [
        ["the", "dog", "sees", "the", "cat", "."],
        ["(", "the", "cat", "!", "the", "DOG", "."],
    ]
    assert [row["target_words"] for row in rows] == [["A", "b"]] * 2
    assert rows[0]["source"] == "The dog sees the cat ."
    assert next(read_rows(bench.raw("train")))["source_words"][0] == "The"


def test_split_truecases_and_join_detruecases():
    truecaser = Truecaser({"the": "the"}, frozenset({"the"}))
    words = WordTokenizer(WordsSettings(truecase=True), "en", truecaser)
    assert words.split("The dog. The cat.") == ["the", "dog", ".", "the", "cat", "."]
    assert words.join(["the", "dog", "."]) == "The dog."
    assert words.detruecased(["the", "dog", ".", "the"]) == ["The", "dog", ".", "The"]
    without_truecasing = WordTokenizer(WordsSettings(truecase=False), "en", truecaser)
    assert without_truecasing.split("The dog") == ["The", "dog"]
    assert without_truecasing.join(["the", "dog"]) == "the dog"


@pytest.mark.parametrize("line", ["word", "word (x)", "word (1/2) other", " (1/1)", "word  (1/1)", "word (1/1) ", ""])
def test_an_invalid_model_raises_with_its_line(line, tmp_path):
    (tmp_path / "model").write_text(f"dog (3/3)\n{line}\n")
    with pytest.raises(LineError, match="model, line 2: this is not a truecasing model of Moses"):
        Truecaser.load(tmp_path / "model")


def test_counts_of_other_tools_are_read(tmp_path):
    (tmp_path / "model").write_text("Dog (2.1/3.1) dog (1)\n")
    assert Truecaser.load(tmp_path / "model")(["dog", "dog", "DOG"]) == ["Dog", "dog", "Dog"]


def test_a_missing_model_raises_user_error(tmp_path):
    with pytest.raises(UserError, match="does not exist"):
        Truecaser.load(tmp_path / "model")


def test_no_words_to_learn_from_raise_user_error(tmp_path):
    write_corpus(tmp_path / "raw.parquet", [["Dog"], []])
    with pytest.raises(UserError, match="no source word inside a sentence"):
        learn_truecaser(tmp_path / "raw.parquet", "source", tmp_path / "model")
