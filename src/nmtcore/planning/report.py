"""What the report is made from: the tables and figures of the papers, and what the configuration says about runs."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from nmtcore.config.paper_tables import FIGURES_OF_KINDS
from nmtcore.config.project import Project
from nmtcore.errors import UserError
from nmtcore.layout import ParsedPath
from nmtcore.planning.manifests import dataset_sources, read_datasets
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


def report_scores(project: Project) -> list[str]:
    """List the scores of all runs that a table of the papers needs."""
    return [project.layout.path("scores", **run.names) for run in _table_runs(project)]


def report_runs(project: Project) -> dict[str, int]:
    """Return the times of the files of runs that no table needs, which are no inputs: they make the report again."""
    known = {tuple(path.names.values()) for path in _table_runs(project)}
    existing = [(path, project.layout.parse(path)) for path in _existing(project)]
    return {
        str(path): path.stat().st_mtime_ns
        for path, parsed in existing
        if parsed is not None and tuple(parsed.names.values()) not in known
    }


def report_datasets(project: Project) -> dict[str, dict[str, Any]]:
    """Describe the data sets of the papers' tables and those that were read, by name, as `dataset_sources` does."""
    tables = [planned_table(project, name) for paper in all_papers(project) for name in paper_tables_of(project, paper)]
    named = {cell.dataset for table in tables for cell in table.cells}
    named |= {runs.dataset for table in tables for runs in table.runs.values()}
    described = {}
    for name in sorted(filter(None, named)):
        with suppress(UserError):  # the cell says why there is no such data set
            described[name] = dataset_sources(project, dataset=name)
    return {**described, **read_datasets(project)["datasets"]}


def _table_runs(project: Project) -> list[ParsedPath]:
    """List the runs behind the tables of the papers, each once."""
    scale = project.settings.scale
    paths = [
        project.layout.path("scores", scale=scale, dataset=runs.dataset, system=runs.system, seed=seed)
        for paper in all_papers(project)
        for name in paper_tables_of(project, paper)
        for runs in planned_table(project, name).runs.values()
        for seed in runs.seeds
    ]
    return [parsed for path in dict.fromkeys(paths) if (parsed := project.layout.parse(path))]


def _existing(project: Project) -> list[Path]:
    """List the scores and training logs of the results folder at the configured scale."""
    scale = project.settings.scale
    return [path for file_type in ("scores", "history") for path in project.layout.existing(file_type, scale=scale)]


def system_descriptions(project: Project) -> dict[str, str]:
    """Return the descriptions of all systems that have one of their own."""
    entries = project.system_entries.items()
    return {name: entry["description"] for name, (_, entry) in entries if entry.get("description")}


def main_tests(project: Project) -> dict[str, dict[str, Any]]:
    """Describe the main test of each data set that has or will have runs at the configured scale, by data set.

    A description has the `split`, the settings of `evaluation`, the number of `sentences` that the scale uses (None:
    all) and `trees`, the annotation of the sources with dependency trees (None: there is none).
    """
    scale = project.settings.scale
    existing = [parsed for path in _existing(project) if (parsed := project.layout.parse(path))]
    names = sorted({path["dataset"] for path in (*_table_runs(project), *existing)})
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
