"""Models written for CTranslate2, compared with nmtcore's own search by the real library; and those that cannot be."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from conftest import skip_unless_ci
from factories import MODEL, build_tiny_model, run_settings, side
from inference.tiny import random_examples, trained_briefly

from nmtcore.annotation.labels import LABEL_SPECIALS
from nmtcore.config.bases import RecurrentSettings
from nmtcore.config.components import COMPONENTS
from nmtcore.config.components.settings import (
    DepParseSettings,
    DiagonalParseSettings,
    HeadSelectionSettings,
    LabelHeadSettings,
    MultitaskSettings,
    PascalSettings,
    RelativePositionsSettings,
    SennrichHaddowSettings,
    SisaSettings,
    TagAttentionSettings,
    TreeDistanceSettings,
    TreeHeadSettings,
    TreeTraversalSettings,
)
from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.config.training import DecodingSettings
from nmtcore.errors import UserError
from nmtcore.inference.ctranslate2_model import check_exportable, write_model
from nmtcore.inference.search import NEVER_GENERATED, translate_examples
from nmtcore.model.batch import make_batch
from nmtcore.model.components.base import Build, Component
from nmtcore.segmentation.vocabulary import SPECIALS

try:
    import ctranslate2
except ModuleNotFoundError:
    ctranslate2 = None

VOCABULARY = 40
ENTRIES = (*SPECIALS, *(f"t{i}" for i in range(len(SPECIALS), VOCABULARY)))
LIMIT = 30
_ENTRIES = [*LABEL_SPECIALS, "a"]
LABELS = {"source": dict.fromkeys(("upos", "deprel"), _ENTRIES), "target": {"ccg": _ENTRIES}}


def model_of(*components, joint=True, base="transformer", **changes):
    """Make a model with random weights."""
    model = RecurrentSettings(width=16) if base == "recurrent" else replace(MODEL, **changes)
    segmentation = SegmentationSettings(kind="bpe", size=6, joint=joint)
    run = run_settings(*components, segmentation=segmentation, base=base, model=model)
    return build_tiny_model(run, vocabulary=VOCABULARY, seed=4, labels=LABELS).eval()


def sources_of(model, examples):
    prefix = [i for component in model.components for i in component.source_prefix]
    ids = examples.source.ids
    rows = np.split(ids.values, ids.offsets[1:-1])
    return [[ENTRIES[i] for i in (*prefix, *row)] for row in rows]


def log_probabilities(model, examples, hypotheses):
    """Compute the log probabilities of hypotheses, among the entries that can be generated."""
    ids = [[ENTRIES.index(entry) for entry in hypothesis] for hypothesis in hypotheses]
    pairs = replace(examples, target=side(ids))
    batch = make_batch(pairs, np.arange(len(pairs)), tuple(model.components))
    encoded = model.encode(batch)
    logits_NV = model.logits(model.forced_states(batch, encoded), encoded.context)
    logits_NV[:, list(NEVER_GENERATED)] = -torch.inf
    targets_N = batch.target_output_BT.flatten()[batch.target_positions_N]
    chosen_N = logits_NV.log_softmax(-1).gather(1, targets_N[:, None])[:, 0].detach()
    return [part.sum().item() for part in chosen_N.split([len(row) + 1 for row in ids])]


EQUAL = {
    "pre-norm": ((), {}),
    "post-norm": ((), {"norm": "post"}),
    "separate vocabularies": ((), {"joint": False}),
    "layers": ((), {"encoder_layers": 3, "decoder_layers": 1}),
    "no positions": ((), {"positions": "none"}),
    "a parser head with <ROOT>": ((DepParseSettings(layer=1),), {}),
    "two parser heads": ((DepParseSettings(layer=0), DiagonalParseSettings(layer=1, head=0)), {"norm": "post"}),
    "tags as a second task": ((MultitaskSettings(),), {}),
    "relative positions": ((RelativePositionsSettings(maximum=3),), {}),
}


@pytest.mark.parametrize(("components", "changes"), EQUAL.values(), ids=EQUAL)
def test_greedy_output_is_equal_and_beam_scores_are_close(components, changes, tmp_path):
    if ctranslate2 is None:
        skip_unless_ci("ctranslate2 is not installed")
    model = trained_briefly(model_of(*components, **changes), vocabulary=VOCABULARY)
    check_exportable(model, where="M")
    write_model(model, tmp_path, source_entries=ENTRIES, target_entries=ENTRIES, longest=64)
    translator = ctranslate2.Translator(str(tmp_path), intra_threads=1)
    examples = random_examples(50, longest=20, vocabulary=VOCABULARY)
    examples = examples.take((examples.source.ids.lengths > 0).nonzero()[0])
    sources = sources_of(model, examples)

    settings = DecodingSettings(beam=1, max_length=LIMIT, max_length_ratio=None, length_penalty="none")
    own = [[ENTRIES[i] for i in best[0].tokens] for best in translate_examples(model, examples, settings)]
    results = translator.translate_batch(sources, beam_size=1, min_decoding_length=0, max_decoding_length=LIMIT)
    assert [result.hypotheses[0] for result in results] == own
    assert sum(len(entries) < LIMIT for entries in own) > 20
    assert len(set(map(tuple, own))) > 10

    searched = translate_examples(model, examples, replace(settings, beam=4))
    results = translator.translate_batch(
        sources,
        beam_size=4,
        min_decoding_length=0,
        max_decoding_length=LIMIT,
        length_penalty=0,
        return_scores=True,
    )
    # CTranslate2 leaves out the `</s>` of a translation that reaches the limit.
    ended = [i for i, result in enumerate(results) if len(result.hypotheses[0]) < LIMIT]
    assert len(ended) > 20
    chosen = examples.take(ended)
    scores = np.array([results[i].scores[0] for i in ended])
    expected = log_probabilities(model, chosen, [results[i].hypotheses[0] for i in ended])
    np.testing.assert_allclose(scores, expected, atol=2e-3)
    own_scores = log_probabilities(model, chosen, [[ENTRIES[t] for t in searched[i][0].tokens] for i in ended])
    assert (abs(scores - own_scores) < 2e-3).mean() > 0.4


REFUSED = {
    "pascal": [PascalSettings(heads=1)],
    "sisa": [SisaSettings()],
    "label_head": [LabelHeadSettings()],
    "tree_distance": [TreeDistanceSettings(maximum=5)],
    "tree_traversal": [TreeTraversalSettings()],
    "tree_head": [TreeHeadSettings()],
    "sennrich_haddow": [SennrichHaddowSettings(width=4)],
    "tag_attention": [TagAttentionSettings()],
    "relative_positions_2": [RelativePositionsSettings(maximum=2), RelativePositionsSettings(maximum=3)],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_changes_translation_is_refused(name):
    with pytest.raises(UserError, match=rf"^M cannot be exported: its component {name} is not a part of a plain trans"):
        check_exportable(model_of(*REFUSED[name]), where="M")


def test_each_component_is_either_compared_or_refused():
    """So a new one needs a decision."""
    compared = [
        type(own) for components in (*REFUSED.values(), *(own for own, _ in EQUAL.values())) for own in components
    ]
    assert {*compared, HeadSelectionSettings} == set(COMPONENTS.values())


def test_a_component_of_ones_own_is_refused():
    """Nobody has compared it with CTranslate2."""
    model = build_tiny_model(
        run_settings(), vocabulary=VOCABULARY, extra_components=[Component(None, Build(name="own"))]
    )
    with pytest.raises(UserError, match="its component own is not a part of a plain transformer"):
        check_exportable(model, where="M")
