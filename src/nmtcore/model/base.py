"""What all translation models share: embeddings, a tied output layer, losses, components and parsing.

Shapes: B sentences, D width, M beams, S source, T target, Z rows.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from nmtcore.model.batch import Batch
from nmtcore.model.components.base import Component, Context
from nmtcore.model.linear import Linear, linear
from nmtcore.model.losses import TRANSLATION, Losses, Part, SmoothingOver, smoothed_cross_entropy


class DecoderState:
    """The state of step-by-step decoding: tensors of each sentence and of each row, in lists, tuples and dictionaries.

    Row r of a step belongs to sentence r // beams. There is one beam per sentence at first.
    """

    def __init__(self, mask_BS: Tensor, memory: Any, rows: Any, *, weights: Sequence[Tensor] = ()) -> None:
        self.mask_BS = mask_BS
        """True for real source tokens."""
        self.memory, self.rows = memory, rows
        """What belongs to sentences, and what to rows."""
        self.weights = weights
        """The weights of a recurrent decoder's cells, as its steps need them."""
        self.beams = 1

    def select(self, beams_BM: Tensor, sentences_B: Tensor | None = None) -> None:
        """Continue beam `beams_BM[b, m]` of sentence `sentences_B[b]` as beam m of sentence b; drop all others.

        Without `sentences_B`, the sentences stay; the number of beams may change.
        """
        if sentences_B is None:
            first_B = torch.arange(len(beams_BM), device=beams_BM.device) * self.beams
        else:
            first_B = sentences_B * self.beams
            self.mask_BS, self.memory = _selected([self.mask_BS, self.memory], sentences_B)
        self.rows = _selected(self.rows, (first_B.unsqueeze(1) + beams_BM).flatten())
        self.beams = beams_BM.size(1)


def _selected(tensors: Any, indices: Tensor) -> Any:
    if isinstance(tensors, Tensor):
        return tensors.index_select(0, indices)
    if isinstance(tensors, dict):
        return {name: _selected(value, indices) for name, value in tensors.items()}
    return [_selected(value, indices) for value in tensors]


class PackedLinear(Linear):
    """Several linear layers of the same input in one matrix multiplication: (..., inputs) to (..., parts, width)."""

    def __init__(self, inputs: int, parts: int, width: int, *, bias: bool = True) -> None:
        super().__init__(inputs, parts * width, bias=bias)
        self.parts = parts

    def forward(self, inputs: Tensor) -> Tensor:
        """Apply the layers."""
        return super().forward(inputs).unflatten(-1, (self.parts, -1))


class TranslationModel(nn.Module, ABC):
    """A model of one base; `components` add syntax through the hooks of `components/base.py`.

    A base encodes, decodes whole targets, and decodes step by step; training, search, bundles and parsing know only
    this class.
    """

    encoder_attention: tuple[int, int] = (0, 0)
    """The number of layers of self-attention in the encoder, and of heads per layer."""

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
        self.settings = settings
        self.components = nn.ModuleList(components)
        self.target_embedding = nn.Embedding(target_size, settings.width)
        self.source_embedding = self.target_embedding if joint else nn.Embedding(source_size, settings.width)
        self.cross_entropy = smoothed_cross_entropy
        self.output_bias = nn.Parameter(torch.zeros(target_size)) if output_bias else None

    @abstractmethod
    def encode(self, batch: Batch) -> Context:
        """Run the encoder over the source, which begins a pass."""

    @abstractmethod
    def decode(self, target_input_BT: Tensor, context: Context) -> Tensor:
        """Run the decoder over whole targets: (B, T, D)."""

    @abstractmethod
    def start(self, context: Context) -> DecoderState:
        """Start step-by-step decoding with one beam per sentence."""

    @abstractmethod
    def step(self, tokens_Z: Tensor, state: DecoderState) -> Tensor:
        """Score the next token of every row, given its newest token (`<s>` in the first step): (Z, V)."""

    def compile_parts(self, **options: Any) -> None:
        """Let torch compile the loss, with its first batch; `options` are those of `torch.compile`."""
        self.cross_entropy = torch.compile(smoothed_cross_entropy, **options)

    def embed_source(self, batch: Batch, *, scale: float = 1.0) -> tuple[Tensor, Context]:
        """Embed the source as components want it, (B, S, D), and begin the context of a pass."""
        context = Context(
            mask_BS=batch.source_mask_BS, words_BS=batch.source_words_BS, ids_B=batch.ids_B, extra=batch.extra
        )
        embedded_BSD = self.source_embedding(batch.source_BS) * scale
        for component in self.components:
            embedded_BSD = component.embed_source(embedded_BSD, context)
        return embedded_BSD, context

    def logits(self, states: Tensor, context: Context) -> Tensor:
        """Score the vocabulary by the decoder's states, which components may change: (..., D) to (..., V)."""
        return linear(self._changed(states, context), self.target_embedding.weight, self.output_bias)

    def _changed(self, states: Tensor, context: Context) -> Tensor:
        for component in self.components:
            states = component.change_output(states, context)
        return states

    def loss(
        self,
        batch: Batch,
        *,
        label_smoothing: float = 0.0,
        smoothing_over: SmoothingOver = "all",
    ) -> Losses:
        """Compute the losses that the batch has counts of; only real target positions reach the output layer."""
        context = self.encode(batch)
        parts, measures, nll = [], {}, context.memory_BSD.new_zeros((), dtype=torch.float32)
        if TRANSLATION in batch.counts:
            smoothed, nll = self.cross_entropy(
                self._changed(self.forced_states(batch, context), context),
                self.target_embedding.weight,
                self.output_bias,
                batch.target_output_BT.flatten().index_select(0, batch.target_positions_N),
                smoothing=label_smoothing,
                over=smoothing_over,
            )
            parts.append(Part(name=TRANSLATION, sum=smoothed, count=batch.tokens))
        for component in self.components:
            if not component.has_loss or component.name not in batch.counts:
                continue
            weight = component.loss_weight
            with torch.set_grad_enabled(torch.is_grad_enabled() and weight != 0):
                total = component.loss(context)
            parts.append(Part(name=component.name, sum=total, count=batch.counts[component.name], weight=weight))
            if not self.training and component.tag_names:
                measures[f"accuracy/{component.name}"] = component.correct_tags(context)
        return Losses(parts=tuple(parts), nll_sum=nll, measures=measures)

    def forced_states(self, batch: Batch, context: Context) -> Tensor:
        """Decode the batch's targets: the states at their real positions, which `logits` scores, (N, D)."""
        states_BTD = self.decode(batch.target_input_BT, context)
        return states_BTD.flatten(0, 1).index_select(0, batch.target_positions_N)

    @property
    def parser(self) -> Component | None:
        """The first component that scores the head of every source word, if any."""
        return next((component for component in self.components if component.parses), None)

    @property
    def parser_terms(self) -> frozenset[str]:
        """The terms of the objective that train attention heads to parse."""
        return frozenset(component.name for component in self.components if component.has_loss and component.parses)

    @property
    def tagger(self) -> Component | None:
        """The first component that predicts tags of the target, if any."""
        return next((component for component in self.components if component.tag_names), None)

    def tag_scores(self, batch: Batch) -> Tensor:
        """Return the `tagger`'s log-probabilities of its `tag_names` at the real positions of the targets: (N, L)."""
        context = self.encode(batch)
        self._changed(self.forced_states(batch, context), context)
        return self.tagger.tag_scores(context)
