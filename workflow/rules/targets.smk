# Check the targets of the command line before Snakemake looks for rules, so that a typing error gets a clear message.
import os

from snakemake.cli import get_argument_parser
from snakemake.io import strip_wildcard_constraints

from nmtcore.errors import joined_by_or
from nmtcore.planning.nearest_target import unknown_target
from nmtcore.planning.targets import check_target


def targets_on_command_line():
    """Return the targets of this command line; the process of a job has none."""
    if not workflow.is_main_process:
        return []
    arguments, _ = get_argument_parser().parse_known_args(sys.argv[1:])
    return sorted(arguments.targets)


def makes(path):
    """Return whether a rule makes a path."""
    return any(candidate.is_producer(path) for candidate in workflow.rules)


@without_traceback
def check_targets():
    """End planning with a message if a target on the command line cannot be made."""
    for target in targets_on_command_line():
        if workflow.is_rule(target):
            check_rule(target)
        else:
            check_file(target)


def check_rule(name):
    """Raise `UserError` if a rule has wildcards and therefore cannot be a target."""
    target_rule = workflow.get_rule(name)
    if target_rule.has_wildcards():
        paths = [strip_wildcard_constraints(str(path)) for path in target_rule.output]
        results = LAYOUT.results
        roots = f" (root: {results} or {results}/SCALE)" if "{root}" in paths[0] else ""
        raise UserError(
            f"{name} makes many files: ask for one of them, {joined_by_or(paths)}{roots}."
        )


def check_file(target):
    """Raise `UserError` if no rule makes a file that does not exist, or if a name in its path is unknown."""
    path = target if os.path.isabs(target) else os.path.relpath(target)  # as Snakemake
    can_be_made = makes(path)
    if not (can_be_made or makes(LAYOUT.spelled(path))) and os.path.exists(path):
        return
    check_target(PROJECT, path)
    if not can_be_made:
        plain_rules = [
            candidate for candidate in workflow.rules if not candidate.has_wildcards()
        ]
        raise UserError(
            unknown_target(
                PROJECT,
                path,
                rules=[plain.name for plain in plain_rules],
                files=[str(file) for plain in plain_rules for file in plain.output],
                makes=makes,
            )
        )
