"""The command line of `nmtcore`: using a trained model, and writing the schemas of configuration files."""

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nmtcore import __version__
from nmtcore.errors import UserError

if TYPE_CHECKING:
    from nmtcore.inference.bundle import Bundle

# Commands import heavy packages themselves, so that help and usage errors are printed at once.


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command. A `UserError` is printed to standard error, with exit status 2."""
    chosen = parser().parse_args(arguments)
    try:
        chosen.run(chosen)
        sys.stdout.flush()
    except UserError as error:
        print(f"nmtcore {chosen.command}: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        # The reader has closed the pipe. Without this, Python would print an error when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + 13)
    except KeyboardInterrupt:
        sys.exit(128 + 2)


def parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    top = argparse.ArgumentParser(prog="nmtcore", description="Use a trained model, or describe the configuration.")
    top.add_argument("--version", action="version", version=f"nmtcore {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_translate(commands)
    _add_parse(commands)
    _add_attention(commands)
    _add_gates(commands)
    _add_schema(commands)
    return top


def _command(
    commands: argparse._SubParsersAction, name: str, run: Callable[[argparse.Namespace], None], *, help: str
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=help, description=help)
    command.set_defaults(run=run)
    command.add_argument("model", metavar="MODEL", type=Path, help="the model/ folder of a run")
    command.add_argument(
        "--device", default="auto", help="cpu, cuda, cuda:1...; auto (the default): a GPU if there is one"
    )
    command.add_argument(
        "--models",
        type=_folder,
        action="append",
        default=[],
        metavar="FOLDER",
        help="a folder with the models of annotators, each under its name (may be repeated); default: the folders in "
        "`models`, and the downloads, of config/config.yaml in the working directory, if it exists. Some models are "
        "programs: name only trusted folders, and run the command in a trusted working directory",
    )
    return command


def _add_translate(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands,
        "translate",
        _run_translate,
        help="Translate raw text, one sentence per line: nmtcore translate MODEL < in > out",
    )
    command.add_argument("--beam", type=_positive, help="beam size; 1 is greedy search")
    command.add_argument(
        "--length-penalty", choices=["gnmt", "fairseq", "none"], help="the formula of the length penalty"
    )
    command.add_argument("--alpha", type=float, help="the exponent of the length penalty")
    command.add_argument(
        "--max-length", type=_positive, metavar="N", help="the largest number of subwords per translation"
    )
    command.add_argument("--batch", type=_positive, metavar="N", help="sentences per batch")
    command.add_argument(
        "--n-best", type=_positive, metavar="N", help="write N lines per sentence: number ||| translation ||| score"
    )
    command.add_argument(
        "--tags",
        type=Path,
        metavar="FILE",
        help="also write the predicted tags of the best translations' words, with their probabilities, as Parquet",
    )


def _run_translate(chosen: argparse.Namespace) -> None:
    from nmtcore.files import check_output_path
    from nmtcore.inference.bundle import LINES_PER_CHUNK, load_bundle

    if chosen.tags is not None:
        check_output_path(chosen.tags)
    bundle = load_bundle(chosen.model, _device(chosen.device))
    translate = bundle.translate_n_best
    if chosen.tags is not None:
        from nmtcore.inference.tags import check_predicts_tags, translate_with_tags

        check_predicts_tags(bundle)
        translate = partial(translate_with_tags, chosen.tags, bundle)
    settings = bundle.decoding_settings(
        beam=chosen.beam,
        length_penalty=chosen.length_penalty,
        alpha=chosen.alpha,
        max_length=chosen.max_length,
        batch_sentences=chosen.batch,
    )
    translations = translate(
        sys.stdin.buffer,
        settings,
        n_best=chosen.n_best or 1,
        chunk=1 if sys.stdin.isatty() else LINES_PER_CHUNK,
        model_folders=_model_folders(chosen, bundle),
    )
    output = sys.stdout.buffer
    for number, n_best in enumerate(translations):
        for text, score in n_best:
            line = f"{number} ||| {text} ||| {score:.4f}\n" if chosen.n_best else f"{text}\n"
            output.write(line.encode("utf-8"))
        if sys.stdout.isatty():
            output.flush()


def _add_parse(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands,
        "parse",
        _run_parse,
        help="Parse raw text, one sentence per line, to CoNLL-U: nmtcore parse MODEL < in > out.conllu",
    )
    command.add_argument(
        "--conllu",
        type=Path,
        metavar="FILE",
        help="parse the words of this treebank instead, and print the attachment score",
    )
    decoding = command.add_mutually_exclusive_group()
    decoding.add_argument(
        "--roots",
        choices=["one", "many"],
        help="the number of roots per tree (default: the setting of the model's data set)",
    )
    decoding.add_argument(
        "--argmax", action="store_true", help="the likeliest head of each word by itself, which may not form a tree"
    )
    command.add_argument(
        "--attention",
        type=_layer_and_head,
        metavar="LAYER.HEAD",
        help="induce trees from this attention head of the encoder (both from 0), even if it was not trained to parse",
    )


def _run_parse(chosen: argparse.Namespace) -> None:
    from nmtcore.evaluation.attachment import attachment_line
    from nmtcore.evaluation.lines import induction_lines
    from nmtcore.inference.bundle import LINES_PER_CHUNK, load_bundle
    from nmtcore.inference.parse_files import TREE_METHODS
    from nmtcore.inference.parse_to_conllu import parse_text, parse_treebank

    device, parser = _device(chosen.device), None
    if chosen.attention is None:
        bundle = load_bundle(chosen.model, device)
    else:
        from nmtcore.inference.attention import load_observed_bundle
        from nmtcore.inference.induced import attention_parser

        bundle = load_observed_bundle(chosen.model, device)
        layer, head = chosen.attention
        parser = attention_parser(bundle, layer=layer, head=head)
    method = "argmax" if chosen.argmax else TREE_METHODS[chosen.roots or bundle.run.evaluation.roots]
    folders = _model_folders(chosen, bundle)
    if chosen.conllu is None:
        chunk = 1 if sys.stdin.isatty() else LINES_PER_CHUNK
        _write_blocks(
            parse_text(bundle, sys.stdin.buffer, method=method, parser=parser, chunk=chunk, model_folders=folders)
        )
        return
    parses = list(parse_treebank(bundle, chosen.conllu, method=method, parser=parser, model_folders=folders))
    _write_blocks(sentence.block for sentence in parses)
    compared = list(zip(*((s.heads, s.gold, s.words, s.upos) for s in parses), strict=True))
    lines = [attachment_line(*compared)]
    if parser is not None or bundle.run.tree_comparison == "induced":
        lines += induction_lines(*compared)
    for line in lines:
        print(f"{chosen.conllu}: {line}", file=sys.stderr)


def _write_blocks(blocks: Iterable[str]) -> None:
    for block in blocks:
        sys.stdout.buffer.write(block.encode("utf-8"))
        if sys.stdout.isatty():
            sys.stdout.buffer.flush()


def _add_attention(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands,
        "attention",
        _run_attention,
        help="Write the attention weights of all heads as Parquet: nmtcore attention MODEL -o maps.parquet < in",
    )
    command.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the Parquet file to write")
    command.add_argument(
        "--cross",
        action="store_true",
        help="also translate, and write the attention of the best translation to the source",
    )


def _run_attention(chosen: argparse.Namespace) -> None:
    from nmtcore.files import check_output_path
    from nmtcore.inference.attention import load_observed_bundle, write_attention

    check_output_path(chosen.output)
    bundle = load_observed_bundle(chosen.model, _device(chosen.device))
    folders = _model_folders(chosen, bundle)
    write_attention(chosen.output, bundle, sys.stdin.buffer, cross=chosen.cross, model_folders=folders)


def _add_gates(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands,
        "gates",
        _run_gates,
        help="Colour the subwords of translations by their gate norms: nmtcore gates MODEL SOURCE TARGET",
    )
    command.add_argument("source", metavar="SOURCE", type=Path, help="a file of sentences, one per line")
    command.add_argument("target", metavar="TARGET", type=Path, help="their translations, one per line")
    command.add_argument("--html", type=Path, metavar="FILE", help="also write them as a web page")


def _run_gates(chosen: argparse.Namespace) -> None:
    from nmtcore.errors import explain_os_errors
    from nmtcore.files import check_output_path, write_text
    from nmtcore.inference.bundle import load_bundle
    from nmtcore.inference.gates import TextFile, read_gates
    from nmtcore.inference.render_gates import html_page, plain_line, terminal_line

    if chosen.html is not None:
        check_output_path(chosen.html)
    bundle = load_bundle(chosen.model, _device(chosen.device))
    line_of = terminal_line if _in_colour() else plain_line
    with explain_os_errors(chosen.source), open(chosen.source, "rb") as source, open(chosen.target, "rb") as target:
        texts = TextFile(source, str(chosen.source)), TextFile(target, str(chosen.target))
        shown = []
        for sentence in read_gates(bundle, *texts, model_folders=_model_folders(chosen, bundle)):
            sys.stdout.buffer.write(f"{line_of(sentence)}\n".encode())
            if chosen.html is not None:
                shown.append(sentence)
    if chosen.html is not None:
        run = bundle.run
        write_text(chosen.html, html_page(shown, system=run.system, source=run.source, target=run.target))


def _in_colour() -> bool:
    """Whether standard output is a terminal with colours, and the user has not turned them off (no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _add_schema(commands: argparse._SubParsersAction) -> None:
    description = "Write the JSON Schemas of all configuration files, with which editors complete and check them."
    command = commands.add_parser("schema", help=description, description=description)
    command.set_defaults(run=_run_schema)
    command.add_argument(
        "folder",
        metavar="FOLDER",
        type=Path,
        nargs="?",
        default=Path("config/schemas"),
        help="the folder to write them to (default: %(default)s)",
    )
    command.add_argument("--readme", type=Path, metavar="FILE", help="also update the marked tables of a Markdown file")


def _run_schema(chosen: argparse.Namespace) -> None:
    from nmtcore.config.schema_files import write_schemas
    from nmtcore.config.settings_tables import update_tables

    for path in write_schemas(chosen.folder):
        print(path)
    if chosen.readme is not None:
        update_tables(chosen.readme)
        print(chosen.readme)


def _device(name: str) -> str:
    from nmtcore.model.device import choose_device

    return choose_device(name)


def _model_folders(chosen: argparse.Namespace, bundle: "Bundle") -> Sequence[Path]:
    if chosen.models or not bundle.run.inference_features["source"]:
        return chosen.models
    from nmtcore.config.working_directory import project_model_folders

    return project_model_folders(chosen.model)


def _folder(text: str) -> Path:
    if not text.strip():
        raise argparse.ArgumentTypeError("the name of a folder is empty (for the working directory, write '.')")
    return Path(text)


def _layer_and_head(text: str) -> tuple[int, int]:
    if not re.fullmatch(r"[0-9]+\.[0-9]+", text):
        raise argparse.ArgumentTypeError(f"{text} is not of the form LAYER.HEAD, for example 0.3 (both count from 0)")
    layer, head = text.split(".")
    return int(layer), int(head)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


if __name__ == "__main__":
    if not sys.flags.safe_path:
        # As in __main__.py, import nothing from the working directory.
        del sys.path[0]
    main()
