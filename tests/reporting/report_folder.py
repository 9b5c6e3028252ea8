"""A results folder with runs, pairs, trees and a table, for the tests of the report."""

from pathlib import Path
from typing import Any

from reporting.recorded_runs import SOURCES, layout_of, names_of, write_run
from tables.planned import planned, scored
from tables.runs import write_translations

from nmtcore.config.typed import plain
from nmtcore.files import write_json, write_text
from nmtcore.layout import Layout
from nmtcore.reporting.manifest import write_manifest
from nmtcore.tables.make import write_claims, write_table

HOSTILE = "<script>alert('&')</script>"
"""Text of a corpus that would be a script."""

SENTENCES = 12


def report_folder(folder: Path, systems: list[str], *, seeds: int = 1) -> dict[str, Any]:
    """Write runs of systems on the data set `d`, a table of their scores, the ledger and a figure.

    Returns the arguments of `write_report`.
    """
    layout = Layout(**{**vars(layout_of(folder)), "papers": ("p2020",)})
    names = [(system, seed) for system in systems for seed in range(1, seeds + 1)]
    for number, (system, seed) in enumerate(names):
        _write_report_run(layout, system, seed, number)
    for run in names:
        write_manifest(layout, names_of(*run), {**SOURCES, "description": HOSTILE})
    table = {"folder": "", "table": "p2020_table_1"}
    tables, figure = (Path(layout.path(file_type, **table)) for file_type in ("table_frame", "figure"))
    claims = Path(layout.path("claim_json", folder=""))
    write_table(_plan(layout, systems, seeds), frame=tables, table=tables.with_suffix(".md"))
    write_claims([tables], scale="small", json=claims, table=claims.with_suffix(".md"))
    write_text(figure, '<?xml version="1.0"?><svg><clipPath id="c"/><g clip-path="url(#c)"></g></svg>')
    return {
        "layout": layout,
        "scale": "small",
        "tables": [tables],
        "figures": [figure],
        "claims": claims,
        "descriptions": {systems[0]: HOSTILE},
        "tests": {"d": "test"},
        "compared_with": dict.fromkeys([*systems[1:], "absent"], systems[0]),
        "output": folder / "report.html",
    }


def _write_report_run(layout: Layout, system: str, seed: int, number: int) -> None:
    folder = write_run(layout, system, seed, bleu=20.0 + number)
    references = [f"der Hund {HOSTILE} sieht eine Katze {i}" for i in range(SENTENCES)]
    translations = [line.replace("eine", f"keine {system}") for line in references]
    write_translations(layout, system, seed, translations, references, scale="small")
    settings = {**names_of(system, seed), "model": {"width": 8 + number}, "tests": ["test"]}
    write_json(folder / "model/run.json", settings)


def _plan(layout: Layout, systems: list[str], seeds: int) -> dict:
    numbers = list(range(1, seeds + 1))
    cells = [
        {"row": system, "column": "bleu", "published": 20.5, **scored(layout, system, numbers, scale="small")}
        for system in systems
    ]
    cells.append({"row": "absent", "column": "bleu", "published": 1.0, "metric": "bleu", "reason": "it is not run"})
    table = planned(
        "scores", cells, seeds=dict.fromkeys(systems, numbers), columns={"bleu": {"digits": 1}}, scale="small",
        title=f"A paper {HOSTILE}", description="scores", baselines=(systems[0],),
    )  # fmt: skip
    return plain(table)
