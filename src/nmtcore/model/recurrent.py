"""The recurrent model of tran2018, without syntax: a bidirectional LSTM encoder, an LSTM decoder with input feeding.

Attention has the general form of Luong et al. (2015), without bias. Components change the encoder's annotations, and
add to the output of each step of the decoder.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from nmtcore.config.bases import RecurrentSettings
from nmtcore.model.base import DecoderState, Encoded, PackedLinear, TranslationModel
from nmtcore.model.batch import Batch
from nmtcore.model.components.base import AttentionInputs, Component, Context, layer_hooks
from nmtcore.model.linear import Linear


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
        self, settings: RecurrentSettings, *, components: Sequence[Component] = (), **vocabularies: int
    ) -> None:
        super().__init__(settings, components=components, output_bias=True, **vocabularies)
        width = settings.width
        self.encoder = nn.ModuleList(
            nn.LSTM(width, width // 2, bidirectional=True, batch_first=True) for _ in range(settings.layers)
        )
        self.decoder = nn.ModuleList(Cell(width, embedded=i == 0) for i in range(settings.layers))
        self.keys = Linear(width, width, bias=False)
        """W_a of tran2018, equation 3, applied to the annotations."""
        self.from_context = Linear(width, width, bias=False)
        self.from_hidden = Linear(width, width, bias=False)
        """The two halves of W in `tanh(W [c; h])`."""
        self._observe = [hooks.observe for hooks in layer_hooks(components, "cross", 0) if hooks.observe]

    def encode(self, batch: Batch) -> Encoded:
        """Run the encoder over the source."""
        states_BSD, context = self.embed_source(batch)
        packed = pack_padded_sequence(
            self._dropped(states_BSD), batch.source_lengths_B, batch_first=True, enforce_sorted=False
        )
        last = []
        for i, layer in enumerate(self.encoder):
            if i:
                packed = packed._replace(data=self._dropped(packed.data))
            packed, (hidden_2BE, cells_2BE) = layer(packed)
            last.append((hidden_2BE.transpose(0, 1).flatten(1), cells_2BE.transpose(0, 1).flatten(1)))
        memory_BSD, _ = pad_packed_sequence(packed, batch_first=True, total_length=batch.source_BS.size(1))
        for component in self.components:
            memory_BSD = component.annotate(memory_BSD, context)
        return Encoded(memory_BSD=memory_BSD, context=context, last=last)

    def _dropped(self, states: Tensor) -> Tensor:
        return F.dropout(states, self.settings.dropout, self.training)

    def decode(self, target_input_BT: Tensor, encoded: Encoded) -> Tensor:
        """Run the decoder over whole targets: (B, T, D)."""
        hidden_BTD, outputs_BTD, state = self._run(target_input_BT, encoded)
        if self._observe:
            self._show_attention(hidden_BTD, state, encoded.context)
        return outputs_BTD

    def hidden_states(self, target_input_BT: Tensor, encoded: Encoded) -> Tensor:
        """Run the decoder over whole targets, and return the top layer's hidden states h: (B, T, D)."""
        return self._run(target_input_BT, encoded)[0]

    def _run(self, target_input_BT: Tensor, encoded: Encoded) -> tuple[Tensor, Tensor, DecoderState]:
        """Return all hidden states h, all outputs u, and the last state."""
        state, hidden, outputs = self.start(encoded), [], []
        # Only what depends on the step before is computed in steps.
        for embedded_B4D in self._embed_target(target_input_BT).unbind(1):
            self._advance(embedded_B4D, state)
            hidden.append(state.rows["layers"][-1][0])
            outputs.append(state.rows["output"])
        return torch.stack(hidden, dim=1), torch.stack(outputs, dim=1), state

    def _embed_target(self, tokens: Tensor) -> Tensor:
        """Compute the tokens' share of the first layer's gates: (..., 4, D)."""
        return self.decoder[0].embedded(self._dropped(self.target_embedding(tokens)))

    def _show_attention(self, hidden_BTD: Tensor, state: DecoderState, context: Context) -> None:
        """Call the observers once for all target positions, as if this were one layer with one head.

        The weights of components with an attention of their own become notes, `{component}.cross_weights`.
        """
        keys_BDS = state.memory["keys_BDS"]
        inputs = AttentionInputs(
            states_BQD=hidden_BTD,
            queries_BHQE=hidden_BTD.unsqueeze(1),
            keys_BHKE=keys_BDS.mT.unsqueeze(1),
            context=context,
        )
        for observe in self._observe:
            observe(inputs, (hidden_BTD @ keys_BDS).unsqueeze(1))
        for component in self.components:
            own = state.memory["components"].get(component.name)
            weights_BTS = None if own is None else component.cross_weights(hidden_BTD, own)
            if weights_BTS is not None:
                context.notes[f"{component.name}.cross_weights"] = weights_BTS

    def start(self, encoded: Encoded) -> DecoderState:
        """Start step-by-step decoding with one beam per sentence, from the encoder's last states, layer by layer."""
        memory_BSD, context = encoded.memory_BSD, encoded.context
        own = {component.name: component.step_memory(memory_BSD, context) for component in self.components}
        memory = {
            "keys_BDS": self.keys(memory_BSD).mT,
            "values_BSD": self.from_context(memory_BSD),
            "padding_B1S": ~context.mask_BS.unsqueeze(1),
            "components": {name: tensors for name, tensors in own.items() if tensors is not None},
        }
        rows = {"layers": list(encoded.last), "output": torch.zeros_like(encoded.last[0][0])}
        return DecoderState(context.mask_BS, memory, rows)

    def step(self, tokens_R: Tensor, state: DecoderState) -> Tensor:
        """Score the next token of every row, given its newest token (`<s>` in the first step): (R, V)."""
        self._advance(self._embed_target(tokens_R), state)
        return self.logits(state.rows["output"], Context(mask_BS=state.mask_BS))

    def _advance(self, embedded_R4D: Tensor, state: DecoderState) -> None:
        """Make one step: compute new states of the layers, attend to the source, and compute the new output u."""
        memory, layers, below_RD = state.memory, state.rows["layers"], state.rows["output"]
        for i, layer in enumerate(self.decoder):
            below_RD = below_RD if i == 0 else self._dropped(below_RD)
            layers[i] = layer(below_RD, *layers[i], embedded_R4D if i == 0 else None)
            below_RD = layers[i][0]
        hidden_BMD = below_RD.view(len(state.mask_BS), -1, below_RD.size(1))
        scores_BMS = hidden_BMD @ memory["keys_BDS"]
        weights_BMS = torch.softmax(scores_BMS.masked_fill(memory["padding_B1S"], float("-inf")), dim=-1)
        mixed_BMD = weights_BMS @ memory["values_BSD"] + self.from_hidden(hidden_BMD)
        for component in self.components:
            if component.name in memory["components"]:
                own = memory["components"][component.name]
                mixed_BMD = mixed_BMD + component.before_tanh(hidden_BMD, weights_BMS, own)
        state.rows["output"] = self._dropped(mixed_BMD.tanh()).flatten(0, 1)


class Cell(nn.Module):
    """One LSTM layer of the decoder: `c' = f c + i g`, `h' = o tanh(c')`.

    The gates are in the order input, forget, output, candidate.
    """

    def __init__(self, width: int, *, embedded: bool) -> None:
        super().__init__()
        self.embedded = PackedLinear(width, 4, width) if embedded else None
        """From the embedded token, for all target positions at once."""
        self.stepwise = PackedLinear(2 * width, 4, width, bias=not embedded)

    def forward(
        self, below_RD: Tensor, hidden_RD: Tensor, cell_RD: Tensor, embedded_R4D: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Compute the new hidden and cell state, (R, D) each; `embedded_R4D` is what `embedded` returned, if any."""
        gates_R4D = self.stepwise(torch.cat([below_RD, hidden_RD], dim=1))
        gates_R4D = gates_R4D if embedded_R4D is None else gates_R4D + embedded_R4D
        input_RD, forget_RD, output_RD = gates_R4D[:, :3].sigmoid().unbind(1)
        cell_RD = forget_RD * cell_RD + input_RD * gates_R4D[:, 3].tanh()
        return output_RD * cell_RD.tanh(), cell_RD
