"""The report: everything is on the page, every number leads to its runs, and no text becomes HTML."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from reporting.report_folder import HOSTILE, report_folder

from nmtcore.evaluation.compare import Difference, compare_systems
from nmtcore.evaluation.counts import read_counts
from nmtcore.evaluation.metrics import score_of
from nmtcore.reporting.report.page import finding, write_report

VOID = {"meta", "input", "br", "link", "img", "hr"}


class Elements(HTMLParser):
    """Collects the elements of a page, and checks that each is closed."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.text = [], [], {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert tag in VOID or self.open.pop() == tag

    def handle_data(self, data):
        for tag in self.open:
            self.text[tag] = self.text.get(tag, "") + data

    def attributes(self, name):
        return [attributes[name] for _, attributes in self.elements if name in attributes]


def written(inputs, *, warnings=(), **changed):
    """Write a report with these warnings, and return its text."""
    warned = []
    write_report(**{**inputs, **changed}, warn=warned.append)
    assert len(warned) == len(warnings)
    assert all(own.startswith(start) for own, start in zip(warned, warnings, strict=True))
    return inputs["output"].read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return written(report_folder(tmp_path_factory.mktemp("report"), ["base", "other"], seeds=2))


def test_everything_is_on_the_page_and_text_stays_text(page):
    elements = Elements(page)
    sections = {"claims", "table-p2020_table_1", "runs-d-base", "runs-d-other"}
    assert sections <= set(elements.attributes("id"))
    assert {link[0] for link in elements.attributes("href")} == {"#"}
    assert [tag for tag, _ in elements.elements].count("script") == 1
    assert HOSTILE not in page
    for tag in ("h3", "p"):  # the paper's title, a description
        assert HOSTILE in elements.text[tag], tag
    assert "alert" not in elements.text["script"]


def test_each_score_of_the_table_leads_to_its_runs(page):
    table = page[page.index('id="table-p2020_table_1"') : page.index('<section id="systems"')]
    linked = re.findall(r'<td class="right"><a href="#runs-d-(\w+)">[\d.]+<span class="tail"[^>]*> ± [\d.]+', table)
    assert linked == ["base", "other", "other"], "BLEU, and BLEU of the difference; chrF beside it leads there, too"
    assert '<tr><td>absent</td><td class="right">1.0</td><td class="right" title="it is not run">' in table
    assert "Not run: 1 of 3 rows; the CSV says why." in table
    assert "makes the runs" not in table, "no command does"


def test_the_page_begins_with_the_finding_and_the_runs(page):
    body = page[page.index("<header>") : page.index('<section id="results"')]
    assert "Scale small: 4 of 4 runs. 0 of 0 claims compared." in body
    said = r"other (is not told apart from base \(<b>.0\.00 ± 0\.00|loses <b>[\d.]+ ± [\d.]+) BLEU</b>"
    assert re.search(said, body)
    assert "have one seed" not in body
    rows = re.findall(r'<tr><td title="[^"]*"><a href="#(runs-d-\w+)">', body)
    assert rows == ["runs-d-base", "runs-d-other"]
    assert body.count('<svg class="whiskers"') == 1


def test_each_system_is_compared_with_the_one_that_its_entry_names(tmp_path):
    inputs = report_folder(tmp_path, ["base", "other", "third"])
    page = written(inputs, compared_with={"other": "base", "third": "other", "base": "not run"})
    against = re.findall(r'title="[^"]*"><a href="#runs-d-(\w+)">(?s:.*?)<td>(\w*)</td>', page)
    assert sorted(against) == [("base", ""), ("other", "base"), ("third", "other")]
    assert re.search(r"third is not told apart from other|third (gains|loses) <b>.*</b> (over|against) other", page)
    assert "Settings that differ from those of other" in page[page.index('id="runs-d-third"') :]
    counts = {}
    for name in ("other", "third"):
        folder = inputs["layout"].path("counts", scale="small", dataset="d", system=name, seed=1)
        counts[name] = [read_counts(Path(folder) / "test.parquet", "bleu", score_of("bleu"))]
    own = compare_systems(counts, {"third": "other"})["third"]
    assert f"<title>{own.delta:+.2f} ± {(own.interval[1] - own.interval[0]) / 2:.2f}</title>" in page


def test_the_finding_counts_what_is_clear_after_holms_correction():
    """The interval of the first difference excludes 0, but four were compared."""
    known = {"seed_error": 1.0, "sentence_error": 1.0, "error": 1.0, "degrees": 4.0, "detectable": 3.0}
    rows = [
        {
            "system": f"s{p}",
            "against": "base",
            "difference": Difference(delta=delta, interval=(delta - 1, delta + 1), p=p, **known),
        }
        for delta, p in ((1.5, 0.03), (3.0, 0.001), (-2.0, 0.012), (0.5, 0.4))
    ]
    text = finding([{"dataset": "d", "rows": rows}])
    assert "Of 4 systems on d, <b>1 gain</b> over base and <b>1 lose</b>" in text


def test_what_was_not_run_is_no_table(tmp_path):
    """A table of which only the baseline was run is left out with its figure."""
    inputs = report_folder(tmp_path, ["base"])
    text = written(inputs)
    assert 'id="table-p2020_table_1"' not in text
    assert "<figure><div" not in text[: text.index('id="systems"')]
    assert "1 of 1 systems have one seed" in text
    links = Elements(written(inputs, scale="tiny", tests={})).attributes("href")
    assert not any(link.startswith("#runs-") for link in links), "no run is of this scale"


def test_a_section_has_scores_cost_settings_and_curves(page):
    start = page.index('id="runs-d-other"')
    base, section = page[page.index('id="runs-d-base"') : start], page[start : page.index('<section id="reading"')]
    assert "Settings that differ" not in base
    for heading in ("Scores", "Cost", "Settings that differ from those of base", "Curves"):
        assert f"<h4>{heading}</h4>" in section
    assert re.search(
        r'<th>test</th><th class="right">BLEU</th>.*\n.*\n.*\n<tr><td>test</td><td class="right">2', section
    )
    assert "<li>BLEU: <code>nrefs:1</code></li>" in section
    cells = ["2", "finished", "17", "3", "3.5 s", "20", "A processor", "c0ffee"]
    assert cells in [re.findall("<td[^>]*>([^<]*)</td>", row) for row in section.split("<tr>")]
    thin, thick = (len(re.findall(f'stroke-width: {width}[;"]', section)) for width in (0.5, 1.4))
    assert (thin, thick) == (3 * 2, 3), "loss, BLEU and accuracy, of two seeds and their mean"
    # This system's, then the baseline's.
    assert "<th>value</th><th>base</th>" in section
    assert "<td>model.width</td><td>10</td><td>8</td>" in section
    assert "<td>tests</td>" not in section
