"""The command `nmtcore gates`."""

import argparse
from pathlib import Path

from nmtcore.cli.options import annotator_folders, device_name, model_command
from nmtcore.cli.streams import write_output


def add_gates(commands: argparse._SubParsersAction) -> None:
    """Add the command and its options."""
    command = model_command(
        commands,
        "gates",
        _run_gates,
        help="Write the gate norm of every subword of translations: nmtcore gates MODEL SOURCE TARGET",
    )
    command.add_argument("source", metavar="SOURCE", type=Path, help="a file of sentences, one per line")
    command.add_argument("target", metavar="TARGET", type=Path, help="their translations, one per line")
    command.add_argument(
        "--html", type=Path, metavar="FILE", help="also write a web page that colours the subwords by their norms"
    )


def _run_gates(chosen: argparse.Namespace) -> None:
    from nmtcore.errors import explain_os_errors
    from nmtcore.files import check_output_path, write_text
    from nmtcore.inference.bundle import load_bundle
    from nmtcore.inference.gates import plain_line, read_gates
    from nmtcore.inference.text import read_text
    from nmtcore.reporting.gates_page import gates_page

    if chosen.html is not None:
        check_output_path(chosen.html)
    bundle = load_bundle(chosen.model, device_name(chosen.device))
    with explain_os_errors(chosen.source), open(chosen.source, "rb") as source, open(chosen.target, "rb") as target:
        texts = read_text(source, where=str(chosen.source)), read_text(target, where=str(chosen.target))
        shown = []
        for sentence in read_gates(bundle, *texts, model_folders=annotator_folders(chosen, bundle)):
            write_output(f"{plain_line(sentence)}\n")
            if chosen.html is not None:
                shown.append(sentence)
    if chosen.html is not None:
        run = bundle.run
        write_text(chosen.html, gates_page(shown, system=run.system, source=run.source, target=run.target))
