"""The command `nmtcore curves`."""

import argparse
import sys
from pathlib import Path

_HELP = "Draw loss, dev BLEU and tag accuracy over updates: nmtcore curves FOLDER --output curves.svg"


def add_curves(commands: argparse._SubParsersAction) -> None:
    """Add the command and its options."""
    command = commands.add_parser("curves", help=_HELP, description=_HELP)
    command.set_defaults(run=_run_curves)
    command.add_argument("folder", metavar="FOLDER", type=Path, help="a results folder, or a folder in it")
    command.add_argument(
        "--output",
        metavar="FILE",
        type=Path,
        required=True,
        help="the drawing to write: .svg, or .html with one drawing per data set",
    )


def _run_curves(chosen: argparse.Namespace) -> None:
    from nmtcore.reporting.curves_figure import draw_folder_curves

    runs = draw_folder_curves(chosen.folder, chosen.output)
    print(f"{chosen.output}: curves of {runs} run{'' if runs == 1 else 's'}", file=sys.stderr)
