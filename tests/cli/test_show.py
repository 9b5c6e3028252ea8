"""`nmtcore show`: from text or a treebank to a page that a browser shows."""

import json
import os

import pytest
from called import call_nmtcore
from factories import run_settings
from inference.test_parse import GOLD
from inference.tiny import write_bundle

from nmtcore.config.components import DepParseSettings, PascalSettings


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return write_bundle(tmp_path_factory.mktemp("show") / "model", run_settings(DepParseSettings(layer=1)))


@pytest.fixture
def show(model, tmp_path):
    def run(*arguments, text=b"", code=0):
        """Return the path of the page, and the errors."""
        called = call_nmtcore("show", model, *arguments, text=text)
        assert called.code == code
        (tmp_path / "page.html").write_text(called.output, encoding="utf-8")
        return tmp_path / "page.html", called.errors

    return run


def test_the_page_of_a_text_passes_all_checks(show, browser):
    page, errors = show(text="the <b>cat</b> & dög\n\n<script>alert(1)</script>\n".encode())
    assert errors == ""
    browser.check(page)
    with browser.open(page) as opened:
        opened.click("#open-all")
        summaries = opened.evaluate(
            "[...document.querySelectorAll('summary')].map((own) => own.textContent.split('\\n')[0])"
        )
        assert summaries == ["1. the <b>cat</b> & dög", "3. <script>alert(1)</script>"]
        maps = set()
        for number in range(8):
            opened.choose("#head", str(number))
            maps.add(opened.evaluate("document.querySelector('[data-map] .drawing').innerHTML"))
        assert len(maps) == 8
        opened.no_console_errors()


def test_the_page_of_a_treebank_has_its_trees(show, browser, tmp_path):
    (tmp_path / "gold.conllu").write_text(GOLD)
    page, errors = show("--treebank", tmp_path / "gold.conllu", text=b"not read\n")
    assert errors == ""
    browser.check(page)
    with browser.open(page) as opened:
        assert opened.text("summary >> nth=1").startswith("2. dog .\n")
        assert opened.text("details[open] section h2 >> nth=0") == "Gold tree of gold.conllu"
        data = json.loads(opened.evaluate("document.getElementById('data').textContent"))
        assert data["sentences"][0]["gold"] == [3, 3, 0]


def test_the_page_says_that_the_model_reads_the_gold_trees(tmp_path):
    run = run_settings(
        PascalSettings(heads=1), features={"source": {"trees": "own"}}, annotators={"own": {"tool": "existing"}}
    )
    (tmp_path / "gold.conllu").write_text(GOLD)
    model = write_bundle(tmp_path / "model", run)
    code, page, errors = call_nmtcore("show", model, "--treebank", tmp_path / "gold.conllu")
    assert (code, errors) == (0, "")
    assert page.count("<h2>Gold tree of gold.conllu, read by the model</h2>") == 2
    assert "Parsed by" not in page


def test_what_is_left_out_is_said_on_the_page_and_in_the_terminal(show):
    page, errors = show(text=b"the\n" * 21)
    note = "Only the first 20 sentences of standard input are shown; --limit N shows others."
    assert errors == f"nmtcore show: {note}\n"
    assert note in page.read_text()
    assert page.read_text().count("<summary>") == 20
    page, errors = show("--limit", 21, text=b"the\n" * 21)
    assert (errors, page.read_text().count("<summary>")) == ("", 21)


@pytest.mark.parametrize(
    ("arguments", "text", "sentence"),
    [
        ([], b"\n \n", "nmtcore show: standard input contains no sentences."),
        ([], b"the\n\xff\n", "nmtcore show: standard input, line 2: is not valid UTF-8 (byte 1)"),
        (["--limit", "0"], b"the\n", "0 is less than 1"),
        (["--treebank", "missing.conllu"], b"", "missing.conllu"),
        (["--treebank", os.devnull], b"", f"nmtcore show: {os.devnull} contains no sentences."),
    ],
)
def test_mistakes_are_one_sentence(show, arguments, text, sentence):
    page, errors = show(*arguments, text=text, code=2)
    assert sentence in errors
    assert page.read_text() == ""


def test_a_page_is_not_written_to_a_terminal(model):
    code, shown, errors = call_nmtcore("show", model, terminal=True)
    assert (code, shown) == (2, "")
    assert errors == "nmtcore show: the page is written to standard output: add, for example, > page.html.\n"
