"""Constructions from CCG supertags."""

import pytest

from nmtcore.demo import generate
from nmtcore.syntax.categories import Functor, parse_category
from nmtcore.syntax.constructions import CONSTRUCTIONS, constructions


@pytest.mark.parametrize(
    ("category", "shown"),
    [
        (r"(S[q]/(S[b]\NP))/NP", ["question"]),
        (r"S[wq]/(S[q]/NP)", ["question"]),
        (r"(S[dcl]\NP)/S[qem]", ["question"]),
        ("conj", ["conjunction"]),
        (r"(S[dcl]\NP)/PP", ["prepositional"]),
        ("PP/NP", ["prepositional"]),
        (r"((S\NP)\(S\NP))/NP", ["prepositional"]),
        (r"((S\NP)/(S\NP))/NP", ["prepositional"]),
        (r"(NP\NP)/NP", ["prepositional"]),
        (r"((S\NP)\(S\NP))/N", []),
        (r"(N\N)/NP", []),
        (r"((S[dcl]\NP)/(S[to]\NP))/NP", ["control_raising"]),
        (r"N/(S[to]\NP)", ["control_raising"]),
        (r"S[for]\(S[to]\NP)", ["control_raising"]),
        (r"((S\NP)\(S\NP))/((S[adj]\NP)/(S[to]\NP))", ["control_raising"]),
        (r"(S[to]\NP)/(S[b]\NP)", []),
        (r"(S[adj]\NP)/((S[to]\NP)/NP)", []),
        (r"(NP\NP)/(S[dcl]\NP)", ["relative_subordinate"]),
        (r"(NP\NP)/(S[to]\NP)", ["control_raising", "relative_subordinate"]),
        (r"((NP\NP)/(S[dcl]\NP))/N", []),
        (r"(S[dcl]\NP)/NP", []),
    ],
)
def test_a_category_shows_its_constructions(category, shown):
    assert constructions([category]) == tuple(shown)


def has_argument(category, argument):
    """Return whether the category has the argument, at any depth."""
    if not isinstance(category, Functor):
        return False
    return str(category.argument) == argument or any(
        has_argument(part, argument) for part in (category.result, category.argument)
    )


def test_a_control_category_has_an_infinitive_as_argument(shared):
    lines = (shared / "data/ccg/pmb4_en_dev.txt").read_text(encoding="utf-8").splitlines()
    categories = {token.rsplit("|", 1)[1] for line in lines for token in line.split()}
    controlling = {text for text in categories if has_argument(parse_category(text), r"S[to]\NP")}
    assert len(controlling) > 5
    assert {text for text in categories if CONSTRUCTIONS["control_raising"](text)} == controlling


def test_a_sentence_shows_the_constructions_of_its_words():
    assert constructions(["conj", "NP", r"S[wq]/(S[q]/NP)", "conj"]) == ("question", "conjunction")
    assert constructions([]) == ()
    shown = [constructions(pair.source.annotation.ccg) for pair in generate(split="train", count=300)]
    assert all(any(name in sentence for sentence in shown) for name in CONSTRUCTIONS)
    assert any(not sentence for sentence in shown)
