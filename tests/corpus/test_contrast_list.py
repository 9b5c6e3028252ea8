"""Contrastive pairs as a split: the rows that are read, and the list of which are right and wrong."""

from dataclasses import replace

import pytest

from nmtcore.config.corpora import PartSettings
from nmtcore.config.stages import ReadingSettings
from nmtcore.corpus.contrast_list import CONTRASTS_SCHEMA, list_contrasts, read_contrast_list
from nmtcore.corpus.contrasts import ContrastRows
from nmtcore.demo import generate
from nmtcore.demo.contrasts import generate_contrasts
from nmtcore.errors import LineError
from nmtcore.parquet import open_file

LINES = "source\tright\twrong\tphenomenon\tdistance\ns\tr\tw1\tp\t3\ns\tr\tw2\tq\t\ns2\tr2\tw3\tp\t1\n"
OTHER = '[{"source": "s3", "reference": "r3", "errors": [{"type": "q", "contrastive": "w4"}]}]'


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
    assert list_contrasts(settings, **options) == len(read_contrast_list(output))
    with open_file(output) as file:
        assert file.schema_arrow.equals(CONTRASTS_SCHEMA)
    return rows, output


def test_rows_are_the_sources_with_each_translation(bench):
    corpora = {
        "lines": bench.corpus("contrastive", pairs=bench.file("a.tsv", LINES)),
        "json": bench.corpus("contrastive", pairs=bench.file("b.json", OTHER)),
    }
    rows, output = read(bench, with_contrasts(bench, corpora))
    assert [(row["id"], row["source"], row["target"]) for row in rows] == [
        (0, "s", "r"), (1, "s", "w1"), (2, "s", "w2"), (3, "s2", "r2"), (4, "s2", "w3"), (5, "s3", "r3"),
        (6, "s3", "w4"),
    ]  # fmt: skip
    assert read_contrast_list(output) == [
        ContrastRows(0, 1, "p", 3), ContrastRows(0, 2, "q", None), ContrastRows(3, 4, "p", 1),
        ContrastRows(5, 6, "q", None),
    ]  # fmt: skip
    assert read_contrast_list(output, entries=1) == read_contrast_list(output)[:2]


@pytest.mark.parametrize("swap", [False, True])
def test_the_demo_has_the_trees_of_its_sources(bench, swap):
    options = {"split": "test", "count": 12, "swap": swap}
    rows, output = read(
        bench, with_contrasts(bench, {"demo": bench.corpus("demo_contrastive", options)}, words="given")
    )
    listed = read_contrast_list(output)
    texts = {pair.source.text: pair for pair in generate(split="test", count=12)}
    expected = [
        (wrong.phenomenon, wrong.distance, pair.target.text if swap else pair.source.text, wrong.text)
        for pair, errors in generate_contrasts(split="test", count=12, target="en" if swap else "de")
        for wrong in errors
    ]
    shown = [(own.phenomenon, own.distance, rows[own.wrong]["source"], rows[own.wrong]["target"]) for own in listed]
    assert shown == expected
    for own in listed:
        right, wrong = rows[own.right], rows[own.wrong]
        pair = texts[right["target" if swap else "source"]]
        source, target = (pair.target, pair.source) if swap else (pair.source, pair.target)
        assert right["source_words"] == wrong["source_words"] == source.words
        assert right["source_annotation"]["head"] == wrong["source_annotation"]["head"] == source.annotation.head
        assert (right["target_words"], right["target_annotation"]) == (target.words, None)


def test_a_broken_line_is_an_error_even_if_bad_lines_are_allowed(bench):
    corpora = {"lines": bench.corpus("contrastive", pairs=bench.file("a.tsv", LINES + "s\tr\n"))}
    with pytest.raises(LineError, match=r"a\.tsv, line 5: there are 2 columns, but the header has 5"):
        bench.read(with_contrasts(bench, corpora, max_bad_lines=9), "contrast_x")


@pytest.mark.parametrize(
    ("splits", "sentence"),
    [
        (
            {"contrast_x": PartSettings(corpus="c")},
            "contrast_x: a split of contrastive pairs needs a corpus of the format",
        ),
        (
            {"test": PartSettings(corpus="p")},
            "splits.test: the corpus 'p' has contrastive pairs: call the split contrast_",
        ),
        ({"contrast_x": PartSettings(corpus="p", last=3)}, "splits.contrast_x: contrastive pairs are read whole"),
        ({"contrast_x": PartSettings(corpus="p", sample=3)}, "contrastive pairs are read whole: leave out first, last"),
    ],
)
def test_splits_of_contrastive_pairs_consist_of_whole_corpora_of_pairs(bench, splits, sentence):
    plain = bench.dataset(bench.plain("a\n", "x\n"))
    corpora = plain.corpora | {"p": bench.corpus("contrastive", pairs=bench.file("a.tsv", LINES))}
    parts = {name: (part,) for name, part in splits.items()}
    with pytest.raises(ValueError, match=sentence):
        replace(plain, corpora=corpora, splits=plain.splits | parts)


def test_contrastive_pairs_are_no_test_and_have_annotated_sources_only(bench):
    corpora = {"p": bench.corpus("contrastive", pairs=bench.file("a.tsv", LINES))}
    dataset = with_contrasts(bench, corpora)
    assert dataset.contrasts == ("contrast_x",)
    assert dataset.tests == ("test", "dev")
    assert dataset.sides("contrast_x") == ("source", "target")
    assert dataset.annotated_sides("contrast_x") == ("source",)
    assert dataset.annotated_sides("dev") == ("source", "target")
