"""Heads and governors, and that their sentinels have one home."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

from nmtcore.annotation.labels import LABEL_SPECIALS, NO_LABEL, UNKNOWN_LABEL
from nmtcore.segmentation.vocabulary import ROOT_ID, Vocabulary
from nmtcore.syntax import trees
from nmtcore.syntax.trees import GOVERNOR_OF_ROOT, HEAD_OF_ROOT, NO_GOVERNOR, ROOT_ENTRY, governors_of, heads_of

TREE_NUMBER = re.compile(r"_?(heads?|governors?|parents?|parent_positions?)(_[A-Z0-9]+)?")
SENTINEL = re.compile(r"_?(NO_|NONE|.*ROOT|UNKNOWN)")
ELSEWHERE = {
    "annotation/labels.py": {"NO_LABEL", "UNKNOWN_LABEL"},
    "features/examples.py": {"NO_WORD"},
    "model/components/depparse.py": {"ROOT_COLUMN"},
    "segmentation/vocabulary.py": {"ROOT_ID"},
}
"""Numbers for what is no tree: entries of vocabularies, the word of a column, where `<ROOT>` stands."""


def test_heads_and_governors_count_the_same_words():
    heads = np.array([2, 0, 2, 3])
    assert governors_of(heads).tolist() == [1, GOVERNOR_OF_ROOT, 1, 2]
    assert heads_of(governors_of(heads)).tolist() == heads.tolist()
    assert heads_of(GOVERNOR_OF_ROOT) == HEAD_OF_ROOT
    assert heads_of(NO_GOVERNOR) < HEAD_OF_ROOT, "no head says so"


def test_a_sentinel_is_never_a_word_nor_another_sentinel():
    assert HEAD_OF_ROOT < 1
    assert GOVERNOR_OF_ROOT != NO_GOVERNOR
    assert max(GOVERNOR_OF_ROOT, NO_GOVERNOR, trees.NO_POSITION, trees.NO_COLUMN) < 0


def test_the_special_entries_stand_where_their_ids_say():
    assert Vocabulary.of([]).entries[ROOT_ID] == ROOT_ENTRY
    assert [LABEL_SPECIALS[NO_LABEL], LABEL_SPECIALS[UNKNOWN_LABEL]] == ["<none>", "<unk>"]


def number(node: ast.expr) -> bool:
    """Whether it is a literal number."""
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool)


def name_of(node: ast.expr) -> str:
    """The variable or attribute that an expression is, or is a part of."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return getattr(node, "id", getattr(node, "attr", ""))


def literals(tree: ast.Module) -> set[int]:
    """Lines that compare a head, a governor or a parent position with a number by == or !=."""
    return {
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq)
        for one, other in [(node.left, node.comparators[0]), (node.comparators[0], node.left)]
        if number(one) and TREE_NUMBER.fullmatch(name_of(other))
    }


def sentinels(tree: ast.Module) -> set[str]:
    """Constants of a module that are called like a sentinel and are numbers, by themselves or in a tuple."""
    found = set()
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            names, value = node.targets[0].elts, node.value
            counted = isinstance(value, ast.Call) and name_of(value.func) == "range"
            found |= {name_of(n) for k, n in enumerate(names) if counted or number(value.elts[k])}
        elif isinstance(node, ast.Assign) and number(node.value):
            found.add(name_of(node.targets[0]))
    return {name for name in found if SENTINEL.match(name)}


@pytest.mark.parametrize(
    ("line", "lines"),
    [("if heads[0] == 0: x", {1}), ("x = -1 != governor_BW", {1}), ("x = a.head == 0", {1}), ("n == 0", set())],
)
def test_a_number_in_place_of_a_sentinel_is_seen(line, lines):
    assert literals(ast.parse(line)) == lines


def test_a_second_home_is_seen():
    assert sentinels(ast.parse("_OF_ROOT, _NONE = -1, -2\nNO_PARENT = -1.0\nNO_TREE = 'none'\nA, ROOT = range(2)")) == {
        "_OF_ROOT",
        "_NONE",
        "NO_PARENT",
        "ROOT",
    }


def test_sentinels_of_trees_have_one_home(root: Path):
    package = root / "src/nmtcore"
    faults = []
    for path in sorted(package.rglob("*.py")):
        place, tree = str(path.relative_to(package)), ast.parse(path.read_text(encoding="utf-8"))
        faults += [f"{place}, line {line}: a number for a sentinel" for line in literals(tree)]
        if place != "syntax/trees.py":
            faults += [f"{place}: {name}" for name in sentinels(tree) - ELSEWHERE.get(place, set())]
    assert not faults
