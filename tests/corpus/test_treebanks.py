"""Gold treebanks: one or two sides, the words of their trees, and no effect on other splits."""

from dataclasses import replace

import pytest

from nmtcore.config.corpora import CorpusSettings, PartSettings, WordsSettings
from nmtcore.config.datasets import DatasetSettings
from nmtcore.errors import UserError

EMPTY = "\t_" * 8
WORDS = [
    f"{n}\t{form}\t_\tX\t_\t_\t{head}\tx\t_\t_" for n, form, head in ((1, "zu", 2), (2, "der", 0), (3, "can't", 2))
]
SENTENCE = "\n".join(["# text = zur can't", f"1-2\tzur{EMPTY}", *WORDS]) + "\n\n"
SYNTACTIC = ["zu", "der", "can't"]
SIDES = ("source", "target")


def with_gold(
    bench, gold: CorpusSettings, *, words: str = "moses", train: tuple = ("a\nb\n", "x\ny\n")
) -> DatasetSettings:
    """Return a plain data set with a treebank as the split `gold_x`."""
    plain = bench.dataset(bench.plain(*train))
    words_settings = dict.fromkeys(SIDES, WordsSettings(kind=words))
    splits = plain.splits | {"gold_x": (PartSettings(corpus="gold"),)}
    return replace(plain, corpora=plain.corpora | {"gold": gold}, splits=splits, words=words_settings)


@pytest.mark.parametrize(
    ("sides", "words"), [(("source",), "moses"), (("target",), "spaces"), (SIDES, "given"), (SIDES, "moses")]
)
def test_a_treebank_has_syntactic_words_on_one_side_or_both(sides, words, bench):
    gold = bench.corpus("conllu", **{side: bench.file(f"{side}.conllu", SENTENCE * 3) for side in sides})
    rows, report = bench.read(with_gold(bench, gold, words=words), "gold_x")
    assert [row["id"] for row in rows] == [0, 1, 2]
    for row in rows:
        for side in sides:
            assert (row[side], row[f"{side}_words"]) == ("zur can't", SYNTACTIC)
            assert (row[f"{side}_annotation"]["head"], row[f"{side}_annotation"]["upos"]) == ([2, 0, 2], ["X"] * 3)
        for side in set(SIDES) - set(sides):
            assert (row[side], row[f"{side}_words"], row[f"{side}_annotation"]) == ("", [], None)
    assert report["null_annotations"] == {"source": {}, "target": {}}
    assert report["corpora"] == {"gold": {"pairs": 3, "kept": 3}}


def test_a_plain_side_of_a_treebank_is_tokenised(bench):
    files = {"source": bench.file("s.conllu", SENTENCE), "target": bench.file("t.txt", "I can't.\n")}
    (row,), _ = bench.read(with_gold(bench, bench.corpus("conllu", {"target_format": "plain"}, **files)), "gold_x")
    assert (row["source_words"], row["target_words"]) == (SYNTACTIC, ["I", "can", "'t", "."])


def test_one_sided_text_cannot_be_training_data(bench):
    corpus = bench.corpus("conllu", source=bench.file("x.conllu", SENTENCE))
    with pytest.raises(UserError, match=r"corpora\.c has only a source side.*not the split 'train'"):
        bench.read(bench.dataset(corpus, words="given"))


def test_a_treebank_requires_a_format_with_words(bench):
    dataset = with_gold(bench, bench.plain("a\n", "b\n"))
    with pytest.raises(UserError, match=r"'gold' is used as a treebank .* its format plain has no words"):
        bench.read(dataset, "gold_x")
