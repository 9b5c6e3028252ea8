"""Gate norms of whole targets against loops in float64, and their files."""

import numpy as np
import pytest
import torch
from factories import build_tiny_model, examples_of, run_settings, side
from inference.tiny import PIECES, random_examples
from oracles import Recurrent as Oracle

from nmtcore.annotation.shards import ANNOTATION_SCHEMA, annotation_row
from nmtcore.config.bases import RecurrentSettings
from nmtcore.config.components.settings import HeadSelectionSettings
from nmtcore.errors import UserError
from nmtcore.features.examples import NO_WORD, Examples
from nmtcore.inference.schemas import GATES_SCHEMA
from nmtcore.inference.scoring import gate_norms, write_gates
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


def test_tags_of_other_pairs_are_refused(tmp_path):
    with pytest.raises(UserError, match=r"Row 1 is pair 1 in .*tokens\.parquet, but pair 5 in .*tags\.parquet"):
        written(tmp_path, [TAGGED, Annotation(upos=[])], ids=[0, 5])
    with pytest.raises(UserError, match=r"tokens\.parquet has 2 rows, but .*tags\.parquet has 1"):
        written(tmp_path, [TAGGED])
