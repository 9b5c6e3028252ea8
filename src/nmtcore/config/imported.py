"""The settings of a published model: the folder of a model of the Marian family, as `transformers` writes it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nmtcore.errors import UserError
from nmtcore.files import read_json

CONFIG = "config.json"
FILES = (CONFIG, "vocab.json", "source.spm", "target.spm")
"""The files of a published model beside its weights."""
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
"""The names that the file of weights may have; of both, the first is read."""
ACTIVATIONS = {"relu": "relu", "swish": "swish", "silu": "swish", "gelu": "gelu"}
"""Our names of the functions that `activation_function` may name."""
FIXED = {
    "share_encoder_decoder_embeddings": True,
    "normalize_before": False,
    "normalize_embedding": False,
    "add_final_layer_norm": False,
}
"""The only values of keys with which a model is imported; a key that is absent has them."""


def published_files(folder: Path) -> list[Path]:
    """List the files of a published model, its weights last. Raises `UserError` if one is missing."""
    if not folder.is_dir():
        raise UserError(f"{folder}: there is no such folder.")
    for name in FILES:
        if not (folder / name).is_file():
            raise UserError(f"{folder} has no {name}, so it is not a whole Marian model: copy the file into it.")
    weights = next((folder / name for name in WEIGHTS if (folder / name).is_file()), None)
    if weights is None:
        raise UserError(f"{folder} has neither {' nor '.join(WEIGHTS)}: copy one of them into it.")
    return [*(folder / name for name in FILES), weights]


def published_settings(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what a published model says of `model`, `segmentation` and `decoding`, the sections of a run.

    The search is that of `transformers`, whose `max_length` counts the start symbol and `</s>`. Raises `UserError` if
    the folder does not hold a model of the Marian family, or if the model has what the transformer here lacks.
    """
    where = folder / CONFIG
    values = _mapping(where) if where.is_file() else {}
    family = values.get("model_type")
    if values and family != "marian":
        raise UserError(f"{where}: this is a model of the family '{family}', but only those of 'marian' are imported.")
    published_files(folder)
    generation = folder / "generation_config.json"
    search = {**values, **(_mapping(generation) if generation.is_file() else {})}
    for key, expected in FIXED.items():
        if values.get(key, expected) != expected:
            raise UserError(f"{where}: {key} is {values[key]}, but only models with {expected} are imported.")
    try:
        for one, other in (
            ("encoder_ffn_dim", "decoder_ffn_dim"),
            ("encoder_attention_heads", "decoder_attention_heads"),
            ("pad_token_id", "decoder_start_token_id"),
        ):
            if values[one] != values[other]:
                raise UserError(f"{where}: {one} and {other} differ, but only models where they agree are imported.")
        activation = values["activation_function"]
        if activation not in ACTIVATIONS:
            known = ", ".join(ACTIVATIONS)
            raise UserError(f"{where}: activation_function is {activation}, but only models with {known} are imported.")
        model = {
            "width": values["d_model"],
            "feed_forward": values["encoder_ffn_dim"],
            "heads": values["encoder_attention_heads"],
            **{key: values[key] for key in ("encoder_layers", "decoder_layers")},
            **{key: values.get(key, 0.0) for key in ("dropout", "attention_dropout", "activation_dropout")},
            "embedding_dropout": None,
            "norm": "post",
            "positions": "halves",
            "scaled_embeddings": values.get("scale_embedding", False),
            "activation": ACTIVATIONS[activation],
            "output_bias": True,
        }
        longest = search.get("max_length") or values["max_position_embeddings"]
    except KeyError as error:
        raise UserError(f"{where} has no {error.args[0]}: copy the model again.") from error
    penalty = search.get("length_penalty")
    decoding = {
        "beam": search.get("num_beams") or 1,
        "length_penalty": "fairseq",
        "alpha": 1.0 if penalty is None else penalty,
        "min_length": 0,
        "max_length": longest - 2,
        "max_length_ratio": None,
    }
    segmentation = {
        "kind": "sentencepiece",
        "size": len(_mapping(folder / "vocab.json")),
        "joint": True,
        "model": folder.resolve().name,
    }
    return {"model": model, "segmentation": segmentation, "decoding": decoding}


def _mapping(path: Path) -> Mapping[str, Any]:
    values = read_json(path, advice="copy the model again")
    if not isinstance(values, Mapping):
        raise UserError(f"{path} has no keys: copy the model again.")
    return values
