"""What the report is made from: the tables and figures of the papers, and what the configuration says about runs."""

from typing import Any

from nmtcore.config.paper_tables import FIGURES_OF_KINDS
from nmtcore.config.project import Project
from nmtcore.errors import UserError
from nmtcore.planning.paper_tables import all_papers, paper_table_jsons, paper_tables_of, planned_table


def report_tables(project: Project) -> list[str]:
    """List the JSON of all tables of the papers."""
    return [path for paper in all_papers(project) for path in paper_table_jsons(project, paper=paper)]


def report_figures(project: Project) -> list[str]:
    """List the figures of the papers."""
    return [
        project.layout.path("paper_figure", table="", paper_table=name)
        for paper in all_papers(project)
        for name in paper_tables_of(project, paper)
        if planned_table(project, name).table_kind in FIGURES_OF_KINDS
    ]


def system_descriptions(project: Project) -> dict[str, str]:
    """Return the descriptions of all systems that have one of their own."""
    entries = project.system_entries.items()
    return {name: entry["description"] for name, (_, entry) in entries if entry.get("description")}


def main_tests(project: Project) -> dict[str, dict[str, Any]]:
    """Describe the main test of each data set that has runs at the configured scale: {data set: description}.

    A description has the `split`, the settings of `evaluation`, the number of `sentences` that the scale uses (None:
    all) and `trees`, the annotation of the sources with dependency trees (None: there is none).
    """
    scale = project.settings.scale
    paths = [project.layout.parse(path) for path in project.layout.existing("manifest", scale=scale)]
    paths += [project.layout.parse(path) for path in project.layout.existing("scores", scale=scale)]
    names = sorted({path["dataset"] for path in paths if path is not None})
    tests = {}
    for name in names:
        try:
            dataset = project.dataset(name)
        except UserError:  # the configuration no longer has it
            continue
        split, annotator = dataset.main_test, dataset.syntax.get("source", {}).get("dependencies")
        trees = {"dataset": name, "annotator": annotator, "split": split, "side": "source"}
        tests[name] = {
            "split": split,
            "evaluation": {key: getattr(dataset.evaluation, key) for key in ("text", "tokenize", "lowercase")},
            "sentences": project.scale(scale).sentences.test,
            "trees": None if annotator is None else project.layout.path("annotation", **trees),
        }
    return tests
