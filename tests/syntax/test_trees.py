"""Conversion between heads and governors, and a check that sentinels are defined in one module only."""

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
OTHER_SENTINELS = {
    "annotation/labels.py": {"NO_LABEL", "UNKNOWN_LABEL"},
    "features/examples.py": {"NO_WORD"},
    "model/components/parser_heads.py": {"ROOT_COLUMN"},
    "segmentation/vocabulary.py": {"ROOT_ID"},
}
"""Sentinels that do not belong to trees: vocabulary ids, the word of a position, the position of `<ROOT>`."""


def test_heads_and_governors_count_the_same_words():
    heads = np.array([2, 0, 2, 3])
    assert governors_of(heads).tolist() == [1, GOVERNOR_OF_ROOT, 1, 2]
    assert heads_of(governors_of(heads)).tolist() == heads.tolist()
    assert heads_of(GOVERNOR_OF_ROOT) == HEAD_OF_ROOT
    assert heads_of(NO_GOVERNOR) < HEAD_OF_ROOT, "NO_GOVERNOR has no head"


def test_sentinels_differ_from_words_and_from_each_other():
    assert HEAD_OF_ROOT < 1
    assert GOVERNOR_OF_ROOT != NO_GOVERNOR
    assert max(GOVERNOR_OF_ROOT, NO_GOVERNOR, trees.NO_POSITION, trees.NO_COLUMN) < 0


def test_special_entries_have_their_ids():
    assert Vocabulary.of([]).entries[ROOT_ID] == ROOT_ENTRY
    assert [LABEL_SPECIALS[NO_LABEL], LABEL_SPECIALS[UNKNOWN_LABEL]] == ["<none>", "<unk>"]


def is_number(node: ast.expr) -> bool:
    """Return whether an expression is a literal number."""
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool)


def name_of(node: ast.expr) -> str:
    """Return the name of the variable or attribute that an expression reads, also with an index."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return getattr(node, "id", getattr(node, "attr", ""))


def lines_with_literals(tree: ast.Module) -> set[int]:
    """List the lines that compare a head, governor or parent position with a literal number by == or !=."""
    return {
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq)
        for left, right in [(node.left, node.comparators[0]), (node.comparators[0], node.left)]
        if is_number(left) and TREE_NUMBER.fullmatch(name_of(right))
    }


def sentinels(tree: ast.Module) -> set[str]:
    """List the numeric constants of a module, alone or in a tuple, that are named like a sentinel."""
    constants = set()
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            names, value = node.targets[0].elts, node.value
            is_range = isinstance(value, ast.Call) and name_of(value.func) == "range"
            values = value.elts if isinstance(value, ast.Tuple) else [value] * len(names)
            constants |= {name_of(n) for n, own in zip(names, values, strict=False) if is_range or is_number(own)}
        elif isinstance(node, ast.Assign) and is_number(node.value):
            constants.add(name_of(node.targets[0]))
    return {name for name in constants if SENTINEL.match(name)}


@pytest.mark.parametrize(
    ("line", "lines"),
    [("if heads[0] == 0: x", {1}), ("x = -1 != governor_BW", {1}), ("x = a.head == 0", {1}), ("n == 0", set())],
)
def test_a_number_instead_of_a_sentinel_is_detected(line, lines):
    assert lines_with_literals(ast.parse(line)) == lines


def test_sentinels_of_a_module_are_detected():
    assert sentinels(ast.parse("_OF_ROOT, _NONE = -1, -2\nNO_PARENT = -1.0\nNO_TREE = 'none'\nA, ROOT = range(2)")) == {
        "_OF_ROOT",
        "_NONE",
        "NO_PARENT",
        "ROOT",
    }


def test_sentinels_of_trees_are_defined_in_one_module_only(root: Path):
    package = root / "src/nmtcore"
    faults = []
    for path in sorted(package.rglob("*.py")):
        module, tree = str(path.relative_to(package)), ast.parse(path.read_text(encoding="utf-8"))
        faults += [f"{module}, line {line}: a number instead of a sentinel" for line in lines_with_literals(tree)]
        if module != "syntax/trees.py":
            faults += [f"{module}: {name}" for name in sentinels(tree) - OTHER_SENTINELS.get(module, set())]
    assert not faults
