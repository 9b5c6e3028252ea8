"""The command `nmtcore translate`."""

import argparse
from pathlib import Path

from nmtcore.cli.options import load_chosen_model, model_command, positive_number
from nmtcore.cli.streams import standard_input, write_output


def add_translate(commands: argparse._SubParsersAction) -> None:
    """Add the command and its options."""
    command = model_command(
        commands,
        "translate",
        _run_translate,
        help="Translate raw text, one sentence per line: nmtcore translate MODEL < in > out",
    )
    command.add_argument("--beam", type=positive_number, help="beam size; 1 is greedy search")
    command.add_argument(
        "--length-penalty", choices=["gnmt", "fairseq", "none"], help="the formula of the length penalty"
    )
    command.add_argument("--alpha", type=float, help="the exponent of the length penalty")
    command.add_argument(
        "--min-length", type=int, metavar="N", help="the smallest number of subwords per translation (0: may be empty)"
    )
    command.add_argument(
        "--max-length", type=positive_number, metavar="N", help="the largest number of subwords per translation"
    )
    command.add_argument("--batch", type=positive_number, metavar="N", help="sentences per batch")
    command.add_argument(
        "--n-best",
        type=positive_number,
        metavar="N",
        help="write N lines per sentence: number ||| translation ||| score",
    )
    command.add_argument(
        "--tags",
        type=Path,
        metavar="FILE",
        help="also write the predicted tags of the best translations' words, with their probabilities, as Parquet",
    )
    command.add_argument(
        "--attention",
        type=Path,
        metavar="FILE",
        help="also write the attention weights of all heads, for the best translations, as Parquet",
    )


def _run_translate(chosen: argparse.Namespace) -> None:
    from nmtcore.files import check_output_path
    from nmtcore.inference.analyse import translate_and_write
    from nmtcore.inference.text import LINES_PER_CHUNK

    for path in filter(None, (chosen.tags, chosen.attention)):
        check_output_path(path)
    bundle = load_chosen_model(chosen, observed=chosen.attention is not None)
    settings = bundle.decoding_settings(
        beam=chosen.beam,
        length_penalty=chosen.length_penalty,
        alpha=chosen.alpha,
        min_length=chosen.min_length,
        max_length=chosen.max_length,
        batch_sentences=chosen.batch,
    )
    translations = translate_and_write(
        bundle,
        standard_input(),
        settings,
        tags=chosen.tags,
        attention=chosen.attention,
        n_best=chosen.n_best or 1,
        scores=chosen.n_best is not None,
        chunk=1 if standard_input().isatty() else LINES_PER_CHUNK,
    )
    for number, n_best in enumerate(translations):
        for text, score in n_best:
            write_output(f"{number} ||| {text} ||| {score:.4f}\n" if chosen.n_best else f"{text}\n")
