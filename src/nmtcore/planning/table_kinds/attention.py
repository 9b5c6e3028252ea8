"""Files behind figures of attention: the attention of the first seed on a test, its sentences, and their trees."""

from typing import Any

from nmtcore.config.planned_tables import PlannedTable
from nmtcore.config.project import Project
from nmtcore.planning.measured_tests import MeasuredTest, measured_files, measured_tests


def attention_inputs(project: Project, table: PlannedTable) -> list[str]:
    """List the attention of each system, and the sentences and trees of the tests."""
    tests = attention_facts(project, table)["attention"]
    files = [test[name] for test in tests for name in ("file", "pairs", "trees")]
    return [path for path in files if path is not None]


def attention_facts(project: Project, table: PlannedTable) -> dict[str, Any]:
    """Return `attention`: for each test of some runs its names, paths, and what its base has.

    `encoder_heads`: whether the encoder has attention heads (a transformer's has); `claimed`: those that components
    compute or train; `trees`: the trees that the run's parses are compared with, None if there are none.
    """
    return {"attention": [_entry(project, table, test) for test in measured_tests(project, table)]}


def _entry(project: Project, table: PlannedTable, test: MeasuredTest) -> dict[str, Any]:
    run, names = test.run, {"dataset": test.run.dataset, "split": test.split}
    parsed = run.tree_annotator is not None and test.split in run.parsed_tests
    trees = project.layout.path("annotation", **names, annotator=run.tree_annotator, side="source") if parsed else None
    return {
        "runs": test.runs,
        "split": test.split,
        "encoder_heads": run.base == "transformer",
        "claimed": sorted(run.claimed_heads),
        "file": measured_files(project.layout, table, "attention", test, first_seed=True)[0],
        "pairs": project.layout.path("pairs", **names),
        "trees": trees,
    }
