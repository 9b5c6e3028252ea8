"""The real CoreNLP; most of the time of these tests is spent on starting Java."""

import shutil

import pytest
from annotation.annotating import annotate_words
from annotation.test_parsers import gold
from conftest import skip_unless_ci

from nmtcore.annotation.corenlp import SPLITS
from nmtcore.config.datasets import CoreNlpSettings
from nmtcore.evaluation.attachment import attachment
from nmtcore.syntax.annotation import tree_fault

pytestmark = pytest.mark.needs("Java")

REFUSED = [[], ["\u2028"], ["a\u3000b", "."], ["word"] * 251]
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
    ["😀", "*", "_", "\\", "/", "1/2", "\\/", "#", "|", "e\u0301", "\x00", "\x1c", ".", "100%", "+", "a&b=c"],
    *(["*"], ["_"], ["q"]),
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


def annotate(sentences, folder, *, language="en", **settings):
    return annotate_words(CoreNlpSettings(**settings), sentences, folder, language=language)


@pytest.mark.parametrize(("language", "tags", "no_tags"), [("en", "xpos", "upos"), ("de", "upos", "xpos")])
def test_dependencies_are_sound_and_good_among_odd_lines(corenlp, language, tags, no_tags):
    sentences = list(gold(corenlp / "data" / "ud" / f"{language}_pud.conllu"))[:50]
    real = [words for words, _, _ in sentences]
    annotations = annotate([*REFUSED, *real, *ACCEPTED], corenlp, language=language)
    nulls, parsed = annotations[: len(REFUSED)], annotations[len(REFUSED) :]
    assert all(annotation.reason for annotation in nulls)
    for annotation, words in zip(parsed, [*real, *ACCEPTED], strict=True):
        assert annotation.reason is None
        assert len(getattr(annotation, tags)) == len(annotation.deprel) == len(annotation.head) == len(words)
        assert tree_fault(annotation.head) is None
        assert annotation.deprel[list(annotation.head).index(0)] == "root"
        assert getattr(annotation, no_tags) is None
    heads = [annotation.head for annotation in parsed[: len(real)]]
    assert attachment(heads, [heads for _, heads, _ in sentences], [None] * len(real))["uas"] > 75
    used = {tag for annotation in parsed[: len(real)] for tag in getattr(annotation, tags)}
    assert used >= ({"NN", "VBD", "IN", "DT", "."} if language == "en" else {"NOUN", "VERB", "ADP", "PUNCT"})
