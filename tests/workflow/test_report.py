"""The rule of the report, on made-up tables."""

import pytest
from workflow.calling import make_workplace

from nmtcore.config.project import Project
from nmtcore.config.typed import plain
from nmtcore.files import write_json, write_text
from nmtcore.planning.paper_tables import planned_table
from nmtcore.planning.report import report_figures, report_tables

SETTINGS = {"scale": "smoke", "unfinished_runs": "leave_out"}


@pytest.fixture(scope="module")
def workplace(root, tmp_path_factory):
    return make_workplace(tmp_path_factory.mktemp("report"), root / "Snakefile")


def write_tables(project, folder):
    """Write the JSON of each of the papers' tables, empty figures, and a ledger without claims."""
    for path in report_tables(project):
        planned = planned_table(project, path.rpartition("/")[2].removesuffix(".json"))
        names = {key: plain(getattr(planned, key)) for key in ("paper", "name", "title", "scale", "stand_ins", "runs")}
        part = {"type": "Table", "corpus": False, "origins": ["demo_en2de/pascal"], "html": "<table></table>"}
        content = {**names, "heading": "x", "claims": [], "parts": [part]}
        write_json(folder / path, content)
    for path in report_figures(project):
        write_text(folder / path, "<svg></svg>")
    write_json(folder / "results/tables/claims.json", [])


@pytest.mark.needs("Snakemake")
def test_the_report_is_written_from_all_tables(root, workplace):
    project = Project([root / "config"], SETTINGS)
    write_tables(project, workplace.folder)
    options = [f"{key}={value}" for key, value in SETTINGS.items()]
    called = workplace.call("--cores", "1", "results/report.html", "--allowed-rules", "report_page", settings=options)
    assert called.code == 0, called.output
    page = (workplace.folder / "results/report.html").read_text(encoding="utf-8")
    for path in report_tables(project):
        assert f'id="table-{path.rpartition("/")[2].removesuffix(".json")}"' in page
    assert page.count("<svg>") == len(report_figures(project))
