"""Gate norms as a page of HTML."""

import re
from html.parser import HTMLParser

import numpy as np

from nmtcore.files import write_text
from nmtcore.inference.schemas import GatedSentence
from nmtcore.reporting.gates_page import gates_page

SENTENCE = GatedSentence("A <b> & c", ["x@@", '<script>"', "&", "é"], np.array([2.0, 3.0, 2.5, 2.25]))


def test_text_is_readable_on_every_background(browser, tmp_path):
    sentences = [GatedSentence("<s>", ["x"] * 201, np.linspace(1, 2, 201)), SENTENCE]
    write_text(tmp_path / "gates.html", gates_page(sentences, system="<sa>", source="en", target="de"))
    browser.check(tmp_path / "gates.html")


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
    text = gates_page([SENTENCE, GatedSentence("", [], np.zeros(0))], system="sa", source="en", target="de")
    page = Page(text)
    assert page.texts == {"source muted": "A <b> & c", "gates": " ".join(SENTENCE.pieces)}
    assert page.tags == {"html", "head", "meta", "title", "style", "body", "h1", "p", "ol", "li", "div", "span"}
    assert not {"src", "href"} & page.names
    assert "Gate norms of sa, en to de" in text
    assert [span["title"] for span in page.spans] == ["2.000", "3.000", "2.500", "2.250"]
    colours = [list(map(int, re.findall(r"\d+", span["style"])[:3])) for span in page.spans]
    assert colours[0] == [255, 255, 255]
    assert [colours.index(colour) for colour in sorted(colours, reverse=True)] == [0, 3, 2, 1]
    assert ["bold" in span["style"] for span in page.spans] == [False, True, False, False]
    assert text.count("<li>") == 2
