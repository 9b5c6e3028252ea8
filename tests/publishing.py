"""Folders of published models: one that planning reads, and a bundle as `transformers` would publish it."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from nmtcore.config.corpora import SIDES
from nmtcore.files import write_json

MARIAN = {
    **{"model_type": "marian", "d_model": 512, "encoder_layers": 6, "decoder_layers": 6, "num_beams": 6},
    **{"encoder_ffn_dim": 2048, "decoder_ffn_dim": 2048, "encoder_attention_heads": 8, "decoder_attention_heads": 8},
    **{"pad_token_id": 9, "decoder_start_token_id": 9, "activation_function": "swish", "scale_embedding": True},
    **{"max_length": 512, "dropout": 0.1, "vocab_size": 10, "eos_token_id": 0},
}
"""The config.json of a model of the size of OPUS-MT's."""


def write_settings(folder: Path, entries: int) -> None:
    """Write a folder with all that planning reads of a published model, which has no weights."""
    folder.mkdir(parents=True)
    write_json(folder / "config.json", MARIAN)
    write_json(folder / "vocab.json", {f"p{i}" if i != 7 else ">>fra<<": i for i in range(entries)})
    for name in ("source.spm", "target.spm", "model.safetensors"):
        (folder / name).write_bytes(b"")


def publish_bundle(bundle: Path, folder: Path) -> None:
    """Write a transformer in the form of Marian's, with joint pieces of SentencePiece, to a new folder.

    Padding is the last entry, and has the vector of `<s>`, with which the decoder starts here.
    """
    from transformers.models.marian import MarianConfig, MarianMTModel

    from nmtcore.inference.bundle import load_bundle
    from nmtcore.inference.marian import ABSENT, LAYERS
    from nmtcore.segmentation.segmenter import codes_name
    from nmtcore.segmentation.vocabulary import BOS, EOS, PAD, SPECIALS, UNK
    from nmtcore.training.checkpoints import named_weights

    loaded = load_bundle(bundle)
    settings, weights = loaded.run.model, dict(named_weights(loaded.model))
    entries = loaded.vocabularies["source"].entries
    order = [EOS, UNK, *range(len(SPECIALS), len(entries)), BOS]
    names = [entries[i] for i in order[:-1]] + [SPECIALS[PAD]]
    padding, same = len(order) - 1, {"ffn_dim": settings.feed_forward, "attention_heads": settings.heads}
    config = MarianConfig(
        **{f"{stack}_{key}": value for stack in ("encoder", "decoder") for key, value in same.items()},
        **{f"{stack}_layers": getattr(settings, f"{stack}_layers") for stack in ("encoder", "decoder")},
        **dict.fromkeys(("pad_token_id", "decoder_start_token_id"), padding),
        **dict.fromkeys(("eos_token_id", "forced_eos_token_id"), 0),
        **{key: getattr(settings, key) for key in ("dropout", "attention_dropout", "activation_dropout")},
        **{"vocab_size": len(order), "d_model": settings.width, "activation_function": settings.activation},
        **{"scale_embedding": settings.scaled_embeddings},
    )
    bias_V = weights["output_bias"][order]
    bias_V[padding] = ABSENT
    published = {"model.shared.weight": weights["target_embedding.weight"][order], "final_logits_bias": bias_V[None]}
    for stack, parts in LAYERS.items():
        for layer in range(getattr(settings, f"{stack}_layers")):
            for part, theirs in parts.items():
                for tensor in ("weight", "bias"):
                    chunks = weights[f"{stack}.{layer}.{part}.{tensor}"].chunk(len(theirs))
                    names_of_chunks = (f"model.{stack}.layers.{layer}.{name}.{tensor}" for name in theirs)
                    published |= dict(zip(names_of_chunks, chunks, strict=True))
    model = MarianMTModel(config)
    tied = {"model.encoder.embed_tokens", "model.decoder.embed_tokens", "lm_head"}
    absent = {name.removesuffix(".weight") for name in model.load_state_dict(published, strict=False).missing_keys}
    assert absent <= tied | {f"model.{stack}.embed_positions" for stack in LAYERS}, absent
    model.generation_config.update(num_beams=4, max_length=102)
    model.save_pretrained(folder)
    write_json(folder / "vocab.json", {name: i for i, name in enumerate(names)})
    for side in SIDES:
        shutil.copyfile(Path(bundle) / codes_name(loaded.run.segmentation, side), folder / f"{side}.spm")


def publish_random(folder: Path, texts: Sequence[str], *, size: int) -> None:
    """Write a small model with random weights, whose pieces are learned from texts."""
    import sentencepiece
    import torch
    from transformers.models.marian import MarianConfig, MarianMTModel

    folder.mkdir(parents=True)
    learning = {"vocab_size": size, "hard_vocab_limit": False, "minloglevel": 1}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts), model_prefix=str(folder / "source"), **learning
    )
    (folder / "source.model").rename(folder / "source.spm")
    shutil.copyfile(folder / "source.spm", folder / "target.spm")
    processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / "source.spm"))
    names = ["</s>", "<unk>", *(processor.id_to_piece(i) for i in range(3, len(processor))), "<pad>"]
    write_json(folder / "vocab.json", {name: i for i, name in enumerate(names)})
    padding = dict.fromkeys(("pad_token_id", "decoder_start_token_id"), len(names) - 1)
    heads = dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 4)
    wide = {"d_model": 32, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "encoder_layers": 2, "decoder_layers": 1}
    torch.manual_seed(1)
    small = {**MARIAN, **padding, **heads, **wide, "vocab_size": len(names)}
    model = MarianMTModel(MarianConfig(**small))
    model.generation_config.update(num_beams=2, max_length=30)
    model.save_pretrained(folder)
