"""A published model of the Marian family as a bundle: its weights as those of the transformer here.

Marian's decoder starts with padding, so `<s>` gets the vector of padding. `<s>` and the root, which Marian lacks, get
an output bias with which they have no probability.

Shapes: D width, S source, V vocabulary.
"""

import pickle
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from nmtcore.config.imported import CONFIG, VOCABULARY, published_files, read_keys
from nmtcore.config.runs import RunSettings
from nmtcore.config.training import TransformerSettings
from nmtcore.errors import UserError, shortened
from nmtcore.inference.bundle import VOCABULARIES, new_model, save_bundle
from nmtcore.model.transformer import sinusoids
from nmtcore.segmentation.vocabulary import BOS, EOS, PAD, ROOT_ID, SPECIALS, UNK, Vocabulary
from nmtcore.training.checkpoints import set_weights

ABSENT = -1000.0
"""The output bias of entries that Marian lacks: small enough for a probability of 0, large enough for label smoothing,
which takes the mean of all log probabilities."""

EMBEDDINGS = ("model.shared", "model.encoder.embed_tokens", "model.decoder.embed_tokens", "lm_head")
"""The names that the shared vectors of the vocabulary may have; they may be saved more than once."""

_QUERIES, _KEYS_VALUES = ["q_proj"], ["k_proj", "v_proj"]
_PARTS = {
    "attention.queries_keys_values": [f"self_attn.{name}" for name in _QUERIES + _KEYS_VALUES],
    "attention.output": ["self_attn.out_proj"],
    "around_attention.norm": ["self_attn_layer_norm"],
    "feed_forward.inner": ["fc1"],
    "feed_forward.outer": ["fc2"],
    "around_feed_forward.norm": ["final_layer_norm"],
}
_CROSS = {
    "cross.queries": [f"encoder_attn.{name}" for name in _QUERIES],
    "cross.keys_values": [f"encoder_attn.{name}" for name in _KEYS_VALUES],
    "cross.output": ["encoder_attn.out_proj"],
    "around_cross.norm": ["encoder_attn_layer_norm"],
}
LAYERS = {"encoder": _PARTS, "decoder": _PARTS | _CROSS}
"""The parts of a layer of each stack, with the names of what Marian has in their place."""


def import_model(run: RunSettings, published: Path, segmentation: Path, model: Path) -> None:
    """Write a published model as the bundle `model`.

    `run` has the settings that its folder `published` asks for, and `segmentation` is the folder of its pieces and
    vocabularies. Raises `UserError` if a weight is not used.
    """
    weights = converted_weights(read_published_weights(published), run.model, entry_order(published))
    vocabularies = {side: Vocabulary.load(segmentation / name) for side, name in VOCABULARIES.items()}
    transformer = new_model(run, vocabularies, {})
    set_weights(transformer, weights)
    save_bundle(model, run=run, model=transformer, segmentation=segmentation)


def read_published_weights(folder: Path) -> dict[str, Tensor]:
    """Read the file of weights without running code. Raises `UserError` if it holds none."""
    *_, path = published_files(folder)
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        return dict(torch.load(path, map_location="cpu", weights_only=True))
    except (SafetensorError, pickle.UnpicklingError, RuntimeError, EOFError, TypeError, ValueError) as error:
        reason = shortened(" ".join(str(error).split()) or type(error).__name__)
        raise UserError(f"{path} holds no weights that can be read ({reason}): copy it again.") from error


def entry_order(folder: Path) -> list[int]:
    """Return the published id of each entry of the vocabulary here: the special entries, then the others by their id.

    `<s>` and the root have that of padding. Raises `UserError` if vocab.json is not the vocabulary of config.json, or
    has entries that are special here.
    """
    path, values = folder / VOCABULARY, read_keys(folder / CONFIG)
    ids, size = read_keys(path), values.get("vocab_size")
    special_ids = {entry: ids.get(entry) for entry in SPECIALS}
    for i, key in ((PAD, "pad_token_id"), (EOS, "eos_token_id")):
        if special_ids[SPECIALS[i]] is None or special_ids[SPECIALS[i]] != values.get(key):
            raise UserError(
                f"{path}: {SPECIALS[i]} has the id {special_ids[SPECIALS[i]]}, but {key} is {values.get(key)}."
            )
    if (
        special_ids[SPECIALS[UNK]] is None
        or len(ids) != size
        or {i for i in ids.values() if isinstance(i, int)} != set(range(size))
    ):
        raise UserError(
            f"{path} has {len(ids)} entries, but vocab_size is {size}, or it has no {SPECIALS[UNK]}, or its ids are "
            "not the numbers from 0 on: copy both files from the same model."
        )
    for entry in (SPECIALS[BOS], SPECIALS[ROOT_ID]):
        if special_ids[entry] is not None:
            raise UserError(f"{path} has the entry {entry}, which is a symbol of its own here: it cannot be imported.")
    special = [ids.get(entry, ids[SPECIALS[PAD]]) for entry in SPECIALS]
    return special + sorted(set(range(size)) - set(special))


def converted_weights(
    published: Mapping[str, Tensor], settings: TransformerSettings, order: list[int]
) -> dict[str, Tensor]:
    """Return the weights of a transformer with these settings, in fp32 at least, by their names here.

    `published` are all weights of the published model, and `order` is that of `entry_order`. Raises `UserError` with
    the name of a weight that is missing, of another shape, or of no use.
    """
    left, width, wide = dict(published), settings.width, settings.feed_forward
    entries = max(order) + 1

    def take(name: str, *shape: int) -> Tensor:
        if name not in left or left[name].shape != shape:
            there = f"the shape {tuple(left[name].shape)}" if name in left else "no such weight"
            raise UserError(
                f"The weight {name} should have the shape {shape} by config.json and vocab.json, but there is {there}: "
                "copy all files from the same model."
            )
        tensor = left.pop(name)
        return tensor.to(torch.promote_types(tensor.dtype, torch.float32))

    saved = [name for name in (f"{owner}.weight" for owner in EMBEDDINGS) if name in left]
    vectors_VD, *copies = [take(name, entries, width) for name in saved or [f"{EMBEDDINGS[0]}.weight"]]
    for name, copy_VD in zip(saved[1:], copies, strict=True):
        if not torch.equal(copy_VD, vectors_VD):
            raise UserError(f"The weight {name} differs from {saved[0]}, but only shared embeddings can be imported.")
    # A bias of 0 may be left out.
    bias_V = take("final_logits_bias", 1, entries)[0] if "final_logits_bias" in left else torch.zeros(entries)
    weights = {"target_embedding.weight": vectors_VD[order], "output_bias": bias_V[order]}
    weights["output_bias"][[BOS, ROOT_ID]] = ABSENT
    for stack, parts in LAYERS.items():
        if (table := f"model.{stack}.embed_positions.weight") in left:
            precision = torch.finfo(left[table].dtype).eps
            table_SD = take(table, len(left[table]), width).double()
            if not torch.allclose(table_SD, sinusoids(len(table_SD), width, halves=True), atol=precision):
                raise UserError(f"The weight {table} is not Marian's table of sinusoids, so it cannot be imported.")
        for layer in range(getattr(settings, f"{stack}_layers")):
            for part, names in parts.items():
                rows, columns = {"fc1": (wide, width), "fc2": (width, wide)}.get(names[0], (width, width))
                for tensor_name in ("weight", "bias"):
                    shape = (rows,) if tensor_name == "bias" or part.endswith("norm") else (rows, columns)
                    given = [take(f"model.{stack}.layers.{layer}.{name}.{tensor_name}", *shape) for name in names]
                    weights[f"{stack}.{layer}.{part}.{tensor_name}"] = torch.cat(given)
    if left:
        raise UserError(f"The published model has the weight {min(left)}, for which there is no place here.")
    return weights
