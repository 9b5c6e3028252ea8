"""What a page shows of a model's work on sentences; no import of torch."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nmtcore.inference.schemas import GatedSentence, TaggedWord


class AttentionHead(NamedTuple):
    """One of the attentions of a model, named as in `ATTENTION_SCHEMA` (`inference.schemas`)."""

    attention: str
    layer: int | None
    head: int | None
    component: str | None = None
    """The component that computes or trains this head."""


class LabelledTree(NamedTuple):
    """A tree with an entry per word."""

    heads: Sequence[int]
    """1-based, 0 = root."""
    labels: Sequence[str] | None


class AnalysedSentence(NamedTuple):
    """A source sentence, and all that a model makes of it."""

    number: int
    """Of the line, or of the treebank's sentence, from 1."""
    text: str
    words: Sequence[str]
    gold: LabelledTree | None
    gold_is_read: bool
    """Whether the system reads the gold tree, since it was trained on trees that came with its corpus."""
    annotations: dict[str, LabelledTree]
    """The other trees that the system reads, by the annotator that made them; it may fail."""
    parse: list[int] | None
    """The heads that the model predicts, 1-based, 0 = root; None if it does not parse."""
    translation: str
    tags: list[TaggedWord] | None
    """The words of the translation with their tags; None if the model predicts none."""
    gates: GatedSentence | None
    """The translation with its gate norms; None if the model has no gate in the decoder."""
    source_tokens: list[str]
    target_tokens: list[str]
    """The subwords, with `</s>`."""
    weights: list[np.ndarray]
    """A map per attention head, (Q, K), uint8, in percent. The keys are the source tokens, and the queries the target
    tokens if the attention is that of the decoder, else the source tokens."""
    head_trees: list[list[int]]
    """The tree of each attention head of the encoder, in the order of `AnalysedModel.heads`."""


class AnalysedModel(NamedTuple):
    """A model's settings that matter for what is shown, and sentences."""

    system: str
    dataset: str
    source: str
    target: str
    """The codes of the languages."""
    trees: str | None
    """What the trees of the model are compared with (`RunSettings.tree_comparison`); None if it does not parse."""
    heads: list[AttentionHead]
    """First those of the encoder."""
    sentences: list[AnalysedSentence]


def is_of_decoder(head: AttentionHead) -> bool:
    """Whether the queries of an attention are target tokens."""
    return head.attention != "encoder" and head.layer is not None
