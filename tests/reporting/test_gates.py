"""Counts of gate norms by tag, against loops; gate norms as colours of subwords."""

import re
from collections import Counter

import numpy as np
import pytest

from nmtcore.drawing.gates import GATES_STYLE, gated_pieces, gates_range
from nmtcore.files import write_text
from nmtcore.inference.schemas import GATES_SCHEMA, GatedSentence
from nmtcore.parquet import write_rows
from nmtcore.reporting.html_document import html_document
from nmtcore.tables.gates import count_gates

TAGS = ["NOUN", "VERB", "DET"]


def gate_row(words, upos, norms):
    """Make a row; `upos` has a tag per word, and `norms` end in that of `</s>`."""
    tags = None if upos is None else [*(upos[word] for word in words), None]
    return {"pieces": ["x"] * len(norms), "words": [*words, -1], "upos": tags, "norms": norms}


def count(tmp_path, rows):
    write_rows(tmp_path / "gates.parquet", GATES_SCHEMA, ({"id": i, **row} for i, row in enumerate(rows)))
    return count_gates(tmp_path / "gates.parquet")


def test_counts_of_one_sentence(tmp_path):
    counts = count(tmp_path, [gate_row([0, 1, 1, 2], ["DET", "NOUN", "NOUN"], [2, 1, 4, 3, 0.5])])
    tags = {"DET": (0, 1, 1, 2), "NOUN": (1, 2, 3, 8 / 3)}
    assert {tag: tuple(values.values()) for tag, values in counts.pop("tags").items()} == tags
    assert counts == {"sentences": 1, "tagged": 1, "norm": 2.5, "end_norm": 0.5, "end_lowest": 1}


def test_counts_equal_loops(tmp_path):
    random = np.random.default_rng(5)
    rows = []
    for i in range(60):
        words = np.cumsum(random.random(random.integers(1, 9)) < 0.6)
        words = (words - words[0]).tolist()
        upos = None if i % 7 == 0 else [TAGS[k] for k in random.integers(0, 3, words[-1] + 1)]
        rows.append(gate_row(words, upos, random.integers(1, 20, len(words) + 1).astype(float).tolist()))
    counts = count(tmp_path, rows)
    tagged = [row for row in rows if row["upos"] is not None]
    highest = Counter(row["upos"][row["norms"].index(max(row["norms"][:-1]))] for row in tagged)
    assert (counts["sentences"], counts["tagged"]) == (60, len(tagged))
    assert {tag: values["highest"] for tag, values in counts["tags"].items()} == highest
    for tag, values in counts["tags"].items():
        pieces = [
            (number, word, norm)
            for number, row in enumerate(tagged)
            for word, own, norm in zip(row["words"], row["upos"], row["norms"], strict=True)
            if own == tag
        ]
        assert values["pieces"] == len(pieces)
        assert values["words"] == len({(number, word) for number, word, _ in pieces})
        assert values["norm"] == pytest.approx(sum(norm for _, _, norm in pieces) / len(pieces))


def test_sentences_without_tags_or_words_count_for_the_means_alone(tmp_path):
    nothing = {"sentences": 1, "tagged": 0, "tags": {}}
    counts = count(tmp_path, [gate_row([0, 0], None, [1, 2, 3])])
    assert counts == {**nothing, "norm": 1.5, "end_norm": 3, "end_lowest": 0}
    assert count(tmp_path, [gate_row([], [], [2])]) == {**nothing, "norm": None, "end_norm": 2, "end_lowest": 1}
    assert count(tmp_path, [])["norm"] is None


SENTENCE = GatedSentence(["x@@", '<script>"', "&", "é"], np.array([2.0, 3.0, 2.5, 2.25]))


def test_text_is_readable_and_a_larger_norm_has_more_contrast_with_the_page(browser, tmp_path):
    pieces = gated_pieces(GatedSentence(["x"] * 201, np.linspace(1, 2, 201)), 1, 2)
    content = f'<h1>Gates</h1><div class="gates">{pieces}</div>'
    write_text(tmp_path / "gates.html", html_document("Gates", content, style=GATES_STYLE))
    browser.check(tmp_path / "gates.html")
    for dark in (False, True):
        with browser.open(tmp_path / "gates.html", dark=dark) as page:
            colours = page.evaluate(
                "[...document.querySelectorAll('.gates span')].map((own) => getComputedStyle(own).backgroundColor)"
            )
        light = [sum(map(float, re.findall(r"[\d.]+", own.removeprefix("color(srgb"))[:3])) for own in colours]
        assert light == sorted(light, reverse=not dark)
        assert len(set(light)) > 20


def test_colours_hold_over_sentences_and_the_largest_is_bold():
    other = GatedSentence(["z"], np.array([4.0]))
    assert gates_range([SENTENCE, other]) == (2.0, 4.0)
    spans = re.findall(r'<span class="(\w*)" title="(.*?)" style="--share:(\d+)%(.*?)">(.*?)</span>',
                       gated_pieces(SENTENCE, 2, 4) + gated_pieces(other, 2, 4))  # fmt: skip
    assert [title for _, title, *_ in spans] == ["2.000", "3.000", "2.500", "2.250", "4.000"]
    assert [text for *_, text in spans] == ["x@@", "&lt;script&gt;&quot;", "&amp;", "é", "z"]
    assert [int(share) for _, _, share, *_ in spans] == [0, 50, 25, 12, 100]
    assert ["bold" in bold for *_, bold, _ in spans] == [False, True, False, False, True]
    assert gated_pieces(GatedSentence([], np.zeros(0)), *gates_range([])) == ""
