"""The checks of pages in a browser: each passes on a sound page, and fails on one that breaks it."""

import contextlib

import pytest
from browser import chromium_path

VIEWPORT = '<meta name="viewport" content="width=device-width">'
SOUND = """<h1 id="top-of-page">Title</h1><p><a href="#end%20here">end</a> <a href="page.html#x">file</a>
<a href="https://example.org/">elsewhere</a> <a href="#top">top</a></p>
<p id="end here"><label for="name">Name</label> <input id="name"></p>
<div style="overflow-x: auto"><div style="width: 3000px">wide, but in a box that scrolls</div></div>
<style>html { color-scheme: light dark }</style>"""


def write_page(folder, body, *, head=VIEWPORT):
    path = folder / "page.html"
    path.write_text(f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{head}</head>\n<body>{body}</body>')
    return path


@pytest.fixture
def opened(browser, tmp_path):
    """Open a page with a body, and close it after the test."""
    pages = []

    def open_body(body, *, head=VIEWPORT, **options):
        pages.append(browser.open(write_page(tmp_path, body, head=head), **options))
        return pages[-1].__enter__()

    yield open_body
    for page in pages:
        page.__exit__(None, None, None)


def test_a_sound_page_passes_all_checks(browser, tmp_path):
    browser.check(write_page(tmp_path, SOUND))


@pytest.mark.parametrize(
    ("script", "error"),
    [
        ("console.error('bad', 3)", "error: bad 3"),
        ("throw new Error('thrown')", "uncaught: thrown"),
        ("null.length", "uncaught: Cannot read properties of null (reading 'length')"),
    ],
)
def test_errors_are_collected(opened, script, error):
    page = opened(f"<script>{script}</script>")
    page.evaluate("new Promise((resolve) => setTimeout(resolve, 50))")
    assert page.errors == [error]
    with pytest.raises(AssertionError):
        page.no_console_errors()


@pytest.mark.parametrize(
    ("body", "request_"),
    [
        ('<script src="https://example.org/a.js"></script>', "https://example.org/a.js"),
        ('<img src="http://127.0.0.1:9/a.png">', "http://127.0.0.1:9/a.png"),
        ('<link rel="stylesheet" href="//example.org/a.css">', "file://example.org/a.css"),
        ("<script>fetch('https://example.org/data').catch(() => 0)</script>", "https://example.org/data"),
        ("<script>new WebSocket('ws://127.0.0.1:9/socket')</script>", "ws://127.0.0.1:9/socket"),
    ],
)
def test_requests_are_collected(opened, body, request_):
    page = opened(body)
    page.evaluate("new Promise((resolve) => setTimeout(resolve, 50))")
    assert page.requests == [request_]
    with pytest.raises(AssertionError, match="asks for"):
        page.no_requests()


def test_a_file_beside_the_page_is_a_request(opened, tmp_path):
    (tmp_path / "a.js").write_text("console.error('it was loaded')")
    page = opened('<script src="a.js"></script>')
    assert page.requests == [(tmp_path / "a.js").as_uri()]
    assert "it was loaded" not in "".join(page.errors)


@pytest.mark.parametrize(
    "body",
    [
        '<a href="#lost">x</a>',
        '<a href="#">x</a>',
        '<a href="lost.html">x</a>',
        '<a href="file:///etc/hostname">x</a>',
        '<svg><use xlink:href="#lost"/></svg>',
        '<label for="lost">x</label>',
        '<button aria-controls="lost">x</button>',
        '<p id="a"></p><p id="a"></p>',
    ],
)
def test_lost_targets_and_repeated_ids_are_found(opened, body):
    with pytest.raises(AssertionError):
        opened(body).every_link_has_its_target()


@pytest.mark.parametrize("width", [1200, 400])
def test_what_overflows_is_found(opened, width):
    body = f'<p>text</p><div class="broad" style="width: {width + 1}px; margin-left: -8px">x</div>'
    page = opened(body)
    page.nothing_overflows(width + 1)
    with pytest.raises(AssertionError, match=r"broad") as failure:
        page.nothing_overflows(width - 8)
    assert "p.null" not in str(failure.value)


def test_a_word_that_sticks_out_of_its_element_is_found(opened):
    page = opened(f'<div><p class="narrow" style="width: 100px">{"w" * 900}</p></div>')
    with pytest.raises(AssertionError, match=r"p\.narrow"):
        page.nothing_overflows(1200)


def test_a_page_without_a_width_for_phones_is_found(opened):
    with pytest.raises(AssertionError, match="viewport"):
        opened("<p>text</p>", head="").nothing_overflows()


@pytest.mark.parametrize(
    ("style", "dark", "legible"),
    [
        ("", False, True),
        ("html { color-scheme: light dark }", True, True),
        ("html { color-scheme: light dark } body { color: #000 }", True, False),
        ("p { color: #777; background: #fff }", False, False),
        ("p { color: #767676; background: #fff }", False, True),
        ("div { color: #fff; background: rgb(0 0 0 / 0) } body { background: #333 }", False, True),
    ],
)
def test_text_without_contrast_is_found(opened, style, dark, legible):
    page = opened(f'<style>{style}</style><div><p>text</p></div><p style="color: #fff" hidden>hidden</p>', dark=dark)
    with contextlib.nullcontext() if legible else pytest.raises(AssertionError, match=r"on rgb.*: text"):
        page.text_is_legible()


@pytest.mark.parametrize(
    "fault",
    [
        '<a href="#lost">x</a>',
        '<div style="width: 401px">x</div>',
        '<img src="https://example.org/a.png">',
        '<p style="color: #888">x</p>',
        "<script>if (matchMedia('(prefers-color-scheme: dark)').matches) throw Error('dark')</script>",
        "<script>if (matchMedia('(prefers-color-scheme: light)').matches) throw Error('light')</script>",
        "<script>onresize = () => { if (innerWidth < 500) throw Error('narrow') }</script>",
    ],
)
def test_each_fault_fails_the_check_of_all(browser, tmp_path, fault):
    with pytest.raises(AssertionError):
        browser.check(write_page(tmp_path, SOUND + fault))


@pytest.mark.parametrize(("ci", "outcome"), [("true", pytest.fail.Exception), ("false", pytest.skip.Exception)])
def test_without_chromium_tests_are_skipped_but_fail_in_ci(tmp_path, monkeypatch, ci, outcome):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="Chromium is not installed"):
        chromium_path()
    for name in ("google-chrome", "chromium"):
        (tmp_path / name).touch(mode=0o755)
        assert chromium_path() == str(tmp_path / name)
