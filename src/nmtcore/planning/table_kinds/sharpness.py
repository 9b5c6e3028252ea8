"""Files behind figures of the sharpness of attention: the attention of all seeds on a test."""

from typing import Any

from nmtcore.config.planned_tables import PlannedTable
from nmtcore.config.project import Project
from nmtcore.planning.measured_tests import measured_files, measured_tests


def sharpness_inputs(project: Project, table: PlannedTable) -> list[str]:
    """List the attention of all runs whose encoder has attention heads."""
    return [path for test in sharpness_facts(project, table)["sharpness"] for path in test["files"]]


def sharpness_facts(project: Project, table: PlannedTable) -> dict[str, Any]:
    """Return `sharpness`: for each test of runs with encoder heads their names, the `claimed` heads, and `files`."""
    tests = [test for test in measured_tests(project, table) if test.run.base == "transformer"]
    return {
        "sharpness": [
            {
                "runs": test.runs,
                "split": test.split,
                "claimed": sorted(test.run.claimed_heads),
                "files": measured_files(project.layout, table, "attention", test),
            }
            for test in tests
        ]
    }
