"""Tables of productions: shares of gold and predicted trees, and reasons for empty cells."""

import pytest
from reporting.planned import unlinked
from reporting.treebank_tables import HARD, SHARED, TreebankTable

from nmtcore.config.planned_tables import PlannedRuns
from nmtcore.reporting.table import SeedMean
from nmtcore.reporting.table_kinds.productions import productions_content


@pytest.fixture
def treebank(tmp_path):
    made = TreebankTable(tmp_path)
    made.write_run("shared", SHARED, HARD)
    return made


def values(treebank, item, systems=("gold", "left", "shared"), **changes):
    cells = [treebank.cell(item, f"d/{system}", system=system, item=item, published=2.5) for system in systems]
    table = treebank.plan("productions", cells)
    table.more.update(changes)
    content = productions_content(table, treebank.layout)
    (row,) = content.blocks[0].rows
    assert unlinked(content.blocks) == []
    assert [cell.value for cell in row[1::2]] == [2.5] * len(systems)
    return [cell.reason or cell.value for cell in row[2::2]]


def test_shares_of_gold_trees_chains_and_systems(treebank):
    # Dependents of verbs, gold: PRON, NOUN; NOUN, ADV (home), ADV (fast). Left: PRON; NOUN.
    # Seed 1: PRON (she); NOUN (dog), ADV (home); seed 2 as gold.
    assert values(treebank, "VERB_NOUN") == [
        SeedMean(40.0), SeedMean(50.0), pytest.approx(SeedMean((100 / 3 + 40) / 2, (40 - 100 / 3) / 2**0.5)),
    ]  # fmt: skip
    assert values(treebank, "VERB_DET")[:2] == [SeedMean(0.0), SeedMean(0.0)]


def test_reasons(treebank):
    assert values(treebank, "X_NOUN")[0] == "these trees have no dependents of X"
    assert values(treebank, "nouns")[0] == "nouns is no production HEAD_DEPENDENT"
    assert values(treebank, "VERB_NOUN", systems=("right",)) == ["right has no trees"]
    treebank.runs["d/nmt"] = PlannedRuns(dataset="d", system="nmt", seeds=(1,))
    assert values(treebank, "VERB_NOUN", systems=("nmt",), parsed={}) == ["nmt does not parse"]
