"""Components that read target tags, in models that are also trained to parse: only translations have tags."""

import numpy as np
import torch
from factories import build_tiny_model, examples_of, run_settings, side

from nmtcore.annotation.labels import LABEL_SPECIALS
from nmtcore.config.components.settings import TagAttentionSettings
from nmtcore.config.transforms import ParsingTaskSettings
from nmtcore.features.examples import LinearisedParses
from nmtcore.features.transforms.chain import Transforms
from nmtcore.model.batch import make_batch
from nmtcore.segmentation.vocabulary import Vocabulary

VOCABULARY = Vocabulary.of(["a", "b", "c", "d"]).extended(["<TR>", "<PA>"])


def test_linearised_parses_train_their_words_alone():
    run = run_settings(TagAttentionSettings(), transforms={"parsing_task": ParsingTaskSettings()})
    labels = {"source": {}, "target": {"ccg": [*LABEL_SPECIALS, "N", "NP/N"]}}
    transforms = Transforms.of(run, dict.fromkeys(("source", "target"), VOCABULARY), labels)
    model = build_tiny_model(run, vocabulary=len(VOCABULARY), labels=labels).double().eval()
    pairs = examples_of(side([[5, 6], [7]]), side([[6, 7, 8], [5]], [[0, 1, 1], [0]], features={"ccg": [[3, 2], [2]]}))
    parses = LinearisedParses(available=np.array([True, True]), target=side([[8, 8, 5, 8], [5, 8]]))
    both = transforms.for_training(pairs, parses)
    translations = both.take(np.flatnonzero(both.id >= 0))
    assert (len(both), len(translations)) == (4, 2)

    batch, translated = (
        make_batch(examples, np.arange(len(examples)), tuple(model.components)) for examples in (both, translations)
    )
    assert batch.counts["tag_attention"] == translated.counts["tag_attention"] == 3 + 1 + 2
    assert batch.counts["translation"] == translated.counts["translation"] + 4 + 2 + 2
    with torch.no_grad():
        (_, own), (_, expected) = (model.loss(each).parts for each in (batch, translated))
    torch.testing.assert_close(own.sum, expected.sum)
