"""Parsing of CCG categories."""

import json

import ccg_oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.demo import generate
from nmtcore.syntax.annotation import Annotation, annotation_fault
from nmtcore.syntax.categories import Atomic, Functor, category_fault, parse_category

atoms = st.builds(Atomic, st.sampled_from(["S", "NP", "N", "conj", ",", "LRB"]), st.sampled_from(["", "dcl", "num"]))
categories = st.recursive(atoms, lambda parts: st.builds(Functor, parts, st.sampled_from("/\\"), parts), max_leaves=8)


def normal_form(text):
    """Return a category without superfluous brackets, with its features in square brackets."""
    return str(parse_category(text))


def as_tuples(category):
    if isinstance(category, Atomic):
        return (category.name, category.feature)
    return (category.slash, as_tuples(category.result), as_tuples(category.argument))


@given(categories)
def test_parsing_inverts_formatting(category):
    assert parse_category(str(category)) == category
    assert as_tuples(category) == ccg_oracle.parse_category(str(category))
    assert normal_form(str(category)) == str(category)


@given(st.text(alphabet="SN()[]/\\,:d _", max_size=12))
def test_a_text_is_either_an_error_or_has_a_normal_form(text):
    if category_fault(text) is None:
        assert normal_form(normal_form(text)) == normal_form(text)
        assert text.count("(") == text.count(")")
    else:
        with pytest.raises(ValueError, match="category"):
            parse_category(text)


def test_nested_categories_keep_their_structure():
    category = parse_category(r"((S[dcl]\NP)/(S[to]\NP))/NP")
    verb = Functor(Atomic("S", "dcl"), "\\", Atomic("NP"))
    infinitive = Functor(Atomic("S", "to"), "\\", Atomic("NP"))
    assert category == Functor(Functor(verb, "/", infinitive), "/", Atomic("NP"))
    assert normal_form(r"(NP:thr\N)") == r"NP[thr]\N"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "empty"),
        (r"S\NP/NP", "brackets are missing at character 5"),
        (r"(S\NP", "not closed at character 6"),
        ("S)", r"'\)' is not expected at character 2"),
        ("(NP)", "NP stands in brackets alone"),
        ("/NP", "a category is missing at character 1"),
        ("NP/", "a category is missing at character 4"),
        ("S[dcl", r"'\[' is not expected"),
        ("S[]", r"'\[' is not expected"),
        ("NP N", "' ' is not expected"),
        ("_SP", "a category is missing"),
        ("(" * 100_000 + "S", "more than 50"),
        ("(" * 100_000, "more than 50"),
    ],
)
def test_an_ill_formed_category_is_an_error_that_names_the_character(text, fault):
    with pytest.raises(ValueError, match=fault):
        parse_category(text)
    assert category_fault(text)


def test_all_categories_of_the_parallel_meaning_bank_are_parsed(shared):
    lines = (shared / "data/ccg/pmb4_en_dev.txt").read_text(encoding="utf-8").splitlines()
    categories = {token.rsplit("|", 1)[1] for line in lines for token in line.split()}
    categories.update(json.loads((shared / "models/en_ccg_pmb/tagger/cfg").read_text())["labels"])
    assert len(categories) > 294
    for text in categories:
        assert category_fault(text) is None
        if ":" not in text and text != ";":  # signs that the oracle does not support
            assert as_tuples(parse_category(text)) == ccg_oracle.parse_category(text)
            assert normal_form(text) == text


def test_all_categories_of_the_demo_corpus_are_in_normal_form():
    categories = {category for pair in generate(split="train", count=300) for category in pair.source.annotation.ccg}
    assert len(categories) > 60
    assert all(normal_form(text) == text for text in categories)


@pytest.mark.parametrize("text", [".", ",", ":", ";", "LRB", "RRB", "LQU", "RQU", "``", "conj", "S[X]", r"conj\conj"])
def test_tags_of_supertaggers_are_categories(text):
    assert category_fault(text) is None


def test_an_annotation_with_an_ill_formed_category_is_unsound():
    assert annotation_fault(Annotation(ccg=["NP", r"S[dcl]\NP"]), 2) is None
    assert annotation_fault(Annotation(ccg=["NP", "_SP"]), 2).startswith("word 2: '_SP' is no CCG category")
