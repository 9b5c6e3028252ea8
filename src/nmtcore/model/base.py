"""What all translation models share: embeddings, a tied output layer, losses, components and parsing."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmtcore.model.batch import Batch
from nmtcore.model.components.base import Component, Context, measure_names
from nmtcore.model.losses import (
    TRANSLATION,
    Losses,
    Part,
    SmoothingOver,
    smoothed_cross_entropy,
)


@dataclass(frozen=True, kw_only=True)
class Encoded:
    """The encoder's output for a batch, and the context that its components share."""

    memory_BSD: Tensor
    context: Context

    @property
    def mask_BS(self) -> Tensor:
        """True for real source tokens."""
        return self.context.mask_BS


class DecoderState(Protocol):
    """The state of step-by-step decoding. Row r of a step belongs to sentence r // M."""

    def select(self, beams_BM: Tensor, sentences_B: Tensor | None = None) -> None:
        """Continue beam `beams_BM[b, m]` of sentence `sentences_B[b]` as beam m of sentence b; drop all others.

        Without `sentences_B`, the sentences stay; the number of beams may change.
        """


def selected_rows(beams_BM: Tensor, sentences_B: Tensor | None, beams: int) -> Tensor:
    """List the rows (R) that `DecoderState.select` continues, if there were `beams` beams per sentence before."""
    if sentences_B is None:
        sentences_B = torch.arange(len(beams_BM), device=beams_BM.device)
    return (sentences_B.unsqueeze(1) * beams + beams_BM).flatten()


class TranslationModel(nn.Module, ABC):
    """A model of one base; `components` add syntax through the hooks of `components/base.py`.

    A base encodes, decodes whole targets, and decodes step by step; training, search, bundles and parsing know only
    this class.
    """

    def __init__(
        self,
        settings: Any,
        *,
        source_size: int,
        target_size: int,
        joint: bool,
        components: Sequence[Component] = (),
        output_bias: bool = False,
    ) -> None:
        super().__init__()
        if joint and source_size != target_size:
            raise ValueError(f"a joint vocabulary has one size, not {source_size} and {target_size}")
        self.settings = settings
        self.components = nn.ModuleList(components)
        self.target_embedding = nn.Embedding(target_size, settings.width)
        self.source_embedding = self.target_embedding if joint else nn.Embedding(source_size, settings.width)
        self.output_bias = nn.Parameter(torch.zeros(target_size)) if output_bias else None

    @abstractmethod
    def encode(self, batch: Batch) -> Encoded:
        """Run the encoder over the source."""

    @abstractmethod
    def decode(self, target_input_BT: Tensor, encoded: Encoded) -> Tensor:
        """Run the decoder over whole targets: (B, T, D)."""

    @abstractmethod
    def start(self, encoded: Encoded) -> DecoderState:
        """Start step-by-step decoding with one beam per sentence."""

    @abstractmethod
    def step(self, tokens_R: Tensor, state: Any) -> Tensor:
        """Score the next token of every row, given its newest token (`<s>` in the first step): (R, V)."""

    @property
    @abstractmethod
    def encoder_attention(self) -> tuple[int, int]:
        """The number of layers of self-attention in the encoder, and of heads per layer."""

    def compilable_layers(self) -> Sequence[nn.Module]:
        """List the layers that are worth compiling: those that are called once per pass, not once per position."""
        return ()

    def logits(self, states: Tensor, context: Context) -> Tensor:
        """Score the vocabulary by the decoder's states, which components may change: (..., D) to (..., V)."""
        return self.output_layer(self._changed_states(states, context))

    def output_layer(self, states: Tensor) -> Tensor:
        """Score the vocabulary by final states, with the target's embeddings as weights: (..., D) to (..., V)."""
        return F.linear(states, self.target_embedding.weight, self.output_bias)

    def _changed_states(self, states: Tensor, context: Context) -> Tensor:
        for component in self.components:
            states = component.change_output(states, context)
        return states

    def loss(
        self,
        batch: Batch,
        *,
        label_smoothing: float = 0.0,
        smoothing_over: SmoothingOver = "all",
        loss_chunk: int | None = None,
    ) -> Losses:
        """Compute the losses that the batch requests; skip translation if the batch has no targets.

        Only real target positions reach the output layer; `loss_chunk` limits those whose logits are in memory.
        """
        encoded = self.encode(batch)
        parts, measures, nll = [], {}, encoded.memory_BSD.new_zeros((), dtype=torch.float32)
        if batch.target_input_BT is not None and batch.includes(TRANSLATION):
            states_ND = self._changed_states(self.forced_states(batch, encoded), encoded.context)
            targets_N = batch.target_output_BT.flatten().index_select(0, batch.target_positions_N)
            smoothed, nll = smoothed_cross_entropy(
                states_ND,
                self.target_embedding.weight,
                self.output_bias,
                targets_N,
                smoothing=label_smoothing,
                over=smoothing_over,
                chunk=loss_chunk,
            )
            parts.append(Part(name=TRANSLATION, sum=smoothed, count=batch.tokens))
        for component in self.components:
            if not component.has_loss or not batch.includes(component.name):
                continue
            weight = component.loss_weight
            with torch.set_grad_enabled(torch.is_grad_enabled() and weight != 0):
                total = component.loss(encoded.context)
            parts.append(Part(name=component.name, sum=total, count=batch.counts[component.name], weight=weight))
            if not self.training and component.measures:
                sums = component.measure(encoded.context)
                measures |= dict(zip(measure_names([component]), sums, strict=True))
        return Losses(parts=tuple(parts), nll_sum=nll, measures=measures)

    def forced_states(self, batch: Batch, encoded: Encoded) -> Tensor:
        """Decode the batch's targets: the states at their real positions, which `logits` scores, (N, D)."""
        states_BTD = self.decode(batch.target_input_BT, encoded)
        states_ND = states_BTD.flatten(0, 1).index_select(0, batch.target_positions_N)
        for component in self.components:
            component.read_output(states_ND, encoded.context)
        return states_ND

    @property
    def parser(self) -> Component | None:
        """The first component that scores the head of every source word, if any."""
        return next((component for component in self.components if component.parses), None)

    @property
    def parses(self) -> bool:
        """Whether a component scores the head of every source word."""
        return self.parser is not None

    @property
    def parses_to_root(self) -> bool:
        """Whether column 0 of `parse_scores` is the artificial root."""
        return self.parses and self.parser.points_to_root

    @property
    def parser_terms(self) -> frozenset[str]:
        """The terms of the objective that train attention heads to parse."""
        return frozenset(component.name for component in self.components if component.has_loss and component.parses)

    @property
    def tagger(self) -> Component | None:
        """The first component that predicts tags of the target, if any."""
        return next((component for component in self.components if component.tag_names), None)

    @property
    def tag_names(self) -> Sequence[str]:
        """The labels of `tag_scores`; empty if no component predicts tags of the target."""
        return () if self.tagger is None else self.tagger.tag_names

    def tag_scores(self, batch: Batch) -> Tensor:
        """Return log-probabilities of `tag_names` at the real positions of the batch's targets: (N, L).

        They come from the first component that predicts tags. Raises `ValueError` without such a component.
        """
        if self.tagger is None:
            raise ValueError("this system has no component that predicts tags")
        encoded = self.encode(batch)
        self._changed_states(self.forced_states(batch, encoded), encoded.context)
        return self.tagger.tag_scores(encoded.context)

    def parse_scores(self, encoded: Encoded) -> list[np.ndarray]:
        """Score the head of every word with the model's first component that parses.

        Returns one float32 array of log-probabilities per sentence, of shape (words, 1 + words) with the root in
        column 0, or (words, words) unless `parses_to_root`. Raises `ValueError` without such a component.
        """
        if self.parser is None:
            raise ValueError("this system has no component that parses")
        return self.parser.parse_scores(encoded.context)
