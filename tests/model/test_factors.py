"""Factors of the source's words: their embeddings against loops, the case of one, and the random control."""

import math
from collections import Counter

import numpy as np
import pytest
import torch
from factories import forced_logits
from model.comparing import check_baseline, check_batching, check_logits
from named_components import by_name
from oracles import TransformerOracle

from nmtcore.config.components import DepParseSettings, FactorsSettings, SennrichHaddowSettings
from nmtcore.config.training import TransformerSettings
from nmtcore.errors import UserError
from nmtcore.model.batch import make_batch
from nmtcore.model.build import build_components

COLUMNS = {"upos": 3, "deprel": 5, "ccg": 2}
MOST = 8
"""Fewer labels than `deprel` and `upos` have, and more than `ccg`."""


def ids_by_hand(examples, row, column, count, *, prefix=0):
    """Return the label id of every token of a sentence: rare labels are unknown, then come `</s>` and a prefix."""
    words = [int(label) if label < count else 1 for label in examples.source.features[column][row]]
    return [count + 1] * prefix + [words[word] for word in examples.source.word_of_subword[row]] + [count]


def embedded_by_hand(weights, settings, labels, token_vectors):
    """Concatenate with the embeddings of labels, or add their product with the matrix; `labels` are by column."""
    matrices = [weights["embedding" if n == 0 else f"embedding_{n + 1}"] for n in range(len(settings.columns))]
    vectors = []
    for position, vector in enumerate(token_vectors):
        factors = [x for matrix, ids in zip(matrices, labels, strict=True) for x in matrix[ids[position]]]
        if settings.combine == "add":
            vectors.append([x + np.dot(row, factors) for x, row in zip(vector, weights["projection"], strict=True)])
        else:
            vectors.append([*vector[: len(vector) - len(factors)], *factors])
    return np.array(vectors)


def weights_of(component):
    return {name.removesuffix(".weight"): tensor.detach().numpy() for name, tensor in component.named_parameters()}


class FactorsOracle(TransformerOracle):
    """The oracle of one sentence with factors as the first component."""

    def __init__(self, model, settings, labels):
        super().__init__(model)
        self.factors, self.matrices, self.labels = settings, weights_of(model.components[0]), labels

    def scaled_embeddings(self, name, ids):
        embedded = super().scaled_embeddings(name, ids)
        if name == "source_embedding":
            return embedded_by_hand(self.matrices, self.factors, self.labels, embedded)
        return embedded


def moved(model):
    """Move the component's matrix away from 0."""
    for parameter in model.components[0].parameters():
        torch.nn.init.normal_(parameter)
    return model


@pytest.mark.parametrize("combine", ["concatenate", "add"])
@pytest.mark.parametrize("prefix", [0, 1])
def test_logits_equal_those_of_the_oracle(make, draw, labels, combine, prefix):
    settings = FactorsSettings(columns=COLUMNS, combine=combine, most=MOST)
    model = moved(make(settings, *[DepParseSettings(layer=1)] * prefix, seed=4))
    examples, counts = draw(6, seed=8), [min(len(labels["source"][column]), MOST + 2) for column in COLUMNS]
    assert counts == [MOST + 2, MOST + 2, 5]
    entries = list(zip(COLUMNS, counts, strict=True))
    batch = make_batch(examples, np.arange(6), model.components)
    check_logits(
        model,
        batch,
        lambda row: FactorsOracle(
            model, settings, [ids_by_hand(examples, row, *entry, prefix=prefix) for entry in entries]
        ),
    )


@pytest.mark.parametrize("combine", ["concatenate", "add"])
@pytest.mark.parametrize("random", [False, True])
def test_a_recurrent_model_reads_factors_of_the_sentence_alone_too(make, draw, labels, combine, random):
    settings = FactorsSettings(columns=COLUMNS, combine=combine, random=random)
    model, examples = moved(make(settings, base="recurrent")), draw(6, seed=7)
    check_batching(model, examples)
    (component,), batch = model.components, make_batch(examples, np.arange(6), model.components)
    tokens_BSD = torch.randn(*batch.source_BS.shape, 16, dtype=torch.float64)
    embedded_BSD = component.embed_source(tokens_BSD, model.encode(batch)).detach().numpy()
    for row in range(0 if random else 6):
        ids = [ids_by_hand(examples, row, column, len(labels["source"][column])) for column in COLUMNS]
        expected = embedded_by_hand(weights_of(component), settings, ids, tokens_BSD[row, : len(ids[0])].numpy())
        np.testing.assert_allclose(embedded_BSD[row, : len(ids[0])], expected, rtol=1e-9)


@pytest.mark.parametrize("base", ["transformer", "recurrent"])
def test_added_factors_are_the_baseline_at_first(make, draw, base):
    model, plain = make(FactorsSettings(columns=COLUMNS, combine="add"), base=base), make(base=base)
    batch = make_batch(draw(5, seed=3), np.arange(5), model.components)
    check_baseline(model, plain, batch)
    assert model.components[0].projection.weight.grad.any(), "it learns"
    assert not torch.allclose(forced_logits(moved(model), batch), forced_logits(plain, batch), atol=1e-3)


def test_sennrich_haddow_is_the_case_of_one_factor(make, draw):
    """Names, the order of random draws and numbers are the same."""
    models = [make(own, seed=5) for own in (SennrichHaddowSettings(width=7), FactorsSettings(columns={"deprel": 7}))]
    states = [model.state_dict() for model in models]
    assert list(states[0]) == list(states[1])
    assert "components.0.embedding.weight" in states[0]
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
    batches = [make_batch(draw(4, seed=1), np.arange(4), model.components) for model in models]
    assert torch.equal(*(forced_logits(model, batch) for model, batch in zip(models, batches, strict=True)))


def test_random_labels_depend_on_the_numbers_of_sentence_and_word_alone(make, draw, redraw, labels):
    settings = FactorsSettings(columns=COLUMNS, random=True)
    (component,), examples = make(settings).components, draw(300, seed=2)
    order = np.random.default_rng(0).permutation(300)
    whole, again = (make_batch(examples, rows, [component]).extra for rows in (np.arange(300), order))
    counts, drawn = Counter(), {}
    for column in COLUMNS:
        ids_BS, name = whole[f"factors.{column}"].numpy(), f"factors.{column}"
        for place, row in enumerate(order):
            words, given = examples.source.word_of_subword[row], examples.source.features[column][row]
            ids = ids_BS[row, : len(words)].tolist()
            assert again[name][place, : len(words) + 1].tolist() == ids_BS[row, : len(words) + 1].tolist()
            of_words = dict(zip(words.tolist(), ids, strict=True))
            assert [of_words[word] for word in words] == ids, "all subwords of a word have its label"
            assert all((label == 0) == (of_words[word] == 0) for word, label in enumerate(given))
            assert ids_BS[row, len(words)] == len(labels["source"][column]), "</s>"
            drawn[column, row] = of_words
            counts.update((column, label) for label in of_words.values() if label)
    others = redraw(examples, seed=1)
    assert others.source.features["upos"][0].tolist() != examples.source.features["upos"][0].tolist()
    first, redrawn = (make_batch(own, np.arange(1), [component]).extra["factors.upos"] for own in (examples, others))
    assert torch.equal(first, redrawn), "other labels change nothing"
    total = sum(count for (column, _), count in counts.items() if column == "ccg")
    for label in (2, 3, 4):
        assert abs(counts["ccg", label] - total / 3) < 4 * math.sqrt(total * 2 / 9)
    assert {label for column, label in counts if column == "deprel"} == set(range(2, len(labels["source"]["deprel"])))
    assert any(drawn["upos", row] != drawn["deprel", row] for row in range(300))


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({}, "columns must name one at least"),
        ({"lema": 3}, "unknown feature 'lema'. Did you mean lemma?"),
        ({"feats.": 3}, "unknown feature 'feats.'"),
        ({"UPOS/upos": 3}, "unknown feature 'UPOS/upos'"),
    ],
)
def test_unknown_columns_are_errors(values, sentence):
    with pytest.raises(ValueError, match=sentence.replace("?", "[?]")):
        FactorsSettings(columns=values)


def test_factors_leave_dimensions_for_the_token_and_need_labels():
    settings = FactorsSettings(columns={"upos": 9, "deprel": 7})
    with pytest.raises(ValueError, match="width 16 leaves nothing of a token's embedding of width 16"):
        settings.claims(TransformerSettings(width=16, heads=4))
    assert FactorsSettings(columns={"upos": 16}, combine="add").claims(TransformerSettings(width=16, heads=4)) == ()
    vocabularies = {"source": {"upos": ["<none>", "<unk>", "X"], "deprel": ["<none>", "<unk>"]}}
    with pytest.raises(UserError, match=r"reads the deprel of the source's words, .* in demo_en2de, only upos[.] Name"):
        build_components(by_name(settings), TransformerSettings(), vocabularies, dataset="demo_en2de")
