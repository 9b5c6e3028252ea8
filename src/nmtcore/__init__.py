"""Syntax in neural machine translation: corpora, trees, models and scores.

A suffix in the name of an array or tensor gives its shape, one letter per dimension: `scores_BHQK` holds one score per
sentence, head, query and key. Everything of a fixed shape has a suffix. Digits are literal sizes. The letters, each of
which means one thing; every file begins with those that it uses:

    A  draws: trials of language detection, bootstrap samples of a test, random trees
    B  sentences: of a batch or of a test
    C  candidates: for the next token
    D  width: of the model
    E  head width: the width of one attention head
    F  features: of an embedding of labels, or what a metric counts
    G  gates: of an LSTM (4 * D)
    H  heads: of attention
    I  inputs: of a linear layer
    J  subwords: the real ones of one side of a batch, flattened
    K  keys: key positions of attention
    L  labels
    M  beams: per sentence
    N  target tokens: the real ones of a batch, flattened
    O  packed: linear layers that are computed as one
    Q  queries: query positions of attention
    R  runs: of a system, one per seed
    S  source: prefix, subwords, `</s>` (in code for either side of a batch: positions of that side)
    T  target: `<s>` and subwords, or subwords and `</s>`
    U  nodes: of a tree, words and artificial nodes such as the root
    V  vocabulary: its entries
    W  words: of a sentence, or of a batch, flattened
    X  extensions: of a sentence's beams by one token (M * V)
    Z  rows: of a search (B * M)
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
