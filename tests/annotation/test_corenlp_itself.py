"""The real CoreNLP; most of the time of these tests is spent on starting Java four times."""

import shutil

import pytest
from annotation.annotating import annotate_words
from conftest import skip_unless_ci

from nmtcore.annotation.base import AnnotationTask
from nmtcore.annotation.corenlp import SPLITS
from nmtcore.config.annotators import CoreNlpSettings
from nmtcore.evaluation.attachment import attachment
from nmtcore.syntax.annotation import tree_fault
from nmtcore.syntax.constituents import leaves, parse_constituents

pytestmark = pytest.mark.needs("Java")

REFUSED = {
    "no words": [],
    "splits": ["\u2028"],
    "splits inside": ["a\u3000b", "."],
    "too long": ["word"] * 251,
}
SPACES = (*range(0x20), 0x7F, 0xA0, 0x180E, 0x2007, 0x200B, 0x200D, 0x202F, 0x2060, 0xFEFF)
# Spaces and control characters at which CoreNLP does not split.
NOT_SPLITTING = [character for character in map(chr, SPACES) if not SPLITS.match(character)]
ACCEPTED = (
    [f"a{character}b" for character in NOT_SPLITTING],
    NOT_SPLITTING,
    ["\ufeff", "starts", "a\u00a0b", "with\u202fspaces", "\u200b", "."],
    ["word"] * 200,
    ["Look", "(", "here", ")", "at", "a(b", "[", "x", "]", "{", "y", "}", "!"],
    ["-LRB-", "word", "-RRB-", "-LSB-"],
    ["😀", "*", "_", "\\", "/", "1/2", "\\/", "#", "|", "e\u0301", "\x00", "\x1c", "."],
    ["*"],
    ["_"],
    ["q"],
    ['"', "quoted", "''", "``", "'", '"'],
    ["<doc>", "&amp;", "</doc>", "&"],
    ["x" * 3000, "."],
)


@pytest.fixture(scope="module")
def corenlp(shared):
    """Return the folder that contains the folder `corenlp`."""
    if not shutil.which("java"):
        skip_unless_ci("Java (default-jre-headless)")
    return shared


@pytest.fixture(scope="module")
def pud(shared):
    """Return a function that reads words and heads of the first 50 sentences of a language's gold treebank."""

    def read(language):
        with open(shared / "data" / "ud" / f"{language}_pud.conllu", encoding="utf-8", newline="\n") as file:
            blocks = file.read().split("\n\n")[:50]
        sentences = [[line.split("\t") for line in block.split("\n") if line[:1].isdigit()] for block in blocks]
        sentences = [[cells for cells in sentence if cells[0].isdigit()] for sentence in sentences]
        return [[c[1] for c in s] for s in sentences], [[int(c[6]) for c in s] for s in sentences]

    return read


def annotate(sentences, folder, *, language="en", **settings):
    task = AnnotationTask(side="source", language=language, model_folders=(folder,))
    return list(annotate_words(CoreNlpSettings(**settings), sentences, task))


def uas(annotations, heads):
    return attachment([a.head for a in annotations], heads, [None] * len(heads))["uas"]


def mix_with_odd(sentences):
    """Put odd sentences between real ones; return all sentences, and the numbers of those that CoreNLP must not get."""
    odd = [*ACCEPTED, *REFUSED.values()]
    mixed = [words for pair in zip(odd, sentences, strict=False) for words in pair]
    return mixed + sentences[len(odd) :], {2 * n for n in range(len(ACCEPTED), len(odd))}


def test_english_dependencies_are_sound_and_good(corenlp, pud):
    words, heads = pud("en")
    mixed, nulls = mix_with_odd(words)
    annotations = annotate(mixed, corenlp)
    assert {n for n, annotation in enumerate(annotations) if annotation.reason} == nulls
    real = [next(a for a, w in zip(annotations, mixed, strict=True) if w is sentence) for sentence in words]
    assert uas(real, heads) > 75
    for n, (annotation, sentence) in enumerate(zip(annotations, mixed, strict=True)):
        if n not in nulls:
            assert len(annotation.xpos) == len(annotation.deprel) == len(annotation.head) == len(sentence)
            assert tree_fault(annotation.head) is None
            assert annotation.deprel[list(annotation.head).index(0)] == "root"
            assert annotation.upos is None
    assert {tag for annotation in real for tag in annotation.xpos} >= {"NN", "VBD", "IN", "DT", "."}


def test_english_constituents_are_trees_over_their_words(corenlp, pud):
    words, _ = pud("en")
    mixed, nulls = mix_with_odd(words[:25])
    annotations = annotate(mixed, corenlp, analysis="constituents")
    assert {n for n, annotation in enumerate(annotations) if annotation.reason} == nulls
    for n, (annotation, sentence) in enumerate(zip(annotations, mixed, strict=True)):
        if n not in nulls:
            tree = parse_constituents(annotation.constituency)
            assert tree.label == "ROOT"
            words_of_tree = [leaf.replace("-LRB-", "(").replace("-RRB-", ")") for leaf in leaves(tree)]
            assert words_of_tree == [word.replace("-LRB-", "(").replace("-RRB-", ")") for word in sentence]
            assert "\n" not in annotation.constituency
    assert any("(NP (DT" in annotation.constituency for n, annotation in enumerate(annotations) if n not in nulls)


def test_german_dependencies_are_good_and_have_universal_tags(corenlp, pud):
    words, heads = pud("de")
    annotations = annotate(words, corenlp, language="de")
    assert uas(annotations, heads) > 75
    assert {tag for annotation in annotations for tag in annotation.upos} >= {"NOUN", "VERB", "ADP", "PUNCT"}
    assert all(annotation.xpos is None for annotation in annotations)


def test_german_constituents_are_trees_over_their_words(corenlp, pud):
    words, _ = pud("de")
    short = [sentence for sentence in words if len(sentence) < 15][:5]
    annotations = annotate([*short[:2], ["\x85"], *short[2:]], corenlp, language="de", analysis="constituents")
    assert [annotation.reason is None for annotation in annotations] == [True, True, False, True, True, True]
    del annotations[2]
    for annotation, sentence in zip(annotations, short, strict=True):
        assert leaves(parse_constituents(annotation.constituency)) == sentence
    assert any("(NP (DET " in annotation.constituency for annotation in annotations)
