"""The command `nmtcore gates`."""

import argparse
import os
import sys
from pathlib import Path

from nmtcore.cli.options import annotator_folders, device_name, model_command
from nmtcore.cli.streams import write_output


def add_gates(commands: argparse._SubParsersAction) -> None:
    """Add the command and its options."""
    command = model_command(
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
    from nmtcore.inference.gates import read_gates
    from nmtcore.inference.render_gates import plain_line, terminal_line
    from nmtcore.inference.text_pairs import TextFile
    from nmtcore.reporting.gates_page import gates_page

    if chosen.html is not None:
        check_output_path(chosen.html)
    bundle = load_bundle(chosen.model, device_name(chosen.device))
    line_of = terminal_line if _in_colour() else plain_line
    with explain_os_errors(chosen.source), open(chosen.source, "rb") as source, open(chosen.target, "rb") as target:
        texts = TextFile(source, str(chosen.source)), TextFile(target, str(chosen.target))
        shown = []
        for sentence in read_gates(bundle, *texts, model_folders=annotator_folders(chosen, bundle)):
            write_output(f"{line_of(sentence)}\n")
            if chosen.html is not None:
                shown.append(sentence)
    if chosen.html is not None:
        run = bundle.run
        write_text(chosen.html, gates_page(shown, system=run.system, source=run.source, target=run.target))


def _in_colour() -> bool:
    """Whether standard output is a terminal with colours, and the user has not turned them off (no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
