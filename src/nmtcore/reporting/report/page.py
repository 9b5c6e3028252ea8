"""Write the report from the tables' JSON, the figures and the files of runs: first the result, then the details."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmtcore.errors import UserError
from nmtcore.evaluation.compare import Difference
from nmtcore.files import read_json, write_text
from nmtcore.layout import Layout, file_name
from nmtcore.parquet import row_count
from nmtcore.reporting.data_table import data_blocks, stage_seconds
from nmtcore.reporting.html_document import html_document, scrolling
from nmtcore.reporting.licences_table import all_uses, licence_blocks, licence_entries
from nmtcore.reporting.manifest import describe_datasets, merged_data, read_manifest
from nmtcore.reporting.paper_table import linked, read_claims
from nmtcore.reporting.report.examples import EXAMPLES, draw_examples, example_tree
from nmtcore.reporting.report.finding import Ledger, finding, run_tables, seeds_sentence
from nmtcore.reporting.report.runs import (
    SystemRuns,
    empty_seeds,
    group_runs,
    run_blocks,
    run_curves,
    run_examples,
)
from nmtcore.reporting.run_index import baseline_differences, labelled, run_index, score_frame
from nmtcore.reporting.svg import embedded_svg
from nmtcore.reporting.table import Block, item_blocks
from nmtcore.reporting.table_html import blocks_html

if TYPE_CHECKING:
    import pandas as pd

TEMPLATE, STYLE, SCRIPT = "report.html.jinja", "report.css", "report.js"
"""The files of the package that the page is made from."""

MANY = 30
"""Systems above which a section has no curve of the training loss, and one example."""

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
    descriptions: Mapping[str, str]
    """What the systems are, by name."""
    tests: Mapping[str, Mapping[str, Any]]
    """For each data set its main test, as `nmtcore.planning.report.main_tests` describes it."""
    baseline: str
    """The system that the others are compared with."""
    datasets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Data sets whose data are shown as far as they were read, even if they have no runs: their `dataset_sources`."""


def write_report(inputs: ReportInputs, *, layout: Layout, page: Path, warn: Callable[[str], None] = print) -> None:
    """Write the report as one HTML file; `warn` gets a sentence for each run that cannot be shown as a whole.

    Another one says that the page is larger than `LARGEST`.
    """
    from jinja2 import Environment, StrictUndefined

    runs, scores = run_index(layout, {}, scale=inputs.scale, warn=warn)
    report = _Report(inputs, layout, runs, labelled(score_frame(scores)), warn)
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    body = environment.from_string(_package_file(TEMPLATE)).render(report.content())
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
    runs: Sequence[Mapping[str, Any]]
    scores: "pd.DataFrame"
    warn: Callable[[str], None]
    groups: list[SystemRuns] = field(init=False)
    examples: dict[str, list[dict[str, Any]]] = field(init=False)
    trees: dict[tuple[str, int], dict[str, Any]] = field(init=False)
    """Those of the examples, by data set and row; sections refer to them."""

    def __post_init__(self) -> None:
        self.groups = group_runs(self.runs, self.scores)
        self._by_origin = {group.origin: group for group in self.groups}
        self._read = describe_datasets(self.layout, self.inputs.datasets, self.warn)
        paths = (Path(run["folder"]) / file_name("manifest") for run in self.runs)
        self._manifests = [manifest for path in paths if (manifest := read_manifest(path)) is not None]
        self._datasets = sorted({manifest["dataset"] for manifest in self._manifests} | self._read.keys())
        self.examples = {dataset: self._drawn(dataset) for dataset in sorted({group.dataset for group in self.groups})}
        self.trees = self._drawn_trees()

    def content(self) -> dict[str, Any]:
        """Return the variables of the template."""
        tables = [read_json(path) for path in self.inputs.tables]
        titles = {table["paper"]: table["title"] for table in tables}
        ledger = Ledger(read_claims(self.inputs.claims), titles=titles, link=self._link)
        planned = {
            (runs["dataset"], runs["system"], seed)
            for table in tables
            for runs in table["runs"].values()
            for seed in (*runs["seeds"], *runs["unfinished"])
        }
        finished = {(run["dataset"], run["system"], run["seed"]) for run in self.runs}
        rows = run_tables(self.groups, self._differences(), self.inputs.tests, descriptions=self.inputs.descriptions)
        return {
            "scale": self.inputs.scale,
            "finding": finding(rows, baseline=self.inputs.baseline),
            "reservation": seeds_sentence(self.groups),
            "state": ledger.state(
                self.inputs.scale, runs=len(self.runs), planned=len(planned | finished), groups=self.groups
            ),
            "run_tables": rows,
            "papers": ledger.papers(),
            "results": list(self._results(tables)),
            "sections": [self._section(group) for group in self.groups],
            "datasets": list(self._data_sections()),
            "licences": self._html(licence_blocks(licence_entries(all_uses(self._manifests, self._read, self.scores)))),
            "trees": list(self.trees.values()),
        }

    def _differences(self) -> dict[str, Difference]:
        """Compare runs with the baseline on the main test of their data set, by DATASET/SYSTEM."""
        bleu, compared = self.scores[self.scores.measure == "bleu"], {}
        for dataset, test in self.inputs.tests.items():
            own = bleu[(bleu.dataset == dataset) & (bleu.split == test["split"])]
            try:
                differences = baseline_differences(self.layout, own, baseline=self.inputs.baseline)
            except UserError as error:
                self.warn(f"The systems on {dataset} are not compared: {error}")
                continue
            compared |= {f"{dataset}/{system}": difference for system, difference in differences.items()}
        return compared

    def _html(self, blocks: Sequence[Block]) -> Any:
        from markupsafe import Markup

        return Markup(blocks_html(blocks, level=4, link=self._link))

    def _link(self, origin: str) -> str | None:
        """Return the section of runs or of a data set, if the page has it."""
        if origin in self._by_origin:
            return f"#{section_id(*origin.split('/'))}"
        dataset = origin.partition("/")[0]
        return f"#{section_id(dataset)}" if dataset in self._datasets else None

    def _results(self, tables: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the papers with tables that have a number of ours: their tables and figures, without notes."""
        from markupsafe import Markup

        figures = {path.stem: path for path in self.inputs.figures}
        papers: dict[str, dict[str, Any]] = {}
        for table in tables:
            parts = list(self._shown(table["parts"]))
            if not any(part["type"] == "Table" for part in parts):
                continue
            name, figure = f"{table['paper']}_{table['name']}", ""
            if name in figures:
                svg = embedded_svg(figures[name].read_text(encoding="utf-8"), name)
                figure = Markup(scrolling(f"{svg}\n", f"figure {name}"))
            paper = papers.setdefault(table["paper"], {"title": table["title"], "tables": []})
            stand_ins = ", ".join(f"{ours} in place of {theirs}" for theirs, ours in table["stand_ins"].items())
            html = Markup(linked("".join(part["html"] for part in parts), self._link))
            entry = {"id": f"table-{name}", "heading": table["heading"], "figure": figure, "stand_ins": stand_ins}
            paper["tables"].append({**entry, "blocks": html})
        yield from papers.values()

    def _shown(self, parts: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """Yield the tables that have a number of a system besides the baseline, and text of corpora; no notes.

        A heading is that of the next table.
        """
        heading: Mapping[str, Any] | None = None
        for part in parts:
            if part["type"] == "Heading":
                heading = part
            elif part["corpus"]:
                yield part
            elif any("/" in own and own.partition("/")[2] != self.inputs.baseline for own in part["origins"]):
                yield from [heading] if heading else []
                heading = None
                yield part

    def _section(self, group: SystemRuns) -> dict[str, Any]:
        from markupsafe import Markup

        baseline = self._by_origin.get(f"{group.dataset}/{self.inputs.baseline}")
        shown, curves = [], ""
        blocks = run_blocks(group, None if baseline is group else baseline)
        try:
            blocks = [*item_blocks(empty_seeds(self.layout, group)), *blocks]
            curves = run_curves(self.layout, group, with_loss=len(self.groups) <= MANY)
            if group.dataset in self.inputs.tests:
                own = self.examples.get(group.dataset, [])
                shown = run_examples(self.layout, group, self.inputs.tests[group.dataset], own)
        except UserError as error:
            self.warn(f"The section of {group.origin} is not complete: {error}")
        return {
            "id": section_id(group.dataset, group.system),
            "system": group.system,
            "dataset": group.dataset,
            "description": self.inputs.descriptions.get(group.system, ""),
            "dataset_link": self._link(group.dataset),
            "blocks": self._html(blocks),
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
            count = 1 if len(self.groups) > MANY else EXAMPLES
            return draw_examples(pairs, trees, name=dataset, sentences=sentences, count=count)
        except UserError as error:
            self.warn(f"The data set {dataset} has no examples: {error}")
            return []

    def _drawn_trees(self) -> dict[tuple[str, int], dict[str, Any]]:
        from markupsafe import Markup

        trees = {}
        for dataset, own in self.examples.items():
            for example in own:
                if drawing := example_tree(example):
                    trees[dataset, example["row"]] = {
                        "id": f"tree-{dataset}-{example['row']}",
                        "elements": Markup("".join(drawing.elements)),
                        "width": round(drawing.width),
                        "height": round(drawing.height),
                    }
        return trees

    def _data_sections(self) -> Iterator[dict[str, Any]]:
        for dataset in self._datasets:
            own = [manifest["data"] for manifest in self._manifests if manifest["dataset"] == dataset]
            data = merged_data([*own, self._read.get(dataset)])
            blocks = self._html(data_blocks(data, stage_seconds(self.layout, dataset)))
            yield {"id": section_id(dataset), "name": dataset, "description": data["description"], "blocks": blocks}


def section_id(dataset: str, system: str = "") -> str:
    """Return the id of the section of a system's runs, or of a data set."""
    return f"runs-{dataset}-{system}" if system else f"data-{dataset}"
