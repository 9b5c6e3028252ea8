"""Systems on the demo corpus: scores of induced trees, tables of productions and gates, and attention.

What these numbers are is tested where they are computed; this is what the rules make of real models.
"""

import pytest
from demo_parts import part_of_demo
from workflow.calling import make_workplace

from nmtcore.parquet import read_rows

pytestmark = pytest.mark.needs("Snakemake")

COUNTS = {"train": 200, "dev": 10, "test": 20, "gold": 30}
SYSTEMS = ["depparse_l1", "sa_nmt_shared"]
SETTINGS = ['datasets=["banked"]', "scale=smoke", 'systems=["depparse_l1", "sa_nmt_shared"]']
TABLES = ("results/tables/productions.md", "results/tables/gates.md")
RUNS = "results/smoke/banked"
ATTENTION = f"{RUNS}/sa_nmt_shared/seed1/attention/test.parquet"


@pytest.fixture(scope="module")
def tabulated(root, tmp_path_factory):
    """A working directory with the tables of two systems."""
    workplace = make_workplace(tmp_path_factory.mktemp("grammars"), root / "Snakefile")
    workplace.train_briefly()
    corpora = part_of_demo(workplace.folder / "demo", **COUNTS)
    workplace.write("datasets/banked", {"extends": "demo_en2de", "corpora": corpora})
    scores = [f"{RUNS}/{system}.gold.uas" for system in SYSTEMS]
    finished = workplace.run(*TABLES, *scores, ATTENTION, settings=SETTINGS)
    assert {"parse_gold", "table", "measure_gates"} <= finished.rules
    assert "translate_split" not in finished.rules
    assert workplace.partial_files() == []
    return workplace


def cells_of(workplace, table):
    lines = (workplace.folder / table).read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| ")]


def test_gold_trees_chains_and_the_parses_of_both_systems_are_compared(tabulated):
    (header,) = (cells for cells in cells_of(tabulated, TABLES[0]) if cells[0] == "item")
    assert [name.rpartition("<br>")[2] for name in header[1:]] == ["gold", "left", *SYSTEMS]
    trees = list(read_rows(tabulated.folder / "results/banked/annotation/existing/gold_demo.source.parquet"))
    for system in SYSTEMS:
        parses = list(read_rows(tabulated.folder / RUNS / system / "seed1/gold/gold_demo/parses.parquet"))
        assert [row["id"] for row in parses] == [tree["id"] for tree in trees]


def test_the_table_of_gates_has_the_tags_of_the_references(tabulated):
    gates = list(read_rows(tabulated.folder / RUNS / "sa_nmt_shared/seed1/gates/test.parquet"))
    trees = list(read_rows(tabulated.folder / "results/banked/annotation/existing/test.target.parquet"))
    assert [(row["id"], set(row["upos"]) - {None}) for row in gates] == [(row["id"], set(row["upos"])) for row in trees]
    tags = {tag for tree in trees for tag in tree["upos"]}
    highest = {cells[0]: float(cells[1]) for cells in cells_of(tabulated, TABLES[1]) if cells[0] in tags}
    assert highest.keys() == tags
    assert sum(highest.values()) == COUNTS["test"]
    maps = [(row["id"], row["attention"]) for row in read_rows(tabulated.folder / ATTENTION)]
    assert maps == [(row["id"], name) for row in gates for name in ("cross", "head_selection")]
