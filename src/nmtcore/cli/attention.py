"""The command `nmtcore attention`."""

import argparse
from pathlib import Path

from nmtcore.cli.options import annotator_folders, device_name, model_command
from nmtcore.cli.streams import standard_input


def add_attention(commands: argparse._SubParsersAction) -> None:
    """Add the command and its options."""
    command = model_command(
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
    bundle = load_observed_bundle(chosen.model, device_name(chosen.device))
    folders = annotator_folders(chosen, bundle)
    write_attention(chosen.output, bundle, standard_input(), cross=chosen.cross, model_folders=folders)
