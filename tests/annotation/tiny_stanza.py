"""A Stanza pipeline that is small enough to train in a test (20 s), with all files of `nmtcore.annotation.stanza`.

Its tagger, lemmatiser and dependency parser learn from a treebank. Its constituency parser learns from phrases of two
words each; they are linguistically meaningless, but make the real parser run.
"""

import logging
from contextlib import contextmanager, nullcontext
from pathlib import Path
from unittest import mock

SENTENCES = 200
"""Training sentences of the treebank."""
CONSTITUENCIES = 60
"""Training sentences of the constituency parser."""
STEPS = 70
"""Updates of tagger and dependency parser."""

SMALL = {"char_hidden_dim": 24, "char_emb_dim": 16, "word_emb_dim": 48, "transformed_dim": 32, "tag_emb_dim": 16}
TAGGER = {"hidden_dim": 48, "deep_biaff_hidden_dim": 32, "composite_deep_biaff_hidden_dim": 16, "num_layers": 1}
PARSER = {"hidden_dim": 64, "deep_biaff_hidden_dim": 48, "deep_biaff_output_dim": 32, "num_layers": 1}
# Stanza fails unless a tagger is evaluated at least once, here at the last step.
FAST = {"optim": "adam", "lr": 0.005, "dropout": 0.1, "word_dropout": 0.1, "max_steps": STEPS, "eval_interval": STEPS}
PHRASES = {
    **{"hidden_size": 32, "transition_hidden_size": 8, "tag_embedding_dim": 8, "delta_embedding_dim": 8},
    **{"transition_embedding_dim": 8, "num_lstm_layers": 1, "num_output_layers": 1, "reduce_heads": 2},
    **{"epochs": 2, "epoch_size": CONSTITUENCIES, "train_batch_size": 20, "optim": "adamw", "learning_rate": 0.003},
}


def train_tiny_stanza(folder: Path, treebank: Path) -> Path:
    """Train `{pos,lemma,depparse,constituency}.pt` in `folder` on the first sentences of `treebank` (CoNLL-U)."""
    from stanza.models import lemmatizer, parser, tagger

    folder.mkdir(parents=True, exist_ok=True)
    blocks = treebank.read_text(encoding="utf-8").split("\n\n")[:SENTENCES]
    files = _files(folder, "conllu", [f"{block}\n\n" for block in blocks])
    neural = {**files, **SMALL, **FAST, "lang": "en"}
    with _quietly_on_one_thread():
        options = {**neural, **TAGGER, "save_name": "pos.pt", "batch_size": 25}
        tagger.main(_arguments(options, "--no_pretrain", "--fix_eval_interval", "--no_second_optim"))
        lemmatizer.main(_arguments({**files, "save_name": "lemma.pt"}, "--dict_only"))
        options = {**neural, **PARSER, "save_name": "depparse.pt", "batch_size": 400}
        parser.main(_arguments(options, "--no_pretrain", "--no_checkpoint", "--no_second_optim"))
        _train_constituents(folder, blocks[:CONSTITUENCIES])
    return folder


def _train_constituents(folder: Path, blocks: list[str]) -> None:
    from stanza.models import constituency_parser
    from stanza.models.constituency import parser_training

    rows = [[line.split("\t") for line in block.split("\n")] for block in blocks]
    words = [[(row[1], row[3]) for row in own if row[0].isdigit()] for own in rows]
    trees = [_bracketed(own) for own in words if own]
    _save_vectors(folder / "pretrain.pt", sorted({form for own in words for form, _ in own}))
    options = {**_files(folder, "mrg", [f"{tree}\n" for tree in trees]), **PHRASES, "save_name": "constituency.pt"}
    options |= {"lang": "en", "wordvec_pretrain_file": folder / "pretrain.pt"}
    flags = ("--no_multistage", "--no_checkpoint", "--no_condense_output_layers", "--no_retag")
    # Stanza evaluates the parser with CoreNLP, which may be missing.
    no_evaluation = {"EvaluateParser": lambda **_: nullcontext(), "run_dev_set": lambda *_, **__: (1.0, None, [])}
    with mock.patch.multiple(parser_training, **no_evaluation):
        constituency_parser.main(_arguments(options, *flags))


def _bracketed(words: list[tuple[str, str]]) -> str:
    """Bracket each two words as a phrase."""
    leaves = [f"({tag} {form.replace('(', '-LRB-').replace(')', '-RRB-')})" for form, tag in words]
    phrases = [" ".join(leaves[k : k + 2]) for k in range(0, len(leaves), 2)]
    return f"(ROOT (S (XP {') (XP '.join(phrases)})))"


def _files(folder: Path, suffix: str, texts: list[str]) -> dict[str, object]:
    for name, part in (("train", texts), ("test", texts[:5])):
        (folder / f"{name}.{suffix}").write_text("".join(part), encoding="utf-8")
    files = {"train_file": folder / f"train.{suffix}", "eval_file": folder / f"test.{suffix}"}
    return {**files, "save_dir": folder, "shorthand": "en_tiny"}


def _save_vectors(path: Path, words: list[str]) -> None:
    import torch
    from stanza.models.common.pretrain import PretrainedWordVocab

    vocabulary = PretrainedWordVocab(words, lang="en")
    vectors = torch.randn(len(vocabulary), 8, generator=torch.Generator().manual_seed(1))
    torch.save({"vocab": vocabulary.state_dict(), "emb": vectors}, path)


def _arguments(options: dict[str, object], *flags: str) -> list[str]:
    return [*flags, *(text for name, value in options.items() for text in (f"--{name}", str(value)))]


@contextmanager
def _quietly_on_one_thread():
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
        torch.set_num_threads(threads)
        # The training code sets these loggers to their most verbose level.
        for name in ("stanza", "stanza.constituency.trainer"):
            logging.getLogger(name).setLevel(logging.WARNING)
