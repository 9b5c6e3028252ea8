"""The formats TSV, copied text, and CzEng's export format, on real and on malformed data."""

import gzip
import re

import pytest

from nmtcore.config.files import read_yaml
from nmtcore.corpus.formats.lines import FEWEST_ROWS
from nmtcore.corpus.formats.rows import FIRST_LINES
from nmtcore.errors import LineError, UserError
from nmtcore.syntax.annotation import tree_fault


def czeng_line(czech: str, english: str) -> str:
    blocks = ["id", "1.0", *[""] * 13]
    blocks[2], blocks[6] = czech, english
    return "\t".join(blocks) + "\n"


GOOD = czeng_line("Pes|pes|N|1|2|Sb štěká|štěkat|V|2|0|Pred .|.|Z|3|0|AuxK", "Dogs|dog|N|1|2|Sb bark|bark|V|2|0|Pred")


def test_a_row_with_another_number_of_columns_than_most_cannot_be_read(bench):
    """By the first 1,000 lines of each file; a tab inside a sentence must not make a pair of its halves."""
    first = "".join(f"a {row}\tb {row}\n" for row in range(FIRST_LINES // 2)) + "\na\tb\tc\n" * (FIRST_LINES // 5)
    files = [bench.file("1", first + "d\te\tf\n" * FIRST_LINES + "g\th"), bench.file("2", "i\tj\t1\nk\tl\t2\n")]
    rows, report = bench.read(bench.dataset(bench.corpus("tsv", pairs=files), max_bad_lines=3000))
    assert [row["source"] for row in rows] == [f"a {row}" for row in range(FIRST_LINES // 2)] + ["g", "i", "k"]
    assert report["dropped"] == {"columns": 2 * FIRST_LINES // 5 + FIRST_LINES}
    fault = f"1, line {FIRST_LINES // 2 + 2}: has 3 columns, but most of the file's first 1,000 lines have 2"
    with pytest.raises(LineError, match=fault):
        bench.read(bench.dataset(bench.corpus("tsv", pairs=files), max_bad_lines=1))


HEADERS = {
    "source\ttarget\n": "Hund\tdog\n",
    "CS\ten\n": "pes\tdog\n",
    "text_1\tText (English)\textra\n": "pes\tdog\tx\n",
}


@pytest.mark.parametrize("header", HEADERS)
def test_a_row_that_names_columns_is_no_pair(header, bench):
    pairs = bench.file("x.tsv", header + HEADERS[header])
    with pytest.raises(
        LineError, match=r"x.tsv, line 1: this row names the columns: .*--header\)\. The columns are 1 '"
    ):
        bench.read(bench.dataset(bench.corpus("tsv", pairs=pairs)))
    rows, _ = bench.read(bench.dataset(bench.corpus("tsv", {"header": True}, pairs=[pairs, pairs])))
    assert [row["source"] for row in rows] == [line.split("\t")[0] for line in HEADERS[header].splitlines()] * 2


@pytest.mark.parametrize("first", ["Go.\tJeď.", "Text\tText", "source\tzdroj", "English\tangličtina", "1\t2", "a1\tb"])
def test_a_first_pair_is_no_header(first, bench):
    text = "".join(f"\n1{row}\tb {row}" for row in range(FEWEST_ROWS - 1))
    rows, _ = bench.read(bench.dataset(bench.corpus("tsv", pairs=bench.file("x.tsv", first + text))))
    assert (rows[0]["source"], rows[0]["target"]) == tuple(first.split("\t"))


def test_a_table_with_quotes_is_refused(bench):
    quoted = "".join(f'"pes {row}","dog, {row}"\n'.replace(",", "\t", 1) for row in range(FEWEST_ROWS))
    with pytest.raises(
        LineError, match=r"x\.csv, line 1: the columns are in quotes, as in CSV: write them without quotes"
    ):
        bench.read(bench.dataset(bench.corpus("tsv", pairs=bench.file("x.csv", quoted))))


NOT_PLAIN = {
    "<!DOCTYPE HTML>\n<p>not found": "line 1: this is an HTML page",
    "\ufeff<?xml version='1.0'?>\n<xliff>": "line 1: this is XML or SGML, not plain text: write `format: sgm`",
    "<url>http://x</url>\n<title>A talk</title>\nThank you.": "line 1: this is a tag, no sentence: .* train.tags",
    '{"cs": "pes", "en": "dog"}': "line 1: this is JSON",
    "# sent_id = 1\n1\ta": "line 1: this is CoNLL-U",
    '<SEG id="2">c</SEG>': "line 1: this is XML or SGML",
}


@pytest.mark.parametrize("text", NOT_PLAIN)
def test_text_that_is_not_plain_is_refused(text, bench):
    good = bench.file("good", "a\n" * (text.count("\n") + 1))
    text_file = bench.file("x", text)
    for corpus in (bench.corpus("plain", source=good, target=text_file), bench.corpus("tsv", pairs=text_file)):
        with pytest.raises(LineError, match=f"x, {NOT_PLAIN[text]}"):
            bench.read(bench.dataset(corpus, max_bad_lines=9))


PLAIN = ["{0} files", "{count} file(s)", '["Jingle Bells" playing]', "[Applause]", "<2de> Hello", "<b>A</b> b",
         "<3 you", "# heading", "<s> a </s>\n</s>\nb\nc", "{\\an8}Hello", "a < b > c\n< d >\n< e >"]  # fmt: skip


@pytest.mark.parametrize("text", PLAIN)
def test_text_with_tags_and_braces_is_plain(text, bench):
    rows, _ = bench.read(bench.dataset(bench.plain(text, text)))
    assert [row["source"] for row in rows] == text.split("\n")


def test_a_pointer_of_git_lfs_is_refused(bench):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
    for corpus in (bench.plain(pointer, pointer), bench.corpus("tmx", pairs=bench.file("text.cs", pointer))):
        with pytest.raises(UserError, match=r"text\.cs is a pointer of Git LFS, not the file itself: fetch the file"):
            bench.read(bench.dataset(corpus))


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


def test_the_real_czeng_sample_matches_its_fields(bench, shared):
    data = (shared / "data" / "czeng_sample" / "data.export-format.0").read_bytes()
    dataset = bench.dataset(bench.corpus("czeng", pairs=bench.file("x", data)), words="given")
    rows, _ = bench.read(dataset)
    assert len(rows) == 214
    bars = 0
    for row, line in zip(rows, data.decode().split("\n"), strict=False):
        for side, block in (("source", 2), ("target", 6)):
            tokens = [token.split("|")[-4:] for token in line.split("\t")[block].split(" ")]
            annotation = row[f"{side}_annotation"]
            assert annotation["upos"] is None
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
    "factors  ": (GOOD.replace("bark|bark|V|2", "bark|bark|V|3"), "block 7: the tokens' ord factors do not count"),
    "tree": (GOOD.replace("V|2|0|Pred .", "V|2|1|Pred ."), "block 3: the heads form a cycle"),
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


def test_tokenisation_that_changes_words_drops_the_tree_with_a_reason(bench):
    line = czeng_line("can't|can|N|1|0|Sb", "a|a|N|1|0|Sb")
    corpus = bench.corpus("czeng", pairs=bench.file("x", line))
    (row,), _ = bench.read(bench.dataset(corpus, words="moses"))
    assert row["source_words"] == ["can", "'", "t"]
    assert row["source_annotation"]["reason"] == "the words are not those of the tree"
    assert row["target_annotation"]["head"] == [0]
