"""Files behind tables and figures of gates: the norms of gates on a test."""

from typing import Any

from nmtcore.config.planned_tables import PlannedTable
from nmtcore.config.project import Project
from nmtcore.planning.measured_tests import measured_files, measured_tests


def gates_inputs(project: Project, table: PlannedTable) -> list[str]:
    """List the norms of all runs whose system has a gate."""
    return [path for test in gates_facts(project, table)["gates"] for path in test["files"]]


def gates_facts(project: Project, table: PlannedTable) -> dict[str, Any]:
    """Return `gates`: for each test of runs with a gate the names `runs` and `split`, and `files`, one per seed."""
    tests = [test for test in measured_tests(project, table) if test.run.has_gates]
    return {
        "gates": [
            {
                "runs": test.runs,
                "split": test.split,
                "files": measured_files(project.layout, table, "gates", test),
            }
            for test in tests
        ]
    }
