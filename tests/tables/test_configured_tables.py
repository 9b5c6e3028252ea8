"""The tables of the configured systems, which are planned as those of the papers are."""

import pytest
from planning.conftest import PARSER, parsed
from workflow.calling import little

from nmtcore.errors import UserError
from nmtcore.tables.plan import planned_table, table_inputs

TAGGERS = {
    "tagger": {"tool": "spacy", "model": "xx_ccg", "tags": "ccg"},
    "parser": {"tool": "corenlp", "analysis": "constituents"},
}
SYNTAX = {"target": {"ccg": "tagger"}, "source": {"constituency": "parser"}}
TAGGED = little(annotators=TAGGERS, syntax=SYNTAX)
TWO = {"systems": ["transformer_base", "transformer_relative"]}


def test_systems_are_compared_with_what_their_entries_say_if_it_is_in_the_table(make_project):
    systems = ["relative_tree_traversal", "transformer_relative", "transformer_base", "sa_nmt_shared", "nmt"]
    compared = {
        "relative_tree_traversal": "transformer_relative",
        "transformer_relative": "transformer_base",
        "sa_nmt_shared": "nmt",
    }
    syntax = SYNTAX | {"source": SYNTAX["source"] | {"dependencies": "trees"}}
    settings = little(annotators=TAGGERS | {"trees": PARSER}, syntax=syntax)
    project = make_project({"systems": systems, "seeds": [1]}, tagged=settings)
    tables = {name: planned_table(project, name) for name in ("systems", "constructions", "examples")}
    assert [table.compared_with for table in tables.values()] == [compared] * 3
    pairs = {cell.system: cell.baseline_runs for cell in tables["constructions"].cells}
    assert pairs == {system: f"tagged/{other}" for system, other in compared.items()}
    table = tables["systems"]
    assert table.baselines == ("transformer_relative", "transformer_base", "nmt")
    shown = {row.name: [table.is_compared(row, position) for position in range(3)] for row in table.rows}
    assert [[*shown[name], True].index(True) for name in systems] == [0, 1, 3, 2, 3], "3: with none"


def test_systems_have_scores_trees_and_training(make_project):
    names = ["transformer_base", "depparse_l1", "diagonalparse_l1", "sa_nmt_shared"]
    japanese = little(evaluation={"tokenize": "ja", "metrics": ["ribes"]})
    table = planned_table(make_project({"systems": names[:1], "seeds": [1]}, a=little(), b=japanese), "systems")
    scores = {f"{name}/test/{metric}" for name in "ab" for metric in ("bleu", "ribes", "uas")}
    assert {column.name for column in table.columns} & scores == {"a/test/bleu", "b/test/bleu", "b/test/ribes"}
    table = planned_table(make_project({"systems": names, "seeds": [1]}, parsed=parsed()), "systems")
    assert (table.scale, table.baselines, table.stand_ins) == ("smoke", ("transformer_base",), {})
    columns = [column.name for column in table.columns]
    assert columns[:2] == ["parsed/test/bleu", "chrF of parsed/test"]
    assert {"parsed/test/uas", "parsed/gold_bank/undirected", "parsed/train/seconds"} <= {*columns}
    assert {"transformer_base", "sa_nmt_shared, untrained", "left"} <= {row.name for row in table.rows}
    against = [table.cell(name, "parsed/test/bleu").baseline_runs for name in ("depparse_l1", "transformer_base")]
    assert against == ["parsed/transformer_base", None]
    read = {
        column: [bool(table.cell(name, f"parsed/test/{column}").source) for name in names]
        for column in ("uas", "uas, UAS of trees", "uas, precision of chains")
    }
    assert read == {
        "uas": [False, True, False, True],
        "uas, UAS of trees": [False, True, False, False],  # induced trees have no other UAS
        "uas, precision of chains": [False, False, True, False],
    }
    counted = [table.cell(name, "parsed/test/uas").source["column"] for name in ("depparse_l1", "sa_nmt_shared")]
    assert counted == ["uas", "tree_uas"]
    assert table.cell("sa_nmt_shared, untrained", "parsed/test/bleu").source == {}


RUNS = [f"results/smoke/parsed/{system}/seed1" for system in ("nmt", "sa_nmt_shared")]
TESTS = [f"results/smoke/{name}/{system}" for name in ("tagged", "plain") for system in TWO["systems"]]


@pytest.mark.parametrize(
    ("table", "paths"),
    [
        (
            "constructions",
            [*(f"{run}/seed{seed}/counts" for run in TESTS[:2] for seed in (2, 3)),
             "results/tagged/annotation/tagger/test.target.parquet",
             "results/tagged/annotation/parser/test.source.parquet"],
        ),
        (
            "examples",  # of the lowest seed
            [*(f"{run}/seed2/hypotheses/test" for run in TESTS), "results/tagged/corpus/test.parquet",
             "results/plain/corpus/test.parquet", "results/tagged/annotation/tagger/test.target.parquet"],
        ),
    ],
)  # fmt: skip
def test_parts_of_tests_read_annotations(make_project, table, paths):
    project = make_project({**TWO, "seeds": [3, 2]}, tagged=TAGGED, plain=little())
    assert sorted(table_inputs(project, table=table)) == sorted(paths)


def test_gates_productions_and_curves(make_project):
    project = make_project({"systems": ["nmt", "sa_nmt_shared"], "seeds": [1]}, parsed=parsed())
    assert table_inputs(project, table="gates") == [f"{RUNS[1]}/gates/test.parquet"]
    assert table_inputs(project, table="curves") == [f"{run}/training.jsonl" for run in RUNS]
    assert set(table_inputs(project, table="productions")) == {
        f"{RUNS[1]}/gold/gold_bank",
        "results/parsed/corpus/gold_bank.parquet",
        "results/parsed/annotation/gold/gold_bank.source.parquet",
    }
    columns = [column.name for column in planned_table(project, "productions").columns]
    assert columns == [f"parsed/gold_bank/{name}" for name in ("gold", "left", "sa_nmt_shared")]


@pytest.mark.parametrize(
    ("table", "systems", "sentence"),
    [
        ("systems", [], "A table of systems needs `datasets` and `systems`, in config.yaml or on the command line."),
        ("gates", ["nmt"], "A table of gates needs `datasets`, and `systems` that have a gate in the decoder"),
        ("productions", ["nmt"], "A table of productions needs `datasets` with a gold treebank of the source side"),
        ("curves", [], "A figure of curves needs `datasets`, and `systems` that are trained here"),
        ("examples", ["nmt"], "A table of examples needs `systems` together with what they are `compared_with`, and `"),
        ("constructions", TWO["systems"], "A table of constructions needs `systems` together with what they are `comp"),
    ],
)
def test_a_table_of_nothing_is_a_sentence(make_project, table, systems, sentence):
    with pytest.raises(UserError) as error:
        planned_table(make_project({"systems": systems}, plain=little()), table)
    assert str(error.value).startswith(sentence)
