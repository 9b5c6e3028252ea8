"""The settings of a published model: the folder of a model of the Marian family, as `transformers` writes it."""

import re
from pathlib import Path
from typing import Any

from nmtcore.config.corpora import SPECIALS
from nmtcore.config.typed import choose, nearest
from nmtcore.errors import UserError
from nmtcore.files import read_json

CONFIG, VOCABULARY = "config.json", "vocab.json"
FILES = (CONFIG, VOCABULARY, "source.spm", "target.spm")
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
"""The names that the file of weights may have; of both, the first is read."""
ACTIVATIONS = {"relu": "relu", "swish": "swish", "silu": "swish", "gelu": "gelu"}
"""Our names of the functions that `activation_function` may name."""
FIXED = {"share_encoder_decoder_embeddings": True} | dict.fromkeys(
    ("normalize_before", "normalize_embedding", "add_final_layer_norm"), False
)
"""The only values with which a model is imported; a key that is absent has them."""
EQUAL = (
    ("encoder_ffn_dim", "decoder_ffn_dim"),
    ("encoder_attention_heads", "decoder_attention_heads"),
    ("pad_token_id", "decoder_start_token_id"),
)
"""Keys that must agree."""


def read_keys(path: Path) -> dict[str, Any]:
    """Read a JSON file of a published model. Raises `UserError` if it has no keys."""
    values = read_json(path, advice="copy the model again")
    if not isinstance(values, dict):
        raise UserError(f"{path} has no keys: copy the model again.")
    return values


def published_files(folder: Path) -> list[Path]:
    """List the files of a published model, its weights last. Raises `UserError` if one is missing."""
    if not folder.is_dir():
        raise UserError(f"{folder}: there is no such folder.")
    if missing := [name for name in FILES if not (folder / name).is_file()]:
        raise UserError(f"{folder} has no {missing[0]}, so it is not a whole Marian model: copy the file into it.")
    paths = [folder / name for name in (*FILES, *WEIGHTS) if (folder / name).is_file()]
    if len(paths) == len(FILES):
        raise UserError(f"{folder} has neither {' nor '.join(WEIGHTS)}: copy one of them into it.")
    return paths[: len(FILES) + 1]


def language_codes(folder: Path) -> dict[str, int]:
    """Return the language codes in the vocabulary of a published model (`>>fra<<`), with their ids in that made here.

    There, the special entries come first, then the others by their published ids.
    """
    ids = {entry: i for entry, i in read_keys(folder / VOCABULARY).items() if isinstance(i, int)}
    others = sorted(ids.keys() - set(SPECIALS), key=ids.__getitem__)
    return {entry: i for i, entry in enumerate(others, len(SPECIALS)) if re.fullmatch(">>.+<<", entry)}


def published_settings(folder: Path, *, code: str = "") -> dict[str, dict[str, Any]]:
    """Return what a published model says of `model`, `segmentation` and `decoding`, the sections of a run.

    The language `code` stands before every source. The search is that of `transformers`, whose `max_length` counts the
    start symbol and `</s>`. Raises `UserError` if the folder does not hold a model of the Marian family, if the model
    lacks the code or needs one, or if it has what the transformer here lacks.
    """
    where, generation = folder / CONFIG, folder / "generation_config.json"
    values = read_keys(where) if where.is_file() else {}
    if values and values.get("model_type") != "marian":
        raise UserError(
            f"{where}: this is a model of the family '{values.get('model_type')}', but only those of 'marian' are "
            "imported."
        )
    published_files(folder)
    search = values | (read_keys(generation) if generation.is_file() else {})
    try:
        for key, expected in FIXED.items():
            if values.get(key, expected) != expected:
                raise UserError(f"{where}: {key} is {values[key]}, but only models with {expected} are imported.")
        for one, other in EQUAL:
            if values[one] != values[other]:
                raise UserError(f"{where}: {one} and {other} differ, but only models where they agree are imported.")
        if (activation := values["activation_function"]) not in list(ACTIVATIONS):
            raise UserError(
                f"{where}: activation_function is {activation}, but only models with {', '.join(ACTIVATIONS)} are "
                "imported."
            )
        model = {
            **{"width": values["d_model"], "feed_forward": values["encoder_ffn_dim"]},
            **{"heads": values["encoder_attention_heads"], "activation": ACTIVATIONS[activation]},
            **{key: values[key] for key in ("encoder_layers", "decoder_layers")},
            **{key: values.get(key, 0.0) for key in ("dropout", "attention_dropout", "activation_dropout")},
            **{"embedding_dropout": None, "norm": "post", "positions": "halves", "output_bias": True},
            "scaled_embeddings": values.get("scale_embedding", False),
        }
        longest = search.get("max_length") or values["max_position_embeddings"]
    except KeyError as error:
        raise UserError(f"{where} has no {error.args[0]}: copy the model again.") from error
    decoding = {"beam": search.get("num_beams") or 1, "length_penalty": "fairseq", "min_length": 0}
    decoding |= {"alpha": search.get("length_penalty", 1.0), "max_length": longest - 2, "max_length_ratio": None}
    codes = language_codes(folder)
    if code and not codes:
        raise UserError(f"{folder / VOCABULARY} has no language codes: leave out {code}.")
    if code:
        model["language_code"] = codes[choose(code, codes, noun="language code", where=str(folder / VOCABULARY))]
    elif len(codes) > 1:
        raise UserError(
            f"{folder}: this model reads the target language from a language code: give yours (--code, or `code` in "
            f"`imported`). {nearest('', codes)}"
        )
    pieces = {"kind": "sentencepiece", "size": len(read_keys(folder / VOCABULARY)), "joint": True}
    return {"model": model, "segmentation": {**pieces, "model": folder.resolve().name}, "decoding": decoding}
