"""The recurrent model of tran2018, without syntax: a bidirectional LSTM encoder, an LSTM decoder with input feeding.

Attention has the general form of Luong et al. (2015), without bias. Components change the encoder's annotations, and
add to the output of each step of the decoder.

Shapes: B sentences, D width, E head width, G gates, I inputs, M beams, S source, T target, Z rows.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from nmtcore.config.training import RecurrentSettings
from nmtcore.model.base import DecoderState, PackedLinear, TranslationModel
from nmtcore.model.batch import Batch
from nmtcore.model.components.base import AttentionInputs, Component, Context, RecurrentComponent, layer_hooks
from nmtcore.model.linear import Linear, linear


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
        self.decoder = nn.ModuleList(RecurrentCell(width, embedded=i == 0) for i in range(settings.layers))
        self.keys = Linear(width, width, bias=False)
        """W_a of tran2018, equation 3, applied to the annotations."""
        self.from_context = Linear(width, width, bias=False)
        self.from_hidden = Linear(width, width, bias=False)
        """The two halves of W in `tanh(W [c; h])`."""
        self._recurrent = [component for component in components if isinstance(component, RecurrentComponent)]
        self._compiled = False
        self._observe = [hooks.observe for hooks in layer_hooks(components, "cross", 0) if hooks.observe]

    def encode(self, batch: Batch) -> Context:
        """Run the encoder over the source, which begins a pass."""
        states_BSD, context = self.embed_source(batch)
        packed = pack_padded_sequence(
            self._dropped(states_BSD), batch.source_lengths_B, batch_first=True, enforce_sorted=False
        )
        context.last = last = []
        for i, layer in enumerate(self.encoder):
            if i:
                packed = packed._replace(data=self._dropped(packed.data))
            packed, (hidden_2BE, cells_2BE) = layer(packed)
            last.append((hidden_2BE.transpose(0, 1).flatten(1), cells_2BE.transpose(0, 1).flatten(1)))
        memory_BSD, _ = pad_packed_sequence(packed, batch_first=True, total_length=batch.source_BS.size(1))
        for component in self._recurrent:
            memory_BSD = component.annotate(memory_BSD, context)
        context.memory_BSD = memory_BSD
        return context

    def _dropped(self, states: Tensor) -> Tensor:
        return F.dropout(states, self.settings.dropout, self.training)

    def decode(self, target_input_BT: Tensor, context: Context) -> Tensor:
        """Run the decoder over whole targets: (B, T, D)."""
        hidden_BTD, outputs_BTD, state = self._run(target_input_BT, context)
        if self._observe:
            self._show_attention(hidden_BTD, state, context)
        return outputs_BTD

    def hidden_states(self, target_input_BT: Tensor, context: Context) -> Tensor:
        """Run the decoder over whole targets, and return the top layer's hidden states h: (B, T, D)."""
        return self._run(target_input_BT, context)[0]

    def _run(self, target_input_BT: Tensor, context: Context) -> tuple[Tensor, Tensor, DecoderState]:
        """Return all hidden states h, all outputs u, and the last state."""
        state, hidden, outputs = self.start(context), [], []
        # Only what depends on the step before is computed in steps; the gradients of the cells' weights do not.
        read = [[] for _ in self.decoder]
        shares = list(map(StepwiseGradient.apply, self._gate_shares(target_input_BT), state.weights, read))
        state.weights = [weight_GI.detach() for weight_GI in state.weights]
        for shares_BG in zip(*(share_BTG.unbind(1) for share_BTG in shares), strict=True):
            for steps, inputs_BI in zip(read, self._advance(shares_BG, state), strict=True):
                steps.append(inputs_BI.detach())
            hidden.append(state.rows["layers"][-1][0])
            outputs.append(state.rows["output"])
        return torch.stack(hidden, dim=1), torch.stack(outputs, dim=1), state

    def _gate_shares(self, tokens: Tensor) -> list[Tensor]:
        """Compute what is added to each layer's stepwise gates, of the tokens or the bias: (..., G), G = 4 D."""
        (first, *others), embedded = self.decoder, self._dropped(self.target_embedding(tokens))
        share = linear(embedded, self._ordered(first.embedded.weight), self._ordered(first.embedded.bias))
        return [share, *(self._ordered(layer.stepwise.bias).to(share.dtype).expand_as(share) for layer in others)]

    def _ordered(self, gates: Tensor) -> Tensor:
        """Put the gates into the order of torch's kernel where it computes them: input, forget, candidate, output."""
        entry, forget, output, candidate = gates.chunk(4)
        return torch.cat([entry, forget, candidate, output]) if self._has_kernel(gates) else gates

    def _has_kernel(self, gates: Tensor) -> bool:
        """Say whether torch's kernel for a cell, that of `nn.LSTMCell` on a GPU, computes cells from gates."""
        return gates.is_cuda and not self._compiled

    def compile_parts(self, **options: Any) -> None:
        """Let torch compile the loss and the decoder's step."""
        super().compile_parts(**options)
        self._compiled, self._advance = True, torch.compile(self._advance, **options)

    def _show_attention(self, hidden_BTD: Tensor, state: DecoderState, context: Context) -> None:
        """Call the observers once for all target positions, as if this were one layer with one head.

        Components with an attention of their own note its weights.
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
        for component, memory in self._with_memory(state):
            component.note(context).cross_weights_BTS = component.cross_weights(hidden_BTD, memory)

    def _with_memory(self, state: DecoderState) -> list[tuple[RecurrentComponent, Mapping[str, Tensor]]]:
        """Return the components that each step calls, with what they need of every sentence."""
        memories = state.memory["components"]
        return [(component, memories[component.name]) for component in self._recurrent if component.name in memories]

    def start(self, context: Context) -> DecoderState:
        """Start step-by-step decoding with one beam per sentence, from the encoder's last states, layer by layer."""
        memories = {component.name: component.step_memory(context) for component in self._recurrent}
        keys_BDS = self.keys(context.memory_BSD).mT
        memory = {
            "keys_BDS": keys_BDS,
            "values_BSD": self.from_context(context.memory_BSD),
            "mask_B1S": torch.zeros_like(keys_BDS[:, :1]).masked_fill(~context.mask_BS.unsqueeze(1), float("-inf")),
            "components": {name: memory for name, memory in memories.items() if memory is not None},
        }
        rows = {"layers": list(context.last), "output": torch.zeros_like(context.last[0][0])}
        weights = [self._ordered(layer.stepwise.weight).to(keys_BDS.dtype) for layer in self.decoder]
        return DecoderState(context.mask_BS, memory, rows, weights=weights)

    def step(self, tokens_Z: Tensor, state: DecoderState) -> Tensor:
        """Score the next token of every row, given its newest token (`<s>` in the first step): (Z, V)."""
        self._advance(self._gate_shares(tokens_Z), state)
        return self.logits(state.rows["output"], Context(mask_BS=state.mask_BS))

    def _advance(self, shares_ZG: Sequence[Tensor], state: DecoderState) -> list[Tensor]:
        """Make one step: compute new states of the layers, attend to the source, and compute the new output u.

        Returns what each layer has read: u or the state below, and its own.
        """
        memory, layers, below_ZD, read = state.memory, state.rows["layers"], state.rows["output"], []
        for i, (weight_GI, share_ZG) in enumerate(zip(state.weights, shares_ZG, strict=True)):
            below_ZD = below_ZD if i == 0 else self._dropped(below_ZD)
            hidden_ZD, cell_ZD = layers[i]
            read.append(torch.cat([below_ZD, hidden_ZD], dim=1))
            gates_ZG = linear(read[i], weight_GI)
            layers[i] = lstm_cell(gates_ZG, share_ZG, cell_ZD, kernel=self._has_kernel(gates_ZG))
            below_ZD = layers[i][0]
        hidden_BMD = below_ZD.view(len(state.mask_BS), -1, below_ZD.size(1))
        weights_BMS = torch.baddbmm(memory["mask_B1S"], hidden_BMD, memory["keys_BDS"]).softmax(dim=-1)
        mixed_BMD = torch.baddbmm(self.from_hidden(hidden_BMD), weights_BMS, memory["values_BSD"])
        for component, component_memory in self._with_memory(state):
            mixed_BMD = mixed_BMD + component.before_tanh(hidden_BMD, weights_BMS, component_memory)
        state.rows["output"] = self._dropped(mixed_BMD.tanh()).flatten(0, 1)
        return read


class RecurrentCell(nn.Module):
    """The weights of an LSTM layer of the decoder; the gates are in the order input, forget, output, candidate."""

    def __init__(self, width: int, *, embedded: bool) -> None:
        super().__init__()
        self.embedded = PackedLinear(width, 4, width) if embedded else None
        """From the embedded token, for all target positions at once."""
        self.stepwise = PackedLinear(2 * width, 4, width, bias=not embedded)


def lstm_cell(gates_ZG: Tensor, share_ZG: Tensor, cell_ZD: Tensor, *, kernel: bool) -> tuple[Tensor, Tensor]:
    """Compute the new hidden and cell state, `h' = o tanh(c')` and `c' = f c + i g`, from two parts of the gates."""
    if kernel:
        hidden_ZD, cell_ZD, _ = torch.ops.aten._thnn_fused_lstm_cell(gates_ZG, share_ZG, cell_ZD)
        return hidden_ZD, cell_ZD
    gates_Z4D = (gates_ZG + share_ZG).unflatten(1, (4, -1))
    input_ZD, forget_ZD, output_ZD = gates_Z4D[:, :3].sigmoid().unbind(1)
    cell_ZD = forget_ZD * cell_ZD + input_ZD * gates_Z4D[:, 3].tanh()
    return output_ZD * cell_ZD.tanh(), cell_ZD


class StepwiseGradient(torch.autograd.Function):
    """Returns shares of gates; their gradients, of all steps, give that of the weight in one product.

    `inputs` is a list to which each step adds the (B, I) that it multiplies by the detached weight.
    """

    @staticmethod
    def forward(ctx: Any, share_BTG: Tensor, weight_GI: Tensor, inputs: list[Tensor]) -> Tensor:
        """Return the shares."""
        ctx.inputs = inputs
        return share_BTG.view_as(share_BTG)

    @staticmethod
    def backward(ctx: Any, gradient_BTG: Tensor) -> tuple[Tensor, Tensor, None]:
        """Return the gradients of the shares and the weight."""
        inputs_BTI = torch.stack(ctx.inputs, dim=1).to(gradient_BTG.dtype)
        return gradient_BTG, gradient_BTG.flatten(0, 1).mT @ inputs_BTI.flatten(0, 1), None
