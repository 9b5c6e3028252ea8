"""CCG categories, and the constructions that they show."""

import itertools
import json
from functools import cache

import pytest
from demo_parts import demo_sides
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.syntax.categories import ALL_CONSTRUCTIONS, category_fault, constructions


@cache
def parse_category(text: str) -> tuple:
    """Parse a category: ("S", "dcl") is atomic, ("/", result, argument) complex. Raises ValueError for others."""
    category, rest = _complex(text)
    if rest:
        raise ValueError(f"{text!r}: {rest!r} is left over")
    return category


def _complex(text: str) -> tuple[tuple, str]:
    left, rest = _simple(text)
    if rest and rest[0] in "/\\":
        right, after = _simple(rest[1:])
        if after and after[0] in "/\\":
            raise ValueError(f"{text!r} needs brackets")
        return (rest[0], left, right), after
    return left, rest


def _simple(text: str) -> tuple[tuple, str]:
    if text.startswith("("):
        inner, rest = _complex(text[1:])
        if not rest.startswith(")") or len(inner) != 3:
            raise ValueError(f"{text!r} is not well bracketed")
        return inner, rest[1:]
    size = next((i for i, sign in enumerate(text) if not (sign.isalpha() or sign in ".,")), len(text))
    if not size:
        raise ValueError(f"{text!r} does not begin with a category")
    name, rest, feature = text[:size], text[size:], ""
    if rest.startswith("["):
        feature, _, rest = rest[1:].partition("]")
    return (name, feature), rest


def is_category(text):
    try:
        return bool(parse_category(text))
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


def pmb_sentences(shared):
    lines = (shared / "data/ccg/pmb4_en_dev.txt").read_text(encoding="utf-8").splitlines()
    return [[token.rsplit("|", 1)[1] for token in line.split()] for line in lines]


def test_all_categories_of_real_corpora_are_sound(shared):
    labels = json.loads((shared / "models/en_ccg_pmb/tagger/cfg").read_text())["labels"]
    demo = {category for side in demo_sides("train", "en", 300) for category in side.annotation.ccg}
    categories = {*itertools.chain(*pmb_sentences(shared)), *labels, *demo}
    assert len(categories) > 294
    assert {text for text in categories if category_fault(text)} == set()


@pytest.mark.parametrize(
    ("category", "shown"),
    [
        (r"(S[q]/(S[b]\NP))/NP", ["question"]),
        (r"(S[dcl]\NP)/S[em]", []),
        ("conj", ["conjunction"]),
        (r"(S[dcl]\NP)/PP", ["prepositional"]),
        (r"(NP\NP)/NP", ["prepositional"]),
        (r"((S\NP)/(S\NP))/NP", ["prepositional", "adverbial_preposition"]),
        (r"((S\NP)\(S\NP))/NP", ["adverbial_preposition"]),
        (r"((S[dcl]\NP)\(S[b]\NP))/NP", []),
        (r"(S[dcl]\S[dcl])/NP", []),
        (r"(((S\NP)\(S\NP))/(S[to]\NP))/NP", []),
        (r"((S\NP)\(S\NP))/S[dcl]", ["adverbial_clause"]),
        ("(S/S)/S[inv]", []),
        (r"((S\NP)\(S\NP))/(S[dcl]\NP)", []),
        (r"(S[dcl]\NP)/S[dcl]", []),
        (r"(S[dcl]\NP)/(S[to]\NP)", ["control_raising"]),
        (r"(((S[dcl]\NP)/NP)/(S[to]\NP))/(S[adj]\NP)", []),
        (r"(S[dcl]\NP)/((S[to]\NP)/NP)", []),
        (r"(S[dcl]\NP:thr)/(S[to]\NP)", []),
        (r"(NP\NP)/(S[dcl]\NP)", ["relative_subordinate"]),
        (r"(N/N)\(S[adj]\NP)", ["relative_subordinate"]),
        (r"((NP\NP)/(S[dcl]\NP))/N", []),
        (r"(NP\NP)/((S[dcl]\NP)/NP)", []),
        ("S[em]/S[dcl]", ["relative_subordinate"]),
        (r"S\S", ["relative_subordinate"]),
        (r"(S\NP)/(S\NP)", []),
    ],
)
def test_a_category_shows_its_constructions(category, shown):
    assert constructions(["NP", category, "."]) == tuple(shown)


NOMINAL = (("N", ""), ("NP", ""))
PHRASES = {
    ("S", feature) for feature in ("", "dcl", "b", "ng", "pt", "pss", "adj", "to", "em", "q", "wq", "qem", "for")
}


def parts_of(category):
    """Yield a category of the oracle and all its parts."""
    yield category
    if len(category) == 3:
        for own in category[1:]:
            yield from parts_of(own)


def is_phrase(category, clauses):
    """Return whether a category is a clause that lacks a noun phrase, or a noun phrase that lacks one."""
    return len(category) == 3 and category[1] in clauses and category[2] in NOMINAL


def shown_by_structure(categories):
    """List the constructions by the structure of the categories instead of their text."""
    parsed = list(map(parse_category, categories))
    parts = {part for category in parsed for part in parts_of(category)}
    s, np = ("S", ""), ("NP", "")
    verb_phrase = ("\\", s, np)
    adverbs = [(slash, phrase, phrase) for slash in "/\\" for phrase in (s, *(("\\", own, np) for own in PHRASES))]
    relative = [len(own) == 3 and is_phrase(own[1], NOMINAL) and is_phrase(own[2], PHRASES) for own in parsed[1:]] + [
        len(own) == 3 and {own[1], own[2]} <= PHRASES for own in parsed[1:-1]
    ]
    shows = {
        "question": any(("S", feature) in parts for feature in ("q", "wq", "qem")),
        "conjunction": any("conj" in part[0] for part in parts),
        "prepositional": any(part[0].startswith("PP") for part in parts)
        or not parts.isdisjoint({("/", ("/", verb_phrase, verb_phrase), np), ("/", ("\\", np, np), np)}),
        "control_raising": any(
            part[0] == "/" and is_phrase(part[1], PHRASES) and is_phrase(part[2], {("S", "to")})
            for part in parts
            if len(part) == 3
        ),
        "relative_subordinate": any(relative),
        "adverbial_clause": not {("/", own, ("S", "dcl")) for own in adverbs}.isdisjoint(parsed),
        "adverbial_preposition": not {("/", own, np) for own in adverbs}.isdisjoint(parsed),
    }
    return tuple(name for name, shown in shows.items() if shown)


def test_real_sentences_show_constructions_as_the_structure_of_their_categories_does(shared):
    counts, compared = dict.fromkeys(ALL_CONSTRUCTIONS, 0), 0
    for sentence in pmb_sentences(shared):
        if all(map(is_category, sentence)):
            compared += 1
            shown = constructions(sentence)
            assert shown == shown_by_structure(sentence), sentence
            for name in shown:
                counts[name] += 1
    assert compared > 1000
    assert min(counts.values()) > 5, counts
