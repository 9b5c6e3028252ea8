"""The command `nmtcore demo`."""

import argparse

_HELP = "Train and score three systems on the demo corpus, and say what their scores mean."


def add_demo(commands: argparse._SubParsersAction) -> None:
    """Add the command and its options."""
    command = commands.add_parser("demo", help=_HELP, description=_HELP)
    command.set_defaults(run=_run_demo)


def _run_demo(chosen: argparse.Namespace) -> None:
    from nmtcore.console.demo import run_demo

    run_demo()
