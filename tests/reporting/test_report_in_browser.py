"""The report in a real browser: it sorts, filters, and opens what a link leads to."""

import pytest
from browser import HEIGHT, NARROW, WIDE
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


def head(name):
    return f".runs th:has(button:text-is('{name}')) button"


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
        original = rows(page, 0)
        assert original == SYSTEMS
        scores = [float(text) for text in rows(page, 1)]
        page.click(head("BLEU"))
        assert [float(text) for text in rows(page, 1)] == sorted(scores)
        assert page.evaluate("document.querySelector('#runs th[aria-sort]').ariaSort") == "ascending"
        page.click(head("BLEU"))
        assert [float(text) for text in rows(page, 1)] == sorted(scores, reverse=True)
        page.click(head("BLEU"))
        assert rows(page, 0) == original
        page.no_console_errors()


def test_the_field_above_a_table_filters_its_rows(browser, path):
    with browser.open(path) as page:
        page.tab.fill("#runs input", "SYSTEM_ b")
        assert rows(page, 0) == ["system_b"]
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
            assert page.tab.locator("#runs-d-system_a svg use").first.evaluate("(use) => use.getBBox().width") > 100
            page.tab.locator("#runs-d-system_a > summary").click()
            table.wait_for(state="hidden")
        page.evaluate("location.hash = '60%'")
        page.tab.goto(f"{page.path.as_uri()}#50%25")
        page.no_console_errors()
        page.no_requests()


def test_the_result_is_on_the_first_screen(browser, tmp_path):
    """The finding, each system with its interval, and the heading of the claims, at both widths."""
    path = tmp_path / "report.html"
    write_report(**report_folder(tmp_path, SYSTEMS[:3]))
    for width in (WIDE, NARROW):
        with browser.open(path, width=width) as page:
            bottoms = page.evaluate(
                "[...document.querySelectorAll('.finding, .runs tr, #claims h2')]"
                ".map((own) => own.getBoundingClientRect().bottom)"
            )
            edges = page.evaluate(
                "[...document.querySelectorAll('.whiskers')].map((own) => own.getBoundingClientRect())"
            )
        assert len(bottoms) == 2 + 4
        assert max(bottoms) <= HEIGHT
        assert len(edges) == 2
        assert all(edge["width"] > 70 and edge["right"] <= width for edge in edges)


def test_all_sections_are_printed(browser, path):
    with browser.open(path) as page:
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert page.evaluate("[...document.querySelectorAll('details')].every((details) => details.open)")
