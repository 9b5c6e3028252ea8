"""The report in a real browser: it sorts, filters and opens what a link leads to, and its text is never a script."""

import re

import pytest
from browser import NARROW, WIDE
from nmtcore.reporting.table_content import judged_to_json
from reporting.report_folder import HOSTILE, report_folder

from nmtcore.config.claims import paper_claims
from nmtcore.config.project import Project
from nmtcore.config.published import paper_names, read_paper
from nmtcore.evaluation.compare import Difference
from nmtcore.evaluation.verdicts import judge_claim
from nmtcore.files import write_json
from nmtcore.reporting.claims_page import JudgedClaim
from nmtcore.reporting.report.page import write_report

SYSTEMS = ["base", *(f"system_{letter}" for letter in "dbaecfgh")]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    layout, inputs = report_folder(folder, SYSTEMS)
    write_report(inputs, layout=layout, page=folder / "report.html")
    return folder / "report.html"


LANDSCAPE = (297 - 20) * 96 / 25.4
"""The width of landscape A4 between margins of a centimetre, in pixels of CSS."""


@pytest.fixture(scope="module")
def ledger_path(root, tmp_path_factory):
    """A page with a real ledger: every tenth claim of each paper, as if it were run."""
    folder = tmp_path_factory.mktemp("ledger")
    layout, inputs = report_folder(folder, SYSTEMS)
    project = Project.load(root / "config")
    ours = Difference(
        delta=-11.25, seed_error=0.2, sentence_error=0.3, error=0.36, degrees=8.0,
        interval=(-12.42, -10.08), detectable=1.16, p=0.0008,
    )  # fmt: skip
    claims = [claim for name in paper_names(project) for claim in paper_claims(read_paper(project, name))[::10]]
    judged = [JudgedClaim(claim, judge_claim(claim, ours), seeds=5, baseline_seeds=5) for claim in claims]
    write_json(inputs.claims, [judged_to_json(claim) for claim in judged])
    write_report(inputs, layout=layout, page=folder / "report.html")
    return folder / "report.html"


def rows(page, section, column):
    """Return the texts of a column of the rows that are shown."""
    script = """([section, column]) => [...document.querySelectorAll(`${section} table:last-of-type tbody tr`)]
        .filter((row) => row.offsetParent !== null).map((row) => row.cells[column].textContent)"""
    return page.evaluate(script, [section, column])


def head(section, name):
    return f"{section} th:has(button:text-is('{name}')) button"


def test_the_page_passes_all_checks(browser, path):
    browser.check(path)


def test_all_sections_pass_when_they_are_open(browser, path):
    for dark in (False, True):
        with browser.open(path, dark=dark) as page:
            page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
            page.nothing_overflows(NARROW)
            page.text_is_legible()
            page.no_console_errors()


def test_a_click_on_a_column_sorts_and_the_third_restores_the_order(browser, path):
    with browser.open(path) as page:
        original = rows(page, "#runs", 0)
        assert original == sorted(SYSTEMS)
        scores = [float(text) for text in rows(page, "#runs", 4)]
        page.click(head("#runs", "BLEU"))
        assert [float(text) for text in rows(page, "#runs", 4)] == sorted(scores)
        assert page.evaluate("document.querySelector('#runs th[aria-sort]').ariaSort") == "ascending"
        page.click(head("#runs", "BLEU"))
        assert [float(text) for text in rows(page, "#runs", 4)] == sorted(scores, reverse=True)
        page.click(head("#runs", "BLEU"))
        assert rows(page, "#runs", 0) == original
        page.click(head("#runs", "system"))
        page.click(head("#runs", "system"))
        assert rows(page, "#runs", 0) == sorted(SYSTEMS, reverse=True)
        page.no_console_errors()


def test_durations_are_sorted_by_their_length_and_empty_cells_come_last(browser, path):
    with browser.open(path) as page:
        texts = ["1 h 0 min", "59 s", "", "2 min 3 s"]
        page.evaluate(
            """(texts) => [...document.querySelectorAll('#runs tbody tr')].slice(0, 4).forEach((row, i) => {
              row.cells[9].textContent = texts[i];
              if (texts[i]) row.cells[9].dataset.value = [3600, 59, 0, 123][i];
              else delete row.cells[9].dataset.value;
            })""",
            texts,
        )
        page.click(head("#runs", "training"))
        assert [text for text in rows(page, "#runs", 9) if text in texts] == ["59 s", "2 min 3 s", "1 h 0 min", ""]
        assert rows(page, "#runs", 9)[-1] == ""


def test_the_field_above_a_table_filters_its_rows(browser, path):
    with browser.open(path) as page:
        page.tab.fill("#runs input", "SYSTEM_ d")
        assert rows(page, "#runs", 0) == sorted(SYSTEMS[1:])  # all are on the data set d
        page.tab.fill("#runs input", "system_b complete")
        assert rows(page, "#runs", 0) == ["system_b"]
        assert page.text("#runs output") == "1 of 9 rows"
        page.tab.fill("#runs input", "")
        assert len(rows(page, "#runs", 0)) == 9
        assert page.text("#runs output") == ""


def test_a_number_opens_the_section_of_its_runs(browser, path):
    with browser.open(path) as page:
        assert not page.tab.locator("#runs-d-system_a table").first.is_visible()
        page.tab.locator("#table-p2020_table_1 a[href='#runs-d-system_a']").first.click()
        page.tab.locator("#runs-d-system_a table").first.wait_for(state="visible")
        assert page.tab.locator("#runs-d-system_a svg use").first.evaluate("(use) => use.getBBox().width") > 100
        page.no_requests()


def test_a_link_opens_a_section_that_was_closed_by_hand(browser, path):
    with browser.open(path) as page:
        link = page.tab.locator("#table-p2020_table_1 a[href='#runs-d-system_a']").first
        for _ in range(2):
            link.click()
            page.tab.locator("#runs-d-system_a table").first.wait_for(state="visible")
            page.tab.locator("#runs-d-system_a > summary").click()
            page.tab.locator("#runs-d-system_a table").first.wait_for(state="hidden")
        page.no_console_errors()


def test_an_address_with_a_percent_sign_is_no_error(browser, path):
    with browser.open(path) as page:
        page.tab.goto(f"{page.path.as_uri()}#50%")
        page.evaluate("location.hash = '60%'")
        page.no_console_errors()
        page.tab.goto(f"{page.path.as_uri()}#50%25")
        page.no_console_errors()


def test_the_text_of_corpora_is_shown_as_it_is(browser, path):
    with browser.open(path) as page:
        dialogs = []
        page.tab.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        page.evaluate("location.hash = 'runs-d-base'")
        page.tab.locator("#runs-d-base dl").first.wait_for(state="visible")
        assert HOSTILE in page.tab.locator("#runs-d-base dl").first.inner_text()
        assert dialogs == []


def test_the_ledger_shows_on_a_screen_what_decides_its_verdicts(browser, ledger_path):
    with browser.open(ledger_path, width=WIDE) as page:
        edges = page.evaluate(
            "[...[...document.querySelectorAll('#claims table')].at(-1).tHead.rows[0].cells]"
            ".map((head) => [head.textContent, head.getBoundingClientRect().right])"
        )
    shown = [name for name, right in edges if right <= WIDE]
    assert {"system", "data set", "published", "ours", "95 % interval", "verdict"} <= set(shown)


def test_nothing_is_cut_off_or_tiny_on_paper(browser, ledger_path, tmp_path):
    with browser.open(ledger_path) as page:
        page.tab.emulate_media(media="print")
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        page.nothing_overflows(int(LANDSCAPE))
        page.no_console_errors()
        ledger = page.evaluate(
            "[...document.querySelectorAll('#claims table')].at(-1).querySelectorAll('tbody tr').length"
        )
        words = page.printed_words(tmp_path / "report.pdf")
        heads = page.evaluate("[...document.querySelectorAll('#claims th')].map((th) => th.textContent)")
    assert heads[-1] == "scale"
    assert ledger > 15
    assert [text for text, _ in words].count("small") >= ledger, "the last column is cut off"
    assert min(height for text, height in words if re.fullmatch(r"[a-z]{4,}", text)) > 7, "everything is shrunk"


def test_all_sections_are_printed(browser, path):
    with browser.open(path) as page:
        closed = len(page.pdf())
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert page.evaluate("[...document.querySelectorAll('details')].every((details) => details.open)")
        assert closed > 10_000
