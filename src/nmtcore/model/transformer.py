"""The transformer of Vaswani et al. 2017, without syntax. Masks are True for real tokens."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmtcore.config.transformer import TransformerSettings
from nmtcore.model.batch import Batch
from nmtcore.model.components.base import Component, Context, hooks_of
from nmtcore.model.decoding import DecoderState
from nmtcore.model.layers import DecoderLayer, EncoderLayer
from nmtcore.model.losses import TRANSLATION, Losses, Part, SmoothingOver, smoothed_cross_entropy
from nmtcore.model.positions import Sinusoids


@dataclass(frozen=True, kw_only=True)
class Encoded:
    """The encoder's output for a batch, and the context that its components share."""

    memory_BSD: Tensor
    context: Context

    @property
    def mask_BS(self) -> Tensor:
        """True for real source tokens."""
        return self.context.mask_BS


class Transformer(nn.Module):
    """Encoder, decoder and tied output layer; `components` add syntax through the hooks of `components/base.py`."""

    def __init__(
        self,
        settings: TransformerSettings,
        *,
        source_size: int,
        target_size: int,
        joint: bool,
        components: Sequence[Component] = (),
    ) -> None:
        super().__init__()
        if joint and source_size != target_size:
            raise ValueError(f"a joint vocabulary has one size, not {source_size} and {target_size}")
        self.settings = settings
        own_dropout = settings.embedding_dropout
        self.embedding_dropout = settings.dropout if own_dropout is None else own_dropout
        self.components = nn.ModuleList(components)
        self.target_embedding = nn.Embedding(target_size, settings.width)
        self.source_embedding = self.target_embedding if joint else nn.Embedding(source_size, settings.width)
        self.source_positions = self._positions("encoder")
        self.target_positions = self._positions("decoder")
        self.encoder = nn.ModuleList(EncoderLayer(settings, i, components) for i in range(settings.encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(settings, i, components) for i in range(settings.decoder_layers))
        pre = settings.norm == "pre"
        self.encoder_norm = nn.LayerNorm(settings.width) if pre else nn.Identity()
        self.decoder_norm = nn.LayerNorm(settings.width) if pre else nn.Identity()
        self._embed_source = hooks_of(components, "embed_source")
        self._parse_scores = hooks_of(components, "parse_scores")
        self._components_with_loss = tuple(loss.__self__ for loss in hooks_of(components, "loss"))

    def _positions(self, stack: str) -> Sinusoids | None:
        replaced = any(component.replaces_positions(stack) for component in self.components)
        return None if replaced or self.settings.positions == "none" else Sinusoids(self.settings.width)

    def encode(self, batch: Batch) -> Encoded:
        """Run the encoder over the source."""
        context = Context(mask_BS=batch.source_mask_BS, extra=batch.extra)
        states_BSD = self.source_embedding(batch.source_BS) * math.sqrt(self.settings.width)
        for change in self._embed_source:
            states_BSD = change(states_BSD, context)
        if self.source_positions is not None:
            states_BSD = self.source_positions(states_BSD)
        states_BSD = F.dropout(states_BSD, self.embedding_dropout, self.training)
        mask_B11S = batch.source_mask_BS[:, None, None, :]
        for layer in self.encoder:
            states_BSD = layer(states_BSD, context, mask_B11S)
        return Encoded(memory_BSD=self.encoder_norm(states_BSD), context=context)

    def _embed_target(self, tokens_BT: Tensor, start: int = 0) -> Tensor:
        states_BTD = self.target_embedding(tokens_BT) * math.sqrt(self.settings.width)
        if self.target_positions is not None:
            states_BTD = self.target_positions(states_BTD, start=start)
        return F.dropout(states_BTD, self.embedding_dropout, self.training)

    def decode(self, target_input_BT: Tensor, encoded: Encoded) -> Tensor:
        """Run the decoder over whole targets: (B, T, D)."""
        states_BTD = self._embed_target(target_input_BT)
        mask_B11S = encoded.mask_BS[:, None, None, :]
        for layer in self.decoder:
            states_BTD = layer(states_BTD, encoded.memory_BSD, encoded.context, mask_B11S)
        return self.decoder_norm(states_BTD)

    def logits(self, states: Tensor) -> Tensor:
        """Score the vocabulary: (..., D) to (..., V)."""
        return F.linear(states, self.target_embedding.weight)

    def forward(self, batch: Batch, *, label_smoothing: float = 0.0, smoothing_over: SmoothingOver = "all") -> Losses:
        """Compute the losses that the batch requests; skip translation if the batch has no targets.

        Only real target positions reach the output layer.
        """
        encoded = self.encode(batch)
        parts, nll = [], encoded.memory_BSD.new_zeros((), dtype=torch.float32)
        if batch.target_input_BT is not None and batch.includes(TRANSLATION):
            logits_NV = self._forced_logits(batch, encoded)
            targets_N = batch.target_output_BT.flatten().index_select(0, batch.target_positions_N)
            cross_entropy = smoothed_cross_entropy(logits_NV, targets_N, smoothing=label_smoothing, over=smoothing_over)
            nll = cross_entropy.nll
            parts.append(Part(name=TRANSLATION, sum=cross_entropy.smoothed, count=batch.tokens))
        for component in self._components_with_loss:
            if not batch.includes(component.name):
                continue
            total = component.loss(encoded.context)
            count = batch.counts[component.name]
            parts.append(Part(name=component.name, sum=total, count=count, weight=component.loss_weight))
        return Losses(parts=tuple(parts), nll_sum=nll, tokens=batch.tokens)

    def _forced_logits(self, batch: Batch, encoded: Encoded) -> Tensor:
        """Score the vocabulary at the real target positions: (N, V)."""
        states_BTD = self.decode(batch.target_input_BT, encoded)
        states_ND = states_BTD.flatten(0, 1).index_select(0, batch.target_positions_N)
        return self.logits(states_ND)

    def loss(self, batch: Batch, *, label_smoothing: float = 0.0, smoothing_over: SmoothingOver = "all") -> Losses:
        """Compute the losses that the batch requests; an alias of `forward`."""
        return self(batch, label_smoothing=label_smoothing, smoothing_over=smoothing_over)

    def start(self, encoded: Encoded) -> DecoderState:
        """Start step-by-step decoding with one beam per sentence."""
        memory = [layer.cross.project(encoded.memory_BSD) for layer in self.decoder]
        return DecoderState(memory, encoded.mask_BS[:, None, None, :])

    def step(self, tokens_R: Tensor, state: DecoderState) -> Tensor:
        """Score the next token of every row, given its newest token (`<s>` in the first step): (R, V)."""
        state.make_room()
        context = Context(mask_BS=state.mask_B11S[:, 0, 0])
        states_BMD = self._embed_target(tokens_R.unsqueeze(1), state.length).view(state.sentences, state.beams, -1)
        for i, layer in enumerate(self.decoder):
            states_BMD = layer.step(
                states_BMD,
                context,
                cache_2RHZE=state.cache_Y2RHZE[i],
                position=state.length,
                memory=state.memory[i],
                mask_B11S=state.mask_B11S,
            )
        state.length += 1
        return self.logits(self.decoder_norm(states_BMD).flatten(0, 1))

    @property
    def parses(self) -> bool:
        """Whether a component scores the head of every source word."""
        return bool(self._parse_scores)

    @property
    def parses_to_root(self) -> bool:
        """Whether column 0 of `parse_scores` is the artificial root."""
        return self.parses and self._parse_scores[0].__self__.points_to_root

    @property
    def parser_terms(self) -> frozenset[str]:
        """The terms of the objective that train attention heads to parse."""
        parsers = hooks_of(self._components_with_loss, "parse_scores")
        return frozenset(parse_scores.__self__.name for parse_scores in parsers)

    def parse_scores(self, encoded: Encoded) -> list[np.ndarray]:
        """Score the head of every word with the model's first component that parses.

        Returns one float32 array of log-probabilities per sentence, of shape (words, 1 + words) with the root in
        column 0, or (words, words) unless `parses_to_root`. Raises `ValueError` without such a component.
        """
        if not self.parses:
            raise ValueError("this system has no component that parses")
        return self._parse_scores[0](encoded.context)
