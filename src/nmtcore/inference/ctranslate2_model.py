"""A transformer's weights as a model of CTranslate2 (https://opennmt.net/CTranslate2), with the real library.

Its matrices are packed as ours: queries, keys, values; its embeddings are scaled by the root of the width as ours. Only
this file knows its format.

Shapes: D width, E head width, L labels, S source.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor, nn

from nmtcore.errors import UserError
from nmtcore.inference.search import NEVER_GENERATED
from nmtcore.model.base import TranslationModel
from nmtcore.model.components.pair_labels import RelativePositions
from nmtcore.model.components.parser_heads import DepParse, DiagonalParse
from nmtcore.model.components.target_tags import Multitask
from nmtcore.model.transformer import Transformer, sinusoids
from nmtcore.segmentation.vocabulary import BOS, EOS, SPECIALS, UNK

FORBIDDEN = -1e9
"""The output bias of entries that are never generated. It is finite, so that no product or difference is NaN."""

EXPORTABLE = (DepParse, DiagonalParse, Multitask, RelativePositions)
"""Components that change nothing of a translation's computation but a prefix of the source or the positions."""


def check_exportable(model: TranslationModel, *, where: object) -> None:
    """Raise `UserError` if translating takes more than a transformer with sinusoids or relative positions does.

    `where` names the model in the message.
    """
    if not isinstance(model, Transformer):
        base = type(model).__name__.lower()
        raise UserError(f"{where} cannot be exported: its base is {base}, and only transformers can be exported.")
    relative = relative_positions(model)
    for component in model.components:
        one_of_two = isinstance(component, RelativePositions) and component is not relative
        if type(component) not in EXPORTABLE or one_of_two:
            raise UserError(
                f"{where} cannot be exported: its component {component.name} is not a part of a plain transformer. "
                "`nmtcore translate` translates with it."
            )


def relative_positions(model: Transformer) -> RelativePositions | None:
    """Return the model's component of relative positions, the first if there are several."""
    return next((c for c in model.components if isinstance(c, RelativePositions)), None)


def write_model(
    model: Transformer, folder: Path, *, source_entries: Sequence[str], target_entries: Sequence[str], longest: int
) -> None:
    """Write a model that passes `check_exportable`, with its vocabularies, into an existing folder, in fp32.

    It reads and writes at most `longest` tokens unless it has relative positions. It adds `</s>` to sources by itself,
    but no prefix.
    """
    spec = model_spec(model, longest=longest)
    spec.register_source_vocabulary(list(source_entries))
    spec.register_target_vocabulary(list(target_entries))
    spec.validate()
    spec.optimize(quantization="float32")
    spec.save(str(folder))


def model_spec(model: Transformer, *, longest: int) -> Any:
    """Make the specification of the model, a `ctranslate2.specs.TransformerSpec`, without vocabularies."""
    from ctranslate2.specs import TransformerDecoderSpec, TransformerEncoderSpec, TransformerSpec

    relative = relative_positions(model)
    encoder, decoder = (
        make(
            len(getattr(model, stack)),
            model.settings.heads,
            pre_norm=model.settings.norm == "pre",
            relative_position=relative is not None,
        )
        for make, stack in ((TransformerEncoderSpec, "encoder"), (TransformerDecoderSpec, "decoder"))
    )
    spec = TransformerSpec(encoder, decoder)
    spec.config.unk_token, spec.config.bos_token, spec.config.eos_token = (SPECIALS[i] for i in (UNK, BOS, EOS))
    spec.config.decoder_start_token = SPECIALS[BOS]
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = model.encoder[0].around_attention.norm.eps
    encoder.embeddings[0].weight = _array(model.source_embedding.weight)
    decoder.embeddings.weight = decoder.projection.weight = _array(model.target_embedding.weight)
    decoder.projection.bias = np.zeros(len(decoder.embeddings.weight), np.float32)
    decoder.projection.bias[list(NEVER_GENERATED)] = FORBIDDEN
    _set_norm(encoder, model.encoder_norm)
    _set_norm(decoder, model.decoder_norm)
    _set_layers(encoder, model, "encoder", relative, longest)
    _set_layers(decoder, model, "decoder", relative, longest)
    return spec


def _set_layers(
    stack_spec: Any, model: Transformer, stack: str, relative: RelativePositions | None, longest: int
) -> None:
    """Copy the layers and the positions of a stack."""
    if relative is None:
        table_SD = _array(sinusoids(longest, model.settings.width))
        has_sinusoids = model.has_sinusoids(stack)
        stack_spec.position_encodings.encodings = table_SD if has_sinusoids else np.zeros_like(table_SD)
    for i, (spec, layer) in enumerate(zip(stack_spec.layer, getattr(model, stack), strict=True)):
        _set_norm(spec.self_attention, layer.around_attention.norm)
        _set_linears(spec.self_attention.linear, (layer.attention.queries_keys_values, layer.attention.output))
        if relative is not None:
            # CTranslate2 clips distances: the label of far pairs is that of both outermost distances.
            keys_LE = _array(relative.keys[stack][i].weight)
            spec.self_attention.relative_position_keys = keys = np.concatenate([keys_LE[-1:], keys_LE])
            spec.self_attention.relative_position_values = np.zeros_like(keys)
        if stack == "decoder":
            _set_norm(spec.attention, layer.around_cross.norm)
            _set_linears(spec.attention.linear, (layer.cross.queries, layer.cross.keys_values, layer.cross.output))
        _set_norm(spec.ffn, layer.around_feed_forward.norm)
        _set_linears((spec.ffn.linear_0, spec.ffn.linear_1), (layer.feed_forward.inner, layer.feed_forward.outer))


def _set_linears(specs: Iterable[Any], linears: Iterable[nn.Linear]) -> None:
    for spec, linear in zip(specs, linears, strict=True):
        spec.weight, spec.bias = _array(linear.weight), _array(linear.bias)


def _set_norm(spec: Any, norm: nn.LayerNorm | nn.Identity) -> None:
    """Copy a norm; after the last layer of a post-norm stack there is none, here and there."""
    if isinstance(norm, nn.LayerNorm):
        spec.layer_norm.gamma, spec.layer_norm.beta = _array(norm.weight), _array(norm.bias)


def _array(tensor: Tensor) -> np.ndarray:
    return tensor.detach().cpu().float().numpy()
