"""Interleaved tags, against an obvious loop over words; stripping them from translations, also from broken ones."""

from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from factories import examples_of, run_settings, side
from features.sentences import ids_and_words, side_of_words
from hypothesis import example, given
from hypothesis import strategies as st
from inference.tiny import MERGES, PIECES, write_segmentation
from subword_nmt import apply_bpe

from nmtcore.annotation.labels import LABEL_SPECIALS, NO_LABEL, UNKNOWN_LABEL
from nmtcore.config.corpora import SegmentationSettings
from nmtcore.config.features import InterleaveSettings, ParsingTaskSettings
from nmtcore.config.training import DecodingSettings
from nmtcore.errors import UserError
from nmtcore.features.examples import NO_WORD, LinearisedParses
from nmtcore.features.transforms.chain import Transforms, run_tags, run_vocabularies
from nmtcore.segmentation.segmenter import Segmenter
from nmtcore.segmentation.vocabulary import UNK, Vocabulary, tag_entry

CCG, DG_A = ["N", "NP/N", "<NP>"], ["root|root", "N"]
LABELS = {
    "source": {"dg_a": [*LABEL_SPECIALS, *DG_A]},
    "target": {"ccg": [*LABEL_SPECIALS, *CCG]},
}
SOURCE = InterleaveSettings(side="source", tags="dg_a_tags")
TARGET = InterleaveSettings(side="target", tags="ccg_tags")
BPE = SegmentationSettings(kind="bpe", size=6, joint=True)
STORED = Vocabulary.of(PIECES)
VOCABULARY = STORED.extended(["<unk>", *CCG])

words = st.lists(st.lists(st.integers(5, 20), min_size=1, max_size=3), max_size=5)
"""A sentence: the subwords of each word."""


@st.composite
def tagged_sentences(draw):
    """Draw sentences and the label id of every word; some have no label at all."""
    sentences = draw(st.lists(words, max_size=5))
    labels = [
        [draw(st.integers(0, 4)) if has_labels else NO_LABEL for _ in sentence]
        for sentence in sentences
        for has_labels in [draw(st.booleans())]
    ]
    return sentences, labels


def transforms_of(*settings, joint=True, labels=LABELS):
    """Make the transforms of a run, and its vocabularies."""
    run = run_settings(
        segmentation=SegmentationSettings(kind="bpe", size=6, joint=joint),
        transforms={f"transform_{i}": entry for i, entry in enumerate(settings)},
    )
    vocabularies = {name: STORED.extended(tags) for name, tags in run_tags(run, labels).items()}
    return Transforms.of(run, vocabularies, labels), vocabularies


def with_tags(sentence, labels, tag_ids):
    """Put the tag of every word before it: return the ids, and the word of each."""
    if not any(label != NO_LABEL for label in labels):
        tag_ids = None
    ids, numbers = [], []
    for number, (word, label) in enumerate(zip(sentence, labels, strict=True)):
        if tag_ids:
            ids.append(tag_ids[UNKNOWN_LABEL if label == NO_LABEL else label])
            numbers.append(NO_WORD)
        for piece in word:
            ids.append(piece)
            numbers.append(number)
    return ids, numbers


def expected(drawn, vocabulary, column="ccg", name="target"):
    tag_ids = [None, *vocabulary.ids(map(tag_entry, LABELS[name][column][1:]))]
    rows = [with_tags(sentence, labels, tag_ids) for sentence, labels in zip(*drawn, strict=True)]
    return [ids for ids, _ in rows], [numbers for _, numbers in rows]


def arrays_of(examples):
    sides = [one_side for one_side in (examples.source, examples.target) if one_side is not None]
    ragged = [r for s in sides for r in (s.ids, s.word_of_subword, *s.features.values())]
    return [examples.id, *(array for r in ragged for array in (r.values, r.offsets))]


@given(tagged_sentences(), st.booleans())
@example(([], []), False)
@example(([[]], [[]]), True)
@example(([[[5]], [[6]]], [[2], [3]]), False)
def test_every_word_of_a_sentence_with_tags_follows_its_tag(drawn, training):
    transforms, vocabularies = transforms_of(TARGET)
    plain, target = side([[9]] * len(drawn[0])), side_of_words(*drawn)
    examples = examples_of(plain, target)
    before = [array.copy() for array in arrays_of(examples)]
    changed = (transforms.for_training if training else transforms.for_translation)(examples)
    assert ids_and_words(changed.target) == expected(drawn, vocabularies["target"])
    assert changed.source is plain
    assert changed.id is examples.id
    assert changed.target.features["ccg"] is target.features["ccg"], "labels are still those of words"
    assert changed.target.ids.values.dtype == changed.target.word_of_subword.values.dtype == np.int32
    assert changed.target.subword_counts.tolist() == target.ids.lengths.tolist()
    assert changed.target.word_counts.tolist() == target.word_counts.tolist()
    assert (changed.target.ids.lengths <= 2 * target.ids.lengths).all()
    assert all(map(np.array_equal, arrays_of(examples), before)), "the arguments have changed"


def test_sources_to_translate_have_tags_and_no_targets_are_needed():
    transforms, vocabularies = transforms_of(SOURCE, TARGET)
    examples = examples_of(side_of_words([[[5], [6, 7]]], [[2, 3]], "dg_a"))
    changed = transforms.for_translation(examples)
    root, noun = vocabularies["source"].ids(map(tag_entry, DG_A))
    assert ids_and_words(changed.source) == ([[root, 5, noun, 6, 7]], [[-1, 0, -1, 1, 1]])
    assert changed.target is None
    words_BS = np.array([[-1, 0, -1, 1, 1, -1, -1]])
    assert transforms.text_words(words_BS) is words_BS


@pytest.mark.parametrize("joint", [True, False])
def test_the_vocabulary_has_every_tag_once(tmp_path, joint):
    folder = write_segmentation(tmp_path)
    segmentation = SegmentationSettings(kind="bpe", size=6, joint=joint)
    run = run_settings(segmentation=segmentation, transforms={"one": SOURCE, "two": TARGET})
    vocabularies = run_vocabularies(run, folder, LABELS)
    source, target = ["<unk>", *DG_A], ["<unk>", *CCG]
    if joint:
        source = target = ["<unk>", *DG_A, "NP/N", "<NP>"]  # both sides have the tag N
    assert vocabularies == {"source": STORED.extended(source), "target": STORED.extended(target)}
    assert vocabularies["target"].ids(["N", "<unk>", "NP/N"]) == [UNK] * 3, "tags are not text"


@pytest.mark.parametrize("column", [None, list(LABEL_SPECIALS)])
def test_labels_that_are_missing_are_an_error(column):
    labels = {"target": {} if column is None else {"ccg": column}}
    with pytest.raises(
        UserError, match=rf"ccg of the target's words.* is {'empty' if column else 'missing'}\. Name an"
    ):
        transforms_of(TARGET, labels=labels)


SEGMENTER = Segmenter(apply_bpe.BPE(StringIO("\n".join(["#version: 0.2", *MERGES]))))
N, NP = tag_entry("N"), tag_entry("<NP>")


def tagged_words(transforms, vocabulary, ids):
    """Name the tags of the words of an output, and check that each word begins at its position."""
    entries, tagged = vocabulary.tokens(ids), []
    for word, position, tag_position in transforms.locate_words(ids, vocabulary, SEGMENTER):
        assert word.startswith(entries[position].removesuffix("@@"))
        tagged.append((word, None if tag_position is None else entries[tag_position].removeprefix(" ")))
    return tagged


@given(st.lists(st.sampled_from([N, NP, "the", "ca@@", "t", "a@@", "."]), max_size=12))
def test_tags_of_any_hypothesis_by_a_loop(entries):
    """Words are runs of pieces up to one that ends a word, whatever tags are between them."""
    transforms, vocabularies = transforms_of(TARGET)
    ids = vocabularies["target"].ids(entries)
    tagged, word, tag, tag_of_word = [], "", None, None
    for entry in entries:
        if entry in (N, NP):
            tag = entry.removeprefix(" ")
            continue
        tag_of_word = tag if not word else tag_of_word
        tag, word = None, word + entry.removesuffix("@@")
        if not entry.endswith("@@"):
            tagged.append((word, tag_of_word))
            word = ""
    tagged += [(word, tag_of_word)] if word else []
    assert tagged_words(transforms, vocabularies["target"], ids) == tagged
    assert transforms.words(ids, vocabularies["target"], SEGMENTER) == [word for word, _ in tagged]


def test_targets_of_a_second_task_have_no_tags():
    """They train their words alone."""
    transforms, vocabularies = transforms_of(ParsingTaskSettings(), TARGET)
    pairs = examples_of(side([[5], [6]]), side_of_words([[[7], [8, 9]], [[7]]], [[2, 3], [NO_LABEL]]))
    parses = side([[10, 11, 12], []], [[0, 0, 1], []])
    changed = transforms.for_training(pairs, LinearisedParses(available=np.array([True, False]), target=parses))
    noun, article, start, second = vocabularies["target"].ids(map(tag_entry, ("N", "NP/N", "<TR>", "<PA>")))
    assert changed.id.tolist() == [0, -1, 1]
    assert ids_and_words(changed.target)[0] == [[noun, 7, article, 8, 9], [10, 11, 12], [7]]
    assert ids_and_words(changed.source)[0] == [[start, 5, start], [second, 5, second], [start, 6, start]]
    labels = changed.target.features["ccg"]
    assert [row.tolist() for row in labels] == [[2, 3], [NO_LABEL] * 2, [NO_LABEL]]


def test_limits_of_length_double_if_targets_have_tags():
    settings = DecodingSettings(max_length=70, max_length_ratio=1.5, max_length_extra=10)
    assert transforms_of(SOURCE)[0].search_settings(settings) == settings
    doubled = replace(settings, min_length=2, max_length=140, max_length_ratio=3.0, max_length_extra=20)
    assert transforms_of(SOURCE, TARGET)[0].search_settings(settings) == doubled
    no_ratio = DecodingSettings(max_length=7, max_length_ratio=None)
    assert transforms_of(TARGET)[0].search_settings(no_ratio).max_length_ratio is None
