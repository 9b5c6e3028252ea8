"""Gate norms of whole targets against loops in float64, their files, and pairs of texts."""

import numpy as np
import pytest
import torch
from factories import build_tiny_model, examples_of, run_settings, side
from inference.tiny import PIECES, random_examples, write_bundle
from oracles import Recurrent as Oracle

from nmtcore.annotation.shards import ANNOTATION_SCHEMA, annotation_row
from nmtcore.config.components.settings import HeadSelectionSettings
from nmtcore.config.recurrent import RecurrentSettings
from nmtcore.errors import UserError
from nmtcore.features.examples import NO_WORD, Examples
from nmtcore.inference.bundle import load_bundle
from nmtcore.inference.gates import gate_norms, plain_line, read_gates, write_gates
from nmtcore.inference.schemas import GATES_SCHEMA, GatedSentence, shades
from nmtcore.inference.text import read_text
from nmtcore.parquet import open_file, read_rows, write_rows
from nmtcore.segmentation.vocabulary import BOS, EOS, Vocabulary
from nmtcore.syntax.annotation import Annotation, failed

RECURRENT = {"base": "recurrent", "model": RecurrentSettings(width=16)}
WITH_GATES = {
    "tree": HeadSelectionSettings(),
    "separate": HeadSelectionSettings(annotations="separate"),
    "flat": HeadSelectionSettings(weights="flat"),
    "hard": HeadSelectionSettings(hard=True),
}
WITHOUT_GATES = {"nmt": [], "one_set": [HeadSelectionSettings(annotations="one_set")]}
SENTENCE = GatedSentence("A <b> & c", ["x@@", '<script>"', "&", "é"], np.array([2.0, 3.0, 2.5, 2.25]))
TAGGED = Annotation(upos=["DET", "NOUN"])


def model_of(*components):
    model = build_tiny_model(run_settings(*components, **RECURRENT), vocabulary=17)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return model.double().eval()


def draw_pairs():
    """Draw pairs with sources of 1 to 4 subwords, since the oracle enumerates their trees."""
    source, target = random_examples(12, seed=1, longest=4), random_examples(12, seed=2)
    examples = Examples(id=source.id, source=source.source, target=target.source)
    return examples.take(np.flatnonzero(source.source.ids.lengths))


@pytest.mark.parametrize("selection", WITH_GATES)
def test_norms_equal_loops_in_any_batch(selection):
    model, examples = model_of(WITH_GATES[selection]), draw_pairs()
    norms = gate_norms(model, examples)
    alone = [gate_norms(model, examples.take(np.array([row])))[0] for row in range(len(examples))]
    for row, (norms_T, alone_T) in enumerate(zip(norms, alone, strict=True)):
        source, target = [*examples.source.ids[row], EOS], [BOS, *examples.target.ids[row]]
        expected_T = Oracle(model).gate_norms(source, target)
        np.testing.assert_allclose(norms_T, expected_T, atol=1e-5)
        np.testing.assert_allclose(alone_T, expected_T, atol=1e-5)
        assert norms_T.dtype == np.float32


@pytest.mark.parametrize("system", WITHOUT_GATES)
def test_models_without_a_gate_in_the_decoder_are_refused(tmp_path, system):
    bundle = load_bundle(write_bundle(tmp_path / "model", run_settings(*WITHOUT_GATES[system], **RECURRENT)))
    with pytest.raises(UserError, match=r"^The system tiny has no gate in the decoder\. Use a model of another system"):
        read(bundle, ["the"], ["the"])


def written(tmp_path, annotations, *, ids=None):
    """Write the gates of two pairs with a tag and three subwords of two words, and nothing."""
    target = side([[8, 5, 6, 7], []], [[NO_WORD, 0, 1, 1], []])
    examples = examples_of(side([[5], [6]]), target)
    norms = [np.array([1, 1.5, 3, 2, 0.5], dtype=np.float32), np.array([0.25], dtype=np.float32)]
    tags = None
    if annotations is not None:
        rows = map(annotation_row, range(len(annotations)) if ids is None else ids, annotations)
        tags = tmp_path / "tags.parquet"
        write_rows(tags, ANNOTATION_SCHEMA, rows)
    files = {"tokens": tmp_path / "tokens.parquet", "tags": tags}
    write_gates(tmp_path / "gates.parquet", examples, norms, Vocabulary.of(PIECES), **files)
    with open_file(tmp_path / "gates.parquet") as file:
        assert file.schema_arrow.equals(GATES_SCHEMA)
    return list(read_rows(tmp_path / "gates.parquet"))


def test_every_subword_has_the_tag_of_its_word(tmp_path):
    first, second = written(tmp_path, [TAGGED, Annotation(upos=[])])
    assert first == {
        "id": 0,
        "pieces": [PIECES[3], *PIECES[:3], "</s>"],
        "words": [-1, 0, 1, 1, -1],
        "upos": [None, "DET", "NOUN", "NOUN", None],
        "norms": [1, 1.5, 3, 2, 0.5],
    }
    assert second == {"id": 1, "pieces": ["</s>"], "words": [-1], "upos": [None], "norms": [0.25]}


@pytest.mark.parametrize("annotations", [None, [failed("too long"), failed("empty")]])
def test_sentences_without_tags_have_null(tmp_path, annotations):
    assert [row["upos"] for row in written(tmp_path, annotations)] == [None, None]


def test_tags_of_other_words_or_pairs_are_refused(tmp_path):
    with pytest.raises(UserError, match=r"tags\.parquet: the row with id 0 has 3 tags, but 2 words: delete the file"):
        written(tmp_path, [Annotation(upos=["DET", "NOUN", "PUNCT"]), Annotation(upos=[])])
    with pytest.raises(UserError, match=r"Row 1 is pair 1 in .*tokens\.parquet, but pair 5 in .*tags\.parquet"):
        written(tmp_path, [TAGGED, Annotation(upos=[])], ids=[0, 5])
    with pytest.raises(UserError, match=r"tokens\.parquet has 2 rows, but .*tags\.parquet has 1"):
        written(tmp_path, [TAGGED])


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    run = run_settings(HeadSelectionSettings(), **RECURRENT)
    return load_bundle(write_bundle(tmp_path_factory.mktemp("gates") / "model", run))


def read(bundle, source, target):
    return list(read_gates(bundle, read_text(source, where="text.en"), read_text(target, where="text.de")))


def test_pairs_of_lines_are_read_in_order(bundle, monkeypatch):
    monkeypatch.setattr("nmtcore.inference.text.MAX_CHARACTERS", 12)
    source = [b"the cat\n", b"\n", b"the dog the do\n", b"cat\n", b"cat"]
    target = ["dog cath \u6f22\n", "the\n", "a\n", "  \n", "the cat\n"]
    sentences = read(bundle, source, target)
    assert [sentence.source for sentence in sentences] == ["the cat", "", "the dog the do", "cat", "cat"]
    assert [" ".join(sentence.pieces).replace("@@ ", "") for sentence in sentences] == [
        "dog cath \u6f22", "", "a", "", "the cat",
    ]  # fmt: skip
    assert len(sentences[0].pieces) > 3
    for sentence in (sentences[0], sentences[2], sentences[4]):
        vocabularies = bundle.source_vocabulary, bundle.target_vocabulary
        pieces = bundle.source_segmenter.segment(sentence.source.split()).pieces, sentence.pieces
        source_ids, target_ids = (v.ids(p) for v, p in zip(vocabularies, pieces, strict=True))
        expected_T = Oracle(bundle.model).gate_norms([*source_ids, EOS], [BOS, *target_ids])
        np.testing.assert_allclose(sentence.norms, expected_T[:-1], atol=1e-5)


def test_lines_show_the_norms_and_mark_the_largest():
    assert shades(SENTENCE.norms).tolist() == [0, 1, 0.5, 0.25]
    assert plain_line(SENTENCE) == 'x@@[2.00] *<script>"[3.00] &[2.50] é[2.25]'
    equal = SENTENCE._replace(norms=np.array([3.0] * 4))
    assert plain_line(equal) == '*x@@[3.00] *<script>"[3.00] *&[3.00] *é[3.00]'
    assert plain_line(GatedSentence("", [], np.zeros(0))) == ""
