"""The demo corpus in data/demo: what its README says of it."""

import hashlib
from itertools import chain

import pytest
from demo_parts import DEMO, demo_sides

from nmtcore.config.project import Project
from nmtcore.corpus.contrasts import read_contrasts
from nmtcore.corpus.text_lines import Input
from nmtcore.syntax.constituents import parse_constituents, same_words

SIZES = {"train": 20_000, "dev": 500, "test": 500, "gold": 500, "treebank": 500}


@pytest.fixture(scope="module")
def sides():
    """The sentences by split and language."""
    return {(split, language): demo_sides(split, language) for split in SIZES for language in ("en", "de")}


def test_the_checksums_are_those_of_the_files(root):
    project = Project([root / "config"], {})
    corpora = chain(*(project.dataset(name).corpora.values() for name in ("demo_en2de", "demo_de2en")))
    pins = {file.url: file.sha256 for corpus in corpora for files in corpus.files.values() for file in files}
    assert pins == {
        f"repository://data/demo/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest()
        for path in DEMO.glob("*.xz")
    }


def test_pairs_differ_and_dev_and_test_have_no_words_that_train_lacks(sides):
    for language in ("en", "de"):
        known = {word for side in sides["train", language] for word in side.words}
        for split in ("dev", "test"):
            assert known.issuperset(word for side in sides[split, language] for word in side.words)
    pairs = {}
    for split in SIZES:
        texts = ([side.text for side in sides[split, language]] for language in ("en", "de"))
        pairs[split] = set(zip(*texts, strict=True))
    assert {split: len(own) for split, own in pairs.items()} == SIZES
    assert not pairs["train"] & (pairs["dev"] | pairs["test"] | pairs["gold"])
    assert not pairs["dev"] & pairs["test"]


def test_english_has_constituents_over_its_words_and_categories(sides):
    for (_, language), own in sides.items():
        for side in own:
            has_both = side.annotation.ccg is not None and side.annotation.constituency is not None
            assert has_both == (language == "en")
            assert language == "de" or same_words(parse_constituents(side.annotation.constituency), side.words)


@pytest.mark.parametrize(("direction", "count"), [("en-de", 972), ("de-en", 602)])
def test_wrong_translations_are_of_the_tests_pairs_in_words_of_train(sides, direction, count):
    source, target = direction.split("-")
    known = {word for side in sides["train", target] for word in side.words}
    ids = {f"test-{number}": side for number, side in enumerate(sides["test", source], start=1)}
    right = {own.text: side for own, side in zip(sides["test", source], sides["test", target], strict=True)}
    entries = list(read_contrasts(Input(DEMO / f"contrasts.{direction}.tsv.xz", None), ids))
    assert sum(len(entry.wrong) for entry in entries) == count
    for entry in entries:
        expected = right[entry.source.text]
        assert (entry.right.text, entry.right.words) == (expected.text, expected.words)
        assert all(wrong.side.text != expected.text and known.issuperset(wrong.side.words) for wrong in entry.wrong)
