"""Comparison of annotations against counting by hand and word by word."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pair_files import write_corpus

from nmtcore.annotation.shards import ANNOTATION_SCHEMA, annotation_row
from nmtcore.errors import UserError
from nmtcore.evaluation.attachment import MEASURES, compare_annotations
from nmtcore.files import read_json
from nmtcore.parquet import row_writer
from nmtcore.syntax.annotation import Annotation, failed

NAMES = ("parser", "treebank")


def write(folder, name, annotations, *, group=10_000):
    """Write an annotation in row groups of `group` sentences."""
    path = Path(folder) / name / "gold.source.parquet"
    with row_writer(path, ANNOTATION_SCHEMA) as writer:
        for number, annotation in enumerate(annotations):
            writer.write(annotation_row(number, annotation))
            if (number + 1) % group == 0:
                writer.flush()
    return path


def compare(folder, words, first, second, *, groups=(10_000, 10_000)):
    corpus = write_corpus(Path(folder) / "corpus.parquet", words)
    paths = [
        write(folder, name, annotations, group=group)
        for name, annotations, group in zip(NAMES, (first, second), groups, strict=True)
    ]
    output = Path(folder) / "against.json"
    result = compare_annotations(*paths, annotators=NAMES, corpus=corpus, side="source", output=output)
    assert read_json(output) == result
    return result


TAGS = st.sampled_from(["PUNCT", "a", "a:x", "b"])


@st.composite
def corpora(draw):
    """Draw words and two annotations of them, each with missing columns."""
    words = draw(st.lists(st.lists(st.sampled_from(["w", "."]), min_size=1, max_size=4), max_size=7))
    columns = {"head": st.integers(0, 2), "deprel": TAGS, "upos": TAGS, "ccg": TAGS}
    return words, [
        [
            Annotation(
                **{
                    name: draw(st.none() | st.lists(values, min_size=len(sentence), max_size=len(sentence)))
                    for name, values in columns.items()
                }
            )
            for sentence in words
        ]
        for _ in range(2)
    ]


def matches(measure, first, second, k):
    """Whether word k matches; None if one of the annotations lacks a column."""
    columns = {"upos": ["upos"], "ccg": ["ccg"], "uas": ["head"]}.get(measure, ["head", "deprel"])
    if any(getattr(annotation, name) is None for annotation in (first, second) for name in columns):
        return None
    same = all(getattr(first, name)[k] == getattr(second, name)[k] for name in columns)
    if measure == "las":
        same = first.head[k] == second.head[k] and first.deprel[k].split(":")[0] == second.deprel[k].split(":")[0]
    return same


@settings(max_examples=40)
@given(corpora(), st.tuples(st.integers(1, 4), st.integers(1, 4)))
def test_comparison_matches_counting_word_by_word(tmp_path_factory, drawn, groups):
    words, (first, second) = drawn
    result = compare(tmp_path_factory.mktemp("comparison"), words, first, second, groups=groups)
    for measure in MEASURES:
        verdicts, plain = [], []
        for sentence, a, b in zip(words, first, second, strict=True):
            for k, word in enumerate(sentence):
                verdict = matches(measure, a, b, k)
                if verdict is not None:
                    verdicts.append(verdict)
                    if not (word == "." if b.upos is None else b.upos[k] == "PUNCT"):
                        plain.append(verdict)
        for key, counted in ((measure, verdicts), (f"{measure}_without_punctuation", plain)):
            assert result[key] == (pytest.approx(100 * sum(counted) / len(counted)) if counted else None)


def test_an_annotation_of_other_words_is_an_error(tmp_path):
    with pytest.raises(UserError, match=r"treebank.*, row 1: 1 values in 'head', but 2 words"):
        compare(tmp_path, [["a"], ["a", "b"]], [Annotation(head=[0])] * 1 + [failed("x")], [Annotation(head=[0])] * 2)
