"""CCG categories, and the constructions that they show."""

import json

import ccg_oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.demo import generate
from nmtcore.syntax.categories import CONSTRUCTIONS, category_fault, constructions


def is_category(text):
    try:
        return bool(ccg_oracle.parse_category(text))
    except ValueError:
        return False


@given(st.lists(st.sampled_from(["S", "NP", "(", ")", "/", "\\", "[dcl]", "(S/NP)", "\0"]), max_size=12))
def test_a_text_is_a_category_if_the_oracle_parses_it(parts):
    text = "".join(parts)
    assert (category_fault(text) is None) == is_category(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", r"S\NP/NP", r"(S\NP", "S)", "(NP)", "/NP", "NP/", "S[dcl", "S[]", "NP N", "_SP", "(" * 100_000 + "S"),
        "(" * 51 + "S/NP" + ")" * 51,
    ],
)
def test_an_ill_formed_category_has_a_fault(text):
    assert category_fault(text) == f"{text[:80]!r} is no CCG category"


@pytest.mark.parametrize(
    "text",
    [
        *(".", ",", ":", ";", "LRB", "RRB", "LQU", "RQU", "``", "conj", "S[X]", r"conj\conj", r"(NP:thr\N)"),
        "(" * 50 + "S/NP" + ")" * 50,
    ],
)
def test_tags_of_supertaggers_are_categories(text):
    assert category_fault(text) is None


def pmb_categories(shared):
    lines = (shared / "data/ccg/pmb4_en_dev.txt").read_text(encoding="utf-8").splitlines()
    return {token.rsplit("|", 1)[1] for line in lines for token in line.split()}


def test_all_categories_of_real_corpora_are_sound(shared):
    labels = json.loads((shared / "models/en_ccg_pmb/tagger/cfg").read_text())["labels"]
    demo = {category for pair in generate(split="train", count=300) for category in pair.source.annotation.ccg}
    categories = {*pmb_categories(shared), *labels, *demo}
    assert len(categories) > 294
    assert {text for text in categories if category_fault(text)} == set()


@pytest.mark.parametrize(
    ("category", "shown"),
    [
        (r"(S[q]/(S[b]\NP))/NP", ["question"]),
        (r"(S[dcl]\NP)/S[qem]", ["question"]),
        ("conj", ["conjunction"]),
        (r"(S[dcl]\NP)/PP", ["prepositional"]),
        (r"((S\NP)\(S\NP))/NP", ["prepositional"]),
        (r"(NP\NP)/NP", ["prepositional"]),
        (r"(N\N)/NP", []),
        (r"(S[adj]\NP)/((S[to]\NP)/NP)", []),
        (r"(NP\NP)/(S[dcl]\NP)", ["relative_subordinate"]),
        (r"(NP\NP)/(S[to]\NP)", ["control_raising", "relative_subordinate"]),
        (r"((NP\NP)/(S[dcl]\NP))/N", []),
    ],
)
def test_a_category_shows_its_constructions(category, shown):
    assert constructions([category]) == tuple(shown)


def has_argument(category, argument):
    """Return whether a category of the oracle has the argument, at any depth."""
    return len(category) == 3 and (category[2] == argument or any(has_argument(c, argument) for c in category[1:]))


def test_a_control_category_has_an_infinitive_as_argument(shared):
    infinitive = ccg_oracle.parse_category(r"S[to]\NP")
    categories = {text for text in pmb_categories(shared) if is_category(text)}
    controlling = {text for text in categories if has_argument(ccg_oracle.parse_category(text), infinitive)}
    assert len(controlling) > 5
    assert {text for text in categories if CONSTRUCTIONS["control_raising"](text)} == controlling


def test_a_sentence_shows_the_constructions_of_its_words():
    assert constructions(["conj", "NP", r"S[wq]/(S[q]/NP)", "conj"]) == ("question", "conjunction")
    shown = [constructions(pair.source.annotation.ccg) for pair in generate(split="train", count=300)]
    assert all(any(name in sentence for sentence in shown) for name in CONSTRUCTIONS)
    assert any(not sentence for sentence in shown)
