"""The second task, parsing, against an obvious loop over pairs."""

import numpy as np
from features.sentences import ids_and_words, side_of_words
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.config.features import ParsingTaskSettings
from nmtcore.features.examples import NO_WORD, Examples, LinearisedParses
from nmtcore.features.transforms.parsing_task import ParsingTask
from nmtcore.segmentation.vocabulary import Vocabulary, tag_entry

VOCABULARY = Vocabulary.of(["a", "b", "c"]).extended(["<TR>", "<PA>"])
TR, PA = VOCABULARY.ids([tag_entry("<TR>"), tag_entry("<PA>")])
TASK = ParsingTask(ParsingTaskSettings(), dict.fromkeys(("source", "target"), VOCABULARY), {})

words = st.lists(st.lists(st.integers(5, 7), min_size=1, max_size=3), max_size=4)
"""A sentence: the subwords of each word."""
rows_of_pairs = st.lists(st.tuples(words, words, st.none() | words), max_size=6)


def pairs_of(rows):
    """Make examples with the ids 0, 3..., and the linearised parses of their sources."""
    sources, targets = (side_of_words([row[k] for row in rows]) for k in range(2))
    pairs = Examples(id=np.arange(0, 3 * len(rows), 3), source=sources, target=targets)
    available = np.array([row[2] is not None for row in rows], dtype=bool)
    return pairs, LinearisedParses(available=available, target=side_of_words([row[2] or [] for row in rows]))


def doubled(rows):
    """Return the rows of both tasks: (id, source, target)."""
    both_tasks = []
    for i, (source, target, parse) in enumerate(rows):
        both_tasks.append((3 * i, [[TR], *source, [TR]], target))
        if parse is not None:
            both_tasks.append((-1 - 3 * i, [[PA], *source, [PA]], parse))
    return both_tasks


def arrays_of(examples, linearised_parses):
    sides = [examples.source, examples.target, linearised_parses.target]
    ragged = [values for side in sides for values in (side.ids, side.word_of_subword)]
    return [examples.id, linearised_parses.available, *(array for r in ragged for array in (r.values, r.offsets))]


@given(rows_of_pairs)
def test_sources_with_a_parse_have_a_second_row(rows):
    pairs, linearised_parses = pairs_of(rows)
    before = [array.copy() for array in arrays_of(pairs, linearised_parses)]
    examples, expected = TASK.for_training(pairs, linearised_parses), doubled(rows)
    assert examples.id.tolist() == [i for i, *_ in expected]
    assert ids_and_words(examples.source) == ids_and_words(side_of_words([source for _, source, _ in expected]))
    assert ids_and_words(examples.target) == ids_and_words(side_of_words([target for *_, target in expected]))
    assert examples.source.ids.values.dtype == examples.target.ids.values.dtype == np.int32
    assert examples.source.ids.lengths.tolist() == [sum(map(len, source)) for _, source, _ in expected]
    assert all(map(np.array_equal, arrays_of(pairs, linearised_parses), before)), "the arguments have changed"


@given(rows_of_pairs, st.booleans())
def test_sources_to_translate_are_enclosed_in_tags(rows, with_targets):
    pairs, _ = pairs_of(rows)
    examples = pairs if with_targets else Examples(id=pairs.id, source=pairs.source)
    enclosed = TASK.for_translation(examples)
    assert np.array_equal(enclosed.id, pairs.id)
    assert ids_and_words(enclosed.source) == ids_and_words(
        side_of_words([[[TR], *source, [TR]] for source, *_ in rows])
    )
    assert enclosed.target is examples.target


@given(st.lists(words, min_size=1, max_size=5), st.integers(0, 2))
def test_words_of_the_text_keep_their_numbers(sentences, prefix):
    plain = Examples(id=np.arange(len(sentences)), source=side_of_words(sentences))
    enclosed = TASK.for_translation(plain).source.word_of_subword
    width = prefix + int(enclosed.lengths.max()) + 1
    words_BS = enclosed.padded(fill=NO_WORD, offset=prefix, width=width)
    text_BS = plain.source.word_of_subword.padded(fill=NO_WORD, offset=prefix + 1, width=width)
    assert TASK.text_words(words_BS).tolist() == text_BS.tolist()
