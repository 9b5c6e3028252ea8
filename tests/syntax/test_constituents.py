"""Parsing and linearisation of constituency trees."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.syntax.annotation import Annotation, annotation_fault
from nmtcore.syntax.constituents import (
    Constituent,
    constituency_fault,
    leaves,
    linearise,
    parse_constituents,
    phrase_labels,
    same_words,
)

LABELS = st.sampled_from(["S", "NP", "VP", "NP-SBJ", "."])
WORDS = st.sampled_from(["he", ".", "-LRB-", "a\u00a0b", "\u2028", "1\\/2"])
tagged = st.builds(lambda tag, word: Constituent(tag, [word]), LABELS, WORDS)
trees = st.recursive(tagged, lambda parts: st.builds(Constituent, LABELS, st.lists(parts, min_size=1)), max_leaves=12)


def bracketed(tree):
    """Write a tree in brackets."""
    if isinstance(tree, str):
        return tree
    return f"({tree.label} {' '.join(map(bracketed, tree.children))})"


def without_words(tree):
    """Remove words and preterminals by recursion; return None for a preterminal."""
    if tree.preterminal:
        return None
    children = [without_words(child) for child in tree.children]
    return Constituent(tree.label, [child for child in children if child is not None])


def words_of(tree):
    return [tree] if isinstance(tree, str) else [word for child in tree.children for word in words_of(child)]


def from_linearised(tokens):
    """Invert `linearise`: return the tree without words."""
    path = [Constituent("")]
    for token in tokens:
        if token == ")":
            path.pop()
        else:
            child = Constituent(token.removeprefix("("))
            path[-1].children.append(child)
            path.append(child)
    ((tree,),) = [top.children for top in path]
    return tree


@given(trees)
def test_parsing_inverts_bracketing(tree):
    assert parse_constituents(bracketed(tree)) == tree
    assert parse_constituents(bracketed(tree).replace(" (", "\n\t(")) == tree
    assert parse_constituents(bracketed(tree).replace(" (", "(")) == tree
    assert leaves(tree) == words_of(tree)
    assert constituency_fault(bracketed(tree), len(leaves(tree))) is None


@given(trees.filter(lambda tree: not tree.preterminal))
def test_the_phrases_can_be_restored_from_a_linearised_parse(tree):
    tokens = linearise(tree)
    assert from_linearised(tokens) == without_words(tree)
    assert tokens.count(")") * 2 == len(tokens)
    assert not set(leaves(tree)) & set(tokens)


def test_linearised_parses_have_the_form_of_currey_and_heafield():
    tree = parse_constituents("(ROOT (S (NP (PRP He)) (VP (VBZ sleeps) (ADVP (RB well))) (. .)))")
    assert " ".join(linearise(tree)) == "(ROOT (S (NP ) (VP (ADVP ) ) ) )"
    assert linearise(parse_constituents("(NN Hello)")) == []
    assert linearise(parse_constituents("( (S (X a b)))")) == ["(", "(S", "(X", ")", ")", ")"]


def test_words_are_compared_with_and_without_escapes():
    tree = parse_constituents("(S (-LRB- -LRB-) (NN -lrb-) (CD 1\\/2) (NN a\u00a0b) (-RRB- -RRB-))")
    assert same_words(tree, ["(", "-lrb-", "1/2", "a\u00a0b", ")"])
    assert same_words(tree, ["-LRB-", "-lrb-", "1\\/2", "a\u00a0b", "-RRB-"])
    assert not same_words(tree, ["(", "-lrb-", "1/2", "a\u00a0b"])
    assert not same_words(tree, ["(", "-lrb-", "1/2", "a", ")"])
    assert same_words(parse_constituents("(NP (X :-LRB-) (X -LRB-a\\/-RCB-))"), [":(", "(a/}"])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "character 1"),
        ("(NP he", "1 brackets are not closed at character 7"),
        ("(NP)", "without words at character 4"),
        ("(NP he) (NP she)", "more than one, at character 9"),
        ("(NP " * 201, "more than 200 levels at character 801"),
    ],
)
def test_a_broken_tree_is_an_error_that_names_the_character(text, fault):
    with pytest.raises(ValueError, match=fault):
        parse_constituents(text)
    assert "broken" in constituency_fault(text, 1)
    assert annotation_fault(Annotation(constituency=text), 1).startswith("the constituency tree is broken")


def called_from(depth, function, *arguments):
    """Call a function from `depth` frames further down the stack."""
    return called_from(depth - 1, function, *arguments) if depth else function(*arguments)


def test_the_deepest_tree_is_handled_far_down_the_stack():
    text = "(X " * 199 + "(NN word" + ")" * 200
    assert called_from(400, constituency_fault, text, 1) is None
    tree = parse_constituents(text)
    assert called_from(400, linearise, tree) == ["(X"] * 199 + [")"] * 199
    assert called_from(400, phrase_labels, tree) == {"X"}
    assert constituency_fault("(X " * 480 + "word" + ")" * 480, 1).endswith("more than 200 levels at character 601")
