"""Syntax in neural machine translation: corpora, trees, models and scores.

A suffix in the name of an array or tensor gives its shape, one letter per dimension: `scores_BHQK` holds one score per
sentence, head, query and key. Everything of a fixed shape has a suffix. Digits are literal sizes. The letters:

    A  repeated draws: trials of language detection, bootstrap samples of a test
    B  sentences of a batch or of a test
    C  candidates for the next token
    D  width of the model
    E  width of one attention head
    F  width of a feature embedding
    G  gates of an LSTM (4 * D)
    H  attention heads
    I  frequencies of the sinusoid table (D / 2); inputs of a linear layer
    J  real subwords of one side of a batch, flattened
    K  key positions (attention only)
    L  labels
    M  beams per sentence
    N  real target tokens of a batch, flattened
    P  positions of the sinusoid table
    Q  query positions (attention only)
    R  rows of a search (B * M); runs of a system, one per seed
    S  source positions: prefix, subwords, `</s>` (in code for either side of a batch: positions of that side)
    T  target positions: `<s>` and subwords, or subwords and `</s>`
    U  nodes of a tree: words, and artificial nodes such as the root
    V  vocabulary entries
    W  words: of a sentence, or of a batch, flattened
    X  extensions of a sentence's beams by one token (M * V)
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nmtcore.api import Model, load
    from nmtcore.errors import UserError

__version__ = "0.1.0"
__all__ = ["Model", "UserError", "load"]


def __getattr__(name: str) -> Any:
    """Import what programs use when they use it."""
    if name not in __all__:
        raise AttributeError(f"module 'nmtcore' has no attribute '{name}'")
    from nmtcore import api

    return getattr(api, name)
