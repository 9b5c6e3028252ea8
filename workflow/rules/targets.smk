# Check the targets of the command line before Snakemake looks for rules, so that a typing error gets a clear message.
from snakemake.cli import get_argument_parser
from snakemake.io import strip_wildcard_constraints

from nmtcore.errors import joined_by_or
from nmtcore.planning.targets import respelled, unknown_target


@without_traceback
def check_targets():
    """End planning with a message if a target on the command line cannot be made; a job's process has no targets."""
    if workflow.is_main_process:
        arguments, _ = get_argument_parser().parse_known_args(sys.argv[1:])
        for target in sorted(arguments.targets):
            check_target(PROJECT, target)


def check_target(project, target):
    """Raise `UserError` for a rule with wildcards, or a path that no rule makes and that does not exist."""
    if workflow.is_rule(target):
        target_rule = workflow.get_rule(target)
        if target_rule.has_wildcards():
            paths = [
                strip_wildcard_constraints(str(path)) for path in target_rule.output
            ]
            root = f"{project.layout.results} or {project.layout.results}/SCALE"
            raise UserError(
                f"{target} makes many files: ask for one of them, {joined_by_or(paths)} (root: {root})."
            )
        return
    path = target if os.path.isabs(target) else os.path.relpath(target)  # as Snakemake
    if not makes(path) and (
        makes(respelled(project, path)) or not os.path.exists(path)
    ):
        plain = [one.name for one in workflow.rules if not one.has_wildcards()]
        raise UserError(unknown_target(project, path, rules=plain, makes=makes))


def makes(path):
    """Return whether a rule makes a path."""
    return any(candidate.is_producer(path) for candidate in workflow.rules)
