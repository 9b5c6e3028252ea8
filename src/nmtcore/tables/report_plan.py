"""What the report is made from: the tables and figures of the papers, and what the configuration says about runs."""

from contextlib import suppress

from nmtcore.config.project import Project
from nmtcore.errors import UserError
from nmtcore.layout import ParsedPath
from nmtcore.tables.plan import all_tables, has_figure, planned_table


def report_tables(project: Project) -> list[str]:
    """List the frames of all tables of the papers."""
    return [project.layout.path("table_frame", folder="", table=name) for name in all_tables(project)]


def report_figures(project: Project) -> list[str]:
    """List the figures of the papers."""
    return [
        project.layout.path("figure", folder="", table=name)
        for name in all_tables(project)
        if has_figure(project, name)
    ]


def report_scores(project: Project) -> list[str]:
    """List the scores of all runs that a table of the papers needs."""
    return [project.layout.path("scores", **run.names) for run in _table_runs(project)]


def report_runs(project: Project) -> dict[str, int]:
    """Return the times of the files of runs that no table needs, which are no inputs: they make the report again."""
    known = {tuple(run.names.values()) for run in _table_runs(project)}
    existing = _existing(project).items()
    return {path: time for path, (run, time) in existing if tuple(run.names.values()) not in known}


def system_descriptions(project: Project) -> dict[str, str]:
    """Return the descriptions of all systems that have one of their own."""
    entries = project.system_entries.items()
    return {name: entry["description"] for name, (_, entry) in entries if entry.get("description")}


def system_comparisons(project: Project) -> dict[str, str]:
    """Return the system that each system with runs is compared with, without those that are compared with none."""
    compared = {}
    for name in sorted({run["system"] for run in _shown_runs(project)}):
        with suppress(UserError):  # the configuration no longer has it
            if (other := project.compared_with(name)) is not None:
                compared[name] = other
    return compared


def main_tests(project: Project) -> dict[str, str]:
    """Return the main test of each data set that has or will have runs at the configured scale."""
    tests = {}
    for name in sorted({run["dataset"] for run in _shown_runs(project)}):
        with suppress(UserError):  # the configuration no longer has it
            tests[name] = project.dataset(name).main_test
    return tests


def _shown_runs(project: Project) -> list[ParsedPath]:
    """List the runs that the report shows: those that have files, or that a table needs."""
    return [*_table_runs(project), *(run for run, _ in _existing(project).values())]


def _table_runs(project: Project) -> list[ParsedPath]:
    """List the runs behind the tables of the papers, each once."""
    names = {"scale": project.settings.scale}
    paths = [
        project.layout.path("scores", **names, dataset=runs.dataset, system=runs.system, seed=seed)
        for name in all_tables(project)
        for runs in planned_table(project, name).runs.values()
        for seed in runs.seeds
    ]
    return [parsed for path in dict.fromkeys(paths) if (parsed := project.layout.parse(path))]


def _existing(project: Project) -> dict[str, tuple[ParsedPath, int]]:
    """Return the scores and training logs of the results folder at the configured scale: their names and times."""
    layout, scale = project.layout, project.settings.scale
    paths = [path for file_type in ("scores", "history") for path in layout.existing(file_type, scale=scale)]
    return {str(path): (parsed, path.stat().st_mtime_ns) for path in paths if (parsed := layout.parse(path))}
