"""The demo corpus as a data set: splits, texts, held-out combinations, and reproducibility."""

import hashlib
import json
from itertools import pairwise

import pytest

from nmtcore.config.project import Project
from nmtcore.demo import SIZES, Pair, combinations, generate, held_out
from nmtcore.demo.sentences import compose

GOLDEN = "67695abc339cedfe08a6575e4a2a0f652e9f44a3057a506b4a9eb8ecb0534eed"


@pytest.fixture(scope="module")
def splits() -> dict[str, list[Pair]]:
    return {split: list(generate(split=split, count=size)) for split, size in SIZES.items()}


def test_splits_have_their_sizes_and_no_common_sentences(splits):
    for split, size in SIZES.items():
        assert [pair.origin for pair in splits[split]] == [f"demo-{split}:{n}" for n in range(1, size + 1)]
    texts = {(pair.source.text, pair.target.text) for pairs in splits.values() for pair in pairs}
    assert len(texts) == sum(SIZES.values())
    english = {split: {pair.source.text for pair in pairs} for split, pairs in splits.items()}
    assert not english["train"] & (english["dev"] | english["test"])


def test_the_gold_treebank_of_the_data_set_has_no_sentence_of_another_split(splits, root):
    """Neither of training nor of tests; every sentence has a combination that training lacks."""
    demo = Project.load(root / "config").dataset("demo_en2de")
    gold, treebank = (
        list(generate(**{"count": 500, **demo.corpora[demo.splits[split][0].corpus].options}))
        for split in ("gold_demo", "treebank_demo")
    )
    assert gold[0].origin == "demo-test:1"
    for side in ("source", "target"):
        others = {getattr(pair, side).text for pairs in (*splits.values(), treebank) for pair in pairs}
        assert not others.intersection(getattr(pair, side).text for pair in gold)


@pytest.mark.parametrize("side", ["source", "target"])
def test_every_word_of_dev_and_test_occurs_in_training(splits, side):
    training_words = {word for pair in splits["train"] for word in getattr(pair, side).words}
    for split in ("dev", "test"):
        assert {word for pair in splits[split] for word in getattr(pair, side).words} <= training_words


def test_dev_and_test_have_verb_object_pairs_unseen_in_training(splits):
    """The verbs and their objects are those of the trees, not of the abstract syntax."""
    seen = {pair for sentence in splits["train"] for pair in _objects(sentence)}
    for split in ("dev", "test"):
        fresh = [bool(set(_objects(sentence)) - seen) for sentence in splits[split]]
        assert sum(fresh) / len(fresh) > 0.15


def _objects(pair: Pair) -> list[tuple[str, str]]:
    tree = pair.source.annotation
    return [
        (tree.lemma[head - 1], tree.lemma[at])
        for at, (head, deprel) in enumerate(zip(tree.head, tree.deprel, strict=True))
        if deprel == "obj" and tree.upos[at] == "NOUN"
    ]


def test_about_one_combination_in_twenty_is_held_out():
    names = {name for number in range(4000) for name in combinations(compose(f"share {number}"))}
    assert 0.035 < sum(map(held_out, names)) / len(names) < 0.065


def test_sentences_are_as_long_as_real_ones_and_have_many_words(splits):
    lengths = [len(pair.source.words) for pair in splits["train"]]
    assert 10 < sum(lengths) / len(lengths) < 13
    assert min(lengths) >= 3
    assert max(lengths) <= 32
    assert sum(length > 18 for length in lengths) / len(lengths) > 0.05
    for side, minimum in (("source", 1000), ("target", 1800)):
        assert len({word for pair in splits["train"] for word in getattr(pair, side).words}) > minimum


def test_generation_is_deterministic_and_a_smaller_corpus_is_a_prefix_of_a_larger_one():
    short = list(generate(split="train", count=50, seed=3))
    assert short == list(generate(split="train", count=80, seed=3))[:50]
    assert short != list(generate(split="train", count=50, seed=4))


def test_the_corpus_is_the_same_on_every_machine(splits):
    digest = hashlib.sha256()
    for split in SIZES:
        for pair in splits[split][:200]:
            for side in (pair.source, pair.target):
                tree = side.annotation
                columns = (tree.lemma, tree.upos, tree.xpos, tree.feats, tree.head, tree.deprel, tree.ccg)
                digest.update(json.dumps([side.text, side.words, *columns]).encode())
    assert digest.hexdigest() == GOLDEN


def test_an_unknown_split_is_an_error():
    with pytest.raises(ValueError, match="dev"):
        next(generate(split="valid", count=1))


@pytest.mark.parametrize("side", ["source", "target"])
def test_the_text_is_the_words_joined_by_spaces_except_before_punctuation(splits, side):
    for pair in splits["train"]:
        half = getattr(pair, side)
        separated = half.text.replace(",", " ,").replace("'s", " 's")
        assert f"{separated[:-1]} {separated[-1]}".split() == list(half.words)
        assert half.text[0].isupper()
        assert half.text[-1] in ".?"
        assert "  " not in half.text
        # Three of 20,000 sentences had "today today", of which one is in a relative clause.
        tags = zip(half.words, half.annotation.upos, strict=True)
        assert not any(first == second and first[1] == "ADV" for first, second in pairwise(tags)), half.text


def test_no_two_pairs_have_the_same_english_tree(splits):
    """Otherwise one tree could have two translations."""
    trees = {
        (pair.source.text, tuple(pair.source.annotation.head), tuple(pair.source.annotation.deprel))
        for pair in splits["train"]
    }
    assert len(trees) == SIZES["train"]
