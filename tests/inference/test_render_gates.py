"""Gate norms as coloured text and HTML."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from nmtcore.inference.gate_files import GatedSentence
from nmtcore.inference.render_gates import TERMINAL_COLOURS, html_page, plain_line, shades, terminal_line

SENTENCE = GatedSentence("A <b> & c", ["x@@", '<script>"', "&", "é"], np.array([2.0, 3.0, 2.5, 2.25]))


def test_shades_are_relative_to_the_sentence():
    assert shades(SENTENCE.norms).tolist() == [0, 1, 0.5, 0.25]
    assert shades(np.array([3.0, 3.0])).tolist() == [1, 1]
    assert shades(np.zeros(0)).tolist() == []


def test_the_terminal_shows_larger_norms_darker_and_the_largest_bold():
    line = terminal_line(SENTENCE)
    assert re.sub(r"\x1b\[[0-9;]*m", "", line) == " ".join(SENTENCE.pieces)
    backgrounds = [TERMINAL_COLOURS.index(int(colour)) for colour in re.findall(r"48;5;(\d+)m", line)]
    assert backgrounds == [0, 7, 4, 2]
    assert re.findall(r"\x1b\[(1;)?\d+;48", line) == ["", "1;", "", ""]
    assert line.count("\x1b[0m") == 4


def test_lines_without_colour_have_the_norms():
    assert plain_line(SENTENCE) == 'x@@[2.00] *<script>"[3.00] &[2.50] é[2.25]'


def luminance(colour):
    """The relative luminance of a colour (WCAG 2)."""
    linear = [c / 3294.6 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_is_readable_on_every_background():
    sentence = GatedSentence("", ["x"] * 201, np.linspace(1, 2, 201))
    for span in Page(html_page([sentence], system="sa", source="en", target="de")).spans:
        background = luminance(list(map(int, re.findall(r"\d+", span["style"])[:3])))
        contrast = 1.05 / (background + 0.05) if "#fff" in span["style"] else (background + 0.05) / 0.05
        assert contrast > 4.5


@pytest.mark.parametrize("line_of", [plain_line, terminal_line])
def test_an_empty_sentence_is_an_empty_line(line_of):
    assert line_of(GatedSentence("", [], np.zeros(0))) == ""


class Page(HTMLParser):
    """Collects the texts of a page by class, the attributes of spans, and all tags and names of attributes."""

    def __init__(self, text):
        super().__init__()
        self.texts, self.spans, self.tags, self.names, self.open = {}, [], set(), set(), []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}
        self.spans += [dict(attrs)] if tag == "span" else []
        if tag != "meta":
            self.open.append((tag, dict(attrs).get("class")))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        for _, name in self.open:
            if name:
                self.texts[name] = self.texts.get(name, "") + data


def test_the_page_needs_no_other_file_and_escapes_text():
    text = html_page([SENTENCE, GatedSentence("", [], np.zeros(0))], system="sa", source="en", target="de")
    page = Page(text)
    assert page.texts == {"source": "A <b> & c", "target": " ".join(SENTENCE.pieces)}
    assert page.tags == {"html", "head", "meta", "title", "style", "body", "h1", "p", "ol", "li", "div", "span"}
    assert not {"src", "href"} & page.names
    assert "Gate norms of sa, en to de" in text
    assert [span["title"] for span in page.spans] == ["2.000", "3.000", "2.500", "2.250"]
    colours = [list(map(int, re.findall(r"\d+", span["style"])[:3])) for span in page.spans]
    assert colours[0] == [255, 255, 255]
    assert [colours.index(colour) for colour in sorted(colours, reverse=True)] == [0, 3, 2, 1]
    assert ["bold" in span["style"] for span in page.spans] == [False, True, False, False]
    assert text.count("<li>") == 2
