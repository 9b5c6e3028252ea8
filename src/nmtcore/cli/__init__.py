"""The command line of `nmtcore`: using trained models, comparing scores, and describing the configuration.

Each command is a module of this package. Commands import heavy packages in their functions, so that help and usage
errors are printed at once.
"""

import argparse
import os
import sys
from collections.abc import Sequence

from nmtcore import __version__
from nmtcore.cli.check import add_check
from nmtcore.cli.export import add_export
from nmtcore.cli.import_model import add_import
from nmtcore.cli.logprob import add_logprob
from nmtcore.cli.new import add_new
from nmtcore.cli.parse import add_parse
from nmtcore.cli.prompts import add_prompts
from nmtcore.cli.results import add_results
from nmtcore.cli.schema import add_schema
from nmtcore.cli.score import add_score
from nmtcore.cli.show import add_show
from nmtcore.cli.streams import end_output, escape_unprintable, prepare_output
from nmtcore.cli.translate import add_translate
from nmtcore.errors import UserError, explain_missing_packages, explain_os_errors
from nmtcore.memory import keep_freed_memory


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command. A `UserError` is printed to standard error, with exit status 2."""
    arguments = sys.argv[1:] if arguments is None else arguments
    escape_unprintable()
    chosen = parser().parse_args(arguments)
    keep_freed_memory()
    try:
        _run(chosen)
    except UserError as error:
        print(f"nmtcore {chosen.command}: {error}", file=sys.stderr)
        end_output()
        sys.exit(2)
    except BrokenPipeError:  # the reader has closed the pipe
        end_output()
        sys.exit(128 + 13)
    except KeyboardInterrupt:
        sys.exit(128 + 2)


def _run(chosen: argparse.Namespace) -> None:
    prepare_output()
    with explain_os_errors("the working folder"):
        os.getcwd()  # fails if it has been deleted
    with explain_missing_packages(), explain_os_errors("the output"):  # of errors that name no file
        chosen.run(chosen)
        sys.stdout.flush()


class _Parser(argparse.ArgumentParser):
    """A parser that refuses unknown arguments itself: that of a command then prints the usage of the command.

    The parsers of commands are of the same class; `argparse` would leave these arguments to the parser of `nmtcore`.
    """

    def parse_known_args(self, args=None, namespace=None):
        """Parse arguments; unknown ones are a usage error."""
        chosen, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return chosen, unknown


def parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    top = _Parser(prog="nmtcore", description="Use trained models, compare scores, or describe the configuration.")
    top.add_argument("--version", action="version", version=f"nmtcore {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add_translate(commands)
    add_parse(commands)
    add_score(commands)
    add_logprob(commands)
    add_show(commands)
    add_export(commands)
    add_import(commands)
    add_new(commands)
    add_check(commands)
    add_schema(commands)
    add_results(commands)
    add_prompts(commands)
    return top
