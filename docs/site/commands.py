"""The page on the command line, made from the parsers of `nmtcore`."""

import argparse
import os
import re
from collections.abc import Iterator
from unittest import mock

from nmtcore.cli import parser


def commands_page() -> str:
    """Write the page: for each command what it does, how it is called, and its arguments."""
    text = """# Command line

`nmtcore COMMAND --help` prints the same. Snakemake's targets are in [Running](running.md#targets).

"""
    return text + "\n".join(_section(command) for command in _commands(parser()))


def _commands(top: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield the parsers of all commands that do something, those within others too (`nmtcore new dataset`)."""
    inner = [action for action in top._actions if isinstance(action, argparse._SubParsersAction)]
    if not inner:
        yield top
    for action in inner:
        for command in action.choices.values():
            yield from _commands(command)


def _section(command: argparse.ArgumentParser) -> str:
    with mock.patch.dict(os.environ, {"COLUMNS": "90", "NO_COLOR": "1"}):
        usage = command.format_usage().removeprefix("usage: ").rstrip()
    shown = [action for action in command._actions if action.dest != "help" and action.help != argparse.SUPPRESS]
    rows = [[_names(command, action), _help(command, action)] for action in shown]
    listed = "".join(f"| {names} | {text} |\n" for names, text in rows)
    epilog = f"\n{_prose(command.epilog)}\n" if command.epilog else ""
    return (
        f"## {command.prog}\n\n{_prose(command.description or '')}\n\n```text\n{usage}\n```\n\n"
        f"| argument | meaning |\n| --- | --- |\n{listed}{epilog}"
    )


def _names(command: argparse.ArgumentParser, action: argparse.Action) -> str:
    value = "" if action.nargs == 0 else command._get_formatter()._format_args(action, str(action.dest).upper())
    if not action.option_strings:
        return f"`{action.metavar or action.dest}`"
    return ", ".join(f"`{option} {value}`".replace(" `", "`") for option in action.option_strings).replace("|", "\\|")


def _help(command: argparse.ArgumentParser, action: argparse.Action) -> str:
    text = command._get_formatter()._expand_help(action) if action.help else ""
    return _prose(text) + (" Required." if action.required and action.option_strings else "")


def _prose(text: str) -> str:
    """Protect what Markdown would take for markup, except for names in backticks."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    escaped = [part if part.startswith("`") else re.sub(r"([\\*_<\[\]|])", r"\\\1", part) for part in parts]
    return "".join(escaped)
