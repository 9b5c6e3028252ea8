"""The transformer of Vaswani et al. 2017, without syntax.

Masks are True for real tokens.
"""

import math
from collections.abc import Sequence

from torch import Tensor, nn

from nmtcore.config.transformer import TransformerSettings
from nmtcore.model.attention import additive_mask
from nmtcore.model.base import Encoded, TranslationModel
from nmtcore.model.batch import Batch
from nmtcore.model.components.base import Component, Context, hooks_of
from nmtcore.model.decoding import TransformerState
from nmtcore.model.dropout import dropout
from nmtcore.model.layers import DecoderLayer, EncoderLayer
from nmtcore.model.narrow_step import start_steps
from nmtcore.model.positions import Sinusoids


class Transformer(TranslationModel):
    r"""Encoder, decoder and tied output layer; `components` add syntax through the hooks of `components/base.py`.

    A head of an attention layer compares the query q of position i with the keys k of all positions, and returns the
    mean of their values v by these weights (Vaswani et al. 2017, equation 1; bugliarello2020, equation 2):

    .. math::

        e_{ij} = \frac{q_i \cdot k_j}{\sqrt{E}}, \qquad
        a_{ij} = \frac{\exp(e_{ij})}{\sum_l \exp(e_{il})}, \qquad
        o_i = \sum_j a_{ij} v_j

    Queries, keys and values are linear functions of the layer's input; E is the width of a head. The last states h of
    the decoder become probabilities by the embeddings W of the target's vocabulary (aycock2021, equation 3.7):

    .. math::

        p(y_t \mid y_{<t}, x) = \operatorname{softmax}(W h_t)
    """

    def __init__(
        self,
        settings: TransformerSettings,
        *,
        source_size: int,
        target_size: int,
        joint: bool,
        components: Sequence[Component] = (),
    ) -> None:
        super().__init__(settings, source_size=source_size, target_size=target_size, joint=joint, components=components)
        own_dropout = settings.embedding_dropout
        self.embedding_dropout = settings.dropout if own_dropout is None else own_dropout
        self.source_positions = self._positions("encoder")
        self.target_positions = self._positions("decoder")
        self.encoder = nn.ModuleList(EncoderLayer(settings, i, components) for i in range(settings.encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(settings, i, components) for i in range(settings.decoder_layers))
        pre = settings.norm == "pre"
        self.encoder_norm = nn.LayerNorm(settings.width) if pre else nn.Identity()
        self.decoder_norm = nn.LayerNorm(settings.width) if pre else nn.Identity()
        self._embed_source = hooks_of(components, "embed_source")

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
        states_BSD = dropout(states_BSD, self.embedding_dropout, self.training)
        mask_B11S = additive_mask(batch.source_mask_BS, states_BSD)
        for layer in self.encoder:
            states_BSD = layer(states_BSD, context, mask_B11S)
        return Encoded(memory_BSD=self.encoder_norm(states_BSD), context=context)

    @property
    def encoder_attention(self) -> tuple[int, int]:
        """The number of layers of self-attention in the encoder, and of heads per layer."""
        return self.settings.encoder_layers, self.settings.heads

    def compilable_layers(self) -> Sequence[nn.Module]:
        """List the layers of both stacks."""
        return [*self.encoder, *self.decoder]

    def _embed_target(self, tokens: Tensor, position: int | None = None) -> Tensor:
        """Embed whole targets (B, T), or tokens (R) that are all at one position."""
        states = self.target_embedding(tokens) * math.sqrt(self.settings.width)
        if self.target_positions is not None and position is None:
            states = self.target_positions(states)
        elif self.target_positions is not None:
            states = self.target_positions.add_position(states, position)
        return dropout(states, self.embedding_dropout, self.training)

    def decode(self, target_input_BT: Tensor, encoded: Encoded) -> Tensor:
        """Run the decoder over whole targets: (B, T, D)."""
        states_BTD = self._embed_target(target_input_BT)
        mask_B11S = additive_mask(encoded.mask_BS, encoded.memory_BSD)
        for layer in self.decoder:
            states_BTD = layer(states_BTD, encoded.memory_BSD, encoded.context, mask_B11S)
        return self.decoder_norm(states_BTD)

    def start(self, encoded: Encoded) -> TransformerState:
        """Start step-by-step decoding with one beam per sentence."""
        keys_values = [layer.cross.project(encoded.memory_BSD) for layer in self.decoder]
        mask_B11S = additive_mask(encoded.mask_BS, encoded.memory_BSD)
        steps, memory, cache = start_steps(self.decoder, keys_values, mask_B11S)
        return TransformerState(steps, memory, cache, mask_BS=encoded.mask_BS, mask_B11S=mask_B11S)

    def step(self, tokens_R: Tensor, state: TransformerState) -> Tensor:
        """Score the next token of every row, given its newest token (`<s>` in the first step): (R, V)."""
        state.cache.make_room()
        context, position = Context(mask_BS=state.mask_BS), state.cache.length
        states_BMD = self._embed_target(tokens_R, position).view(state.sentences, state.beams, -1)
        for step, cache, memory in zip(state.steps, state.cache.of_layers(), state.memory, strict=True):
            states_BMD = step(states_BMD, context, cache, position, memory, state.mask_B11S)
        state.cache.length += 1
        return self.logits(self.decoder_norm(states_BMD).flatten(0, 1), context)
