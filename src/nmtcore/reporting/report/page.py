"""Write the report from the tables' frames, the figures and the files of runs: first the result, then the details."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from nmtcore.drawing.svg import embedded_svg
from nmtcore.evaluation.compare import FALSE_ALARMS, compare_systems, holm
from nmtcore.files import read_json, write_text
from nmtcore.layout import Layout
from nmtcore.reporting.html_document import html_document
from nmtcore.reporting.report.runs import difference_text, group_runs, run_blocks, run_curves, run_tables
from nmtcore.reporting.run_index import labelled, read_system_counts, run_index, score_frame
from nmtcore.tables.blocks import Block, Heading, Paragraph, Table
from nmtcore.tables.ledger import ANSWERS, Judged, comparison_table
from nmtcore.tables.make import heading_of, table_blocks
from nmtcore.tables.query import Frame, read_frame, rows_by
from nmtcore.tables.render import Link, blocks_html, printed, printing, scrolling

MANY = 30
"""Systems above which a section has no curves."""

NAMED = 3
"""Compared systems up to which the finding names each."""


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

    runs, rows = run_index(layout, scale=scale, warn=warn)
    scores, judged = labelled(score_frame(rows)), read_json(claims)
    frames = {path: read_frame(path) for path in tables}
    groups = group_runs(runs, scores)
    by_origin = {group.origin: group for group in groups}
    differences = {
        f"{dataset}/{system}": difference
        for dataset, split in tests.items()
        for test_scores in [scores[(scores.measure == "bleu") & (scores.dataset == dataset) & (scores.split == split)]]
        for system, difference in compare_systems(read_system_counts(layout, test_scores), compared_with).items()
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
        section = {
            "system": group.system,
            "dataset": group.dataset,
            "description": descriptions.get(group.system, ""),
            "blocks": Markup(blocks_html(run_blocks(group, other), level=4, link=link)),
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
        "systems": len(groups),
        "with_one_seed": sum(len(group.runs) == 1 for group in groups),
        "false_alarms": FALSE_ALARMS,
        "runs": len(runs),
        "planned": len(planned | trained),
        "claims": len(judged),
        "compared": sum(bool(entry["ours"]) for entry in judged),
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


def finding(tables: Sequence[Mapping[str, Any]]) -> Any:
    """Say in a sentence per data set what the differences are, as HTML."""
    from markupsafe import Markup

    sentences = []
    for table in tables:
        rows = [row for row in table["rows"] if row["difference"] is not None]
        if len(rows) > NAMED:
            sentences.append(_counted(rows, table["dataset"]))
        elif rows:
            named = "; ".join(map(_named, rows))
            sentences.append(f"{named[0].upper() if len(tables) > 1 else named[0]}{named[1:]}.")
    return Markup(" ".join(sentences) or "No system can be compared with another one yet.")


def _named(row: Mapping[str, Any]) -> str:
    """Say what one system gains or loses."""
    (low, high), text = row["difference"].interval, difference_text(row["difference"])
    if low <= 0 <= high:
        return f"{escape(row['system'])} is not told apart from {row['against']} (<b>{text} BLEU</b>)"
    gains, over = ("gains", "over") if low > 0 else ("loses", "against")
    return f"{escape(row['system'])} {gains} <b>{text.lstrip('+-')} BLEU</b> {over} {row['against']}"


def _counted(rows: Sequence[Mapping[str, Any]], dataset: str) -> str:
    """Say how many systems gain or lose by Holm's p, and which gains most."""
    others = list(dict.fromkeys(row["against"] for row in rows))
    over = others[0] if len(others) == 1 else "what they are compared with"
    corrected = holm({number: row["difference"].p for number, row in enumerate(rows)})
    clear = [rows[number]["difference"].delta for number, p in corrected.items() if p is not None and p < 0.05]
    gains, losses = sum(delta > 0 for delta in clear), sum(delta < 0 for delta in clear)
    best = max(rows, key=lambda row: row["difference"].delta)
    return (
        f"Of {len(rows)} systems on {dataset}, <b>{gains} gain</b> over {over} and <b>{losses} lose</b>; the "
        f"others are not told apart. The largest difference is {escape(best['system'])}'s from {best['against']}, "
        f"<b>{difference_text(best['difference'])} BLEU</b>."
    )


def papers(
    judged: Sequence[Judged], titles: Mapping[str, str], show: Callable[[Sequence[Judged]], str]
) -> list[dict[str, Any]]:
    """Return the papers, those with compared claims first: their numbers of answers, and the comparisons of a claim.

    `show` writes comparisons of a claim as HTML.
    """
    described = []
    for (paper,), paper_entries in rows_by(judged, "paper").items():
        claims = rows_by([entry for entry in paper_entries if entry["ours"]], "says")
        described.append(
            {
                "name": paper,
                "title": titles.get(paper, paper),
                "claims": len(paper_entries),
                "answers": _answers(paper_entries),
                "compared": [
                    {
                        "says": says,
                        "place": ", ".join(dict.fromkeys(entry["place"] for entry in entries)),
                        "as_claimed": sum(entry["as_claimed"] for entry in entries),
                        "answers": _answers(entries),
                        "comparisons": len(entries),
                        "table": show(entries),
                    }
                    for (says,), entries in claims.items()
                ],
            }
        )
    return sorted(described, key=lambda description: not description["compared"])


def _answers(judged: Sequence[Judged]) -> dict[str, int]:
    counts = Counter(entry["answer"] for entry in judged)
    return {answer: counts[answer] for answer in ANSWERS if counts[answer]}
