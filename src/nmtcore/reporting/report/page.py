"""Write the report from the tables' JSON, the figures, and the files of the runs."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from nmtcore.config.planned_tables import PlannedTable
from nmtcore.config.typed import build
from nmtcore.errors import UserError
from nmtcore.evaluation.metrics import LABELS
from nmtcore.files import read_json, write_text
from nmtcore.layout import Layout
from nmtcore.parquet import row_count
from nmtcore.reporting.claims_page import claims_page
from nmtcore.reporting.data_table import stage_seconds
from nmtcore.reporting.html_document import html_document, scrolling
from nmtcore.reporting.licences_table import (
    Use,
    licence_blocks,
    licence_entries,
    uses_of_comet,
    uses_of_data,
    uses_of_run,
)
from nmtcore.reporting.manifest import describe_datasets, merged_data
from nmtcore.reporting.page_json import blocks_from_json
from nmtcore.reporting.paper_table import heading_of
from nmtcore.reporting.report.data import data_blocks
from nmtcore.reporting.report.examples import draw_examples, example_tree
from nmtcore.reporting.report.runs import (
    SystemRuns,
    empty_seeds,
    group_runs,
    overview_blocks,
    read_settings,
    run_blocks,
    run_curves,
    run_examples,
)
from nmtcore.reporting.run_index import current_manifests
from nmtcore.reporting.table import Block, item_blocks
from nmtcore.reporting.table_content import judged_from_json
from nmtcore.reporting.table_html import blocks_html

TEMPLATE, STYLE, SCRIPT = "report.html.jinja", "report.css", "report.js"
"""The files of the package that the page is made from."""

LARGEST = 3_000_000
"""Bytes of a page above which there is a warning."""


@dataclass(frozen=True, kw_only=True)
class ReportInputs:
    """What the report is made from."""

    scale: str
    tables: Sequence[Path]
    """The JSON of the papers' tables."""
    figures: Sequence[Path]
    """The SVG of the papers' figures."""
    claims: Path
    """The JSON of the ledger."""
    runs: Sequence[Mapping[str, Any]]
    """The runs of the results folder, as `write_manifests` takes them."""
    descriptions: Mapping[str, str]
    """What the systems are, by name."""
    tests: Mapping[str, Mapping[str, Any]]
    """For each data set its main test, as `nmtcore.planning.report.main_tests` describes it."""
    baseline: str
    """The system whose settings the others' are compared with."""
    datasets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Data sets whose data are shown as far as they were read, even if they have no runs: their `dataset_sources`."""


def write_report(inputs: ReportInputs, *, layout: Layout, page: Path, warn: Callable[[str], None] = print) -> None:
    """Write the report as one HTML file; `warn` gets a sentence for each run that cannot be shown as a whole.

    Another one says that the page is larger than `LARGEST`.
    """
    from jinja2 import Environment, StrictUndefined

    manifests = [manifest for _, manifest in current_manifests(layout, inputs.runs, warn)]
    report = _Report(inputs, layout, [own for own in manifests if own["scale"] == inputs.scale], warn)
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_package_file(TEMPLATE))
    body = template.render(report.content())
    title = f"Report, scale {inputs.scale}"
    write_text(page, html_document(title, body, style=_package_file(STYLE), script=_package_file(SCRIPT)))
    if (size := page.stat().st_size) > LARGEST:
        warn(
            f"{page} has {size / 1e6:.1f} MB: above {LARGEST / 1e6:g} MB, browsers take long to show it. Runs that no "
            "table needs are on it, too: move those that you can do without to another results folder."
        )


def _package_file(name: str) -> str:
    return files("nmtcore.reporting.report").joinpath(name).read_text(encoding="utf-8")


@dataclass
class _Report:
    inputs: ReportInputs
    layout: Layout
    manifests: Sequence[Mapping[str, Any]]
    warn: Callable[[str], None]
    groups: list[SystemRuns] = field(init=False)
    examples: dict[str, list[dict[str, Any]]] = field(init=False)
    trees: dict[tuple[str, int], dict[str, Any]] = field(init=False)

    def __post_init__(self) -> None:
        self.groups = group_runs(self.manifests)
        self._runs = {group.origin for group in self.groups}
        self._read = describe_datasets(self.layout, self.inputs.datasets, self.warn)
        with_runs = {own["dataset"] for own in self.manifests if own.get("data") is not None}
        self._datasets = sorted(with_runs | self._read.keys())
        self.examples = {dataset: self._drawn(dataset) for dataset in sorted(with_runs)}
        self.trees = _drawn_trees(self.examples)

    def content(self) -> dict[str, Any]:
        """Return the variables of the template."""
        claims = claims_page(
            [judged_from_json(claim) for claim in read_json(self.inputs.claims)], scale=self.inputs.scale
        )
        main_tests = {dataset: test["split"] for dataset, test in self.inputs.tests.items()}
        return {
            "scale": self.inputs.scale,
            "claims": self._html(claims.blocks, level=3),
            "papers": list(self._papers()),
            "overview": self._html(overview_blocks(self.groups, main_tests), level=3),
            "systems": list(self._systems()),
            "datasets": list(self._data_sections()),
            "licences": self._html(licence_blocks(licence_entries(self._uses())), level=4),
            "trees": list(self.trees.values()),
            "runs": len(self.manifests),
        }

    def _uses(self) -> Iterator[Use]:
        for manifest in self.manifests:
            yield from uses_of_run(manifest)
            if signature := manifest["signatures"].get(LABELS["comet"]):
                yield uses_of_comet(manifest["dataset"], signature)
        for dataset, data in self._read.items():
            yield from uses_of_data(dataset, data)

    def _html(self, blocks: Sequence[Block], *, level: int = 4) -> Any:
        from markupsafe import Markup

        return Markup(blocks_html(blocks, level=level, link=self._link))

    def _link(self, origin: str) -> str | None:
        """Return the section of runs or of a data set, if the page has it."""
        if origin in self._runs:
            return f"#{section_id(*origin.split('/'))}"
        dataset = origin.partition("/")[0]
        return f"#{section_id(dataset)}" if dataset in self._datasets else None

    def _papers(self) -> Iterator[dict[str, Any]]:
        figures = {path.stem: path for path in self.inputs.figures}
        papers: dict[str, dict[str, Any]] = {}
        for path in self.inputs.tables:
            content = read_json(path)
            planned = build(PlannedTable, content["plan"], where=str(path))
            name = f"{planned.paper}_{planned.name}"
            paper = papers.setdefault(planned.paper, {"name": planned.paper, "title": planned.title, "tables": []})
            figure = self._figure(figures[name], name) if name in figures else ""
            blocks = self._html(blocks_from_json(content["blocks"]))
            entry = {"id": f"table-{name}", "place": planned.place, "heading": heading_of(planned)}
            paper["tables"].append({**entry, "figure": figure, "blocks": blocks})
        yield from papers.values()

    @staticmethod
    def _figure(path: Path, name: str) -> Any:
        from markupsafe import Markup

        svg = embedded_svg(path.read_text(encoding="utf-8"), name)
        return Markup(scrolling(f"{svg}\n", f"figure {name}", name="paper"))

    def _systems(self) -> Iterator[dict[str, Any]]:
        """Yield the sections of systems, each with those of its data sets."""
        settings = {group.origin: read_settings(self.layout, group) for group in self.groups}
        for system in dict.fromkeys(group.system for group in self.groups):
            sections = [self._section(group, settings) for group in self.groups if group.system == system]
            description = self.inputs.descriptions.get(system, "")
            yield {"name": system, "id": f"system-{system}", "description": description, "sections": sections}

    def _section(self, group: SystemRuns, settings: Mapping[str, Mapping[str, Any] | None]) -> dict[str, Any]:
        from markupsafe import Markup

        is_baseline = group.system == self.inputs.baseline
        baseline = None if is_baseline else settings.get(f"{group.dataset}/{self.inputs.baseline}")
        shown, curves = [], ""
        blocks = run_blocks(group, settings[group.origin], baseline, baseline_name=self.inputs.baseline)
        try:
            blocks = [*item_blocks(empty_seeds(self.layout, group)), *blocks]
            curves = run_curves(self.layout, group)
            if group.dataset in self.inputs.tests:
                own = self.examples.get(group.dataset, [])
                shown = run_examples(self.layout, group, self.inputs.tests[group.dataset], own)
        except UserError as error:
            self.warn(f"The section of {group.origin} is not complete: {error}")
        return {
            "id": section_id(group.dataset, group.system),
            "dataset": group.dataset,
            "dataset_link": self._link(group.dataset),
            "blocks": self._html(blocks, level=5),
            "curves": Markup(scrolling(f"{curves}\n", "curves")) if curves else "",
            "examples": [
                {**example, **translated, "tree": self.trees.get((group.dataset, example["row"]))}
                for example, translated in zip(self.examples.get(group.dataset, []), shown, strict=False)
            ],
        }

    def _drawn(self, dataset: str) -> list[dict[str, Any]]:
        """Draw the examples of a data set; none if its test was not translated, or if a file cannot be read."""
        test = self.inputs.tests.get(dataset)
        if test is None:
            return []
        pairs = Path(self.layout.path("pairs", dataset=dataset, split=test["split"]))
        trees = None if test["trees"] is None or not Path(test["trees"]).exists() else Path(test["trees"])
        try:
            if not pairs.exists():
                return []
            sentences = row_count(pairs) if test["sentences"] is None else min(row_count(pairs), test["sentences"])
            return draw_examples(pairs, trees, name=dataset, sentences=sentences)
        except UserError as error:
            self.warn(f"The data set {dataset} has no examples: {error}")
            return []

    def _data_sections(self) -> Iterator[dict[str, Any]]:
        for dataset in self._datasets:
            own = [manifest for manifest in self.manifests if manifest["dataset"] == dataset]
            data = merged_data([*(manifest.get("data") for manifest in own), self._read.get(dataset)])
            seconds = next((run["stages"]["data"] for run in own if run.get("stages")), None)
            if seconds is None:
                seconds = stage_seconds(self.layout, dataset)
            yield {
                "id": section_id(dataset),
                "name": dataset,
                "description": data["description"],
                "blocks": self._html(data_blocks(data, seconds), level=4),
            }


def section_id(dataset: str, system: str = "") -> str:
    """Return the id of the section of a system's runs, or of a data set."""
    return f"runs-{dataset}-{system}" if system else f"data-{dataset}"


def _drawn_trees(examples: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[tuple[str, int], dict[str, Any]]:
    """Draw the trees of the examples, by data set and row."""
    from markupsafe import Markup

    trees = {}
    for dataset, own in examples.items():
        for example in own:
            if drawing := example_tree(example):
                trees[dataset, example["row"]] = {
                    "id": f"tree-{dataset}-{example['row']}",
                    "elements": Markup("".join(drawing.elements)),
                    "width": round(drawing.width),
                    "height": round(drawing.height),
                }
    return trees


def embedded_svg(svg: str, name: str) -> str:
    """Make an SVG document a part of an HTML page: without its declaration, and with ids of its own."""
    body = svg[svg.index("<svg") :]
    ids = re.findall(r'\bid="([^"]+)"', body)
    for own in sorted(set(ids), key=len, reverse=True):
        body = re.sub(rf'(\bid="|url\(#|href="#){re.escape(own)}(?=["\)])', rf"\g<1>{name}-{own}", body)
    return body
