"""Contrastive pairs: files with tabs, their faults, and splits of such pairs with the list of right and wrong rows."""

import gzip
from dataclasses import replace

import pytest

from nmtcore.config.corpora import PartSettings
from nmtcore.config.stages import ReadingSettings
from nmtcore.corpus import contrasts
from nmtcore.corpus.contrasts import ContrastRows, contrast_rows, list_contrasts, read_contrast_list
from nmtcore.corpus.text_lines import Input
from nmtcore.errors import LineError, UserError
from nmtcore.parquet import open_file

HEADER = "source\tright\twrong\tphenomenon\tdistance\n"
LINES = f"{HEADER}s\tr\tw1\tp\t3\ns\tr\tw2\tword order\t\ns2\tr2\tw3\tp\t1\n"
OTHER = "phenomenon\tnote\twrong\tright\tsource\nq\t?\tw4\tr3\ts3\n"


def read_file(tmp_path, content):
    path = tmp_path / "pairs"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(contrasts.read_contrasts(Input(path, None)))


def test_lines_of_one_source_and_right_translation_are_an_entry(tmp_path):
    entries = read_file(tmp_path, gzip.compress((LINES + "s\tr\tw5\tp\t0\n").replace("\n", "\r\n").encode()))
    assert [(e.source.text, e.right.text, [w.side.text for w in e.wrong], e.place) for e in entries] == [
        ("s", "r", ["w1", "w2"], "line 2"), ("s2", "r2", ["w3"], "line 4"), ("s", "r", ["w5"], "line 5"),
    ]  # fmt: skip
    assert list(contrast_rows(entries)) == [
        ContrastRows(0, 1, "p", 3), ContrastRows(0, 2, "word order", None), ContrastRows(3, 4, "p", 1),
        ContrastRows(5, 6, "p", 0),
    ]  # fmt: skip


FAULTS = [
    (HEADER, "pairs has no contrastive pairs: check the file."),
    ("a\tb\n", "pairs, line 1: the header must name each of the columns source, right, wrong, phenomenon once"),
    (HEADER + "s\tr\tw\tp\n", "pairs, line 2: there are 4 columns, but the header has 5: correct the line."),
    (HEADER + "s\tr\tw\tp\t1\ns\t \tw\tp\t1\n", "pairs, line 3: right is empty: correct the line."),
    (HEADER + "s\tr\tw\tp\t-1\n", "pairs, line 2: the distance '-1' is not a whole number of words: correct"),
    (HEADER.encode() + b"s\tr\t\xff\tp\t1\n", "pairs, line 2: is not valid UTF-8 (byte 5)"),
]


@pytest.mark.parametrize(("content", "sentence"), FAULTS)
def test_faults_are_explained(content, sentence, tmp_path):
    with pytest.raises(UserError) as error:
        read_file(tmp_path, content)
    assert sentence in str(error.value)
    assert isinstance(error.value, LineError) == (", line " in str(error.value))


def with_contrasts(bench, corpora, **values):
    """Return a plain data set with corpora of contrastive pairs as the split `contrast_x`."""
    plain = bench.dataset(bench.plain("a\nb\n", "x\ny\n"), **values)
    splits = plain.splits | {"contrast_x": tuple(PartSettings(corpus=name) for name in corpora)}
    return replace(plain, corpora=plain.corpora | corpora, splits=splits)


def read(bench, dataset):
    """Read the split and its list."""
    settings = ReadingSettings.of(dataset, "contrast_x")
    rows, _ = bench.read(dataset, "contrast_x")
    output = bench.folder / "list.parquet"
    options = {"dataset": "bench", "downloads": bench.folder / "downloads", "output": output}
    list_contrasts(settings, **options)
    with open_file(output) as file:
        assert file.schema_arrow.equals(contrasts.CONTRASTS_SCHEMA)
    return rows, output


def test_rows_are_the_sources_with_each_translation(bench):
    corpora = {
        "lines": bench.corpus("contrastive", pairs=bench.file("a.tsv", LINES)),
        "others": bench.corpus("contrastive", pairs=bench.file("b.tsv", OTHER)),
    }
    rows, output = read(bench, with_contrasts(bench, corpora))
    assert [(row["id"], row["source"], row["target"]) for row in rows] == [
        (0, "s", "r"), (1, "s", "w1"), (2, "s", "w2"), (3, "s2", "r2"), (4, "s2", "w3"), (5, "s3", "r3"),
        (6, "s3", "w4"),
    ]  # fmt: skip
    assert read_contrast_list(output) == [
        ContrastRows(0, 1, "p", 3), ContrastRows(0, 2, "word order", None), ContrastRows(3, 4, "p", 1),
        ContrastRows(5, 6, "q", None),
    ]  # fmt: skip
    assert read_contrast_list(output, entries=1) == read_contrast_list(output)[:2]


HEADS = (
    "# sent_id = a\n# text = er's.\n1-2\ter's.\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\ter\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\t's.\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
)
OTHERS = HEADS.replace("id = a", "id = b").replace("er", "du")
NAMING = "sent_id\tright\twrong\tphenomenon\tright_words\twrong_words\n"
NAMED = f"{NAMING}b\tit's.\tits.\tp\tit 's .\tits .\nb\tit's.\tit.\tp\tit 's .\tit .\na\t1\u00a00\ty\tq\t1\u00a00\ty\n"


def with_sentences(bench, pairs, sentences=HEADS + OTHERS):
    files = {"pairs": bench.file("pairs.tsv", pairs), "sentences": bench.file("s.conllu", sentences)}
    return with_contrasts(bench, {"named": bench.corpus("contrastive", **files)}, words="given")


def test_sources_can_be_sentences_of_a_treebank_with_their_words_and_trees(bench):
    rows, output = read(bench, with_sentences(bench, NAMED))
    assert [(row["source"], row["source_words"], row["source_annotation"]["head"]) for row in rows] == [
        *[("du's.", ["du", "'s."], [2, 0])] * 3, *[("er's.", ["er", "'s."], [2, 0])] * 2,
    ]  # fmt: skip
    assert [(row["target"], row["target_words"], row["target_annotation"]) for row in rows] == [
        ("it's.", ["it", "'s", "."], None), ("its.", ["its", "."], None), ("it.", ["it", "."], None),
        ("1\u00a00", ["1\u00a00"], None), ("y", ["y"], None),
    ]  # fmt: skip
    assert read_contrast_list(output) == [
        ContrastRows(0, 1, "p", None), ContrastRows(0, 2, "p", None), ContrastRows(3, 4, "q", None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("pairs", "sentences", "sentence"),
    [
        (LINES, HEADS, "pairs.tsv, line 1: the header must name each of the columns sent_id, right, wrong, phenomenon"),
        (NAMED, HEADS, "pairs.tsv, line 2: no sentence of the CoNLL-U file has the sent_id 'b': correct the line."),
        (NAMING + "a\tx\ty z\tp\tx\tyes\n", HEADS, "line 2: wrong_words differs from wrong by more than white space"),
        (NAMED, HEADS.replace("\t2\t", "\t1\t"), "s.conllu, line 1: word 1 is its own head: correct the file."),
    ],
)
def test_faults_of_pairs_that_name_sentences_are_explained(pairs, sentences, sentence, bench):
    with pytest.raises(LineError) as error:
        bench.read(with_sentences(bench, pairs, sentences), "contrast_x")
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("splits", "sentence"),
    [
        ({"contrast_x": PartSettings(corpus="c")}, "contrast_x: a split of contrastive pairs needs a corpus of the"),
        ({"test": PartSettings(corpus="p")}, "splits.test: the corpus 'p' has contrastive pairs: call the split cont"),
        ({"contrast_x": PartSettings(corpus="p", last=3)}, "splits.contrast_x: contrastive pairs are read whole"),
    ],
)
def test_splits_of_contrastive_pairs_consist_of_whole_corpora_of_pairs(bench, splits, sentence):
    plain = bench.dataset(bench.plain("a\n", "x\n"))
    corpora = plain.corpora | {"p": bench.corpus("contrastive", pairs=bench.file("a.tsv", LINES))}
    parts = {name: (part,) for name, part in splits.items()}
    with pytest.raises(ValueError, match=sentence):
        replace(plain, corpora=corpora, splits=plain.splits | parts)
