"""A Stanza pipeline that is small enough to train in a test: tagger, lemmatiser and parser, no pretrained vectors."""

import logging
from pathlib import Path

SENTENCES = 400
"""How much of the treebank it learns from."""
STEPS = 120

SMALL = {"char_hidden_dim": 24, "char_emb_dim": 16, "word_emb_dim": 48, "transformed_dim": 32, "tag_emb_dim": 16}
TAGGER = {"hidden_dim": 48, "deep_biaff_hidden_dim": 32, "composite_deep_biaff_hidden_dim": 16, "num_layers": 1}
PARSER = {"hidden_dim": 64, "deep_biaff_hidden_dim": 48, "deep_biaff_output_dim": 32, "num_layers": 1}
FAST = {"optim": "adam", "lr": 0.005, "dropout": 0.1, "word_dropout": 0.1, "max_steps": STEPS, "log_step": STEPS}


def train_tiny_stanza(folder: Path, treebank: Path) -> Path:
    """Train `pos.pt`, `lemma.pt` and `depparse.pt` in `folder` on the first sentences of `treebank` (CoNLL-U)."""
    import torch
    from stanza.models import lemmatizer, parser, tagger

    folder.mkdir(parents=True, exist_ok=True)
    blocks = treebank.read_text(encoding="utf-8").split("\n\n")[:SENTENCES]
    # Stanza fails unless a tagger is tested at least once: on little, at the last step.
    for name, some in (("train", blocks), ("test", blocks[:5])):
        (folder / f"{name}.conllu").write_text("".join(f"{block}\n\n" for block in some), encoding="utf-8")
    files = {"train_file": folder / "train.conllu", "eval_file": folder / "test.conllu", "save_dir": folder}
    common = {**files, "shorthand": "en_tiny"}
    neural = {**common, "lang": "en", **SMALL, **FAST, "eval_interval": STEPS}
    threads, level = torch.get_num_threads(), logging.getLogger("stanza").level
    torch.set_num_threads(1)
    logging.getLogger("stanza").setLevel(logging.ERROR)
    try:
        options = {**neural, **TAGGER, "save_name": "pos.pt", "batch_size": 25}
        tagger.main(_arguments(options, "--no_pretrain", "--fix_eval_interval", "--no_second_optim"))
        lemmatizer.main(_arguments({**common, "save_name": "lemma.pt"}, "--dict_only"))
        options = {**neural, **PARSER, "save_name": "depparse.pt", "batch_size": 400}
        parser.main(_arguments(options, "--no_pretrain", "--no_checkpoint", "--no_second_optim"))
    finally:
        torch.set_num_threads(threads)
        logging.getLogger("stanza").setLevel(level)
    return folder


def _arguments(options: dict[str, object], *flags: str) -> list[str]:
    return [*flags, *(text for name, value in options.items() for text in (f"--{name}", str(value)))]
