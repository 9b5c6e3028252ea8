"""Write the report from the tables' JSON, the figures and the files of runs: first the result, then the details."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmtcore.errors import UserError
from nmtcore.evaluation.compare import Difference
from nmtcore.files import read_json, write_text
from nmtcore.layout import Layout
from nmtcore.reporting.data_table import data_blocks, stage_seconds
from nmtcore.reporting.html_document import html_document, scrolling
from nmtcore.reporting.licences_table import all_licences, licence_blocks
from nmtcore.reporting.manifest import FINISHED, all_data
from nmtcore.reporting.paper_table import linked
from nmtcore.reporting.report.examples import draw_examples, example_tree, translated_examples
from nmtcore.reporting.report.finding import finding, papers, run_tables, seeds_sentence, state
from nmtcore.reporting.report.runs import SystemRuns, empty_seeds, group_runs, run_blocks, run_curves, run_path
from nmtcore.reporting.run_index import baseline_differences, labelled, run_index, score_frame
from nmtcore.reporting.svg import embedded_svg
from nmtcore.reporting.table import Block, item_blocks
from nmtcore.reporting.table_html import blocks_html

if TYPE_CHECKING:
    import pandas as pd

MANY, EXAMPLES = 30, 3
"""Systems above which a section has no curve of the training loss, and one example; examples with fewer."""

LARGEST = 3_000_000
"""Bytes of a page above which there is a warning."""


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
        tests: for each data set its main test, as `nmtcore.planning.report.main_tests` describes it.
        baseline: the system that the others are compared with.
        datasets: data sets that are shown as far as they were read, even without runs: their `dataset_sources`.
        output: the file.
        warn: gets a sentence for what cannot be shown as a whole, and if the page is larger than `LARGEST`.
    """
    from jinja2 import Environment, StrictUndefined

    runs, rows = run_index(layout, {}, scale=scale, warn=warn)
    scores, contents, judged = labelled(score_frame(rows)), list(map(read_json, tables)), read_json(claims)
    data, groups = all_data(layout, datasets, warn), group_runs(runs, scores)
    sections = _Sections(layout, groups, tests, data, baseline, warn)
    compared = run_tables(groups, _differences(layout, scores, tests, baseline, warn), tests, descriptions=descriptions)
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
        "results": list(_results(contents, {path.stem: path for path in figures}, sections)),
        "sections": [{**sections.of_runs(own), "description": descriptions.get(own.system, "")} for own in groups],
        "datasets": [sections.of_data(name) for name in data],
        "licences": sections.html(licence_blocks(all_licences(data, scores))),
        "trees": list(sections.trees.values()),
        "link": sections.link,
    }
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template, style, script = (
        files("nmtcore.reporting.report").joinpath(name).read_text(encoding="utf-8")
        for name in ("report.html.jinja", "report.css", "report.js")
    )
    body = environment.from_string(template).render(content)
    write_text(output, html_document(f"Report, scale {scale}", body, style=style, script=script))
    if (size := output.stat().st_size) > LARGEST:
        warn(
            f"{output} has {size / 1e6:.1f} MB: above {LARGEST / 1e6:g} MB, browsers take long to show it. Runs that "
            "no table needs are on it, too: move those that you can do without to another results folder."
        )


def _differences(
    layout: Layout,
    scores: "pd.DataFrame",
    tests: Mapping[str, Mapping[str, Any]],
    baseline: str,
    warn: Callable[[str], None],
) -> dict[str, Difference]:
    """Compare runs with the baseline on the main test of their data set, by DATASET/SYSTEM."""
    compared = {}
    for dataset, test in tests.items():
        own = scores[(scores.measure == "bleu") & (scores.dataset == dataset) & (scores.split == test["split"])]
        try:
            differences = baseline_differences(layout, own, baseline=baseline)
        except UserError as error:
            warn(f"The systems on {dataset} are not compared: {error}")
            continue
        compared |= {f"{dataset}/{system}": difference for system, difference in differences.items()}
    return compared


def _results(
    tables: Sequence[Mapping[str, Any]], figures: Mapping[str, Path], sections: "_Sections"
) -> Iterator[dict[str, Any]]:
    """Yield the papers with tables that have a number of ours: their tables and figures, without notes."""
    from markupsafe import Markup

    shown: dict[str, dict[str, Any]] = {}
    for table in tables:
        parts = list(_shown(table["parts"], sections.baseline))
        if not any(part["type"] == "Table" for part in parts):
            continue
        name, figure = f"{table['paper']}_{table['name']}", ""
        if name in figures:
            svg = embedded_svg(figures[name].read_text(encoding="utf-8"), name)
            figure = Markup(scrolling(f"{svg}\n", f"figure {name}"))
        stand_ins = ", ".join(f"{ours} in place of {theirs}" for theirs, ours in table["stand_ins"].items())
        html = Markup(linked("".join(part["html"] for part in parts), sections.link))
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


class _Sections:
    """The sections of runs and of data sets, to which numbers link."""

    def __init__(
        self,
        layout: Layout,
        groups: Sequence[SystemRuns],
        tests: Mapping[str, Mapping[str, Any]],
        data: Mapping[str, Mapping[str, Any]],
        baseline: str,
        warn: Callable[[str], None],
    ) -> None:
        self._layout, self._tests, self._data, self.baseline, self._warn = layout, tests, data, baseline, warn
        self._groups = {group.origin: group for group in groups}
        self._examples = {dataset: self._drawn(dataset) for dataset in sorted({own.dataset for own in groups})}
        self.trees = {
            tree["id"]: tree
            for dataset, examples in self._examples.items()
            for example in examples
            if (tree := _tree(dataset, example))
        }
        """Those of the examples; sections refer to them."""

    def html(self, blocks: Sequence[Block]) -> Any:
        """Write a part of the page."""
        from markupsafe import Markup

        return Markup(blocks_html(blocks, level=4, link=self.link))

    def link(self, origin: str) -> str | None:
        """Return the section of runs or of a data set, if the page has it."""
        dataset, _, system = origin.partition("/")
        if origin in self._groups:
            return f"#runs-{dataset}-{system}"
        return f"#data-{dataset}" if dataset in self._data else None

    def of_runs(self, group: SystemRuns) -> dict[str, Any]:
        """Describe the section of a system's runs on a data set."""
        from markupsafe import Markup

        examples, curves = [], ""
        baseline = self._groups.get(f"{group.dataset}/{self.baseline}")
        blocks = run_blocks(group, None if baseline is group else baseline)
        try:
            blocks = [*item_blocks(empty_seeds(group)), *blocks]
            curves = run_curves(group, with_loss=len(self._groups) <= MANY)
            for run in [run for run in group.runs if run["state"] == FINISHED][:1]:
                drawn, test = self._examples[group.dataset], self._tests.get(group.dataset, {})
                examples = translated_examples(drawn, run_path(run, "hypotheses"), test) if drawn else []
        except UserError as error:
            self._warn(f"The section of {group.origin} is not complete: {error}")
        return {
            "id": f"runs-{group.dataset}-{group.system}",
            "system": group.system,
            "dataset": group.dataset,
            "dataset_link": self.link(group.dataset),
            "blocks": self.html(blocks),
            "curves": Markup(scrolling(f"{curves}\n", "curves")) if curves else "",
            "examples": [{**own, "tree": self.trees.get(f"tree-{group.dataset}-{own['row']}")} for own in examples],
        }

    def of_data(self, name: str) -> dict[str, Any]:
        """Describe the section of a data set."""
        blocks = self.html(data_blocks(self._data[name], stage_seconds(self._layout, name)))
        return {"id": f"data-{name}", "name": name, "description": self._data[name]["description"], "blocks": blocks}

    def _drawn(self, dataset: str) -> list[dict[str, Any]]:
        """Draw the examples of a data set; none if its test was not translated, or if a file cannot be read."""
        test = self._tests.get(dataset, {"split": "test", "trees": None, "sentences": None})
        pairs = Path(self._layout.path("pairs", dataset=dataset, split=test["split"]))
        if dataset not in self._tests or not pairs.exists():
            return []
        trees = Path(test["trees"]) if test["trees"] and Path(test["trees"]).exists() else None
        count = 1 if len(self._groups) > MANY else EXAMPLES
        try:
            return draw_examples(pairs, trees, name=dataset, sentences=test["sentences"], count=count)
        except UserError as error:
            self._warn(f"The data set {dataset} has no examples: {error}")
            return []


def _tree(dataset: str, example: Mapping[str, Any]) -> dict[str, Any] | None:
    from markupsafe import Markup

    if (drawing := example_tree(example)) is None:
        return None
    return {
        "id": f"tree-{dataset}-{example['row']}",
        "elements": Markup("".join(drawing.elements)),
        "width": round(drawing.width),
        "height": round(drawing.height),
    }
