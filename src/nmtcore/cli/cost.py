"""The command `nmtcore cost`."""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

_HELP = "Estimate what the tables of the papers take, without planning their jobs."


def add_cost(commands: argparse._SubParsersAction) -> None:
    """Add the command and its options."""
    command = commands.add_parser("cost", help=_HELP, description=_HELP)
    command.set_defaults(run=_run_cost)
    command.add_argument(
        "tables",
        metavar="TABLE",
        nargs="*",
        help="PAPER_TABLE, such as pham2018_table_6_1, or PAPER for all its tables (default: those of all papers)",
    )
    command.add_argument("--config", type=Path, default=Path("config"), help="folder of config.yaml [%(default)s]")
    command.add_argument("--scale", help="the scale, if it is not that of config.yaml")
    command.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="[%(default)s]")
    command.add_argument("--from-scratch", action="store_true", help="as if the results folder were empty")
    command.add_argument("--update", type=Path, metavar="FILE", help="update the marked table of a Markdown file")


def _run_cost(chosen: argparse.Namespace) -> None:
    from nmtcore.config.project import Project
    from nmtcore.config.yaml_files import config_file
    from nmtcore.errors import UserError
    from nmtcore.planning.costs import planned_costs
    from nmtcore.planning.paper_tables import all_tables, named_tables
    from nmtcore.reporting.cost_table import cost_lines, update_cost_table

    if not (path := config_file(chosen.config)).exists():
        raise UserError(f"{path} does not exist: name the config folder of the repository with --config.")
    changes = {"scale": chosen.scale} if chosen.scale else {}
    with TemporaryDirectory() as empty:
        changes |= {"paths": {"results": empty}} if chosen.from_scratch else {}
        project = Project.load(chosen.config, **changes)
        tables = named_tables(project, chosen.tables, where="TABLE") if chosen.tables else all_tables(project)
        costs = planned_costs(project, tables=tables, on_gpu=chosen.device == "cuda", gpu_option="--device cuda")
    if chosen.update is not None:
        update_cost_table(chosen.update, costs)
    print("\n".join(cost_lines(costs) or ["Everything is there."]))
