"""The formats TSV, copied text, CzEng's export format and the demo corpus, on real and on malformed data."""

import gzip
import re

import pytest

from nmtcore.config.yaml_files import read_yaml
from nmtcore.demo import generate
from nmtcore.errors import LineError, UserError
from nmtcore.syntax.annotation import tree_fault


def czeng_line(czech: str, english: str) -> str:
    blocks = ["id", "1.0", *[""] * 13]
    blocks[2], blocks[6] = czech, english
    return "\t".join(blocks) + "\n"


GOOD = czeng_line("Pes|pes|N|1|2|Sb štěká|štěkat|V|2|0|Pred .|.|Z|3|0|AuxK", "Dogs|dog|N|1|2|Sb bark|bark|V|2|0|Pred")


def test_tsv_columns_count_from_one(bench):
    pairs = bench.file("pairs.tsv", "1\ta b\tx\n2\t\ty z\n")
    dataset = bench.dataset(bench.corpus("tsv", {"source_column": 3, "target_column": 2}, pairs=pairs))
    rows, _ = bench.read(dataset)
    assert [(row["source"], row["target"]) for row in rows] == [("x", "a b"), ("y z", "")]


def test_tsv_with_too_few_columns_raises_or_is_dropped(bench):
    corpus = bench.corpus("tsv", pairs=bench.file("pairs.tsv", "a\tb\nc\n"))
    with pytest.raises(LineError, match=r"pairs\.tsv, line 2: has 1 columns, but the options name column 2"):
        bench.read(bench.dataset(corpus))
    _, report = bench.read(bench.dataset(corpus, max_bad_lines=1))
    assert report["dropped"] == {"columns": 1}
    with pytest.raises(UserError, match="source_column must be at least 1, not 0"):
        bench.read(bench.dataset(bench.corpus("tsv", {"source_column": 0}, pairs=bench.file("pairs.tsv", "a\tb\n"))))


def test_tsv_with_a_custom_separator(bench):
    lines = "1.0 ||| A-1 ||| 1 ||| 日本\t語 ||| Japanese | words\n0.9 ||| A-2 ||| 2 |||  ||| x\u2028y\n0.8 ||| A-3\n"
    options = {"separator": " ||| ", "source_column": 5, "target_column": 4}
    corpus = bench.corpus("tsv", options, pairs=bench.file("aspec.txt", lines))
    rows, report = bench.read(bench.dataset(corpus, max_bad_lines=1))
    assert [(row["source"], row["target"]) for row in rows] == [("Japanese | words", "日本\t語"), ("x y", "")]
    assert report["dropped"] == {"columns": 1}
    with pytest.raises(UserError, match="separator is empty"):
        bench.read(bench.dataset(bench.corpus("tsv", {"separator": ""}, pairs=bench.file("x", "a\tb\n"))))


def test_the_numbers_that_wat_deletes_are_deleted_from_train_and_dev_alone(bench, root):
    """Only full-width ones at the end, and a sentence that is nothing else stays, as in WAT's preparation of ASPEC."""
    texts = ["終り。［１．２］", "［３］", "図［１］を見る。", "終り［１.２］", "終り［東京］", "［４］終り［９．３］"]
    kept = ["終り。", *texts[1:5], "［４］終り"]
    corpora = read_yaml(root / "config/corpora/aspec.yaml")
    for split, targets in {"train": kept, "dev": kept, "test": texts}.items():
        first = ["1.0"] if split == "train" else []
        lines = [" ||| ".join([*first, "A-1", "1", text, f"text {text}"]) for text in texts]
        options = corpora[f"aspec_{split}_en_ja"]["options"]
        corpus = bench.corpus("tsv", options, pairs=bench.file(f"{split}.txt", "\n".join(lines)))
        rows, _ = bench.read(bench.dataset(corpus))
        assert [row["target"] for row in rows] == targets
        assert [row["source"] for row in rows] == [f"text {text}" for text in texts]


def test_what_is_deleted_must_be_a_regular_expression(bench):
    options = {"delete_from_target": "[0-9"}
    with pytest.raises(UserError, match=r"delete_from_target '\[0-9' is no regular expression: unterminated character"):
        bench.read(bench.dataset(bench.corpus("tsv", options, pairs=bench.file("x", "a\tb\n"))))


def test_copied_text_is_used_for_both_sides(bench):
    files = [bench.file("1", "one two\r\n\nba\u2028d\n"), bench.file("2", gzip.compress(b"three\nba\xffd\nfour"))]
    corpus = bench.corpus("copied", text=files)
    rows, report = bench.read(bench.dataset(corpus, max_bad_lines=1))
    texts = ["one two", "", "ba d", "three", "four"]
    assert [row["source"] for row in rows] == [row["target"] for row in rows] == texts
    assert [row["source_words"] for row in rows] == [row["target_words"] for row in rows] == [t.split() for t in texts]
    assert [row["id"] for row in rows] == [0, 1, 2, 3, 5]
    assert report["dropped"] == {"not utf-8": 1}
    with pytest.raises(LineError, match="2, line 2: is not valid UTF-8"):
        bench.read(bench.dataset(corpus))
    with pytest.raises(UserError, match="no role 'source'"):
        bench.read(bench.dataset(bench.corpus("copied", source=files)))


def test_czeng_has_words_and_trees(bench):
    dataset = bench.dataset(bench.corpus("czeng", pairs=bench.file("x", GOOD)), words="given")
    (row,), report = bench.read(dataset)
    assert row["source"] == "Pes štěká ."
    assert row["source_words"] == ["Pes", "štěká", "."]
    annotation = row["source_annotation"]
    assert (annotation["lemma"], annotation["xpos"]) == (["pes", "štěkat", "."], ["N", "V", "Z"])
    assert (annotation["head"], annotation["deprel"]) == ([2, 0, 0], ["Sb", "Pred", "AuxK"])
    assert annotation["upos"] is None
    assert row["target_words"] == ["Dogs", "bark"]
    assert report["several_roots"] == {"source": 1, "target": 0}


def test_czeng_options_override_the_blocks_of_the_languages(bench):
    pairs = bench.file("x", GOOD)
    swapped = bench.corpus("czeng", {"source_block": 7, "target_block": 3}, pairs=pairs)
    rows, _ = bench.read(bench.dataset(swapped, words="given"))
    assert (rows[0]["source"], rows[0]["target"]) == ("Dogs bark", "Pes štěká .")


def test_the_real_czeng_sample_matches_its_fields(bench, shared):
    data = (shared / "data" / "czeng_sample" / "data.export-format.0").read_bytes()
    dataset = bench.dataset(bench.corpus("czeng", pairs=bench.file("x", data)), words="given")
    rows, report = bench.read(dataset)
    assert len(rows) == 214
    assert report["several_roots"] == {"source": 177, "target": 165}
    bars = 0
    for row, line in zip(rows, data.decode().split("\n"), strict=False):
        for side, block in (("source", 2), ("target", 6)):
            tokens = [token.split("|")[-4:] for token in line.split("\t")[block].split(" ")]
            annotation = row[f"{side}_annotation"]
            assert annotation["xpos"] == [token[0] for token in tokens]
            assert annotation["head"] == [int(token[2]) for token in tokens]
            assert annotation["deprel"] == [token[3] for token in tokens]
            assert tree_fault(annotation["head"]) is None
            assert row[side] == " ".join(row[f"{side}_words"])
            bars += row[f"{side}_words"].count("|")
    assert bars == len(re.findall(r"(?<=[ \t])\|\|\|\|", data.decode())) == 14


@pytest.mark.parametrize(
    ("token", "form", "lemma"),
    [("a|b", "a", "b"), ("||", None, None), ("|||", "|", "|"), ("||b", "|", "b"), ("a|||", None, None),
     ("a||", "a", "|"), ("a|b|c", None, None), ("|b", None, None), ("a|", None, None), ("a", None, None)],
)  # fmt: skip
def test_a_czeng_token_is_parsed_from_the_right(token, form, lemma, bench):
    corpus = bench.corpus("czeng", pairs=bench.file("x", czeng_line(f"{token}|T|1|0|X", "a|a|N|1|0|Sb")))
    dataset = bench.dataset(corpus, words="given")
    if form is None:
        with pytest.raises(LineError, match="is not form"):
            bench.read(dataset)
    else:
        (row,), _ = bench.read(dataset)
        assert (row["source_words"], row["source_annotation"]["lemma"]) == ([form], [lemma])


BROKEN = {
    "blocks": (GOOD.rstrip("\n") + "\tmore\n", "has 16 tab-separated blocks"),
    "factors": (GOOD.replace("Dogs|dog|N|1", "Dogs|dog|1"), r"block 7: 'Dogs\|dog\|1\|2\|Sb' is not form"),
    "factors ": (GOOD.replace("|2|0|Pred .", "|x|0|Pred ."), r"block 3: 'štěká\|štěkat\|V\|x\|0\|Pred' is not form"),
    "factors  ": (GOOD.replace("bark|bark|V|2", "bark|bark|V|3"), "block 7: the tokens' ord factors do not count"),
    "tree": (GOOD.replace("V|2|0|Pred .", "V|2|1|Pred ."), "block 3: the heads form a cycle"),
    "tree ": (GOOD.replace("N|1|2|Sb bark", "N|1|7|Sb bark"), "block 7: word 1 has head 7, but"),
}


@pytest.mark.parametrize("reason", BROKEN)
def test_a_malformed_czeng_line_raises_or_is_dropped(reason, bench):
    line, sentence = BROKEN[reason]
    corpus = bench.corpus("czeng", pairs=bench.file("x", GOOD + line + GOOD))
    with pytest.raises(LineError, match=f"x, line 2: .*{sentence}"):
        bench.read(bench.dataset(corpus, words="given"))
    rows, report = bench.read(bench.dataset(corpus, words="given", max_bad_lines=1))
    assert [row["id"] for row in rows] == [0, 2]
    assert report["dropped"] == {reason.strip(): 1}


def test_an_empty_czeng_side_is_kept_without_a_tree(bench):
    dataset = bench.dataset(bench.corpus("czeng", pairs=bench.file("x", czeng_line("", "a|a|N|1|0|Sb"))), words="given")
    (row,), report = bench.read(dataset)
    assert row["source_words"] == []
    assert row["source_annotation"]["reason"] == "no words"
    assert report["null_annotations"] == {"source": {"no words": 1}, "target": {}}


def test_tokenisation_that_changes_words_drops_the_tree_with_a_reason(bench):
    line = czeng_line("can't|can|N|1|0|Sb", "a|a|N|1|0|Sb")
    corpus = bench.corpus("czeng", pairs=bench.file("x", line))
    (row,), _ = bench.read(bench.dataset(corpus, words="moses"))
    assert row["source_words"] == ["can", "'", "t"]
    assert row["source_annotation"]["reason"] == "the words are not those of the tree"
    assert row["target_annotation"]["head"] == [0]


def test_the_demo_corpus_is_read_like_other_corpora(bench):
    pairs = list(generate(split="train", count=3, seed=3))
    for swap in (False, True):
        corpus = bench.corpus("demo", {"split": "train", "seed": 3, "count": 3, "swap": swap})
        rows, _ = bench.read(bench.dataset(corpus, words="given"))
        assert [row["origin"] for row in rows] == ["c:1", "c:2", "c:3"]
        for row, pair in zip(rows, pairs, strict=True):
            for side, half in zip(
                ("target", "source") if swap else ("source", "target"), (pair.source, pair.target), strict=True
            ):
                assert (row[side], row[f"{side}_words"]) == (half.text, half.words)
                assert row[f"{side}_annotation"]["head"] == half.annotation.head
    with pytest.raises(UserError, match=r"split: 'tain' is not valid\. Did you mean train\?"):
        bench.read(bench.dataset(bench.corpus("demo", {"split": "tain"}), words="given"))
