"""Small random models and sentences, and what every component must prove on them; for tests of one's own components.

A component equals the baseline at its neutral setting, gives a sentence the same output alone and in a batch, changes
something otherwise, and has a gradient for every parameter.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from nmtcore.config.components import COMPONENTS
from nmtcore.config.features import LABEL_COLUMNS, ComponentSettings
from nmtcore.config.training import BASES, TrainingSettings
from nmtcore.features.examples import Examples, SideExamples
from nmtcore.features.ragged import Ragged
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import Batch, make_batch
from nmtcore.model.build import build_components, initialise_model
from nmtcore.model.components.base import Component
from nmtcore.syntax.trees import GOVERNOR_OF_ROOT, NO_GOVERNOR

VOCABULARY = 23
"""Subwords of the small models, special ones included."""

_UD_LABELS = {
    "upos": "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X",
    "deprel": "acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated "
    "expl fixed flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum root vocative "
    "xcomp",
}
_LABELS = {
    name: ["<none>", "<unk>", *_UD_LABELS.get(name, "a b c").split()] for name in (*LABEL_COLUMNS, "lemma", "feats")
}
RANDOM_LABELS = {"source": _LABELS, "target": _LABELS}
"""Label vocabularies of all columns of the feature files that have labels, by side; parts of speech and relations are
those of Universal Dependencies, so that components can look for one."""


def random_examples(count: int, seed: int, *, longest: int = 7) -> Examples:
    """Draw sentence pairs of up to `longest` words of one to three subwords, with random trees and labels.

    Trees are often non-projective or have several roots, and some sentences have no annotation.
    """
    random = np.random.default_rng(seed)
    source, target = (_random_side(random, count, longest) for _ in range(2))
    return Examples(id=np.arange(count), source=source, target=target)


def _random_side(random: np.random.Generator, count: int, longest: int) -> SideExamples:
    subword_counts = [random.integers(1, 4, random.integers(1, longest + 1)) for _ in range(count)]
    words = [np.repeat(np.arange(len(counts)), counts) for counts in subword_counts]
    return SideExamples(
        ids=Ragged.from_lists([random.integers(5, VOCABULARY, len(w)) for w in words], np.int32),
        word_of_subword=Ragged.from_lists(words, np.int32),
        features=random_features(random, subword_counts),
    )


def random_features(random: np.random.Generator, subword_counts: Sequence[np.ndarray]) -> dict[str, Ragged]:
    """Draw the columns of a feature file, consistent with each other; `subword_counts` has the subwords per word."""
    columns: dict[str, list] = {name: [] for name in ("governor", "parent_position", *LABEL_COLUMNS)}
    for counts in subword_counts:
        governors = _draw_governors(random, len(counts))
        parents = [word if governor < 0 else governor for word, governor in enumerate(governors)]
        columns["governor"].append(governors)
        columns["parent_position"].append((np.cumsum(counts) - (counts + 1) / 2)[parents])
        annotated = governors[0] != NO_GOVERNOR
        for name in LABEL_COLUMNS:
            columns[name].append(random.integers(1, len(_LABELS[name]), len(counts)) * annotated)
    columns |= {"lemma": columns["xpos"], "feats": columns["ccg"]}
    dtypes = {"parent_position": np.float32}
    return {name: Ragged.from_lists(lists, dtypes.get(name, np.int32)) for name, lists in columns.items()}


def _draw_governors(random: np.random.Generator, words: int) -> list[int]:
    """Draw a random tree, often non-projective or with several roots; sometimes return no annotation."""
    if random.random() < 0.15:
        return [NO_GOVERNOR] * words
    order = random.permutation(words)
    governors = [0] * words
    for i, word in enumerate(order):
        governors[word] = int(order[random.integers(0, i)]) if i and random.random() < 0.8 else GOVERNOR_OF_ROOT
    return governors


def small_model(
    *components: ComponentSettings,
    base: str | None = None,
    joint: bool = False,
    extra_components: Sequence[Component] = (),
    seed: int = 0,
    **settings: float | str,
) -> TranslationModel:
    """Make a small float64 model in evaluation mode, with components named by their kinds.

    `base` is the first that all components fit unless given; `settings` replace those of the model. Biases and norms
    are moved away from 0 and 1, so that tests notice if one is ignored.
    """
    base = base or next(base for base in BASES if all(base in component.bases for component in components))
    sizes = {"width": 16, "feed_forward": 24, "heads": 4, "encoder_layers": 3, "decoder_layers": 2, "dropout": 0.0}
    if base == "recurrent":
        settings = {name: value for name, value in settings.items() if name in ("width", "layers", "dropout")}
        sizes = {"width": 16, "layers": 2, "dropout": 0.0}
    values = BASES[base](**{**sizes, **settings})
    torch.manual_seed(seed)
    model = BASES.configured(base)(
        values,
        source_size=VOCABULARY,
        target_size=VOCABULARY,
        joint=joint,
        components=[*build_components(_by_kind(components), values, RANDOM_LABELS), *extra_components],
    )
    initialise_model(model, TrainingSettings.initialisation, TrainingSettings.uniform_range)
    model = model.double()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter += 0.1 * torch.randn_like(parameter)
    return model.eval()


def _by_kind(components: Sequence[ComponentSettings]) -> dict[str, ComponentSettings]:
    names = [COMPONENTS.name_of(settings) for settings in components]
    return {f"{name}_{i}" if name in names[:i] else name: components[i] for i, name in enumerate(names)}


def forced_logits(model: TranslationModel, batch: Batch) -> Tensor:
    """Score the vocabulary at every target position of a batch: (B, T, V)."""
    context = model.encode(batch)
    return model.logits(model.decode(batch.target_input_BT, context), context)


def _moved_model(settings: ComponentSettings) -> TranslationModel:
    """Make a small model with a component whose parameters are all away from 0."""
    model = small_model(settings)
    with torch.no_grad():
        for parameter in model.components.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return model


def _scores(model: TranslationModel, rows: Sequence[int]) -> Tensor:
    batch = make_batch(random_examples(6, seed=1), np.array(rows), model.components)
    with torch.no_grad():
        return forced_logits(model, batch)


def change_by(settings: ComponentSettings) -> float:
    """Return the largest change of a score of the vocabulary that a component with these settings makes.

    The models with and without it have the same weights otherwise. 0 means: it equals the baseline.
    """
    model, plain = _moved_model(settings), small_model(base=settings.bases[0])
    plain.load_state_dict({name: w for name, w in model.state_dict().items() if not name.startswith("components.")})
    return float((_scores(model, range(6)) - _scores(plain, range(6))).abs().max())


def change_by_batching(settings: ComponentSettings) -> float:
    """Return the largest difference between the scores of a sentence in a batch of one and in a batch of many."""
    model = _moved_model(settings)
    together, alone = _scores(model, range(6)), [_scores(model, [row])[0] for row in range(6)]
    return max(float((together[row, : len(scores)] - scores).abs().max()) for row, scores in enumerate(alone))


def unused_parameters(settings: ComponentSettings) -> list[str]:
    """Name the parameters of a component that training would not change: those without a gradient."""
    model = _moved_model(settings).train()
    batch = make_batch(random_examples(6, seed=1), np.arange(6), model.components)
    model.loss(batch).objective().backward()
    named = model.components[0].named_parameters()
    return [name for name, parameter in named if parameter.grad is None or not parameter.grad.any()]
