"""Small models and random pairs with random trees."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from nmtcore.config.components import ComponentSettings
from nmtcore.config.model import TransformerSettings
from nmtcore.features.examples import Examples, SideExamples
from nmtcore.features.ragged import Ragged
from nmtcore.model.build import build_components, initialise
from nmtcore.model.transformer import Transformer

VOCABULARY = 23


def _governors(random: np.random.Generator, words: int) -> list[int]:
    """A random tree, often non-projective and with several roots; now and then no annotation at all."""
    if random.random() < 0.15:
        return [-2] * words
    order = random.permutation(words)
    governors = [0] * words
    for i, word in enumerate(order):
        governors[word] = int(order[random.integers(0, i)]) if i and random.random() < 0.8 else -1
    return governors


def _draw(count: int, seed: int, *, longest: int = 7) -> Examples:
    random = np.random.default_rng(seed)

    def side(with_trees: bool) -> SideExamples:
        pieces = [random.integers(1, 4, random.integers(1, longest + 1)) for _ in range(count)]
        words = [np.repeat(np.arange(len(p)), p) for p in pieces]
        governors = [_governors(random, len(p)) for p in pieces]
        return SideExamples(
            ids=Ragged.from_lists([random.integers(5, VOCABULARY, len(w)) for w in words], np.int32),
            word_of_subword=Ragged.from_lists(words, np.int32),
            syntax={"governor": Ragged.from_lists(governors, np.int32)} if with_trees else {},
        )

    return Examples(id=np.arange(count), source=side(True), target=side(False))


def _make(
    *components: ComponentSettings, joint: bool = False, parts: tuple = (), seed: int = 0, **settings
) -> Transformer:
    torch.manual_seed(seed)
    sizes = {"width": 16, "feed_forward": 24, "heads": 4, "encoder_layers": 3, "decoder_layers": 2, "dropout": 0.0}
    settings = TransformerSettings(**{**sizes, **settings})
    built = [*build_components(components, settings), *parts]
    model = Transformer(
        settings, source_size=VOCABULARY, target_size=VOCABULARY, joint=joint, components=built
    ).double()
    initialise(model)
    # Biases and norms away from 0 and 1, so that leaving one out shows.
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter += 0.1 * torch.randn_like(parameter)
    return model.eval()


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def draw() -> Callable[..., Examples]:
    """draw(count, seed): random pairs."""
    return _draw


@pytest.fixture(scope="session")
def make() -> Callable[..., Transformer]:
    """make(*component settings, parts=components, **settings): a small float64 model in evaluation mode."""
    return _make
