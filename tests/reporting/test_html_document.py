"""What all pages of HTML share, in a real browser: names and texts that look like HTML stay text."""

import json

from hypothesis import given
from hypothesis import strategies as st

from nmtcore.files import write_text
from nmtcore.reporting.html_document import html_document, json_script
from nmtcore.tables.render import scrolling

HOSTILE = "</script><script>throw Error(1)</script><!--<img src=x onerror=alert(1)>&amp;\"'\u2028"


def test_titles_labels_and_data_stay_text(browser, tmp_path):
    data = json_script({HOSTILE: [HOSTILE]}, id_="data")
    box = scrolling("<p>content</p>", HOSTILE, name="wide")
    script = "window.read = JSON.parse(document.getElementById('data').textContent);\n"
    path = tmp_path / "page.html"
    write_text(path, html_document(HOSTILE, box + data, script=script))
    with browser.open(path) as page:
        assert page.tab.title().split() == HOSTILE.split()
        assert page.evaluate("window.read") == {HOSTILE: [HOSTILE]}
        assert page.tab.get_attribute(".wide", "aria-label") == HOSTILE
        assert page.evaluate("document.querySelectorAll('script').length") == 2
    browser.check(path)


def test_the_browser_runs_only_the_pages_own_script(browser, tmp_path):
    smuggled = "<script>document.title = 'a'</script><p id='p' onclick=\"document.title = 'b'\">text</p>"
    write_text(tmp_path / "page.html", html_document("title", smuggled, script="window.ran = 'äöü <&>';\n"))
    with browser.open(tmp_path / "page.html") as page:
        page.click("#p")
        assert (page.tab.title(), page.evaluate("window.ran")) == ("title", "äöü <&>")
        assert len(page.errors) == 2
        assert all("Content Security Policy" in error for error in page.errors)


@given(st.lists(st.none() | st.integers() | st.text(), max_size=3))
def test_data_comes_back(value):
    text = json_script(value, id_="data").partition(">")[2].rpartition("</script>")[0]
    assert json.loads(text) == value
    assert not set(text) & set("<>&\u2028\u2029")
