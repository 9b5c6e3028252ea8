"""Write the report from the tables' JSON, the figures and the files of runs: first the result, then the details."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from nmtcore.files import read_json, write_text
from nmtcore.layout import Layout
from nmtcore.reporting.data_table import data_blocks, stage_seconds
from nmtcore.reporting.html_document import html_document, scrolling
from nmtcore.reporting.licences_table import all_licences, licence_blocks
from nmtcore.reporting.manifest import all_data
from nmtcore.reporting.paper_table import linked
from nmtcore.reporting.report.examples import draw_examples, translated_examples
from nmtcore.reporting.report.finding import finding, papers, run_tables, seeds_sentence, state
from nmtcore.reporting.report.runs import empty_seeds, group_runs, run_blocks, run_curves
from nmtcore.reporting.run_index import baseline_differences, labelled, run_index, score_frame
from nmtcore.reporting.svg import embedded_svg
from nmtcore.reporting.table import Block, item_blocks
from nmtcore.reporting.table_html import blocks_html

MANY, EXAMPLES = 30, 3
"""Systems above which a section has no curves, and one example; examples with fewer."""


def write_report(
    *,
    layout: Layout,
    scale: str,
    tables: Sequence[Path],
    figures: Sequence[Path],
    claims: Path,
    descriptions: Mapping[str, str],
    tests: Mapping[str, Mapping[str, Any]],
    baseline: str,
    datasets: Mapping[str, Mapping[str, Any]],
    output: Path,
    warn: Callable[[str], None] = print,
) -> None:
    """Write the report as one HTML file.

    Args:
        layout: the paths of the results.
        scale: the scale of the runs that are shown.
        tables: the JSON of the papers' tables.
        figures: the SVG of the papers' figures.
        claims: the JSON of the ledger.
        descriptions: what the systems are, by name.
        tests: for each data set its main test, as `nmtcore.tables.report_plan.main_tests` describes it.
        baseline: the system that the others are compared with.
        datasets: data sets that are shown as far as they were read, even without runs: their `dataset_sources`.
        output: the file.
        warn: gets a sentence for each run with a broken file, which is left out.
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    runs, rows = run_index(layout, {}, scale=scale, warn=warn)
    scores, contents, judged = labelled(score_frame(rows)), list(map(read_json, tables)), read_json(claims)
    data, groups = all_data(layout, datasets), group_runs(runs, scores)
    by_origin, is_long = {group.origin: group for group in groups}, len(groups) <= MANY
    tests = {dataset: own for dataset, own in tests.items() if dataset in {group.dataset for group in groups}}
    differences = {
        f"{dataset}/{system}": difference
        for dataset, test in tests.items()
        for own in [scores[(scores.measure == "bleu") & (scores.dataset == dataset) & (scores.split == test["split"])]]
        for system, difference in baseline_differences(layout, own, baseline=baseline).items()
    }
    examples = {
        dataset: draw_examples(layout, dataset, test, count=EXAMPLES if is_long else 1)
        for dataset, test in tests.items()
    }

    def link(origin: str) -> str | None:
        """Return the section of runs or of a data set, if the page has it."""
        dataset, _, system = origin.partition("/")
        return f"#runs-{dataset}-{system}" if origin in by_origin else f"#data-{dataset}" if dataset in data else None

    def html(blocks: Sequence[Block]) -> Any:
        return Markup(blocks_html(blocks, level=4, link=link))

    sections = []
    for group in groups:
        other, test = by_origin.get(f"{group.dataset}/{baseline}"), tests.get(group.dataset, {})
        curves = run_curves(group) if is_long else ""
        blocks = [*item_blocks(empty_seeds(group)), *run_blocks(group, None if other is group else other)]
        section = {
            "system": group.system,
            "dataset": group.dataset,
            "description": descriptions.get(group.system, ""),
            "blocks": html(blocks),
            "curves": Markup(scrolling(f"{curves}\n", "curves")) if curves else "",
            "examples": translated_examples(examples.get(group.dataset, []), group.runs, test),
        }
        sections.append(section)
    compared = run_tables(groups, differences, tests, descriptions=descriptions)
    trained = {(run["dataset"], run["system"], run["seed"]) for run in runs}
    planned = {
        (own["dataset"], own["system"], seed)
        for table in contents
        for own in table["runs"].values()
        for seed in (*own["seeds"], *own["unfinished"])
    }
    content = {
        "scale": scale,
        "finding": finding(compared, baseline=baseline),
        "reservation": seeds_sentence(groups),
        "state": state(scale, judged, groups, runs=len(runs), planned=len(planned | trained)),
        "run_tables": compared,
        "papers": papers(judged, {table["paper"]: table["title"] for table in contents}),
        "results": list(_results(contents, {path.stem: path for path in figures}, baseline, link)),
        "sections": sections,
        "datasets": [
            {"name": name, **own, "blocks": html(data_blocks(own, stage_seconds(layout, name)))}
            for name, own in data.items()
        ],
        "licences": html(licence_blocks(all_licences(data, scores))),
        "trees": [own["tree"] for drawn in examples.values() for own in drawn if own["tree"]],
        "link": link,
    }
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template, style, script = (
        files("nmtcore.reporting.report").joinpath(name).read_text(encoding="utf-8")
        for name in ("report.html.jinja", "report.css", "report.js")
    )
    body = environment.from_string(template).render(content)
    write_text(output, html_document(f"Report, scale {scale}", body, style=style, script=script))


def _results(
    tables: Sequence[Mapping[str, Any]],
    figures: Mapping[str, Path],
    baseline: str,
    link: Callable[[str], str | None],
) -> Iterator[dict[str, Any]]:
    """Yield the papers with tables that have a number of ours: their tables and figures, without notes."""
    from markupsafe import Markup

    shown: dict[str, dict[str, Any]] = {}
    for table in tables:
        parts = list(_shown(table["parts"], baseline))
        if not any(part["type"] == "Table" for part in parts):
            continue
        name, figure = f"{table['paper']}_{table['name']}", ""
        if name in figures:
            svg = embedded_svg(figures[name].read_text(encoding="utf-8"))
            figure = Markup(scrolling(f"{svg}\n", f"figure {name}"))
        stand_ins = ", ".join(f"{ours} in place of {theirs}" for theirs, ours in table["stand_ins"].items())
        html = Markup(linked("".join(part["html"] for part in parts), link))
        entry = {"id": f"table-{name}", "heading": table["heading"], "figure": figure, "stand_ins": stand_ins}
        paper = shown.setdefault(table["paper"], {"title": table["title"], "tables": []})
        paper["tables"].append({**entry, "blocks": html})
    yield from shown.values()


def _shown(parts: Sequence[Mapping[str, Any]], baseline: str) -> Iterator[Mapping[str, Any]]:
    """Yield the tables that have a number of a system besides the baseline, and text of corpora; no notes.

    A heading is that of the next table.
    """
    heading: list[Mapping[str, Any]] = []
    for part in parts:
        if part["type"] == "Heading":
            heading = [part]
        elif part["corpus"]:
            yield part
        elif any("/" in own and own.partition("/")[2] != baseline for own in part["origins"]):
            yield from (*heading, part)
            heading = []
