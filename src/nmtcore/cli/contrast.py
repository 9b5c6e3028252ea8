"""The command `nmtcore contrast`."""

import argparse
from pathlib import Path

from nmtcore.cli.options import annotator_folders, device_name, model_command
from nmtcore.cli.streams import write_output

_DETAILS = (
    "The first line of PAIRS names the columns source, right, wrong, phenomenon and, if there are distances, distance, "
    "with tabs between them. A pair counts as right if the log-probability of "
    "the whole right translation (see nmtcore logprob) is higher than that of the wrong one; a tie counts as wrong."
)


def add_contrast(commands: argparse._SubParsersAction) -> None:
    """Add the command and its options."""
    command = model_command(
        commands,
        "contrast",
        _run_contrast,
        help="Tell how often a model prefers right translations to wrong ones: nmtcore contrast MODEL PAIRS",
    )
    command.epilog = _DETAILS
    command.add_argument("pairs", metavar="PAIRS", type=Path, help="a file of contrastive pairs")
    command.add_argument(
        "--output",
        type=_markdown_path,
        metavar="FILE.md",
        help="write the tables to this file, and as CSV, LaTeX, HTML and JSON next to it, instead of printing them",
    )


def _run_contrast(chosen: argparse.Namespace) -> None:
    from nmtcore.corpus.contrasts import read_contrasts
    from nmtcore.corpus.text_lines import Input
    from nmtcore.inference.bundle import load_bundle
    from nmtcore.inference.scoring import score_entries
    from nmtcore.reporting.contrast_report import ContrastReport

    bundle = load_bundle(chosen.model, device_name(chosen.device))
    entries = read_contrasts(Input(chosen.pairs, None))
    folders = annotator_folders(chosen, bundle)
    scores = list(score_entries(bundle, entries, where=chosen.pairs, model_folders=folders))
    names = {key: getattr(bundle.run, key) for key in ("dataset", "system", "scale", "seed")}
    report = ContrastReport(scores, model=names)
    if chosen.output is None:
        write_output(report.markdown)
    else:
        report.write(chosen.output)


def _markdown_path(text: str) -> Path:
    path = Path(text)
    if path.suffix != ".md":
        raise argparse.ArgumentTypeError(f"{text} does not end in .md")
    return path
