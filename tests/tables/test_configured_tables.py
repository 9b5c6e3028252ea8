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
TAGGED = little(annotators=TAGGERS, syntax={"target": {"ccg": "tagger"}, "source": {"constituency": "parser"}})
TWO = {"systems": ["transformer_base", "transformer_relative"]}


def refusal(project, table):
    with pytest.raises(UserError) as error:
        planned_table(project, table)
    return str(error.value)


def test_systems_are_compared_with_what_their_entries_say_if_it_is_in_the_table(make_project):
    systems = ["relative_tree_traversal", "transformer_relative", "transformer_base", "sa_nmt_shared", "nmt"]
    compared = {
        "relative_tree_traversal": "transformer_relative",
        "transformer_relative": "transformer_base",
        "sa_nmt_shared": "nmt",
    }
    settings = little(
        annotators=TAGGERS | {"trees": PARSER},
        syntax={"target": {"ccg": "tagger"}, "source": {"constituency": "parser", "dependencies": "trees"}},
    )
    project = make_project({"systems": systems, "seeds": [1]}, tagged=settings)
    tables = {name: planned_table(project, name) for name in ("systems", "constructions", "examples")}
    assert [table.compared_with for table in tables.values()] == [compared] * 3
    pairs = {cell.system: cell.baseline_runs for cell in tables["constructions"].cells}
    assert pairs == {system: f"tagged/{other}" for system, other in compared.items()}
    table = tables["systems"]
    shown = {row.name: [table.is_compared(row, position) for position in range(3)] for row in table.rows}
    assert [shown[name] for name in systems] == [[True, False, False], [False, True, False], [False] * 3,
                                                 [False, False, True], [False] * 3]  # fmt: skip


def test_systems_have_scores_trees_and_training(make_project):
    names = ["transformer_base", "depparse_l1", "diagonalparse_l1", "sa_nmt_shared"]
    systems = {"systems": names, "seeds": [1]}
    table = planned_table(make_project(systems, parsed=parsed()), "systems")
    assert (table.scale, table.baselines, table.stand_ins) == ("smoke", ("transformer_base",), {})
    columns = [column.name for column in table.columns]
    assert columns[:2] == ["parsed/test/bleu", "chrF of parsed/test"]
    assert {"parsed/test/uas", "parsed/gold_bank/undirected", "parsed/train/seconds"} <= {*columns}
    rows = {row.name for row in table.rows}
    assert {"transformer_base", "sa_nmt_shared, untrained", "left"} <= rows
    assert table.cell("depparse_l1", "parsed/test/uas").source["column"] == "uas"
    assert table.cell("sa_nmt_shared", "parsed/test/uas").source["column"] == "tree_uas"
    against = [table.cell(name, "parsed/test/bleu").baseline_runs for name in ("depparse_l1", "transformer_base")]
    assert against == ["parsed/transformer_base", None]
    chains = [table.cell(system, "parsed/test/uas, precision of chains").source for system in names]
    assert [bool(source) for source in chains] == [False, False, True, False]
    assert table.cell("diagonalparse_l1", "parsed/test/uas").source == {}, "its head does not find trees"
    of_trees = "parsed/test/uas, UAS of trees"
    assert "seed1/scores.json" in table.cell("depparse_l1", of_trees).source["files"]["scores"]["1"]
    assert table.cell("sa_nmt_shared", of_trees).source == {}, "their UAS is that of trees"
    assert table.cell("sa_nmt_shared, untrained", "parsed/test/bleu").source == {}


def test_systems_have_the_metrics_of_each_data_set(make_project):
    japanese = little(evaluation={"tokenize": "ja", "metrics": ["ribes"]})
    table = planned_table(make_project({**TWO, "seeds": [1]}, plain=little(), japanese=japanese), "systems")
    names = [column.name for column in table.columns]
    assert "japanese/test/ribes" in names
    assert not {"plain/test/ribes", "japanese/test/uas"} & {*names}


def test_constructions_are_those_of_annotated_data_sets(make_project):
    project = make_project(TWO, tagged=TAGGED, plain=little())
    inputs = table_inputs(project, table="constructions")
    assert set(inputs) == {
        *(f"results/smoke/tagged/{system}/seed{seed}/counts" for system in TWO["systems"] for seed in (1, 2)),
        "results/tagged/annotation/tagger/test.target.parquet",
        "results/tagged/annotation/parser/test.source.parquet",
    }
    plain = make_project(TWO, plain=little())
    assert "needs `systems`, and `datasets` whose `syntax` names an annotator for ccg" in refusal(
        plain, "constructions"
    )


def test_examples_are_from_the_lowest_seed(make_project):
    project = make_project({**TWO, "seeds": [3, 2]}, tagged=TAGGED, plain=little())
    assert set(table_inputs(project, table="examples")) == {
        *(
            f"results/smoke/{name}/{system}/seed2/hypotheses/test"
            for name in ("tagged", "plain")
            for system in TWO["systems"]
        ),
        *(f"results/{name}/corpus/test.parquet" for name in ("tagged", "plain")),
        "results/tagged/annotation/tagger/test.target.parquet",
    }
    alone = make_project({"systems": ["nmt"]}, plain=little())
    assert "A table of examples needs `systems` together with what they are `compared_with`" in refusal(
        alone, "examples"
    )


def test_gates_productions_and_curves(make_project):
    systems = {"systems": ["nmt", "sa_nmt_shared"], "seeds": [1]}
    project = make_project(systems, parsed=parsed())
    folder = "results/smoke/parsed"
    assert table_inputs(project, table="gates") == [f"{folder}/sa_nmt_shared/seed1/gates/test.parquet"]
    assert set(table_inputs(project, table="productions")) == {
        f"{folder}/sa_nmt_shared/seed1/gold/gold_bank",
        "results/parsed/corpus/gold_bank.parquet",
        "results/parsed/annotation/gold/gold_bank.source.parquet",
    }
    columns = [column.name for column in planned_table(project, "productions").columns]
    assert columns == [f"parsed/gold_bank/{name}" for name in ("gold", "left", "sa_nmt_shared")]
    assert table_inputs(project, table="curves") == [
        f"{folder}/{system}/seed1/training.jsonl" for system in systems["systems"]
    ]


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("systems", "A table of systems needs `datasets` and `systems`, in config.yaml or on the command line."),
        ("gates", "A table of gates needs `datasets`, and `systems` that have a gate in the decoder"),
        ("productions", "A table of productions needs `datasets` with a gold treebank of the source side"),
        ("curves", "A figure of curves needs `datasets`, and `systems` that are trained here"),
    ],
)
def test_a_table_of_nothing_is_a_sentence(make_project, table, sentence):
    assert refusal(make_project({"systems": []}, plain=little()), table).startswith(sentence)
