"""A transformer's weights as a model of CTranslate2 (https://opennmt.net/CTranslate2), with the real library.

Its matrices are packed as ours: queries, keys, values; its embeddings are scaled by the root of the width as ours. Only
this file knows its format.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor, nn

from nmtcore.errors import UserError
from nmtcore.inference.search import NEVER_GENERATED
from nmtcore.model.base import TranslationModel
from nmtcore.model.components.base import Component
from nmtcore.model.components.pair_labels import RelativePositions
from nmtcore.model.components.parser_heads import DepParse, DiagonalParse
from nmtcore.model.components.target_tags import Multitask
from nmtcore.model.transformer import Attention, DecoderLayer, EncoderLayer, Transformer, sinusoids
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
                f"{where} cannot be exported: its component {component.name}{_needs(component)} is not a part of a "
                "plain transformer. `nmtcore translate` translates with it."
            )


def _needs(component: Component) -> str:
    """Say which features of each source a component reads in translation, if any."""
    settings = component.settings
    features = settings.needs.get("source", ()) if settings is not None and settings.needs_at_inference else ()
    names = " and ".join(feature.replace("_", " ") for feature in features)
    return f", which reads the {names} of each source," if names else ""


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

    settings, relative = model.settings, relative_positions(model)
    forms = {
        stack: {"pre_norm": settings.norm == "pre", "relative_position": _has(relative, stack)}
        for stack in ("encoder", "decoder")
    }
    spec = TransformerSpec(
        TransformerEncoderSpec(len(model.encoder), settings.heads, **forms["encoder"]),
        TransformerDecoderSpec(len(model.decoder), settings.heads, **forms["decoder"]),
    )
    spec.config.unk_token, spec.config.bos_token, spec.config.eos_token = (SPECIALS[i] for i in (UNK, BOS, EOS))
    spec.config.decoder_start_token = SPECIALS[BOS]
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = model.encoder[0].around_attention.norm.eps
    _set_encoder(spec.encoder, model, relative, longest)
    _set_decoder(spec.decoder, model, relative, longest)
    return spec


def _set_encoder(spec: Any, model: Transformer, relative: RelativePositions | None, longest: int) -> None:
    spec.embeddings[0].weight = _array(model.source_embedding.weight)
    if not _has(relative, "encoder"):
        spec.position_encodings.encodings = _positions(model, "encoder", longest)
    _set_norm(spec, model.encoder_norm)
    for i, (layer_spec, layer) in enumerate(zip(spec.layer, model.encoder, strict=True)):
        _set_self_attention(layer_spec, layer)
        _set_feed_forward(layer_spec, layer)
        if _has(relative, "encoder"):
            _set_relative(layer_spec.self_attention, relative, "encoder", i)


def _set_decoder(spec: Any, model: Transformer, relative: RelativePositions | None, longest: int) -> None:
    spec.embeddings.weight = _array(model.target_embedding.weight)
    spec.projection.weight = spec.embeddings.weight
    spec.projection.bias = np.zeros(len(spec.embeddings.weight), np.float32)
    spec.projection.bias[list(NEVER_GENERATED)] = FORBIDDEN
    if not _has(relative, "decoder"):
        spec.position_encodings.encodings = _positions(model, "decoder", longest)
    _set_norm(spec, model.decoder_norm)
    for i, (layer_spec, layer) in enumerate(zip(spec.layer, model.decoder, strict=True)):
        _set_self_attention(layer_spec, layer)
        _set_norm(layer_spec.attention, layer.around_cross.norm)
        _set_attention(layer_spec.attention, layer.cross, layer.cross.queries, layer.cross.keys_values)
        _set_feed_forward(layer_spec, layer)
        if _has(relative, "decoder"):
            _set_relative(layer_spec.self_attention, relative, "decoder", i)


def _set_self_attention(spec: Any, layer: EncoderLayer | DecoderLayer) -> None:
    _set_norm(spec.self_attention, layer.around_attention.norm)
    _set_attention(spec.self_attention, layer.attention, layer.attention.queries_keys_values)


def _set_attention(spec: Any, attention: Attention, *inputs: nn.Linear) -> None:
    for linear_spec, linear in zip(spec.linear, (*inputs, attention.output), strict=True):
        _set_linear(linear_spec, linear)


def _set_feed_forward(spec: Any, layer: EncoderLayer | DecoderLayer) -> None:
    _set_norm(spec.ffn, layer.around_feed_forward.norm)
    _set_linear(spec.ffn.linear_0, layer.feed_forward.inner)
    _set_linear(spec.ffn.linear_1, layer.feed_forward.outer)


def _set_linear(spec: Any, linear: nn.Linear) -> None:
    spec.weight, spec.bias = _array(linear.weight), _array(linear.bias)


def _set_norm(spec: Any, norm: nn.LayerNorm | nn.Identity) -> None:
    """Copy a norm; after the last layer of a post-norm stack there is none, here and there."""
    if isinstance(norm, nn.LayerNorm):
        spec.layer_norm.gamma, spec.layer_norm.beta = _array(norm.weight), _array(norm.bias)


def _set_relative(spec: Any, relative: RelativePositions, stack: str, layer: int) -> None:
    keys = _clipped_table(relative, relative.keys[stack][layer])
    values = None if relative.values is None else _clipped_table(relative, relative.values[stack][layer])
    spec.relative_position_keys = keys
    spec.relative_position_values = np.zeros_like(keys) if values is None else values


def _clipped_table(relative: RelativePositions, table: nn.Embedding) -> np.ndarray:
    """Return the vectors of distances from the most negative to the most positive one; those beyond have the outermost.

    CTranslate2 clips distances; a label of its own for far pairs is then the vector of both outermost distances.
    """
    vectors_LE = _array(table.weight)
    if relative.settings.far == "clip":
        return vectors_LE
    return np.concatenate([vectors_LE[-1:], vectors_LE])


def _positions(model: Transformer, stack: str, longest: int) -> np.ndarray:
    """Return the table that is added to embeddings: sinusoids, or zeros for a model without positions."""
    table_PD = _array(sinusoids(longest, model.settings.width))
    return table_PD if model.has_sinusoids(stack) else np.zeros_like(table_PD)


def _has(relative: RelativePositions | None, stack: str) -> bool:
    return relative is not None and stack in relative.keys


def _array(tensor: Tensor) -> np.ndarray:
    return tensor.detach().cpu().float().numpy()
