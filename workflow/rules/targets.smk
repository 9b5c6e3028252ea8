# What the command line asks for, checked before Snakemake looks for rules: a typing error gets a sentence.
import os

from snakemake.cli import get_argument_parser
from snakemake.io import strip_wildcard_constraints

from nmtcore.planning.nearest_target import unknown_target
from nmtcore.planning.targets import check_target


def asked_for():
    """The targets of this command line; the processes of jobs have none."""
    if not workflow.is_main_process:
        return []
    arguments, _ = get_argument_parser().parse_known_args(sys.argv[1:])
    return sorted(arguments.targets)


def makes(path):
    """Whether some rule has a path among its outputs."""
    return any(one.is_producer(path) for one in workflow.rules)


@without_traceback
def check_targets():
    """End planning with a sentence where the command line asks for what cannot be made."""
    for target in asked_for():
        if workflow.is_rule(target):
            check_rule(target)
        else:
            check_file(target)


def check_rule(name):
    found = workflow.get_rule(name)
    if found.has_wildcards():
        paths = [strip_wildcard_constraints(str(path)) for path in found.output]
        results = LAYOUT.results
        roots = f" (root: {results} or {results}/SCALE)" if "{root}" in paths[0] else ""
        raise UserError(
            f"{name} makes many files: ask for one of them, {' or '.join(paths)}{roots}."
        )


def check_file(target):
    path = os.path.relpath(target)  # as Snakemake does
    made = makes(path)
    if not made and os.path.exists(path):
        return
    check_target(PROJECT, path)
    if not made:
        plain_rules = [one for one in workflow.rules if not one.has_wildcards()]
        raise UserError(
            unknown_target(
                PROJECT,
                path,
                rules=[one.name for one in plain_rules],
                files=[str(file) for one in plain_rules for file in one.output],
                makes=makes,
            )
        )
