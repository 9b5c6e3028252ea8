"""The recurrent model of tran2018, without syntax: a bidirectional LSTM encoder, an LSTM decoder with input feeding.

Attention has the general form of Luong et al. (2015), without bias. Components change the encoder's annotations, and
add to the output of each step of the decoder.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from nmtcore.config.recurrent import RecurrentSettings
from nmtcore.model.base import Encoded, TranslationModel, selected_rows
from nmtcore.model.batch import Batch
from nmtcore.model.components.base import AttentionInputs, Component, Context, layer_hooks


@dataclass(frozen=True, kw_only=True)
class RecurrentEncoded(Encoded):
    """With the last hidden and cell state of every layer, both directions side by side: (B, D) each."""

    hidden: tuple[Tensor, ...]
    cells: tuple[Tensor, ...]


@dataclass(kw_only=True)
class RecurrentState:
    """The state of step-by-step decoding: the source, once per sentence, and the last step, once per row."""

    keys_BDS: Tensor
    """The annotations, to be compared with the decoder's state."""
    values_BSD: Tensor
    """The annotations times the context's half of W."""
    padding_B1S: Tensor
    memory: dict[str, dict[str, Tensor]]
    """The `step_memory` of each component, by its name."""
    hidden: list[Tensor]
    cells: list[Tensor]
    """One (R, D) per layer."""
    output_RD: Tensor
    """u of the last step, the input of the next."""

    @property
    def sentences(self) -> int:
        """B, the sentences that are still being decoded."""
        return len(self.keys_BDS)

    @property
    def beams(self) -> int:
        """M, the beams per sentence."""
        return len(self.output_RD) // self.sentences

    def select(self, beams_BM: Tensor, sentences_B: Tensor | None = None) -> None:
        """Continue beam `beams_BM[b, m]` of sentence `sentences_B[b]` as beam m of sentence b; drop all others.

        Without `sentences_B`, the sentences stay; the number of beams may change.
        """
        rows_R = selected_rows(beams_BM, sentences_B, self.beams)
        self.hidden = [states_RD.index_select(0, rows_R) for states_RD in self.hidden]
        self.cells = [states_RD.index_select(0, rows_R) for states_RD in self.cells]
        self.output_RD = self.output_RD.index_select(0, rows_R)
        if sentences_B is None:
            return
        self.keys_BDS = self.keys_BDS.index_select(0, sentences_B)
        self.values_BSD = self.values_BSD.index_select(0, sentences_B)
        self.padding_B1S = self.padding_B1S.index_select(0, sentences_B)
        self.memory = {
            name: {key: tensor.index_select(0, sentences_B) for key, tensor in tensors.items()}
            for name, tensors in self.memory.items()
        }


class Recurrent(TranslationModel):
    r"""Encoder, decoder and tied output layer; `components` add syntax through the hooks of `components/base.py`.

    The decoder's state h attends to the annotations s of the source, and makes the output u, from which the next word
    is predicted and which the next step reads (tran2018, equations 1 to 5; g is its one layer):

    .. math::

        \alpha_{tj} = \frac{\exp (h_t^\top W_a s_j)}{\sum_i \exp (h_t^\top W_a s_i)}, \qquad
        c_t = \sum_j \alpha_{tj} s_j, \qquad
        u_t = \tanh (W [c_t; h_t])

    .. math::

        p(y_{t+1} \mid y_{\le t}, x) = \operatorname{softmax}(V u_t + b)

    V are the embeddings of the target's vocabulary.
    """

    def __init__(
        self,
        settings: RecurrentSettings,
        *,
        source_size: int,
        target_size: int,
        joint: bool,
        components: Sequence[Component] = (),
    ) -> None:
        super().__init__(
            settings,
            source_size=source_size,
            target_size=target_size,
            joint=joint,
            components=components,
            output_bias=True,
        )
        width = settings.width
        self.encoder = nn.ModuleList(
            nn.LSTM(width, width // 2, bidirectional=True, batch_first=True) for _ in range(settings.layers)
        )
        self.decoder = nn.ModuleList(Cell(width, embedded=i == 0) for i in range(settings.layers))
        self.keys = nn.Linear(width, width, bias=False)
        """W_a of tran2018, equation 3, applied to the annotations."""
        self.from_context = nn.Linear(width, width, bias=False)
        self.from_hidden = nn.Linear(width, width, bias=False)
        """The two halves of W in `tanh(W [c; h])`."""
        self._observe = [hooks.observe for hooks in layer_hooks(components, "cross", 0) if hooks.observe]

    def encode(self, batch: Batch) -> RecurrentEncoded:
        """Run the encoder over the source."""
        context = Context(mask_BS=batch.source_mask_BS, extra=batch.extra)
        states_BSD = self.source_embedding(batch.source_BS)
        for component in self.components:
            states_BSD = component.embed_source(states_BSD, context)
        states_BSD = self._dropped(states_BSD)
        order_B, places_B = batch.source_order_2B  # torch would sort on the CPU and wait for a GPU, twice
        packed = pack_padded_sequence(states_BSD.index_select(0, order_B), batch.sorted_lengths_B, batch_first=True)
        hidden, cells = [], []
        for i, layer in enumerate(self.encoder):
            if i:
                packed = packed._replace(data=self._dropped(packed.data))
            packed, last = layer(packed)
            for states, last_2BE in zip((hidden, cells), last, strict=True):
                states.append(last_2BE.index_select(1, places_B).transpose(0, 1).flatten(1))
        memory_BSD, _ = pad_packed_sequence(packed, batch_first=True, total_length=batch.source_BS.size(1))
        memory_BSD = memory_BSD.index_select(0, places_B)
        for component in self.components:
            memory_BSD = component.annotate(memory_BSD, context)
        return RecurrentEncoded(memory_BSD=memory_BSD, context=context, hidden=tuple(hidden), cells=tuple(cells))

    @property
    def encoder_attention(self) -> tuple[int, int]:
        """No layers and no heads."""
        return 0, 0

    def _dropped(self, states: Tensor) -> Tensor:
        return F.dropout(states, self.settings.dropout, self.training)

    def decode(self, target_input_BT: Tensor, encoded: RecurrentEncoded) -> Tensor:
        """Run the decoder over whole targets: (B, T, D)."""
        outputs, hidden = [], []
        for state in self._steps(target_input_BT, encoded):
            outputs.append(state.output_RD)
            if self._observe:
                hidden.append(state.hidden[-1])
        if self._observe:
            self._show_attention(torch.stack(hidden, dim=1), state, encoded.context)
        return torch.stack(outputs, dim=1)

    def hidden_states(self, target_input_BT: Tensor, encoded: RecurrentEncoded) -> Tensor:
        """Run the decoder over whole targets, and return the top layer's hidden states h: (B, T, D)."""
        return torch.stack([state.hidden[-1] for state in self._steps(target_input_BT, encoded)], dim=1)

    def _steps(self, target_input_BT: Tensor, encoded: RecurrentEncoded) -> Iterator[RecurrentState]:
        """Yield the state after every target position. Only what depends on the step before is computed in steps."""
        state = self.start(encoded)
        embedded_BT4D = self.decoder[0].embedded(self._dropped(self.target_embedding(target_input_BT)))
        for embedded_B4D in embedded_BT4D.unbind(1):
            self._advance(embedded_B4D, state)
            yield state

    def _show_attention(self, hidden_BTD: Tensor, state: RecurrentState, context: Context) -> None:
        """Call the observers once for all target positions, as if this were one layer with one head.

        The weights of components with an attention of their own become notes, `{component}.cross_weights`.
        """
        scores_BTS = hidden_BTD @ state.keys_BDS
        inputs = AttentionInputs(
            states_BQD=hidden_BTD,
            queries_BHQE=hidden_BTD.unsqueeze(1),
            keys_BHKE=state.keys_BDS.mT.unsqueeze(1),
            context=context,
        )
        for observe in self._observe:
            observe(inputs, scores_BTS.unsqueeze(1))
        for component in self.components:
            memory = state.memory.get(component.name)
            weights_BTS = None if memory is None else component.cross_weights(hidden_BTD, memory)
            if weights_BTS is not None:
                context.notes[f"{component.name}.cross_weights"] = weights_BTS

    def start(self, encoded: RecurrentEncoded) -> RecurrentState:
        """Start step-by-step decoding with one beam per sentence, from the encoder's last states, layer by layer."""
        memory_BSD = encoded.memory_BSD
        memory = {c.name: c.step_memory(memory_BSD, encoded.context) for c in self.components}
        return RecurrentState(
            keys_BDS=self.keys(memory_BSD).mT,
            values_BSD=self.from_context(memory_BSD),
            padding_B1S=~encoded.mask_BS.unsqueeze(1),
            memory={name: tensors for name, tensors in memory.items() if tensors is not None},
            hidden=list(encoded.hidden),
            cells=list(encoded.cells),
            output_RD=torch.zeros_like(encoded.hidden[0]),
        )

    def step(self, tokens_R: Tensor, state: RecurrentState) -> Tensor:
        """Score the next token of every row, given its newest token (`<s>` in the first step): (R, V)."""
        self._advance(self.decoder[0].embedded(self._dropped(self.target_embedding(tokens_R))), state)
        return self.logits(state.output_RD, Context(mask_BS=~state.padding_B1S.squeeze(1)))

    def _advance(self, embedded_R4D: Tensor, state: RecurrentState) -> None:
        """Make one step; `embedded_R4D` is the newest tokens' share of the first layer's gates."""
        below_RD = state.output_RD
        for i, layer in enumerate(self.decoder):
            new = layer(below_RD, state.hidden[i], state.cells[i], embedded_R4D if i == 0 else None)
            state.hidden[i], state.cells[i] = new
            below_RD = self._dropped(state.hidden[i]) if i + 1 < len(self.decoder) else state.hidden[i]
        hidden_BMD = below_RD.view(state.sentences, -1, below_RD.size(1))
        scores_BMS = hidden_BMD @ state.keys_BDS
        weights_BMS = torch.softmax(scores_BMS.masked_fill(state.padding_B1S, float("-inf")), dim=-1)
        mixed_BMD = weights_BMS @ state.values_BSD + self.from_hidden(hidden_BMD)
        for component in self.components:
            if component.name in state.memory:
                mixed_BMD = mixed_BMD + component.before_tanh(hidden_BMD, weights_BMS, state.memory[component.name])
        state.output_RD = self._dropped(mixed_BMD.tanh()).flatten(0, 1)


class Cell(nn.Module):
    """One LSTM layer of the decoder: `c' = f c + i g`, `h' = o tanh(c')`."""

    def __init__(self, width: int, *, embedded: bool) -> None:
        super().__init__()
        self.embedded = GateLinear(width, 4 * width) if embedded else None
        """From the embedded token, for all target positions at once."""
        self.stepwise = GateLinear(2 * width, 4 * width, bias=not embedded)

    def forward(
        self, below_RD: Tensor, hidden_RD: Tensor, cell_RD: Tensor, embedded_R4D: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Compute the new hidden and cell state, (R, D) each; `embedded_R4D` is what `embedded` returned, if any."""
        gates_R4D = self.stepwise(torch.cat([below_RD, hidden_RD], dim=1))
        gates_R4D = gates_R4D if embedded_R4D is None else gates_R4D + embedded_R4D
        input_RD, forget_RD, output_RD = gates_R4D[:, :3].sigmoid().unbind(1)
        cell_RD = forget_RD * cell_RD + input_RD * gates_R4D[:, 3].tanh()
        return output_RD * cell_RD.tanh(), cell_RD


class GateLinear(nn.Linear):
    """A linear layer to the gates of an LSTM (input, forget, output, candidate): (..., inputs) to (..., 4, D)."""

    parts = 4
    """Parts that are initialised separately."""

    def forward(self, inputs: Tensor) -> Tensor:
        """Apply the layer."""
        return super().forward(inputs).unflatten(-1, (self.parts, -1))
