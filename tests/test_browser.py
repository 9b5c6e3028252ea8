"""The checks of pages in a browser: each passes on a sound page, and fails on one that breaks it."""

import pytest

VIEWPORT = '<meta name="viewport" content="width=device-width">'
SOUND = """<h1 id="top-of-page">Title</h1><p><a href="#end%20here">end</a> <a href="page.html#x">file</a>
<a href="https://example.org/">elsewhere</a> <a href="#top">top</a></p>
<p id="end here"><label for="name">Name</label> <input id="name"></p>
<p style="color: #767676; background: #fff">legible</p><p style="color: #fff" hidden>hidden</p>
<div style="color: #fff; background: #333"><p style="background: rgb(0 0 0 / 0)">on the colour of its parent</p></div>
<div style="overflow-x: auto"><div style="width: 3000px">wide, but in a box that scrolls</div></div>
<style>html { color-scheme: light dark }</style>"""


def write_page(folder, body, *, head=VIEWPORT):
    path = folder / "page.html"
    path.write_text(f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{head}</head>\n<body>{body}</body>')
    return path


def test_a_sound_page_passes_all_checks(browser, tmp_path):
    browser.check(write_page(tmp_path, SOUND))


@pytest.mark.parametrize(
    ("body", "check", "said"),
    [
        ("<script>console.error('bad', 3)</script>", "no_console_errors", "error: bad 3"),
        ('<script src="https://example.org/a.js"></script>', "no_requests", r"\['https://example.org/a.js'\]"),
        ('<script src="own.js"></script>', "no_requests", "/own.js"),
        ('<a href="#lost">x</a>', "every_link_has_its_target", "lost"),
        ('<label for="lost">x</label>', "every_link_has_its_target", "lost"),
        ('<p id="a"></p><p id="a"></p>', "every_link_has_its_target", "used twice"),
        ('<p>x</p><div class="broad" style="width: 401px">x</div>', "nothing_overflows", r"\['div.broad'\]"),
        ('<p style="color: #777; background: #fff">x</p>', "text_is_legible", r"on rgb.*: x"),
    ],
)
def test_each_check_names_its_faults(browser, tmp_path, body, check, said):
    (tmp_path / "own.js").write_text("console.error('it was loaded')")
    with browser.open(write_page(tmp_path, body)) as page:
        page.evaluate("new Promise((resolve) => setTimeout(resolve, 50))")
        assert "it was loaded" not in "".join(page.errors)
        with pytest.raises(AssertionError, match=said):
            getattr(page, check)()
