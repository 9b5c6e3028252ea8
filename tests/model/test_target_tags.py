"""Components that predict tags of the target: against plain loops and the baseline, and the weight of their loss."""

import dataclasses

import numpy as np
import pytest
import torch
from factories import forced_logits
from model.comparing import check_baseline, fixed_dropout

from nmtcore.config.components import MultitaskSettings, TagAttentionSettings
from nmtcore.model.batch import make_batch

BASES = ("transformer", "recurrent")
SETTINGS = {
    "soft": TagAttentionSettings(width=6),
    "hard": TagAttentionSettings(width=6, choice="hard"),
    "gumbel": TagAttentionSettings(width=6, choice="gumbel"),
    "multitask": MultitaskSettings(hidden=5),
}
EVERY = pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)


def batch_of(model, examples):
    return make_batch(examples, np.arange(len(examples)), tuple(model.components))


def tags_of(examples, row):
    """List the tag of every target token of a sentence, with a plain loop; NO_LABEL (0) if it has none."""
    words, tags = examples.target.word_of_subword[row], examples.target.features["ccg"][row]
    listed = [int(tags[word]) for word in words]
    return [*listed, 5 if any(listed) else 0]


def scores_by_hand(component, state_D):
    """Score the tags of one position."""
    if isinstance(component.settings, MultitaskSettings):
        return component.scores.weight @ torch.tanh(component.hidden.weight @ state_D + component.hidden.bias)
    query = component.query.weight @ state_D
    return torch.stack([query @ key for key in component.keys.weight])


def states_by_hand(component, state_D):
    """Change the state of one position."""
    if isinstance(component.settings, MultitaskSettings):
        return state_D
    weights = torch.softmax(scores_by_hand(component, state_D), dim=0)
    if component.settings.choice != "soft":
        weights = torch.eye(len(weights), dtype=weights.dtype)[weights.argmax()]
    mixed = sum(weight * value for weight, value in zip(weights, component.values.weight, strict=True))
    return state_D + component.output.weight @ mixed


@pytest.mark.parametrize("training", [False, True])
@EVERY
@pytest.mark.parametrize("base", BASES)
def test_logits_scores_loss_and_accuracy_equal_a_loop(settings, base, training, make, draw):
    """In training as in evaluation, since only the base has dropout; but Gumbel noise has no loop."""
    training = training and settings is not SETTINGS["gumbel"]
    model, examples = make(settings, base=base).train(training), draw(6, seed=2)
    component, batch = model.components[0], batch_of(model, examples)
    with torch.no_grad(), fixed_dropout():
        states_BTD = model.decode(batch.target_input_BT, model.encode(batch))
        logits_BTV, losses = forced_logits(model, batch), model.loss(batch)
        scores_NL = model.tag_scores(batch)
    loss, count, correct, position = 0.0, 0, 0, 0
    assert any(not any(tags_of(examples, row)) for row in range(6))
    for row in range(6):
        for t, tag in enumerate(tags_of(examples, row)):
            state_D = states_BTD[row, t]
            expected = model.target_embedding.weight @ states_by_hand(component, state_D)
            expected = expected if model.output_bias is None else expected + model.output_bias
            torch.testing.assert_close(logits_BTV[row, t], expected)
            log_L = scores_by_hand(component, state_D).log_softmax(0)
            torch.testing.assert_close(scores_NL[position], log_L)
            position += 1
            if tag:
                loss, count, correct = loss - log_L[tag], count + 1, correct + int(log_L.argmax() == tag)
    part = losses.parts[1]
    assert (part.count, part.weight) == (count, 1.0)
    torch.testing.assert_close(part.sum, loss)
    assert losses.measures == ({} if training else {f"accuracy/{component.name}": correct})


@EVERY
@pytest.mark.parametrize("base", BASES)
def test_zero_values_and_a_weight_of_zero_equal_the_baseline(settings, base, make, draw):
    model = make(dataclasses.replace(settings, weight=0.0), base=base)
    if not isinstance(settings, MultitaskSettings):
        with torch.no_grad():
            model.components[0].values.weight.zero_()
    check_baseline(model, make(base=base), batch_of(model, draw(4, seed=3)))
    if isinstance(settings, MultitaskSettings):
        assert all(parameter.grad is None for parameter in model.components.parameters())


@EVERY
def test_sentences_without_tags_have_loss_zero_and_finite_gradients(settings, make, draw):
    model, examples = make(settings), draw(3, seed=7)
    examples.target.features["ccg"].values[:] = 0
    losses = model.loss(batch_of(model, examples))
    assert (losses.parts[1].sum, losses.parts[1].count) == (0, 0)
    losses.objective().backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


def test_gumbel_samples_in_training_only(make, draw):
    model, examples = make(SETTINGS["gumbel"]), draw(3, seed=1)
    batch = batch_of(model, examples)
    with torch.no_grad():
        assert torch.equal(forced_logits(model, batch), forced_logits(model, batch))
        model.train()
        torch.manual_seed(1)
        first = forced_logits(model, batch)
        torch.manual_seed(1)
        assert torch.equal(first, forced_logits(model, batch))
        assert not torch.equal(first, forced_logits(model, batch))


@pytest.mark.parametrize(
    ("options", "weights"),
    [({}, [1, 0.65, 0.65**2, 0.65**3, 0.65**4, 0.65**5, 0, 0]), ({"decay": 0.5, "least": 0.25}, [1, 0.5, 0, 0])],
    ids=["thesis", "ends where it is the least"],
)
def test_the_weight_of_the_loss_decays_until_it_ends(options, weights, make):
    (component,) = make(TagAttentionSettings(**options)).components
    logged = []
    for epoch in range(1, len(weights) + 1):
        component.begin_epoch(epoch)
        logged.append(component.loss_weight)
    assert logged == pytest.approx(weights)
