"""The page of `nmtcore show` in a real browser."""

import numpy as np
import pytest
from browser import WIDE

from nmtcore.drawing.trees import OTHER
from nmtcore.files import write_text
from nmtcore.inference.schemas import (
    AnalysedModel,
    AnalysedSentence,
    AttentionHead,
    GatedSentence,
    LabelledTree,
    TaggedWord,
)
from nmtcore.reporting.show_page import head_name, show_page

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
ENCODER = [AttentionHead("encoder", layer, head) for layer in (0, 1) for head in (0, 1)]
ENCODER[3] = AttentionHead("encoder", 1, 1, component="depparse")
CROSS = [AttentionHead("cross", 0, 0)]
SELECTION = [AttentionHead("cross", 0, 0), AttentionHead("head_selection", None, None)]


def sentence(number, words, *, heads=ENCODER + CROSS, target=("x@@", "y", "</s>"), gold=True, tree=None, **parts):
    """Make a sentence whose words are subwords, with random weights and chains as the heads' trees."""
    words = list(words)
    generator = np.random.default_rng(number)
    source_tokens, chain = [*words, "</s>"], list(range(len(words)))
    sizes = [len(target if head.attention == "cross" else source_tokens) for head in heads]
    encoder = sum(head.attention == "encoder" for head in heads)
    values = {
        "gold": LabelledTree(chain, ["root", *["next"] * (len(words) - 1)]) if gold else None,
        "gold_is_read": False,
        "annotations": {},
        "parse": tree or chain,
        "translation": "xy",
        "tags": None,
        "gates": None,
        **parts,
    }
    return AnalysedSentence(
        number=number,
        text=" ".join(words),
        words=words,
        source_tokens=source_tokens,
        target_tokens=list(target),
        weights=[generator.integers(0, 101, (size, len(source_tokens)), dtype=np.uint8) for size in sizes],
        head_trees=[[*range(2, len(words) + 1), 0] if number % 2 else chain for number in range(encoder)],
        **values,
    )


def model_of(*sentences, heads=ENCODER + CROSS, trees="supervised", system="depparse_l1"):
    return AnalysedModel(system, "demo_en2de", "en", "de", trees, heads, list(sentences))


ALL_PARTS = sentence(
    1, ["a", "b"], heads=SELECTION, gates=GatedSentence(["x@@", "y"], np.arange(2.0)),
    tags=[TaggedWord("xy", "NP/N", 0.5)],
)  # fmt: skip
MODEL = model_of(sentence(1, ["He", "sleeps", "."], tree=[2, 0, 2]), sentence(3, ["The", "dogs", "see", "her"]))


@pytest.fixture(scope="module")
def tab(browser, tmp_path_factory):
    path = tmp_path_factory.mktemp("show") / "page.html"
    write_text(path, "")
    with browser.open(path) as page:
        yield page


@pytest.fixture
def page_of(tab):
    """Load the page of a model in the tab of all tests, which takes less than tabs of their own."""

    def load(model=MODEL, *, note="", gold="gold.conllu", width=WIDE, dark=False):
        write_text(tab.path, show_page(model, gold=gold, note=note))
        tab.resize(width)
        tab.tab.emulate_media(color_scheme="dark" if dark else "light", media="screen")
        tab.visit(tab.path)
        return tab

    return load


def texts(page, selector):
    return page.tab.locator(selector).all_text_contents()


def drawn_weights(page, details="details[open]"):
    """Read the weights of the cells of the open sentence's map, in percent, by the place of their rectangles."""
    cells = page.evaluate(
        """(details) => {
          const map = document.querySelector(`${details} .map`), ground = map.querySelector(".ground");
          const number = (element, name) => Number(element.getAttribute(name));
          const cells = [...map.querySelectorAll(".weight")].map((cell) => [
            (number(cell, "y") - number(ground, "y")) / number(cell, "height"),
            (number(cell, "x") - number(ground, "x")) / number(cell, "width"), 100 * number(cell, "opacity")]);
          const size = number(map.querySelector(".frame"), "width");
          return [[number(ground, "height") / size, number(ground, "width") / size], ...cells];
        }""",
        details,
    )
    (rows, columns), *cells = cells
    weights = np.zeros((round(rows), round(columns)))
    for row, column, percent in cells:
        weights[round(row), round(column)] = percent
    return weights


@pytest.mark.parametrize(
    "model",
    [
        model_of(ALL_PARTS, heads=SELECTION, trees="induced"),
        model_of(sentence(1, ["long" * 30] * 40, target=["y" * 60] * 20), sentence(2, ["w" * 500])),
    ],
    ids=["gates and tags", "long"],
)
def test_pages_pass_all_checks(browser, tmp_path, model):
    write_text(tmp_path / "page.html", show_page(model))
    browser.check(tmp_path / "page.html")


def test_a_head_is_drawn_as_its_weights_and_choosing_another_changes_the_map(page_of):
    page = page_of()
    assert page.text(".controls select option:checked") == "encoder, layer 1, head 1 (depparse)"
    for number in (3, 0, 1, 4, 2):
        page.choose("#head", str(number))
        assert page.text("details[open] .head-name") == head_name(MODEL.heads[number])
        np.testing.assert_allclose(drawn_weights(page), MODEL.sentences[0].weights[number])
    assert texts(page, ".map [text-anchor=end]") == MODEL.sentences[0].source_tokens
    assert texts(page, ".map .number") == []
    page.click("#numbers")
    assert [int(text) for text in texts(page, ".map .number")] == MODEL.sentences[0].weights[2].ravel().tolist()
    page.no_console_errors()


def test_trees_are_below_one_another_and_differences_from_gold_are_coloured(page_of):
    page = page_of()
    titles = ["Gold tree of gold.conllu", "Parsed by the model", "Tree of the chosen head"]
    assert texts(page, "details[open] section h2") == titles
    arcs = lambda tree, stroke="": page.tab.locator(f"details[open] [data-tree={tree}] path[fill=none]{stroke}").count()
    # The gold tree is the chain root > He > sleeps > "."; the parse has two other heads.
    coloured = f"[stroke='{OTHER}']"
    assert [arcs(tree, stroke) for tree in ("gold", "parse") for stroke in ("", coloured)] == [3, 0, 3, 2]
    assert page.text("details[open] [data-tree=parse] figcaption") == "1 of 3 words have their gold head."
    (title,) = texts(page, "details[open] [data-tree=parse] svg title")
    assert title == "Heads of the words: He: sleeps; sleeps: root; .: sleeps"
    gold, parse, _ = (own.bounding_box() for own in page.tab.locator("details[open] section").all())
    assert gold["y"] + gold["height"] <= parse["y"]
    assert min(gold["width"], parse["width"]) > 1000
    head = "details[open] [data-tree=head]"
    for number, right in ((0, 3), (1, 0), (2, 3)):
        page.choose("#head", str(number))
        assert page.text(f"{head} figcaption") == f"{right} of 3 words have their gold head."
        assert page.tab.locator(f"{head} .arc.other").count() == 3 - right
    page.choose("#head", "4")
    assert not page.tab.locator(head).is_visible()


def test_trees_that_the_model_reads_are_drawn_with_their_labels(page_of):
    read = {"<b>spacy</b>": LabelledTree([0, 1, 1], ["root", "obj", "punct"]), "other": LabelledTree([2, 0, 2], None)}
    page = page_of(model_of(sentence(1, ["See", "her", "."], annotations=read)))
    titles = ["Parsed by <b>spacy</b>, read by the model", "Parsed by other, read by the model"]
    assert texts(page, "section h2")[1:3] == titles
    labels = ["obj", "punct", "root", "See", "her", "."]
    assert sorted(texts(page, "[data-tree=annotation-0] text")) == sorted(labels)
    assert page.text("[data-tree=annotation-0] figcaption").startswith("2 of 3 words have their gold head")
    assert page.text("[data-tree=annotation-1] figcaption").startswith("1 of 3 words have their gold head")
    page.no_console_errors()


def test_hostile_text_stays_text(page_of):
    own = sentence(
        1, [HOSTILE, "b"], target=[HOSTILE, "</s>"], translation=HOSTILE, gates=GatedSentence([HOSTILE], np.ones(1)),
        gold=LabelledTree([0, 1], ["root", HOSTILE]),
        tags=[TaggedWord(HOSTILE, HOSTILE, 0.5), TaggedWord("b", None, None)],
    )  # fmt: skip
    heads = [*ENCODER, AttentionHead("cross", 0, 0), AttentionHead(HOSTILE, None, None)]
    own = own._replace(weights=[*own.weights, own.weights[0]])
    page = page_of(model_of(own, heads=heads, system=HOSTILE), note=HOSTILE, gold=HOSTILE)
    page.tab.on("dialog", lambda dialog: pytest.fail(dialog.message))
    page.choose("#head", "5")
    page.click("#numbers")
    assert page.evaluate("[document.scripts.length, document.images.length]") == [2, 0]
    for selector in ("h1", "summary", ".translation", ".tagged:first-child small", ".gates", "[data-tree=gold] svg",
                     ".map", ".head-name", "p:not(.screen)", "section h2"):  # fmt: skip
        assert HOSTILE in texts(page, selector)[0], selector
    assert page.tab.title().startswith(HOSTILE)
    assert page.text(".tagged:nth-child(2) small") == "no tag"
    page.no_console_errors()
    page.no_requests()
