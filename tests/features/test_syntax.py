"""Every column of the syntactic features, against loops over the words of one sentence."""

import numpy as np
import pytest
from features.sentences import LABELS, VOCABULARY, annotated, annotated_words, words_of
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.annotation.labels import dg_a, dg_b
from nmtcore.config.features import FEATURES
from nmtcore.errors import UserError
from nmtcore.features.examples import syntax_schema
from nmtcore.features.syntax import syntax_batch
from nmtcore.syntax.annotation import Annotation
from nmtcore.syntax.trees import find_cycle


def features(sentences, names=tuple(FEATURES), *, ids=None, labels=VOCABULARY, side="source"):
    return syntax_batch(annotated_words(sentences, ids=ids, labels=labels, name=side), names)


def features_by_loops(pieces, annotation):
    """Compute the features of one sentence, except `random`, word by word."""
    n, head, deprel = len(pieces), annotation.head, annotation.deprel
    positions = [[i for i, w in enumerate(words_of(pieces)) if w == word] for word in range(n)]
    columns = {name: [] for name in syntax_schema(FEATURES).names if name not in ("id", "random")}
    for word in range(n):
        governor = -2 if head is None else head[word] - 1
        parent = governor if governor >= 0 else word
        columns["governor"].append(governor)
        columns["parent_position"].append(float(np.float32(sum(positions[parent]) / len(positions[parent]))))
        tags = {name: values[word] for name in LABELS if (values := getattr(annotation, name)) is not None}
        if head is not None and deprel is not None:
            tags |= {"dg_a": dg_a(head, deprel)[word], "dg_b": dg_b(head, deprel)[word]}
        for name in (*LABELS, "dg_a", "dg_b"):
            labels = VOCABULARY[name]
            columns[name].append(0 if name not in tags else labels.index(tags[name]) if tags[name] in labels else 1)
    return columns


@given(st.lists(annotated(), max_size=8))
def test_every_column_matches_loops_over_words(sentences):
    rows = features(sentences).to_pylist()
    for k, (row, sentence) in enumerate(zip(rows, sentences, strict=True)):
        random = row.pop("random")
        assert row == {"id": k, **features_by_loops(*sentence)}
        words, tagged = len(sentence[0]), sentence[1].ccg is not None
        assert len(random) == words
        assert all(2 <= tag < 5 for tag in random) if tagged else not any(random)


@given(st.lists(annotated(least=0), max_size=4))
def test_words_in_the_subword_of_another_are_one_node_with_it(sentences):
    names = ("governor", "parent_position")
    for row, (pieces, annotation) in zip(features(sentences, ("trees",)).to_pylist(), sentences, strict=True):
        if annotation.head is None:
            assert set(row["governor"]) <= {-2}
            continue
        owners, owner = [], next((word for word, count in enumerate(pieces) if count), None)
        for word, count in enumerate(pieces):
            owner = word if count else owner
            owners.append(owner)
        paths = []
        for word in range(len(pieces)):
            path = [word]
            while annotation.head[path[-1]]:
                path.append(annotation.head[path[-1]] - 1)
            paths.append(path)
        heads = [0] * len(pieces)
        for word in set(owners):
            group = [other for other, own in enumerate(owners) if own == word]
            highest = min(group, key=lambda other: len(paths[other]))
            above = paths[highest][1:]
            governor = owners[above[0]] if above else -1
            heads[word] = governor + 1
            positions = [i for i, other in enumerate(words_of(pieces)) if other == (governor if above else word)]
            mean = float(np.float32(sum(positions) / len(positions)))
            assert [row[name][word] for name in names] == [governor, mean]
        assert not find_cycle(heads)


def test_random_tags_depend_only_on_the_pair_and_the_side():
    sentence = ([1] * 60, Annotation(ccg=["obj"] * 60))
    pair = features([sentence, sentence], ("random_tags",), ids=[7, 8]).to_pylist()
    alone = features([sentence], ("random_tags",), ids=[8]).to_pylist()
    target = features([sentence], ("random_tags",), ids=[8], side="target").to_pylist()
    assert pair[1] == alone[0]
    assert pair[0]["random"] != pair[1]["random"] != target[0]["random"]
    assert set(pair[0]["random"]) == {2, 3, 4}
    without_types = VOCABULARY | {"random": VOCABULARY["random"][:2]}
    (row,) = features([([1], Annotation(ccg=["new"]))], ("random_tags",), labels=without_types).to_pylist()
    assert row["random"] == [0]


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        (Annotation(head=[0, 1]), "pair 1: the annotation has 2 words, but the subwords have 3"),
        (Annotation(head=[0, 1, 1], deprel=["X"] * 2), "pair 1: the annotation has 2 words, but the subwords have 3"),
    ],
)
def test_mismatched_annotations_are_an_error_that_names_the_pair(annotation, message):
    for names in (("trees", "pos_tags"), tuple(FEATURES)):
        with pytest.raises(UserError, match=f"file, {message}"):
            features([([1], Annotation(head=[0], deprel=["obj"])), ([1, 1, 2], annotation)], names)
