"""The command `nmtcore prompts`."""

import argparse
import json
import sys
from contextlib import chdir
from pathlib import Path

from nmtcore.cli.options import folder_path
from nmtcore.cli.streams import write_output

_HELP = "Write the sentences of a test as prompts for an LLM, or its answers as translations: nmtcore prompts DATASET"
_DETAILS = (
    "Prints a JSON object per sentence: id, source, with --trees also tree, and prompt. With --answers, prints the "
    "translations in a file of such objects, id and translation, as the entry of an external system names them."
)


def add_prompts(commands: argparse._SubParsersAction) -> None:
    """Add the command and its options."""
    command = commands.add_parser("prompts", help=_HELP, description=f"{_HELP}. {_DETAILS}")
    command.set_defaults(run=_run_prompts)
    command.add_argument("test", metavar="DATASET", help="a data set (its main test), or DATASET/SPLIT")
    folder_help = "working folder, with config/ in it [the current folder]"
    command.add_argument("--folder", type=folder_path, default=Path(), help=folder_help)
    command.add_argument("--trees", choices=["conllu", "brackets"], help="add dependencies, or constituents")
    command.add_argument("--prompt", metavar="TEXT", help="the prompt, in which {source} and {tree} are replaced")
    command.add_argument("--answers", metavar="FILE", type=Path, help="print the translations in this file")


def _run_prompts(chosen: argparse.Namespace) -> None:
    from nmtcore.config.project import project_of_folder
    from nmtcore.config.typed import choose
    from nmtcore.errors import explain_os_errors
    from nmtcore.evaluation.prompts import prompts, translations_of

    answers, notes = chosen.answers and chosen.answers.absolute(), []
    with explain_os_errors(chosen.folder), chdir(chosen.folder):
        project = project_of_folder(Path())
        name, _, split = chosen.test.partition("/")
        dataset = project.dataset(name)
        split = choose(split or dataset.main_test, dataset.splits, noun="split", where=name)
        if answers is None:
            rows = prompts(project, name, split, trees=chosen.trees, prompt=chosen.prompt)
            lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        else:
            lines, notes = translations_of(project, name, split, answers)
    print(*notes, sep="\n", end="\n" * bool(notes), file=sys.stderr)
    write_output("".join(f"{line}\n" for line in lines))
