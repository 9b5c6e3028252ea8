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
        ("console.assert(1 > 2, 'less')", "assert: less"),
        ("throw new Error('thrown')", "uncaught: thrown"),
        ("Promise.reject(new Error('refused'))", "uncaught: refused"),
        ("null.length", "uncaught: Cannot read properties of null (reading 'length')"),
    ],
)
def test_errors_are_collected(opened, script, error):
    page = opened(f"<script>{script}</script>")
    page.evaluate("new Promise((resolve) => setTimeout(resolve, 50))")
    assert page.errors == [error]
    with pytest.raises(AssertionError):
        page.no_console_errors()


def test_warnings_are_no_errors(opened):
    page = opened("<script>console.warn('w'); console.log('l'); try { null.x } catch {}</script>")
    page.no_console_errors()


@pytest.mark.parametrize(
    ("body", "request_"),
    [
        ('<script src="https://example.org/a.js"></script>', "https://example.org/a.js"),
        ('<img src="http://127.0.0.1:9/a.png">', "http://127.0.0.1:9/a.png"),
        ('<link rel="stylesheet" href="//example.org/a.css">', "file://example.org/a.css"),
        ("<style>body { background: url(https://example.org/b.png) }</style>x", "https://example.org/b.png"),
        ("<script>fetch('https://example.org/data').catch(() => 0)</script>", "https://example.org/data"),
        ("<script>new WebSocket('ws://127.0.0.1:9/socket')</script>", "ws://127.0.0.1:9/socket"),
        ('<iframe src="https://example.org/frame"></iframe>', "https://example.org/frame"),
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


def test_pictures_within_the_page_are_no_requests(opened):
    page = opened('<img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=" alt="">')
    page.no_requests()
    page.no_console_errors()


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


@pytest.mark.parametrize("dark", [False, True])
def test_width_and_colours_are_those_of_the_user(opened, dark):
    page = opened(SOUND, width=640, dark=dark)
    assert page.evaluate("innerWidth") == 640
    assert page.evaluate("getComputedStyle(document.body).color") == ("rgb(255, 255, 255)" if dark else "rgb(0, 0, 0)")


def test_clicks_keys_and_choices(opened):
    page = opened(
        "<button onclick=\"this.textContent = 'clicked'\">b</button><p id=p>x</p>"
        '<select onchange="p.textContent = this.value"><option>1<option>2</select>'
    )
    page.click("button")
    assert page.text("button") == "clicked"
    page.choose("select", "2")
    assert page.text("p") == "2"
    page.press("Tab")
    page.press("ArrowUp")
    assert page.evaluate("(name) => document.activeElement.localName + name", "!") == "select!"
    assert page.text("#p") == "1"


def test_waiting_ends_when_something_becomes_true(opened):
    page = opened("<p>x</p>")
    started = "setTimeout(() => document.querySelector('p').remove(), 200)"
    assert page.evaluate(f"{started}, document.querySelector('p') !== null")
    page.wait_until("document.querySelector('p') === null")


def test_pictures_and_prints_are_files(opened, tmp_path):
    page = opened(SOUND, width=500)
    picture = page.screenshot(tmp_path / "page.png")
    assert picture == (tmp_path / "page.png").read_bytes()
    assert (picture[:8], int.from_bytes(picture[16:20])) == (b"\x89PNG\r\n\x1a\n", 500)
    assert page.pdf(tmp_path / "page.pdf") == (tmp_path / "page.pdf").read_bytes()
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF-")


@pytest.mark.parametrize(("ci", "outcome"), [("true", pytest.fail.Exception), ("false", pytest.skip.Exception)])
def test_without_chromium_tests_are_skipped_but_fail_in_ci(tmp_path, monkeypatch, ci, outcome):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="Chromium is not installed"):
        chromium_path()
    for name in ("google-chrome", "chromium"):
        (tmp_path / name).touch(mode=0o755)
        assert chromium_path() == str(tmp_path / name)
