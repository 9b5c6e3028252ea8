"""The report in a real browser: it sorts, filters, and opens what a link leads to."""

import pytest
from browser import NARROW
from reporting.report_folder import report_folder

from nmtcore.reporting.report.page import write_report

SYSTEMS = ["base", *(f"system_{letter}" for letter in "abcdefghijkl")]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    write_report(**report_folder(folder, SYSTEMS))
    return folder / "report.html"


def rows(page, column):
    """Return the texts of a column of the runs that are shown."""
    script = """(column) => [...document.querySelectorAll('.runs tbody tr')]
        .filter((row) => row.offsetParent !== null).map((row) => row.cells[column].textContent.trim())"""
    return page.evaluate(script, column)


def test_the_page_passes_all_checks_also_when_all_sections_are_open_for_printing(browser, path):
    browser.check(path)
    with browser.open(path) as page:
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert page.evaluate("[...document.querySelectorAll('details')].every((details) => details.open)")
        for scheme in ("light", "dark"):
            page.tab.emulate_media(color_scheme=scheme)
            page.nothing_overflows(NARROW)
            page.text_is_legible()
        page.no_console_errors()


def test_a_click_on_a_column_sorts_and_the_third_restores_the_order(browser, path):
    with browser.open(path) as page:
        button, scores = ".runs th:has(button:text-is('BLEU')) button", [float(text) for text in rows(page, 1)]
        page.click(button)
        assert [float(text) for text in rows(page, 1)] == sorted(scores)
        assert page.evaluate("document.querySelector('#runs th[aria-sort]').ariaSort") == "ascending"
        page.click(button)
        assert [float(text) for text in rows(page, 1)] == sorted(scores, reverse=True)
        page.click(button)
        assert rows(page, 0) == SYSTEMS
        page.no_console_errors()


def test_the_field_above_a_table_filters_its_rows(browser, path):
    with browser.open(path) as page:
        page.tab.fill("#runs input", "SYSTEM_ k")
        assert rows(page, 0) == ["system_k"]
        assert page.text("#runs output") == f"1 of {len(SYSTEMS)} rows"
        page.tab.fill("#runs input", "")
        assert len(rows(page, 0)) == len(SYSTEMS)
        assert page.text("#runs output") == ""


def test_a_number_opens_the_section_of_its_runs(browser, path):
    """Again if the section was closed by hand; an address with a percent sign is no error."""
    with browser.open(path) as page:
        link = page.tab.locator("#table-p2020_table_1 a[href='#runs-d-system_a']").first
        table = page.tab.locator("#runs-d-system_a table").first
        for _ in range(2):
            assert not table.is_visible()
            link.click()
            table.wait_for(state="visible")
            page.tab.locator("#runs-d-system_a > summary").click()
            table.wait_for(state="hidden")
        page.evaluate("location.hash = '60%'")
        page.tab.goto(f"{page.path.as_uri()}#50%25")
        page.no_console_errors()
        page.no_requests()
