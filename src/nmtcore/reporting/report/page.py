"""Write the report from the tables' frames, the figures and the files of runs: first the result, then the details."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from nmtcore.drawing.svg import embedded_svg
from nmtcore.files import read_json, write_text
from nmtcore.layout import Layout
from nmtcore.reporting.html_document import html_document
from nmtcore.reporting.report.finding import finding, papers, run_tables, seeds_sentence, state
from nmtcore.reporting.report.runs import empty_seeds, group_runs, run_blocks, run_curves
from nmtcore.reporting.run_index import labelled, run_index, score_frame, system_differences
from nmtcore.tables.blocks import Block, Heading, Paragraph, Table, item_blocks
from nmtcore.tables.ledger import Judged, comparison_table
from nmtcore.tables.make import heading_of, table_blocks
from nmtcore.tables.query import Frame, read_frame
from nmtcore.tables.render import Link, blocks_html, printed, printing, scrolling

MANY = 30
"""Systems above which a section has no curves."""


def write_report(
    *,
    layout: Layout,
    scale: str,
    tables: Sequence[Path],
    figures: Sequence[Path],
    claims: Path,
    descriptions: Mapping[str, str],
    tests: Mapping[str, str],
    compared_with: Mapping[str, str],
    output: Path,
    warn: Callable[[str], None] = print,
) -> None:
    """Write the report as one HTML file.

    Args:
        layout: the paths of the results.
        scale: the scale of the runs that are shown.
        tables: the frames of the papers' tables.
        figures: the SVG of the papers' figures.
        claims: the JSON of the ledger.
        descriptions: what the systems are, by name.
        tests: the main test of each data set.
        compared_with: the system that each is compared with, by name.
        output: the file.
        warn: gets a sentence for each run with a broken file, which is left out.
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    runs, rows = run_index(layout, {}, scale=scale, warn=warn)
    scores, judged = labelled(score_frame(rows)), read_json(claims)
    frames = {path: read_frame(path) for path in tables}
    groups = group_runs(runs, scores)
    by_origin = {group.origin: group for group in groups}
    differences = {
        f"{dataset}/{system}": difference
        for dataset, split in tests.items()
        for test_scores in [scores[(scores.measure == "bleu") & (scores.dataset == dataset) & (scores.split == split)]]
        for system, difference in system_differences(layout, test_scores, compared_with=compared_with).items()
    }

    def link(origin: str) -> str | None:
        """Return the section of runs, if the page has it."""
        return f"#runs-{origin.replace('/', '-')}" if origin in by_origin else None

    def show(entries: Sequence[Judged]) -> str:
        """Return the table of some comparisons."""
        return Markup(blocks_html([comparison_table(entries, scale, of_claim=True)], link=link))

    sections = []
    for group in groups:
        other = by_origin.get(f"{group.dataset}/{compared_with.get(group.system)}")
        curves = run_curves(group) if len(groups) <= MANY else ""
        blocks = [*item_blocks(empty_seeds(group)), *run_blocks(group, other)]
        section = {
            "system": group.system,
            "dataset": group.dataset,
            "description": descriptions.get(group.system, ""),
            "blocks": Markup(blocks_html(blocks, level=4, link=link)),
            "curves": Markup(scrolling(f"{curves}\n", "curves")) if curves else "",
        }
        sections.append(section)
    compared = run_tables(groups, differences, tests, descriptions=descriptions, compared_with=compared_with)
    trained = {(run["dataset"], run["system"], run["seed"]) for run in runs}
    planned = {
        (planned_runs.dataset, planned_runs.system, seed)
        for frame in frames.values()
        for planned_runs in frame.table.runs.values()
        for seed in (*planned_runs.seeds, *planned_runs.unfinished)
    }
    content = {
        "scale": scale,
        "finding": finding(compared),
        "reservation": seeds_sentence(groups),
        "state": state(scale, judged, groups, runs=len(runs), planned=len(planned | trained)),
        "run_tables": compared,
        "papers": papers(judged, {frame.table.paper: frame.table.title for frame in frames.values()}, show),
        "results": list(_results(frames, {path.stem: path for path in figures}, {*compared_with.values()}, link)),
        "sections": sections,
        "folder": layout.results,
    }
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template, style, script = (
        files("nmtcore.reporting.report").joinpath(name).read_text(encoding="utf-8")
        for name in ("report.html.jinja", "report.css", "report.js")
    )
    body = environment.from_string(template).render(content)
    write_text(output, html_document(f"Report, scale {scale}", body, style=style, script=script))


def _results(
    frames: Mapping[Path, Frame], figures: Mapping[str, Path], baselines: Container[str], link: Link
) -> Iterator[dict[str, Any]]:
    """Yield the papers with tables that have a number of ours: their tables and figures, without notes."""
    from markupsafe import Markup

    shown: dict[str, dict[str, Any]] = {}
    for path, frame in frames.items():
        name, table, figure = path.stem, frame.table, ""
        blocks = list(_shown(table_blocks(frame, path.with_suffix(".md")), baselines))
        if not any(isinstance(block, Table) for block in blocks):
            continue
        with printing(table):
            heading, html = printed(heading_of(table).whole), blocks_html(blocks, level=4, link=link)
        if name in figures:
            svg = embedded_svg(figures[name].read_text(encoding="utf-8"))
            figure = Markup(scrolling(f"{svg}\n", f"figure {name}"))
        entry = {
            "id": f"table-{name}",
            "heading": heading,
            "figure": figure,
            "stand_ins": ", ".join(f"{ours} in place of {theirs}" for theirs, ours in table.stand_ins.items()),
            "blocks": Markup(html),
        }
        shown.setdefault(table.paper, {"title": table.title, "tables": []})["tables"].append(entry)
    yield from shown.values()


def _shown(blocks: Iterable[Block], baselines: Container[str]) -> Iterator[Block]:
    """Yield the tables that have a number of a system with which no other is compared, and text of corpora; no notes.

    A heading is that of the next table.
    """
    heading: list[Block] = []
    for block in blocks:
        if isinstance(block, Heading):
            heading = [block]
        elif isinstance(block, Paragraph) and block.corpus:
            yield block
        elif isinstance(block, Table):
            origins = {cell.origin for row in block.rows for cell in row if cell.value is not None}
            if any("/" in origin and origin.partition("/")[2] not in baselines for origin in origins):
                yield from (*heading, block)
                heading = []
