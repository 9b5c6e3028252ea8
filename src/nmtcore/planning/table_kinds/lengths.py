"""Files behind tables of scores by sentence length: translations, sentence pairs of the tests, COMET."""

from nmtcore.config.planned_tables import PlannedTable
from nmtcore.config.project import Project
from nmtcore.planning.paper_tables import run_files, segment_score_files


def lengths_inputs(project: Project, table: PlannedTable) -> list[str]:
    """List the counts of sentences of all runs, and the pairs of the tests that they translate."""
    tests = dict.fromkeys((cell.dataset, cell.split) for cell in table.cells if cell.runs and cell.split)
    pairs = [project.layout.path("pairs", dataset=dataset, split=split) for dataset, split in tests]
    return [*run_files(project, table, "counts"), *pairs, *segment_score_files(project, table)]
